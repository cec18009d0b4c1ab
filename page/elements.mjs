// The elements of model files with their attributes, from the tables of docs/using/format.md, which tools/format-reference writes from the
// lists of the reader (include/sarrus/fields.h) and tests/check_format_page.sh compares with them: so they are written once.
import { readFile } from 'node:fs/promises';

const plain = (cell) => cell.trim().replaceAll('\\|', '|');
const words = (cell) => [...cell.matchAll(/`([^`]*)`/g)].map((found) => found[1]);

// "number x 3 or 6": the kind and the counts that are allowed; most 0: any.
function readValue(cell) {
  const options = words(cell);
  if (options.length > 0) return { kind: 'word', options, counts: [1] };
  const [, kind, rest] = /^(\w+)(?: x (.*))?$/.exec(cell);
  if (!rest) return { kind, counts: [1] };
  const numbers = rest.match(/\d+/g).map(Number);
  if (rest.endsWith('or more')) return { kind, counts: [numbers[0]], more: true };
  if (/ to /.test(rest)) return { kind, counts: Array.from({ length: numbers[1] - numbers[0] + 1 }, (_, i) => numbers[0] + i) };
  return { kind, counts: numbers };
}

export async function readElements(path) {
  const text = await readFile(path, 'utf8'), out = {};
  const body = text.slice(text.indexOf('<!-- tables:'), text.indexOf('<!-- end of tables -->'));
  for (const section of body.split(/^### /m).slice(1)) {
    const lines = section.split('\n'), name = /^`<([\w-]+)>`/.exec(lines[0])[1], meaning = lines.find((line, i) => i > 0 && line.trim());
    const [doc, where] = meaning.split(/ Allowed in | *$/);
    const attributes = lines.filter((line) => line.startsWith('| `')).map((line) => {
      const [, attribute, value, fallback, unit, about] = line.split(/(?<!\\)\|/).map(plain);
      const x = { name: words(attribute)[0], ...readValue(value), doc: about };
      if (fallback === 'required') x.required = true; else if (fallback) x.default = words(fallback)[0];
      if (unit) x.unit = unit;
      return x;
    });
    out[name] = { doc: doc.replace(/\.$/, ''), parents: words((where ?? '').replaceAll('<', '').replaceAll('>', '')), attributes };
  }
  return out;
}
