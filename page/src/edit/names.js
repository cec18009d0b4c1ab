// Names in a model file: what defines one, what refers to one, another name everywhere at once, what depends on an element.
import { renameIn, splitNames, tokens } from './formula.js';
import { value, walk } from './xml.js';

const WORDS = new Set(['parameter', 'state', 'motion', 'table']);  // names that formulas use as words
const FRAMES = { closure: 'a b', link: 'a b', spring: 'a b', damper: 'a b', inerter: 'a b', bushing: 'a b', user: 'a b point', sensor: 'point relative-to', tyre: 'wheel road' };

// What a reference refers to: body, frame (body/point or body), joint, touch (body/shape, shape, group, body), material, mesh, column.
export function target(element, attribute) {
  if ((FRAMES[element] ?? '').split(' ').includes(attribute)) return 'frame';
  if (element === 'contact' || element === 'exclude') return attribute === 'a' || attribute === 'b' ? 'touch' : null;
  if (element === 'record' && attribute === 'what') return 'column';
  if (['parent', 'body', 'carrier', 'members'].includes(attribute)) return 'body';
  if (['joint', 'joint2', 'to'].includes(attribute)) return 'joint';
  if (attribute === 'material' || attribute === 'materials') return 'material';
  if (attribute === 'mesh') return 'mesh';
  return null;
}

export function bodyOf(node) {  // the name of the body that an element is in
  for (let x = node.parent; x; x = x.parent) if (x.name === 'body') return value(x, 'name') ?? null; else if (x.name === 'ground') return 'ground';
  return null;
}

export function jointName(body) {
  const joint = body.children.find((x) => x.name === 'joint');
  return (joint && value(joint, 'name')) ?? value(body, 'name');
}

// [{kind, name}] that an element defines.
export function definitions(node) {
  const name = value(node, 'name');
  if (node.name === 'joint') return node.parent ? [{ kind: 'joint', name: jointName(node.parent) }] : [];
  if (!name) return [];
  if (node.name === 'body') return [{ kind: 'body', name }, { kind: 'joint', name: jointName(node) }];
  if (node.name === 'point') return [{ kind: 'point', name: `${bodyOf(node)}/${name}` }];
  if (node.name === 'shape') return [{ kind: 'shape', name: `${bodyOf(node)}/${name}` }, { kind: 'shape', name }];
  if (WORDS.has(node.name)) return [{ kind: 'word', name }];
  if (['material', 'mesh', 'sensor'].includes(node.name)) return [{ kind: node.name, name }];
  return [{ kind: 'element', name }];
}

function frame(text, kind) {
  const slash = text.indexOf('/');
  if (slash < 0) return [{ kind: 'body', name: text }];
  return [{ kind: 'body', name: text.slice(0, slash) }, { kind, name: text }];
}

// [{kind, name}] that an attribute refers to.
export function referencesIn(doc, node, x) {
  const field = doc.table?.[node.name]?.attributes.find((y) => y.name === x.name), text = x.value.trim();
  if (!field) return [];
  if (['number', 'law', 'actions'].includes(field.kind)) return tokens(x.value).filter((t) => ['word', 'joint', 'sensor'].includes(t.kind)).map((t) => ({ kind: t.kind, name: t.text }));
  switch (field.kind === 'reference' ? target(node.name, x.name) : null) {
    case 'frame': return frame(text, 'point');
    case 'touch': return text.includes('/') ? frame(text, 'shape') : [{ kind: 'body', name: text }, { kind: 'shape', name: text }];
    case 'body': return field.more ? splitNames(text).map((y) => ({ kind: 'body', name: y.text })) : [{ kind: 'body', name: text }];
    case 'joint': return x.name === 'to' ? [{ kind: 'joint', name: text }, ...splitNames(text).map((y) => ({ kind: 'joint', name: y.text }))] : [{ kind: 'joint', name: text }];
    case 'material': return splitNames(text).map((y) => ({ kind: 'material', name: y.text }));
    case 'mesh': return [{ kind: 'mesh', name: text }];
    default: return [];
  }
}

// Names of a kind, in the order of the file: body, joint, frame (with points), word, sensor, material, mesh.
export function namesOf(doc, kind) {
  if (!doc.root) return [];
  const all = [...walk(doc.root)];
  if (kind === 'frame') return ['ground', ...namesOf(doc, 'body'), ...namesOf(doc, 'point')];
  const out = kind === 'body' ? ['ground'] : [];
  for (const node of all) for (const d of definitions(node)) if (d.kind === kind && d.name && !out.includes(d.name)) out.push(d.name);
  return out;
}

// body1, body2, ...: the first that is free.
export function freeName(doc, stem, kind = 'element', inside = null) {
  const used = new Set(inside ? inside.children.map((x) => value(x, 'name')) : kind === 'element' ? [...walk(doc.root)].map((x) => value(x, 'name')) : namesOf(doc, kind));
  if (kind === 'word' || kind === 'body') for (const name of namesOf(doc, 'word')) used.add(name);
  for (let i = 1; ; i++) if (!used.has(`${stem}${i}`)) return `${stem}${i}`;
}

const BAD = /[/,(){}'"]/, HOLE = /\{[^}]*\}/g;

// A sentence on what is wrong with a new name of an element, or null.
export function badName(doc, node, name) {
  const old = value(node, 'name') ?? '', holes = old.match(HOLE) ?? [], now = name.match(HOLE) ?? [];
  if (!name.trim()) return 'a name must not be empty';
  if (WORDS.has(node.name) && holes.length > 0) return `'${old}' cannot be renamed here: formulas are made of it in repeats; change it and them in the text`;
  if (WORDS.has(node.name) && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `'${name}': the name of a ${node.name} has letters, digits and _ only, as formulas use it`;
  if (holes.length > 0 && holes.join() !== now.join()) return `'${name}': this name is made by a repeat and needs ${holes.join(' and ')} in it, as '${old}' has`;
  if (BAD.test(holes.length > 0 ? name.replace(HOLE, '') : name)) return `'${name}': a name must not contain / , ( ) { } ' or "`;
  const same = [...walk(doc.root)].find((x) => x !== node && x.name === node.name && value(x, 'name') === name && (node.name !== 'point' || x.parent === node.parent) &&
    (node.name !== 'shape' || x.parent === node.parent));
  return same ? `'${name}' is the name of another ${node.name}` : null;
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// ---- names that repeats make --------------------------------------------------------------------------------------------
// leg{i} is one name for each pass: leg{i}, leg{i - 1} and leg3 may mean it, and leg{i} itself, in another repeat, another element. Values of formulas are
// numbers; others may be given by an include.
const NUMBERS = '(?:\\{[^}]*\\}|-?\\d+(?:\\.\\d+)?)', ANY = '(?:\\{[^}]*\\}|[-\\w.]+)';

const pattern = (name, hole) => name.split(HOLE).map(escaped).join(hole);
const fits = (name, text, hole) => name.includes('{') && new RegExp(`^${pattern(name, hole)}$`).test(text);

// The names, of all that there are, that a text may mean.
function meanings(names, text) {
  if (!text.includes('{') && names.includes(text)) return [text];
  const found = (hole) => names.filter((x) => x === text || fits(x, text, hole) || fits(text, x, hole)), sure = found(NUMBERS);
  return sure.length > 0 ? sure : found(ANY);
}

// The element that makes a body of this name: a body of the file, one in a repeat, whose name fits, else an include; null: none does.
export function makerOf(doc, name) {
  const bodies = doc.elements('body'), same = bodies.find((x) => value(x, 'name') === name);
  const fitting = (hole) => bodies.find((x) => fits(value(x, 'name') ?? '', name, hole));
  return same ?? fitting(NUMBERS) ?? fitting(ANY) ?? doc.elements('include')[0] ?? null;
}

// The fixed parts of a name become those of another one with the same formulas.
function refill(from, to, text) {
  const filled = new RegExp(`^${from.split(HOLE).map(escaped).join(`(${ANY})`)}$`).exec(text);
  return to.split(HOLE).map((part, i) => part + (filled[i + 1] ?? '')).join('');
}

// Names that stand where one of this kind may stand.
const beside = { body: ['shape', 'group'] };

function namesBeside(doc, kind) {
  const kinds = [kind, ...(beside[kind] ?? [])];
  return [...walk(doc.root)].flatMap((x) => [...(x.name === 'joint' ? [] : definitions(x)), ...(x.name === 'shape' && value(x, 'group') ? [{ kind: 'group', name: value(x, 'group') }] : [])])
    .filter((d) => d.name && kinds.includes(d.kind) && (d.kind === kind || !d.name.includes('/')));
}

// What becomes of a text that may be a name of this kind: another text, or null. Throws where it is not sure which element it means. here: in the repeat of
// the element that has the name.
function swapOf(doc, kind, from, to, here) {
  if (!from.includes('{')) return (text) => (text === from ? to : null);
  const all = namesBeside(doc, kind);
  const between = (name) => name.split(HOLE).slice(1, -1).map((part) => part === '').join();
  if (between(from) !== between(to)) throw new Error(`'${to}': formulas that follow each other in '${from}' must do so in the new name, too`);
  if (all.filter((d) => d.kind === kind && d.name === from).length > 1) throw new Error(`'${from}' cannot be renamed here: several elements have this name, each in its repeat; change it and what refers to it in the text`);
  const names = [...new Set(all.map((d) => d.name))];
  return (text) => {
    if (here && text === from) return to;
    const means = meanings(names, text);
    if (!means.includes(from)) return null;
    if (means.length > 1) throw new Error(`'${from}' cannot be renamed here: '${text}' may mean it or '${means.find((x) => x !== from)}'; change it and what refers to it in the text`);
    return refill(from, to, text);
  };
}

// Words with {formula} that a repeat makes a name of: the first that may be this one.
function madeBy(doc, name) {
  for (const node of walk(doc.root)) {
    for (const x of node.attributes) {
      for (const [word] of x.value.matchAll(/[^\s,()'"+*<>=^-]*(?:\{[^}]*\}[^\s,()'"+*<>=^-]*)+/g)) if (fits(word, name, ANY)) return `<${node.name} ${x.name}="${x.value}">`;
    }
  }
  return null;
}

function repeatOf(node) {
  for (let x = node.parent; x; x = x.parent) if (x.name === 'repeat') return x;
  return null;
}

// ---- another name -------------------------------------------------------------------------------------------------------
// Where names are in those of columns (docs/using/record.md): the text before is kept.
const columns = {
  body: (x) => [`(point\\()${x}(?=[/)])`, `(contact\\([^)]*/)${x}(?=/)`],
  point: (x) => [`(point\\()${x}(?=\\))`],
  joint: (x) => [`^([qva]\\.)${x}(?=$|\\.)`, `((?:reaction|driver)\\(|\\([^)]*of )${x}(?=[ )])`],
  sensor: (x) => [`^()${x}(?=$|\\.)`],
  word: (x) => [`^()${x}$`],
  element: (x) => [`((?:reaction|force|contact)\\()${x}(?=[ )/])`, `^(lambda\\.)${x}(?=\\.)`],
};

// change: {kind, from, swap(text)}
function renamedColumn(text, { kind, from, swap }) {
  return (columns[kind]?.(`(${pattern(from, ANY)})`) ?? []).reduce((out, source) => out.replace(new RegExp(source), (_, before, name) => before + (swap(name) ?? name)), text);
}

function renamedValue(doc, node, x, change) {
  const field = doc.table?.[node.name]?.attributes.find((y) => y.name === x.name), text = x.value, { kind, swap } = change;
  if (!field) return text;
  if (['number', 'law', 'actions'].includes(field.kind)) return renameIn(text, kind, swap, (column) => renamedColumn(column, change));
  if (kind === 'word' && text.includes('{')) return text.replace(HOLE, (formula) => renameIn(formula, 'word', swap));
  const what = field.kind === 'reference' ? target(node.name, x.name) : null, slash = text.indexOf('/');
  if (what === 'column') return renamedColumn(text, change);
  if (what === 'frame' || what === 'touch') {
    if (kind === 'body') return slash < 0 ? swap(text) ?? text : (swap(text.slice(0, slash)) ?? text.slice(0, slash)) + text.slice(slash);
    if (kind === 'shape' && what === 'touch' && slash < 0) return change.bare(text) ?? text;
    return slash > 0 && kind === (what === 'frame' ? 'point' : 'shape') ? swap(text) ?? text : text;
  }
  if (what !== kind) return text;
  const all = swap(text);
  if (all !== null) return all;
  if (!field.more && x.name !== 'materials') return text;
  const parts = splitNames(text), list = parts.map((y) => swap(y.text) ?? y.text);
  if (parts.every((y, i) => y.text === list[i])) return text;
  return list.join(text.includes(',') || list.some((y) => /\s/.test(y)) ? ', ' : ' ');
}

// Another name, with everything that refers to it. Throws a sentence where the name cannot be, or where it is not sure what refers to it.
export function rename(doc, node, to) {
  const old = value(node, 'name') ?? '', bad = badName(doc, node, to);
  if (bad) throw new Error(bad);
  const before = definitions(node), implied = node.name === 'body' && !node.children.some((x) => x.name === 'joint' && value(x, 'name'));
  const steps = doc.setSteps(node, 'name', to);
  for (const d of before) {
    const by = !d.name || d.name.includes('{') ? null : madeBy(doc, d.name);
    if (by) throw new Error(`'${d.name}' cannot be renamed here: ${by} refers to it in a repeat; change both in the text`);
  }
  const changes = before.filter((d) => d.name && (d.kind !== 'joint' || node.name === 'joint' || implied) && !(d.kind === 'shape' && !d.name.includes('/')))
    .flatMap((d) => [true, false].map((here) => ({ here, kind: d.kind, from: d.name, swap: swapOf(doc, d.kind, d.name, d.name.includes('/') ? `${d.name.slice(0, d.name.indexOf('/') + 1)}${to}` : to, here),
      bare: d.kind === 'shape' ? swapOf(doc, 'shape', old, to, here) : null })));
  const own = repeatOf(node);
  for (const other of walk(doc.root)) {
    const here = own !== null && own.start < other.start && other.end < own.end;
    for (const x of other.attributes) {
      if (x.name === 'name' && other === node) continue;
      const text = changes.filter((change) => change.here === here).reduce((now, change) => renamedValue(doc, other, { ...x, value: now }, change), x.value);
      if (text !== x.value) steps.push(...doc.setSteps(other, x.name, text));
    }
  }
  doc.apply(`rename ${old || node.name} to ${to}`, steps);
}

// The elements that cannot be without some others: those that refer to them, and what refers to those.
export function dependents(doc, nodes) {
  const gone = new Set(), names = new Set();
  const drop = (node) => {
    if (gone.has(node)) return;
    for (const x of walk(node)) {
      gone.add(x);
      for (const d of definitions(x)) if (!(node.name === 'joint' && d.kind === 'joint')) names.add(`${d.kind} ${d.name}`);
    }
  };
  nodes.forEach(drop);
  const outer = new Set(nodes);
  for (let more = true; more;) {
    more = false;
    for (const node of walk(doc.root)) {
      if (gone.has(node) || node === doc.root) continue;
      const needs = node.attributes.some((x) => {
        const field = doc.table?.[node.name]?.attributes.find((y) => y.name === x.name);
        return field?.kind === 'reference' && referencesIn(doc, node, x).some((r) => names.has(`${r.kind} ${r.name}`) && !(r.kind === 'shape' && !r.name.includes('/')));
      });
      if (!needs) continue;
      drop(node);
      outer.add(node);
      more = true;
    }
  }
  return [...outer].filter((x) => ![...outer].some((y) => y !== x && y.start <= x.start && x.end <= y.end));
}
