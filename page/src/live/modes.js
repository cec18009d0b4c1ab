// Modes of the state at the playhead, or of the equilibrium next to it: the engine computes them when they are shown.
import { el } from '../dom.js';
import { Modes } from '../modes.js';
import { on, set, state } from '../state.js';

const COUNT = 24;

export class LiveModes extends Modes {
  constructor(run, scale) {
    super(run, scale);
    this.session = run.session;
    this.at = el('select', { 'aria-label': 'About which state', title: 'About which state' }, el('option', { value: 'equilibrium' }, 'equilibrium'), el('option', { value: 'state' }, 'this state'));
    this.at.addEventListener('change', () => this.ask());
    this.said = el('div', { class: 'said error', role: 'alert' });
    this.element.querySelector('.title').append(this.at);
    this.element.querySelector('.title').after(this.said);
    this.asked = null;
    on('mode', () => this.enter());
  }

  get offered() { return true; }

  pose(matrices) {
    if (this.there) super.pose(matrices); else this.run.pose(state.time);
    this.dirty = false;
  }

  async enter() {
    const { session } = this;
    if (state.mode !== 'modes') { set({ playing: false }); return; }
    if (state.playing) session.pause();
    const key = `${this.at.value} ${state.time} ${this.run.serials[this.run.rows - 1]}`;
    if (this.asked === key && this.there) return;
    await this.ask();
    if (this.there && !matchMedia('(prefers-reduced-motion: reduce)').matches) set({ playing: true });
  }

  async ask() {
    const { session, run } = this;
    const ready = await session.here(), answer = ready?.ok === false ? ready : await session.ask({ do: 'modes', count: COUNT, at: this.at.value });
    this.said.textContent = answer.ok ? '' : answer.error;
    this.asked = `${this.at.value} ${state.time} ${run.serials[run.rows - 1]}`;
    if (!answer.ok) return;
    const { list = [], phases, stability } = answer.modes ?? {};
    this.take({ modes: list, phases, shapes: answer.array('shapes'), rest: answer.array('rest'), stability });
    if (list.length === 0) this.said.textContent = 'There are no modes: nothing in this model can move.';
  }
}
