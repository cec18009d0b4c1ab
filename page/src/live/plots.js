// Plots of rows that come: the last seconds, or what was zoomed; the window goes on with the playhead. One plot a frame is drawn anew.
import { el } from '../dom.js';
import { PhasePlot } from '../phase.js';
import { Plot, Plots } from '../plots.js';
import { state } from '../state.js';

const MOST = 2000;  // points of a line; beyond, the least and the largest of each stretch
const spans = [2, 10, 60, Infinity];

class LivePlot extends Plot {
  constructor(owner, names) {
    super(owner, names);
    this.zoomed = null;  // [from, to]
    this.x = new Float64Array(2 * MOST + 4);
    this.y = this.columns.map(() => new Float32Array(2 * MOST + 4));
    this.data = [null, ...this.y];
  }

  // From and to when. While it runs at the newest row, that is at the right edge.
  window() {
    const { run } = this, { start, end } = run, t = state.time, whole = this.owner.span;
    let length = this.zoomed ? this.zoomed[1] - this.zoomed[0] : whole;
    if (!this.zoomed && end - start < length) {
      length = 1;
      while (length < end - start) length *= 1.25;
      return [start, start + length];
    }
    if (this.zoomed && !(state.playing && t > this.zoomed[1])) {
      if (t >= this.zoomed[0] && t <= this.zoomed[1]) return this.zoomed;
      if (!state.playing) return this.zoomed;
    }
    const to = t > end - 0.6 * length ? end : Math.max(start + length, t + 0.5 * length), window = [to - length, to];
    if (this.zoomed) this.zoomed = window;
    return window;
  }

  points() {
    const { run } = this, [from, to] = this.window();
    run.seek(from);
    const first = run.row;
    run.seek(to);
    const last = Math.min(run.rows - 1, run.row + 1), stretch = Math.max(1, Math.ceil((last - first + 1) / MOST));
    let n = 0;
    for (let i = first; i <= last; i += stretch) {
      const end = Math.min(last + 1, i + stretch);
      this.x[n] = run.times[i];
      if (stretch > 1) this.x[n + 1] = run.times[end - 1];
      for (let k = 0; k < this.columns.length; k++) this.put(k, n, i, end);
      n += stretch > 1 ? 2 : 1;
    }
    run.seek(state.time);
    this.data[0] = this.x.subarray(0, n);
    for (let k = 0; k < this.y.length; k++) this.data[k + 1] = this.y[k].subarray(0, n);
    return this.data;
  }

  put(k, n, from, end) {
    const { run } = this, c = this.columns[k];
    let low = run.value(c, from);
    this.y[k][n] = low;
    if (end - from === 1) { this.y[k][n + 1] = low; return; }
    let high = low, lowAt = from, highAt = from;
    for (let i = from + 1; i < end; i++) {
      const x = run.value(c, i);
      if (x < low) { low = x; lowAt = i; }
      if (x > high) { high = x; highAt = i; }
    }
    this.y[k][n] = lowAt <= highAt ? low : high;
    this.y[k][n + 1] = lowAt <= highAt ? high : low;
  }

  draw(width, height) {
    super.draw(width, height);
    this.refresh();
  }

  refresh() {
    if (!this.chart) return;
    const data = this.points(), [min, max] = this.window();
    this.chart.batch(() => {
      this.chart.setData(data, false);
      this.chart.setScale('x', { min, max });
    });
  }

  picked() {  // a stretch was drawn with the pointer
    const { left, width } = this.chart.select;
    if (width < 3) return;
    this.zoomTo(this.chart.posToVal(left, 'x'), this.chart.posToVal(left + width, 'x'));
    this.chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  zoomTo(min, max) {
    if (!(max - min > 1e-6)) return;
    this.zoomed = [min, max];
    this.refresh();
  }

  reset() {
    this.zoomed = null;
    this.refresh();
  }

  zoom(event) {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const [min, max] = this.window(), at = this.chart.posToVal(event.clientX - this.chart.over.getBoundingClientRect().left, 'x');
    const factor = Math.exp(0.002 * (event.deltaY || event.deltaX));
    this.zoomTo(Math.max(this.run.start, at + factor * (min - at)), at + factor * (max - at));
  }
}
LivePlot.prototype.dragScales = false;

// The last seconds up to the playhead.
class LivePhasePlot extends PhasePlot {
  constructor(owner, names) {
    super(owner, names);
    this.part = [0, -1, 1];
  }

  rows() { return this.part; }

  choose() {
    const { run } = this, { start, end } = run, { span } = this.owner, to = Number.isFinite(span) ? Math.min(end, Math.max(state.time, start + span)) : end;
    this.part[0] = Number.isFinite(span) ? run.nearestRow(Math.max(start, to - span)) : 0;
    this.part[1] = Math.min(run.rows - 1, run.nearestRow(to));
    this.part[2] = Math.max(1, Math.ceil((this.part[1] - this.part[0]) / (10 * MOST)));
    run.seek(state.time);
  }

  draw(width, height) {
    this.choose();
    super.draw(width, height);
  }

  refresh() {
    if (!this.chart) return;
    this.choose();
    if (this.zoomed) this.chart.redraw(true); else this.reset();
  }
}

export class LivePlots extends Plots {
  switches() {
    this.span = this.run.session.span ?? 10;
    this.due = 0;
    const button = el('button', { class: 'pill', title: 'How much of the run the plots show', on: { click: () => this.next() } });
    this.label = () => { button.textContent = Number.isFinite(this.span) ? `last ${this.span} s` : 'all of it'; };
    this.label();
    return [button];
  }

  next() {
    this.span = spans[(spans.indexOf(this.span) + 1) % spans.length];
    this.run.session.span = this.span;
    for (const plot of this.plots) plot.zoomed = null;
    this.label();
    this.due = this.plots.length;
  }

  make(names) { return Array.isArray(names) ? new LivePlot(this, names) : new LivePhasePlot(this, names); }

  update() {
    super.update();
    this.due = this.plots.length;
  }

  tick() { if (this.due > 0) this.plots[--this.due]?.refresh(); }
}
