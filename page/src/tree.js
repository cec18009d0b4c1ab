// The model as a tree: bodies with their joints and coordinates, then closures, springs, contacts and sensors. Only the rows in sight are
// elements, so that thousands cost nothing.
import { clear, el, fixed, number, svg } from './dom.js';
import { icon } from './icons.js';
import { named, pairsOf } from './phase.js';
import { isSelected, on, set, state } from './state.js';

const MOST_CONTACTS = 8;

// ---- items ------------------------------------------------------------------------------------------------------------
function makeItems(run) {
  const { model } = run, children = model.bodies.map(() => []), items = [];
  model.bodies.forEach((body, i) => { if (i > 0) children[body.parent].push(i); });
  const add = (item) => { items.push({ open: true, ...item, id: items.length }); return items.length - 1; };
  const walk = (i, depth, parent) => {
    const body = model.bodies[i], joint = model.joints[body.joint];
    const id = add({ kind: 'body', index: i, depth, parent, name: body.name, glyph: i === 0 ? 'ground' : joint?.type ?? 'free',
      more: i === 0 ? '' : joint.implied ? 'free' : joint.name === body.name ? joint.type : joint.name,
      value: i > 0 ? coordinate(run, joint) : null, folds: children[i].length > 0 });
    for (const child of children[i]) walk(child, depth + 1, id);
  };
  const rooted = children[0].length === 1 || model.bodies.length < 40;
  if (rooted) walk(0, 0, -1);
  else {
    add({ kind: 'body', index: 0, depth: 0, parent: -1, name: 'ground', glyph: 'ground', more: '', folds: false });
    for (const child of children[0]) walk(child, 0, -1);
  }
  const group = (name, more, list) => {
    if (list.length === 0) return;
    let parent = -1, depth = 0;
    if (list.length > 3) {
      parent = add({ kind: 'group', depth: 0, parent: -1, name, glyph: list[0].glyph, more, folds: true, open: list.length <= MOST_CONTACTS });
      depth = 1;
    }
    for (const item of list) add({ ...item, depth, parent });
  };
  const body = (place) => model.bodies[place.body].name;
  group('Loop closures', `${model.closures.length}`, model.closures.map((c, index) => ({ kind: 'closure', index, name: c.name, glyph: 'closure',
    more: `${c.type} · ${body(c.a)}, ${body(c.b)}` })));
  group('Forces', `${model.forces.length}`, model.forces.map((f, index) => ({ kind: 'force', index, name: f.name, glyph: 'spring',
    more: f.b ? `${body(f.a)}, ${body(f.b)}` : body(f.a), value: column(run, `force(${f.name}).f`) })));
  group('Contacts', `${model.contacts.length}`, model.contacts.map((c, index) => ({ kind: 'contact', index, name: c.name, glyph: 'contact',
    more: c.members ? `${c.members.length} shapes` : '', value: column(run, `contact(${c.name}).n`), force: true })));
  group('Sensors', `${model.sensors.length}`, model.sensors.map((s, index) => ({ kind: 'sensor', index, name: s.name, glyph: 'sensor',
    more: s.place ? body(s.place) : '', value: s.place ? null : column(run, s.name) })));
  return items;
}

function column(run, name) {
  const c = run.column(name);
  return c ? () => `${number(run.valueAt(c), 3)}${c.unit && c.unit !== '1' ? ` ${c.unit}` : ''}` : null;
}

// The coordinate of a joint with one: angles in degrees, lengths in millimetres where they are short.
export function coordinate(run, joint) {
  if (!joint || joint.q.length !== 1) return null;
  const c = run.column(`q.${joint.q[0]}`);
  if (!c) return null;
  if (c.unit === 'rad') return () => `${fixed(run.valueAt(c) * 180 / Math.PI, 1)}°`;
  return () => `${number(run.valueAt(c), 4)} ${c.unit}`;
}

const glyphs = {
  ground: ['M2 5h12M3.5 5 2 9M7.5 5 6 9M11.5 5 10 9'],
  revolute: ['M8 2.5a5.5 5.5 0 1 0 .01 0', 'M8 6.5a1.5 1.5 0 1 0 .01 0z'],
  helical: ['M8 2.5a5.5 5.5 0 1 0 .01 0', 'M5.5 8h5'],
  prismatic: ['M2 8h12M4.5 5.5 2 8l2.5 2.5M11.5 5.5 14 8l-2.5 2.5'],
  cylindrical: ['M2 8h12M8 3.5a4.5 4.5 0 1 0 .01 0'],
  universal: ['M8 2v12M2 8h12M8 6a2 2 0 1 0 .01 0'],
  ball: ['M8 2.5a5.5 5.5 0 1 0 .01 0', 'M3 8c3 2.5 7 2.5 10 0'],
  planar: ['M2 10.5 6 5h8l-4 5.5z'],
  free: ['M8 2v12M2 8h12M4 4l8 8M12 4l-8 8'],
  weld: ['M4 4l8 8M12 4l-8 8'],
  bar: ['M3.2 9.9a2 2 0 0 0 2.9 2.9l6.7-6.7a2 2 0 0 0-2.9-2.9z', 'M4.6 11.3h.01M11.3 4.6h.01'],
  closure: ['M5.5 5.5a2.5 2.5 0 1 0 .01 0', 'M10.5 5.5a2.5 2.5 0 1 0 .01 0'],
  spring: ['M1.5 8H4l1-3 2 6 2-6 2 6 1-3h2.5'],
  contact: ['M2 13h12M8 3.5a4.5 4.5 0 1 0 .01 0'],
  sensor: ['M8 5.5a2.5 2.5 0 1 0 .01 0', 'M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2'],
};

export function glyph(name, size = 14) {
  return svg('svg', { width: size, height: size, viewBox: '0 0 16 16', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5, 'stroke-linecap': 'round',
    'stroke-linejoin': 'round', 'aria-hidden': 'true' }, ...(glyphs[name] ?? glyphs.free).map((d) => svg('path', { d })));
}

// ---- tree -------------------------------------------------------------------------------------------------------------
export class Tree {
  constructor(run) {
    this.run = run;
    this.items = makeItems(run);
    this.indent = Math.min(14, 84 / Math.max(1, ...this.items.map((item) => item.depth)));  // px: names of deep trees have room
    if (this.items.length > 60) for (const item of this.items) if (item.kind === 'body' && item.depth >= 2) item.open = false;
    this.words = '';
    this.rows = [];
    this.input = el('input', { type: 'search', placeholder: 'Filter by name or type', 'aria-label': 'Filter by name or type', spellcheck: 'false' });
    this.list = el('div', { class: 'tree', role: 'tree', tabindex: 0, 'aria-label': 'Model' });
    this.spacer = el('div');
    this.list.append(this.spacer);
    const bodies = run.bodies, dof = run.model.nv;
    this.element = el('div', { class: 'grow', style: 'display:flex;flex-direction:column;min-height:0' },
      el('div', { class: 'title' }, el('h2', {}, 'Model'), el('span', { class: 'mute' }, `${bodies} ${bodies === 1 ? 'body' : 'bodies'} · ${dof} ${dof === 1 ? 'coordinate' : 'coordinates'}`)),
      el('label', { class: 'filter' }, icon('search', 14), this.input), this.list);
    this.input.addEventListener('input', () => { this.words = this.input.value.trim().toLowerCase(); this.arrange(); });
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') { this.input.value = ''; this.words = ''; this.arrange(); this.list.focus(); }
      if (event.key === 'ArrowDown' || event.key === 'Enter') { this.list.focus(); this.move(0); }
      event.stopPropagation();
    });
    this.list.addEventListener('scroll', () => this.draw());
    this.list.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => { this.reveal(); this.draw(); }).observe(this.list);
    on('selection', () => { this.reveal(); this.draw(); });
    on('hidden', () => this.draw());
    this.arrange();
  }

  get height() { return innerWidth >= 1800 ? 27 : 24; }

  // The items that are unfolded and fit the filter, with those above them.
  arrange() {
    const shown = new Set();
    if (this.words) {
      for (const item of this.items) {
        if (!`${item.name} ${item.more} ${item.glyph}`.toLowerCase().includes(this.words)) continue;
        for (let id = item.id; id >= 0; id = this.items[id].parent) shown.add(id);
      }
    }
    this.visible = [];
    for (const item of this.items) {
      let open = true;
      for (let id = item.parent; id >= 0 && open; id = this.items[id].parent) open = this.items[id].open;
      if (this.words ? shown.has(item.id) : open) this.visible.push(item);
    }
    this.draw();
  }

  draw() {
    const h = this.height, { scrollTop, clientHeight } = this.list;
    const first = Math.max(0, Math.floor(scrollTop / h) - 4), last = Math.min(this.visible.length, Math.ceil((scrollTop + (clientHeight || 600)) / h) + 4);
    this.spacer.style.height = `${h * this.visible.length}px`;
    this.rows = [];
    const nodes = [this.spacer];
    for (let i = first; i < last; i++) {
      const item = this.visible[i], row = this.row(item);
      row.style.top = `${h * i}px`;
      nodes.push(row);
    }
    this.list.replaceChildren(...nodes);
    const chosen = this.visible[this.find()];  // what a reader of screens speaks of while the focus is on the tree
    if (nodes.some((node) => node.id === `item-${chosen?.id}`)) this.list.setAttribute('aria-activedescendant', `item-${chosen.id}`);
    else this.list.removeAttribute('aria-activedescendant');
    this.update();
  }

  row(item) {
    const value = el('span', { class: item.force ? 'value force' : 'value' });
    const open = this.words ? true : item.open;
    const fold = el('span', { class: 'fold' }, item.folds ? icon('chevron', 12) : null);
    const row = el('div', { id: `item-${item.id}`, class: item.kind === 'body' && state.hidden.has(item.index) ? 'row hidden' : 'row', role: 'treeitem', 'aria-level': item.depth + 1,
      'aria-selected': String(isSelected(item.kind, item.index)), 'aria-expanded': item.folds ? String(open) : undefined, style: `padding-left:${2 + this.indent * item.depth}px` },
      fold, el('span', { class: 'glyph' }, glyph(item.glyph)), el('span', { class: 'label' }, item.name), el('span', { class: 'more' }, item.more), value);
    row.title = item.more ? `${item.name} · ${item.more}` : item.name;
    fold.addEventListener('click', (event) => { event.stopPropagation(); this.fold(item); });
    row.addEventListener('click', () => this.select(item));
    row.addEventListener('dblclick', () => this.fold(item));
    if (item.value) this.rows.push([item, value]);
    return row;
  }

  fold(item, open = !item.open) {
    if (!item.folds || item.open === open) return;
    item.open = open;
    this.arrange();
  }

  select(item) {
    if (item.kind === 'group') this.fold(item);
    else set({ selection: { kind: item.kind, index: item.index } });
  }

  find() { return this.visible.findIndex((item) => isSelected(item.kind, item.index)); }

  reveal() {
    const item = this.items.find((x) => isSelected(x.kind, x.index));
    if (!item) return;
    let folded = false;
    for (let id = item.parent; id >= 0; id = this.items[id].parent) { folded ||= !this.items[id].open; this.items[id].open = true; }
    if (folded) this.arrange();
    const top = this.visible.indexOf(item) * this.height, { scrollTop, clientHeight } = this.list;
    if (top < scrollTop) this.list.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight) this.list.scrollTop = top + this.height - clientHeight;
  }

  move(step) {
    let i = this.find();
    i = i < 0 ? 0 : Math.min(this.visible.length - 1, Math.max(0, i + step));
    while (this.visible[i]?.kind === 'group' && i + Math.sign(step || 1) in this.visible) i += Math.sign(step || 1);
    if (this.visible[i] && this.visible[i].kind !== 'group') this.select(this.visible[i]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = this.visible[this.find()];
    if (event.key === 'ArrowDown') this.move(1);
    else if (event.key === 'ArrowUp') this.move(-1);
    else if (event.key === 'Enter' && item) this.fold(item);
    else if (event.key === 'ArrowRight' && item?.folds && !item.open) this.fold(item, true);
    else if (event.key === 'ArrowLeft' && item?.folds && item.open) this.fold(item, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  update() {  // values at the present time, of the rows in sight
    for (const [item, node] of this.rows) {
      const text = item.value();
      if (node.textContent !== text) node.textContent = text;
    }
  }
}

// ---- properties of the selection --------------------------------------------------------------------------------------
export class Properties {
  constructor(run, plot) {  // plot({y, x}) draws one column against another
    this.run = run;
    this.plot = plot;
    this.element = el('div', { class: 'properties' });
    on('selection', () => this.fill());
    this.fill();
  }

  pair(name, value, kind) {
    const node = el('span', { class: kind }, typeof value === 'function' ? value() : value);
    if (typeof value === 'function') this.live.push([node, value]);
    this.element.append(el('div', { class: 'pair' }, el('span', {}, name), node));
  }

  fill() {
    const { run } = this, { model } = run, s = state.selection;
    this.live = [];
    clear(this.element);
    this.element.style.display = s ? '' : 'none';
    if (!s) return;
    const names = { body: 'bodies', closure: 'closures', force: 'forces', contact: 'contacts', sensor: 'sensors' };
    const x = model[names[s.kind]][s.index];
    if (!x) return;
    this.element.append(el('div', { class: 'title' }, el('h2', {}, x.name), el('span', { class: 'mute' }, s.kind)));
    const against = this.against(s);
    if (against) this.element.append(against);
    if (s.kind === 'body') this.body(x, s.index);
    if (s.kind === 'closure' || (s.kind === 'force' && x.b)) {
      if (x.type ?? x.law) this.pair(s.kind === 'closure' ? 'type' : 'law', x.type ?? x.law);
      this.pair('a', this.place(x.a));
      this.pair('b', this.place(x.b));
    }
    if (s.kind === 'contact' && x.a >= 0) {
      this.pair('a', this.shape(x.a));
      this.pair('b', this.shape(x.b));
    }
    const own = columnsOf(run, s);
    if (s.kind !== 'body') for (const c of own.slice(0, 14)) this.column(c);
  }

  against(s) {
    const pairs = pairsOf(this.run, s).slice(0, 6), what = s.kind === 'body' ? 'phase' : 'force against penetration';
    if (pairs.length === 0) return null;
    return el('button', { class: 'pill against', title: `Plot ${pairs.map(named).join('; ')}`, on: { click: () => pairs.forEach((pair) => this.plot(pair)) } }, what);
  }

  column(c) {
    const short = c.name.replace(/^.*\)\.|^[^.]*\.(?=[^.]*$)/, '');
    this.pair(short, () => `${number(this.run.valueAt(c), 4)}${c.unit && c.unit !== '1' ? ` ${c.unit}` : ''}`, /^[fnt][xyz]?$/.test(short) ? 'force' : '');
  }

  place(p) { return `${this.run.model.bodies[p.body].name} at ${p.at.map((x) => number(x, 3)).join(', ')}`; }

  shape(i) {
    const s = this.run.model.shapes[i];
    return `${this.run.model.bodies[s.body].name}${s.name ? `/${s.name}` : ''} (${s.type})`;
  }

  body(body, index) {
    const { run } = this, joint = run.model.joints[body.joint];
    if (index === 0) { this.pair('gravity', `${run.model.gravity.map((x) => number(x, 3)).join(', ')} m/s²`); return; }
    this.pair('mass', `${number(body.mass)} kg`);
    this.pair('centre', `${body.com.map((x) => number(1000 * x, 3)).join(', ')} mm`);
    this.pair('J, kg m²', body.inertia.slice(0, 3).map((x) => number(x, 3)).join(', '));
    this.pair('joint', `${joint.implied ? 'none' : joint.name} · ${joint.type}${joint.driven ? ', driven' : ''}`);
    const axis = joint.axes.find((a) => a.body === index && (a.kind === 'turn' || a.kind === 'slide' || a.kind === 'screw'));
    if (axis) this.pair('axis', axis.axis.map((x) => fixed(x, Math.abs(x - Math.round(x)) < 1e-6 ? 0 : 3)).join(', '));
    for (const [letter, list] of [['q', joint.q], ['v', joint.v]]) {
      if (list.length > 3) continue;
      for (const name of list) {
        const c = run.column(`${letter}.${name}`);
        if (c) this.pair(`${letter}.${name}`, () => `${number(run.valueAt(c), 4)} ${c.unit}`);
      }
    }
    const spot = [0, 0, 0];
    this.pair('position', () => `${run.pointAt(index, [0, 0, 0], undefined, spot).map((x) => fixed(x, 3)).join(', ')} m`);
    for (const c of contactsOf(run, index)) this.pair(`force of ${c.contact}`, () => `${number(run.valueAt(c.column), 3)} N`, 'force');
    this.travel(joint);
  }

  // Where the coordinate is between its limits, or between the ends that the run has reached.
  travel(joint) {
    const c = joint.q.length === 1 ? this.run.column(`q.${joint.q[0]}`) : null;
    if (!c) return;
    let [low, high] = this.run.extent(c);
    if (joint.limits?.every((x) => x !== null)) [low, high] = joint.limits;
    if (!(high > low)) return;
    const knob = el('i');
    this.element.append(el('div', { class: 'travel', title: `${number(low)} to ${number(high)} ${c.unit}` }, knob));
    const move = () => { knob.style.left = `${Math.min(100, Math.max(0, 100 * (this.run.valueAt(c) - low) / (high - low)))}%`; return ''; };
    move();
    this.live.push([null, move]);
  }

  update() {
    for (const [node, value] of this.live) {
      const text = value();
      if (node && node.textContent !== text) node.textContent = text;
    }
  }
}

function contactsOf(run, body) {
  const out = [];
  for (const contact of run.model.contacts) {
    const touches = [contact.a, contact.b].some((i) => i >= 0 && run.model.shapes[i].body === body);
    const c = touches ? run.column(`contact(${contact.name}).n`) : null;
    if (c) out.push({ contact: contact.name, column: c });
    for (const member of contact.members ?? []) {
      const own = run.model.shapes[member.shape]?.body === body && run.column(`contact(${contact.name}/${member.name}).n`);
      if (own) out.push({ contact: contact.name, column: own });
    }
  }
  return out;
}

// Columns that belong to a thing.
export function columnsOf(run, selection) {
  const { kind, index } = selection, { model } = run;
  const starting = (...starts) => run.columns.filter((c) => starts.some((s) => c.name.startsWith(s)));
  if (kind === 'body') {
    const joint = model.joints[model.bodies[index].joint];
    if (!joint) return [];
    return [...joint.q.map((x) => run.column(`q.${x}`)), ...joint.v.map((x) => run.column(`v.${x}`)), ...contactsOf(run, index).map((x) => x.column),
      ...starting(`reaction(${joint.name})`, `reaction(${joint.name} in`)].filter(Boolean);
  }
  if (kind === 'closure') return starting(`reaction(${model.closures[index].name})`, `reaction(${model.closures[index].name} in`, `lambda.${model.closures[index].name}.`);
  if (kind === 'force') return starting(`force(${model.forces[index].name}).`);
  if (kind === 'contact') return starting(`contact(${model.contacts[index].name}).`);
  const sensor = model.sensors[index];
  return run.columns.filter((c) => c.name === sensor.name || c.name.startsWith(`${sensor.name}.`));
}
