// Attributes of the selected element, by the table that the reader of model files has: fields with units, values of formulas beside, completion, and what
// the program says of each. Without a selection: the parameters and settings of the model.
import { el, number } from '../dom.js';
import { icon } from '../icons.js';
import { evaluate, functionNames, isNumber, splitList, tokens } from './formula.js';
import { jointName, namesOf, target } from './names.js';
import { values } from './operations.js';
import { attribute, value } from './xml.js';

const SHOWN = { joint: ['name', 'type', 'axis', 'at', 'q'], shape: ['type', 'size', 'at', 'density'], point: ['name', 'at'], inertial: ['mass', 'com', 'inertia'], body: ['name', 'parent'],
  closure: ['name', 'type', 'a', 'b'], run: ['t-end', 'method'], parameter: ['name', 'value'] };

const keyOf = (node, name) => `${node.start} ${name}`;

export class Panel {
  // calls: set(node, name, text or null), rename(node, text), remove(node), errorsOf(node, attribute), select(node), add(parent, name), addParameter()
  constructor(doc, calls) {
    this.doc = doc;
    this.calls = calls;
    this.more = new Set();
    this.element = el('div', { class: 'panel' });
    this.popup = el('div', { class: 'complete', role: 'listbox' });
    this.popup.hidden = true;
  }

  // What is shown: the selection, of a body also its joint and what is in it.
  draw() {
    const { doc } = this, node = doc.selection, typing = document.activeElement?.dataset?.key, caret = typing ? document.activeElement.selectionStart : 0;
    this.known = values(doc);
    const parts = [];
    if (!doc.root) parts.push(el('div', { class: 'said error' }, `The text is not XML: ${doc.error.message}`));
    else if (node && node !== doc.root) {
      parts.push(this.section(node, true));
      if (node.name === 'body') for (const child of node.children) parts.push(this.section(child, false));
    } else parts.push(...this.model());
    const open = !this.popup.hidden;
    this.element.replaceChildren(...parts, this.popup);
    if (!typing) return;
    this.popup.hidden = !open;
    const again = this.element.querySelector(`[data-key="${CSS.escape(typing)}"]`);
    again?.focus();
    try { again?.setSelectionRange(caret, caret); } catch { /* a list */ }
  }

  model() {
    const { doc } = this, list = doc.elements('parameter'), rest = doc.root.children.filter((x) => x.name === 'option' || x.name === 'run');
    const add = el('button', { class: 'pill', on: { click: () => this.calls.addParameter() } }, '+ parameter');
    return [el('div', { class: 'title' }, el('h2', { class: 'grow' }, 'Parameters'), add),
      list.length > 0 ? el('div', { class: 'parameters' }, ...list.map((x) => this.parameter(x))) : el('p', { class: 'mute about' }, 'A parameter is a named number that every formula may use.'),
      this.section(doc.root, false), ...rest.map((x) => this.section(x, false))];
  }

  parameter(node) {
    return el('div', { class: 'parameter' }, this.field(node, { name: 'name', kind: 'name', counts: [1] }, 'name'), el('span', { class: 'mute' }, '='),
      this.field(node, { name: 'value', kind: 'number', counts: [1] }, 'value'),
      el('button', { class: 'remove', title: 'Delete this parameter', 'aria-label': 'Delete this parameter', on: { click: () => this.calls.remove(node) } }, icon('close', 12)));
  }

  section(node, first) {
    const table = this.doc.table[node.name], fields = table?.attributes ?? [], open = this.more.has(node.name);
    const shown = fields.filter((x) => open || x.required || attribute(node, x.name) || (SHOWN[node.name] ?? ['name']).includes(x.name));
    const hidden = fields.length - shown.length, errors = this.calls.errorsOf(node, null);
    const title = el('div', { class: 'title' }, el('h2', {}, `${node.name} ${value(node, 'name') ?? ''}`), el('span', { class: 'mute grow' }, ''),
      node !== this.doc.root ? el('button', { class: 'remove', title: `Delete this ${node.name} (Delete)`, 'aria-label': `Delete this ${node.name}`, on: { click: () => this.calls.remove(node) } }, icon('trash', 14)) : null);
    const children = first ? Object.entries(this.doc.table).filter(([name, x]) => x.parents.includes(node.name) && !['repeat'].includes(name) &&
      !(['joint', 'inertial'].includes(name) && node.children.some((y) => y.name === name))).map(([name]) => name) : [];
    return el('section', { class: first ? 'first' : '', 'data-element': node.name },
      title, first && table ? el('p', { class: 'mute about' }, `${table.doc}.`) : null, ...errors.map((e) => this.said(e)),
      ...shown.map((x) => this.row(node, x)),
      el('div', { class: 'pills' },
        hidden > 0 || open ? el('button', { class: 'pill', on: { click: () => { if (!this.more.delete(node.name)) this.more.add(node.name); this.draw(); } } }, open ? 'fewer' : `${hidden} more`) : null,
        ...children.map((name) => el('button', { class: 'pill', on: { click: () => this.calls.add(node, name) } }, `+ ${name}`))));
  }

  said(message) { return el('div', { class: `said ${message.severity === 'warning' ? 'warn' : 'error'}`, role: 'alert' }, message.text); }

  row(node, field) {
    const given = attribute(node, field.name), errors = this.calls.errorsOf(node, field.name), beside = el('span', { class: 'beside' });
    const row = el('div', { class: errors.length > 0 ? 'attribute wrong' : 'attribute', title: field.doc },
      el('label', {}, field.name), this.field(node, field, 'value', beside), el('span', { class: 'unit' }, field.unit && field.unit !== '1' ? field.unit : ''),
      given && !field.required ? el('button', { class: 'remove', title: `Leave ${field.name} out`, 'aria-label': `Leave ${field.name} out`, on: { click: () => this.calls.set(node, field.name, null) } }, icon('close', 12)) : el('span'),
      beside, ...errors.map((e) => this.said(e)));
    return row;
  }

  // The value of a formula, where it is not seen from the text.
  showValue(field, text, beside) {
    if (!beside || field.kind !== 'number' || !text) { if (beside) beside.textContent = ''; return; }
    const items = splitList(text), all = items.map((x) => evaluate(x.text, (word) => this.known.get(word)));
    beside.textContent = items.every((x) => isNumber(x.text)) || all.every((x) => x === null) ? '' : `= ${all.map((x) => (x === null ? '?' : number(x))).join(', ')}`;
  }

  field(node, field, className, beside = null) {
    const now = value(node, field.name) ?? '', label = `${field.name} of ${node.name} ${value(node, 'name') ?? ''}`, wrong = this.calls.errorsOf(node, field.name).length > 0;
    const common = { 'data-key': keyOf(node, field.name), 'data-field': field.name, 'aria-label': label, 'aria-invalid': wrong ? 'true' : undefined };
    if (field.options && (now === '' || field.options.includes(now))) {
      const none = field.default ? `${field.default} (default)` : '';
      const select = el('select', { ...common, class: className }, ...(field.required ? [] : [el('option', { value: '', selected: now === '' }, none)]),
        ...field.options.map((x) => el('option', { value: x, selected: x === now }, x)));
      select.addEventListener('change', () => this.calls.set(node, field.name, select.value || null));
      return select;
    }
    const input = el('input', { ...common, class: className, type: 'text', value: now, placeholder: field.default ?? (field.name === 'name' && node.name === 'joint' ? jointName(node.parent) : ''), spellcheck: 'false', autocomplete: 'off' });
    let sent = now;
    const start = node.start;
    const take = (last) => {
      const text = input.value, at = this.doc.at(start);
      if (last) this.popup.hidden = true;
      if (!at || text === sent) return;
      sent = text;
      if (field.name === 'name' && field.kind === 'name' && node !== this.doc.root) { if (last) this.calls.rename(at, text); } else this.calls.set(at, field.name, text === '' && !field.required ? null : text, last ? null : `${start} ${field.name}`);
    };
    const name = field.kind === 'name' && field.name === 'name' && node !== this.doc.root;
    input.addEventListener('input', () => {
      this.showValue(field, input.value, beside);
      this.complete(input, node, field);
      if (!name) take(false);
    });
    input.addEventListener('change', () => { take(true); this.calls.seal(); });
    input.addEventListener('blur', () => { this.popup.hidden = true; });
    input.addEventListener('keydown', (event) => this.key(event, input, now, () => { if (name) { sent = null; take(true); } else this.calls.seal(); }));
    this.showValue(field, now, beside);
    return input;
  }

  key(event, input, before, done) {
    if ((event.ctrlKey || event.metaKey) && 'zys'.includes(event.key)) return;
    event.stopPropagation();
    const list = [...this.popup.children], at = list.findIndex((x) => x.classList.contains('active'));
    if (!this.popup.hidden && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      const next = (at + (event.key === 'ArrowDown' ? 1 : -1) + list.length) % list.length;
      list.forEach((x, i) => x.classList.toggle('active', i === next));
    } else if (!this.popup.hidden && (event.key === 'Tab' || event.key === 'Enter') && at >= 0) {
      event.preventDefault();
      list[at].dispatchEvent(new Event('pointerdown'));
    } else if (event.key === 'Escape' && !this.popup.hidden) this.popup.hidden = true;
    else if (event.key === 'Escape') { input.value = before; input.dispatchEvent(new Event('input')); input.blur(); } else if (event.key === 'Enter') { done(); input.blur(); }
  }

  // ---- completion ---------------------------------------------------------------------------------------------------------
  // What may stand where the caret is: [{text, from, to}].
  candidates(input, node, field) {
    const text = input.value, caret = input.selectionStart, kind = field.kind === 'reference' ? target(node.name, field.name) : null;
    const names = { frame: 'frame', body: 'body', joint: 'joint', material: 'material', mesh: 'mesh', touch: 'body' }[kind];
    if (names) {
      const from = field.more ? Math.max(text.lastIndexOf(' ', caret - 1), text.lastIndexOf(',', caret - 1)) + 1 : 0;
      return namesOf(this.doc, names).map((x) => ({ text: x, from, to: caret }));
    }
    if (!['number', 'law', 'actions'].includes(field.kind)) return [];
    const t = tokens(text).find((x) => x.end === caret && ['word', 'joint', 'sensor'].includes(x.kind)) ?? null;
    const call = /\b(q|v|inertia|sensor)\(\s*$/.exec(text.slice(0, caret));
    if (t?.kind === 'joint' || t?.kind === 'sensor' || call) {
      const of = (t?.kind ?? (call[1] === 'sensor' ? 'sensor' : 'joint'));
      return namesOf(this.doc, of).map((x) => ({ text: x, from: t?.start ?? caret, to: caret }));
    }
    if (!t) return [];
    const own = field.kind === 'number' ? [] : ['t', 'q(', 'v(', 'sensor(', ...(node.name === 'link' ? ['z', 'zdot'] : [])];
    const known = field.kind === 'number' ? this.doc.elements('parameter').map((x) => value(x, 'name') ?? '') : namesOf(this.doc, 'word');
    return [...known, ...own, 'pi', ...functionNames.map((x) => `${x}(`)].map((x) => ({ text: x, from: t.start, to: caret }));
  }

  complete(input, node, field) {
    const list = this.candidates(input, node, field).filter((x) => {
      const word = input.value.slice(x.from, x.to).trimStart().toLowerCase();
      return x.text.toLowerCase().startsWith(word) && x.text.toLowerCase() !== word;
    }).slice(0, 8);
    this.popup.hidden = list.length === 0;
    if (list.length === 0) return;
    const box = input.getBoundingClientRect(), own = this.element.getBoundingClientRect();
    this.popup.style.top = `${box.bottom - own.top + this.element.scrollTop + 2}px`;
    this.popup.style.left = `${box.left - own.left}px`;
    this.popup.replaceChildren(...list.map((x, i) => {
      const option = el('div', { class: i === 0 && field.kind !== 'number' ? 'item active' : 'item', role: 'option' }, x.text);
      option.addEventListener('pointerdown', (event) => {
        const now = this.element.querySelector(`[data-key="${CSS.escape(input.dataset.key)}"]`) ?? input;  // drawn anew, perhaps
        event.preventDefault();
        now.setRangeText(x.text, x.from, x.to, 'end');
        now.dispatchEvent(new Event('input'));
        this.popup.hidden = true;
      });
      return option;
    }));
  }
}
