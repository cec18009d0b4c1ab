// Coordinates that one can move while the run stands: sliders and fields in the properties, values in the tree. The engine holds what was
// moved and closes the loops with all the others; where it cannot, the slider goes back and says why.
import { el, fixed, number } from '../dom.js';
import { on, state } from '../state.js';
import { Properties, Tree } from '../tree.js';

const DEGREES = 180 / Math.PI;

// Roll, pitch, yaw of a unit quaternion, R = Rz(yaw) Ry(pitch) Rx(roll), as `rpy` in files; and back.
export function anglesOf([w, x, y, z]) {
  const sine = Math.max(-1, Math.min(1, 2 * (w * y - x * z)));
  if (Math.abs(sine) > 1 - 1e-9) return [0, Math.asin(sine), (sine > 0 ? -2 : 2) * Math.atan2(x, w)];  // roll and yaw turn about one axis: all of it is yaw
  return [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), Math.asin(sine), Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))];
}

export function quaternionOf([roll, pitch, yaw]) {
  const [a, b, c] = [roll, pitch, yaw].map((x) => Math.cos(x / 2)), [d, e, f] = [roll, pitch, yaw].map((x) => Math.sin(x / 2));
  return [a * b * c + d * e * f, d * b * c - a * e * f, a * e * c + d * b * f, a * b * f - d * e * c];
}

// The rotation of a free or ball joint. Angles stay what they were as long as they give the rotation that is there: beyond 90 degrees of pitch, too.
class Rotation {
  constructor(run, columns, index) {
    this.run = run;
    this.columns = columns;
    this.index = index;  // of qw among the coordinates
    this.last = [0, 0, 0];
    this.asked = 0;  // poses without an answer: what is there is not yet what was asked for
  }

  get angles() {
    if (this.asked > 0) return this.last;
    const q = this.columns.map((c) => this.run.valueAt(c)), size = Math.hypot(...q), had = quaternionOf(this.last);
    const turned = q.map((x) => x / size), dot = turned.reduce((sum, x, i) => sum + x * had[i], 0), off = turned.map((x, i) => x - Math.sign(dot || 1) * had[i]);
    if (!(size > 0)) return this.last;
    if (Math.hypot(...off) > 1e-6) this.last = anglesOf(turned);  // numbers of rows are single precision
    return this.last;
  }

  // The coordinates with one angle changed; of the two quaternions the one nearest to what is there.
  put(k, x) {
    const q = this.columns.map((c) => this.run.valueAt(c)), angles = [...this.angles];
    angles[k] = x;
    this.last = angles;
    this.asked++;
    const to = quaternionOf(angles), sign = to.reduce((sum, v, i) => sum + v * q[i], 0) < 0 ? -1 : 1;
    return to.map((v, i) => [this.index + i, sign * v]);
  }
}

const positionsOf = (run) => run.columns.filter((c) => c.name.startsWith('q.'));

function rotationOf(run, joint) {
  const parts = joint.q.slice(-4).map((name) => run.column(`q.${name}`));
  if (parts.length < 4 || !parts[0]?.name.endsWith('.qw')) return [];
  const rotation = new Rotation(run, parts, positionsOf(run).indexOf(parts[0]));
  return ['roll', 'pitch', 'yaw'].map((name, k) => ({ name, title: `${joint.name}: ${name}`, factor: DEGREES, unit: '°', limits: [null, null], turns: true, driven: joint.driven, low: -Math.PI, high: Math.PI,
    value: () => rotation.angles[k], put: (x) => rotation.put(k, x), answered: () => { rotation.asked--; } }));
}

// {name, title, factor, unit, low, high, limits, value(), put(x), answered()}: what a slider needs of a coordinate; null for parts of quaternions.
function coordinateOf(run, joint, name) {
  const column = run.column(`q.${name}`);
  if (!column || /\.q[wxyz]$/.test(column.name)) return null;
  const angle = column.unit === 'rad', factor = angle ? DEGREES : 1;
  const index = positionsOf(run).indexOf(column);
  const [low, high] = joint.q.length === 1 && joint.limits ? joint.limits : [null, null];
  const about = run.value(column, 0), reach = angle ? Math.PI : Math.max(run.scale, Math.abs(about));
  const middle = angle ? 0 : about, ends = [low ?? middle - reach, high ?? middle + reach], over = 0.06 * (ends[1] - ends[0]);
  return { name, title: name, value: () => run.valueAt(column), put: (x) => [[index, x]], factor, unit: angle ? '°' : column.unit, limits: [low, high], turns: angle && low === null && high === null,
    driven: joint.driven,
    low: low === null ? ends[0] : ends[0] - over, high: high === null ? ends[1] : ends[1] + over };
}

function coordinatesOf(run, body) {
  const joint = run.model.joints[run.model.bodies[body].joint];
  return joint ? [...joint.q.map((name) => coordinateOf(run, joint, name)).filter(Boolean), ...rotationOf(run, joint)] : [];
}

const shown = (c, x) => (c.unit === '°' ? fixed(x * c.factor, 1) : number(x, 4));
const read = (text) => Number(text.trim().replace(',', '.').replace('−', '-').replace(/[^\d.eE+-]+$/, ''));

class Slider {
  constructor(run, c, told) {
    this.run = run;
    this.c = c;
    this.told = told;
    this.held = false;  // the pointer has it: it does not follow the run
    const label = `${c.title} in ${c.unit === '°' ? 'degrees' : c.unit}`;
    const title = c.driven ? 'This joint is driven: it follows its motion' : null;
    this.range = el('input', { type: 'range', min: 0, max: 1000, step: 'any', 'aria-label': label, disabled: c.driven, title });
    this.field = el('input', { type: 'text', class: 'field', inputmode: 'decimal', spellcheck: 'false', 'aria-label': label, disabled: c.driven, title });
    const ticks = c.limits.map((x, i) => (x === null ? null : el('i', { class: 'tick', style: `left:${100 * this.part(x)}%`, title: `${i ? 'upper' : 'lower'} limit ${shown(c, x)} ${c.unit}` })));
    this.element = el('div', { class: 'slide' }, el('label', { title: c.title }, c.name), el('div', { class: 'track' }, ...ticks, this.range), this.field, el('span', { class: 'unit' }, c.unit));
    this.range.addEventListener('input', () => { this.held = true; this.put(this.whole() + c.low + this.range.value / 1000 * (c.high - c.low), true); });
    for (const event of ['change', 'pointerup', 'blur']) this.range.addEventListener(event, () => { this.held = false; });
    this.field.addEventListener('focus', () => { this.field.select(); });
    this.field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') { this.take(); this.field.blur(); }
      if (event.key === 'Escape') this.field.blur();
      if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
        event.preventDefault();
        this.field.value = shown(c, read(this.field.value) / c.factor + (event.key === 'ArrowUp' ? 1 : -1) * (c.high - c.low) / 360);
        this.take();
      }
      event.stopPropagation();
    });
    this.field.addEventListener('blur', () => this.update(true));
    this.update(true);
  }

  // Whole turns that are behind it: the slider shows what is left.
  whole() { return this.c.turns ? 2 * Math.PI * Math.round(this.c.value() / (2 * Math.PI)) : 0; }

  part(x) { return Math.min(1, Math.max(0, (x - this.c.low) / (this.c.high - this.c.low))); }

  take() {
    const x = read(this.field.value) / this.c.factor;
    if (Number.isFinite(x)) this.put(x); else this.told(`'${this.field.value}' is not a number`);
  }

  async put(x, holds = false) {
    const { session } = this.run;
    if (state.playing) session.pause();
    if (holds) this.field.value = shown(this.c, x);
    const answer = await session.pose(this.c.put(x));
    this.c.answered?.();
    if (answer === null) return;  // a later one is on its way
    this.told(answer.ok ? null : answer.error, answer);
    if (!answer.ok) this.held = false;
    this.update(true);
  }

  update(always = false) {
    if (this.held) return;
    const x = this.c.value(), at = String(Math.round(1e4 * this.part(x - this.whole())) / 10);
    if (always || this.at !== at) this.range.value = this.at = at;
    if (document.activeElement === this.field && !always) return;
    const text = shown(this.c, x);
    if (this.field.value !== text) this.field.value = text;
    this.range.setAttribute('aria-valuetext', `${text} ${this.c.unit}`);
  }
}

export class LiveProperties extends Properties {
  body(body, index) {
    super.body(body, index);
    if (index > 0) this.sliders = coordinatesOf(this.run, index).map((c) => new Slider(this.run, c, (text, answer) => this.say(text, answer)));
    if (!this.sliders?.length) return;
    this.answer = el('div', { class: 'said', role: 'status' });
    this.element.querySelector('.title').after(...this.sliders.map((s) => s.element), this.answer);
  }

  fill() {
    this.sliders = [];
    super.fill();
  }

  travel() {}  // the slider shows it

  say(text, answer) {
    this.answer.className = text ? 'said error' : 'said';
    const off = answer?.violation?.position ?? answer?.violation;
    this.answer.textContent = text ?? (this.run.model.closures.length > 0 ? `loops closed${Number.isFinite(off) ? ` · ${number(off, 1)} m` : ''}` : '');
  }

  update() {
    super.update();
    for (const slider of this.sliders ?? []) slider.update();
  }
}

// Values in the tree: a drag to the side moves the coordinate, a double click or Enter opens a field.
export class LiveTree extends Tree {
  constructor(run) {
    super(run);
    on('playing', () => this.list.classList.toggle('still', !state.playing));
    this.list.classList.toggle('still', !state.playing);
  }

  row(item) {
    const row = super.row(item);
    if (item.kind !== 'body' || !item.value) return row;
    const [c] = coordinatesOf(this.run, item.index), value = row.lastElementChild;
    if (!c || c.driven) return row;
    value.classList.add('movable');
    value.title = 'Drag to the side to move this coordinate; double click for a number';
    value.addEventListener('pointerdown', (event) => this.drag(event, item, c, value));
    value.addEventListener('dblclick', (event) => { event.stopPropagation(); this.edit(c, value); });
    return row;
  }

  drag(event, item, c, value) {
    if (state.playing || event.button !== 0) return;
    event.stopPropagation();
    event.preventDefault();
    value.setPointerCapture(event.pointerId);
    const from = event.clientX, x = c.value(), each = (c.high - c.low) / 720;
    let moved = false;
    const move = (e) => {
      if (!moved && Math.abs(e.clientX - from) < 3) return;
      if (!moved) this.select(item);
      moved = true;
      this.put(c, x + (e.clientX - from) * each);
    };
    const up = () => {
      value.removeEventListener('pointermove', move);
      value.removeEventListener('pointerup', up);
      if (!moved) this.select(item);
    };
    value.addEventListener('pointermove', move);
    value.addEventListener('pointerup', up);
  }

  edit(c, value) {
    const field = el('input', { class: 'field', type: 'text', value: shown(c, c.value()), 'aria-label': c.title });
    const close = () => { if (field.isConnected) field.replaceWith(value); };
    field.addEventListener('keydown', (event) => {
      event.stopPropagation();
      if (event.key === 'Enter') { const x = read(field.value) / c.factor; close(); if (Number.isFinite(x)) this.put(c, x); }
      if (event.key === 'Escape') close();
    });
    field.addEventListener('blur', close);
    value.replaceWith(field);
    field.focus();
    field.select();
  }

  async put(c, x) {
    const { session } = this.run, answer = await session.pose(c.put(x));
    if (answer && !answer.ok) session.tell('note', answer.error);
  }
}
