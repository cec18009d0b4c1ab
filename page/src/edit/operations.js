// Edits of a model: what the tools of the view and the tree do, as edits of the text. Places are in the frame of the body that they are in.
// Nothing is assumed silently: masses, stiffnesses and lengths that were chosen are attributes of the file, to be seen and changed.
import { changedList, evaluate, movedText, numberText, parameterValues, splitList } from './formula.js';
import { dependents, freeName, jointName, rename } from './names.js';
import { attribute, value } from './xml.js';

export const DENSITY = 2700;      // kg/m^3, aluminium: of shapes that are added
export const STIFFNESS = 100;     // N/m, of springs that are added
export const CONTACT = [['normal', 'kelvin-voigt'], ['K', '1e5'], ['D', '100'], ['mu-k', '0.5'], ['bristle-K', '1e5'], ['bristle-B', '100']];  // N/m, Ns/m
export const jointKinds = ['revolute', 'prismatic', 'ball', 'universal', 'cylindrical', 'helical', 'planar', 'free', 'weld'];
export const shapeKinds = ['box', 'sphere', 'cylinder', 'capsule', 'ellipsoid', 'cone', 'plane'];

export const vectorText = (x, decimals) => x.map((y) => numberText(y, decimals)).join(' ');

export function bodyNode(doc, name) {
  if (name === 'ground') return doc.root?.children.find((x) => x.name === 'ground') ?? null;
  return doc.elements('body').find((x) => value(x, 'name') === name) ?? null;
}

// The element of a body in which points and shapes are put; that of the ground is made where there is none.
function hold(doc, name) {
  const node = bodyNode(doc, name);
  if (node) return node;
  if (name !== 'ground') throw new Error(`the body ${name} has no element of its own in this file: it comes from a repeat or an include`);
  return doc.insert(doc.root, { name: 'ground' });
}

export function values(doc) {
  const list = doc.elements('parameter').map((x) => ({ name: value(x, 'name') ?? '', text: value(x, 'value') ?? '' }));
  return parameterValues(list);
}

// ---- adding -----------------------------------------------------------------------------------------------------------
const axisOf = (axis) => (axis.join(' ') === '0 0 1' ? undefined : axis.join(' '));

// The shape of a bar along x from the origin.
function bar(length, radius, decimals) {
  return { name: 'shape', attributes: [['type', 'capsule'], ['size', `${numberText(radius, decimals)} ${numberText(length, decimals)}`], ['at', `${numberText(length / 2, decimals)} 0 0`],
    ['rpy', '0 pi/2 0'], ['density', DENSITY]] };
}

// Edges, radii and lengths as they are drawn, or those that go with one size; a plane has none.
export function shapeSpec(kind, size, at, decimals, density = DENSITY, rpy = null) {
  const s = Array.isArray(size) ? size : { box: [size, size, size], sphere: [size / 2], cylinder: [size / 2, size], capsule: [size / 3, size], ellipsoid: [size / 2, size / 3, size / 4], cone: [size / 2, size] }[kind] ?? [];
  return { name: 'shape', attributes: [['type', kind], ['size', s.length ? vectorText(s, Array.isArray(size) ? decimals - 1 : decimals + 1) : undefined], ['at', at.some((x) => x !== 0) ? vectorText(at, decimals) : undefined],
    ['rpy', rpy?.some((x) => Math.abs(x) > 5e-5) ? rpy.map(angleText).join(' ') : undefined], ['density', kind === 'plane' ? undefined : density]] };
}

// A body with its joint at a place of its parent. A bar where it has a length: along its x, to the point `tip`; turned: its angle about the axis,
// from the x of its parent. Else a body of the size given, which is four times the radius of bars. at: numbers, or the text of a point that is there.
export function addBody(doc, { parent = 'ground', type = 'revolute', at = [0, 0, 0], axis = [0, 0, 1], length = 0, turned = 0, size = 0.1, decimals = 3, shape = 'box', rpy = null, radius = size / 4 }) {
  return doc.group('add body', () => {
    const name = freeName(doc, 'body', 'body'), joint = freeName(doc, 'joint', 'joint');
    const turns = type === 'revolute' && length > 0 && turned !== 0;
    const needsAxis = !['ball', 'free', 'weld'].includes(type), atText = typeof at === 'string' ? at : vectorText(at, decimals);
    const spec = { name: 'body', attributes: [['name', name], ['parent', parent === 'ground' ? undefined : parent]], children: [
      { name: 'joint', attributes: [['name', joint], ['type', type], ['axis', needsAxis ? axisOf(axis) : undefined],
        ['axis2', type === 'universal' ? (axis[0] === 1 ? '0 1 0' : '1 0 0') : undefined], ['at', atText === '0 0 0' ? undefined : atText],
        ['q', turns ? angleText(turned) : undefined], ['pitch', type === 'helical' ? '0.01' : undefined]] },
      length > 0 ? bar(length, radius, decimals) : shapeSpec(shape, size, [0, 0, 0], decimals, DENSITY, rpy)] };
    if (length > 0) spec.children.push({ name: 'point', attributes: [['name', 'tip'], ['at', `${numberText(length, decimals)} 0 0`]] });
    return doc.insert(doc.root, spec);
  });
}

// A joint for a body that has none, and is free so far: it stays where it is.
export function addJoint(doc, body, type, at, axis, decimals = 3) {
  const node = bodyNode(doc, body);
  if (!node) throw new Error(`the body ${body} has no element of its own in this file`);
  if (node.children.some((x) => x.name === 'joint')) throw new Error(`${body} has a joint: change its type, or delete it first`);
  const needsAxis = !['ball', 'free', 'weld'].includes(type);
  return doc.insert(node, { name: 'joint', attributes: [['name', freeName(doc, 'joint', 'joint')], ['type', type], ['axis', needsAxis ? axisOf(axis) : undefined],
    ['axis2', type === 'universal' ? (axis[0] === 1 ? '0 1 0' : '1 0 0') : undefined], ['at', at.some((x) => x !== 0) ? vectorText(at, decimals) : undefined],
    ['pitch', type === 'helical' ? '0.01' : undefined]] });
}

export function addPoint(doc, body, at, decimals = 3) {
  return doc.group('add point', () => {
    const node = hold(doc, body);
    return doc.insert(node, { name: 'point', attributes: [['name', freeName(doc, 'point', 'point', node)], ['at', vectorText(at, decimals)]] });
  });
}

export function addShape(doc, body, kind, size, at, decimals = 3) {
  return doc.group('add shape', () => doc.insert(hold(doc, body), shapeSpec(kind, size, at, decimals, body === 'ground' ? undefined : DENSITY)));
}

// The name of an end: {frame} names a frame that is there; {body, at} makes a point.
function endName(doc, end, decimals) {
  if (end.frame) return end.frame;
  return `${end.body}/${value(addPoint(doc, end.body, end.at, decimals), 'name')}`;
}

// normal: of a planar mechanism, whose third equation would repeat what the joints say.
export function addClosure(doc, a, b, { type = 'ball', normal = null, decimals = 3 } = {}) {
  return doc.group('add closure', () => {
    const ends = [a, b].map((end) => endName(doc, end, decimals));
    return doc.insert(doc.root, { name: 'closure', attributes: [['name', freeName(doc, 'closure')], ['type', type], ['a', ends[0]], ['b', ends[1]],
      ['axis2', type === 'universal' ? '1 0 0' : undefined], ['normal', type === 'ball' && normal ? normal.join(' ') : undefined]] });
  });
}

// kind: spring, damper, link. length: the distance of its ends now, at which it is relaxed.
export function addSpring(doc, a, b, length, { kind = 'spring', decimals = 3 } = {}) {
  const l = numberText(length, decimals);
  const own = { spring: [['stiffness', STIFFNESS], ['length', l]], damper: [['damping', '1']], link: [['law', `-${STIFFNESS}*(z - ${l})`]] }[kind];
  return doc.group(`add ${kind}`, () => {
    const ends = [a, b].map((end) => endName(doc, end, decimals));
    return doc.insert(doc.root, { name: kind, attributes: [['name', freeName(doc, kind)], ['a', ends[0]], ['b', ends[1]], ...own] });
  });
}

// Between all shapes of two bodies.
export function addContact(doc, a, b) {
  return doc.insert(doc.root, { name: 'contact', attributes: [['name', freeName(doc, 'contact')], ['a', a], ['b', b], ...CONTACT] });
}

export function addSensor(doc, end, decimals = 3) {
  return doc.group('add sensor', () => {
    const point = endName(doc, end, decimals);
    return doc.insert(doc.root, { name: 'sensor', attributes: [['name', freeName(doc, 'sensor', 'sensor')], ['point', point]] });
  });
}

export function addParameter(doc) {
  return doc.insert(doc.root, { name: 'parameter', attributes: [['name', freeName(doc, 'p', 'word')], ['value', '1']] });
}

// An element of any kind within another, with what it must have; names are free ones, references the first that there is.
export function addElement(doc, parent, name, guess) {
  const fields = doc.table[name].attributes.filter((x) => x.required || (x.name === 'name' && name !== 'joint'));
  return doc.insert(parent, { name, attributes: fields.map((x) => [x.name, x.name === 'name' ? freeName(doc, name, name === 'point' ? 'point' : 'element', name === 'point' ? parent : null) : guess(x)]) });
}

// ---- deleting ---------------------------------------------------------------------------------------------------------
// With all that refers to it; the sentence says what went.
export function remove(doc, nodes) {
  const all = dependents(doc, nodes), names = all.filter((x) => !nodes.includes(x)).map((x) => `${x.name} ${value(x, 'name') ?? ''}`.trim());
  const label = `delete ${nodes.map((x) => `${x.name} ${value(x, 'name') ?? ''}`.trim()).join(', ')}`;
  doc.remove(all, label);
  return names.length > 0 ? `${label}, and ${names.join(', ')}, which referred to it` : label;
}

// ---- moving -----------------------------------------------------------------------------------------------------------
// The attribute that places an element: of a body that of its joint.
export function placed(node) {
  if (node.name === 'body') return node.children.find((x) => x.name === 'joint') ?? null;
  return ['joint', 'point', 'shape', 'force'].includes(node.name) ? node : null;
}

export function numbers(doc, text, count, known = values(doc)) {
  const out = splitList(text).map((x) => evaluate(x.text, (word) => known.get(word)));
  return out.length === count && out.every((x) => x !== null) ? out : null;
}

// Another place. What is a formula keeps it and gets an offset that is seen. False where a formula has no value here.
export function setPlace(doc, node, at, decimals = 3, key = null, name = 'at', fallback = ['0', '0', '0']) {
  const known = values(doc), old = value(node, name) ?? fallback.join(' '), items = splitList(old);
  if (items.length !== at.length) return false;
  const changes = [];
  for (let i = 0; i < at.length; i++) {
    const now = evaluate(items[i].text, (word) => known.get(word));
    if (now === null) return false;
    if (Math.abs(now - at[i]) < 0.49 * 10 ** -decimals) continue;
    const text = movedText(items[i].text, at[i], decimals, (word) => known.get(word));
    if (text === null) return false;
    changes.push([i, text]);
  }
  if (changes.length > 0) doc.set(node, name, changedList(old, changes, fallback), key);
  return true;
}

// The rotation, as the element has it: quaternion or roll, pitch, yaw. rpy in radians.
export function setTurn(doc, node, rpy, key = null) {
  if (attribute(node, 'rot')) {
    const [r, p, y] = rpy.map((x) => x / 2), [cr, sr, cp, sp, cy, sy] = [Math.cos(r), Math.sin(r), Math.cos(p), Math.sin(p), Math.cos(y), Math.sin(y)];
    const q = [cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr, cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr];
    doc.set(node, 'rot', vectorText(q, 6), key);
  } else if (rpy.every((x) => Math.abs(x) < 5e-5)) doc.set(node, 'rpy', null, key);
  else doc.set(node, 'rpy', rpy.map(angleText).join(' '), key);
}

// Angles as a person writes them: pi/2 where it is one.
export function angleText(x) {
  for (const n of [1, 2, 3, 4, 6, 9, 12, 18, 36]) {
    for (let k = 1; k <= 2 * n; k++) {
      if (Math.abs(Math.abs(x) - k * Math.PI / n) > 5e-5) continue;
      return `${x < 0 ? '-' : ''}${k > 1 ? `${k}*` : ''}pi${n > 1 ? `/${n}` : ''}`;
    }
  }
  return numberText(x, 4);
}

// The coordinates that a drag has given: q of the joints, where they changed. [{joint: name, q: [...]}]; the last digit that counts is the fourth.
export function setCoordinates(doc, list, key = null) {
  return doc.group('move', () => {
    const missed = [];
    for (const { joint, q } of list) {
      const body = doc.elements('body').find((x) => jointName(x) === joint), node = body?.children.find((x) => x.name === 'joint');
      if (!node || !setPlace(doc, node, q, 4, null, 'q', q.map(() => '0'))) missed.push(joint);
    }
    return missed;
  }, key);
}

export { rename };
