// The document of the editor: the text of a model file and nothing else. Every edit is a splice of that text, so comments, order, indentation
// and the layout of everything else stay as they were; undo and redo are stacks of splices. The tree is parsed anew after each edit.
// A step is {at, removed, inserted}; the steps of one edit are in the order of the text and do not overlap, their places are those before it.
import { attribute, encode, parse, value, walk, XmlError } from './xml.js';

// Where new elements go that have no like before them.
const ORDER = ['parameter', 'option', 'material', 'pair', 'mesh', 'plugin', 'motion', 'table', 'include', 'ground', 'body', 'extend', 'repeat', 'closure',
  'coupling', 'gear', 'constraint', 'state', 'driver', 'torque', 'link', 'spring', 'damper', 'inerter', 'bushing', 'tyre', 'force', 'friction', 'contact',
  'exclude', 'user', 'sensor', 'record', 'event', 'run', 'joint', 'inertial', 'shape', 'point'];
const MOST_UNDO = 1000;

export const emptyModel = (name = 'model', gravity = '0 0 -9.81') => `<sarrus version="1" name="${encode(name)}">
  <option gravity="${gravity}"/>
  <run t-end="5"/>
</sarrus>
`;

function applySteps(text, steps) {
  let out = '', at = 0;
  for (const s of steps) {
    if (s.at < at || text.slice(s.at, s.at + s.removed.length) !== s.removed) throw new Error('a step does not fit the text');
    out += text.slice(at, s.at) + s.inserted;
    at = s.at + s.removed.length;
  }
  return out + text.slice(at);
}

function inverse(steps) {
  let shift = 0;
  return steps.map((s) => {
    const back = { at: s.at + shift, removed: s.inserted, inserted: s.removed };
    shift += s.inserted.length - s.removed.length;
    return back;
  });
}

// Where a place of the text is after an edit; -1: it was removed.
function moved(place, steps) {
  let shift = 0;
  for (const s of steps) {
    if (s.at > place) break;
    if (s.removed.length > 0 && place < s.at + s.removed.length) return -1;
    shift += s.inserted.length - s.removed.length;
  }
  return place + shift;
}

// What differs between two texts, as a step.
export function difference(old, text) {
  const most = Math.min(old.length, text.length);
  let a = 0, b = 0;
  while (a < most && old[a] === text[a]) a++;
  while (b < most - a && old[old.length - 1 - b] === text[text.length - 1 - b]) b++;
  return { at: a, removed: old.slice(a, old.length - b), inserted: text.slice(a, text.length - b) };
}

export class Document {
  // table: the elements with their attributes, for the place of an attribute among the others.
  constructor(text, table) {
    this.table = table;
    this.done = [];
    this.undone = [];
    this.listeners = [];
    this.selected = -1;  // start of the selected element
    this.open = null;    // the edit that a group collects
    this.take(text);
    this.saved = text;
  }

  take(text) {
    this.text = text;
    try {
      this.root = parse(text).root;
      this.error = null;
    } catch (error) {
      if (!(error instanceof XmlError)) throw error;
      this.root = null;
      this.error = error;
    }
  }

  get changed() { return this.text !== this.saved; }
  get newline() { return /\r\n/.test(this.text) ? '\r\n' : '\n'; }
  on(call) { this.listeners.push(call); }
  tell(what) { for (const call of this.listeners) call(what); }

  // ---- edits and their undoing ----------------------------------------------------------------------------------------
  // key: edits with the same key that follow each other are undone together (a drag, the letters of a field).
  apply(label, steps, key = null) {
    const list = steps.filter((s) => s.removed !== s.inserted).sort((a, b) => a.at - b.at);
    if (list.length === 0) return;
    this.move(list);
    const last = this.open ?? this.done.at(-1);
    if (this.open || (key !== null && last?.key === key && this.undone.length === 0)) last.edits.push(list);
    else this.done.push({ label, key, edits: [list] });
    if (this.done.length > MOST_UNDO) this.done.shift();
    this.undone = [];
    if (!this.open) this.tell(label);
  }

  move(steps) {
    this.take(applySteps(this.text, steps));
    if (this.selected >= 0) this.selected = moved(this.selected, steps);
  }

  // Several edits that are undone as one. Nothing remains of them where one fails.
  group(label, call, key = null) {
    if (this.open) return call();
    const last = this.done.at(-1), joins = key !== null && last?.key === key && this.undone.length === 0;
    this.open = joins ? last : { label, key, edits: [] };
    const before = this.text, count = this.open.edits.length, selected = this.selected;
    let result;
    try {
      result = call();
    } catch (error) {
      for (const steps of this.open.edits.splice(count).reverse()) this.move(inverse(steps));
      this.selected = selected;
      this.open = null;
      throw error;
    }
    if (!joins && this.open.edits.length > 0) this.done.push(this.open);
    this.open = null;
    if (this.text !== before) { this.undone = []; this.tell(label); }
    return result;
  }

  // Ends the run of edits with one key: what follows is undone on its own.
  seal() { if (this.done.length > 0) this.done.at(-1).key = null; }

  undo() {
    const entry = this.done.pop();
    if (!entry) return null;
    for (const steps of [...entry.edits].reverse()) this.move(inverse(steps));
    this.undone.push(entry);
    this.tell(`undo: ${entry.label}`);
    return entry.label;
  }

  redo() {
    const entry = this.undone.pop();
    if (!entry) return null;
    for (const steps of entry.edits) this.move(steps);
    this.done.push(entry);
    this.tell(`redo: ${entry.label}`);
    return entry.label;
  }

  // Another text, as typed in a text editor: one step, of what differs.
  replace(text, label = 'edit the text', key = 'text') {
    this.apply(label, [difference(this.text, text)], key);
  }

  // ---- elements -------------------------------------------------------------------------------------------------------
  elements(name) { return this.root ? [...walk(this.root)].filter((x) => x.name === name) : []; }
  at(start) { return this.root && start >= 0 ? [...walk(this.root)].find((x) => x.start === start) ?? null : null; }
  get selection() { return this.at(this.selected); }

  lineStart(at) { return this.text.lastIndexOf('\n', at - 1) + 1; }

  // The blanks before an element, where it is the first thing of its line; else null.
  indent(node) {
    const before = this.text.slice(this.lineStart(node.start), node.start);
    return /^[ \t]*$/.test(before) ? before : null;
  }

  get unit() {
    for (const node of this.root ? walk(this.root) : []) {
      const own = this.indent(node), outer = node.parent ? this.indent(node.parent) : null;
      if (own !== null && outer !== null && own.length > outer.length && own.startsWith(outer)) return own.slice(outer.length);
    }
    return '  ';
  }

  childIndent(node) {
    for (const child of node.children) {
      const own = this.indent(child);
      if (own !== null) return own;
    }
    return (this.indent(node) ?? '') + this.unit;
  }

  // End of the line, where only blanks and comments follow that end there; else -1.
  lineEnd(at) {
    const found = /^[ \t]*(?:<!--(?:(?!-->)[^\n])*-->[ \t]*)*(?=\r?\n|$)/.exec(this.text.slice(at));
    return found ? at + found[0].length : -1;
  }

  // ---- steps ----------------------------------------------------------------------------------------------------------
  quoteOf(node) { return node.attributes.length > 0 && node.attributes.every((x) => x.quote === "'") ? "'" : '"'; }

  setSteps(node, name, text) {
    const x = attribute(node, name);
    if (text === null) return x ? this.dropSteps(x) : [];
    if (x) {
      if (x.value === text) return [];
      return [{ at: x.from, removed: this.text.slice(x.from, x.to), inserted: encode(text, x.quote) }];
    }
    const order = this.table?.[node.name]?.attributes.map((y) => y.name) ?? [], rank = order.indexOf(name), quote = this.quoteOf(node);
    const before = rank < 0 ? node.attributes.at(-1) : node.attributes.findLast((y) => order.indexOf(y.name) >= 0 && order.indexOf(y.name) < rank);
    const word = `${name}=${quote}${encode(text, quote)}${quote}`;
    if (!before) return [{ at: node.nameEnd, removed: '', inserted: ` ${word}` }];
    const blank = /[ \t\r\n]*$/.exec(this.text.slice(0, before.start))[0];
    return [{ at: before.end, removed: '', inserted: before === node.attributes[0] || !/\n/.test(blank) ? ` ${word}` : blank + word }];
  }

  dropSteps(x) {
    const from = x.start - /[ \t\r\n]*$/.exec(this.text.slice(0, x.start))[0].length;
    return [{ at: from, removed: this.text.slice(from, x.end), inserted: '' }];
  }

  // spec: {name, attributes: [[name, value], ...], children: [spec, ...]}; lines after the first have the indentation before them.
  write(spec, indent, quote = '"') {
    const head = `<${spec.name}${(spec.attributes ?? []).filter((x) => x[1] !== undefined && x[1] !== null)
      .map(([name, text]) => ` ${name}=${quote}${encode(String(text), quote)}${quote}`).join('')}`;
    const children = spec.children ?? [], inner = indent + this.unit;
    if (children.length === 0) return `${head}/>`;
    return `${head}>${children.map((child) => this.newline + inner + this.write(child, inner, quote)).join('')}${this.newline}${indent}</${spec.name}>`;
  }

  // The child after which an element of a name goes: its last like, or the last one that stands before it by custom.
  anchor(parent, name) {
    const like = parent.children.findLast((x) => x.name === name);
    if (like) return like;
    const rank = ORDER.indexOf(name);
    return parent.children.findLast((x) => ORDER.indexOf(x.name) < rank) ?? null;
  }

  insertSteps(parent, spec, after = this.anchor(parent, spec.name)) {
    const { text, newline } = this, indent = this.childIndent(parent), own = this.indent(parent) ?? '';
    const quote = (after ?? parent).attributes.length > 0 ? this.quoteOf(after ?? parent) : '"', xml = this.write(spec, indent, quote);
    if (parent.empty) {
      const blank = /[ \t\r\n]*$/.exec(text.slice(0, parent.tagEnd - 2))[0].length, at = parent.tagEnd - 2 - blank;
      return [{ at, removed: text.slice(at, parent.tagEnd), inserted: `>${newline}${indent}${xml}${newline}${own}</${parent.name}>` }];
    }
    if (!after) {
      const content = text.slice(parent.tagEnd, parent.closeStart);
      if (/^[ \t]*$/.test(content)) return [{ at: parent.tagEnd, removed: content, inserted: `${newline}${indent}${xml}${newline}${own}` }];
      const end = this.lineEnd(parent.tagEnd);
      return [end >= 0 && end < parent.closeStart ? { at: end, removed: '', inserted: newline + indent + xml } : { at: parent.tagEnd, removed: '', inserted: xml }];
    }
    const end = this.lineEnd(after.end);
    if (this.indent(after) === null || end < 0 || end > parent.closeStart) return [{ at: after.end, removed: '', inserted: xml }];
    return [{ at: end, removed: '', inserted: newline + this.indent(after) + xml.replaceAll(newline + indent, newline + this.indent(after)) }];
  }

  // An element goes with its line, and with the comment behind it.
  removeSteps(node) {
    const { text } = this, end = this.lineEnd(node.end);
    let from = node.start, to = node.end;
    if (this.indent(node) !== null && end >= 0) {
      from = this.lineStart(node.start);
      to = end + (text.startsWith('\r\n', end) ? 2 : text[end] === '\n' ? 1 : 0);
      if (to === end && from > 0) from -= text[from - 2] === '\r' ? 2 : 1;  // the last line of the text
    } else if (this.indent(node) !== null) to += /^[ \t]*/.exec(text.slice(to))[0].length;
    else from -= /[ \t]*$/.exec(text.slice(0, from))[0].length;
    return [{ at: from, removed: text.slice(from, to), inserted: '' }];
  }

  // ---- edits ----------------------------------------------------------------------------------------------------------
  // text null: the attribute is removed.
  set(node, name, text, key = null) {
    this.apply(text === null ? `remove ${name}` : `${node.name} ${name}`, this.setSteps(node, name, text), key);
  }

  // The new element, as parsed.
  insert(parent, spec, after = undefined) {
    const steps = this.insertSteps(parent, spec, after), [step] = steps;
    const start = step.at + step.inserted.indexOf(`<${spec.name}`);
    this.apply(`add ${spec.name}`, steps);
    return this.at(start);
  }

  // Elements that are not within each other.
  remove(nodes, label = `delete ${nodes[0].name}`) {
    const list = [...new Set(nodes)].filter((x) => !nodes.some((y) => y !== x && y.start <= x.start && x.end <= y.end)).sort((a, b) => a.start - b.start);
    this.group(label, () => { for (const node of [...list].reverse()) this.apply(label, this.removeSteps(node)); });
  }

  name(node) { return value(node, 'name'); }
}
