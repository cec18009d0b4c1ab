// Transport, clock, and the time line: a ruler, events, and one lane a contact that shows when it touches. Without contacts the kinetic
// energy is drawn there.
import { el, fixed } from './dom.js';
import { icon } from './icons.js';
import { isSelected, on, set, state } from './state.js';
import { colors, smallFont } from './theme.js';

const TOP = 26, BOTTOM = 10, RIGHT = 24, MOST = 6;
const speeds = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];

function speedText(x) { return x < 1 ? `1/${Math.round(1 / x)}×` : `${x}×`; }

// Times from and to which a contact is closed: those of the rows that have come since.
function extend(lane, run) {
  for (; lane.next < run.rows; lane.next++) {
    const closed = run.value(lane.column, lane.next) > 0, t = run.times[lane.next];
    if (closed && !lane.closed) lane.segments.push([t, t]);
    if (closed || lane.closed) lane.segments.at(-1)[1] = t;
    lane.closed = closed;
  }
}

function makeLanes(run) {
  const lanes = [], add = (name, index, column) => lanes.push({ name, index, column, segments: [], next: 0, closed: false });
  run.model.contacts.forEach((contact, index) => {
    const c = run.column(`contact(${contact.name}).n`) ?? run.column(`contact(${contact.name}).count`);
    if (c) add(contact.name, index, c);
    for (const member of (contact.members?.length ?? 0) <= 12 ? contact.members ?? [] : []) {
      const own = run.column(`contact(${contact.name}/${member.name}).n`);
      if (own && run.model.shapes[member.shape]?.body > 0) add(member.name, index, own);
    }
  });
  return lanes;
}

export class Timeline {
  constructor(run) {
    this.run = run;
    this.lanes = makeLanes(run);
    this.events = (run.report.events ?? []).filter((e) => Number.isFinite(e.t));
    this.energy = run.column('kinetic');
    this.play = el('button', { class: 'play', title: 'Play (Space)', 'aria-label': 'Play', on: { click: () => this.toggle() } });
    this.loop = this.button('repeat', 'Loop (L)', () => set({ loop: !state.loop }));
    this.clock = el('b');
    this.total = el('span', { class: 'mute' }, ` / ${fixed(run.end, 3)} s`);
    this.speed = el('button', { class: 'speed', title: 'Speed ([ slower, ] faster)', on: { click: () => set({ speed: 1 }) } });
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.playhead = el('div', { class: 'playhead' });
    this.area = el('div', { class: 'lanes', role: 'slider', tabindex: 0, 'aria-label': 'Time', 'aria-valuemin': run.start, 'aria-valuemax': run.end }, this.canvas, this.playhead);
    this.element = el('div', { class: 'foot' }, this.transport(), this.area);
    this.area.addEventListener('pointerdown', (event) => this.scrub(event));
    new ResizeObserver(() => this.draw()).observe(this.area);
    on('theme selection range', () => this.draw());
    on('playing loop speed', () => this.showState());
    this.showState();
  }

  button(name, title, call) { return el('button', { class: 'button', title, 'aria-label': title, on: { click: call } }, icon(name)); }

  transport() {
    return el('div', { class: 'transport' }, this.button('start', 'Start (Home)', () => this.go(this.run.start)), this.button('previous', 'Step back (Left)', () => this.step(-1)),
      this.play, this.button('next', 'Step (Right)', () => this.step(1)), this.loop, el('div', { class: 'clock' }, this.clock, this.total), this.speed);
  }

  // ---- actions --------------------------------------------------------------------------------------------------------
  go(t) { set({ time: Math.min(this.run.end, Math.max(this.run.start, t)), playing: false }); }

  toggle() {
    if (!state.playing && state.time >= this.to() - 1e-12) set({ time: this.from() });
    set({ playing: !state.playing });
  }

  from() { return state.range?.[0] ?? this.run.start; }
  to() { return state.range?.[1] ?? this.run.end; }

  step(n) {
    const { run } = this, i = Math.min(run.rows - 1, Math.max(0, run.nearestRow(state.time) + n));
    this.go(run.times[i]);
  }

  event(direction) {
    const times = this.events.map((e) => e.t), t = state.time, eps = 1e-9 * Math.max(1, this.run.end);
    const next = direction > 0 ? times.find((x) => x > t + eps) : times.findLast((x) => x < t - eps);
    if (next !== undefined) this.go(next);
  }

  faster(n) {
    const i = Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(state.speed) + n));
    set({ speed: speeds[i] });
  }

  // The time after dt seconds of the clock on the wall.
  advance(dt) {
    let t = state.time + dt * state.speed;
    if (t >= this.to()) {
      if (state.loop && this.to() > this.from()) t = this.from() + (t - this.to()) % (this.to() - this.from());
      else { t = this.to(); set({ time: t, playing: false }); return; }
    }
    set({ time: t });
  }

  scrub(event) {
    const box = this.area.getBoundingClientRect(), at = (e) => this.timeOf(e.clientX - box.left), first = at(event);
    const ranged = event.shiftKey;
    this.area.setPointerCapture(event.pointerId);
    const lane = this.laneOf(event.clientY - box.top);
    if (event.clientX - box.left < this.left && lane) { set({ selection: { kind: 'contact', index: lane.index } }); return; }
    const move = (e) => {
      if (ranged) set({ range: [Math.min(first, at(e)), Math.max(first, at(e))] });
      else set({ time: at(e), playing: false });
    };
    const up = () => {
      this.area.removeEventListener('pointermove', move);
      this.area.removeEventListener('pointerup', up);
      if (ranged && state.range && state.range[1] - state.range[0] < 0.01 * (this.run.reach - this.run.start)) set({ range: null });
    };
    this.area.addEventListener('pointermove', move);
    this.area.addEventListener('pointerup', up);
    if (!ranged) move(event);
  }

  // ---- drawing --------------------------------------------------------------------------------------------------------
  get left() { return this.shown?.length > 0 ? 96 : 24; }
  x(t) { const { run } = this, span = run.reach - run.start || 1; return this.left + (t - run.start) / span * (this.area.clientWidth - this.left - RIGHT); }
  timeOf(x) {
    const { run } = this, part = (x - this.left) / (this.area.clientWidth - this.left - RIGHT);
    return Math.min(run.end, run.start + Math.min(1, Math.max(0, part)) * (run.reach - run.start));
  }
  laneOf(y) { return this.shown?.find((lane) => y >= lane.y - lane.h / 2 && y < lane.y + lane.h / 2); }

  draw() {
    const { run, canvas } = this, w = this.area.clientWidth, h = this.area.clientHeight, ratio = devicePixelRatio, c = colors();
    if (w === 0 || h === 0) return;
    const wide = Math.round(w * ratio), high = Math.round(h * ratio), g = canvas.getContext('2d', { willReadFrequently: true });  // drawn by the processor: it is small
    if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    const chosen = this.lanes.filter((lane) => isSelected('contact', lane.index));
    for (const lane of this.lanes) extend(lane, run);
    const most = Math.max(MOST, Math.floor((h - TOP - BOTTOM) / 16)), lanes = this.lanes.slice();  // those that close at some time before those that never do
    if (lanes.length > most) lanes.sort((a, b) => Number(b.segments.length > 0) - Number(a.segments.length > 0));
    const first = new Set([...chosen, ...lanes].slice(0, most));
    this.shown = h < 64 ? [] : this.lanes.filter((lane) => first.has(lane));  // too low in other pages
    if (this.shown.length > 0) this.drawLanes(g, w, h, c);
    else this.drawEnergy(g, w, h, c);
    this.drawRuler(g, w, c);
    this.drawEvents(g, w, c);
    if (state.range) {
      g.fillStyle = c.accent;
      g.globalAlpha = 0.12;
      g.fillRect(this.x(state.range[0]), 4, this.x(state.range[1]) - this.x(state.range[0]), h - 8);
      g.globalAlpha = 1;
    }
    if (run.report.error_message) {
      this.drawBeyond(g, w, h, c);
      g.fillStyle = c.error;
      g.fillRect(this.x(run.end) - 1, 4, 2, h - 10);
    }
    this.update();
  }

  // One mark a pixel and kind: a heap of balls has thousands.
  drawEvents(g, w, c) {
    const { run } = this, each = (w - this.left - RIGHT) / (run.reach - run.start || 1), last = [-9, -9];
    for (const e of this.events) {
      const marked = e.kind === 'event' || e.kind === 'impact' ? 1 : 0, x = this.left + (e.t - run.start) * each;
      if (x < last[marked] + 1 || x < this.left - 1) continue;
      last[marked] = x;
      g.fillStyle = marked ? c.warn : c.mute;
      g.beginPath();
      g.moveTo(x, TOP - 9); g.lineTo(x + 4, TOP - 3); g.lineTo(x - 4, TOP - 3);
      g.fill();
    }
  }

  drawBeyond() {}  // a run that was read ends where its time line ends

  drawRuler(g, w, c) {
    const { run } = this, span = run.reach - run.start, room = w - this.left - RIGHT;
    if (!(span > 0)) return;
    let step = 10 ** Math.floor(Math.log10(span / (room / 70)));
    for (const k of [2, 5, 10, 20]) if (span / step > room / 70) step = 10 ** Math.floor(Math.log10(span / (room / 70))) * k;
    g.font = smallFont();
    g.textAlign = 'center';
    g.textBaseline = 'top';
    g.fillStyle = c.mute;
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let k = Math.ceil(run.start / step - 1e-9); k * step <= run.reach + 1e-9 * span; k++) {
      const x = this.x(k * step), last = (k + 1) * step > run.reach + 1e-9 * span;
      g.fillText(`${fixed(k * step, decimals)}${last ? ' s' : ''}`, x, 5);
      g.fillRect(x - 0.5, TOP - 7, 1, 3);
    }
  }

  drawLanes(g, w, h, c) {
    const each = (h - TOP - BOTTOM) / this.shown.length, thick = Math.min(6, each - 3);
    g.font = smallFont();
    g.textBaseline = 'middle';
    this.shown.forEach((lane, i) => {
      const y = TOP + each * (i + 0.5), selected = isSelected('contact', lane.index);
      lane.y = y;
      lane.h = each;
      g.fillStyle = selected ? c.accent : c.mute;
      g.textAlign = 'right';
      const { name } = lane;
      let text = name, kept = name.length - 1;  // without its middle: names of members differ at their ends
      for (; kept > 2 && g.measureText(text).width > this.left - 12; kept--) text = `${name.slice(0, Math.ceil(kept / 2))}…${name.slice(-Math.floor(kept / 2))}`;
      g.fillText(text, this.left - 8, y);
      g.fillStyle = c['lane-bg'];
      g.beginPath();
      g.roundRect(this.left, y - thick / 2, w - this.left - RIGHT, thick, thick / 2);
      g.fill();
      g.fillStyle = selected ? c.accent : c.lane;
      g.beginPath();
      for (const [from, to] of lane.segments) g.roundRect(this.x(from), y - thick / 2, Math.max(1.5, this.x(to) - this.x(from)), thick, thick / 2);
      g.fill();
    });
  }

  drawEnergy(g, w, h, c) {
    const { run, energy } = this;
    if (!energy) return;
    const step = Math.max(1, Math.floor(run.rows / (2 * w)));
    let most = 0;
    for (let i = 0; i < run.rows; i += step) most = Math.max(most, run.value(energy, i));
    if (!(most > 0)) return;
    const y = (x) => h - BOTTOM - x / most * (h - TOP - BOTTOM - 4);
    g.font = smallFont();
    g.fillStyle = c.lane;
    g.globalAlpha = 0.55;
    g.beginPath();
    g.moveTo(this.x(run.start), h - BOTTOM);
    for (let i = 0; i < run.rows; i += step) g.lineTo(this.x(run.times[i]), y(run.value(energy, i)));
    g.lineTo(this.x(run.end), h - BOTTOM);
    g.fill();
    g.globalAlpha = 1;
    g.fillStyle = c.mute;
    g.textAlign = 'left';
    g.textBaseline = 'bottom';
    g.fillText('kinetic energy', this.left + 6, h - BOTTOM - 4);
  }

  showState() {
    this.play.replaceChildren(icon(state.playing ? 'pause' : 'play'));
    this.play.setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
    this.loop.setAttribute('aria-pressed', String(state.loop));
    this.speed.textContent = speedText(state.speed);
  }

  update() {
    const text = fixed(state.time, 3);
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.playhead.style.transform = `translateX(${this.x(state.time)}px)`;
    this.area.setAttribute('aria-valuenow', state.time.toFixed(3));
    this.area.setAttribute('aria-valuetext', `${text} s`);
  }
}
