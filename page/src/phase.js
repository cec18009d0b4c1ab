// A plot of one column against another: the velocity of a joint against its coordinate, the force of a contact against its depth. Time is along the
// line: a dot, an element of its own that is moved and never redrawn, is where the values at the playhead are.
import uPlot from 'uplot';
import { el, number, tick } from './dom.js';
import { icon } from './icons.js';
import { set, state } from './state.js';
import { axisStyle, axisWidth, series } from './theme.js';

const LEAST_HEIGHT = 210;

// {y, x}: names of columns that are worth it. By default of the whole model, else of a selection.
export function pairsOf(run, selection = null) {
  const { joints, contacts, bodies } = run.model, kind = selection?.kind, pairs = [];
  const own = kind === 'body' ? joints.filter((_, i) => i === bodies[selection.index].joint) : selection ? [] : joints;
  for (const joint of own) for (const q of joint.q) if (joint.v.includes(q)) pairs.push({ y: `v.${q}`, x: `q.${q}` });
  const name = kind === 'contact' ? contacts[selection.index].name : '';
  for (const { name: x } of run.columns) {
    const contact = /^contact\((.*)\)\.penetration$/.exec(x)?.[1];
    const asked = contact !== undefined && (!selection || (kind === 'contact' && (contact === name || contact.startsWith(`${name}/`))));
    if (asked) pairs.push({ y: `contact(${contact}).n`, x });
  }
  return pairs.filter(({ y, x }) => run.column(y) && run.column(x));
}

// Least and largest value of rows, and a little room around.
function around(run, column, first, last, step) {
  let low = Infinity, high = -Infinity;
  for (let i = first; i <= last; i += step) {
    const x = run.value(column, i);
    if (x < low) low = x;
    if (x > high) high = x;
  }
  if (!(low <= high)) return { min: 0, max: 1 };
  const room = high > low ? 0.04 * (high - low) : Math.max(1e-9, 0.1 * Math.abs(high));
  return { min: low - room, max: high + room };
}

const title = (c) => (c.unit && c.unit !== '1' ? `${c.name}, ${c.unit}` : c.name);
export const named = ({ y, x }) => `${y} against ${x}`;

export class PhasePlot {
  constructor(owner, names) {
    this.owner = owner;
    this.run = owner.run;
    this.names = { y: names.y, x: names.x };
    this.columns = [this.run.column(names.x), this.run.column(names.y)];
    if (this.columns.some((c) => !c)) this.columns = [];
    this.zoomed = false;
    this.hovered = -1;  // row
    this.values = this.columns.map(() => el('b'));
    this.dot = el('div', { class: 'dot' });
    this.ring = el('div', { class: 'dot ring' });
    this.when = el('span', { class: 'unit' });
    this.area = el('div', { class: 'area', 'aria-hidden': 'true' }, this.ring, this.dot);
    const text = named(names), legend = this.columns.map((c, i) => el('span', {}, `${'xy'[i]} `, this.values[i]));
    const remove = el('button', { class: 'close', title: 'Remove this plot', 'aria-label': 'Remove this plot', on: { click: () => owner.remove(this) } }, icon('close', 14));
    this.element = el('section', { class: 'plot phase', tabindex: 0, 'aria-label': `Plot of ${text}` },
      el('div', { class: 'caption' }, el('h2', { title: text }, text), this.when, remove), el('div', { class: 'names' }, ...legend), this.area);
  }

  rows() { return [0, this.run.rows - 1, 1]; }  // that are drawn: first, last, every how many

  draw(width, height) {
    const axis = { ...axisStyle(), values: (u, splits) => splits.map(tick), labelFont: '11px Inter, system-ui, sans-serif', labelSize: 16, labelGap: 0 };
    const [x, y] = this.columns;
    const keep = this.zoomed && this.chart ? [{ ...this.chart.scales.x }, { ...this.chart.scales.y }] : null;
    this.chart?.destroy();
    this.chart = new uPlot({
      mode: 2,
      width,
      height: Math.max(height, LEAST_HEIGHT),
      padding: [6, 18, 0, 0],
      legend: { show: false },
      cursor: { points: { show: false }, dataIdx: () => null, drag: { x: true, y: true, dist: 4 }, bind: { dblclick: () => () => { this.reset(); return null; } } },
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      axes: [{ ...axis, size: 22, space: 60, label: title(x) },
        { ...axis, size: (u, texts) => axisWidth(texts), space: 20, label: title(y) }],
      series: [{}, { facets: [{ scale: 'x', auto: false }, { scale: 'y', auto: false }], stroke: series(0), width: 1.25, pxAlign: 0, points: { show: false }, paths: () => this.path() }],
      hooks: { draw: [() => { this.move(); this.point(); }], setSelect: [(u) => { if (u.select.width > 0) this.zoomed = true; }] },
    }, [null, [[0], [0]]], this.area);
    this.chart.over.addEventListener('click', (event) => {
      const row = this.nearest(event.offsetX, event.offsetY);
      if (row >= 0) set({ time: this.run.times[row], playing: false });
    });
    this.chart.over.addEventListener('pointermove', (event) => this.hover(event.offsetX, event.offsetY));
    this.chart.over.addEventListener('pointerleave', () => this.hover());
    this.area.append(this.ring, this.dot);
    this.hover();
    if (keep) this.look(...keep); else this.reset();
  }

  look(x, y) {
    this.chart.batch(() => {
      this.chart.setScale('x', { min: x.min, max: x.max });
      this.chart.setScale('y', { min: y.min, max: y.max });
    });
  }

  reset() {
    const [first, last, step] = this.rows();
    this.zoomed = false;
    this.look(...this.columns.map((c) => around(this.run, c, first, last, step)));
  }

  // The line, without points that are in the pixel of the one before.
  path() {
    const { run, chart } = this, [first, last, step] = this.rows(), [cx, cy] = this.columns, line = new Path2D();
    let x = NaN, y = NaN, open = false;
    for (let i = first; i <= last; i += step) {
      const a = chart.valToPos(run.value(cx, i), 'x', true), b = chart.valToPos(run.value(cy, i), 'y', true);
      if (!Number.isFinite(a) || !Number.isFinite(b)) { open = false; continue; }
      if (open && i + step <= last && Math.abs(a - x) < 0.5 && Math.abs(b - y) < 0.5) continue;
      if (open) line.lineTo(a, b); else line.moveTo(a, b);
      open = true;
      x = a;
      y = b;
    }
    return { stroke: line, flags: 0 };
  }

  // The row that is drawn closest to a place in the plot; -1: none.
  nearest(left, top) {
    const { run, chart } = this, [first, last, step] = this.rows(), [cx, cy] = this.columns;
    let row = -1, least = Infinity;
    for (let i = first; i <= last; i += step) {
      const a = chart.valToPos(run.value(cx, i), 'x') - left, b = chart.valToPos(run.value(cy, i), 'y') - top, d = a * a + b * b;
      if (d < least) { least = d; row = i; }
    }
    return row;
  }

  hover(left, top) {  // where a click would go to, and when that was
    this.hovered = left === undefined ? -1 : this.nearest(left, top);
    this.when.textContent = this.hovered < 0 ? '' : `t = ${number(this.run.times[this.hovered], 5)} s`;
    this.point();
  }

  point() {
    const row = this.hovered;
    if (!(row >= 0 && row < this.run.rows)) this.ring.style.visibility = 'hidden';
    else this.put(this.ring, this.run.value(this.columns[0], row), this.run.value(this.columns[1], row));
  }

  put(node, x, y) {
    const { bbox } = this.chart, ratio = devicePixelRatio, width = bbox.width / ratio, height = bbox.height / ratio;
    const a = this.chart.valToPos(x, 'x'), b = this.chart.valToPos(y, 'y');
    const inside = a >= -1 && a <= width + 1 && b >= -1 && b <= height + 1;  // no: not a number, or zoomed away
    node.style.visibility = inside ? '' : 'hidden';
    if (inside) node.style.transform = `translate(${bbox.left / ratio + a}px, ${bbox.top / ratio + b}px)`;
  }

  move() {
    if (!this.chart?.scales) return;
    this.run.seek(state.time);
    this.put(this.dot, this.run.valueAt(this.columns[0]), this.run.valueAt(this.columns[1]));
  }

  update() {
    this.move();
    for (let i = 0; i < this.columns.length; i++) {
      const text = number(this.run.valueAt(this.columns[i]), 4);
      if (this.values[i].textContent !== text) this.values[i].textContent = text;
    }
  }
}
