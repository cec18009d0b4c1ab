// The 3-D view: bodies, ground, light, camera. One matrix a body and frame, from run.matrices; nothing is allocated in a frame.
import { AmbientLight, BackSide, Box3, Color, DirectionalLight, DoubleSide, FrontSide, Group, HemisphereLight, InstancedMesh, Matrix4, Mesh,
  MeshStandardMaterial, MOUSE, NeutralToneMapping, PerspectiveCamera, PlaneGeometry, Quaternion, Raycaster, Scene as ThreeScene,
  ShaderMaterial, ShadowMaterial, Vector2, Vector3, VSMShadowMap, WebGLRenderer } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { Centres, Forces, Frames, Joints, Springs, Trail } from './marks.js';
import { bodyPoints, drawnShapes, figure, geometryKey, halfExtents, localMatrix, shapeGeometry, thickness } from './shapes.js';
import { isSelected, on, set, state } from './state.js';
import { colors } from './theme.js';

const MANY = 12;  // equal shapes that become instances
const SMALLEST = 0.5;  // m, the radius of a model without extent
const matrix = new Matrix4(), v = new Vector3(), w = new Vector3();

// Lengths of the model, for everything whose size has no other measure: radius about its bodies at the start. What it reaches in the whole
// run counts where that is not much more, and nothing carries it away, or where its bodies begin in one point. SMALLEST: where they stay there.
export function measure(run) {
  const first = boxAt(run, run.start, new Box3()), all = first.clone();
  for (let i = 1; i <= 12; i++) boxAt(run, run.start + (run.end - run.start) * i / 12.3, all);
  run.pose(run.start);
  if (first.isEmpty()) first.expandByPoint(v.set(0, 0, 0));
  const point = radius(first) < 1e-3 * radius(all);
  if (point) all.expandByScalar(0.15 * radius(all));  // for the figures of the bodies themselves
  const box = run.base < 0 && (point || radius(all) < 1.8 * radius(first)) ? all : first;
  const scale = radius(box) > 1e-6 ? radius(box) : SMALLEST;
  return { centre: box.getCenter(new Vector3()), size: box.getSize(new Vector3()), scale, reach: scale, box };
}

const radius = (box) => box.getSize(v).length() / 2;

// t null: as the bodies stand now.
function boxAt(run, t, box) {
  const { model } = run, points = bodyPoints(model), drawn = drawnShapes(model), spot = [0, 0, 0];
  if (t !== null) run.pose(t);
  const add = (body, at) => {
    run.pointAt(body, at, undefined, spot);
    box.expandByPoint(w.set(spot[0], spot[1], spot[2]));
  };
  model.bodies.forEach((body, i) => {
    if (i > 0 || points[0].length > 0) for (const p of points[i]) add(i, p);
    if (i > 0) { add(i, [0, 0, 0]); add(i, body.com); }
    for (const k of drawn[i]) {
      const s = model.shapes[k], half = halfExtents(s, run.triangles);
      if (i === 0 && Math.max(...half) > 100) continue;
      for (let c = 0; c < 8; c++) {
        v.set(c & 1 ? half[0] : -half[0], c & 2 ? half[1] : -half[1], c & 4 ? half[2] : -half[2]).applyMatrix4(localMatrix(s.at, s.turn));
        add(i, v.toArray());
      }
    }
  });
  return box;
}

export class Scene {
  constructor(run, host, quality) {
    this.low = quality === 'low';
    this.renderer = new WebGLRenderer({ antialias: !this.low, alpha: true, powerPreference: 'high-performance' });
    this.canvas = this.renderer.domElement;
    this.canvas.className = 'three';
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'Animation of the model; keys: ? lists them');
    this.renderer.setPixelRatio(this.low ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.setClearColor(0, 0);
    this.renderer.shadowMap.enabled = !this.low;
    this.renderer.shadowMap.type = VSMShadowMap;
    this.three = new ThreeScene();
    this.world = new Group();  // turns the model so that up is z
    this.three.add(this.world);
    this.addLights();
    this.observer = new ResizeObserver(() => this.resize());
    this.load(run, host);
  }

  // A model takes the place of the one before; the camera stays where it is.
  load(run, host) {
    this.dispose();
    this.run = run;
    this.host = host;
    this.dirty = true;
    host.prepend(this.canvas);
    this.world.quaternion.copy(this.uprightTurn());
    this.world.updateMatrixWorld();
    this.addBodies();
    this.addGround();
    this.addMarks();
    if (!this.camera) this.addCamera();
    this.paint();
    on('theme selection hidden show', () => { this.paint(); this.dirty = true; });
    on('time mode', () => { this.dirty = true; });
    on('follow', () => { this.followed = null; this.dirty = true; });
    on('selection', () => this.choosePaths());
    this.choosePaths();
    this.observer.disconnect();
    this.observer.observe(host);
    this.resize();
  }

  close() {
    this.observer.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }

  dispose() {
    for (const object of this.marks ? [this.bodies, this.grid, this.shade, ...this.marks.map((mark) => mark.object)] : []) {
      object.removeFromParent();
      object.traverse((x) => { x.geometry?.dispose(); x.material?.dispose?.(); x.dispose?.(); });
    }
  }

  uprightTurn() {
    const g = new Vector3(...this.run.model.gravity);
    const up = g.length() > 0 ? g.normalize().negate() : new Vector3(0, 0, 1);
    return Math.abs(up.z) > 0.9 ? new Quaternion() : new Quaternion().setFromUnitVectors(up, new Vector3(0, 0, 1));
  }

  addLights() {
    this.sky = new HemisphereLight(0xffffff, 0xb9c2cf, this.low ? 2.2 : 1.7);
    this.sky.position.set(0, 0, 1);
    this.sun = new DirectionalLight(0xffffff, this.low ? 1.6 : 2.1);
    this.fill = new DirectionalLight(0xffffff, 0.5);
    this.three.add(this.sky, this.sun, this.sun.target, this.fill, new AmbientLight(0xffffff, 0.25));
    if (this.low) return;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    this.sun.shadow.blurSamples = 8;
    this.sun.shadow.bias = -2e-4;
  }

  // ---- bodies ---------------------------------------------------------------------------------------------------------
  addBodies() {
    const { run } = this, { model } = run;
    this.drawn = drawnShapes(model);
    this.parts = [];      // {body, local, mesh, instance}
    this.materials = new Map();
    this.radius = model.bodies.map(() => null);
    this.bodies = new Group();
    this.world.add(this.bodies);
    model.shapes.forEach((s) => { s.matrix = localMatrix(s.at, s.turn); });
    const groups = new Map();
    this.drawn.forEach((list) => list.forEach((i) => {
      const s = model.shapes[i], key = `${geometryKey(s)} ${s.color ?? ''} ${s.body === 0}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(i);
    }));
    for (const list of groups.values()) this.addShapes(list.map((i) => model.shapes[i]));
    const points = bodyPoints(model);
    model.bodies.forEach((body, i) => {
      if (i === 0 || this.drawn[i].length > 0) return;
      const { radius, parts } = figure(body, points[i], run.scale, this.low);
      this.radius[i] = radius;
      for (const geometry of parts) this.addMesh(geometry, i, new Matrix4(), this.material(null));
    });
  }

  addShapes(shapes) {
    const first = shapes[0], geometry = shapeGeometry(first, this.run.triangles, this.low, shapes.length);
    if (!geometry) return;
    const material = this.material(first.color ?? null, first.size[0] < 0);
    for (const s of shapes) {
      const r = thickness(s);
      if (r !== null) this.radius[s.body] = Math.max(this.radius[s.body] ?? 0, r);
    }
    if (shapes.length < MANY) {
      for (const s of shapes) this.addMesh(geometry, s.body, s.matrix, material);
      return;
    }
    const mesh = new InstancedMesh(geometry, material, shapes.length);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = true;
    shapes.forEach((s, i) => {
      mesh.setColorAt(i, white);
      this.parts.push({ body: s.body, local: s.matrix, mesh, instance: i });
    });
    mesh.userData.bodies = shapes.map((s) => s.body);
    this.bodies.add(mesh);
  }

  addMesh(geometry, body, local, material) {
    const mesh = new Mesh(geometry, material);
    mesh.matrixAutoUpdate = false;
    mesh.castShadow = body > 0;
    mesh.receiveShadow = true;
    mesh.userData.body = body;
    mesh.userData.material = material;
    this.bodies.add(mesh);
    this.parts.push({ body, local, mesh, instance: -1 });
  }

  material(color, hollow = false) {
    const key = `${color ?? 'body'} ${hollow}`;
    if (!this.materials.has(key)) {
      const alpha = hollow ? 0.25 : color ? color[3] : 1;
      const material = new MeshStandardMaterial({ roughness: 0.5, metalness: 0.02, side: hollow ? BackSide : DoubleSide });
      if (alpha < 1) Object.assign(material, { transparent: true, opacity: alpha, depthWrite: false });
      material.userData.color = color;
      this.materials.set(key, material);
    }
    return this.materials.get(key);
  }

  // Where a ground lies that the model does not have: below all of it.
  lowest(size) {
    const { centre, scale } = this.run.measure, half = size.length() / 2;
    return v.copy(centre).applyQuaternion(this.world.quaternion).z - half - 1e-4 * scale;
  }

  // ---- ground ---------------------------------------------------------------------------------------------------------
  addGround() {
    const { run } = this, { centre, size, scale } = run.measure;
    const floor = run.model.shapes.find((s) => s.type === 'plane' && s.body === 0 &&
      v.setFromMatrixColumn(s.matrix, 2).applyQuaternion(this.world.quaternion).z > 0.99);
    this.hasFloor = Boolean(floor);
    this.ground = floor ? v.setFromMatrixPosition(floor.matrix).applyQuaternion(this.world.quaternion).z - 1e-4 * scale : this.lowest(size);
    const step = 10 ** Math.round(Math.log10(scale / 5));
    this.gridMaterial = new ShaderMaterial({
      transparent: true,
      depthWrite: false,
      uniforms: { color: { value: new Color() }, step: { value: step }, centre: { value: new Vector2() }, reach: { value: 7 * scale }, strength: { value: 0.5 } },
      vertexShader: 'varying vec2 p; void main() { vec4 q = modelMatrix * vec4(position, 1.0); p = q.xy; gl_Position = projectionMatrix * viewMatrix * q; }',
      fragmentShader: `uniform vec3 color; uniform float step, reach, strength; uniform vec2 centre; varying vec2 p;
        float lines(float s) { vec2 g = abs(fract(p / s - 0.5) - 0.5) / fwidth(p / s); return 1.0 - min(min(g.x, g.y), 1.0); }
        void main() {
          float far = 1.0 - smoothstep(0.15 * reach, reach, distance(p, centre));
          float a = max(0.4 * lines(step), lines(5.0 * step)) * far * strength;
          if (a < 0.004) discard;
          gl_FragColor = vec4(color, a);
          #include <colorspace_fragment>
        }`,
    });
    this.grid = new Mesh(new PlaneGeometry(30 * scale, 30 * scale), this.gridMaterial);
    this.grid.position.z = this.ground;
    this.shade = new Mesh(new PlaneGeometry(30 * scale, 30 * scale), new ShadowMaterial({ opacity: 0.22 }));
    this.shade.position.z = this.ground;
    this.shade.receiveShadow = true;
    this.three.add(this.grid);
    if (!this.low) this.three.add(this.shade);
    // Planes that are not the floor: walls and slopes, so faint that they hide nothing.
    this.wall = new MeshStandardMaterial({ transparent: true, opacity: 0.1, side: FrontSide, depthWrite: false });  // those between the eye and the model are not seen
    for (const s of run.model.shapes) {
      if (s.type !== 'plane' || s === floor) continue;
      const mesh = new Mesh(new PlaneGeometry(2 * scale, 2 * scale), this.wall);
      const n = v.setFromMatrixColumn(s.matrix, 2), at = w.setFromMatrixPosition(s.matrix);
      const near = centre.clone().addScaledVector(n, -n.dot(centre.clone().sub(at)));
      mesh.matrixAutoUpdate = false;
      const local = s.body === 0 ? s.matrix.clone().setPosition(near) : s.matrix;
      mesh.userData.body = -1;
      this.bodies.add(mesh);
      this.parts.push({ body: s.body, local, mesh, instance: -1 });
    }
  }

  addMarks() {
    const { run } = this, { scale } = run;
    const radiusOf = (body) => {
      const parent = run.model.bodies[body].parent, own = this.radius[body], other = parent > 0 ? this.radius[parent] : null;
      const shapes = this.drawn[body].map((i) => run.model.shapes[i]);
      if (shapes.some((s) => s.triangles)) return null;
      const r = 1.25 * Math.min(own ?? Infinity, other ?? Infinity);
      return Math.min(Math.max(Number.isFinite(r) ? r : 0.02 * scale, 0.008 * scale), 0.06 * scale);
    };
    this.marks = [new Joints(run, radiusOf, this.low), new Springs(run, this.low), new Frames(run, 0.16 * scale), new Centres(run, 0.018 * scale)];
    this.forces = new Forces(run);
    this.trail = new Trail(run);
    this.path = new Trail(run);
    this.marks.push(this.forces, this.trail, this.path);
    for (const mark of this.marks) this.world.add(mark.object);
  }

  // Trails: of the selected body, and of the one that carries the others.
  choosePaths() {
    const selected = state.selection?.kind === 'body' ? state.selection.index : -1;
    this.trail.follow(selected);
    this.path.follow(this.run.base === selected ? -1 : this.run.base);
    this.dirty = true;
  }

  // ---- camera ---------------------------------------------------------------------------------------------------------
  addCamera() {
    this.camera = new PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.zoomToCursor = true;
    this.controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.turned = false;  // by the user
    this.controls.addEventListener('start', () => { this.turned = true; });
    this.raycaster = new Raycaster();
    let down = null;
    this.canvas.addEventListener('pointerdown', (event) => { down = [event.clientX, event.clientY]; });
    this.canvas.addEventListener('pointerup', (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4 && event.button === 0) this.pick(event);
    });
    this.canvas.addEventListener('dblclick', () => { if (state.selection?.kind === 'body') this.fit(state.selection.index); });
    this.fit(-1, this.firstDirection());
  }

  // Three-quarter view from front right above; mechanisms in a plane are seen nearly from the front.
  firstDirection() {
    const size = w.copy(this.run.measure.size).applyQuaternion(this.world.quaternion);
    const x = Math.abs(size.x), y = Math.abs(size.y), most = Math.max(x, y, Math.abs(size.z));
    if (y < 0.2 * most && y <= x) return v.set(0.32, -1, 0.3);
    if (x < 0.2 * most) return v.set(1, -0.32, 0.3);
    return v.set(0.75, -1, 0.62);
  }

  // Everything, or one body, in the view.
  fit(body = -1, direction = null) {
    const { run } = this, centre = new Vector3();
    let { reach } = run.measure;
    if (direction === null) direction = v.subVectors(this.camera.position, this.controls.target);
    const toward = direction.clone().normalize();
    if (body > 0) {
      const at = run.pointAt(body, run.model.bodies[body].com, undefined, [0, 0, 0]);
      centre.set(...at);
      reach = 0.35 * run.scale;
    } else {
      centre.copy(run.measure.centre);
      if (run.base > 0) {  // where the model has gone by now
        const now = run.pointAt(run.base, [0, 0, 0], undefined, [0, 0, 0]), then = run.pointAt(run.base, [0, 0, 0], 0, [0, 0, 0]);
        centre.add(w.set(now[0] - then[0], now[1] - then[1], now[2] - then[2]));
      } else {
        // Likewise without such a body, unless something has flown so far that nothing else would be seen.
        const now = boxAt(run, null, new Box3()), size = now.isEmpty() ? 0 : radius(now);
        if (size > 0 && size < 30 * run.scale && now.getCenter(v).distanceTo(centre) + size > 1.5 * run.scale) {
          now.getCenter(centre);
          reach = Math.max(reach, size);
        }
      }
    }
    centre.applyQuaternion(this.world.quaternion);
    const narrow = Math.min(1, this.camera.aspect), half = Math.tan(this.camera.fov * Math.PI / 360);
    this.place(centre, toward, 1.04 * reach / (half * narrow));  // a sphere is seen larger than its middle
  }

  // Of a run that grows: all that it has reached by now is in the view, where that is not much more than at its start.
  widen() {
    const { measure: known, scale } = this.run, size = radius(boxAt(this.run, null, known.box));
    if (size < 1.02 * known.reach || size > 1.8 * scale) return;
    known.reach = size;
    known.box.getCenter(known.centre);
    if (!this.hasFloor) this.ground = Math.min(this.ground, this.lowest(known.box.getSize(w)));
    this.fit();
  }

  place(target, toward, distance) {
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(toward, distance);
    this.camera.near = distance / 100;
    this.camera.far = distance * 60;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.followed = null;
    this.followBody();  // from here on
    this.dirty = true;
  }

  // The camera of another view of the same model.
  look({ target, position, fov }) {
    this.camera.fov = fov;
    const toward = new Vector3().subVectors(position, target), distance = toward.length();
    this.place(target, toward.normalize(), distance);
    this.turned = true;
  }

  view(x, y, z) { this.fit(state.follow, new Vector3(x, y, z)); }

  // Parallel lines stay parallel: from far away, through a narrow angle.
  togglePerspective() {
    const fov = this.camera.fov > 10 ? 2 : 32, toward = new Vector3().subVectors(this.camera.position, this.controls.target);
    const distance = toward.length() * Math.tan(this.camera.fov * Math.PI / 360) / Math.tan(fov * Math.PI / 360);
    this.camera.fov = fov;
    this.place(this.controls.target.clone(), toward.normalize(), distance);
  }

  followBody() {
    if (state.follow <= 0) return;
    const spot = this.run.pointAt(state.follow, [0, 0, 0], undefined, followSpot);
    v.set(spot[0], spot[1], spot[2]).applyQuaternion(this.world.quaternion);
    if (this.followed) {
      w.subVectors(v, this.followed);
      if (w.lengthSq() > 0) {
        this.camera.position.add(w);
        this.controls.target.add(w);
        this.controls.update();
      }
      this.followed.copy(v);
    } else this.followed = v.clone();
  }

  // What is under the pointer: {body, point}, null where nothing is. The ground is body 0.
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2((event.clientX - box.left) / box.width * 2 - 1, 1 - (event.clientY - box.top) / box.height * 2);
    this.raycaster.setFromCamera(at, this.camera);
    for (const mesh of this.bodies.children) if (mesh.isInstancedMesh) mesh.computeBoundingSphere();
    for (const hit of this.raycaster.intersectObjects(this.bodies.children, false)) {
      const body = hit.instanceId !== undefined ? hit.object.userData.bodies[hit.instanceId] : hit.object.userData.body;
      if (hit.object.visible && body >= 0) return { body, point: hit.point };
    }
    return null;
  }

  pick(event) {
    const body = this.hit(event)?.body ?? 0;
    set({ selection: body > 0 ? { kind: 'body', index: body } : null });
  }

  // ---- frames ---------------------------------------------------------------------------------------------------------
  paint() {
    const c = colors();
    for (const material of this.materials.values()) {
      const own = material.userData.color;
      if (own && !state.show.technical) material.color.setRGB(own[0], own[1], own[2], 'srgb');
      else material.color.set(c.body);
    }
    this.selected ??= new MeshStandardMaterial({ roughness: 0.45, side: DoubleSide });
    this.selected.color.set(c.accent);
    this.selected.emissive.set(c.accent).multiplyScalar(0.25);
    this.wall.color.set(c.mute);
    this.gridMaterial.uniforms.color.value.set(c.grid);
    this.gridMaterial.uniforms.strength.value = state.theme === 'dark' ? 0.42 : 0.5;
    this.grid.visible = state.show.grid;
    this.shade.material.opacity = state.theme === 'dark' ? 0.55 : 0.22;
    const accent = new Color(c.accent);
    for (const p of this.parts) {
      const chosen = isSelected('body', p.body);
      if (p.instance >= 0) {
        p.mesh.setColorAt(p.instance, chosen ? accent : white);
        p.mesh.instanceColor.needsUpdate = true;
      } else if (p.mesh.userData.material) {
        p.mesh.material = chosen ? this.selected : p.mesh.userData.material;
      }
    }
    for (const mark of this.marks) mark.paint?.();
    this.trail.material.color.set(c.accent);
    this.path.material.color.set(c.teal);
  }

  resize() {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) return;
    const first = this.camera.aspect === 1;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    if (first) this.fit(-1, this.firstDirection());
    this.dirty = true;
  }

  moveBodies() {
    const { run } = this;
    this.bodies.visible = state.show.shapes;
    for (const p of this.parts) {
      if (p.instance >= 0) {
        matrix.fromArray(run.matrices, 16 * p.body).multiply(p.local);
        if (state.hidden.has(p.body)) matrix.scale(v.set(0, 0, 0));
        matrix.toArray(p.mesh.instanceMatrix.array, 16 * p.instance);
        p.mesh.instanceMatrix.needsUpdate = true;
      } else {
        p.mesh.visible = !state.hidden.has(p.body);
        p.mesh.matrix.fromArray(run.matrices, 16 * p.body).multiply(p.local);
        p.mesh.matrixWorldNeedsUpdate = true;
      }
    }
  }

  // One picture, of the poses in run.matrices.
  draw() {
    this.dirty = false;
    this.moveBodies();
    for (const mark of this.marks) mark.update();
    if (state.mode === 'modes') for (const mark of [this.forces, this.trail, this.path]) mark.object.visible = false;  // of the run
    this.followBody();
    const target = this.controls.target, { scale } = this.run;
    this.sun.target.position.copy(target);
    this.sun.position.copy(target).add(v.set(1.1, -0.7, 2.4).multiplyScalar(2 * scale));
    this.fill.position.copy(target).add(v.set(-1, 1.2, 0.6));
    this.grid.position.set(target.x, target.y, this.ground);
    this.shade.position.set(target.x, target.y, this.ground - 1e-4 * scale);
    this.gridMaterial.uniforms.centre.value.set(target.x, target.y);
    if (!this.low) {
      const camera = this.sun.shadow.camera, reach = 1.7 * scale;
      camera.left = camera.bottom = -reach;
      camera.right = camera.top = reach;
      camera.near = 0.1 * scale;
      camera.far = 12 * scale;
      camera.updateProjectionMatrix();
    }
    this.renderer.render(this.three, this.camera);
  }

  // ---- for labels and tests -------------------------------------------------------------------------------------------
  // Pixels of a point of a body in the view.
  project(body, at, out) {
    const p = this.run.pointAt(body, at, undefined, projectSpot);
    v.set(p[0], p[1], p[2]).applyQuaternion(this.world.quaternion).project(this.camera);
    out[0] = (v.x + 1) / 2 * this.host.clientWidth;
    out[1] = (1 - v.y) / 2 * this.host.clientHeight;
    out[2] = v.z;
    return out;
  }

  // The matrix of a body as it is drawn: taken from what the renderer was given.
  drawnPose(body) {
    const p = this.parts.find((part) => part.body === body);
    if (!p) return null;
    const m = new Matrix4();
    if (p.instance >= 0) p.mesh.getMatrixAt(p.instance, m); else m.copy(this.world.matrixWorld).invert().multiply(p.mesh.matrixWorld);
    return m.multiply(p.local.clone().invert()).toArray();
  }

  picture() {  // as a data address; the buffer is only there right after drawing
    this.draw();
    return this.canvas.toDataURL('image/png');
  }
}
const white = new Color(1, 1, 1), followSpot = [0, 0, 0], projectSpot = [0, 0, 0];
