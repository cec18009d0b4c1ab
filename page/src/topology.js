// The topology: bodies in layers from the ground up, each above its joint, loop closures dashed, contacts dotted. Subtrees stand side by side, as close as
// their outlines let them: E. M. Reingold, J. S. Tilford, Tidier drawings of trees, IEEE Transactions on Software Engineering 7 (1981).
import { clear, el, svg } from './dom.js';
import { isSelected, on, set, state } from './state.js';

const NODE = 24, CHIP = 16;                  // heights of bodies and of other names
const LEAST_HIGH = 54, MOST_HIGH = 96, TALL = 620;  // of a layer; models with many layers have low ones
const LEAST_SCALE = 0.75, MOST_SCALE = 1.3;  // names of 12 px have 9 to 16
const MOST_CONTACTS = 40;                    // pairs of bodies

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const nodeWidth = (text) => Math.max(48, 7.2 * text.length + 18);
const chipWidth = (text) => 6.4 * text.length + 14;

// Places of the bodies: a parent is above the middle of its children. An outline has, for each layer of a subtree, where it begins and ends; the deepest
// layer comes first, so that a parent's is one more at the end. offset: of a body from its parent.
export function layout(model, widths) {
  const n = model.bodies.length, children = model.bodies.map(() => []), depth = new Int32Array(n), offset = new Float64Array(n), outlines = new Array(n);
  for (let i = 1; i < n; i++) { children[model.bodies[i].parent].push(i); depth[i] = depth[model.bodies[i].parent] + 1; }
  for (let i = n - 1; i >= 0; i--) {  // children come behind their parents
    let all = null;
    for (const child of children[i]) {
      const own = outlines[child];
      let apart = 0;
      if (all) {
        const common = Math.min(all.low.length, own.low.length), a = all.low.length, b = own.low.length;
        apart = -Infinity;
        for (let k = 1; k <= common; k++) apart = Math.max(apart, all.high[a - k] + all.at - own.low[b - k]);
        own.at = apart;
        if (a < b) for (let k = 1; k <= common; k++) own.low[b - k] = all.low[a - k] + all.at - apart;
        else for (let k = 1; k <= common; k++) all.high[a - k] = own.high[b - k] + apart - all.at;
      } else own.at = 0;
      if (!all || all.low.length < own.low.length) all = own;
      offset[child] = apart;
      outlines[child] = null;
    }
    const middle = children[i].length > 0 ? (offset[children[i][0]] + offset[children[i].at(-1)]) / 2 : 0;
    for (const child of children[i]) offset[child] -= middle;
    all ??= { low: [], high: [], at: 0 };
    all.at -= middle;  // values of an outline are so far from the body's own place
    all.low.push(-widths[i] / 2 - all.at);
    all.high.push(widths[i] / 2 - all.at);
    outlines[i] = all;
  }
  const x = new Float64Array(n);
  for (let i = 1; i < n; i++) x[i] = x[model.bodies[i].parent] + offset[i];
  const { low, high, at } = outlines[0];
  return { x, depth, levels: low.length, left: Math.min(...low) + at, right: Math.max(...high) + at };
}

const crosses = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
const around = ([x, y], w, h) => [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
const along = (p, t) => [0, 1].map((k) => (1 - t) ** 3 * p[0][k] + 3 * t * (1 - t) ** 2 * p[1][k] + 3 * t * t * (1 - t) * p[2][k] + t ** 3 * p[3][k]);

// Places of a name beside its own, in half widths and in heights: the nearest first.
const BESIDE = [];
for (let i = -2; i <= 2; i++) for (let j = -5; j <= 5; j++) BESIDE.push([i, j]);
BESIDE.sort((a, b) => a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2);

// The nth line between two bodies: above both, or from layer to layer; each of several a little further out.
function bend(a, b, nth) {
  if (Math.abs(a[1] - b[1]) < 1) { const top = a[1] - 48 - 28 * nth; return [a, [a[0], top], [b[0], top], b]; }
  const middle = (a[1] + b[1]) / 2, side = (Math.abs(a[0] - b[0]) < 48 ? 80 : 0) + (nth % 2 === 0 ? 1 : -1) * 44 * Math.ceil(nth / 2);
  return [a, [a[0] + side, middle], [b[0] + side, middle], b];
}

export class Topology {
  constructor(run) {
    this.run = run;
    this.element = svg('svg', { class: 'topology', role: 'group', 'aria-label': 'Topology of the model' });
    this.root = svg('g');
    this.element.append(this.root);
    this.caption = el('div', { class: 'corner' }, el('span', {}, 'solid: joints of the tree · dashed: loop closures · dotted: contacts · click selects, wheel zooms, drag moves'));
    this.drawn = false;
    this.own = false;  // somebody has zoomed or moved it
    on('mode', () => { if (state.mode === 'topology') this.draw(); });
    on('selection', () => this.mark());
    new ResizeObserver(() => this.fit()).observe(this.element);
    this.element.addEventListener('wheel', (event) => { event.preventDefault(); this.zoom(event); }, { passive: false });
    this.element.addEventListener('pointerdown', (event) => this.drag(event));
  }

  draw() {
    if (this.drawn) return;
    this.drawn = true;
    const { model } = this.run, edges = svg('g'), names = svg('g'), nodes = svg('g'), joints = model.bodies.map((body) => model.joints[body.joint]);
    const called = model.bodies.map((body) => cut(body.name, 18)), held = joints.map((joint, i) => (i === 0 ? '' : cut(joint.implied || joint.name === model.bodies[i].name ? joint.type : joint.name, 16)));
    const room = Math.max(10, Math.min(70, 400 / model.bodies.length));  // small models have room for names between the bodies
    const { x, depth, levels } = layout(model, called.map((text, i) => Math.max(nodeWidth(text), i > 0 ? chipWidth(held[i]) : 0) + room));
    const high = Math.max(LEAST_HIGH, Math.min(MOST_HIGH, TALL / levels)), y = Float64Array.from(depth, (d) => -d * high);
    this.things = [];
    this.taken = [];  // rectangles of names
    model.bodies.forEach((body, i) => {
      nodes.append(this.name(i === 0 ? 'node ground' : 'node', called[i], body.name, [x[i], y[i]], nodeWidth(called[i]), NODE, { kind: 'body', index: i }));
      if (i === 0) return;
      const p = body.parent, foot = y[i] + NODE / 2 + CHIP + 1, middle = (foot + y[p] - NODE / 2) / 2;
      edges.append(svg('path', { d: `M${x[p]} ${y[p]}V${y[p] - NODE / 2}C${x[p]} ${middle} ${x[i]} ${middle} ${x[i]} ${foot}V${y[i]}` }));
      names.append(this.name('joint', held[i], `${joints[i].name} · ${joints[i].type}`, [x[i], y[i] + (NODE + CHIP) / 2 + 1], chipWidth(held[i]), CHIP, { kind: 'body', index: i }));
    });
    const count = new Map();  // of lines between two bodies
    for (const { a, b, kind, index, text, title } of this.links()) {
      const pair = `${Math.min(a, b)} ${Math.max(a, b)}`, nth = count.get(pair) ?? 0, curve = bend([x[a], y[a]], [x[b], y[b]], nth), w = chipWidth(text);
      count.set(pair, nth + 1);
      const path = svg('path', { class: kind, d: `M${curve[0]}C${curve.slice(1).join(' ')}` });
      edges.append(path);
      this.things.push([path, { kind, index }]);
      names.append(this.name(`joint ${kind}`, text, title, this.free(curve, w), w, CHIP, { kind, index }));
    }
    clear(this.root).append(edges, names, nodes);
    const end = (k, sign) => this.taken.reduce((most, r) => Math.max(most, sign * r[k]), -Infinity);
    const [left, top, right, bottom] = [-end(0, -1) - 16, -end(1, -1) - 16, end(2, 1) + 16, end(3, 1) + 40];  // the caption is below
    this.whole = [left, top, right - left, bottom - top];
    this.fit();
    this.mark();
  }

  // Closures, and contacts between moving bodies: one line for all of two bodies.
  links() {
    const { model } = this.run, pairs = new Map();
    model.contacts.forEach((c, index) => {
      if (!(c.a >= 0 && c.b >= 0)) return;
      const a = model.shapes[c.a].body, b = model.shapes[c.b].body, pair = `${Math.min(a, b)} ${Math.max(a, b)}`;
      if (a === 0 || b === 0) return;
      if (!pairs.has(pair)) pairs.set(pair, { a, b, kind: 'contact', index, all: [] });
      pairs.get(pair).all.push(c.name);
    });
    const contacts = pairs.size > MOST_CONTACTS ? [] : [...pairs.values()].map((p) => ({ ...p, text: cut(p.all[0], 12) + (p.all.length > 1 ? ` +${p.all.length - 1}` : ''), title: p.all.join('\n') }));
    return [...model.closures.map((c, index) => ({ a: c.a.body, b: c.b.body, kind: 'closure', index, text: cut(c.name, 16), title: `${c.name} · ${c.type}` })), ...contacts];
  }

  // A name in its frame; the title has all of it.
  name(kind, text, title, at, width, height, selection) {
    const words = svg('text'), whole = svg('title');
    words.textContent = text;
    whole.textContent = title;
    const g = svg('g', { class: kind, transform: `translate(${at[0]} ${at[1]})` }, svg('rect', { x: -width / 2, y: -height / 2, width, height, rx: 8 }), words, whole);
    this.things.push([g, selection, at]);
    g.addEventListener('click', () => { if (!this.moved) set({ selection }); });
    this.taken.push(around(at, width, height));
    return g;
  }

  // Where a name covers no other one: on its curve, or near it.
  free(curve, width) {
    let best = null, least = Infinity;
    for (const [right, down] of BESIDE) {
      for (let i = 0; i < 17; i++) {
        const [x, y] = along(curve, 0.5 + (i % 2 === 0 ? 0.025 : -0.025) * (i + i % 2)), at = [x + right * (width / 2 + 6), y + down * (CHIP + 3)];
        const own = around(at, width + 4, CHIP + 4), met = this.taken.filter((r) => crosses(r, own)).length;
        if (met < least) { least = met; best = at; }
        if (met === 0) return best;
      }
    }
    return best;
  }

  mark() {
    if (!this.drawn) return;
    let at = null;
    for (const [node, s, place] of this.things) {
      const chosen = isSelected(s.kind, s.index);
      node.classList.toggle('selected', chosen);
      if (chosen && place) at ??= place;
    }
    const [x, y, w, h] = this.box ?? [0, 0, 0, 0];
    if (!at || (at[0] > x && at[0] < x + w && at[1] > y && at[1] < y + h)) return;
    this.box = [at[0] - w / 2, at[1] - h / 2, w, h];  // chosen in the tree: it comes into sight
    this.frame();
  }

  // All of it where names can be read then, else what is near the ground.
  fit() {
    const { width, height } = this.element.getBoundingClientRect();
    if (!this.drawn || this.own || !(width * height > 0)) return;
    const [x, y, w, h] = this.whole, scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, width / w, height / h)), wide = width / scale, high = height / scale;
    this.box = [wide < w ? -wide / 2 : x + (w - wide) / 2, high < h ? y + h - high : y + (h - high) / 2, wide, high];
    this.frame();
  }

  frame() { this.element.setAttribute('viewBox', this.box.join(' ')); }

  zoom(event) {
    const f = Math.exp(0.0015 * event.deltaY), r = this.element.getBoundingClientRect(), [x, y, w, h] = this.box;
    const s = Math.max(w / r.width, h / r.height);
    const px = x + w / 2 + (event.clientX - r.left - r.width / 2) * s, py = y + h / 2 + (event.clientY - r.top - r.height / 2) * s;
    this.own = true;
    this.box = [px + (x - px) * f, py + (y - py) * f, w * f, h * f];
    this.frame();
  }

  drag(event) {
    const from = [event.clientX, event.clientY], box = [...this.box], r = this.element.getBoundingClientRect(), s = Math.max(box[2] / r.width, box[3] / r.height);
    this.moved = false;
    const move = (e) => {
      if (Math.hypot(e.clientX - from[0], e.clientY - from[1]) > 3) this.moved = this.own = true;
      if (!this.moved) return;
      this.box = [box[0] - (e.clientX - from[0]) * s, box[1] - (e.clientY - from[1]) * s, box[2], box[3]];
      this.frame();
    };
    const up = () => { removeEventListener('pointermove', move); removeEventListener('pointerup', up); };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
  }
}
