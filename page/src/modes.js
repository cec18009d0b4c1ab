// Mode shapes: a list of modes, and the chosen one in motion. They come packed with a page (`sarrus modes --page`), or as an answer of a
// live engine; both give take() the same arrays:
//   modes: [{frequency Hz, damping, re, im, index?, amplitude?, largest?, multiplicity?}]
//   shapes: float32, modes x phases x bodies x 7: poses x y z, quaternion w x y z, at phases 2 pi k / phases of the period
//   rest: float32, bodies x 7: the state that they are about
// To first order a shape is rest + amplitude (c cos + s sin): displacements, and turns as angle times axis, are scaled by the slider.
import { writeMatrix } from './data.js';
import { clear, el, number, reveal } from './dom.js';
import { icon } from './icons.js';
import { on, set, state } from './state.js';

const PERIOD = 2.4;       // s on the screen for a period, whatever the frequency is
const SHOWN = 0.12;       // of the model's size: the largest displacement that a mode has at first
const LEAST = 1 / 16, MOST = 8;  // of the slider, times that

// Turn of the quaternion q seen from q0, as angle times axis.
function turnOf(q, o, q0, o0, out) {
  const [a, b, c, d] = [q0[o0], -q0[o0 + 1], -q0[o0 + 2], -q0[o0 + 3]], [w, x, y, z] = [q[o], q[o + 1], q[o + 2], q[o + 3]];
  let s = w * a - x * b - y * c - z * d, i = w * b + x * a + y * d - z * c, j = w * c - x * d + y * a + z * b, k = w * d + x * c - y * b + z * a;
  if (s < 0) { s = -s; i = -i; j = -j; k = -k; }
  const sine = Math.hypot(i, j, k), factor = sine > 1e-12 ? 2 * Math.atan2(sine, s) / sine : 2;
  out[0] = factor * i; out[1] = factor * j; out[2] = factor * k;
  return out;
}
const turn = [0, 0, 0];

export class Modes {
  constructor(run, scale) {
    this.run = run;
    this.scale = scale;
    this.list = [];
    this.phase = 0;    // of the period, 0 to 1
    this.chosen = 0;
    this.factor = 1;   // of the slider
    this.body = el('div', { class: 'modes', role: 'listbox', tabindex: 0, 'aria-label': 'Modes' });
    this.caption = el('span', { class: 'mute' });
    this.note = el('div', { class: 'modes-note' });
    this.element = el('section', { class: 'modes-panel', 'aria-label': 'Modes' }, el('div', { class: 'title' }, el('h2', { class: 'grow' }, 'Modes'), this.caption), this.body, this.note);
    this.body.addEventListener('keydown', (event) => this.key(event));
    this.play = el('button', { class: 'play', on: { click: () => this.toggle() } });
    this.slider = el('input', { type: 'range', min: Math.log2(LEAST), max: Math.log2(MOST), step: 0.125, value: 0, 'aria-label': 'Amplitude' });
    this.amount = el('b');
    this.slider.addEventListener('input', () => this.scaleTo(2 ** Number(this.slider.value)));
    this.wheel = el('input', { type: 'range', min: 0, max: 1, step: 0.002, value: 0, 'aria-label': 'Phase' });
    this.wheel.addEventListener('input', () => { set({ playing: false }); this.go(Number(this.wheel.value)); });
    this.clock = el('span', { class: 'mute' });
    this.foot = el('div', { class: 'foot modes-foot' }, el('div', { class: 'transport' }, this.play, el('label', {}, 'Phase', this.wheel, this.clock)),
      el('label', {}, 'Amplitude', this.slider, this.amount));
    this.poses = new Float32Array(7 * run.bodies);
    on('playing', () => this.showPlay());
    this.showPlay();
    if (run.modes) this.take({ ...run.modes, rest: run.poses });
  }

  get there() { return this.list.length > 0; }
  get offered() { return this.there; }  // a live engine computes them when they are wanted

  // New modes; the choice stays where it can.
  take({ modes, phases, shapes, rest, stability = null }) {
    this.list = modes;
    this.phases = phases;
    this.shapes = shapes;
    this.rest = rest;
    this.stability = stability;
    this.size = this.list.map((_, i) => this.sizeOf(i));
    this.chosen = Math.min(this.chosen, Math.max(0, modes.length - 1));
    this.showList();
    this.choose(this.chosen);
    set({ modes: this });
  }

  // The largest displacement in a mode, m; a turn counts as one of 0.3 of the model's size.
  sizeOf(mode) {
    const { shapes, rest, run } = this, n = 7 * run.bodies;
    let most = 0;
    for (let k = 0; k < this.phases; k++) {
      for (let b = 0; b < run.bodies; b++) {
        const o = (mode * this.phases + k) * n + 7 * b, r = 7 * b;
        turnOf(shapes, o + 3, rest, r + 3, turn);
        most = Math.max(most, Math.hypot(shapes[o] - rest[r], shapes[o + 1] - rest[r + 1], shapes[o + 2] - rest[r + 2]), 0.3 * this.scale * Math.hypot(...turn));
      }
    }
    return most;
  }

  choose(i) {
    if (!this.list[i]) return;
    this.chosen = i;
    this.base = this.size[i] > 0 ? SHOWN * this.scale / this.size[i] : 1;
    [...this.body.querySelectorAll('.mode')].forEach((row, k) => {
      row.setAttribute('aria-selected', String(k === i));
      if (k === i) reveal(this.body, row);
    });
    this.scaleTo(this.factor);
    this.showNote();
  }

  scaleTo(factor) {
    this.factor = factor;
    this.slider.value = Math.log2(factor);
    const mode = this.list[this.chosen], amplitude = mode?.amplitude ? mode.amplitude * this.base * factor : null;
    this.amount.textContent = amplitude === null ? `${number(factor, 2)}×` : `${number(amplitude, 3)} ${this.unit(mode)}`;
    this.dirty = true;
  }

  unit(mode) {
    const joint = this.run.model.joints.find((j) => j.v.includes(mode.largest)), unit = this.run.column(`q.${joint?.q[joint.v.indexOf(mode.largest)]}`)?.unit;
    return unit && unit !== '1' ? unit : 'rad or m';
  }

  go(phase) {
    this.phase = phase - Math.floor(phase);
    this.dirty = true;
  }

  toggle() { set({ playing: !state.playing }); }
  advance(dt) { this.go(this.phase + dt * state.speed / PERIOD); }
  step(n) { set({ playing: false }); this.go((Math.round(this.phase * this.phases) + n) / this.phases); }

  // The matrices of all bodies now.
  pose(matrices) {
    this.dirty = false;
    const { shapes, rest, run, phases } = this, n = 7 * run.bodies, s = this.base * this.factor;
    const at = this.phase * phases, first = Math.floor(at) % phases, g = at - Math.floor(at), f = 1 - g;
    const a = (this.chosen * phases + first) * n, b = (this.chosen * phases + (first + 1) % phases) * n;
    for (let body = 0; body < run.bodies; body++) {
      const o = 7 * body, place = [0, 0, 0], axis = [0, 0, 0];
      for (let k = 0; k < 3; k++) place[k] = rest[o + k] + s * (f * shapes[a + o + k] + g * shapes[b + o + k] - rest[o + k]);
      turnOf(shapes, a + o + 3, rest, o + 3, turn);
      for (let k = 0; k < 3; k++) axis[k] = f * turn[k];
      turnOf(shapes, b + o + 3, rest, o + 3, turn);
      for (let k = 0; k < 3; k++) axis[k] = s * (axis[k] + g * turn[k]);
      const angle = Math.hypot(...axis), half = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5, w = Math.cos(angle / 2);
      const [i, j, k] = axis.map((x) => half * x), [p, x, y, z] = [rest[o + 3], rest[o + 4], rest[o + 5], rest[o + 6]];
      writeMatrix(place[0], place[1], place[2], w * p - i * x - j * y - k * z, w * x + i * p + j * z - k * y, w * y - i * z + j * p + k * x,
        w * z + i * y - j * x + k * p, matrices, 16 * (body + 1));
    }
    this.wheel.value = this.phase;
    const text = `${Math.round(360 * this.phase)}°`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
  }

  // ---- panels ---------------------------------------------------------------------------------------------------------
  showPlay() {
    this.play.replaceChildren(icon(state.playing ? 'pause' : 'play'));
    this.play.title = state.playing ? 'Pause (Space)' : 'Play (Space)';
    this.play.setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
  }

  showList() {
    const head = el('div', { class: 'mode-head' }, ...['', 'Hz', 'damping', 're, 1/s'].map((text) => el('span', {}, text)));
    const rows = this.list.map((mode, i) => el('div', { class: 'mode', role: 'option', on: { click: () => this.choose(i) } }, el('span', { class: 'mute' }, String(mode.index ?? i + 1)),
      el('span', {}, mode.im === 0 ? '–' : number(mode.frequency, 4)), el('span', {}, mode.damping === null ? '–' : number(this.percent(mode), 3) + ' %'),
      el('span', { class: mode.re > 1e-9 * Math.hypot(mode.re, mode.im) ? 'error' : '' }, number(Math.abs(mode.re) < 1e-9 * Math.abs(mode.im) ? 0 : mode.re, 3))));
    clear(this.body).append(head, ...rows);
    this.caption.textContent = [`${this.list.length}`, this.stability].filter(Boolean).join(' · ');
  }

  percent(mode) { return Math.abs(mode.damping) < 1e-9 ? 0 : 100 * mode.damping; }

  showNote() {
    const mode = this.list[this.chosen], period = mode.im !== 0 ? `1 period is ${number(2 * Math.PI / Math.abs(mode.im), 3)} s, shown in ${PERIOD} s, without its damping.` : 'It does not oscillate: its shape is shown back and forth.';
    const most = mode.largest ? `Most moves ${mode.largest}.` : '', many = mode.multiplicity > 1 ? `The eigenvalue is ${mode.multiplicity}-fold: shapes are not unique.` : '';
    this.note.textContent = [most, period, many].filter(Boolean).join(' ');
  }

  key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    if (!(event.key in moves) && event.key !== 'Home' && event.key !== 'End') return;
    const last = this.list.length - 1;
    this.choose(event.key === 'Home' ? 0 : event.key === 'End' ? last : Math.min(last, Math.max(0, this.chosen + moves[event.key])));
    event.preventDefault();
    event.stopPropagation();
  }
}
