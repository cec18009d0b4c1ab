// The document of the editor and its edits, without a browser: node editor.mjs SARRUS MODELS FOLDER [SEED]. MODELS is a copy of models/ that may be
// written to. Every line "FAILED ..." is a failure.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readElements } from '../../page/elements.mjs';
import { Document, emptyModel } from '../../page/src/edit/document.js';
import { evaluate, movedText, numberText, splitList, splitNames } from '../../page/src/edit/formula.js';
import { makerOf, namesOf, referencesIn, rename } from '../../page/src/edit/names.js';
import * as edit from '../../page/src/edit/operations.js';
import { attribute, elementAt, encode, offsetOf, parse, placeOf, value, walk } from '../../page/src/edit/xml.js';

const [, , sarrus, models, folder, seed = '1'] = process.argv;
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const table = await readElements(join(root, 'docs/using/format.md'));
let bad = 0;
const fail = (text) => { console.log(`FAILED editor: ${text}`); bad++; };
const ensure = (truth, text) => { if (!truth) fail(text); };
const equal = (a, b, text) => ensure(a === b, `${text}: expected ${JSON.stringify(b)}, found ${JSON.stringify(a)}`);

// A small generator of its own, so that a failure repeats (Marsaglia 2003, xorshift).
let number = Number(seed) * 2654435761 >>> 0 || 1;
const random = (n) => {
  number ^= number << 13; number >>>= 0; number ^= number >>> 17; number ^= number << 5; number >>>= 0;
  return number % n;
};
const pick = (list) => list[random(list.length)];

// ---- tokens and spans -------------------------------------------------------------------------------------------------
function checkSpans(text, what) {
  const { root: top, tokens } = parse(text);
  let at = 0;
  for (const t of tokens) {
    ensure(t.start === at && t.end > t.start, `${what}: a token begins at ${t.start}, the one before ends at ${at}`);
    at = t.end;
  }
  equal(at, text.length, `${what}: the end of the last token`);
  for (const node of walk(top)) {
    ensure(text.startsWith(`<${node.name}`, node.start) && text[node.end - 1] === '>', `${what}: the span of <${node.name}>`);
    ensure(node.empty ? text.endsWith('/>', node.tagEnd) || text.slice(node.tagEnd - 2, node.tagEnd) === '/>' : text.startsWith(`</${node.name}`, node.closeStart), `${what}: the tags of <${node.name}>`);
    for (const x of node.attributes) {
      ensure(text.slice(x.start, x.nameEnd) === x.name && text[x.from - 1] === x.quote && text[x.to] === x.quote && x.to === x.end - 1, `${what}: the span of ${x.name}`);
      const { node: found, attribute: same } = elementAt(top, x.from);
      ensure(found === node && same === x, `${what}: what is at ${x.from}`);
      const place = placeOf(text, x.from);
      equal(offsetOf(text, place.line, place.column), x.from, `${what}: line and column`);
    }
  }
}

const awkward = {
  plain: '<sarrus version="1"/>',
  byte: '\ufeff<?xml version="1.0"?>\n<sarrus version="1"></sarrus>\n',
  comments: '<!-- a -- > b <x y="1"> --><sarrus version="1"><!----><!-- <body name="no"/> --><body name="b"/><!-- end --></sarrus><!-- after -->\n\n',
  quotes: "<sarrus version='1' name='say \"hi\"'>\n\t<body  name = 'b' \t parent='ground'  />\n</sarrus >",
  lines: '<sarrus\n  version="1"\n  name="x">\r\n  <body\r\n    name="b"\r\n    parent="ground"\r\n  >\r\n  </body\r\n>\r\n</sarrus>\r\n',
  entities: '<sarrus version="1" name="&lt;&amp;&#65;&#x3bb;&quot;&apos;"><event when="q(a) &lt; 1 &amp;&amp; 2 > 1" stop="yes"/></sarrus>',
  cdata: '<sarrus version="1"><![CDATA[ <body name="no"> ]] > ]]><body name="b"/></sarrus>',
  instruction: '<?xml-stylesheet href="a.xsl"?><sarrus version="1"><?skip <body/> ?><body name="b"/></sarrus>',
  unicode: '<sarrus version="1" name="Größe 😀"><body name="köper😀" parent="ground"/><!-- 😀 --><point/></sarrus>',
  repeat: '<sarrus version="1"><repeat count="3" index="i"><body name="b{i}" parent="b{i-1}"><repeat count="2" index="k"><point name="p{k}" at="k 0 0"/></repeat></body></repeat><include file="a.xml"/></sarrus>',
};
const refused = { 'not a model': 'text before', text: 'text before', '<a><b></a>': 'expected </b>', '<a': 'expected >', '<a b=1/>': 'in quotes', '<a b="1" b="2"/>': 'twice', '<a b="<"/>': 'expected &lt;',
  '<a b="&nbsp;"/>': 'expected an entity', '<a b="x & y"/>': 'expected an entity', '<!DOCTYPE a><a/>': 'document types', '<a/><b/>': 'second root', '</a>': 'closes nothing', '<a><!-- </a>': 'expected -->', '<a b="1"c="2"/>': 'expected a blank',
  '<a></a>x': 'text after', '<a><!--></a>': 'expected -->', '<a b="&#0;"/>': 'expected an entity', '': 'expected an element', '<a b/>': 'expected =' };

function checkTexts() {
  for (const [what, text] of Object.entries(awkward)) {
    checkSpans(text, what);
    const doc = new Document(text, table);
    for (const node of [...walk(doc.root)]) {
      for (const x of node.attributes) {
        const text2 = `${x.value}<&>"'\n2`, doc2 = new Document(text, table);
        doc2.set(doc2.at(node.start), x.name, text2);
        equal(doc2.text.slice(0, x.from), text.slice(0, x.from), `${what}: before ${x.name}`);
        ensure(doc2.text.endsWith(text.slice(x.to)), `${what}: behind ${x.name}`);
        equal(attribute(doc2.at(node.start), x.name).value, text2, `${what}: the new value of ${x.name}`);
        doc2.undo();
        equal(doc2.text, text, `${what}: ${x.name} undone`);
      }
    }
    doc.insert(doc.root, { name: 'body', attributes: [['name', 'new']], children: [{ name: 'joint', attributes: [['type', 'ball']] }] });
    ensure(doc.root.children.some((x) => value(x, 'name') === 'new'), `${what}: a new body`);
    ensure(!/\r\n/.test(text) || !/[^\r]\n/.test(doc.text.replace(text.match(/^[^\r]*?(?=\r)/)[0], '')), `${what}: line ends`);
    doc.undo();
    equal(doc.text, text, `${what}: insertion undone`);
  }
  for (const [text, words] of Object.entries(refused)) {
    const { error } = new Document(text, table);
    ensure(error?.message.includes(words), `${JSON.stringify(text)} is not refused with "${words}": ${error?.message}`);
  }
  equal(value(parse('<a b="&lt;&#65;\t&#10;&quot;"/>').root, 'b'), '<A \n"', 'a value');
  equal(encode('a"b\'c<d&', "'"), 'a"b&apos;c&lt;d&amp;', 'a value in single quotes');
}

// ---- layout of what is added and removed ------------------------------------------------------------------------------
function checkLayout() {
  const doc = new Document(`<sarrus version="1">
    <!-- lengths -->
    <parameter name="l" value="2"/>  <!-- m -->
    <body name="a"><joint type="ball"/></body>
    <body name="b"
          parent="a"/>
    <!-- measured -->
    <sensor name='s' point='b'/>
    <run t-end="1"/>
</sarrus>
`, table);
  const first = doc.text, expect = (change, from, to, what) => {
    change();
    equal(doc.text, first.replace(from, to), what);
    doc.undo();
    equal(doc.text, first, `${what}, undone`);
  };
  const find = (name, i = 0) => doc.elements(name)[i];
  expect(() => doc.insert(doc.root, { name: 'parameter', attributes: [['name', 'm'], ['value', 1]] }), '<!-- m -->\n', '<!-- m -->\n    <parameter name="m" value="1"/>\n', 'a parameter behind its like and its comment');
  expect(() => doc.insert(doc.root, { name: 'sensor', attributes: [['name', 't'], ['point', 'a']] }), "point='b'/>\n", "point='b'/>\n    <sensor name='t' point='a'/>\n", 'a sensor with the quotes of its like');
  expect(() => doc.insert(find('body'), { name: 'point', attributes: [['name', 'p']] }), '<joint type="ball"/>', '<joint type="ball"/><point name="p"/>', 'a point in a line');
  expect(() => doc.insert(find('body', 1), { name: 'point', attributes: [['name', 'p']] }), 'parent="a"/>', 'parent="a">\n        <point name="p"/>\n    </body>', 'a point in an empty element');
  expect(() => doc.insert(doc.root, { name: 'closure', attributes: [['a', 'a'], ['b', 'b']] }), 'parent="a"/>\n', 'parent="a"/>\n    <closure a="a" b="b"/>\n', 'a closure behind the bodies');
  expect(() => doc.set(find('body', 1), 'name', 'c'), 'name="b"', 'name="c"', 'an attribute');
  expect(() => doc.set(find('joint'), 'name', 'j'), '<joint type', '<joint name="j" type', 'a name before the type');
  expect(() => doc.set(find('joint'), 'axis', '1 0 0'), 'type="ball"', 'type="ball" axis="1 0 0"', 'an axis behind the type');
  expect(() => doc.set(find('body', 1), 'parent', null), '\n          parent="a"', '', 'an attribute with its line removed');
  expect(() => doc.remove([find('parameter')]), '    <parameter name="l" value="2"/>  <!-- m -->\n', '', 'a parameter with its comment');
  expect(() => doc.remove([find('joint')]), '<joint type="ball"/>', '', 'a joint in a line');
  expect(() => doc.remove([find('body'), find('sensor')]), /    <body name="a">.*\n|    <sensor.*\n/g, '', 'two elements');
}

// ---- formulas ---------------------------------------------------------------------------------------------------------
function randomFormula(depth) {
  if (depth === 0 || random(4) === 0) return pick(['2', '0.5', 'a', 'b', 'pi', '3e-1', '.25', '7.']);
  const f = () => randomFormula(depth - 1);
  switch (random(9)) {
    case 0: return `${f()} + ${f()}`;
    case 1: return `${f()}-${f()}`;
    case 2: return `${f()}*${f()}`;
    case 3: return `(${f()})/(${f()} + 3)`;
    case 4: return `-${f()}`;
    case 5: return `(${f()})^2`;
    case 6: return `${pick(['sin', 'cos', 'abs', 'sign', 'step', 'floor', 'atan', 'exp'])}(${f()})`;
    case 7: return `${pick(['min', 'max', 'atan2'])}(${f()}, ${f()})`;
    default: return `if(${f()} ${pick(['<', '<=', '>', '>=', '==', '!='])} ${f()}, ${f()}, mod(${f()}, 2))`;
  }
}

// Values beside formulas are those of the program: formulas as mass of a body.
function checkFormulas() {
  const known = { a: 1.25, b: -0.75 }, list = ['-2^2', '2^-1', '2^3^2', 'step(0)', 'step(-1)', 'sign(0)', 'mod(-1, 3)', '1 < 2', 'max(1, 3, 2)', 'pow(2, 3)', 'a - -b', '2 - 3 - 4', '8/4/2', 'log(2)', 'sqrt(2)', 'tan(1)', 'asin(0.5)', 'acos(0.5)'];
  while (list.length < 150) list.push(randomFormula(4));
  const text = `<sarrus version="1"><parameter name="a" value="1.25"/><parameter name="b" value="-0.75"/>${list.map((f, i) => `<body name="b${i}"><joint type="prismatic" q="${encode(f)}"/><inertial mass="1"/></body>`).join('')}<run t-end="1e-9" every="1"/></sarrus>`;
  const path = join(folder, 'formulas.xml'), out = join(folder, 'formulas.csv');
  writeFileSync(path, text);
  const run = spawnSync(sarrus, ['run', path, '--out', out, '--quiet'], { encoding: 'utf8' });
  if (run.status !== 0) { fail(`formulas: ${run.stderr.slice(0, 300)}`); return; }
  const lines = readFileSync(out, 'utf8').split('\n').filter((line) => line && !line.startsWith('#')), names = lines[0].split(',').map((x) => x.replace(/ \[.*\]$/, '')), row = lines[1].split(',').map(Number);
  list.forEach((f, i) => {
    const expected = row[names.indexOf(`q.b${i}`)], x = evaluate(f, (word) => known[word]);
    ensure(x !== null && Math.abs(x - expected) <= 1e-12 * Math.max(1, Math.abs(expected)), `${f} is ${expected}, not ${x}`);
  });
  for (const f of ['', '1 +', 'unknown', 'sin', 'sin(1, 2)', '(1', '1)', '1/0', 'q(a)', 'random(1)', 'a b', 'constructor(1)', 'toString']) equal(evaluate(f, (word) => known[word]), null, `the value of ${JSON.stringify(f)}`);
  const lists = { '1 -2 3': 3, 'l + 1 0 0': 3, 'a - b': 1, 'a -b': 2, 'max(1, 2) 0 a-b': 3, '1,2, 3': 3, ' 1  2 ': 2, '1 *2': 1, '': 0, '1,': 2, 'sin( 1 ) 2': 2, '1 - 2 - 3 4': 2, '-1 -1': 2 };
  for (const [f, n] of Object.entries(lists)) equal(splitList(f).length, n, `values of ${JSON.stringify(f)}`);
  equal(splitNames('a b, c').map((x) => x.text).join('|'), 'a b|c', 'names with blanks');
  const moves = [['0.1', 0.15000000000000002, '0.15'], ['l', 2.02, 'l + 0.02'], ['l + 0.02', 2.03, 'l + 0.03'], ['l + 0.02', 2, 'l'], ['l', 1.5, 'l - 0.5'], ['l - 0.5', 2.25, 'l + 0.25'], ['2*l', 4.5, '2*l + 0.5'],
    ['-l', -1.5, '-l + 0.5'], ['(l - 1)', 1.5, '(l - 1) + 0.5'], ['l*(2 - 1)', 2.1, 'l*(2 - 1) + 0.1'], ['l < 3', 2, '(l < 3) + 1'], ['1e-3', 0.0021, '0.002'], ['unknown', 1, null], ['max(l, 1 + 2)', 3.5, 'max(l, 1 + 2) + 0.5'], ['l-1', 3, 'l + 1'], ['-1', 0, '0'], ['pi/2', 1, '1'], ['2*l + pi', 8, '2*l + pi + 0.858']];
  for (const [from, x, to] of moves) equal(movedText(from, x, 3, (word) => ({ l: 2 })[word]), to, `${from} moved to ${x}`);
  for (const [x, d, to] of [[0.1 + 0.2, 6, '0.3'], [-0.00001, 3, '0'], [1234.5, 2, '1234.5'], [100, 0, '100'], [1e-9, 6, '1e-9'], [0.15, 2, '0.15']]) equal(numberText(x, d), to, `${x} with ${d} decimals`);
  for (const [x, to] of [[Math.PI / 2, 'pi/2'], [-Math.PI, '-pi'], [2 * Math.PI / 3, '2*pi/3'], [0.1, '0.1'], [0, '0'], [Math.PI / 4, 'pi/4']]) equal(edit.angleText(x), to, `the angle ${x}`);
}

// ---- shipped models ---------------------------------------------------------------------------------------------------
function* files(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* files(join(path, entry.name));
    else if (entry.name.endsWith('.xml')) yield join(path, entry.name);
  }
}

function check(path) {
  const run = spawnSync(sarrus, ['check', path, '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return { status: run.status, err: run.stderr, json: run.status === 0 ? JSON.parse(run.stdout) : null };
}
const counts = ({ json }) => JSON.stringify([json.nbody, json.njoint, json.nq, json.ny, json.nconstraint, json.rank, json.dof, json.driven, json.contacts, json.shapes]);

// Every name becomes another, with its references: the program finds the same model.
// Those that repeats make, too: the new one has the same formulas in it.
const made = { renamed: 0, refused: 0 };
function renameAll(doc) {
  let n = 0;
  for (let i = 0; ; i++) {
    const node = [...walk(doc.root)].filter((x) => ['body', 'joint', 'point', 'parameter', 'sensor', 'state', 'motion', 'table', 'material', 'mesh', 'shape', 'closure', 'spring'].includes(x.name) && value(x, 'name'))[i];
    if (!node) return n;
    const before = doc.text, old = value(node, 'name'), template = old.includes('{');
    try {
      rename(doc, node, `${node.name === 'body' ? 'zb' : 'zx'}${i}_${template ? old : old.replace(/\W/g, '')}`);
      if (template) made.renamed++; else n++;
    } catch (error) {
      if (template) made.refused++;
      ensure(/in a repeat|cannot be renamed here/.test(error.message) && doc.text === before && doc.text.includes('<repeat'), `renaming ${value(node, 'name')}: ${error.message}`);
    }
  }
}

// Some edit at random, as a person may make one.
function randomEdit(doc) {
  const nodes = [...walk(doc.root)], node = pick(nodes), x = node.attributes.length > 0 ? pick(node.attributes) : null;
  switch (random(8)) {
    case 0: if (x) doc.set(node, x.name, `${x.value} <${random(100)}&"'`); break;
    case 1: if (x) doc.set(node, x.name, null); break;
    case 2: doc.set(node, pick(table[node.name]?.attributes.concat({ name: 'zz' }) ?? [{ name: 'zz' }]).name, String(random(50))); break;
    case 3: doc.insert(node, { name: pick(['point', 'shape', 'body', 'parameter']), attributes: [['name', `n${random(1000)}`]], children: random(3) ? [] : [{ name: 'joint' }] }); break;
    case 4: if (node !== doc.root) doc.remove([node]); break;
    case 5: doc.group('two', () => { edit.addParameter(doc); edit.addPoint(doc, 'ground', [random(9) / 10, 0, 0.5]); }); break;
    case 6: if (node !== doc.root && !node.children.length) edit.remove(doc, [node]); break;
    default: doc.replace(doc.text.slice(0, doc.root.start) + doc.text.slice(doc.root.start).replace(/ {2}/, '   '));
  }
}

function checkModels() {
  let renamed = 0, checked = 0, edits = 0;
  for (const path of files(models)) {
    const text = readFileSync(path, 'utf8'), what = path.slice(models.length + 1);
    if (!text.includes('<sarrus')) continue;
    checkSpans(text, what);
    // random edits, undone and done again
    const doc = new Document(text, table), texts = [text];
    for (let i = 0; i < 25 && text.length < 200000; i++) {
      const before = doc.text, count = doc.done.length;
      doc.seal();
      randomEdit(doc);
      if (doc.error) { fail(`${what}: after an edit: ${doc.error.message}`); break; }
      if (doc.done.length > count) { texts.push(doc.text); edits++; } else ensure(doc.text === before, `${what}: a change that cannot be undone`);
    }
    const last = doc.text;
    for (let i = texts.length - 1; i >= 0; i--) { equal(doc.text, texts[i], `${what}: undone to edit ${i}`); doc.undo(); }
    equal(doc.text, text, `${what}: all undone`);
    while (doc.redo());
    equal(doc.text, last, `${what}: all done again`);
    // other names, and more elements
    const before = check(path);
    if (before.status !== 0 || /<include|<extend|\.urdf/.test(text)) continue;
    const names = new Document(text, table), n = renameAll(names);
    writeFileSync(path, names.text);
    const after = check(path);
    if (after.status !== 0) fail(`${what}: renamed: ${after.err.slice(0, 400)}`);
    else equal(counts(after), counts(before), `${what}: renamed`);
    while (names.undo());
    equal(names.text, text, `${what}: names undone`);
    renamed += n;
    const more = new Document(text, table);
    const body = edit.addBody(more, { parent: 'ground', length: 0.3, at: [0.1, 0, 2], axis: [0, 1, 0], turned: 0.7 }), name = value(body, 'name');
    edit.addSpring(more, { frame: `${name}/tip` }, { body: 'ground', at: [0.4, 0, 2.25] }, 0.2);
    edit.addSensor(more, { frame: `${name}/tip` });
    edit.addShape(more, name, pick(edit.shapeKinds), 0.05, [0.1, 0, 0]);
    edit.addPoint(more, name, [0.15, 0, 0.0101]);
    writeFileSync(path, more.text);
    const added = check(path);
    if (added.status !== 0) fail(`${what}: with a body: ${added.err.slice(0, 400)}`);
    else equal(added.json.dof, before.json.dof + 1, `${what}: degrees of freedom with a body`);
    // and gone again: with all that refers to it
    edit.remove(more, [edit.bodyNode(more, name)]);
    writeFileSync(path, more.text);
    const gone = check(path);
    if (gone.status !== 0) fail(`${what}: without the body: ${gone.err.slice(0, 400)}`);
    else equal(gone.json.dof, before.json.dof, `${what}: degrees of freedom without the body`);
    while (more.undo());
    equal(more.text, text, `${what}: the body undone`);
    writeFileSync(path, text);
    checked++;
  }
  ensure(checked >= 40 && renamed >= 500, `only ${checked} models and ${renamed} names`);
  ensure(made.renamed > 4 * made.refused && made.renamed >= 100, `of the names that repeats make ${made.renamed} were renamed, ${made.refused} not`);
  return `${checked} models, ${renamed} names and ${made.renamed} of repeats (${made.refused} refused), ${edits} edits`;
}

// ---- a model from nothing ---------------------------------------------------------------------------------------------
function checkNew() {
  const doc = new Document(emptyModel('four-bar'), table), empty = doc.text, y = [0, 1, 0];
  const crank = edit.addBody(doc, { at: [0, 0, 0], axis: y, length: 0.2, turned: -1 });
  rename(doc, crank, 'crank');
  const coupler = edit.addBody(doc, { parent: 'crank', at: [0.2, 0, 0], axis: y, length: 0.6, turned: 0.4 });
  rename(doc, coupler, 'coupler');
  const rocker = edit.addBody(doc, { at: [0.7, 0, 0], axis: y, length: 0.5, turned: -1.8 });
  rename(doc, rocker, 'rocker');
  edit.addClosure(doc, { frame: 'coupler/tip' }, { frame: 'rocker/tip' }, { normal: y });
  edit.addSpring(doc, { frame: 'coupler/tip' }, { body: 'ground', at: [0.35, 0, 0.6] }, 0.3);
  equal(edit.setCoordinates(doc, [{ joint: 'joint1', q: [-0.9] }, { joint: 'joint2', q: [0.40001] }]).length, 0, 'coordinates that could not be set');
  ensure(/name="joint1"[^>]* q="-0.9"/.test(doc.text) && /name="joint2"[^>]* q="0.4"/.test(doc.text), 'coordinates are set');
  const path = join(folder, 'built.xml');
  writeFileSync(path, doc.text);
  const result = check(path);
  if (result.status !== 0) fail(`a four-bar from nothing: ${result.err}\n${doc.text}`);
  else equal(result.json.dof, 1, 'degrees of freedom of a four-bar from nothing');
  ensure(!/\.\d{5,}/.test(doc.text), `numbers with too many digits: ${doc.text}`);
  while (doc.undo());
  equal(doc.text, empty, 'all undone');
  while (doc.redo());
  // a body with what hangs on it
  const said = edit.remove(doc, [edit.bodyNode(doc, 'crank')]);
  ensure(said.includes('body coupler') && said.includes('closure') && said.includes('spring'), `what goes with the crank: ${said}`);
  ensure(!doc.text.includes('coupler') && doc.text.includes('rocker'), 'the crank is gone with what hangs on it');
  doc.undo();
  // joints come and go
  edit.remove(doc, [edit.bodyNode(doc, 'rocker').children[0]]);
  ensure(edit.bodyNode(doc, 'rocker').children[0].name !== 'joint', 'the joint is gone');
  edit.addJoint(doc, 'rocker', 'ball', [0.7, 0, 0], y);
  writeFileSync(path, doc.text);
  equal(check(path).status, 0, 'a joint once more');
  for (const type of edit.jointKinds) {
    const each = new Document(emptyModel(), table);
    edit.addBody(each, { type, axis: [1, 0, 0], at: [0, 0, 1], length: random(2) ? 0.4 : 0 });
    writeFileSync(path, each.text);
    const found = check(path);
    ensure(found.status === 0, `a body with a joint of type ${type}: ${found.err}`);
  }
  // a drag is undone at once, and a failed group leaves nothing
  const moving = new Document(doc.text, table), before = moving.text;
  for (let i = 1; i <= 50; i++) edit.setPlace(moving, edit.bodyNode(moving, 'rocker').children[0], [0.7 + 0.01 * i, 0, 0], 3, 'drag');
  ensure(moving.text.includes('1.2 0 0'), 'a drag');
  moving.undo();
  equal(moving.text, before, 'a drag undone');
  try { moving.group('fails', () => { edit.addParameter(moving); throw new Error('no'); }); } catch { /* expected */ }
  equal(moving.text, before, 'an edit that failed');
  for (const name of ['', 'a/b', 'crank']) {
    let said2 = '';
    try { rename(moving, edit.bodyNode(moving, 'rocker'), name); } catch (error) { said2 = error.message; }
    ensure(said2.length > 10 && moving.text === before, `the name ${JSON.stringify(name)} is refused`);
  }
  ensure(namesOf(moving, 'frame').includes('coupler/tip') && referencesIn(moving, moving.elements('closure')[0], attribute(moving.elements('closure')[0], 'a')).length === 2, 'names and references');
}

// Names that repeats make: everything that means one follows, what may mean another is refused.
function checkRepeats() {
  const text = `<sarrus version="1" name="r">
  <body name="cart"><joint type="free"/><inertial mass="1" inertia="1 1 1"/></body>
  <repeat count="3" index="i">
    <body name="wheel{i}" parent="cart">
      <joint type="revolute" axis="0 1 0" at="i 0 0"/>
      <shape name="tread{i}" type="sphere" size="0.1" density="1000" group="wheels"/>
      <point name="rim" at="0.1 0 0"/>
    </body>
    <torque joint="wheel{i}" law="-2*v(wheel{i})*q(wheel{2 - i})"/>
  </repeat>
  <repeat count="2" index="k">
    <spring name="s{k}" a="wheel{k}/rim" b="wheel{k + 1}/rim" stiffness="10" length="1"/>
    <body name="lone{k}" parent="wheel{k}"><joint type="ball"/><inertial mass="1" inertia="1 1 1"/></body>
  </repeat>
  <ground><shape name="floor" type="plane" at="0 0 -1"/></ground>
  <contact name="c" a="wheels" b="floor" normal="kelvin-voigt" K="1e5" D="10" friction="none"/>
  <sensor name="tip" point="wheel2/rim"/>
  <record what="reaction(wheel1).f"/>
  <record what="force(s{0}).f"/>
  <body name="tail0" parent="wheel0"><joint type="ball"/><inertial mass="1" inertia="1 1 1"/></body>
  <repeat count="2" index="i" from="1"><body name="tail{i}" parent="tail{i - 1}"><joint type="ball"/><inertial mass="1" inertia="1 1 1"/></body></repeat>
</sarrus>
`, path = join(folder, 'repeats.xml'), named = (doc, element, name) => doc.elements(element).find((x) => value(x, 'name') === name);
  const expect = (element, old, name, expected) => {
    const doc = new Document(text, table);
    rename(doc, named(doc, element, old), name);
    equal(doc.text, expected, `${old} becomes ${name}`);
    writeFileSync(path, doc.text);
    const found = check(path);
    ensure(found.status === 0, `${old} becomes ${name}: ${found.err}`);
  };
  expect('body', 'wheel{i}', 'roller{i}', text.replace(/wheel(?=[\d{])/g, 'roller'));
  expect('point', 'rim', 'edge', text.replaceAll('"rim"', '"edge"').replaceAll('/rim', '/edge'));
  expect('spring', 's{k}', 'link{k}', text.replace('"s{k}"', '"link{k}"').replace('force(s{0})', 'force(link{0})'));
  expect('shape', 'tread{i}', 'tyre{i}b', text.replace('"tread{i}"', '"tyre{i}b"'));
  const refuse = (element, old, name, sentence) => {
    const doc = new Document(text, table);
    let said = '';
    try { rename(doc, named(doc, element, old), name); } catch (error) { said = error.message; }
    ensure(said.includes(sentence) && doc.text === text, `${old} becomes ${name}: ${said}`);
  };
  const whole = new Document(text.replace('<ground>', '<include file="a.xml"/><ground>'), table), maker = (name) => { const node = makerOf(whole, name); return node && (value(node, 'name') ?? node.name); };
  for (const [name, by] of [['wheel2', 'wheel{i}'], ['lone1', 'lone{k}'], ['tail0', 'tail0'], ['tail1', 'tail{i}'], ['cart', 'cart'], ['wheels', 'wheel{i}'], ['arm', 'include']]) equal(maker(name), by, `what makes ${name}`);
  equal(makerOf(new Document(text, table), 'arm'), null, 'what makes arm');
  refuse('body', 'wheel{i}', 'roller', 'needs {i} in it');
  refuse('body', 'wheel{i}', 'roller{k}', 'needs {i} in it');
  refuse('body', 'wheel{i}', 'rol/ler{i}', 'must not contain');
  refuse('body', 'tail{i}', 'end{i}', "'tail{i - 1}' may mean it or 'tail0'");
  refuse('body', 'tail0', 'start', 'in a repeat');
  refuse('body', 'cart', 'c{i}', 'must not contain');
}

// One number changes, and nothing else: the rest of the bytes are those of the file.
function checkOneNumber() {
  const text = readFileSync(join(models, 'mechanisms/four-bar.xml'), 'utf8'), doc = new Document(text, table);
  const node = doc.elements('parameter').find((x) => value(x, 'name') === 'crank');
  doc.set(node, 'value', '0.25');
  equal(doc.text, text.replace('name="crank" value="0.2"', 'name="crank" value="0.25"'), 'one number');
}

checkTexts();
checkLayout();
checkFormulas();
checkNew();
checkRepeats();
checkOneNumber();
const what = checkModels();
if (bad === 0) console.log(`ok editor: ${what}`);
process.exit(bad ? 1 : 0);
