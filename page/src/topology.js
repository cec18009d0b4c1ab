// The topology: bodies in layers from the ground up, joints between them, closures dashed, contacts dotted. Subtrees stand side by side.
import { clear, el, svg } from './dom.js';
import { isSelected, on, set, state } from './state.js';

const WIDE = 132, HIGH = 112, NODE = 34;

function widthOf(text) { return Math.min(150, Math.max(56, 7.2 * text.length + 24)); }
function cut(text, most) { return text.length > most ? `${text.slice(0, most - 1)}…` : text; }

// Places of the bodies: leaves at equal distances, parents above the middle of their children.
export function layout(model) {
  const children = model.bodies.map(() => []), x = new Float64Array(model.bodies.length), depth = new Int32Array(model.bodies.length);
  model.bodies.forEach((body, i) => { if (i > 0) children[body.parent].push(i); });
  const widths = model.bodies.map((body) => Math.max(WIDE, widthOf(cut(body.name, 18)) + 28));
  let next = 0;
  const place = (i, level) => {
    depth[i] = level;
    if (children[i].length === 0) { x[i] = next + widths[i] / 2; next += widths[i]; return; }
    for (const child of children[i]) place(child, level + 1);
    x[i] = (x[children[i][0]] + x[children[i].at(-1)]) / 2;
  };
  place(0, 0);
  return { x, y: Float64Array.from(depth, (d) => -d * HIGH), width: next, levels: Math.max(...depth) + 1 };
}

export class Topology {
  constructor(run) {
    this.run = run;
    this.element = svg('svg', { class: 'topology', role: 'group', 'aria-label': 'Topology of the model' });
    this.root = svg('g');
    this.element.append(this.root);
    this.caption = el('div', { class: 'corner' }, el('span', {}, 'solid: joints of the tree · dashed: loop closures · dotted: contacts · click selects, wheel zooms'));
    this.drawn = false;
    on('mode', () => { if (state.mode === 'topology') this.draw(); });
    on('selection', () => this.mark());
    this.element.addEventListener('wheel', (event) => { event.preventDefault(); this.zoom(event); }, { passive: false });
    this.element.addEventListener('pointerdown', (event) => this.drag(event));
  }

  draw() {
    if (this.drawn) return;
    this.drawn = true;
    const { model } = this.run, { x, y, width, levels } = layout(model);
    const edges = svg('g'), labels = svg('g'), nodes = svg('g');
    this.things = [];
    const label = (text, at, kind, selection) => {
      const w = widthOf(text) * 0.86, g = svg('g', { class: `joint ${kind}`, transform: `translate(${at[0]} ${at[1]})` },
        svg('rect', { x: -w / 2, y: -10, width: w, height: 20, rx: 10 }));
      const t = svg('text');
      t.textContent = text;
      g.append(t);
      this.click(g, selection);
      labels.append(g);
    };
    model.bodies.forEach((body, i) => {
      if (i === 0) return;
      const p = body.parent, joint = model.joints[body.joint], middle = (y[i] + y[p]) / 2;
      edges.append(svg('path', { d: `M${x[p]} ${y[p]}C${x[p]} ${middle} ${x[i]} ${middle} ${x[i]} ${y[i]}` }));
      label(cut(joint.implied ? 'free' : joint.name, 16), [(x[i] * 0.65 + x[p] * 0.35), y[i] + (y[p] - y[i]) * 0.42], '', { kind: 'body', index: i });
    });
    const bend = (a, b, kind, text, selection) => {
      const level = y[a] === y[b], reach = level ? y[a] - 62 : (y[a] + y[b]) / 2, side = level ? 0 : (x[a] === x[b] ? 90 : 0);
      edges.append(svg('path', { class: kind, d: `M${x[a]} ${y[a]}C${x[a] + side} ${reach} ${x[b] + side} ${reach} ${x[b]} ${y[b]}` }));
      label(cut(text, 16), [(x[a] + x[b]) / 2 + 0.75 * side, level ? y[a] - 46 : (y[a] + y[b]) / 2 - 14], kind, selection);
    };
    model.closures.forEach((c, index) => bend(c.a.body, c.b.body, 'closure', c.name, { kind: 'closure', index }));
    if (model.contacts.length <= 40) {
      model.contacts.forEach((c, index) => {
        if (!(c.a >= 0 && c.b >= 0)) return;
        const a = model.shapes[c.a].body, b = model.shapes[c.b].body;
        if (a !== 0 && b !== 0) bend(a, b, 'contact', c.name, { kind: 'contact', index });
      });
    }
    model.bodies.forEach((body, i) => {
      const text = cut(body.name, 18), w = Math.max(96, widthOf(text)), g = svg('g', { class: i === 0 ? 'node ground' : 'node', transform: `translate(${x[i]} ${y[i]})` },
        svg('rect', { x: -w / 2, y: -NODE / 2, width: w, height: NODE, rx: 8 }));
      const t = svg('text');
      t.textContent = text;
      g.append(t);
      this.click(g, { kind: 'body', index: i });
      nodes.append(g);
    });
    clear(this.root).append(edges, labels, nodes);
    this.box = [-40, -(levels - 1) * HIGH - 60, width + 80, (levels - 1) * HIGH + 120];
    const least = 700;  // small models are not blown up
    if (this.box[2] < least) { this.box[0] -= (least - this.box[2]) / 2; this.box[2] = least; }
    this.frame();
    this.mark();
  }

  click(g, selection) {
    this.things.push([g, selection]);
    g.addEventListener('click', () => { if (!this.moved) set({ selection }); });
  }

  mark() {
    if (!this.drawn) return;
    for (const [g, s] of this.things) g.classList.toggle('selected', isSelected(s.kind, s.index));
  }

  frame() { this.element.setAttribute('viewBox', this.box.join(' ')); }

  zoom(event) {
    const f = Math.exp(0.0015 * event.deltaY), r = this.element.getBoundingClientRect(), [x, y, w, h] = this.box;
    const s = Math.max(w / r.width, h / r.height);
    const px = x + w / 2 + (event.clientX - r.left - r.width / 2) * s, py = y + h / 2 + (event.clientY - r.top - r.height / 2) * s;
    this.box = [px + (x - px) * f, py + (y - py) * f, w * f, h * f];
    this.frame();
  }

  drag(event) {
    const from = [event.clientX, event.clientY], box = [...this.box], r = this.element.getBoundingClientRect(), s = Math.max(box[2] / r.width, box[3] / r.height);
    this.moved = false;
    const move = (e) => {
      if (Math.hypot(e.clientX - from[0], e.clientY - from[1]) > 3) this.moved = true;
      if (!this.moved) return;
      this.box = [box[0] - (e.clientX - from[0]) * s, box[1] - (e.clientY - from[1]) * s, box[2], box[3]];
      this.frame();
    };
    const up = () => { removeEventListener('pointermove', move); removeEventListener('pointerup', up); };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
  }
}
