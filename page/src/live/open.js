// The page with an engine: puts the live panels in the place of those of a page that was saved, and takes models over as they change.
import handSymbol from 'lucide-static/icons/hand-grab.svg';
import restartSymbol from 'lucide-static/icons/rotate-ccw.svg';
import slidersSymbol from 'lucide-static/icons/sliders-horizontal.svg';
import { clear, el } from '../dom.js';
import { addIcons, icon } from '../icons.js';
import { Page, travels } from '../main.js';
import { Report } from '../report.js';
import { on, set, state } from '../state.js';
import { LiveProperties, LiveTree } from './coordinates.js';
import { LiveModes } from './modes.js';
import { Options } from './options.js';
import { Parameters } from './parameters.js';
import { LivePlots } from './plots.js';
import { Pull } from './pull.js';
import { LiveRun } from './rows.js';
import { LiveTimeline } from './timeline.js';

addIcons({ hand: handSymbol, restart: restartSymbol, sliders: slidersSymbol });
const REPORT = 1000, NOTE = 6000;  // ms
const LOOK = 200, MANY = 300;  // ms between two looks whether all is in the view; bodies of which that takes too long
const contacts = ['continuous', 'timestepping', 'event', 'hybrid'], stabilizations = ['none', 'baumgarte', 'projection', 'partition', 'augmented'];

// A run with the row that an answer to load has.
export function runOf(session, answer) {
  const report = { events: [], error_message: null, method: answer.run.method, contact: answer.run.contact, warnings: warningsOf(answer) };
  const run = new LiveRun({ file: answer.file, columns: answer.columns, model: answer.model }, report, answer.array('triangles')?.slice().buffer ?? new ArrayBuffer(0));
  run.session = session;
  run.append(answer);
  run.horizon = run.start + Math.min(10, answer.run.t_end > 0 ? answer.run.t_end : 10);
  session.run = run;
  session.every = answer.run.every;
  session.settings = answer.run;
  return run;
}

function warningsOf(answer) { return (answer.messages ?? []).filter((m) => m.severity === 'warning').map((m) => (m.line > 0 ? `${m.file}:${m.line}: ${m.text}` : m.text)); }

const names = (list) => list.map((x) => x.name).join('\n');
// Panels of one model serve the other, too.
function isAlike(a, b) {
  const kinds = ['bodies', 'joints', 'closures', 'forces', 'contacts', 'sensors'];
  return a.model.name === b.model.name && names(a.columns) === names(b.columns) && kinds.every((kind) => names(a.model[kind]) === names(b.model[kind])) &&
    a.model.bodies.every((body, i) => body.parent === b.model.bodies[i].parent) && a.model.joints.every((joint, i) => joint.type === b.model.joints[i].type);
}
const drawn = (model) => JSON.stringify([model.shapes, model.joints, model.points, model.closures, model.forces, model.sensors, model.gravity, model.bodies.map((b) => b.com)]);

class LiveReport extends Report {
  fill() {
    super.fill();
    const pill = this.element.querySelector('.pill');
    if (this.run.report.energy || this.run.report.error_message) return;
    pill.className = 'pill';
    pill.textContent = 'not run yet';
  }
}

export class Live {
  constructor(session, loaded) {
    this.session = session;
    this.loaded = loaded;   // the last answer that had a model
    this.pull = new Pull(session);
    this.tab = 'selection';
    this.reported = 0;
    this.looked = 0;
    this.toast = el('div', { class: 'toast', role: 'status' });
    this.toast.hidden = true;
    this.banner = el('div', { class: 'banner', role: 'alert' });
    this.banner.hidden = true;
    session.on((what, value) => this.hear(what, value));
  }

  // What main.js asks for in place of its own.
  get parts() {
    return {
      Timeline: LiveTimeline, Tree: LiveTree, Properties: LiveProperties, Plots: LivePlots, Report: LiveReport, Modes: LiveModes,
      arrange: (page) => this.arrange(page),
      badge: () => this.badge(),
      view: (page) => this.view(page),
      commands: (page, list) => this.commands(page, list),
      frame: (page) => this.frame(page),
      draw: () => this.pull.update(),
    };
  }

  // more: parts beside those of here
  open(options, more = {}) {
    this.page = new Page(runOf(this.session, this.loaded), options, { ...this.parts, ...more });
    return this.page;
  }

  // ---- panels -----------------------------------------------------------------------------------------------------------
  arrange(page) {
    this.page = page;
    this.parameters = new Parameters(this.loaded.parameters ?? [], (name, value) => this.parameter(name, value));
    this.options = new Options(this.session.settings, this.choices(), (change) => this.settle(change));
    const none = el('div', { class: 'empty small' }, el('span', {}, 'Select a body to move its coordinates while the run stands.'));
    on('selection', () => { none.hidden = state.selection !== null; });
    none.hidden = state.selection !== null;
    const panels = { selection: el('div', {}, none, page.properties.element), parameters: this.parameters.element, run: this.options.element };
    const tab = (name, text, title) => el('button', { role: 'tab', id: `tab-${name}`, title, 'aria-controls': `panel-${name}`, on: { click: () => this.show(name) } }, text);
    const many = this.loaded.parameters?.length ?? 0;
    this.tabs = [['selection', tab('selection', 'Selection', '')], ['parameters', tab('parameters', many > 0 ? `Parameters ${many}` : 'Parameters', 'Parameters (E)')], ['run', tab('run', 'Run', 'Method, step, tolerances (O)')]];
    const list = el('div', { class: 'tabs wide', role: 'tablist', 'aria-label': 'Panels' }, ...this.tabs.map((t) => t[1]));
    list.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = this.tabs.findIndex(([name]) => name === this.tab);
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.show(this.tabs[(at + step + 3) % 3][0]);
      this.tabs.find(([name]) => name === this.tab)[1].focus();
    });
    this.panels = panels;
    for (const [name, panel] of Object.entries(panels)) { panel.id = `panel-${name}`; panel.setAttribute('role', 'tabpanel'); panel.setAttribute('aria-labelledby', `tab-${name}`); }
    page.left.append(el('div', { class: 'drawer' }, list, el('div', { class: 'panels' }, ...Object.values(panels))));
    on('selection', () => { if (state.selection) this.show('selection'); });
    on('playing time mode', () => this.showState());
    on('mode', () => { this.toast.hidden = true; });
    this.show(this.tab);
  }

  choices() { return { method: (this.loaded.methods ?? []).map((m) => m.name ?? m), contact: contacts, stabilization: stabilizations }; }

  show(name) {
    this.tab = name;
    for (const [own, node] of this.tabs) {
      node.setAttribute('aria-selected', String(own === name));
      node.tabIndex = own === name ? 0 : -1;
    }
    for (const [own, panel] of Object.entries(this.panels)) panel.hidden = own !== name;
  }

  badge() {
    this.pill = el('span', { class: 'pill', role: 'status' });
    this.showState();
    return this.pill;
  }

  showState() {
    const { session } = this;
    if (!this.pill || !session.run) return;
    const [level, text] = session.lost ? ['warn', 'reconnecting'] : session.catchUp !== null ? ['', 'catching up'] : state.mode === 'modes' ? ['', 'modes']
      : state.playing ? ['ok', 'live'] : session.stopped && session.newest ? ['error', 'stopped'] : session.newest ? ['', 'paused'] : ['', 'in the past'];
    if (this.pill.textContent === text) return;
    this.pill.className = `pill ${level}`;
    this.pill.textContent = text;
  }

  view(page) {
    const button = el('button', { class: 'button', title: 'Pull at bodies with the pointer (X); Ctrl drag does it always', 'aria-label': 'Pull at bodies', on: { click: () => this.pull.toggle() } }, icon('hand'));
    page.view?.bar?.append(button);
    page.host.append(this.toast, this.banner);
    this.pull.attach(page, button);
    this.showStop();
  }

  commands(page, list) {
    const { session } = this, without = new Set(['L']), command = (key, what, call) => [key, what, call];
    const own = [command('R', 'Run from this row on, with what is changed', () => session.runFromHere()), command('Shift R', 'Start again', () => session.restart(state.playing)),
      command('X', 'Pull at bodies with the pointer', () => this.pull.toggle()), command('E', 'Parameters', () => this.enter('parameters')), command('O', 'Method, step, tolerances', () => this.enter('run'))];
    const told = { Space: 'Run, pause', ArrowRight: 'Step; in the past: next row', End: 'To the newest row' };
    return [...list.slice(0, 3), ...own, ...list.slice(3)].filter(([key]) => !without.has(key)).map(([key, what, call]) => [key, told[key] ?? what, call]);
  }

  enter(name) {
    this.show(name);
    this.panels[name].querySelector('input, select')?.focus();
  }

  // ---- what happens -----------------------------------------------------------------------------------------------------
  hear(what, value) {
    const { page } = this;
    if (!page) return;
    if (what === 'note' || what === 'error') this.say(value);
    if (what === 'rows' && value.force && this.pull.grabbed) this.pull.force = Math.hypot(...value.force);
    if (what === 'stopped') this.showStop();
    if (what === 'back' || what === 'posed') page.timeline.forgetAfter();
    if (what === 'posed') page.shown = null;
    if (what === 'back') { page.plots.due = page.plots.plots.length; page.scene?.choosePaths(); }
    if (what === 'lost' || what === 'found') this.showState();
    this.showState();
  }

  say(text) {
    this.toast.textContent = text;
    this.toast.hidden = false;
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => { this.toast.hidden = true; }, NOTE);
  }

  showStop() {
    const { stopped, run } = this.session;
    if (this.broken && !stopped) return;
    this.banner.hidden = !stopped;
    if (stopped) clear(this.banner).append(el('b', {}, `The run stands at ${stopped.t.toFixed(4)} s. `), stopped.why);
    this.page.timeline.draw();
    this.page.report.fill();
    this.reported = 0;
    run.seek(state.time);
    this.showState();
  }

  frame(page) {
    page.plots.tick();
    const now = performance.now();
    if (now - this.looked > LOOK) {
      this.looked = now;
      this.keepInView(page);
    }
    if (now - this.reported > REPORT && (state.playing || !this.isReported)) {
      this.reported = now;
      this.isReported = !state.playing;
      this.report();
    }
    if (state.playing) this.isReported = false;
    return this.pull.grabbed !== null;
  }

  // The camera begins to follow a model that travels, and goes back from one that reaches out, until somebody turns it.
  keepInView({ scene, run }) {
    if (!scene || scene.turned || state.mode !== 'animate') return;
    if (run.base < 0) {
      if (run.bodies < MANY) scene.widen();
    } else if (this.followed !== run && state.follow <= 0 && travels(run, run.base)) {
      this.followed = run;  // once: who switches it off does not get it again
      set({ follow: run.base });
      scene.fit();
    }
  }

  async report() {
    if (this.session.lost) return;
    const answer = await this.session.ask({ do: 'report' });
    if (!answer.ok) return;  // nothing was advanced yet
    const { run } = this.session, { events, error_message: message, warnings } = run.report;
    Object.assign(run.report, answer.report ?? answer, { events, error_message: message, warnings });
    this.page.report.fill();
  }

  async settle(change) {
    const answer = await this.session.ask({ do: 'options', ...change });
    if (answer.ok) {
      const run = answer.run ?? answer;
      this.session.settings = { ...this.session.settings, ...Object.fromEntries(Object.keys(this.session.settings).filter((k) => run[k] !== undefined).map((k) => [k, run[k]])) };
      this.session.every = this.session.settings.every;
      this.session.goOn();
      return { ...answer, run: this.session.settings };
    }
    return answer;
  }

  // ---- models that change ---------------------------------------------------------------------------------------------------
  async parameter(name, value) {
    const ready = state.playing ? null : await this.session.here();
    if (ready?.ok === false) return ready;
    const answer = await this.session.askLatest(`parameter ${name}`, { do: 'parameter', name, value });
    if (answer?.ok) {
      this.take(answer, answer.kept !== false);
      this.parameters.update(answer.parameters ?? []);
      const { run } = this.session;
      run.report.events.push({ t: run.end, kind: 'change', why: `${name} = ${value}` });
      if (answer.kept === false) this.say('The loops cannot be closed from there with this value: the run begins again.');
    }
    return answer;
  }

  // The file has changed: the last good model stays until it can be read. Camera, selection and plots stay, and the run comes to where it was.
  async reload(request) {
    const { session } = this, { time, playing } = state;
    set({ playing: false });
    const answer = await session.ask({ do: 'load', ...request });
    if (!answer.ok) { this.showErrors(answer); return; }
    this.broken = null;
    this.onload?.(answer);
    this.take(answer, false);
    if (time > session.run.start) session.catchUp = time;
    session.after = playing;
    session.pump();
    this.showState();
  }

  // A session of a server that has come back knows the model, and not the run.
  foundAgain(answer) {
    if (!answer.ok) { this.showErrors(answer); return; }
    if (!isAlike(this.loaded, answer)) { this.session.behind = false; this.take(answer, false); return; }
    this.loaded = answer;
    this.say('The engine is back, at the start of the run. What was computed stays until it runs again.');
  }

  showErrors(answer) {
    const errors = (answer.messages ?? []).filter((m) => m.severity === 'error'), n = Math.max(1, errors.length);
    this.broken = answer;
    this.banner.hidden = false;
    clear(this.banner).append(el('b', {}, `${n} ${n === 1 ? 'error' : 'errors'}: showing the last model that compiled.`),
      ...(errors.length > 0 ? errors.slice(0, 5).map((m) => el('div', {}, m.line > 0 ? `${m.file}:${m.line}:${m.column} ${m.text}` : m.text)) : [el('div', {}, answer.error)]));
  }

  // A model takes the place of the one that is shown. kept: the run goes on with the state of the newest row.
  take(answer, kept) {
    const { session, page } = this, before = this.loaded;
    this.loaded = answer;
    if (!kept || !isAlike(before, answer)) {
      const playing = state.playing && kept;
      page.replace(runOf(session, answer));
      session.stopped = null;
      set({ playing, time: session.run.end });
      this.showStop();
      return;
    }
    const { run } = session, same = drawn(before.model) === drawn(answer.model);
    run.model = answer.model;
    run.head.model = answer.model;
    run.report.warnings = warningsOf(answer);
    session.settings = answer.run;
    session.every = answer.run.every;
    const triangles = answer.array('triangles');
    if (triangles?.length > 0) run.triangles = triangles.slice().buffer;
    const newest = session.newest;
    run.truncate(run.rows - 1);
    run.append(answer);
    session.goOn();
    if (newest) state.time = run.end;
    page.shown = null;
    if (same) return;
    if (page.scene) {
      page.scene.load(run, page.host);
      page.scene.world.add(this.pull.object);
      page.view.attach(page.scene);
    }
    page.properties.fill();
    page.plots.due = page.plots.plots.length;
  }
}
