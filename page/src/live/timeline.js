// Transport and time line of a run that is computed meanwhile: it grows, has room after its end, and one may go on from any row.
import { el, fixed, number } from '../dom.js';
import { set, state } from '../state.js';
import { colors } from '../theme.js';
import { Timeline } from '../timeline.js';

const PERIOD = 120;  // ms between drawings while rows come

export class LiveTimeline extends Timeline {
  constructor(run) {
    super(run);
    this.session = run.session;
    this.events = run.report.events;
    this.dropped = run.dropped;
    this.drawn = 0;
    this.area.setAttribute('aria-label', 'Time; the run goes on at its end');
  }

  transport() {
    const { session } = this.run;
    this.reached = el('span', { class: 'reached', title: 'Speed reached', 'aria-label': 'Speed reached' });
    this.speed.title = 'Speed asked for ([ slower, ] faster); beside it what is reached';
    this.here = el('button', { class: 'here', title: 'What comes after this row is computed anew (R)', on: { click: () => session.runFromHere() } }, 'Run from here');
    this.total.textContent = ' s';
    return el('div', { class: 'transport' }, this.button('restart', 'Start again (Shift R)', () => session.restart(state.playing)),
      this.button('previous', 'Step back (Left)', () => this.step(-1)), this.play, this.button('next', 'Step (Right)', () => this.step(1)), this.here,
      el('div', { class: 'clock' }, this.clock, this.total), el('div', { class: 'speeds' }, this.speed, this.reached));
  }

  go(t) { set({ time: Math.min(this.run.end, Math.max(this.run.start, t)), playing: false }); }
  toggle() { if (state.playing) this.session.pause(); else this.session.play(); }
  step(n) { this.session.step(n); }
  advance(dt) { this.session.move(dt); }

  draw() {
    const { run } = this, old = run.dropped - this.dropped;
    for (const lane of old > 0 ? this.lanes : []) {
      lane.next = Math.max(0, lane.next - old);
      lane.segments = lane.segments.filter((x) => x[1] >= run.start);
      if (lane.segments[0]) lane.segments[0][0] = Math.max(lane.segments[0][0], run.start);
    }
    this.dropped = run.dropped;
    this.drawn = performance.now();
    this.rows = run.rows;
    super.draw();
  }

  forgetAfter() {  // rows were taken back
    for (const lane of this.lanes) Object.assign(lane, { segments: [], next: 0, closed: false });
    this.draw();
  }

  // Nothing will come after the end, until something is changed.
  drawBeyond(g, w, h, c) {
    const from = this.x(this.run.end), to = this.x(this.run.reach);
    g.save();
    g.beginPath();
    g.rect(from, 22, to - from, h - 32);
    g.clip();
    g.strokeStyle = c['line-strong'];
    g.lineWidth = 1;
    g.beginPath();
    for (let x = from - h; x < to; x += 7) { g.moveTo(x, h); g.lineTo(x + h, 0); }
    g.stroke();
    g.restore();
  }

  showState() {
    super.showState();
    this.showReached();
  }

  showReached() {
    if (!this.reached) return;
    const { session } = this.run, x = state.playing ? session.reached : null, c = colors();
    const text = x === null ? '' : `${number(x, 2)}×`;
    if (this.reached.textContent !== text) this.reached.textContent = text;
    this.reached.style.color = x !== null && x < 0.9 * state.speed ? c.warn : '';
  }

  update() {
    super.update();
    const { run, session } = this;
    if (!session) return;  // while it is put together
    if (this.rows !== run.rows && performance.now() - this.drawn > PERIOD) this.draw();
    this.here.classList.toggle('on', !state.playing && !session.newest);
    this.here.tabIndex = !state.playing && !session.newest ? 0 : -1;
    this.showReached();
    this.area.setAttribute('aria-valuemax', fixed(run.end, 3));
    this.area.setAttribute('aria-valuetext', `${fixed(state.time, 3)} s${session.newest ? ', newest row' : ''}`);
  }
}
