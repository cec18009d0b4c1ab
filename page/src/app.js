// The page of models: their text, the 3-D view, plots and report, and the core that runs them, all in one file and without a server.
// What is typed is read at once (do: load): errors stand at their line, and the view shows the last model that had none, as the page of sarrus view
// does: it plays live, coordinates and parameters can be moved. Run computes the whole motion with its report (do: run). The tab Edit is the editor of
// edit/ on the same text and the same engine.
import './live/live.css';
import './app.css';
import examplesSymbol from 'lucide-static/icons/library.svg';
import linkSymbol from 'lucide-static/icons/link.svg';
import openSymbol from 'lucide-static/icons/folder-open.svg';
import saveSymbol from 'lucide-static/icons/download.svg';
import stopSymbol from 'lucide-static/icons/square.svg';
import { Code } from './code.js';
import { bytesOf, inflate, Run } from './data.js';
import { clear, el } from './dom.js';
import { emptyModel } from './edit/document.js';
import { Editor } from './edit/editor.js';
import { nameHeader, showEditing, tabs } from './edit/tab.js';
import { openEngine } from './engine.js';
import { addIcons, icon } from './icons.js';
import { Live } from './live/open.js';
import { Session } from './live/session.js';
import { Page, publish, words } from './main.js';
import { readLink, writeLink } from './share.js';
import { on, set, state } from './state.js';
import { startTheme, toggleTheme } from './theme.js';
import { mark, pictures } from './welcome.js';

addIcons({ examples: examplesSymbol, link: linkSymbol, open: openSymbol, save: saveSymbol, stop: stopSymbol });
const PAUSE = 300;  // ms without a key until the text is read
const LATE = 300;   // ms until progress is worth showing
const DRAFT = 'sarrus-draft', MOST_DRAFT = 500000;

const embedded = (name) => document.getElementById(`sarrus-${name}`);
const blockBytes = async (name) => inflate(bytesOf(embedded(name).textContent));
const blockText = async (name) => new TextDecoder().decode(await blockBytes(name));
const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

// Rows of an answer as a run of the page: columns one after the other.
function runOf(loaded, file, answer, report) {
  const rows = answer.rows, width = loaded.columns.length, from = answer.array('columns'), values = new Float32Array(rows * width);
  for (let i = 0; i < rows; i++) for (let c = 0; c < width; c++) values[c * rows + i] = from[i * width + c];
  const head = { rows, file, columns: loaded.columns, model: loaded.model, provenance: answer.provenance };
  return new Run(head, report, answer.array('t'), values, answer.array('poses'), loaded.triangles);
}

class App {
  constructor(options) {
    this.options = options;
    this.root = document.getElementById('app');
    this.embed = options.get('embed') === '1';
    this.root.classList.add('studio');
    this.root.classList.toggle('embed', this.embed);
    this.file = '';
    this.files = {};       // that the model includes: name to bytes
    this.loaded = null;    // answer to the last load that was good
    this.errors = 0;
    this.page = null;
    this.session = null;   // of a page that is live
    this.editor = null;    // of the tab Edit, and which of the opened models it has
    this.opened = this.edits = 0;
    this.running = false;
    this.turn = Promise.resolve();
    this.code = new Code({
      changed: () => this.edited(),
      commands: [['Mod-Enter', () => this.runOrStop()], ['Mod-s', () => this.save()], ['Mod-o', () => this.choose()]],
    });
    this.build();
    this.listen();
    this.starting = this.startEngine();
  }

  // ---- parts ----------------------------------------------------------------------------------------------------------
  build() {
    const side = (name, text) => [name, el('button', { role: 'tab', on: { click: () => this.show(name) } }, text)];
    this.sides = [side('text', 'Text'), side('tree', 'Tree')];
    this.pill = el('span', { class: 'pill' });
    this.runButton = el('button', { class: 'run', title: 'Run (Ctrl Enter)', on: { click: () => this.runOrStop() } });
    this.fileName = el('span', { class: 'file-name' });
    this.live = el('button', { class: 'plain live', title: 'Back to the start: play live, move coordinates, change parameters', on: { click: () => this.read() } }, 'Live');
    this.strip = el('div', { class: 'strip', 'data-own': 'models' }, el('div', { class: 'tabs', role: 'tablist' }, ...this.sides.map((s) => s[1])),
      this.fileName, el('span', { class: 'grow' }), this.pill, this.live, this.runButton);
    this.panel = el('section', { class: 'code', 'data-own': 'models', 'aria-label': 'Text of the model' }, this.code.host, this.code.list);
    this.banner = el('div', { class: 'banner own', 'data-own': 'models', role: 'status' });
    this.banner.hidden = true;
    this.progress = el('div', { class: 'progress', 'data-own': 'models', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100 },
      this.bar = el('i'), this.part = el('span'));
    this.progress.hidden = true;
    this.welcome = el('main', { class: 'welcome', 'data-own': 'models' });
    this.toast = el('div', { class: 'say', 'data-own': 'models', role: 'status' });
    this.toast.hidden = true;
    this.input = el('input', { type: 'file', multiple: true, hidden: true, 'data-own': 'models' });
    this.input.addEventListener('change', () => { this.take([...this.input.files]); this.input.value = ''; });
    this.head = el('header', { class: 'head', 'data-own': 'models' });
    this.root.append(this.head, this.strip, this.panel, this.banner, this.progress, this.welcome, this.toast, this.input);
    this.show('text');
    this.showRun();
  }

  // What the header of every state has: examples, files, a link.
  actions() {
    const button = (symbol, title, call) => el('button', { class: 'button', title, 'aria-label': title, on: { click: call } }, icon(symbol));
    return el('div', { class: 'actions' },
      el('button', { class: 'examples', title: 'Models to begin with', on: { click: () => this.openExamples() } }, icon('examples'), 'Examples'),
      button('open', 'Open files (Ctrl O)', () => this.choose()),
      this.page ? button('save', 'Save (Ctrl S)', () => this.save()) : null,
      this.page ? button('link', 'Copy a link that holds the model', () => this.share()) : null);
  }

  // Without a model there is no page, and its header is ours.
  showHead() {
    this.head.hidden = Boolean(this.page);
    if (this.page) { this.root.querySelector('.head:not([data-own]) .side:last-child').prepend(this.actions()); return; }
    const theme = el('button', { class: 'button', title: 'Light or dark', 'aria-label': 'Light or dark', on: { click: toggleTheme } }, icon(state.theme === 'dark' ? 'sun' : 'moon'));
    clear(this.head).append(el('div', { class: 'side' }, mark(), el('span', { class: 'name' }, this.file || 'Sarrus'), el('span', { class: 'file' }, this.file ? '' : 'multibody dynamics')),
      el('div', { class: 'side', style: 'justify-content:flex-end;gap:6px' }, this.actions(), theme));
  }

  show(name) {
    this.root.classList.toggle('with-tree', name === 'tree');
    for (const [own, node] of this.sides) node.setAttribute('aria-selected', String(own === name));
  }

  showRun() {
    this.runButton.classList.toggle('stop', this.running);
    this.runButton.replaceChildren(icon(this.running ? 'stop' : 'play', 14), this.running ? 'Stop' : 'Run', el('kbd', {}, this.running ? 'Esc' : 'Ctrl ↵'));
    this.runButton.disabled = !this.running && (!this.engine || !this.loaded || this.errors > 0);
  }

  // The word beside Run: errors, that the text is newer than what was run, or that all is well.
  showState(word = null) {
    const [level, text] = word ?? (this.errors > 0 ? ['error', plural(this.errors, 'error')] : this.warnings > 0 ? ['warn', plural(this.warnings, 'warning')]
      : this.loaded ? ['ok', 'no errors'] : ['', '']);
    this.pill.className = `pill ${level}`;
    this.pill.textContent = text;
    this.pill.hidden = !text;
    this.fileName.textContent = this.changed ? `${this.file} · edited` : this.file;
    this.banner.hidden = this.errors === 0 || !this.page;
    if (this.errors > 0) this.banner.replaceChildren(icon('wrong'), `${plural(this.errors, 'error')}: showing the last model that compiled`);
  }

  say(text, level = '') {
    this.toast.className = `say ${level}`;
    this.toast.textContent = text;
    this.toast.hidden = false;
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => { this.toast.hidden = true; }, 5000);
  }

  // ---- the page that shows a run ----------------------------------------------------------------------------------------
  // A model that was read: it stands at its start, and the engine moves it.
  presentLive(answer) {
    this.session = new Session(this.engine);
    this.engine.onclose = (why) => { this.session.lose(); this.say(why, 'error'); };
    const live = new Live(this.session, answer), parameter = live.parameter.bind(live);
    live.parameter = async (name, value) => {
      const changed = await parameter(name, value);
      if (changed?.ok) this.writeParameter(name, value, answer);
      return changed;
    };
    this.liveModel = live;
    this.present((options) => live.open(options, { tabs }));
  }

  // Another page in place of the one shown. Of a model with the same bodies the camera, the selection and the plots stay.
  present(make) {
    const before = this.page && this.kept(), still = this.session !== null;
    this.page?.close();
    this.root.classList.toggle('still', still);
    const options = new URLSearchParams(this.options);
    if (still) options.set('play', '0');
    this.page = make(options);
    this.page.firstPlots = JSON.stringify(this.page.plots.names);
    this.showHead();
    if (before?.bodies === bodiesOf(this.page.run)) this.restore(before);
    this.page.begin();
    this.welcome.hidden = true;
    publish(this.page, { app: this });
    this.options.delete('t');
    this.options.delete('select');
  }

  // What a slider has changed stands in the text, too; it is the model that the engine has.
  writeParameter(name, value, answer) {
    const at = answer.parameters.find((x) => x.name === name)?.line, { doc } = this.code.view.state;
    if (!(at >= 1) || at > doc.lines) return;
    const line = doc.line(at), found = /(<parameter\b[^>]*?\bvalue\s*=\s*)(["'])(.*?)\2/.exec(line.text);
    if (!found || !new RegExp(`name\\s*=\\s*["']${name.replace(/[^\w]/g, '\\$&')}["']`).test(line.text)) return;
    const from = line.from + found.index + found[1].length + 1;
    this.code.write(from, from + found[3].length, String(value).replace(/[&<"']/g, ''));
    this.changed = true;
    this.showState();
  }

  kept() {
    const { page } = this, { scene } = page, plots = JSON.stringify(page.plots.names);
    if (plots !== page.firstPlots) this.plots = page.plots.names;
    return { bodies: bodiesOf(page.run), selection: state.selection, hidden: state.hidden, mode: state.mode,
      camera: scene?.turned && { target: scene.controls.target.clone(), position: scene.camera.position.clone(), fov: scene.camera.fov } };
  }

  restore(before) {
    const { page } = this;
    set({ selection: before.selection, hidden: before.hidden });
    if (this.plots) page.plots.arrange(this.plots);
    if (before.camera && page.scene) page.scene.look(before.camera);
  }

  // ---- the tab Edit -------------------------------------------------------------------------------------------------------
  // The text is one: what the editor changes stands in the text at once, and what was typed there is one step of its undoing.
  enter() {
    if (this.running) this.stop();
    clearTimeout(this.reading);
    this.reading = 0;
    this.root.classList.add('editing');
    const { text } = this.code;
    if (!this.editor) this.makeEditor(text);
    else if (this.edits !== this.opened) this.editor.show(this.file, text);
    else if (this.editor.doc.text !== text) this.editor.doc.replace(text);
    else this.editor.load();
    this.edits = this.opened;
    this.root.append(this.editor.element);
  }

  makeEditor(text) {
    this.editor = new Editor({
      engine: { ask: (request) => this.engine.ask(request) }, text, file: this.file, quality: this.options.get('quality'), choose: () => this.choose(),
      named: (model, file) => nameHeader(this.root, model, file),
      opened: (file, other) => { this.begin(file, other, {}); this.edits = this.opened; },
    });
    this.editor.doc.on(() => {
      this.code.take(this.editor.doc.text);
      this.changed = this.stale = true;
      this.showState();
      clearTimeout(this.drafting);
      this.drafting = setTimeout(() => this.draft(), PAUSE);
    });
  }

  // A text with errors comes back after the model that compiled last: that is what the engine has.
  leave() {
    const { editor } = this, good = editor.failed ? editor.good : null;
    this.root.classList.remove('editing');
    editor.close();
    this.queue(async () => {
      const answer = good && await this.engine.ask({ do: 'load', text: good, file: this.file });
      if (answer?.ok) this.readAnswer(answer);
    });
    this.read();
  }

  // A model that is drawn from nothing.
  async draw() {
    await this.open({ file: 'model.xml', text: emptyModel() });
    if (this.page) set({ mode: 'edit' });
  }

  // ---- text to model ------------------------------------------------------------------------------------------------------
  edited() {
    this.file ||= 'model.xml';
    this.changed = true;
    this.showState();
    clearTimeout(this.reading);
    this.reading = setTimeout(() => { this.read(); this.draft(); }, PAUSE);
    if (location.hash.includes('model=')) history.replaceState(null, '', location.pathname + location.search);
    this.stale = true;
  }

  // One thing after the other: reading, running.
  queue(call) {
    this.turn = this.turn.then(call).catch((error) => this.failed(error));
    return this.turn;
  }

  failed(error) {
    this.progress.hidden = true;
    if (this.running) { this.running = false; this.showRun(); }
    if (error.message !== 'stopped') this.say(error.message, 'error');
  }

  read() {
    clearTimeout(this.reading);
    this.reading = 0;
    return this.queue(async () => {
      await this.starting;
      if (!this.engine) return;
      const text = this.code.text;
      if (this.session) set({ playing: false });
      this.giveFiles();
      const answer = await this.engine.ask({ do: 'load', text, file: this.file });
      if (text !== this.code.text) return;  // the next reading is under way
      this.readAnswer(answer);
    });
  }

  giveFiles() {
    if (this.given !== this.files) this.engine.files(Object.entries(this.files).map(([name, data]) => [name, typeof data === 'string' ? new TextEncoder().encode(data) : data]));
    this.given = this.files;
  }

  readAnswer(answer) {
    const messages = answer.messages ?? [];
    if (!answer.ok && !messages.some((m) => m.severity === 'error')) messages.push({ severity: 'error', file: this.file, line: 0, column: 0, text: answer.error ?? 'this is no model' });
    this.errors = answer.ok ? 0 : messages.filter((m) => m.severity === 'error').length;
    this.warnings = messages.filter((m) => m.severity === 'warning').length;
    this.code.mark(messages, this.file);
    if (answer.ok) {
      answer.triangles = answer.array('triangles')?.slice().buffer ?? new ArrayBuffer(0);
      this.loaded = answer;
      this.stale = false;
      this.presentLive(answer);
    } else if (!this.page) this.showHead();
    this.welcome.hidden = true;
    this.showRun();
    this.showState();
  }

  // ---- model to motion ----------------------------------------------------------------------------------------------------
  runOrStop() { if (this.running) this.stop(); else this.run(); }

  run() {
    if (state.mode === 'edit') set({ mode: 'animate' });
    if (this.reading || this.stale) this.read();
    return this.queue(async () => {
      if (!this.engine || !this.loaded || this.errors > 0) return;
      if (this.session) set({ playing: false });
      this.running = true;
      this.showRun();
      this.bar.style.width = '0';
      this.part.textContent = 'Running';
      const late = setTimeout(() => { this.progress.hidden = false; }, LATE);
      this.engine.onprogress = (part) => this.showPart(part);
      try {
        const answer = await this.engine.ask({ do: 'run' });
        this.running = false;
        if (!answer.ok && !(answer.rows > 0)) { this.say(answer.error ?? 'the run has failed', 'error'); return; }
        const report = answer.report ?? {};
        this.last = { q: Array.from(answer.array('q') ?? []), v: Array.from(answer.array('v') ?? []) };  // doubles
        this.session = null;
        this.present((options) => new Page(runOf(this.loaded, this.file, answer, report), options, { tabs }));
      } finally {
        clearTimeout(late);
        this.running = false;
        this.progress.hidden = true;
        this.showRun();
        this.showState();
      }
    });
  }

  showPart(part) {
    const percent = Math.round(100 * Math.min(1, Math.max(0, part)));
    this.bar.style.width = `${percent}%`;
    this.part.textContent = `Running, ${percent} %`;
    this.progress.setAttribute('aria-valuenow', percent);
  }

  stop() {
    this.engine.stop();
    this.say('The run was stopped.');
    this.read();
  }

  // ---- models, files, links -------------------------------------------------------------------------------------------------
  // What is opened while one edits is edited.
  async open({ file, text, files = {} }, run = false) {
    if (state.mode === 'edit' && this.editor && !this.editor.mayLeave(file)) return;
    this.begin(file, text, files);
    if (state.mode === 'edit' && this.editor) {
      this.giveFiles();
      this.editor.show(file, text);
      this.edits = this.opened;
      return;
    }
    this.loaded = null;
    this.plots = null;
    this.errors = this.warnings = 0;
    this.page?.close();
    this.page = this.session = null;
    this.showHead();
    this.welcome.hidden = true;
    this.showState();
    await this.read();
    if (run) await this.run();
  }

  // Another text, of another file.
  begin(file, text, files) {
    this.file = file;
    this.files = files;
    this.changed = false;
    this.opened++;
    this.code.open(text);
  }

  example(word) { return this.examples.find((x) => x.file === word || x.file === `${word}.xml`); }

  // Files that were chosen or dropped: the first that can be a model is it, the others are what it includes.
  async take(list) {
    const models = list.filter((f) => /\.(xml|urdf|mjcf|xacro|mbs)$/i.test(f.name)), files = {};
    if (models.length === 0) { this.say('None of these files is a model: .xml, .urdf, .xacro and .mjcf are.', 'error'); return; }
    const texts = await Promise.all(models.map((f) => f.text()));
    const named = (text, name) => [`"${name}"`, `'${name}'`, `/${name}"`, `/${name}'`].some((value) => text.includes(value));  // as the value of an attribute
    const included = (i) => texts.some((text, k) => k !== i && named(text, models[i].name));
    const main = Math.max(0, models.findIndex((_, i) => !included(i)));
    for (const f of list) if (f !== models[main]) files[f.name] = new Uint8Array(await f.arrayBuffer());
    await this.open({ file: models[main].name, text: texts[main], files });
  }

  choose() { this.input.click(); }

  save() {
    const link = el('a', { href: URL.createObjectURL(new Blob([this.code.text], { type: 'application/xml' })), download: this.file || 'model.xml' });
    link.click();
    this.changed = false;
    this.showState();
    this.editor?.markSaved(this.code.text);
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  async share() {
    try {
      const link = await writeLink({ file: this.file, text: this.code.text, files: this.files });
      history.replaceState(null, '', link);
      let copied = false;
      try { await navigator.clipboard.writeText(location.href); copied = true; } catch { /* refused: it stands in the address */ }
      this.say(copied ? 'The link is in the clipboard, and in the address of this page.' : 'The link is in the address of this page.');
    } catch (error) { this.say(error.message, 'error'); }
  }

  draft() {
    try {
      const text = JSON.stringify({ file: this.file, text: this.code.text });
      if (text.length < MOST_DRAFT && Object.keys(this.files).length === 0) localStorage.setItem(DRAFT, text);
    } catch { /* not remembered */ }
  }

  openExamples() {
    const before = document.activeElement, close = () => { veil.remove(); before?.focus(); };
    const items = this.examples.map((x) => el('button', { class: 'item', on: { click: () => { close(); this.open(x, true); } } },
      el('b', {}, x.title), el('span', { class: 'grow mute' }, x.about), el('span', { class: 'mute' }, x.file)));
    const list = el('div', { class: 'list' }, ...items);
    const box = el('div', { class: 'sheet examples-sheet', role: 'dialog', 'aria-label': 'Examples' }, el('div', { class: 'title' }, el('h2', {}, 'Examples'), el('span', { class: 'mute' }, 'opened and run')), list);
    const veil = el('div', { class: 'veil' }, box);
    veil.addEventListener('pointerdown', (event) => { if (event.target === veil) close(); });
    box.addEventListener('keydown', (event) => {
      const at = items.indexOf(document.activeElement), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') close();
      else if (step) items[(at + step + items.length) % items.length].focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    document.body.append(veil);
    items[0].focus();
  }

  listen() {
    on('theme', () => { if (!this.page) this.showHead(); }, true);
    showEditing(() => this.enter(), () => this.leave());
    addEventListener('keydown', (event) => {
      const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (event.key === 'Escape' && this.running) { event.preventDefault(); this.stop(); return; }
      if (!control || event.defaultPrevented || document.querySelector('.veil')) return;
      const call = { Enter: () => this.runOrStop(), s: () => this.save(), o: () => this.choose() }[event.key];
      if (!call) return;
      event.preventDefault();
      call();
    });
    const over = (inside) => this.root.classList.toggle('dropping', inside);
    addEventListener('dragover', (event) => { if (event.dataTransfer?.types.includes('Files')) { event.preventDefault(); over(true); } });
    addEventListener('dragleave', (event) => { if (!event.relatedTarget) over(false); });
    addEventListener('drop', (event) => {
      over(false);
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.take([...event.dataTransfer.files]);
    });
    addEventListener('hashchange', () => this.openLink());
  }

  // ---- start --------------------------------------------------------------------------------------------------------------
  showWelcome() {
    let draft = null;
    try { draft = JSON.parse(localStorage.getItem(DRAFT)); } catch { /* none */ }
    const card = (file) => {
      const x = this.example(file);
      return el('button', { class: 'card', on: { click: () => this.open(x, true) } }, pictures[file](), el('b', {}, x.title), el('span', { class: 'mute' }, x.about));
    };
    clear(this.welcome).append(el('div', { class: 'drop' },
      el('h1', {}, 'Drop a model here'),
      el('p', { class: 'mute' }, 'or begin with one of these. It is edited, run and shown in this page alone: nothing is sent anywhere.'),
      el('div', { class: 'cards' }, ...Object.keys(pictures).map(card)),
      el('div', { class: 'choices' },
        el('button', { class: 'plain primary', on: { click: () => this.draw() } }, 'Draw a model'),
        el('button', { class: 'plain', on: { click: () => this.open({ file: 'model.xml', text: this.example('pendulum').text }) } }, 'New text'),
        el('button', { class: 'plain', on: { click: () => this.choose() } }, 'Open files'),
        el('button', { class: 'plain', on: { click: () => this.openExamples() } }, `All ${this.examples.length} examples`),
        draft?.text ? el('button', { class: 'plain', on: { click: () => this.open(draft) } }, `Continue with ${draft.file}`) : null),
      this.lack ? el('p', { class: 'lack' }, icon('warning'), el('span', {}, this.lack)) : null));
    this.welcome.hidden = false;
    this.showHead();
  }

  async startEngine() {
    try { await this.openCore(); } catch (error) { this.lack = `The core does not start here: ${error.message}. Models can be edited, not checked and not run.`; }
  }

  async openCore() {
    if (!embedded('core')) {
      this.lack = 'This page was built without its core, so it can edit models and cannot check or run them. The build needs emscripten and the sources of expat: tools/setup --wasm.';
      return;
    }
    const module = WebAssembly.compile(await blockBytes('core'));
    this.engine = await openEngine({ kind: 'worker', worker: await blockText('worker'), module: await module });
  }

  async openLink() {
    try {
      const model = await readLink(location.hash);
      if (model) await this.open(model, true);
      return Boolean(model);
    } catch (error) {
      this.say(error.message, 'error');
      return false;
    }
  }

  async start() {
    this.examples = JSON.parse(await blockText('examples'));
    const late = setTimeout(() => { clear(this.welcome).append(el('div', { class: 'notice' }, el('b', {}, 'Starting the core'))); }, LATE);
    await this.starting;
    clearTimeout(late);
    if (this.file || await this.openLink()) return;
    const wanted = this.options.get('example') && this.example(this.options.get('example'));
    if (wanted) await this.open(wanted, true);
    else this.showWelcome();
  }
}

const bodiesOf = (run) => JSON.stringify(run.model.bodies.map((body) => [body.name, body.parent]));

const options = words();
startTheme(options.get('theme'));
const app = new App(options);
window.sarrus = { app, state, set };
await app.start();
