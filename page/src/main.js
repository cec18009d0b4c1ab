// Puts the page together: data, panels, then the 3-D view, which may fail where the browser has no WebGL. What shows a run that is
// computed meanwhile (live/) takes the place of some panels.
import './style.css';
import { readDocument } from './data.js';
import { el, svg } from './dom.js';
import { startMessages } from './embed.js';
import { icon } from './icons.js';
import { makeCommands, openPalette, startKeys } from './keys.js';
import { Modes } from './modes.js';
import { Plots } from './plots.js';
import { Report } from './report.js';
import { measure, Scene } from './scene.js';
import { forget, on, set, state } from './state.js';
import { colors, startTheme, toggleTheme } from './theme.js';
import { Timeline } from './timeline.js';
import { Topology } from './topology.js';
import { Properties, Tree } from './tree.js';
import { View } from './view.js';

// The address says quality, theme, time and selection: page.html?quality=low&theme=dark#t=1.5&select=body:3. A page without an address of its own (in a notebook)
// has them in its data.
export function words() {
  const out = new URLSearchParams(document.getElementById('sarrus-options')?.textContent ?? '');
  for (const [name, value] of new URLSearchParams(location.search)) out.set(name, value);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) out.set(name, value);
  return out;
}

// The body that carries the others: the free one with most of them.
function findBase(model) {
  const carried = model.bodies.map(() => 1);
  for (let i = model.bodies.length - 1; i > 0; i--) carried[model.bodies[i].parent] += carried[i];
  let best = -1, free = 0;
  model.bodies.forEach((body, i) => {
    if (i === 0 || body.parent !== 0 || model.joints[body.joint]?.type !== 'free') return;
    free++;
    if (best < 0 || carried[i] > carried[best]) best = i;
  });
  return best > 0 && (free === 1 || carried[best] > model.bodies.length / 2) ? best : -1;
}

export function travels(run, body) {  // further than it is large
  const a = run.pointAt(body, [0, 0, 0], 0, [0, 0, 0]), b = run.pointAt(body, [0, 0, 0], Math.max(0, run.rows - 1), [0, 0, 0]);
  return Math.hypot(b[0] - a[0], b[1] - a[1]) > 0.35 * run.scale || Math.abs(b[2] - a[2]) > run.scale;
}

function header(page) {
  const { run } = page;
  const mark = svg('svg', { class: 'mark', width: 22, height: 22, viewBox: '0 0 22 22', fill: 'none', stroke: 'currentColor', 'stroke-width': 2, 'aria-hidden': 'true' },
    svg('path', { d: 'M6 6h10l4 5-4 5H6l-4-5z', 'stroke-linejoin': 'round' }), ...[[6, 6], [16, 6], [6, 16], [16, 16]].map(([cx, cy]) => svg('circle', { cx, cy, r: 1.6, fill: 'currentColor' })));
  const tab = (mode, text) => el('button', { role: 'tab', on: { click: () => set({ mode }) } }, text);
  const tabs = [['animate', tab('animate', 'Animate')], ['modes', tab('modes', 'Modes')], ['topology', tab('topology', 'Topology')],
    ...(page.parts.tabs ?? []).map(([mode, text]) => [mode, tab(mode, text)])];
  const show = () => tabs.forEach(([mode, node]) => {
    node.setAttribute('aria-selected', String(mode === state.mode));
    if (mode !== 'topology') node.hidden = mode === 'modes' ? !page.modes.offered : page.modes.there && run.rows < 2 && !run.session;
  });
  const theme = el('button', { class: 'button', title: 'Light or dark (D)', 'aria-label': 'Light or dark', on: { click: toggleTheme } });
  const paint = () => theme.replaceChildren(icon(state.theme === 'dark' ? 'sun' : 'moon'));
  on('mode modes', show);
  on('theme', paint);
  show();
  paint();
  return el('header', { class: 'head' },
    el('div', { class: 'side' }, mark, el('span', { class: 'name' }, run.model.name), el('span', { class: 'file' }, run.head.file ?? ''), page.parts.badge?.(page) ?? null),
    el('div', { class: 'tabs', role: 'tablist' }, ...tabs.map((t) => t[1])),
    el('div', { class: 'side', style: 'justify-content:flex-end;gap:6px' },
      el('button', { class: 'find', title: 'Find or do anything', on: { click: () => page.palette('') } }, icon('search'), el('span', {}, 'Find or run…'), el('kbd', {}, 'Ctrl K')),
      el('button', { class: 'button', title: 'Keys (?)', 'aria-label': 'Keys', on: { click: () => page.commands.find(([key]) => key === '?')[2]() } }, icon('keyboard')), theme));
}

const saved = { Timeline, Tree, Properties, Plots, Report, Modes };

export class Page {
  constructor(run, options, parts = {}) {
    this.options = options;
    this.ended = new AbortController();
    this.parts = { ...saved, ...parts };
    this.app = document.getElementById('app');
    this.app.classList.toggle('embed', ['1', 'film'].includes(options.get('embed')));
    this.app.classList.toggle('film', options.get('embed') === 'film');
    this.script = [];  // ms of script, of the last frames
    this.last = 0;
    this.panels = 0;
    state.time = run.start;
    this.build(run);
    this.remember();
    startKeys(this);
  }

  // All panels for a run. Of those before, the renderer and its camera stay.
  build(run) {
    const { parts } = this;
    this.run = run;
    run.base = findBase(run.model);
    run.measure = measure(run);
    run.scale = run.measure.scale;
    this.tree = new parts.Tree(run);
    this.properties = new parts.Properties(run, (names) => this.plots.add(names));
    this.plots = new parts.Plots(run, () => this.palette('column'));
    this.report = new parts.Report(run);
    this.timeline = new parts.Timeline(run);
    this.topology = new Topology(run);
    this.modes = new parts.Modes(run, run.scale);
    if (this.modes.there && run.rows < 2) state.mode = 'modes';
    this.host = el('main', { class: 'view' });
    this.left = el('aside', { class: 'left' }, this.tree.element, this.properties.element);
    this.right = el('aside', { class: 'right' }, this.plots.element, this.report.element, this.modes.element);
    parts.arrange?.(this);
    this.commands = parts.commands?.(this, makeCommands(this)) ?? makeCommands(this);
    for (const node of [...this.app.children]) if (!node.dataset.own) node.remove();
    this.app.append(header(this), this.left, this.host, this.right, this.timeline.element, this.modes.foot);
    this.startView();
    parts.view?.(this);
    on('mode', () => this.showMode());
    this.showMode();
    document.title = `${run.model.name} · Sarrus`;
  }

  // The same page for another model: what was chosen stays where the names are still there.
  replace(run) {
    const { selection, follow, hidden, playing } = state, before = this.run.model, lists = { body: 'bodies', closure: 'closures', force: 'forces', contact: 'contacts', sensor: 'sensors' };
    const again = (kind, index) => run.model[lists[kind]].findIndex((x) => x.name === before[lists[kind]][index]?.name);
    const plots = this.plots.names;
    const chosen = selection ? again(selection.kind, selection.index) : -1;
    forget();
    state.selection = chosen >= 0 ? { kind: selection.kind, index: chosen } : null;
    state.follow = follow > 0 ? again('body', follow) : -1;
    state.hidden = new Set([...hidden].map((i) => again('body', i)).filter((i) => i > 0));
    state.playing = playing;
    state.time = run.end;
    this.build(run);
    this.remember();
    this.plots.arrange(plots);
    this.shown = NaN;
  }

  startView() {
    try {
      if (this.options.get('webgl') === 'none') throw new Error('switched off by the address of the page');
      this.view = new View(this.run, this.host);
      if (this.scene) this.scene.load(this.run, this.host);
      else this.scene = new Scene(this.run, this.host, this.options.get('quality'));
      this.view.attach(this.scene);
    } catch (error) {
      this.scene = null;
      this.host.replaceChildren(el('div', { class: 'notice' }, el('b', {}, 'This browser shows no 3-D pictures'),
        el('span', {}, 'It has no WebGL, or it is switched off. Tree, plots, report and topology work without it.'), el('span', { class: 'mute' }, error.message)));
    }
    if (this.run.report.error_message) this.host.append(el('div', { class: 'banner' }, `The run stopped at ${this.run.end.toFixed(4)} s: ${this.run.report.error_message}`));
  }

  showMode() {
    const flat = state.mode === 'topology';
    if (flat) this.host.append(this.topology.element, this.topology.caption);
    else { this.topology.element.remove(); this.topology.caption.remove(); }
    for (const node of this.host.children) {
      const own = node === this.topology.element || node === this.topology.caption;
      node.style.visibility = own || !flat ? '' : 'hidden';
    }
    if (flat) this.topology.draw();
    this.app.classList.toggle('with-modes', state.mode === 'modes');
    if (state.mode === 'modes') this.modes.dirty = true;
    this.shown = null;
  }

  palette(only) { openPalette(this, only); }

  fold(side) {
    if (innerWidth <= 1100) this.app.classList.toggle('with-right', side === 'right' && !this.app.classList.contains('with-right'));
    else this.app.classList.toggle(`no-${side}`);
  }

  // One frame: the time, the poses, the picture, the playheads; panels of numbers ten times a second while it plays.
  frame(now) {
    if (this.ended.signal.aborted) return;
    const begin = performance.now(), modes = state.mode === 'modes';
    if (state.playing) (modes ? this.modes : this.timeline).advance(Math.min(0.1, (now - this.last) / 1000));
    this.last = now;
    const changed = this.parts.frame?.(this) ?? false, moved = !modes && state.time !== this.shown;
    if (changed || moved || (modes && this.modes.dirty) || this.scene?.dirty) {
      if (modes) this.modes.pose(this.run.matrices); else this.run.pose(state.time);
      if (!modes) this.shown = state.time;
      if (this.scene && state.mode !== 'topology') {
        this.parts.draw?.(this);
        this.scene.draw();
        this.view.update();
      }
      if (moved) this.showTime(now);
      this.script.push(performance.now() - begin);
      if (this.script.length > 600) this.script.shift();
    }
    requestAnimationFrame((t) => this.frame(t));
  }

  showTime(now) {
    this.timeline.update();
    if (state.playing && now - this.panels <= 100) {
      for (const p of this.plots.plots) p.move();
      return;
    }
    this.panels = now;
    this.tree.update();
    this.properties.update();
    this.plots.update();
  }

  // What was seen is in the address: a link shows it again.
  remember() {
    on('time selection', () => {
      if (state.playing || this.options.has('embed')) return;
      clearTimeout(this.remembering);
      this.remembering = setTimeout(() => {
        const s = state.selection, t = Number(state.time.toPrecision(9)), model = /[#&](model=[^&]*)/.exec(location.hash);
        try { history.replaceState(null, '', `#${model ? `${model[1]}&` : ''}t=${t}${s ? `&select=${s.kind}:${s.index}` : ''}`); } catch { /* a page that may not */ }
      }, 400);
    });
  }

  // Leaves the document as it was before: another page may take its place.
  close() {
    this.ended.abort();
    clearTimeout(this.remembering);
    this.scene?.close();
    for (const node of [...this.app.children]) if (!('own' in node.dataset)) node.remove();
    forget();
  }

  begin() {
    const { run, options } = this;
    if (run.base > 0 && travels(run, run.base)) set({ follow: run.base });
    const [kind, index] = (options.get('select') ?? '').split(':');
    const lists = { body: run.model.bodies, closure: run.model.closures, force: run.model.forces, contact: run.model.contacts, sensor: run.model.sensors };
    if (lists[kind]?.[Number(index)]) set({ selection: { kind, index: Number(index) } });
    if (options.has('t')) set({ time: Math.min(run.end, Math.max(run.start, Number(options.get('t')) || 0)) });
    else if (!matchMedia('(prefers-reduced-motion: reduce)').matches && options.get('play') !== '0' && (run.rows > 1 || this.modes.there || run.session)) set({ playing: true });
    const view = options.get('view');
    if (view === 'topology' || (view === 'modes' && this.modes.offered)) set({ mode: view });
    run.pose(state.time);
    if (state.follow > 0) this.scene?.fit();  // where it is by then
    this.tree.update();
    this.plots.update();
    this.timeline.update();
    this.last = performance.now();
    this.frame(this.last);
  }
}

// For tests and for pages around this one: bodies by number, the ground is 0.
export function publish(page, more = {}) {
  window.sarrus = {
    page, state, set, ...more,
    test: {
      project: (body) => page.scene.project(body, [0, 0, 0], [0, 0, 0]),
      pose: (body) => page.scene.drawnPose(body),
      script: () => page.script,
      info: () => page.scene.renderer.info.render,
      colors,
    },
  };
}

// What read() makes a page of; an error is shown in its place.
export async function openPage(read) {
  const options = words();
  startTheme(options.get('theme'));
  try {
    const page = await read(options);
    page.begin();
    startMessages(page);
    publish(page);
    return page;
  } catch (error) {
    document.getElementById('app').replaceChildren(el('div', { class: 'notice' }, el('b', {}, 'This page could not be read'), el('span', {}, error.message)));
    throw error;
  }
}

// A page of a run has its data in it.
export function openDocument() { return openPage(async (options) => new Page(await readDocument(), options)); }
