// The 3-D view of the editor: the model that compiled last, at its start or where it was moved to, and what the tools draw.
import { AxesHelper, Box3, BufferAttribute, BufferGeometry, Color, GridHelper, Group, Line, LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, Object3D, Plane, Quaternion, Raycaster,
  SphereGeometry, Vector2, Vector3 } from 'three';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';
import { Run } from '../data.js';
import { measure, Scene } from '../scene.js';
import { axisColors, colors } from '../theme.js';

const EMPTY = 0.5;   // m, the size of a model without bodies
const NEAR = 12;     // pixels within which a point catches the pointer
const a = new Vector3(), b = new Vector3(), spot = [0, 0, 0], turn = new Quaternion();

// One state of a model, as the panels and the view know runs: from the answer to a load.
export function makeStill(answer, file) {
  const { model } = answer, bodies = model.bodies.length - 1, columns = answer.columns ?? [], poses = answer.array('poses'), values = answer.array('columns');
  const still = new Run({ rows: 1, file, columns, model }, {}, new Float64Array(1), values?.slice(0, columns.length) ?? new Float32Array(columns.length), new Float32Array(7 * bodies),
    answer.array('triangles')?.slice().buffer ?? new ArrayBuffer(0));
  still.base = -1;
  if (poses) still.poses.set(poses.subarray(poses.length - 7 * bodies));
  still.q = Array.from(answer.array('q') ?? []);
  still.pose(0);
  still.measure = measure(still);
  if (bodies === 0 || still.measure.size.length() < 2e-5) still.measure = emptyMeasure(model.gravity);
  still.scale = still.measure.scale;
  return still;
}

// Seen from the front of the plane in which one begins to draw: upright, and along x.
function emptyMeasure([x, y, z]) {
  const plane = Math.abs(y) > Math.abs(z) ? new Vector3(EMPTY, EMPTY, 0) : new Vector3(EMPTY, 0, EMPTY);
  const size = Math.abs(x) > Math.abs(y) + Math.abs(z) ? new Vector3(EMPTY, EMPTY, EMPTY) : plane, centre = new Vector3();
  return { centre, size, scale: EMPTY, reach: EMPTY, box: new Box3().setFromCenterAndSize(centre, size) };
}

// Another state of the same model: the last row of an answer.
export function poseStill(still, answer) {
  const poses = answer.array('poses'), q = answer.array('q'), n = 7 * still.bodies;
  if (poses?.length >= n) still.poses.set(poses.subarray(poses.length - n));
  if (q) still.q = Array.from(q);
  still.pose(0);
}

export class EditScene extends Scene {
  constructor(run, host, quality) {
    super(run, host, quality);
    this.chosen = -1;
    this.tools = new Group();
    this.tools.renderOrder = 20;
    this.world.add(this.tools);
    this.marker = new Mesh(new SphereGeometry(1, 16, 12), new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }));
    this.line = new Line(new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(6), 3)), new LineBasicMaterial({ depthTest: false }));
    this.line.frustumCulled = false;
    this.dots = new Group();
    this.marker.visible = this.line.visible = false;
    this.marker.renderOrder = this.line.renderOrder = 21;
    this.origin = new AxesHelper(1).setColors(...axisColors.map((x) => new Color(x)));
    Object.assign(this.origin.material, { toneMapped: false, transparent: true, opacity: 0.8 });
    this.tools.add(this.origin, this.marker, this.line, this.dots);
    this.seat = new Object3D();  // what the gizmo moves
    this.world.add(this.seat);
    this.gizmo = new TransformControls(this.camera, this.canvas);
    this.gizmo.setSize(0.85);
    this.gizmo.setColors(...axisColors, '#f0b04a');
    this.gizmo.addEventListener('change', () => { this.dirty = true; });
    this.gizmo.addEventListener('dragging-changed', ({ value }) => { this.controls.enabled = !value; });
    this.three.add(this.gizmo.getHelper());
    this.ray = new Raycaster();
    this.showDots();
    this.paint();
  }

  // Another model in the place of the one before; the camera stays.
  show(run) {
    this.dispose();
    this.run = run;
    this.world.quaternion.copy(this.uprightTurn());
    this.world.updateMatrixWorld(true);
    this.addBodies();
    this.addGround();
    this.addMarks();
    this.choosePaths();
    this.showDots();
    this.paint();
    this.dirty = true;
  }

  pick() {}  // the tools do that
  choosePaths() { this.trail.follow(-1); this.path.follow(-1); }

  paint() {
    super.paint();
    const c = colors();
    if (!this.tools) return;
    for (const p of this.parts) if (p.body === this.chosen && p.instance < 0 && p.mesh.userData.material) p.mesh.material = this.selected;
    this.marker.material.color.set(c.accent);
    this.line.material.color.set(c.accent);
    for (const dot of this.dots.children) dot.material.color.set(dot.userData.name === this.chosenPoint ? c.accent : c.teal);
    this.paintPlane();
  }

  // The points of the file, to be seen and caught.
  showDots() {
    for (const dot of this.dots.children) dot.material.dispose();
    this.dots.clear();
    for (const p of this.run.model.points) {
      const dot = new Mesh(this.marker.geometry, new MeshBasicMaterial({ depthTest: false }));
      dot.userData = { name: p.name, place: p.place };
      dot.renderOrder = 19;
      this.dots.add(dot);
    }
  }

  draw() {
    const r = 0.0045 * this.camera.position.distanceTo(this.controls.target) * (this.camera.fov > 10 ? 1 : this.camera.fov / 32);
    for (const dot of this.dots.children) {
      this.run.pointAt(dot.userData.place.body, dot.userData.place.at, undefined, spot);
      dot.position.set(...spot);
      dot.scale.setScalar(dot.userData.name === this.chosenPoint ? 1.5 * r : r);
    }
    this.marker.scale.setScalar(1.7 * r);
    this.origin.scale.setScalar(20 * r);
    super.draw();
  }

  // ---- the work plane ---------------------------------------------------------------------------------------------------
  setPlane(normal, through, step, shown) {
    this.plane = { normal: normal.clone().normalize(), through: through.clone(), step, shown };
    this.paintPlane();
    this.dirty = true;
  }

  paintPlane() {
    if (this.planeGrid) { this.tools.remove(this.planeGrid); this.planeGrid.dispose(); this.planeGrid = null; }
    if (!this.plane?.shown) return;
    const c = colors(), { normal, through, step } = this.plane, lines = 2 * Math.min(60, Math.max(10, Math.ceil(1.6 * this.run.scale / (5 * step))));  // one for five steps
    this.planeGrid = new GridHelper(lines * 5 * step, lines, c.accent, c.grid);
    Object.assign(this.planeGrid.material, { transparent: true, opacity: 0.35, depthWrite: false });
    this.planeGrid.quaternion.setFromUnitVectors(a.set(0, 1, 0), normal);
    const snap = (x) => Math.round(x / (5 * step)) * 5 * step;
    this.planeGrid.position.set(snap(through.x), snap(through.y), snap(through.z));
    this.planeGrid.position.addScaledVector(normal, normal.dot(b.subVectors(through, this.planeGrid.position)));
    this.tools.add(this.planeGrid);
  }

  // ---- where the pointer is -----------------------------------------------------------------------------------------------
  aim(event) {
    const box = this.canvas.getBoundingClientRect();
    this.ray.setFromCamera(new Vector2((event.clientX - box.left) / box.width * 2 - 1, 1 - (event.clientY - box.top) / box.height * 2), this.camera);
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The body under the pointer, -1: none. place: where, in the model's axes.
  bodyUnder(event) {
    this.aim(event);
    for (const mesh of this.bodies.children) if (mesh.isInstancedMesh) mesh.computeBoundingSphere();
    for (const hit of this.ray.intersectObjects(this.bodies.children, false)) {
      const body = hit.instanceId !== undefined ? hit.object.userData.bodies[hit.instanceId] : hit.object.userData.body;
      if (hit.object.visible && body >= 0) return { body, place: this.toModel(hit.point.clone()) };
    }
    return { body: -1, place: null };
  }

  toModel(p) { return p.applyQuaternion(turn.copy(this.world.quaternion).invert()); }

  // Frames that catch the pointer: points of the file, frames of bodies. [{name, body, at}]
  frames() {
    const { model } = this.run, out = model.points.map((p) => ({ name: p.name, body: p.place.body, at: p.place.at }));
    model.bodies.forEach((body, i) => out.push({ name: body.name, body: i, at: [0, 0, 0] }));
    return out;
  }

  caught(event, without = -1) {
    const [x, y] = this.aim(event), out = [0, 0, 0];
    let best = null;
    for (const f of this.frames()) {
      if (f.body === without) continue;
      this.project(f.body, f.at, out);
      const distance = Math.hypot(out[0] - x, out[1] - y) + (f.name.includes('/') ? 0 : 2);  // a point before the frame of a body
      if (out[2] < 1 && distance < (best?.distance ?? NEAR)) best = { ...f, distance };
    }
    return best;
  }

  // On the work plane, on its grid; null where it is seen from its edge.
  onPlane(event, free) {
    this.aim(event);
    const { normal, through, step } = this.plane, n = normal.clone().applyQuaternion(this.world.quaternion);
    if (Math.abs(n.dot(this.ray.ray.direction)) < 0.05) return null;
    const p = this.ray.ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(n, through.clone().applyQuaternion(this.world.quaternion)), new Vector3());
    if (!p) return null;
    this.toModel(p);
    if (!free) for (const k of ['x', 'y', 'z']) if (Math.abs(normal[k]) < 0.999) p[k] = Math.round(p[k] / step) * step;
    return p;
  }

  // The ray of the pointer in the model's axes.
  rayInModel(event) {
    this.aim(event);
    const q = this.world.quaternion.clone().invert();
    return { origin: this.ray.ray.origin.clone().applyQuaternion(q), direction: this.ray.ray.direction.clone().applyQuaternion(q) };
  }

  bodyMatrixOf(body) { return new Matrix4().fromArray(this.run.matrices, 16 * body); }
  toBody(body, p) { return p.clone().applyMatrix4(this.bodyMatrixOf(body).invert()); }
  toWorld(body, at) { return new Vector3(...this.run.pointAt(body, at, undefined, spot)); }

  mark(place) {
    this.marker.visible = Boolean(place);
    if (place) this.marker.position.copy(place);
    this.dirty = true;
  }

  rubber(from, to) {
    this.line.visible = Boolean(from && to);
    if (this.line.visible) {
      const x = this.line.geometry.attributes.position;
      from.toArray(x.array, 0);
      to.toArray(x.array, 3);
      x.needsUpdate = true;
    }
    this.dirty = true;
  }
}
