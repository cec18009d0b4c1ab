// The tools of the view: what a press, a move and a release of the pointer mean, and the readout of what they do in numbers.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { el } from '../dom.js';
import { icon } from '../icons.js';
import { glyph } from '../tree.js';
import { decimalsOf, evaluate, numberText, splitList } from './formula.js';
import * as edit from './operations.js';
import { jointName, makerOf } from './names.js';
import { value } from './xml.js';

const KINDS = { body: ['bar', 'box', 'sphere', 'cylinder'], shape: edit.shapeKinds, closure: ['ball', 'revolute', 'weld', 'rod', 'prismatic', 'cylindrical', 'universal', 'planar'], spring: ['spring', 'damper', 'link'], joint: edit.jointKinds };
const TOOLS = [['select', 'pointer', 'V', 'Select; drag a body to move its joint'], ['move', 'move', 'G', 'Move the selection along its axes'], ['rotate', 'rotate', 'R', 'Turn the selection'], null,
  ['body', 'bar', 'B', 'Body: press at its joint, release at its tip'], ['joint', 'revolute', 'J', 'Joint of a body that is free'], ['shape', 'box', 'S', 'Shape on a body'],
  ['point', 'crosshair', 'P', 'Point on a body'], ['closure', 'closure', 'C', 'Loop closure between two points'], ['spring', 'spring', 'L', 'Spring between two points'], ['sensor', 'sensor', 'N', 'Sensor at a point'], ['contact', 'contact', 'K', 'Contact between two bodies']];
const HINTS = { select: 'Click selects; drag a body to move its joint', move: 'Select something, then drag the arrows; places can be typed below', rotate: 'Select something, then drag the rings',
  body: 'Press where the joint is, drag to the tip, release', joint: 'Click a body that has no joint', shape: 'Click the place on a body', point: 'Click the place on a body',
  closure: 'Click two points that are to be one', spring: 'Click its two ends', sensor: 'Click the point to be measured', contact: 'Click two bodies that are to touch, or a body and the ground' };
const ANY = 'what is there';  // to which a body that is drawn is attached, unless it is to one of its own choice
const PLANES = { xy: [0, 0, 1], xz: [0, 1, 0], yz: [1, 0, 0] };
const FAR = 4;  // pixels that make a drag

const nice = (x) => { const p = 10 ** Math.floor(Math.log10(x)); return p * (x / p >= 5 ? 5 : x / p >= 2 ? 2 : 1); };

const cleaned = (v) => v.toArray().map((x) => (Math.abs(x - Math.round(x)) < 1e-5 ? Math.round(x) + 0 : Number(x.toFixed(5))));

export class Tools {
  // editor: {doc, scene, still, change(call), select(node), say(text, level), pose(list), nodeOf(name)}
  constructor(editor) {
    this.editor = editor;
    this.tool = 'select';
    this.kinds = { body: 'bar', shape: 'box', closure: 'ball', spring: 'spring', joint: 'revolute' };
    this.first = null;   // the end that was clicked
    this.down = null;
    this.buttons = TOOLS.filter(Boolean).map(([name, symbol, key, title]) => [name, el('button', { class: 'button', 'data-tool': name, title: `${title} (${key})`, 'aria-label': title, on: { click: () => this.choose(name) } },
      ['bar', 'revolute', 'closure', 'spring', 'sensor', 'contact'].includes(symbol) ? glyph(symbol, 16) : icon(symbol))]);
    const by = new Map(this.buttons);
    this.bar = el('div', { class: 'bar tools', role: 'toolbar', 'aria-label': 'Tools' }, ...TOOLS.map((x) => (x ? by.get(x[0]) : el('span', { class: 'gap' }))));
    this.options = el('div', { class: 'bar options' });
    this.readout = el('div', { class: 'bar readout' });
    this.hint = el('div', { class: 'hint' });
    this.readout.hidden = true;
    this.plane = 'xz';
    this.on = ANY;
    this.step = 0;
  }

  get scene() { return this.editor.scene; }
  get still() { return this.editor.still; }
  get doc() { return this.editor.doc; }
  get decimals() { return Math.max(decimalsOf(this.step), 3); }
  get normal() { return PLANES[this.plane]; }

  attach(scene) {
    const { canvas, gizmo } = scene;
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.hover(event));
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('pointerleave', () => { if (!this.down) scene.mark(null); });
    gizmo.addEventListener('objectChange', () => this.gizmoMoved());
    gizmo.addEventListener('mouseDown', () => { this.gizmoKey = `gizmo ${Math.random()}`; });
    gizmo.addEventListener('mouseUp', () => { this.gizmoKey = null; this.doc.seal(); this.showGizmo(); });
    const g = this.still.model.gravity;
    this.plane = Math.abs(g[1]) > Math.abs(g[2]) ? 'xy' : 'xz';
    this.step = nice(this.still.scale / 12);
    this.choose('select');
  }

  // ---- choices ------------------------------------------------------------------------------------------------------------
  choose(tool) {
    this.tool = tool;
    this.drop();
    for (const [name, button] of this.buttons) button.setAttribute('aria-pressed', String(name === tool));
    this.hint.textContent = HINTS[tool];
    this.showOptions();
    this.showPlane();
    this.showGizmo();
    if (this.scene) this.scene.canvas.style.cursor = ['select', 'move', 'rotate'].includes(tool) ? '' : 'crosshair';
  }

  drop() {  // what was begun
    this.first = null;
    this.scene?.mark(null);
    this.scene?.rubber(null);
    this.showReadout();
  }

  showOptions() {
    const parts = [], choice = (label, now, list, call) => {
      const select = el('select', { 'aria-label': label }, ...list.map((x) => el('option', { value: x, selected: x === now }, x)));
      select.addEventListener('change', () => { call(select.value); this.scene.canvas.focus(); });
      parts.push(el('label', {}, el('span', { class: 'mute' }, label), select));
    };
    if (KINDS[this.tool]) choice({ body: 'Form', shape: 'Shape', closure: 'Closure', spring: 'Kind', joint: 'Joint' }[this.tool], this.kinds[this.tool], KINDS[this.tool], (x) => { this.kinds[this.tool] = x; });
    if (this.tool === 'body') {
      choice('Joint', this.kinds.joint, edit.jointKinds, (x) => { this.kinds.joint = x; });
      const bodies = this.still.model.bodies.map((x) => x.name);
      if (!bodies.includes(this.on)) this.on = ANY;
      choice('On', this.on, [ANY, ...bodies], (x) => { this.on = x; });
    }
    if (!['select', 'rotate', 'contact'].includes(this.tool)) {
      if (this.tool !== 'move') choice('Plane', this.plane, Object.keys(PLANES), (x) => { this.plane = x; this.showPlane(); });
      const step = el('input', { type: 'text', class: 'field', value: numberText(this.step), 'aria-label': 'Grid step in metres', inputmode: 'decimal' });
      step.addEventListener('change', () => {
        const x = Number(step.value.replace(',', '.'));
        if (x > 0 && Number.isFinite(x)) this.step = x; else step.value = numberText(this.step);
        this.showPlane();
        this.showGizmo();
      });
      step.addEventListener('keydown', (event) => { event.stopPropagation(); if (event.key === 'Enter') { step.blur(); this.scene.canvas.focus(); } });
      parts.push(el('label', {}, el('span', { class: 'mute' }, 'Grid'), step, el('span', { class: 'mute' }, 'm')));
    }
    this.options.replaceChildren(...parts);
    this.options.hidden = parts.length === 0;
  }

  showPlane() {
    if (!this.scene) return;
    const adding = !['select', 'move', 'rotate', 'contact'].includes(this.tool);
    this.scene.setPlane(new Vector3(...this.normal), this.first?.place ?? new Vector3(), this.step, adding);
  }

  // ---- places -------------------------------------------------------------------------------------------------------------
  // Where the pointer is: {frame, body, at, place}; frame: the name of the point that has caught it. at is in the body.
  spot(event, without = -1) {
    const caught = this.scene.caught(event, without);
    if (caught) return { frame: caught.name, body: caught.body, at: caught.at, place: this.scene.toWorld(caught.body, caught.at) };
    const under = this.scene.bodyUnder(event), body = under.body > 0 && under.body !== without ? under.body : 0;
    const place = this.scene.onPlane(event, event.altKey) ?? under.place;
    return place ? { frame: null, body, at: this.scene.toBody(body, place).toArray(), place } : null;
  }

  nameOf(body) { return this.still.model.bodies[body].name; }
  endOf(spot) { return spot.frame ? { frame: spot.frame } : { body: this.nameOf(spot.body), at: spot.at }; }

  // ---- the pointer --------------------------------------------------------------------------------------------------------
  press(event) {
    if (event.button !== 0 || this.scene.gizmo.dragging || this.scene.gizmo.axis) return;
    this.down = { x: event.clientX, y: event.clientY, moved: false };
    if (this.editor.playing) { this.editor.restart(); }
    if (this.tool === 'select') this.grab(event);
    else if (this.tool === 'body') {
      this.scene.controls.enabled = false;
      if (!this.first) this.begin(this.spot(event));
    }
  }

  hover(event) {
    const { down } = this;
    if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) > FAR) down.moved = true;
    if (this.held) { if (down?.moved) this.drag(event); return; }
    if (['select', 'move', 'rotate'].includes(this.tool) || (event.buttons & 6)) return;
    const spot = this.spot(event, this.without());
    this.scene.mark(spot?.place ?? null);
    this.scene.rubber(this.first?.place, spot?.place);
    this.showReadout(spot);
  }

  // Both ends of a bar, closure or spring are on different bodies, or the second of a bar is anywhere.
  without() { return this.first && (this.tool === 'closure' || (this.tool === 'spring' && this.first.body > 0)) ? this.first.body : -1; }

  release(event) {
    const { down } = this;
    if (!down) return;
    this.down = null;
    this.scene.controls.enabled = true;
    if (this.held) { this.drop2(down.moved); if (down.moved) return; }
    if (event.button !== 0) return;
    if (this.tool === 'body') {
      if (down.moved || this.first?.clicked) this.finish(this.spot(event));
      else if (this.kinds.body !== 'bar' && this.first) this.finish(this.first);
      else if (this.first) this.first.clicked = true;  // a second click is its tip
      return;
    }
    if (down.moved) return;
    if (['select', 'move', 'rotate'].includes(this.tool)) this.pick(event);
    else this.click(this.spot(event, this.without()));
  }

  // ---- select, and drag a joint ---------------------------------------------------------------------------------------------
  pick(event) {
    const caught = this.scene.caught(event), under = this.scene.bodyUnder(event);
    const point = caught?.name.includes('/') ? this.editor.nodeOf('point', caught.name) : null;
    if (point) this.editor.select(point);
    else if (under.body > 0) this.selectBody(this.nameOf(under.body));
    else this.editor.select(null);
  }

  // A body that is not in the file as it is seen: what makes it is selected, and told.
  selectBody(name) {
    const { editor } = this, node = makerOf(this.doc, name);
    editor.select(node);
    if (!node) editor.say(`${name} has no element of its own in this file`, 'warn');
    else if (node.name === 'include') editor.say(`${name} comes from an included file${value(node, 'file') ? `: it is edited in ${value(node, 'file')}` : ''}`, 'warn');
    else if (value(node, 'name') !== name) editor.say(`${name} is made by a repeat: what is changed in ${value(node, 'name')} changes all of them`, 'warn');
  }

  grab(event) {
    const { body, place } = this.scene.bodyUnder(event), { model } = this.still;
    if (body <= 0) return;
    let moving = body;
    const one = (i) => model.joints[model.bodies[i].joint]?.q.length === 1;
    while (moving > 0 && !one(moving) && model.joints[model.bodies[moving].joint]?.type === 'weld') moving = model.bodies[moving].parent;
    this.scene.controls.enabled = false;
    const joint = moving > 0 ? model.joints[model.bodies[moving].joint] : null;
    this.held = { body, moving, joint: one(moving) ? joint : null, at: this.scene.toBody(body, place).toArray(), place, before: [...this.still.q] };
  }

  index(joint) {  // of its first coordinate in q
    const { joints } = this.still.model;
    let i = 0;
    for (const x of joints) { if (x === joint) return i; i += x.q.length; }
    return -1;
  }

  drag(event) {
    const { held, scene } = this, { joint } = held;
    if (!joint) { this.editor.say('Only joints with one coordinate are dragged: move this body by G, or its coordinates in the properties.'); return; }
    const axis = joint.axes.find((x) => x.kind !== 'ball' && x.kind !== 'free');
    if (!axis) return;
    const centre = scene.toWorld(axis.body, axis.at), n = new Vector3(...axis.axis).transformDirection(scene.bodyMatrixOf(axis.body)), now = scene.toWorld(held.body, held.at);
    const { origin, direction } = scene.rayInModel(event), i = this.index(joint);
    let change = 0;
    if (axis.kind === 'slide') {  // the point of the axis through `now` that is nearest to the ray
      const d = new Vector3().subVectors(origin, now), nd = n.dot(direction), det = 1 - nd * nd;
      if (det < 1e-3) return;
      change = (n.dot(d) - nd * direction.dot(d)) / det;
    } else {
      const facing = n.dot(direction);
      if (Math.abs(facing) < 0.03) return;
      const target = origin.clone().addScaledVector(direction, n.dot(new Vector3().subVectors(now, origin)) / facing);
      const u = now.clone().sub(centre).projectOnPlane(n), w = target.sub(centre).projectOnPlane(n);
      if (u.length() < 1e-9 || w.length() < 1e-9) return;
      change = Math.atan2(n.dot(new Vector3().crossVectors(u, w)), u.dot(w));
    }
    if (Math.abs(change) > 1e-7) this.editor.pose([[i, this.still.q[i] + change]]);
    const x = this.still.q[i];
    this.editor.say(`${joint.name} = ${axis.kind === 'slide' ? `${numberText(x, 4)} m` : `${numberText(x * 180 / Math.PI, 1)}° (${numberText(x, 4)} rad)`}`);
  }

  // The end of a drag: the coordinates that changed are written to the file, so that the model begins there.
  drop2(moved) {
    const { held } = this;
    this.held = null;
    if (!moved || !held.joint) return;
    this.editor.settled(() => {
      const { joints } = this.still.model, list = [];
      let i = 0;
      for (const joint of joints) {
        const n = joint.q.length, q = this.still.q.slice(i, i + n);
        if (q.some((x, k) => Math.abs(x - held.before[i + k]) > 5e-5) && !joint.implied) list.push({ joint: joint.name, q });
        i += n;
      }
      if (list.length === 0) return;
      this.editor.change(() => {
        const missed = edit.setCoordinates(this.doc, list);
        this.editor.say(missed.length > 0 ? `q of ${missed.join(', ')} has no place in this file, or needs what is known only while the model moves: not written` : `q of ${list.map((x) => x.joint).join(', ')} is written to the file`, missed.length ? 'warn' : '');
      });
    });
  }

  // ---- adding -------------------------------------------------------------------------------------------------------------
  begin(spot) {
    if (!spot) return;
    const on = this.tool === 'body' && this.on !== ANY ? this.still.model.bodies.findIndex((x) => x.name === this.on) : -1;
    this.first = on >= 0 && on !== spot.body ? { frame: null, exact: Boolean(spot.frame), body: on, at: this.scene.toBody(on, spot.place).toArray(), place: spot.place } : spot;
    this.showPlane();
    this.scene.mark(spot.place);
  }

  finish(spot) {
    const { first } = this;
    if (!first || !spot) { this.drop(); return; }
    const turn = new Matrix4().extractRotation(this.scene.bodyMatrixOf(first.body)).invert();
    const n = new Vector3(...this.normal).transformDirection(turn), d = spot.place.clone().sub(first.place).applyMatrix4(turn);
    this.add(first, n, d);
  }

  // d: from the joint to the tip, or to the rim; n: normal of the work plane; both in the axes of the parent.
  add(first, n, d) {
    const { joint: type, body: form } = this.kinds, drawn = d.length() > 0.5 * 10 ** -this.decimals, bar = form === 'bar' && drawn;
    const axis = type !== 'prismatic' ? cleaned(n) : cleaned(bar ? d.clone().normalize() : this.slide(first, n, d));
    // the bar is along the x of the body; at q = 0 that is the x of the parent: the rest is q of a revolute joint, else a turned joint frame
    const x = new Vector3(1, 0, 0), flat = Math.abs(n.x) < 1e-5, angle = Math.atan2(n.dot(new Vector3().crossVectors(x, d)), x.dot(d)), length = bar ? d.length() : 0;
    const turns = flat && type === 'revolute' ? angle : 0, point = first.frame?.includes('/') ? this.editor.nodeOf('point', first.frame) : null;
    this.drop();
    this.editor.change(() => this.doc.group('add body', () => {
      const node = edit.addBody(this.doc, { parent: this.nameOf(first.body), type, axis, length,
        at: (point && value(point, 'at')) ?? first.at.map((y) => Number(numberText(y, first.frame || first.exact ? this.decimals + 1 : this.decimals))),
        turned: Math.abs(turns) > 5e-5 ? turns : 0, decimals: this.decimals + 1, shape: form === 'bar' ? 'box' : form,
        size: drawn && !bar ? this.sizeOf(form, n, d) : 2 * this.step, radius: this.step / 2, rpy: form === 'cylinder' ? rpyOf(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), n)) : null });
      if (bar && !turns && (d.y !== 0 || d.z !== 0)) this.turnJoint(node, d);
      this.editor.select(this.doc.at(node.start), true);
    }));
  }

  // Of a body that slides and is no bar: the axis of the parent in the work plane along which was drawn, or the first one.
  slide(first, n, d) {
    const axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((x) => new Vector3(...x)).filter((x) => Math.abs(x.dot(n)) < 0.5);
    return axes.reduce((best, x) => (Math.abs(x.dot(d)) > Math.abs(best.dot(d)) + 1e-9 ? x : best));
  }

  // From the centre to the rim: a radius, or half of the edges.
  sizeOf(form, n, d) {
    const least = 2 * this.step;
    if (form === 'sphere') return [d.length()];
    if (form === 'cylinder') return [d.length(), Math.max(least, d.length() / 2)];
    return d.toArray().map((x) => Math.max(least, 2 * Math.abs(x)));
  }

  // The joint frame is turned so that its x is along d; the axis keeps its direction in the parent.
  turnJoint(body, d) {
    const q = new Quaternion().setFromUnitVectors(new Vector3(1, 0, 0), d.clone().normalize()), rpy = rpyOf(q);
    if (rpy.every((x) => Math.abs(x) < 5e-5)) return;
    let joint = body.children.find((x) => x.name === 'joint');
    const axis = value(joint, 'axis') ? splitList(value(joint, 'axis')).map((x) => Number(x.text)) : value(joint, 'type') === 'prismatic' || value(joint, 'type') === 'revolute' ? [0, 0, 1] : null;
    if (axis) {
      this.doc.set(joint, 'axis', new Vector3(...axis).applyQuaternion(q.clone().invert()).toArray().map((x) => Number(x.toFixed(5)) + 0).join(' '));
      joint = this.doc.at(body.start).children.find((x) => x.name === 'joint');
    }
    edit.setTurn(this.doc, joint, rpy);
  }

  click(spot) {
    const { doc, editor, decimals } = this;
    if (!spot) { editor.say('The work plane is seen from its edge: choose another plane, or turn the view'); return; }
    const body = this.nameOf(spot.body);
    if (this.tool === 'closure' || this.tool === 'spring') {
      if (!this.first) { this.begin(spot); editor.say('Now the other end'); return; }
      const [a, b] = [this.first, spot];
      if (a.body === b.body) { editor.say(this.tool === 'closure' ? 'A closure connects two bodies: click a point of another one' : 'Both ends are on one body: click a point of another one', 'warn'); return; }
      const planar = this.planar(), kind = this.kinds[this.tool];
      if (kind === 'rod' && a.place.distanceTo(b.place) < 10 ** -decimals) { editor.say('A rod has a length: its ends must be at two places', 'warn'); return; }
      this.drop();
      editor.change(() => editor.select(this.tool === 'closure' ? this.addClosure(a, b, kind, planar)
        : edit.addSpring(doc, this.endOf(a), this.endOf(b), a.place.distanceTo(b.place), { kind, decimals }), true));
      return;
    }
    if (this.tool === 'contact') { this.touch(spot); return; }
    if (this.tool === 'sensor') editor.change(() => editor.select(edit.addSensor(doc, this.endOf(spot), decimals), true));
    if (this.tool === 'point') editor.change(() => editor.select(edit.addPoint(doc, body, spot.at, decimals), true));
    if (this.tool === 'shape') editor.change(() => editor.select(edit.addShape(doc, body, this.kinds.shape, 2 * this.step, spot.at.map((x) => Number(numberText(x, decimals))), decimals), true));
    if (this.tool === 'joint') {
      const node = edit.bodyNode(doc, body), own = this.still.model.bodies[spot.body], parent = own ? this.scene.toWorld(spot.body, [0, 0, 0]) : null;
      if (!node || spot.body === 0) { editor.say('Click a body', 'warn'); return; }
      editor.change(() => editor.select(edit.addJoint(doc, body, this.kinds.joint, this.scene.toBody(own.parent, parent).toArray(), this.normal, decimals), true));
    }
  }

  // The bodies are what counts, not their points.
  touch(spot) {
    const { editor, doc } = this, has = (body) => this.still.model.shapes.some((x) => x.body === body);
    if (!this.first) { this.begin(spot); editor.say('Now the other body, or the ground'); return; }
    const [a, b] = [this.first.body, spot.body];
    if (a === b) { editor.say('A contact is between two bodies: click another one', 'warn'); return; }
    this.drop();
    const bare = [a, b].find((x) => !has(x));
    if (bare !== undefined) { editor.say(`${this.nameOf(bare)} has no shape that could touch: give it one first (S${bare === 0 ? '; a plane is a floor' : ''})`, 'warn'); return; }
    editor.change(() => editor.select(edit.addContact(doc, this.nameOf(a), this.nameOf(b)), true));
  }

  addClosure(a, b, kind, planar) {
    return this.doc.group('add closure', () => {
      const node = edit.addClosure(this.doc, this.endOf(a), this.endOf(b), { type: kind, normal: planar, decimals: this.decimals });
      if (kind !== 'rod') return node;
      this.doc.set(node, 'length', numberText(a.place.distanceTo(b.place), this.decimals));
      return this.doc.at(node.start);
    });
  }

  // The common normal of all joints, where the mechanism is planar: [x, y, z] or null.
  planar() {
    const { model } = this.still;
    let normal = null;
    for (const joint of model.joints) {
      for (const x of joint.axes) {
        if (!['turn', 'slide'].includes(x.kind)) return null;
        if (x.kind === 'slide') continue;
        const n = new Vector3(...x.axis).transformDirection(this.scene.bodyMatrixOf(x.body));
        if (normal && new Vector3().crossVectors(n, normal).length() > 1e-4) return null;
        normal = n;
      }
    }
    return normal ? normal.toArray().map((x) => (Math.abs(x - Math.round(x)) < 1e-4 ? Math.abs(Math.round(x)) : Number(x.toFixed(4)))) : null;
  }

  // ---- the readout ----------------------------------------------------------------------------------------------------------
  // While something is drawn: its place, or length and angle. Else the place of the selection, which can be typed.
  showReadout(spot = null) {
    const rows = [], { first } = this;
    if (this.tool === 'body' && first && spot) {
      const d = spot.place.clone().sub(first.place);
      rows.push(`${{ bar: 'length', box: 'half diagonal' }[this.kinds.body] ?? 'radius'} ${numberText(d.length(), 4)} m`, spot.frame ? `at ${spot.frame}` : `to ${edit.vectorText(spot.place.toArray(), 3)}`);
    } else if (spot) rows.push(`${spot.frame ?? this.nameOf(spot.body)}`, `${edit.vectorText(spot.place.toArray(), 3)} m`);
    if (spot) {
      this.readout.replaceChildren(...rows.map((x) => el('span', {}, x)));
      this.readout.hidden = false;
      this.typed = null;
      return;
    }
    this.showTyped();
  }

  // The attribute that the tool changes: at, or rpy where the element has one.
  showTyped() {
    const { selection } = this.doc, node = selection && edit.placed(selection), turns = this.tool === 'rotate', known = edit.values(this.doc);
    const name = turns ? 'rpy' : 'at', labels = turns ? ['roll', 'pitch', 'yaw'] : ['x', 'y', 'z'], there = node && this.has(node, name) && !(turns && value(node, 'rot'));
    this.readout.hidden = !there;
    if (!there) { this.typed = null; return; }
    const key = `${node.start} ${name}`;
    if (this.typed === key && this.readout.contains(document.activeElement)) return;
    this.typed = key;
    const items = splitList(value(node, name) ?? '0 0 0');
    this.readout.replaceChildren(el('span', { class: 'mute' }, node.name === 'joint' ? `joint ${jointName(node.parent)}` : `${node.name} ${value(node, 'name') ?? ''}`), ...labels.map((label, i) => {
      const input = el('input', { class: 'field', type: 'text', value: items[i]?.text ?? '0', 'aria-label': `${label} of ${node.name}`, 'data-axis': label, spellcheck: 'false', title: `a number or a formula, in ${turns ? 'radians' : 'metres'}` });
      input.addEventListener('keydown', (event) => {
        event.stopPropagation();
        if (event.key === 'Enter') { input.blur(); this.scene.canvas.focus(); }
        if (event.key === 'Escape') { input.value = items[i]?.text ?? '0'; input.blur(); }
      });
      input.addEventListener('change', () => {
        const now = edit.placed(this.doc.selection ?? {}) ?? null, text = input.value.trim() || '0';
        if (!now) return;
        const list = splitList(value(now, name) ?? '0 0 0').map((x) => x.text);
        list[i] = text;
        this.editor.change(() => this.doc.set(now, name, list.join(list.some((x) => x.includes(' ')) ? ', ' : ' ')));
      });
      return el('label', {}, el('span', { class: `axis ${'xyz'[i]}` }, label), input);
    }), el('span', { class: 'mute' }, turns ? 'rad' : 'm'), items.some((x) => evaluate(x.text, (word) => known.get(word)) === null) ? el('span', { class: 'warn' }, 'not a number here') : '');
  }

  has(node, name) { return this.doc.table[node.name]?.attributes.some((x) => x.name === name) ?? false; }

  // ---- the gizmo ------------------------------------------------------------------------------------------------------------
  // The frame in which the place of an element is given, as a body of the model.
  frameOf(node) {
    const { bodies } = this.still.model, find = (name) => (name === 'ground' || name === undefined ? 0 : bodies.findIndex((x) => x.name === name));
    return node.name === 'joint' ? find(value(node.parent, 'parent') ?? 'ground') : find(node.parent?.name === 'ground' ? 'ground' : value(node.parent ?? node, 'name'));
  }

  showGizmo() {
    if (!this.scene) return;
    const { gizmo, seat } = this.scene, node = ['move', 'rotate'].includes(this.tool) && this.doc.selection ? edit.placed(this.doc.selection) : null;
    const frame = node && this.has(node, this.tool === 'rotate' ? 'rpy' : 'at') ? this.frameOf(node) : -1, at = frame >= 0 ? edit.numbers(this.doc, value(node, 'at') ?? '0 0 0', 3) : null;
    if (!at || this.gizmoKey) { if (!at) gizmo.detach(); this.scene.dirty = true; return; }
    const turn = this.turnOf(node) ?? new Quaternion();
    this.scene.bodyMatrixOf(frame).multiply(new Matrix4().compose(new Vector3(...at), this.tool === 'rotate' ? turn : new Quaternion(), new Vector3(1, 1, 1))).decompose(seat.position, seat.quaternion, seat.scale);
    seat.updateMatrixWorld(true);
    gizmo.setMode(this.tool === 'rotate' ? 'rotate' : 'translate');
    gizmo.setSpace('local');
    gizmo.setRotationSnap(Math.PI / 36);
    gizmo.attach(seat);
    this.moving = { start: node.start, frame, at };
    this.scene.dirty = true;
  }

  turnOf(node) {
    const rot = value(node, 'rot'), rpy = value(node, 'rpy');
    if (rot) {
      const q = edit.numbers(this.doc, rot, 4);
      return q ? new Quaternion(q[1], q[2], q[3], q[0]).normalize() : null;
    }
    const x = rpy ? edit.numbers(this.doc, rpy, 3) : [0, 0, 0];
    return x ? quaternionOf(x) : null;
  }

  gizmoMoved() {
    const { seat } = this.scene, { moving } = this, node = moving && this.doc.at(moving.start);
    if (!node || !this.gizmoKey) return;
    const local = this.scene.bodyMatrixOf(moving.frame).invert().multiply(new Matrix4().compose(seat.position, seat.quaternion, new Vector3(1, 1, 1)));
    const p = new Vector3(), q = new Quaternion();
    local.decompose(p, q, new Vector3());
    if (this.tool === 'rotate') {
      const words = /[A-Za-z_]\w*/g, text = value(node, 'rpy') ?? '';
      this.editor.change(() => {
        if (value(node, 'rot') && splitList(value(node, 'rot')).some((x) => /[A-Za-z]/.test(x.text))) this.editor.say('rot is a formula here: change it in the properties', 'warn');
        else if ((text.match(words) ?? []).some((x) => x !== 'pi')) edit.setPlace(this.doc, node, rpyOf(q), 4, this.gizmoKey, 'rpy');
        else edit.setTurn(this.doc, node, rpyOf(q), this.gizmoKey);
      });
      return;
    }
    const at = p.toArray().map((x, i) => (Math.abs(x - moving.at[i]) < 1e-9 ? moving.at[i] : this.step * Math.round(x / this.step)));
    const near = this.nearFrame(seat.position, node);
    if (near) near.forEach((x, i) => { at[i] = x; });
    this.editor.change(() => {
      if (!edit.setPlace(this.doc, node, at, this.decimals, this.gizmoKey)) this.editor.say('This place is a formula that has no value here: change it in the properties', 'warn');
    });
    this.showTyped();
  }

  // The point of another body that the dragged one is next to, in the frame of the place.
  nearFrame(place, node) {
    const own = node.name === 'joint' ? value(node.parent, 'name') : value(node.parent, 'name') ?? 'ground';
    let best = null;
    for (const f of this.scene.frames()) {
      if (this.nameOf(f.body) === own || f.body === 0 && !f.name.includes('/')) continue;
      const p = this.scene.toWorld(f.body, f.at), distance = p.distanceTo(place);
      if (distance < 0.45 * this.step && distance < (best?.distance ?? Infinity)) best = { distance, p };
    }
    return best ? this.scene.toBody(this.moving.frame, best.p).toArray() : null;
  }

  // After another model has compiled.
  renewed() {
    if (!this.gizmoKey) this.showGizmo();
    this.showReadout();
    if (this.first) this.drop();
    if (this.tool === 'body' && !this.options.contains(document.activeElement)) this.showOptions();
  }

  key(name) {
    const tool = TOOLS.find((x) => x && x[2] === name);
    if (tool) this.choose(tool[0]);
    return Boolean(tool);
  }
}

// Roll, pitch, yaw of R = Rz(yaw) Ry(pitch) Rx(roll).
export function rpyOf(q) {
  const { x, y, z, w } = q, s = Math.max(-1, Math.min(1, 2 * (w * y - x * z)));
  if (Math.abs(s) > 1 - 1e-12) return [2 * Math.atan2(x, w) * 1, Math.sign(s) * Math.PI / 2, 0];
  return [Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), Math.asin(s), Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))];
}

export function quaternionOf([r, p, y]) {
  const axis = (v, angle) => new Quaternion().setFromAxisAngle(new Vector3(...v), angle);
  return axis([0, 0, 1], y).multiply(axis([0, 1, 0], p)).multiply(axis([1, 0, 0], r));
}
