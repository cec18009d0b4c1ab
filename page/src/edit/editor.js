// The editor of a model: tree, 3-D view and properties of one text. Every change goes to the program behind the page (do: load); what it says stands at
// its element, and the view keeps the last model that compiled. Nothing of the model is kept but the text.
import './edit.css';
import playSymbol from 'lucide-static/icons/play.svg';
import boxSymbol from 'lucide-static/icons/box.svg';
import moveSymbol from 'lucide-static/icons/move-3d.svg';
import newSymbol from 'lucide-static/icons/file-plus.svg';
import openSymbol from 'lucide-static/icons/folder-open.svg';
import plusSymbol from 'lucide-static/icons/plus.svg';
import pointerSymbol from 'lucide-static/icons/mouse-pointer-2.svg';
import redoSymbol from 'lucide-static/icons/redo-2.svg';
import rotateSymbol from 'lucide-static/icons/rotate-3d.svg';
import saveSymbol from 'lucide-static/icons/save.svg';
import downloadSymbol from 'lucide-static/icons/download.svg';
import trashSymbol from 'lucide-static/icons/trash-2.svg';
import undoSymbol from 'lucide-static/icons/undo-2.svg';
import { el, fixed, number } from '../dom.js';
import { addIcons, icon } from '../icons.js';
import { on } from '../state.js';
import { Document, emptyModel } from './document.js';
import { jointName, namesOf, rename, target } from './names.js';
import * as edit from './operations.js';
import { Outline } from './outline.js';
import { Panel } from './panel.js';
import { EditScene, makeStill, poseStill } from './scene.js';
import { Tools } from './tools.js';
import { elementAt, offsetOf, value } from './xml.js';

addIcons({ move: moveSymbol, 'file-plus': newSymbol, open: openSymbol, plus: plusSymbol, pointer: pointerSymbol, redo: redoSymbol, rotate: rotateSymbol, disk: saveSymbol, download: downloadSymbol, trash: trashSymbol, undo: undoSymbol, play: playSymbol, box: boxSymbol });

const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
const TABLE = SARRUS_ELEMENTS;  // of docs/using/format.md, put in by build.mjs

export class Editor {
  // engine: {ask(request)}; opened(file, text): told of another model; choose(): asks for a file, where the page knows better than one that is opened here;
  // named(model, file): told of their names; writes: text is that of a file which the engine can write (do: save)
  constructor({ engine, text = emptyModel(), file = 'model.xml', quality = '', opened = () => {}, choose = null, writes = false, named = () => {} }) {
    Object.assign(this, { engine, file, quality, opened, writes, named, choose: choose ?? (() => this.input.click()) });
    this.messages = [];
    this.still = null;
    this.scene = null;
    this.busy = false;
    this.playing = false;
    this.time = 0;
    this.settling = [];
    this.doc = new Document(text, TABLE);
    this.doc.on((what) => this.edited(what));
    this.build();
    on('theme', () => { if (this.scene) { this.scene.paint(); this.scene.dirty = true; } }, true);
    addEventListener('keydown', (event) => this.key(event), true);
    this.guard = (event) => event.preventDefault();
    this.load();
    this.frame();
  }

  // ---- parts --------------------------------------------------------------------------------------------------------------
  build() {
    const button = (symbol, title, call, name = symbol) => el('button', { class: 'button', 'data-do': name, title, 'aria-label': title, on: { click: call } }, icon(symbol));
    const calls = {
      select: (node) => this.select(node), set: (node, name, text, key) => this.change(() => this.doc.set(node, name, text, key)), seal: () => this.doc.seal(),
      rename: (node, text) => this.rename(node, text), remove: (node) => this.remove([node]), errorsOf: (node, name) => this.errorsOf(node, name),
      add: (parent, name) => this.addElement(parent, name), addParameter: () => this.change(() => this.select(edit.addParameter(this.doc), true)),
    };
    this.outline = new Outline(this.doc, { ...calls, add: (at) => this.menu(at) });
    this.panel = new Panel(this.doc, calls);
    this.tools = new Tools(this);
    this.undoButton = button('undo', 'Undo (Ctrl Z)', () => this.undo());
    this.redoButton = button('redo', 'Do again (Ctrl Shift Z)', () => this.redo());
    this.saved = el('span', { class: 'mute' });
    this.strip = el('div', { class: 'strip' }, button('file-plus', 'New model', () => this.open('model.xml', emptyModel()), 'new'), button('open', 'Open a file (Ctrl O)', () => this.choose()), this.saveButton = button('disk', 'Save (Ctrl S)', () => this.save(), 'save'),
      button('download', 'Save as a download (Ctrl Shift S)', () => this.download()),
      el('span', { class: 'gap' }), this.undoButton, this.redoButton, el('span', { class: 'grow' }), this.saved);
    this.input = el('input', { type: 'file', accept: '.xml', hidden: true });
    this.input.addEventListener('change', () => this.take(this.input.files[0]));
    this.left = el('aside', { class: 'edit-left' }, this.strip, this.outline.element, this.input);
    this.host = el('main', { class: 'view edit-view' });
    this.banner = el('div', { class: 'banner', role: 'status' });
    this.banner.hidden = true;
    this.status = el('span', { class: 'status', role: 'status' });
    this.counts = el('span', { class: 'mute' });
    this.playButton = el('button', { class: 'play', title: 'Try it (Space)', 'aria-label': 'Try it', on: { click: () => this.play(!this.playing) } }, icon('play'));
    this.startButton = button('start', 'Back to the start (Home)', () => this.restart());
    this.clock = el('span', { class: 'clock' });
    this.question = el('div', { class: 'banner ask', role: 'alertdialog' });
    this.question.hidden = true;
    this.empty = el('div', { class: 'start' }, el('b', {}, 'An empty model'), el('span', {}, 'Press B, then draw: press where a body has its joint, release at its tip.'));
    this.empty.hidden = true;
    this.host.append(this.empty, this.tools.bar, this.tools.options, this.tools.readout, this.banner, this.question);
    this.right = el('aside', { class: 'edit-right' }, this.panel.element);
    this.foot = el('footer', { class: 'edit-foot' }, this.playButton, this.startButton, this.clock, this.status, el('span', { class: 'grow' }), this.tools.hint, this.counts);
    this.element = el('div', { class: 'edit', 'data-own': true }, this.left, this.host, this.right, this.foot);
    this.drawText();
    this.showClock();
  }

  startView() {
    try {
      this.scene = new EditScene(this.still, this.host, this.quality);
      this.tools.attach(this.scene);
    } catch (error) {
      this.host.append(el('div', { class: 'notice' }, el('b', {}, 'This browser shows no 3-D pictures'), el('span', {}, 'Tree and properties work without it.'), el('span', { class: 'mute' }, error.message)));
      this.scene = null;
    }
  }

  frame() {
    if (this.scene?.dirty && this.element.isConnected && this.host.clientWidth > 0) this.scene.draw();
    requestAnimationFrame(() => this.frame());
  }

  say(text, level = '') {
    this.status.className = `status ${level}`;
    this.status.textContent = text;
    this.status.title = text;
  }

  // ---- the text and the program ---------------------------------------------------------------------------------------------
  // An edit that may be refused with a sentence.
  change(call) {
    if (this.playing) this.play(false);
    if (!this.doc.root) { this.say(`The text is not XML: ${this.doc.error.message}`, 'error'); return; }
    try { call(); } catch (error) { this.say(error.message, 'error'); this.drawText(); }
  }

  edited(what) {
    this.say(what);
    this.drawText();
    this.load();
  }

  drawText() {
    this.outline.draw();
    this.panel.draw();
    this.undoButton.disabled = this.doc.done.length === 0;
    this.redoButton.disabled = this.doc.undone.length === 0;
    this.saved.textContent = this.doc.changed ? `• ${this.file}` : this.file;
    this.saved.title = `${this.file}: ${this.doc.changed ? 'not saved' : 'saved'}`;
    this.saveButton.hidden = !this.writes;
    (this.doc.changed ? addEventListener : removeEventListener)('beforeunload', this.guard);  // leaving asks, where something would be lost
    if (this.scene) this.showChosen();
    this.tools.showTyped();
    this.empty.hidden = this.still?.bodies !== 0;
    this.named(this.still?.model.name ?? '', this.file);
  }

  // One load at a time; of the texts that come meanwhile the last one.
  async load() {
    this.wanted = this.doc.text;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted !== null) {
        const text = this.wanted;
        this.wanted = null;
        this.loaded(text, await this.engine.ask({ do: 'load', text, file: this.file }));
      }
    } catch (error) { this.say(`The program behind this page does not answer: ${error.message}`, 'error'); }
    this.busy = false;
    for (const call of this.settling.splice(0)) call();
  }

  settled(call) { if (this.busy) this.settling.push(call); else call(); }

  loaded(text, answer) {
    this.messages = this.placed(text, answer.messages ?? (answer.ok ? [] : [{ severity: 'error', text: answer.error }]));
    if (answer.ok) {
      this.good = text;
      this.still = makeStill(answer, this.file);
      this.dof = answer.dof ?? answer.degrees_of_freedom;
      this.time = 0;
      if (this.scene) this.scene.show(this.still); else this.startView();
      this.tools.renewed();
    }
    const errors = this.messages.filter((m) => m.severity === 'error').length;
    this.failed = !answer.ok;
    this.banner.hidden = answer.ok;
    if (!answer.ok) {
      this.banner.replaceChildren(el('b', {}, `${plural(Math.max(1, errors), 'error')}: showing the last model that compiled`),
        ...this.messages.filter((m) => m.severity === 'error').slice(0, 3).map((m) => el('button', { class: 'problem', on: { click: () => { const node = m.node && this.doc.at(m.node); if (node) this.select(node); } } }, `${m.line ? `${m.line}:${m.column} ` : ''}${m.text}`)));
    }
    const model = this.still?.model;
    this.counts.textContent = model ? `${plural(model.bodies.length - 1, 'body').replace('bodys', 'bodies')} · ${plural(model.nv, 'coordinate')} · ${plural(model.closures.length, 'closure')}${this.dof !== undefined ? ` · ${this.dof} degrees of freedom` : ''}` : '';
    this.drawText();
    this.showClock();
  }

  // Messages with the element and the attribute that they stand at.
  placed(text, messages) {
    if (!this.doc.root || text !== this.doc.text) return messages;
    return messages.map((m) => {
      const at = m.line > 0 ? offsetOf(text, m.line, m.column) : -1, found = at >= 0 ? elementAt(this.doc.root, at) : null;
      return { ...m, node: found && found.node !== this.doc.root ? found.node.start : undefined, attribute: found?.attribute?.name ?? null };
    });
  }

  // Of an element; name: of one of its attributes, null: of the element itself, undefined: of both.
  errorsOf(node, name) {
    return this.messages.filter((m) => m.node === node.start && (name === undefined || m.attribute === name));
  }

  // Coordinates that are to be so; the loops follow. One request at a time, the last one counts.
  async pose(list) {
    this.pending = list;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.pending) {
        const q = this.pending;
        this.pending = null;
        const answer = await this.engine.ask({ do: 'pose', q });
        if (answer.ok) { poseStill(this.still, answer); this.scene.dirty = true; } else this.say(answer.error, 'warn');
      }
    } catch (error) { this.say(error.message, 'error'); }
    this.busy = false;
    for (const call of this.settling.splice(0)) call();
    if (this.wanted) this.load();
  }

  // ---- trying it ------------------------------------------------------------------------------------------------------------
  async play(on) {
    this.playing = on;
    this.playButton.replaceChildren(icon(on ? 'pause' : 'play'));
    if (!on) return;
    if (this.busy || !this.still || this.failed) { this.play(false); this.say(this.failed ? 'Mend the errors first' : 'Wait for the model', 'warn'); return; }
    if (document.activeElement?.closest?.('.panel')) document.activeElement.blur();
    this.busy = true;
    const begin = performance.now(), from = this.time;
    try {
      while (this.playing) {
        const to = from + (performance.now() - begin) / 1000;
        const answer = await this.engine.ask({ do: 'advance', to, budget: 30 });
        if (!answer.ok) { this.say(answer.error ?? 'The run cannot go on', 'error'); this.playing = false; break; }
        const t = answer.array('t');
        if (t?.length > 0) {
          this.time = t[t.length - 1];
          poseStill(this.still, answer);
          this.scene.dirty = true;
        }
        this.showClock();
        if (answer.stopped) { this.say(answer.stopped.why && `The run stops at ${number(answer.stopped.t)} s: ${answer.stopped.why}` || 'The run has stopped', 'warn'); this.playing = false; }
        await new Promise((done) => { requestAnimationFrame(done); });
      }
    } catch (error) { this.say(error.message, 'error'); this.playing = false; }
    this.busy = false;
    this.playButton.replaceChildren(icon('play'));
    for (const call of this.settling.splice(0)) call();
    if (this.wanted) this.load();
  }

  restart() {
    this.playing = false;
    this.settled(() => this.load());
  }

  showClock() { this.clock.replaceChildren(el('b', {}, fixed(this.time, 2)), el('span', { class: 'mute' }, ' s')); this.startButton.disabled = this.time === 0; }

  // ---- selection --------------------------------------------------------------------------------------------------------------
  select(node, fresh = false) {
    this.doc.selected = node ? node.start : -1;
    if (!fresh) this.doc.seal();
    this.drawText();
    this.tools.showGizmo();
  }

  // kind: body, joint, point, closure ...; name as in the model.
  nodeOf(kind, name) {
    if (kind === 'body') return edit.bodyNode(this.doc, name);
    if (kind === 'point') return this.doc.elements('point').find((x) => x.parent && `${x.parent.name === 'ground' ? 'ground' : value(x.parent, 'name')}/${value(x, 'name')}` === name) ?? null;
    if (kind === 'joint') return this.doc.elements('body').find((x) => jointName(x) === name)?.children.find((x) => x.name === 'joint') ?? null;
    return this.doc.elements(kind).find((x) => value(x, 'name') === name) ?? null;
  }

  showChosen() {
    let node = this.doc.selection;
    const point = node?.name === 'point' ? `${node.parent.name === 'ground' ? 'ground' : value(node.parent, 'name')}/${value(node, 'name')}` : null;
    while (node && node.name !== 'body') node = node.parent;
    const chosen = node && !point ? this.still.model.bodies.findIndex((x) => x.name === value(node, 'name')) : -1;
    if (chosen === this.scene.chosen && point === this.scene.chosenPoint) return;
    this.scene.chosen = chosen;
    this.scene.chosenPoint = point;
    this.scene.paint();
    this.scene.dirty = true;
  }

  // ---- commands -----------------------------------------------------------------------------------------------------------------
  undo() { const what = this.doc.undo(); this.say(what ? `undone: ${what}` : 'nothing to undo'); }
  redo() { const what = this.doc.redo(); this.say(what ? `done again: ${what}` : 'nothing to do again'); }

  rename(node, text) {
    this.change(() => { if (node.name !== 'joint' || text) rename(this.doc, node, text); else this.doc.set(node, 'name', null); });
  }

  remove(nodes) {
    const list = nodes.filter((x) => x && x !== this.doc.root);
    if (list.length === 0) return;
    this.change(() => {
      const said = edit.remove(this.doc, list);
      this.say(`${said}. Ctrl Z brings it back`);
    });
  }

  // What an attribute that must be there begins with.
  guess(field, name) {
    if (field.default) return field.default;
    if (field.options) return field.options[0];
    if (field.kind === 'reference') {
      const kind = target(name, field.name), names = namesOf(this.doc, { frame: 'frame', touch: 'body', body: 'body', joint: 'joint' }[kind] ?? 'body').filter((x) => x !== 'ground');
      return (field.more && field.counts[0] > 1 ? names.slice(0, 2).join(', ') : names[field.name === 'b' ? 1 : 0] ?? names[0]) ?? '';
    }
    if (field.kind === 'law') return '0';
    return Array.from({ length: field.counts[0] }, () => '1').join(' ');
  }

  addElement(parent, name) {
    this.change(() => {
      const special = { body: () => edit.addBody(this.doc, { axis: this.tools.normal }), parameter: () => edit.addParameter(this.doc),
        shape: () => edit.addShape(this.doc, value(parent, 'name') ?? 'ground', 'box', 4 * this.tools.step, [0, 0, 0]), joint: () => edit.addJoint(this.doc, value(parent, 'name'), 'revolute', [0, 0, 0], this.tools.normal),
        point: () => edit.addPoint(this.doc, value(parent, 'name') ?? 'ground', [0, 0, 0]) }[name];
      this.select(special ? special() : edit.addElement(this.doc, parent, name, (field) => this.guess(field, name)), true);
    });
  }

  // Everything that the root may have.
  menu(at) {
    const list = Object.entries(TABLE).filter(([name, x]) => x.parents.includes('sarrus') && name !== 'repeat');
    const close = () => { box.remove(); removeEventListener('pointerdown', outside, true); };
    const outside = (event) => { if (!box.contains(event.target)) close(); };
    const items = list.map(([name, x]) => el('button', { class: 'item', role: 'menuitem', on: { click: () => { close(); this.addElement(this.doc.root, name); } } }, el('b', {}, name), el('span', { class: 'mute' }, x.doc)));
    const box = el('div', { class: 'menu', role: 'menu' }, ...items), place = at.getBoundingClientRect();
    box.style.left = `${place.left}px`;
    box.style.top = `${place.bottom + 4}px`;
    box.addEventListener('keydown', (event) => {
      const i = items.indexOf(document.activeElement), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') { close(); at.focus(); } else if (step) items[(i + step + items.length) % items.length].focus(); else return;
      event.preventDefault();
      event.stopPropagation();
    });
    document.body.append(box);
    addEventListener('pointerdown', outside, true);
    items[0].focus();
  }

  mayLeave(file) { return !this.doc.changed || confirm(`${this.file} has changes that are not saved. Open ${file} without them?`); }

  open(file, text) {
    if (!this.mayLeave(file)) return;
    this.opened(file, text);
    this.show(file, text);
  }

  // Another text: what was before cannot be undone into it.
  show(file, text) {
    this.playing = this.writes = false;
    this.question.hidden = true;
    this.file = file;
    const doc = new Document(text, TABLE);
    for (const key of ['text', 'root', 'error', 'saved', 'selected', 'done', 'undone']) this.doc[key] = doc[key];
    this.messages = [];
    this.drawText();
    this.settled(async () => { await this.load(); this.scene?.fit(-1, this.scene.firstDirection()); });
  }

  async take(file) {
    if (!file) return;
    this.input.value = '';
    this.open(file.name, await file.text());
  }

  save() { if (this.writes) this.write(this.doc.saved); else this.download(); }

  // Into the file that was opened, where it still has the text `before` (null: where it is not there).
  async write(before) {
    const { text } = this.doc;
    this.question.hidden = true;
    try {
      const answer = await this.engine.ask({ do: 'save', text, ...(before === null ? {} : { before }) });
      if (!answer.ok) { this.say(`Not saved: ${answer.error}`, 'error'); return; }
      if (!answer.saved) { this.askWhether(answer.text ?? null); return; }
      this.markSaved(text);
      this.say(`${this.file} is saved${this.failed ? ', with errors' : ''}`);
    } catch (error) { this.say(`Not saved: ${error.message}`, 'error'); }
  }

  // The file is another one than was opened: now its text is this, null: it is gone.
  askWhether(now) {
    const choice = (word, call) => el('button', { class: 'pill', on: { click: () => { this.question.hidden = true; this.say(''); call(); } } }, word);
    const reload = () => this.renew(now);
    this.say(`${this.file} is not saved`, 'warn');
    this.question.replaceChildren(el('b', {}, now === null ? `${this.file} is not on the disk any more.` : `${this.file} has changed on the disk since it was opened.`),
      el('div', { class: 'pills' }, choice(now === null ? 'Write it again' : 'Overwrite it', () => this.write(now)),
        now === null ? null : choice('Reload it; Ctrl Z brings this text back', reload), choice('Save as a download', () => this.download()), choice('Cancel', () => {})));
    this.question.hidden = false;
    this.question.querySelector('button:last-child').focus();  // the one that changes nothing
  }

  // The file has another text now; what was here before can be undone to.
  renew(text) {
    this.doc.replace(text, `reload ${this.file}`, null);
    this.markSaved(text);
  }

  download() {
    const link = el('a', { href: URL.createObjectURL(new Blob([this.doc.text], { type: 'application/xml' })), download: this.file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    if (!this.writes) this.markSaved(this.doc.text);
    this.say(`${this.file} is ${this.writes ? 'downloaded' : 'saved'}${this.failed ? ', with errors' : ''}`);
  }

  // This text is in a file.
  markSaved(text) {
    this.doc.saved = text;
    this.doc.seal();
    this.drawText();
  }

  // ---- keys -------------------------------------------------------------------------------------------------------------------
  key(event) {
    if (!this.element.isConnected || this.element.offsetParent === null || document.querySelector('.veil')) return;
    const control = event.ctrlKey || event.metaKey, typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName), key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const commands = control ? { Z: () => (event.shiftKey ? this.redo() : this.undo()), Y: () => this.redo(), S: () => (event.shiftKey ? this.download() : this.save()), O: () => this.choose() }
      : typing || event.altKey ? {} : { Delete: () => this.remove([this.doc.selection]), Backspace: () => this.remove([this.doc.selection]), ' ': () => this.play(!this.playing), Home: () => this.restart(), Escape: () => this.escape(),
        F2: () => this.outline.edit(this.doc.selected), F: () => this.scene?.fit(-1), 1: () => this.scene?.view(1, 0, 0.001), 2: () => this.scene?.view(0, -1, 0.001), 3: () => this.scene?.view(0, -0.001, 1), 5: () => this.scene?.togglePerspective() };
    const call = commands[key] ?? (!control && !typing && !event.altKey && this.tools.key(key) ? () => {} : null);
    if (!call) { if (!control && !typing && key.length === 1) event.stopPropagation(); return; }
    if (event.target.closest?.('[role="menu"]')) return;
    if (key === ' ' && event.target.tagName === 'BUTTON' && !event.target.closest('.edit-foot, .tools')) return;
    event.preventDefault();
    event.stopPropagation();
    if (control && typing) event.target.blur();
    call();
  }

  escape() {
    if (!this.question.hidden) this.question.hidden = true;
    else if (this.tools.first) this.tools.drop();
    else if (this.tools.tool !== 'select') this.tools.choose('select');
    else this.select(null);
  }

  close() { this.playing = false; this.element.remove(); }
}
