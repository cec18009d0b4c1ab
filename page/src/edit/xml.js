// XML with the place of everything: each element, attribute and value knows its span of the source, so that an edit touches nothing else.
// W3C, Extensible Markup Language (XML) 1.0, without document types and entities of its own, which model files do not have.
// parse(text) gives {root, tokens}: the tokens follow each other without gaps from the first character to the last.
export class XmlError extends Error {
  constructor(at, sentence) {
    super(sentence);
    this.at = at;  // offset in the text
  }
}

const SPACE = /[ \t\r\n]*/y, NAME = /[A-Za-z_:\u00c0-\uffff][-A-Za-z0-9_:.\u00b7\u00c0-\uffff]*/y;
const entities = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decode(raw, at) {
  return raw.replace(/\r\n?/g, '\n').replace(/[\t\n]/g, ' ').replace(/&([^;&]*);?/g, (all, word) => {
    let code = NaN;
    if (/^#x[0-9a-fA-F]+$/.test(word)) code = parseInt(word.slice(2), 16);
    else if (/^#[0-9]+$/.test(word)) code = Number(word.slice(1));
    if (all.endsWith(';') && code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000)) return String.fromCodePoint(code);
    if (!all.endsWith(';') || !(word in entities)) throw new XmlError(at, `expected an entity such as &lt; or &amp;, found ${all.slice(0, 20)}`);
    return entities[word];
  });
}

// As it stands between quotes. A line break would be read as a blank, so it has its number.
export function encode(value, quote = '"') {
  const q = quote === '"' ? '&quot;' : '&apos;';
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replaceAll(quote, q).replace(/[\t\r\n]/g, (c) => `&#${c.charCodeAt(0)};`);
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
    this.tokens = [];
    if (this.at) this.tokens.push({ kind: 'text', start: 0, end: 1 });
  }

  fail(sentence, at = this.at) { throw new XmlError(at, sentence); }

  skip(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return '';
    this.at += found[0].length;
    return found[0];
  }

  token(kind, start) { this.tokens.push({ kind, start, end: this.at }); }

  until(begin, end, kind) {
    const start = this.at, i = this.text.indexOf(end, start + begin.length);
    if (i < 0) this.fail(`expected ${end} at the end of this ${kind}`, start);
    this.at = i + end.length;
    this.token(kind, start);
  }

  attribute() {
    const { text } = this, start = this.at, name = this.skip(NAME);
    if (!name) this.fail(`expected an attribute or >, found ${this.found()}`);
    const nameEnd = this.at;
    this.skip(SPACE);
    if (text[this.at] !== '=') this.fail(`expected = after ${name}, found ${this.found()}`);
    this.at++;
    this.skip(SPACE);
    const quote = text[this.at];
    if (quote !== '"' && quote !== "'") this.fail(`expected the value of ${name} in quotes, found ${this.found()}`);
    const from = this.at + 1, to = text.indexOf(quote, from);
    if (to < 0) this.fail(`expected ${quote} at the end of the value of ${name}`);
    const raw = text.slice(from, to), bad = raw.indexOf('<');
    if (bad >= 0) this.fail(`expected &lt; in the value of ${name}, found <`, from + bad);
    this.at = to + 1;
    return { name, start, end: this.at, nameEnd, from, to, quote, value: decode(raw, from) };
  }

  found() { return this.at < this.text.length ? `'${this.text[this.at]}'` : 'the end of the text'; }

  // < is at this.at: a start tag, with its attributes.
  element(parent) {
    const { text } = this, start = this.at++, name = this.skip(NAME);
    if (!name) this.fail(`expected the name of an element after <, found ${this.found()}`);
    const node = { name, start, end: 0, nameEnd: this.at, attributes: [], children: [], parent, tagEnd: 0, closeStart: 0, empty: false };
    for (;;) {
      const blank = this.skip(SPACE);
      if (this.at >= text.length) this.fail(`expected > at the end of <${name}>`, start);
      if (text[this.at] === '>' || text.startsWith('/>', this.at)) break;
      if (!blank) this.fail(`expected a blank before ${this.found()}`);
      const x = this.attribute();
      if (node.attributes.some((y) => y.name === x.name)) this.fail(`the attribute ${x.name} is given twice`, x.start);
      node.attributes.push(x);
    }
    node.empty = text[this.at] === '/';
    this.at += node.empty ? 2 : 1;
    node.tagEnd = node.end = this.at;
    node.closeStart = node.empty ? this.at : 0;
    this.token(node.empty ? 'empty' : 'open', start);
    return node;
  }

  close(open) {
    const start = this.at;
    this.at += 2;
    const name = this.skip(NAME);
    if (!open) this.fail(`</${name}> closes nothing`, start);
    if (name !== open.name) this.fail(`expected </${open.name}>, found </${name}>`, start);
    this.skip(SPACE);
    if (this.text[this.at] !== '>') this.fail(`expected > at the end of </${name}`);
    this.at++;
    open.closeStart = start;
    open.end = this.at;
    this.token('close', start);
  }

  document() {
    const { text } = this;
    let open = null, root = null;
    while (this.at < text.length) {
      const start = this.at;
      if (text[start] !== '<') {
        const next = text.indexOf('<', start);
        this.at = next < 0 ? text.length : next;
        if (!open && text.slice(start, this.at).trim()) this.fail(root ? 'text after the end of the model' : 'text before the first element', start);
        this.token('text', start);
      } else if (text.startsWith('<!--', start)) this.until('<!--', '-->', 'comment');
      else if (text.startsWith('<![CDATA[', start)) this.until('<![CDATA[', ']]>', 'cdata');
      else if (text.startsWith('<?', start)) this.until('<?', '?>', 'instruction');
      else if (text.startsWith('<!', start)) this.fail('document types are refused');
      else if (text.startsWith('</', start)) {
        this.close(open);
        open = open.parent;
      } else {
        if (!open && root) this.fail('a second root element');
        const node = this.element(open);
        if (open) open.children.push(node); else root = node;
        if (!node.empty) open = node;
      }
    }
    if (open) this.fail(`expected </${open.name}> before the end of the text`, open.start);
    if (!root) this.fail('expected an element such as <sarrus version="1">', 0);
    return { root, tokens: this.tokens };
  }
}

export function parse(text) { return new Reader(text).document(); }

export function* walk(node) {
  yield node;
  for (const child of node.children) yield* walk(child);
}

export function attribute(node, name) { return node.attributes.find((x) => x.name === name); }
export function value(node, name) { return attribute(node, name)?.value; }

// Line and column, from 1, of an offset; columns count characters.
export function placeOf(text, at) {
  const before = text.slice(0, at), line = (before.match(/\n/g) ?? []).length + 1;
  return { line, column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1 };
}

// The offset of a line and column.
export function offsetOf(text, line, column) {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  for (let i = 1; i < column && at < text.length && text[at] !== '\n'; i++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

// The element, and the attribute where there is one, at an offset.
export function elementAt(root, at) {
  if (at < root.start || at >= root.end) return null;
  let node = root;
  for (;;) {
    const inner = node.children.find((x) => at >= x.start && at < x.end);
    if (!inner) break;
    node = inner;
  }
  return { node, attribute: node.attributes.find((x) => at >= x.start && at < x.end) ?? null };
}
