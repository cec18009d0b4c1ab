// Formulas as texts: tokens, lists of values, the value of a formula of parameters, another name for a word, an offset added.
// The grammar is that of src/expr/parse.c, the rule of lists that of src/model/list.c (docs/using/format.md, "Numbers and formulas").
const TOKEN = /(?<blank>[ \t\r\n]+)|(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<operator><=|>=|==|!=|[-+*/^<>(),])|(?<other>[^])/gy;
const RAW = new Set(['q', 'v', 'inertia', 'sensor', 'record']);  // the first argument of these is a name as it stands

// [{kind, text, start, end}]; the name in q(name), v(name), inertia(name), sensor(name) and record(name) is one token of the
// kind joint, sensor or column.
export function tokens(text) {
  const out = [];
  TOKEN.lastIndex = 0;
  for (let found; TOKEN.lastIndex < text.length && (found = TOKEN.exec(text));) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined), start = found.index;
    out.push({ kind, text: found[0], start, end: TOKEN.lastIndex });
    const before = out.at(-2);
    if (found[0] !== '(' || before?.kind !== 'word' || !RAW.has(before.text)) continue;
    let end = TOKEN.lastIndex, depth = 0;
    while (end < text.length && (depth > 0 || !',)'.includes(text[end]))) depth += (text[end] === '(') - (text[end++] === ')');
    const raw = text.slice(TOKEN.lastIndex, end), name = raw.trim(), from = TOKEN.lastIndex + raw.indexOf(name);
    if (name) out.push({ kind: { sensor: 'sensor', record: 'column' }[before.text] ?? 'joint', text: name, start: from, end: from + name.length });
    TOKEN.lastIndex = end;
  }
  return out;
}

const isBlank = (c) => c === ' ' || c === '\t' || c === '\n' || c === '\r';

// The values of a list: [{text, start, end}].
export function splitList(text) {
  const out = [];
  let p = 0, comma = false;
  const blanks = (i) => { while (i < text.length && isBlank(text[i])) i++; return i; };
  const goesOn = (last, next) => '*/^<>=!+-'.includes(last) || '*/^<>=!'.includes(text[next]) || ('+-'.includes(text[next]) && isBlank(text[next + 1] ?? 'x'));
  for (;;) {
    p = blanks(p);
    if (p >= text.length && !comma) return out;
    const start = p;
    let end = p, depth = 0;
    while (p < text.length && !(depth <= 0 && text[p] === ',')) {
      if (isBlank(text[p])) {
        const next = blanks(p);
        if (next >= text.length || (depth <= 0 && (text[next] === ',' || !goesOn(text[end - 1], next)))) break;
        p = next;
        continue;
      }
      depth += (text[p] === '(') - (text[p] === ')');
      end = ++p;
    }
    out.push({ text: text.slice(start, end), start, end });
    p = blanks(end);
    comma = text[p] === ',';
    if (comma) p++;
  }
}

// Names in a list: separated by commas where there is one, else by blanks.
export function splitNames(text) {
  const out = [], separator = text.includes(',') ? /[^,]+/g : /[^ \t\r\n]+/g;
  for (const found of text.matchAll(separator)) {
    const name = found[0].trim();
    if (name) out.push({ text: name, start: found.index + found[0].indexOf(name), end: found.index + found[0].indexOf(name) + name.length });
  }
  return out;
}

export const isNumber = (text) => /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text.trim());
export const isWord = (text) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);

// ---- values -----------------------------------------------------------------------------------------------------------
const spread = (f) => [2, 0, (...x) => x.reduce(f)];
const functions = {
  sin: [1, 1, Math.sin], cos: [1, 1, Math.cos], tan: [1, 1, Math.tan], asin: [1, 1, Math.asin], acos: [1, 1, Math.acos], atan: [1, 1, Math.atan],
  atan2: [2, 2, Math.atan2], exp: [1, 1, Math.exp], log: [1, 1, Math.log], sqrt: [1, 1, Math.sqrt], abs: [1, 1, Math.abs],
  min: spread((a, b) => (a < b ? a : b)), max: spread((a, b) => (a > b ? a : b)), pow: [2, 2, Math.pow],
  sign: [1, 1, Math.sign], step: [1, 1, (x) => (x >= 0 ? 1 : 0)], if: [3, 3, (c, a, b) => (c !== 0 ? a : b)], floor: [1, 1, Math.floor],
  mod: [2, 2, (a, b) => a - b * Math.floor(a / b)],
};
export const functionNames = [...Object.keys(functions), 'random'];

// The value of a formula of parameters, given by a function of their names; null where it needs something that only the engine knows.
// Errors are the engine's to tell: this is what is shown beside a formula.
export function evaluate(text, valueOf) {
  const list = tokens(text).filter((t) => t.kind !== 'blank');
  let i = 0;
  const stop = () => { throw new SyntaxError('no value'); };
  const accept = (...words) => (list[i]?.kind === 'operator' && words.includes(list[i].text) ? list[i++].text : null);
  const primary = () => {
    const t = list[i++];
    if (t?.kind === 'number') return Number(t.text);
    if (t?.kind === 'operator' && t.text === '(') {
      const x = compare();
      return accept(')') ? x : stop();
    }
    if (t?.kind !== 'word') return stop();
    if (!accept('(')) {
      if (t.text === 'pi') return Math.PI;
      const x = valueOf(t.text);
      return typeof x === 'number' && !(t.text in functions) ? x : stop();
    }
    const f = Object.hasOwn(functions, t.text) ? functions[t.text] : stop(), values = [];
    do values.push(compare()); while (accept(','));
    if (!accept(')') || values.length < f[0] || (f[1] && values.length > f[1])) stop();
    return f[2](...values);
  };
  const power = () => {
    const x = primary();
    return accept('^') ? x ** unary() : x;
  };
  const unary = () => {
    const sign = accept('-', '+');
    return sign ? (sign === '-' ? -unary() : unary()) : power();
  };
  const product = () => {
    let x = unary();
    for (let o; (o = accept('*', '/'));) x = o === '*' ? x * unary() : x / unary();
    return x;
  };
  const sum = () => {
    let x = product();
    for (let o; (o = accept('+', '-'));) x = o === '+' ? x + product() : x - product();
    return x;
  };
  const compare = () => {
    const x = sum(), o = accept('<', '<=', '>', '>=', '==', '!=');
    if (!o) return x;
    const y = sum();
    return Number({ '<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y, '==': x === y, '!=': x !== y }[o]);
  };
  try {
    const x = compare();
    return i === list.length && Number.isFinite(x) ? x : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

// Values of the parameters of a model, in their order: [{name, text}] to a map. Those of a formula that has no value are left out.
export function parameterValues(list) {
  const known = new Map();
  for (const { name, text } of list) {
    const x = evaluate(text, (word) => known.get(word));
    if (x !== null) known.set(name, x);
  }
  return known;
}

// ---- changes ----------------------------------------------------------------------------------------------------------
// The text with other names: swap(name) is one or null; kind: word (parameters, states, motions, tables), joint, sensor or another that columns
// have in their names, which inColumn(text) changes.
export function renameIn(text, kind, swap, inColumn = (column) => column) {
  let out = '', at = 0;
  for (const t of tokens(text)) {
    let word = t.kind === kind ? swap(t.text) : null;
    if (t.kind === 'column') word = inColumn(t.text);
    else if (kind === 'word' && t.kind !== 'word' && t.text.includes('{')) word = t.text.replace(/\{[^}]*\}/g, (formula) => renameIn(formula, kind, swap));
    if (word === null) continue;
    out += text.slice(at, t.start) + word;
    at = t.end;
  }
  return out + text.slice(at);
}

// A number as a person would write it: no more digits than `decimals`.
export function numberText(x, decimals = 6) {
  if (x === 0) return '0';
  const places = Math.min(100, Math.max(0, decimals));
  let text = x.toFixed(places);
  if (Math.abs(x) < 1e-3 && decimals >= 6 && Number(text) === 0) text = String(Number(x.toPrecision(3)));
  if (text.includes('.') && !text.includes('e')) text = text.replace(/0+$/, '').replace(/\.$/, '');
  return Number(text) === 0 ? '0' : text;
}

// Number of decimals that a step needs: 0.05 has 2.
export function decimalsOf(step) {
  const text = Number(step.toPrecision(12)).toString(), e = text.indexOf('e-');
  if (e >= 0) return Number(text.slice(e + 2)) + (text.slice(0, e).split('.')[1] ?? '').length;
  return (text.split('.')[1] ?? '').length;
}

// A value that becomes x: a constant is replaced, a formula of parameters gets an offset, `l1` becomes `l1 + 0.02`, and that `l1 + 0.03`.
// delta: by how much it grows. valueOf: of parameters.
export function movedText(text, x, decimals, valueOf) {
  const list = tokens(text), old = evaluate(text, valueOf);
  if (old === null) return null;
  if (list.every((t) => t.kind !== 'word' || t.text === 'pi')) return numberText(x, decimals);
  let base = text, offset = 0, depth = 0, last = -1, loose = false;
  list.forEach((t, i) => {
    if (t.text === '(' ) depth++;
    if (t.text === ')') depth--;
    const before = list.slice(0, i).findLast((y) => y.kind !== 'blank');
    if (depth === 0 && (t.text === '+' || t.text === '-') && before && (before.kind !== 'operator' || before.text === ')')) last = i;
    if (depth === 0 && ['<', '<=', '>', '>=', '==', '!='].includes(t.text)) loose = true;
  });
  if (last >= 0 && !loose && isNumber(text.slice(list[last].end))) {
    offset = Number(text.slice(list[last].end)) * (list[last].text === '-' ? -1 : 1);
    base = text.slice(0, list[last].start).trimEnd();
  } else if (loose) base = `(${text})`;
  const sum = numberText(offset + x - old, decimals);
  if (sum === '0') return base;
  return sum.startsWith('-') ? `${base} - ${sum.slice(1)}` : `${base} + ${sum}`;
}

// A list with other values at some places: changes is [[index, text], ...]. Missing values are those of `fill`.
export function changedList(text, changes, fill) {
  const items = splitList(text ?? ''), values = fill.map((x, i) => items[i]?.text ?? x);
  for (const [i, value] of changes) values[i] = value;
  if (items.length !== fill.length) return values.join(' ');
  let out = '', at = 0;
  items.forEach((item, i) => { out += text.slice(at, item.start) + values[i]; at = item.end; });
  return out + text.slice(at);
}
