// The file as a tree: parameters, bodies under their parents with what is in them, then everything else, in the order of the file.
import { el, reveal } from '../dom.js';
import { icon } from '../icons.js';
import { glyph } from '../tree.js';
import { jointName } from './names.js';
import { value } from './xml.js';

const GLYPHS = { ground: 'ground', body: 'free', closure: 'closure', spring: 'spring', link: 'spring', damper: 'spring', inerter: 'spring', bushing: 'spring', sensor: 'sensor',
  contact: 'contact', friction: 'contact', point: 'sensor', shape: 'planar', joint: 'revolute' };

const words = (...list) => list.filter(Boolean).join(' · ');

function about(node) {
  const v = (name) => value(node, name);
  switch (node.name) {
    case 'body': return v('parent') ?? '';
    case 'joint': return words(v('type'));
    case 'shape': return words(v('type'), v('size'));
    case 'point': return v('at') ?? '';
    case 'parameter': return v('value') ?? '';
    case 'option': return v('gravity') ? `gravity ${v('gravity')}` : '';
    case 'run': return words(v('t-end') && `${v('t-end')} s`, v('method'));
    case 'inertial': return v('mass') ? `${v('mass')} kg` : '';
    case 'sensor': return v('point') ?? v('expr') ?? '';
    default: return words(v('type'), v('a') && `${v('a')}, ${v('b')}`, v('joint'), v('what'), v('file'), v('body'));
  }
}

const label = (node) => value(node, 'name') ?? (node.name === 'joint' && node.parent?.name === 'body' ? jointName(node.parent) : node.name);

export class Outline {
  // calls: select(node), rename(node, text), add(button), errorsOf(node)
  constructor(doc, calls) {
    this.doc = doc;
    this.calls = calls;
    this.closed = new Set();
    this.words = '';
    this.input = el('input', { type: 'search', placeholder: 'Filter by name or type', 'aria-label': 'Filter by name or type', spellcheck: 'false' });
    this.list = el('div', { class: 'tree outline', role: 'tree', tabindex: 0, 'aria-label': 'Elements of the file' });
    this.count = el('span', { class: 'mute grow' });
    this.plus = el('button', { class: 'button small', title: 'Add an element', 'aria-label': 'Add an element', on: { click: () => calls.add(this.plus) } }, icon('plus'));
    this.element = el('div', { class: 'grow column' }, el('div', { class: 'title' }, el('h2', {}, 'File'), this.count, this.plus),
      el('label', { class: 'filter' }, icon('search', 14), this.input), this.list);
    this.input.addEventListener('input', () => { this.words = this.input.value.trim().toLowerCase(); this.draw(); });
    this.list.addEventListener('keydown', (event) => this.key(event));
    this.rows = [];
  }

  // [{node, depth, folds}] of what is unfolded.
  items() {
    const { root } = this.doc, out = [], seen = new Set();
    if (!root) return out;
    const bodies = root.children.filter((x) => x.name === 'body'), names = new Set(bodies.map((x) => value(x, 'name')));
    const put = (node, depth, inner) => {
      if (seen.has(node)) return;
      seen.add(node);
      const key = this.keyOf(node), open = this.words !== '' || !this.closed.has(key);
      out.push({ node, depth, folds: inner.length > 0, open, key });
      if (open) for (const [child, more] of inner) put(child, depth + 1, more);
      else inner.forEach(function hide([child, more]) { seen.add(child); more.forEach(hide); });
    };
    const plain = (node) => node.children.map((x) => [x, plain(x)]);
    const deep = (body) => [...plain(body), ...bodies.filter((x) => value(x, 'parent') === value(body, 'name') && x !== body && !seen.has(x)).map((x) => [x, deep(x)])];
    for (const node of root.children) {
      if (node.name !== 'body') put(node, 0, plain(node));
      else if (!names.has(value(node, 'parent'))) put(node, 0, deep(node));
    }
    for (const body of bodies) put(body, 0, plain(body));  // those that are each other's parents
    if (!this.words) return out;
    return out.filter(({ node }) => `${label(node)} ${node.name} ${about(node)}`.toLowerCase().includes(this.words));
  }

  keyOf(node) { return `${node.name} ${node.parent ? value(node.parent, 'name') ?? '' : ''} ${value(node, 'name') ?? ''}`; }

  draw() {
    const items = this.items(), chosen = this.doc.selected;
    this.visible = items;
    const n = this.doc.root ? this.doc.elements('body').length : 0;
    this.count.textContent = n === 0 ? '' : `${n} ${n === 1 ? 'body' : 'bodies'}`;
    this.list.replaceChildren(...items.map((item) => this.row(item, item.node.start === chosen)));
    if (items.length === 0) this.list.append(el('div', { class: 'empty' }, this.words ? 'Nothing has that name' : 'An empty model: take the body tool (B) and draw'));
    const row = this.list.querySelector('[aria-selected="true"]');
    if (row) reveal(this.list, row);
  }

  row({ node, depth, folds, open, key }, chosen) {
    const errors = this.calls.errorsOf(node), joint = node.name === 'body' ? node.children.find((x) => x.name === 'joint') : null;
    const type = node.name === 'joint' ? value(node, 'type') : joint ? value(joint, 'type') : null;
    const fold = el('span', { class: 'fold' }, folds ? icon('chevron', 12) : null), named = el('span', { class: 'label' }, label(node));
    const symbol = { option: icon('force', 13), run: icon('play', 13), repeat: icon('repeat', 13), inertial: icon('crosshair', 13), record: icon('chart', 13) }[node.name] ??
      (['parameter', 'material', 'state', 'event', 'motion', 'table', 'include'].includes(node.name) ? el('span', { class: 'kind' }, node.name === 'parameter' ? 'x' : node.name.slice(0, 2)) : glyph(type && node.name !== 'shape' ? type : GLYPHS[node.name] ?? 'weld'));
    const row = el('div', { class: errors.length > 0 ? 'row wrong' : 'row', role: 'treeitem', 'aria-level': depth + 1, 'aria-selected': String(chosen), 'aria-expanded': folds ? String(open) : undefined,
      style: `padding-left:${2 + 14 * depth}px`, title: errors[0]?.text ?? `<${node.name}> ${label(node)}` },
    fold, el('span', { class: 'glyph' }, symbol), named,
    el('span', { class: 'more' }, words(node.name === label(node) || node.name === 'body' ? '' : node.name, about(node))), errors.length > 0 ? icon('wrong', 14) : null);
    fold.addEventListener('click', (event) => {
      event.stopPropagation();
      if (!this.closed.delete(key)) this.closed.add(key);
      this.draw();
    });
    row.addEventListener('click', () => { this.calls.select(node); this.list.focus({ preventScroll: true }); });
    row.addEventListener('dblclick', () => this.edit(node.start));
    return row;
  }

  // A field in the place of the name.
  edit(start) {
    const i = this.visible.findIndex((x) => x.node.start === start);
    if (i < 0 || !this.doc.table[this.visible[i].node.name]?.attributes.some((x) => x.name === 'name')) return;
    const { node } = this.visible[i], row = this.list.children[i], field = el('input', { class: 'field', type: 'text', value: value(node, 'name') ?? '', 'aria-label': 'Name', spellcheck: 'false' });
    let done = false;
    const end = (take) => {
      if (done) return;
      done = true;
      if (take && field.value !== (value(node, 'name') ?? '')) this.calls.rename(node, field.value); else this.draw();
      this.list.focus({ preventScroll: true });
    };
    field.addEventListener('keydown', (event) => {
      event.stopPropagation();
      if (event.key === 'Enter') end(true);
      if (event.key === 'Escape') end(false);
    });
    field.addEventListener('blur', () => end(true));
    row.querySelector('.label').replaceChildren(field);
    field.focus();
    field.select();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const i = this.visible.findIndex((x) => x.node.start === this.doc.selected), item = this.visible[i];
    const go = (k) => { const to = this.visible[Math.min(this.visible.length - 1, Math.max(0, k))]; if (to) this.calls.select(to.node); };
    if (event.key === 'ArrowDown') go(i + 1);
    else if (event.key === 'ArrowUp') go(i < 0 ? 0 : i - 1);
    else if (event.key === 'ArrowRight' && item?.folds && !item.open) { this.closed.delete(item.key); this.draw(); } else if (event.key === 'ArrowLeft' && item?.folds && item.open) { this.closed.add(item.key); this.draw(); } else if ((event.key === 'F2' || event.key === 'Enter') && item) this.edit(item.node.start);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
