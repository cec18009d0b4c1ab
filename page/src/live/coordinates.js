// Coordinates that one can move while the run stands: sliders and fields in the properties, values in the tree. The engine holds what was
// moved and closes the loops with all the others; where it cannot, the slider goes back and says why.
import { el, fixed, number } from '../dom.js';
import { on, state } from '../state.js';
import { Properties, Tree } from '../tree.js';

const DEGREES = 180 / Math.PI;

// {name, column, index, factor, unit, low, high, limits}: what a slider needs of a coordinate; null for parts of quaternions.
function coordinateOf(run, joint, name) {
  const column = run.column(`q.${name}`);
  if (!column || /\.q[wxyz]$/.test(column.name) || (joint.type === 'ball' && joint.q.length === 4)) return null;
  const angle = column.unit === 'rad', factor = angle ? DEGREES : 1;
  const index = run.columns.filter((c) => c.name.startsWith('q.')).indexOf(column);
  const [low, high] = joint.q.length === 1 && joint.limits ? joint.limits : [null, null];
  const about = run.value(column, 0), reach = angle ? Math.PI : Math.max(run.scale, Math.abs(about));
  const middle = angle ? 0 : about, ends = [low ?? middle - reach, high ?? middle + reach], over = 0.06 * (ends[1] - ends[0]);
  return { name, column, index, factor, unit: angle ? '°' : column.unit, limits: [low, high], turns: angle && low === null && high === null,
    driven: joint.driven,
    low: low === null ? ends[0] : ends[0] - over, high: high === null ? ends[1] : ends[1] + over };
}

function coordinatesOf(run, body) {
  const joint = run.model.joints[run.model.bodies[body].joint];
  return joint ? joint.q.map((name) => coordinateOf(run, joint, name)).filter(Boolean) : [];
}

const shown = (c, x) => (c.unit === '°' ? fixed(x * c.factor, 1) : number(x, 4));
const read = (text) => Number(text.trim().replace(',', '.').replace('−', '-').replace(/[^\d.eE+-]+$/, ''));

class Slider {
  constructor(run, c, told) {
    this.run = run;
    this.c = c;
    this.told = told;
    this.held = false;  // the pointer has it: it does not follow the run
    const label = `${c.name} in ${c.unit === '°' ? 'degrees' : c.unit}`;
    const title = c.driven ? 'This joint is driven: it follows its motion' : null;
    this.range = el('input', { type: 'range', min: 0, max: 1000, step: 'any', 'aria-label': label, disabled: c.driven, title });
    this.field = el('input', { type: 'text', class: 'field', inputmode: 'decimal', spellcheck: 'false', 'aria-label': label, disabled: c.driven, title });
    const ticks = c.limits.map((x, i) => (x === null ? null : el('i', { class: 'tick', style: `left:${100 * this.part(x)}%`, title: `${i ? 'upper' : 'lower'} limit ${shown(c, x)} ${c.unit}` })));
    this.element = el('div', { class: 'slide' }, el('label', { title: c.name }, c.name), el('div', { class: 'track' }, ...ticks, this.range), this.field, el('span', { class: 'unit' }, c.unit));
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
  whole() { return this.c.turns ? 2 * Math.PI * Math.round(this.run.valueAt(this.c.column) / (2 * Math.PI)) : 0; }

  part(x) { return Math.min(1, Math.max(0, (x - this.c.low) / (this.c.high - this.c.low))); }

  take() {
    const x = read(this.field.value) / this.c.factor;
    if (Number.isFinite(x)) this.put(x); else this.told(`'${this.field.value}' is not a number`);
  }

  async put(x, holds = false) {
    const { session } = this.run;
    if (state.playing) session.pause();
    if (holds) this.field.value = shown(this.c, x);
    const answer = await session.pose([[this.c.index, x]]);
    if (answer === null) return;  // a later one is on its way
    this.told(answer.ok ? null : answer.error, answer);
    if (!answer.ok) this.held = false;
    this.update(true);
  }

  update(always = false) {
    if (this.held) return;
    const x = this.run.valueAt(this.c.column), at = String(Math.round(1e4 * this.part(x - this.whole())) / 10);
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
    const from = event.clientX, x = this.run.valueAt(c.column), each = (c.high - c.low) / 720;
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
    const field = el('input', { class: 'field', type: 'text', value: shown(c, this.run.valueAt(c.column)), 'aria-label': c.name });
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
    const { session } = this.run, answer = await session.pose([[c.index, x]]);
    if (answer && !answer.ok) session.tell('note', answer.error);
  }
}
