// What is drawn on top of the bodies: frames, centres of mass, joints, closures, springs, forces, trails.
import { BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, Curve, DynamicDrawUsage, Group, InstancedMesh,
  LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, Quaternion, SphereGeometry,
  TorusGeometry, TubeGeometry, Vector3 } from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { axisColors, colors } from './theme.js';
import { localMatrix, support } from './shapes.js';
import { state } from './state.js';

const Z = new Vector3(0, 0, 1);
const a = new Vector3(), b = new Vector3(), d = new Vector3(), size = new Vector3(), turn = new Quaternion();
const matrix = new Matrix4(), bodyMatrix = new Matrix4();

function matrixOf(run, body, out) { return out.fromArray(run.matrices, 16 * body); }

// ---- frames and centres of mass ---------------------------------------------------------------------------------------
export class Frames {
  constructor(run, length) {
    const n = run.bodies + 1, geometry = new BufferGeometry();
    this.run = run;
    this.length = length;
    this.position = new BufferAttribute(new Float32Array(18 * n), 3).setUsage(DynamicDrawUsage);
    const color = new Float32Array(18 * n), c = axisColors.map((x) => new Color(x));
    for (let i = 0; i < 6 * n; i++) c[(i >> 1) % 3].toArray(color, 3 * i);
    geometry.setAttribute('position', this.position);
    geometry.setAttribute('color', new BufferAttribute(color, 3));
    this.object = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false, toneMapped: false }));
    this.object.frustumCulled = false;
    this.object.renderOrder = 5;
  }

  update() {
    this.object.visible = state.show.frames;
    if (!state.show.frames) return;
    const m = this.run.matrices, x = this.position.array;
    for (let i = 0; i <= this.run.bodies; i++) {
      for (let k = 0; k < 3; k++) {
        const o = 18 * i + 6 * k, s = i === 0 ? 2 * this.length : this.length;
        for (let c = 0; c < 3; c++) {
          x[o + c] = m[16 * i + 12 + c];
          x[o + 3 + c] = m[16 * i + 12 + c] + s * m[16 * i + 4 * k + c];
        }
      }
    }
    this.position.needsUpdate = true;
  }
}

export class Centres {
  constructor(run, radius) {
    this.run = run;
    this.bodies = run.model.bodies.map((body, i) => [i, body.com]).filter(([i]) => i > 0 && run.model.bodies[i].mass > 0);
    this.object = new InstancedMesh(new SphereGeometry(radius, 12, 8), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }),
      Math.max(1, this.bodies.length));
    this.object.frustumCulled = false;
    this.object.renderOrder = 4;
    this.object.count = this.bodies.length;
  }

  update() {
    this.object.visible = state.show.centres;
    if (!state.show.centres) return;
    const x = this.object.instanceMatrix.array;
    this.bodies.forEach(([body, com], i) => {
      this.run.pointAt(body, com, undefined, spot);
      for (let k = 0; k < 16; k++) x[16 * i + k] = k % 5 === 0 ? 1 : 0;
      for (let k = 0; k < 3; k++) x[16 * i + 12 + k] = spot[k];
    });
    this.object.instanceMatrix.needsUpdate = true;
  }

  paint() { this.object.material.color.set(colors().accent); }
}
const spot = [0, 0, 0];

// ---- joints as pins, closures as rings --------------------------------------------------------------------------------
export class Joints {
  constructor(run, radiusOf, low) {
    this.run = run;
    this.object = new Group();
    this.material = new MeshStandardMaterial({ roughness: 0.5 });
    this.ring = new MeshStandardMaterial({ roughness: 0.4 });
    this.parts = [];
    const pin = new CylinderGeometry(1, 1, 2, low ? 10 : 32).rotateX(Math.PI / 2);
    const ball = new SphereGeometry(1.15, low ? 8 : 28, low ? 6 : 18);
    for (const joint of run.model.joints) {
      const r = radiusOf(joint.body);
      if (r === null) continue;
      for (const axis of joint.axes) {
        if (!['turn', 'screw', 'ball', 'slide'].includes(axis.kind)) continue;
        const slide = axis.kind === 'slide', round = axis.kind === 'ball';
        turn.setFromUnitVectors(Z, a.fromArray(axis.axis).normalize());
        const local = new Matrix4().compose(b.fromArray(axis.at), turn, slide ? size.set(0.55 * r, 0.55 * r, 2.6 * r) : size.set(r, r, 1.25 * r));
        if (round) local.makeScale(r, r, r).setPosition(b);
        this.add(new Mesh(round ? ball : pin, this.material), axis.body, local);
      }
    }
    const torus = new TorusGeometry(1, 0.3, low ? 6 : 12, low ? 12 : 36);
    for (const closure of run.model.closures) {
      if (closure.type === 'rod') continue;  // a bar, below
      const r = Math.max(radiusOf(closure.a.body) ?? 0, radiusOf(closure.b.body) ?? 0) || 0.02 * this.run.scale;
      const local = localMatrix(closure.a.at, closure.a.turn);
      turn.setFromUnitVectors(Z, a.fromArray(closure.axis).normalize());
      this.add(new Mesh(torus, this.ring), closure.a.body, local.multiply(matrix.compose(b.set(0, 0, 0), turn, size.set(1.35 * r, 1.35 * r, 1.35 * r))));
    }
  }

  add(mesh, body, local) {
    mesh.matrixAutoUpdate = false;
    mesh.castShadow = true;
    this.parts.push({ mesh, body, local });
    this.object.add(mesh);
  }

  update() {
    this.object.visible = state.show.shapes;
    for (const p of this.parts) {
      p.mesh.visible = !state.hidden.has(p.body);
      p.mesh.matrix.multiplyMatrices(matrixOf(this.run, p.body, bodyMatrix), p.local);
      p.mesh.matrixWorldNeedsUpdate = true;
    }
  }

  paint() {
    this.material.color.set(colors().joint);
    this.ring.color.set(colors().teal);
  }
}

// ---- springs as coils that stretch ------------------------------------------------------------------------------------
class Coil extends Curve {
  constructor(radius, length) {
    super();
    this.radius = radius;
    this.length = length;
  }

  getPoint(s, out = new Vector3()) {
    const turns = 9, ends = 0.12, u = Math.min(1, Math.max(0, (s - ends) / (1 - 2 * ends)));
    const r = this.radius * (s < ends || s > 1 - ends ? 0 : Math.min(1, 12 * u, 12 * (1 - u)));
    return out.set(r * Math.cos(2 * Math.PI * turns * u), r * Math.sin(2 * Math.PI * turns * u), s * this.length);
  }
}

export class Springs {
  constructor(run, low) {
    this.run = run;
    this.object = new Group();
    this.material = new MeshStandardMaterial({ roughness: 0.4 });
    this.links = [...run.model.forces.filter((f) => f.port === 'distance'), ...run.model.closures.filter((c) => c.type === 'rod')];
    const radius = 0.025 * run.scale, bar = new CylinderGeometry(0.3 * radius, 0.3 * radius, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const ends = [0, 0, 0];
    this.meshes = this.links.map((f) => {
      run.pointAt(f.a.body, f.a.at, undefined, spot);
      run.pointAt(f.b.body, f.b.at, undefined, ends);
      const length = Math.max(Math.hypot(spot[0] - ends[0], spot[1] - ends[1], spot[2] - ends[2]), radius);
      const coil = () => new TubeGeometry(new Coil(radius, length), low ? 120 : 400, 0.13 * radius, low ? 5 : 8).scale(1, 1, 1 / length);
      const mesh = new Mesh(f.law === 'distance-spring' ? coil() : bar, this.material);
      mesh.matrixAutoUpdate = false;
      mesh.frustumCulled = false;
      this.object.add(mesh);
      return mesh;
    });
  }

  update() {
    this.object.visible = state.show.shapes;
    this.links.forEach((f, i) => {
      this.run.pointAt(f.a.body, f.a.at, undefined, spot);
      a.fromArray(spot);
      this.run.pointAt(f.b.body, f.b.at, undefined, spot);
      d.fromArray(spot).sub(a);
      const length = Math.max(d.length(), 1e-9);
      this.meshes[i].matrix.compose(a, turn.setFromUnitVectors(Z, d.divideScalar(length)), size.set(1, 1, length));
      this.meshes[i].matrixWorldNeedsUpdate = true;
    });
  }

  paint() { this.material.color.set(colors().teal); }
}

// ---- forces -----------------------------------------------------------------------------------------------------------
// Where there are columns: contacts, reactions, forces at points. A source writes the place (a) and the force (d), in ground axes.
function sources(run) {
  const { model } = run, out = [];
  const vector = (prefix, names) => {
    const found = names.map((n) => run.column(`${prefix}.${n}`));
    return found.every(Boolean) ? found : null;
  };
  const read = (columns, to) => to.set(run.valueAt(columns[0]), run.valueAt(columns[1]), run.valueAt(columns[2]));
  const onShape = (index, toward) => {  // the point of a shape that is farthest in a direction of ground axes
    const shape = model.shapes[index];
    matrixOf(run, shape.body, bodyMatrix).multiply(shape.matrix);
    matrix.copy(bodyMatrix).invert();
    support(shape, size.copy(toward).transformDirection(matrix), a);
    a.applyMatrix4(bodyMatrix);
  };
  for (const contact of model.contacts) {
    const f = vector(`contact(${contact.name})`, ['fx', 'fy', 'fz']), n = vector(`contact(${contact.name})`, ['nx', 'ny', 'nz']);
    const normal = run.column(`contact(${contact.name}).n`);
    if (f && n && normal && contact.a >= 0 && contact.b >= 0) {
      const onA = model.shapes[contact.b].body === 0;
      out.push({ kind: 'contact', name: contact.name, body: model.shapes[onA ? contact.a : contact.b].body, write() {
        const size = run.valueAt(normal);
        read(n, b).normalize();
        read(f, d).addScaledVector(b, size);
        if (!(size > 0) || !Number.isFinite(d.x + d.y + d.z)) return false;
        if (onA) { d.negate(); onShape(contact.a, b); } else onShape(contact.b, b.negate());
        return true;
      } });
    }
    for (const member of contact.members ?? []) {
      const columns = vector(`contact(${contact.name}/${member.name})`, ['fx', 'fy', 'fz']);
      if (!columns || member.shape < 0 || model.shapes[member.shape].body === 0) continue;
      out.push({ kind: 'contact', name: `${contact.name}/${member.name}`, body: model.shapes[member.shape].body, write() {
        read(columns, d);
        if (!(d.lengthSq() > 0)) return false;
        onShape(member.shape, b.copy(d).negate().normalize());
        return true;
      } });
    }
  }
  const places = new Map();
  for (const joint of model.joints) places.set(joint.name, { body: joint.body, at: [0, 0, 0], turn: [1, 0, 0, 0] });
  for (const closure of model.closures) places.set(closure.name, closure.b);
  for (const column of run.columns) {
    const match = /^reaction\((.*?)( in ground)?\)\.fx$/.exec(column.name);
    const place = match && places.get(match[1]), columns = match && vector(column.name.slice(0, -3), ['fx', 'fy', 'fz']);
    if (!place || !columns) continue;
    const local = localMatrix(place.at, place.turn);
    out.push({ kind: 'reaction', name: match[1], body: place.body, write() {
      matrixOf(run, place.body, bodyMatrix).multiply(local);
      a.setFromMatrixPosition(bodyMatrix);
      read(columns, d);
      const length = d.length();
      if (!match[2]) d.transformDirection(bodyMatrix).multiplyScalar(length);
      return length > 0;
    } });
  }
  for (const force of model.forces) {
    const columns = vector(`force(${force.name})`, ['fx', 'fy', 'fz']), place = force.b ?? force.a;
    if (!columns || force.port === 'frames') continue;
    out.push({ kind: 'force', name: force.name, body: place.body, write() {
      run.pointAt(place.body, place.at, undefined, spot);
      a.fromArray(spot);
      return read(columns, d).lengthSq() > 0;
    } });
  }
  return out;
}

function nice(x) {  // the number 1, 2 or 5 times a power of ten next to x
  const power = 10 ** Math.floor(Math.log10(x)), rest = x / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

export class Forces {
  constructor(run) {
    this.run = run;
    this.sources = sources(run);
    const n = Math.max(1, this.sources.length);
    this.material = new MeshBasicMaterial({ toneMapped: false });
    this.shaft = new InstancedMesh(new CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5), this.material, n);
    this.head = new InstancedMesh(new ConeGeometry(1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5), this.material, n);
    this.object = new Group();
    for (const mesh of [this.shaft, this.head]) {
      mesh.frustumCulled = false;
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      this.object.add(mesh);
    }
    this.unit = this.chooseUnit();
    this.seen = new Float64Array(120);  // largest forces of the last frames, where the run grows
    this.frames = 0;
  }

  // Other scales where forces have become very different: seen over two seconds, at once where they are of another kind.
  adapt(most) {
    const fits = 0.5 * this.run.scale / 1.3 / Math.max(this.unit, 1e-300), other = most > 30 * fits;
    if (other) this.seen.fill(0);
    this.seen[this.frames++ % this.seen.length] = most;
    if (this.frames % 30 !== 1 && this.unit > 0 && !other) return;
    let sum = 0, n = 0;
    for (const x of this.seen) if (x > 0) { sum += x; n++; }
    const large = n > 0 ? sum / n : 0;
    if (!(large > 0) || (this.unit > 0 && large < 2.5 * fits && large > 0.2 * fits)) return;
    this.unit = this.unitOf(large);
    this.changed?.();
  }

  // Metres for a newton, so that large forces are a third of the model.
  chooseUnit() {
    const sizes = [];
    const { run } = this, step = Math.max(1, Math.floor(run.rows / 60)), { time } = state;
    for (let i = 0; i < run.rows; i += step) {
      run.pose(run.times[i]);
      for (const source of this.sources) if (source.write()) sizes.push(d.length());
    }
    run.pose(time);
    sizes.sort((x, y) => x - y);
    const large = sizes[Math.floor(0.9 * (sizes.length - 1))];
    return this.unitOf(large);
  }

  unitOf(large) {
    if (!(large > 0)) return 0;
    this.length = nice(0.12 * this.run.scale);  // "50 mm ≙ 5 N" of the legend
    this.newton = nice(1.3 * this.length * large / (0.5 * this.run.scale));
    return this.length / this.newton;
  }

  update() {
    const { scale, session } = this.run;
    this.object.visible = state.show.forces && (this.unit > 0 || Boolean(session));
    if (!this.object.visible) return;
    let n = 0, most = 0;
    for (const source of this.sources) {
      if (state.hidden.has(source.body) || !source.write()) continue;
      if (session) most = Math.max(most, d.length());
      const length = Math.min(d.length() * this.unit, 1.2 * scale), r = 0.0085 * scale, tip = Math.min(0.07 * scale, 0.6 * length);
      if (length < 1e-3 * scale) continue;
      turn.setFromUnitVectors(Z, d.normalize());
      this.shaft.setMatrixAt(n, matrix.compose(a, turn, size.set(r, r, length - tip)));
      b.copy(a).addScaledVector(d, length - tip);
      this.head.setMatrixAt(n, matrix.compose(b, turn, size.set(2.7 * r, 2.7 * r, tip)));
      n++;
    }
    this.shaft.count = this.head.count = n;
    this.shaft.instanceMatrix.needsUpdate = this.head.instanceMatrix.needsUpdate = true;
    if (session) this.adapt(most);
  }

  paint() { this.material.color.set(colors().force); }
}

// ---- trails -----------------------------------------------------------------------------------------------------------
// The path of a point over the whole run, as a line of which the part up to now is drawn; of a run that grows, its last rows.
const TAIL = 1500, TAIL_TIME = 6;  // points, s

export class Trail {
  constructor(run) {
    this.run = run;
    this.material = new LineMaterial({ linewidth: 2, toneMapped: false });
    this.object = new Group();
    this.body = -1;
  }

  follow(body) {
    if (body === this.body) return;
    this.body = body;
    this.object.clear();
    this.line?.geometry.dispose();
    this.line = null;
    if (body > 0 && this.run.session) this.begin(TAIL);
    if (body <= 0 || this.run.session || this.run.rows < 2) return;
    const { run } = this, most = 4000, step = Math.max(1, Math.ceil(run.rows / most)), points = [];
    let moved = 0;
    this.step = step;
    for (let i = 0; i < run.rows; i += step) {
      run.pointAt(body, run.model.bodies[body].com, i, spot);
      points.push(...spot);
      for (let k = 0; k < 3; k++) moved = Math.max(moved, Math.abs(spot[k] - points[k]));
    }
    if (points.length < 6 || moved < 1e-4 * run.scale) return;
    this.begin(points.length / 3, points);
  }

  begin(n, points = new Float32Array(3 * n)) {
    const geometry = new LineGeometry();
    geometry.setPositions(points);
    this.count = n - 1;
    this.line = new Line2(geometry, this.material);
    this.line.frustumCulled = false;
    this.object.add(this.line);
  }

  // Of a run that grows, the last rows before now.
  updateTail() {
    const { run, body } = this, { data } = this.line.geometry.attributes.instanceStart, x = data.array;
    const { com } = run.model.bodies[body], last = run.row + 1, step = Math.max(1, Math.ceil(TAIL_TIME / TAIL / Math.max(1e-9, run.session.every)));
    let n = 0;
    const first = Math.max(0, last - step * TAIL);
    for (let i = first - first % step; i < last && n < TAIL; i += step) this.put(x, n++, run.pointAt(body, com, i, spot));
    if (n < TAIL) this.put(x, n++, run.pointAt(body, com, undefined, spot));
    data.needsUpdate = true;
    this.line.geometry.instanceCount = Math.max(0, n - 1);
  }

  put(x, n, p) {  // a point ends a piece of the line and begins the next one
    for (let k = 0; k < 3; k++) {
      if (n > 0) x[6 * n - 3 + k] = p[k];
      if (6 * n + k < x.length) x[6 * n + k] = p[k];
    }
  }

  update() {
    this.object.visible = state.show.trails && this.line !== null && this.body > 0;
    if (this.object.visible && this.run.session) this.updateTail();
    else if (this.object.visible) this.line.geometry.instanceCount = Math.min(this.count, Math.ceil((this.run.row + this.run.part) / this.step));
  }
}
