// Everything that can be done, with its key: for the keyboard, for Ctrl K, for the list of keys.
import { clear, el } from './dom.js';
import { icon } from './icons.js';
import { named, pairsOf } from './phase.js';
import { glyph } from './tree.js';
import { set, state, toggle } from './state.js';
import { toggleTheme } from './theme.js';

// [key, what it does, call]; a key with Shift has it in its name.
export function makeCommands(page) {
  const { run, timeline, tree, plots } = page;
  const scene = (call) => () => { if (page.scene) call(page.scene); };
  const moving = () => (state.mode === 'modes' ? page.modes : timeline);
  const body = () => (state.selection?.kind === 'body' && state.selection.index > 0 ? state.selection.index : -1);
  const isolate = () => {
    const all = run.model.bodies.map((_, i) => i).slice(1), others = all.filter((i) => i !== body());
    set({ hidden: new Set(state.hidden.size > 0 || body() < 0 ? [] : others) });
  };
  const hide = () => {
    if (body() < 0) return;
    const hidden = new Set(state.hidden);
    if (!hidden.delete(body())) hidden.add(body());
    set({ hidden });
  };
  return [
    ['Space', 'Play, pause', () => moving().toggle()],
    ['ArrowRight', 'Step', () => moving().step(1)],
    ['ArrowLeft', 'Step back', () => moving().step(-1)],
    ['Shift ArrowRight', 'Ten steps', () => timeline.step(10)],
    ['Shift ArrowLeft', 'Ten steps back', () => timeline.step(-10)],
    ['Home', 'To the start', () => timeline.go(run.start)],
    ['End', 'To the end', () => timeline.go(run.end)],
    ['N', 'Next event', () => timeline.event(1)],
    ['Shift N', 'Previous event', () => timeline.event(-1)],
    ['[', 'Slower', () => timeline.faster(-1)],
    [']', 'Faster', () => timeline.faster(1)],
    ['L', 'Loop; Shift drag on the time line: a range', () => set({ loop: !state.loop })],
    ['F', 'Fit the view; with a selection: to it', scene((s) => s.fit(body()))],
    ['.', 'Follow the selection', () => set({ follow: state.follow > 0 && (body() < 0 || state.follow === body()) ? -1 : body() > 0 ? body() : run.base })],
    ['1', 'View from the front', scene((s) => s.view(1, 0, 0.001))],
    ['2', 'View from the right', scene((s) => s.view(0, -1, 0.001))],
    ['3', 'View from the top', scene((s) => s.view(0, -0.001, 1))],
    ['5', 'Perspective or parallel', scene((s) => s.togglePerspective())],
    ['S', 'Shapes', () => toggle('shapes')],
    ['A', 'Frames', () => toggle('frames')],
    ['C', 'Centres of mass', () => toggle('centres')],
    ['V', 'Forces', () => toggle('forces')],
    ['T', 'Trails', () => toggle('trails')],
    ['G', 'Grid', () => toggle('grid')],
    ['K', 'Technical colours', () => toggle('technical')],
    ['H', 'Hide the selection, or show it again', hide],
    ['I', 'Isolate the selection, or show all', isolate],
    ['P', 'Plot columns of the selection', () => { if (!plots.addSelection()) page.palette('column'); }],
    ['/', 'Filter the tree', () => tree.input.focus()],
    ['ArrowDown', 'Next in the tree', () => tree.move(1)],
    ['ArrowUp', 'Previous in the tree', () => tree.move(-1)],
    ['M', 'Topology, or animation', () => set({ mode: state.mode === 'topology' ? 'animate' : 'topology' })],
    ['Shift M', 'Modes, or animation', () => { if (page.modes.offered) set({ mode: state.mode === 'modes' ? 'animate' : 'modes' }); }],
    ['D', 'Light or dark', toggleTheme],
    ['Alt [', 'Fold the left panel', () => page.fold('left')],
    ['Alt ]', 'Fold the right panel', () => page.fold('right')],
    ['Escape', 'Select nothing', () => set({ selection: null })],
    ['Ctrl K', 'Find or do anything', () => page.palette('')],
    ['?', 'This list', () => showKeys(page)],
  ];
}

function nameOf(event) {
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const letter = /^[A-Z]$/.test(key) || key.startsWith('Arrow');
  const alt = event.altKey ? 'Alt ' : '', shift = event.shiftKey && letter ? 'Shift ' : '';
  return `${event.ctrlKey || event.metaKey ? 'Ctrl ' : ''}${alt}${shift}${key}`;
}

export function startKeys(page) {
  const { signal } = page.ended;
  let tabbed = false;  // the focus came by Tab, and not by the pointer (:focus-visible is both, once a key is pressed)
  addEventListener('pointerdown', () => { tabbed = false; }, { capture: true, signal });
  addEventListener('keydown', (event) => { tabbed ||= event.key === 'Tab'; }, { capture: true, signal });
  addEventListener('keydown', (event) => {
    const { target } = event, writes = ['INPUT', 'SELECT'].includes(target.tagName) && target.type !== 'range';
    if (document.querySelector('.veil') || writes || target.closest('.cm-editor')) return;
    if (event.key === ' ' && target.tagName === 'BUTTON' && (tabbed || target.closest('.right'))) return;  // it is pressed
    if (target.type === 'range' && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const call = page.commands.find(([key]) => key === nameOf(event))?.[2];
    if (!call) return;
    event.preventDefault();
    call();
  }, { signal });
}

const symbols = { ArrowRight: '→', ArrowLeft: '←', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };
export function keyText(key) { return key.split(' ').map((word) => symbols[word] ?? word).join(' '); }

function sheet(content, close) {
  const veil = el('div', { class: 'veil' }, content);
  veil.addEventListener('pointerdown', (event) => { if (event.target === veil) close(); });
  document.body.append(veil);
  return veil;
}

function showKeys(page) {
  const before = document.activeElement;
  let veil = null;
  const close = () => { veil.remove(); before?.focus(); };
  const rows = page.commands.map(([key, what]) => el('div', { class: 'pair' }, el('span', {}, what), el('kbd', {}, keyText(key))));
  const notices = el('pre', {}, document.getElementById('sarrus-licences')?.textContent ?? '');
  const box = el('div', { class: 'sheet', role: 'dialog', 'aria-label': 'Keys', tabindex: -1 },
    el('div', { class: 'keys' }, el('h2', {}, 'Keys'), el('div', { class: 'columns' }, ...rows),
      el('p', { class: 'mute' }, 'Mouse: left turns, middle or Shift moves, wheel zooms; click selects, double click centres. Plots: click sets the time, drag zooms, double click resets.'),
      el('details', {}, el('summary', { class: 'mute' }, 'Licences'), notices)));
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape' || event.key === '?') { event.preventDefault(); close(); } event.stopPropagation(); });
  veil = sheet(box, close);
  box.style.width = 'min(760px, 94vw)';
  box.focus();
}

// Ctrl K: commands, bodies and other things by name, columns.
export function openPalette(page, only) {
  const { run } = page, before = document.activeElement, entries = [];
  const add = (kind, text, more, call, mark, key) => entries.push({ kind, text, more, call, mark, key, low: `${text} ${more}`.toLowerCase() });
  if (only !== 'column') {
    for (const [key, what, call] of page.commands) add('command', what, '', call, null, keyText(key));
    for (const item of page.tree.items) if (item.kind !== 'group') add('thing', item.name, item.more, () => set({ selection: { kind: item.kind, index: item.index } }), item.glyph);
  }
  for (const c of run.columns) add('column', c.name, c.unit === '1' ? '' : c.unit, () => page.plots.add([c.name]), 'chart');
  const addPair = (pair) => add('pair', `Plot ${named(pair)}`, '', () => page.plots.add(pair), 'chart');
  for (const pair of pairsOf(run)) addPair(pair);
  // "A against B" finds any two columns.
  const against = (text) => {
    const words = /^(?:plot\s+)?(\S+)\s+against\s+(\S+)$/.exec(text.trim().toLowerCase());
    if (!words) return;
    const [y, x] = [words[1], words[2]].map((word) => run.columns.filter((c) => c.name.toLowerCase() === word)[0]?.name);
    if (y && x && y !== x && !entries.some((e) => e.text === `Plot ${y} against ${x}`)) addPair({ y, x });
  };
  const input = el('input', { type: 'text', placeholder: only === 'column' ? 'Column to plot' : 'Find or do anything', spellcheck: 'false', 'aria-label': 'Find' });
  const list = el('div', { class: 'list', role: 'listbox' });
  let found = [], at = 0, veil = null;
  const close = () => { veil.remove(); before?.focus(); };
  const run1 = (entry) => { close(); entry.call(); };
  const paint = () => [...list.children].forEach((node, i) => {
    node.classList.toggle('active', i === at);
    if (i === at) node.scrollIntoView({ block: 'nearest' });
  });
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    against(input.value);
    found = entries.filter((e) => words.every((word) => e.low.includes(word)));
    if (words.length > 0) found.sort((a, b) => b.low.startsWith(words[0]) - a.low.startsWith(words[0]));
    found = found.slice(0, 60);
    at = 0;
    clear(list).append(...found.map((e) => {
      const mark = el('span', { class: 'mute' }, e.mark === 'chart' ? icon('chart', 14) : e.mark ? glyph(e.mark) : '');
      return el('div', { class: 'item', role: 'option', on: { click: () => run1(e) } }, mark, el('span', { class: 'grow' }, e.text),
        el('span', { class: 'mute' }, e.more), e.key ? el('kbd', {}, e.key) : null);
    }));
    if (found.length === 0) list.append(el('div', { class: 'item mute' }, 'Nothing has that name'));
    paint();
  };
  input.addEventListener('input', search);
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') at = Math.min(found.length - 1, at + 1);
    else if (event.key === 'ArrowUp') at = Math.max(0, at - 1);
    else if (event.key === 'Enter' && found[at]) run1(found[at]);
    else return;
    event.preventDefault();
    if (veil.isConnected) paint();
  });
  veil = sheet(el('div', { class: 'sheet', role: 'dialog', 'aria-label': 'Find' }, el('div', { class: 'search' }, icon('search'), input), list), close);
  search();
  input.focus();
}
