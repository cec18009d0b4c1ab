// Elements. Texts, which may come from a model, go in by textContent alone.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
    else if (name === 'class') node.className = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

const SVG = 'http://www.w3.org/2000/svg';
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(name, value);
  for (const child of children) node.append(child);
  return node;
}

export function clear(node) { node.replaceChildren(); return node; }

// Numbers for people: 4 significant digits, a true minus sign, powers of ten where they must be.
export function number(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-4 ? x.toExponential(Math.max(0, digits - 2)) : String(+x.toPrecision(digits));
  return text.replace('e+', 'e').replaceAll('-', '−');
}

// Of an axis: as short as it goes.
export function tick(x) { return number(x, 5).replace(/\.?0+(?=e)/, ''); }

export function fixed(x, decimals) {
  if (!Number.isFinite(x)) return number(x);
  const text = x.toFixed(decimals);
  return (Number(text) === 0 ? (0).toFixed(decimals) : text).replace('-', '−');
}

// Scrolls a list to one of its rows, and nothing else: the page of a small window stays where it is.
export function reveal(list, row) {
  const a = list.getBoundingClientRect(), b = row.getBoundingClientRect();
  if (b.top < a.top) list.scrollTop -= a.top - b.top;
  else if (b.bottom > a.bottom) list.scrollTop += b.bottom - a.bottom;
}
