// Plots of columns over time, and of one against another (phase.js). The playhead is an element of its own, moved and never redrawn.
import uPlot from 'uplot';
import { clear, el, number, tick } from './dom.js';
import { icon } from './icons.js';
import { PhasePlot } from './phase.js';
import { columnsOf } from './tree.js';
import { on, set, state } from './state.js';
import { axisStyle, axisWidth, series } from './theme.js';

const MOST_POINTS = 20000;

function shown(unit) { return unit === '1' ? '' : unit; }

// Names of columns without what they have in common: "limb1" of contact(limb1).n and contact(limb2).n.
function shortNames(names) {
  if (names.length < 2) return names;
  let head = 0, tail = 0;
  const first = names[0], least = Math.min(...names.map((n) => n.length));
  while (head < least && names.every((n) => n[head] === first[head])) head++;
  while (tail < least - head && names.every((n) => n[n.length - 1 - tail] === first[first.length - 1 - tail])) tail++;
  while (head > 0 && !/[.( /]/.test(first[head - 1])) head--;
  while (tail > 0 && !/[.) /]/.test(first[first.length - tail])) tail--;
  return names.map((n) => n.slice(head, n.length - tail) || n);
}

const titles = [[/^contact\(.*\)\.n$/, 'Contact force'], [/^q\./, 'Coordinates'], [/^v\./, 'Velocities'], [/^a\./, 'Accelerations'],
  [/^reaction\(.*\)\.f$/, 'Reactions'], [/^force\(.*\)\.f$/, 'Forces'], [/^(kinetic|potential)$/, 'Energy'], [/^driver\./, 'Driving forces']];

function heading(names) {
  if (names.length === 1) return names[0];
  const known = titles.find(([pattern]) => names.every((name) => pattern.test(name)));
  const owner = names[0].slice(0, names[0].lastIndexOf('.')), own = names.every((name) => name.slice(0, name.lastIndexOf('.')) === owner);
  if (known) return own && owner.length > 2 && owner[1] === '.' ? `${known[1]} of ${owner.slice(2)}` : known[1];
  if (owner && own) return owner;
  const short = shortNames(names), first = names[0], at = first.indexOf(short[0]);
  const around = `${first.slice(0, at)}…${first.slice(at + short[0].length)}`;
  return around.length > 2 ? around : names.join(', ');
}

// A first choice: forces of contacts, the coordinates that move, energies.
export function firstPlots(run) {
  const { columns } = run, plots = [];
  const moving = (list) => (run.rows < 2 ? list : list.filter((c) => {
    const [low, high] = run.extent(c);
    return high - low > 1e-9 * Math.max(1, Math.abs(high), Math.abs(low));
  }));
  const take = (list, most = 6) => { if (list.length > 0) plots.push(list.slice(0, most).map((c) => c.name)); };
  take(moving(columns.filter((c) => /^contact\([^/]*\)\.n$/.test(c.name))), 3);
  for (const unit of ['rad', 'm']) take(moving(columns.filter((c) => c.name.startsWith('q.') && c.unit === unit && !/\.q[wxyz]$/.test(c.name))), 3);
  const sensor = run.model.sensors.find((s) => s.place && run.column(`${s.name}.z`));
  if (sensor && !plots.some((list) => run.column(list[0]).unit === 'm')) take(moving(['x', 'y', 'z'].map((k) => run.column(`${sensor.name}.${k}`)).filter(Boolean)));
  take(moving(columns.filter((c) => /^(reaction|force)\(.*\)\.f$/.test(c.name))), 3);
  take(columns.filter((c) => c.name === 'kinetic' || c.name === 'potential'));
  return plots.slice(0, 5);
}

// Beyond 20000 points the least and the largest of each stretch.
function thin(t, columns) {
  if (t.length <= MOST_POINTS) return [t, ...columns];
  const stretch = Math.ceil(t.length / (MOST_POINTS / 2)), x = [], y = columns.map(() => []);
  for (let i = 0; i < t.length; i += stretch) {
    const end = Math.min(t.length, i + stretch);
    x.push(t[i], t[end - 1]);
    columns.forEach((data, k) => {
      let low = i, high = i;
      for (let j = i; j < end; j++) { if (data[j] < data[low]) low = j; if (data[j] > data[high]) high = j; }
      y[k].push(data[Math.min(low, high)], data[Math.max(low, high)]);
    });
  }
  return [x, ...y];
}

export class Plot {
  constructor(owner, names) {
    this.owner = owner;
    this.run = owner.run;
    this.columns = names.map((name) => this.run.column(name)).filter(Boolean);
    this.hidden = new Set();
    const all = this.columns.map((c) => c.name), short = shortNames(all), units = [...new Set(this.columns.map((c) => shown(c.unit)))];
    this.area = el('div', { class: 'area', 'aria-hidden': 'true' });
    this.playhead = el('div', { class: 'playhead' });
    this.values = [];
    const legend = el('div', { class: 'names' });
    this.buttons = this.columns.map((c, i) => {
      const value = el('b');
      this.values.push(value);
      const button = el('button', { style: `--c:${series(i)}`, 'aria-pressed': 'true', title: `${c.name} · click hides, Alt click leaves this one` },
        all.length > 1 ? el('span', {}, short[i]) : null, value);
      button.addEventListener('click', (event) => this.hide(i, event.altKey));
      legend.append(button);
      return button;
    });
    const remove = el('button', { class: 'close', title: 'Remove this plot', 'aria-label': 'Remove this plot', on: { click: () => owner.remove(this) } }, icon('close', 14));
    this.element = el('section', { class: 'plot', tabindex: 0, 'aria-label': `Plot of ${all.join(', ')}` },
      el('div', { class: 'caption' }, el('h2', { title: all.join(', ') }, heading(all)), el('span', { class: 'unit' }, units.join(', ')), remove), legend, this.area);
    this.area.append(this.playhead);
    this.area.addEventListener('wheel', (event) => this.zoom(event), { passive: false });
  }

  get names() { return this.columns.map((c) => c.name); }

  hide(i, alone) {
    if (alone) {
      const others = this.columns.map((_, k) => k).filter((k) => k !== i), isAlone = others.every((k) => this.hidden.has(k));
      this.hidden = new Set(isAlone ? [] : others);
    } else if (this.hidden.has(i)) this.hidden.delete(i);
    else this.hidden.add(i);
    this.buttons.forEach((b, k) => b.setAttribute('aria-pressed', String(!this.hidden.has(k))));
    this.columns.forEach((_, k) => this.chart.setSeries(k + 1, { show: !this.hidden.has(k) }));
  }

  draw(width, height) {
    const axis = axisStyle();
    const minus = (u, splits) => splits.map(tick);
    this.chart?.destroy();
    this.buttons.forEach((b, i) => b.style.setProperty('--c', series(i)));
    this.chart = new uPlot({
      width,
      height,
      padding: [6, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: this.dragScales }, bind: { dblclick: () => () => { this.reset(); return null; } } },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 22, values: minus, space: 60 }, { ...axis, size: (u, texts) => axisWidth(texts), values: minus, space: 20 }],
      series: [{}, ...this.columns.map((_, i) => ({ stroke: series(i), width: 1.5, points: { show: false }, spanGaps: false, show: !this.hidden.has(i) }))],
      hooks: { setScale: [() => this.move()], draw: [() => this.move()], setSelect: [() => this.picked()] },
    }, this.points(), this.area);
    this.chart.over.addEventListener('click', (event) => {
      if (this.chart.select.width > 2) return;
      set({ time: Math.min(this.run.end, Math.max(this.run.start, this.chart.posToVal(event.offsetX, 'x'))), playing: false });
    });
    this.area.append(this.playhead);
    this.move();
  }

  points() {  // times, and values of each column
    const { run } = this;
    return thin(run.times, this.columns.map((c) => Float32Array.from({ length: run.rows }, (_, i) => run.value(c, i))));
  }

  reset() { this.chart.setScale('x', { min: this.run.start, max: this.run.end }); }

  picked() {}  // a stretch, with the pointer

  zoom(event) {
    if (!event.ctrlKey && !event.shiftKey) return;  // else the panel scrolls
    event.preventDefault();
    const { min, max } = this.chart.scales.x, at = this.chart.posToVal(event.clientX - this.chart.over.getBoundingClientRect().left, 'x');
    const factor = Math.exp(0.002 * (event.deltaY || event.deltaX));
    this.chart.setScale('x', { min: Math.max(this.run.start, at + factor * (min - at)), max: Math.min(this.run.end, at + factor * (max - at)) });
  }

  move() {
    if (!this.chart?.scales) return;
    const { left, top, width, height } = this.chart.bbox, ratio = devicePixelRatio, x = this.chart.valToPos(state.time, 'x');
    if (this.boxTop !== top || this.boxHeight !== height) {
      this.playhead.style.top = `${top / ratio}px`;
      this.playhead.style.height = `${height / ratio}px`;
      this.boxTop = top;
      this.boxHeight = height;
    }
    this.playhead.style.transform = `translateX(${left / ratio + x}px)`;
    this.playhead.style.visibility = x >= -1 && x <= width / ratio + 1 ? '' : 'hidden';
  }

  update() {
    this.move();
    this.columns.forEach((c, i) => {
      const text = number(this.run.valueAt(c), 4);
      if (this.values[i].textContent !== text) this.values[i].textContent = text;
    });
  }
}

Plot.prototype.dragScales = true;

export class Plots {
  constructor(run, choose) {
    this.run = run;
    this.list = el('div', { class: 'plots' });
    this.plots = [];
    const add = el('button', { class: 'pill', title: 'Plot a column', on: { click: choose } }, '+ column');
    this.element = el('div', { class: 'grow', style: 'display:flex;flex-direction:column;min-height:0' },
      el('div', { class: 'title' }, el('h2', { class: 'grow' }, 'Plots'), ...this.switches(), add), this.list);
    this.empty = el('div', { class: 'empty' }, icon('chart', 24), el('b', {}, 'No plots'),
      el('span', {}, 'Press ', el('kbd', {}, 'P'), ' to plot the selected joint, sensor or contact, or choose a column.'));
    for (const names of firstPlots(run)) this.plots.push(this.make(names));
    new ResizeObserver(() => this.layout()).observe(this.list);
    on('theme', () => this.layout(true));
    this.show();
  }

  switches() { return []; }

  make(names) { return Array.isArray(names) ? new Plot(this, names) : new PhasePlot(this, names); }  // or {y, x}

  show() {
    clear(this.list).append(...(this.plots.length > 0 ? this.plots.map((p) => p.element) : [this.empty]));
    this.layout(true);
  }

  layout(always = false) {
    const width = this.list.clientWidth, height = this.list.clientHeight, wide = innerWidth >= 1800;
    if (width === 0 || this.plots.length === 0 || (!always && this.width === width && this.height === height)) return;
    this.width = width;
    this.height = height;
    const rows = wide ? Math.ceil(this.plots.length / 2) : this.plots.length;
    const heads = this.plots.map((p) => p.element.offsetHeight - p.area.offsetHeight), some = Math.min(rows, 3);
    const head = wide ? some * Math.max(...heads) : heads.slice(0, some).reduce((a, b) => a + b, 0);
    const each = Math.max(70, Math.min(wide ? 400 : 170, Math.floor((height - head) / some)));
    for (const p of this.plots) p.draw(p.element.clientWidth || width, each);
    this.update();
  }

  add(names) {
    const plot = this.make(names);
    if (plot.columns.length === 0) return;
    this.plots.push(plot);
    this.show();
    requestAnimationFrame(() => plot.element.scrollIntoView({ block: 'nearest' }));  // when charts have their heights
  }

  // The columns of all plots, and other plots in their place.
  get names() { return this.plots.map((p) => p.names); }
  arrange(lists) {
    for (const plot of this.plots) plot.chart?.destroy();
    this.plots = lists.map((names) => this.make(names)).filter((plot) => plot.columns.length > 0);
    this.show();
  }

  remove(plot) {
    plot.chart?.destroy();
    this.plots = this.plots.filter((p) => p !== plot);
    this.show();
  }

  addSelection() {
    if (!state.selection) return false;
    const byUnit = new Map();
    for (const c of columnsOf(this.run, state.selection)) {
      if (/\.q[wxyz]$/.test(c.name)) continue;
      if (!byUnit.has(c.unit)) byUnit.set(c.unit, []);
      byUnit.get(c.unit).push(c.name);
    }
    for (const names of [...byUnit.values()].slice(0, 3)) this.add(names.slice(0, 6));
    return byUnit.size > 0;
  }

  update() { for (const p of this.plots) p.update(); }
}
