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

const BAD = /[/,(){}'"]/;

// A sentence on what is wrong with a new name of an element, or null.
export function badName(doc, node, name) {
  if (!name.trim()) return 'a name must not be empty';
  if (WORDS.has(node.name) && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `'${name}': the name of a ${node.name} has letters, digits and _ only, as formulas use it`;
  if (BAD.test(name)) return `'${name}': a name must not contain / , ( ) { } ' or "`;
  const same = [...walk(doc.root)].find((x) => x !== node && x.name === node.name && value(x, 'name') === name && (node.name !== 'point' || x.parent === node.parent) &&
    (node.name !== 'shape' || x.parent === node.parent));
  return same ? `'${name}' is the name of another ${node.name}` : null;
}

// Where names are in those of columns (docs/using/record.md): the text before is kept.
const columns = {
  body: (x) => [`(point\\()${x}(?=[/)])`, `(contact\\([^)]*/)${x}(?=/)`],
  point: (x) => [`(point\\()${x}(?=\\))`],
  joint: (x) => [`^([qva]\\.)${x}(?=$|\\.)`, `((?:reaction|driver)\\(|\\([^)]*of )${x}(?=[ )])`],
  sensor: (x) => [`^()${x}(?=$|\\.)`],
  word: (x) => [`^()${x}$`],
  element: (x) => [`((?:reaction|force|contact)\\()${x}(?=[ )/])`, `^(lambda\\.)${x}(?=\\.)`],
};

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function renamedColumn(text, kind, from, to) {
  const body = kind === 'point' ? from.slice(0, from.indexOf('/') + 1) : '';
  return (columns[kind]?.(escaped(from)) ?? []).reduce((out, pattern) => out.replace(new RegExp(pattern), (_, before) => before + body + to), text);
}

// Words with {formula} that a repeat makes a name of: the first that may be this one.
function madeBy(doc, name) {
  for (const node of walk(doc.root)) {
    for (const x of node.attributes) {
      for (const [word] of x.value.matchAll(/[^\s,()'"+*<>=^-]*(?:\{[^}]*\}[^\s,()'"+*<>=^-]*)+/g)) {
        const pattern = word.split(/\{[^}]*\}/).map(escaped).join('[-\\w.]+');
        if (new RegExp(`^${pattern}$`).test(name)) return `<${node.name} ${x.name}="${x.value}">`;
      }
    }
  }
  return null;
}

function renamedValue(doc, node, x, kind, from, to) {
  const field = doc.table?.[node.name]?.attributes.find((y) => y.name === x.name), text = x.value;
  if (!field) return text;
  if (['number', 'law', 'actions'].includes(field.kind)) return renameIn(text, kind, from, to, (column) => renamedColumn(column, kind, from, to));
  if (kind === 'word' && text.includes('{')) return text.replace(/\{[^}]*\}/g, (formula) => renameIn(formula, 'word', from, to));
  const what = field.kind === 'reference' ? target(node.name, x.name) : null, slash = text.indexOf('/');
  if (what === 'column') return renamedColumn(text, kind, from, to);
  if (what === 'frame' || what === 'touch') {
    if (kind === 'body' && text === from) return to;
    if (kind === 'body' && text.startsWith(`${from}/`)) return to + text.slice(slash);
    if (kind === (what === 'frame' ? 'point' : 'shape') && text === from) return text.slice(0, slash + 1) + to;
    if (kind === 'shape' && what === 'touch' && text === from.slice(from.indexOf('/') + 1)) return to;
    return text;
  }
  if (what !== kind) return text;
  if (text === from) return to;
  if (!field.more && x.name !== 'materials') return text;
  const parts = splitNames(text);
  if (!parts.some((y) => y.text === from)) return text;
  const list = parts.map((y) => (y.text === from ? to : y.text));
  return list.join(text.includes(',') || list.some((y) => /\s/.test(y)) ? ', ' : ' ');
}

// Another name, with everything that refers to it. Throws a sentence where the name cannot be.
export function rename(doc, node, to) {
  const old = value(node, 'name') ?? '', bad = badName(doc, node, to);
  if (bad) throw new Error(bad);
  const before = definitions(node), implied = node.name === 'body' && !node.children.some((x) => x.name === 'joint' && value(x, 'name'));
  const steps = doc.setSteps(node, 'name', to);
  if (old.includes('{')) { doc.apply(`rename ${node.name}`, steps); return; }
  if (['point', 'shape'].includes(node.name) && bodyOf(node)?.includes('{')) throw new Error(`'${old}' cannot be renamed here: its body is made in a repeat; change it and what refers to it in the text`);
  for (const d of before) {
    const by = madeBy(doc, d.name);
    if (by) throw new Error(`'${d.name}' cannot be renamed here: ${by} refers to it in a repeat; change both in the text`);
  }
  const kinds = before.filter((d) => d.kind !== 'joint' || node.name === 'joint' || implied);
  for (const other of walk(doc.root)) {
    for (const x of other.attributes) {
      if (x.name === 'name' && other === node) continue;
      let text = x.value;
      const probe = { ...x };
      for (const d of kinds) {
        if (d.kind === 'shape' && !d.name.includes('/')) continue;
        probe.value = text;
        text = renamedValue(doc, other, probe, d.kind, d.name, to);
      }
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
