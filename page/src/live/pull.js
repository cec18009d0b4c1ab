// Pulling at a body with the pointer: a spring from the grabbed point to the pointer, in the plane of the screen through the point.
import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshBasicMaterial, Plane, Quaternion, Raycaster, SphereGeometry, Vector2, Vector3 } from 'three';
import { el, number } from '../dom.js';
import { state } from '../state.js';
import { colors } from '../theme.js';

const Z = new Vector3(0, 0, 1);
const a = new Vector3(), b = new Vector3(), d = new Vector3(), turn = new Quaternion(), spot = [0, 0, 0], pixel = [0, 0, 0];

export class Pull {
  constructor(session) {
    this.session = session;
    this.on = false;      // by the switch: a drag pulls without Ctrl
    this.grabbed = null;  // {body, at, to, plane}
    this.force = 0;
    this.material = new MeshBasicMaterial({ toneMapped: false, depthTest: false, transparent: true });
    this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5), this.material);
    this.head = new Mesh(new ConeGeometry(1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5), this.material);
    this.ball = new Mesh(new SphereGeometry(1, 16, 12), this.material);
    this.object = new Group();
    this.object.add(this.shaft, this.head, this.ball);
    this.object.renderOrder = 6;
    for (const mesh of this.object.children) { mesh.frustumCulled = false; mesh.renderOrder = 6; }
    this.object.visible = false;
    this.ray = new Raycaster();
    this.plane = new Plane();
    this.tag = el('div', { class: 'tag pulls' });
    this.tag.hidden = true;
    this.button = null;
  }

  attach(page, button) {
    this.page = page;
    this.button = button;
    if (!page.scene) return;
    page.scene.world.add(this.object);
    page.host.append(this.tag);
    page.host.addEventListener('pointerdown', (event) => this.begin(event), { capture: true });
    this.toggle(this.on);
  }

  toggle(value = !this.on) {
    this.on = value;
    this.button?.setAttribute('aria-pressed', String(value));
    if (this.page.scene) this.page.scene.canvas.style.cursor = value ? 'grab' : '';
  }

  // Why the run as it stands cannot be pulled at; null where it can.
  refusal(hit) {
    const { session } = this;
    if (state.mode === 'modes') return 'A mode shape is shown: pulling needs the run (Animate).';
    if (!hit) return 'There is nothing to pull at: begin on a body.';
    if (hit.body <= 0) return 'The ground cannot be pulled.';
    if (session.lost) return 'The engine is not there; trying again.';
    if (session.stopped) return `The run has stopped, so nothing would move: ${session.stopped.why}`;
    if (!state.playing && !session.newest) return 'This is the past. R runs on from here; End goes to the newest row.';
    return null;
  }

  begin(event) {
    const { scene } = this.page;
    if (!scene || event.target !== scene.canvas || event.button !== 0 || !(this.on || event.ctrlKey || event.metaKey)) return;
    const hit = scene.hit(event), why = this.refusal(hit);
    if (why && this.on && !hit) return;  // past the bodies the switch leaves the pointer to the camera
    event.stopPropagation();
    event.preventDefault();
    if (why) { this.session.tell('note', why); return; }
    const { run } = this.page;
    a.copy(hit.point);
    this.plane.setFromNormalAndCoplanarPoint(scene.camera.getWorldDirection(d), a);
    scene.world.worldToLocal(a);
    b.copy(a);
    const m = run.matrices, o = 16 * hit.body, at = [0, 0, 0];
    for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) at[k] += m[o + 4 * k + i] * (b.getComponent(i) - m[o + 12 + i]);
    this.grabbed = { body: hit.body, at, to: b.toArray() };
    this.stiffness = 0;
    const { canvas } = scene, move = (e) => this.move(e), up = () => {
      for (const [name, call] of [['pointermove', move], ['pointerup', up], ['pointercancel', up]]) canvas.removeEventListener(name, call);
      this.end();
    };
    canvas.setPointerCapture(event.pointerId);
    for (const [name, call] of [['pointermove', move], ['pointerup', up], ['pointercancel', up]]) canvas.addEventListener(name, call);
    canvas.style.cursor = 'grabbing';
    this.send();
  }

  move(event) {
    const { scene } = this.page, box = scene.canvas.getBoundingClientRect();
    if (!this.grabbed) return;
    this.ray.setFromCamera(pointer.set((event.clientX - box.left) / box.width * 2 - 1, 1 - (event.clientY - box.top) / box.height * 2), scene.camera);
    if (!this.ray.ray.intersectPlane(this.plane, a)) return;
    scene.world.worldToLocal(a).toArray(this.grabbed.to);
    this.send();
  }

  async send() {
    const { grabbed } = this, answer = await this.session.askLatest('pull', { do: 'pull', body: grabbed.body, at: grabbed.at, to: [...grabbed.to], stiffness: 0 });
    if (answer === null || this.grabbed !== grabbed) return;
    if (!answer.ok) {
      this.session.tell('note', answer.error);
      this.end();
      return;
    }
    this.stiffness = answer.stiffness ?? 0;
    this.force = Math.hypot(...(answer.force ?? [0]));
    if (!state.playing) this.session.tell('note', 'Paused: the pull acts when it runs (Space).');
    this.page.scene.dirty = true;
  }

  end() {
    if (!this.grabbed) return;
    this.grabbed = null;
    this.session.latest.get('pull')?.done(null);
    this.session.latest.delete('pull');
    this.session.ask({ do: 'release' });
    this.object.visible = false;
    this.tag.hidden = true;
    this.page.scene.dirty = true;
    this.page.scene.canvas.style.cursor = this.on ? 'grab' : '';
  }

  // Before a picture is drawn.
  update() {
    const { grabbed } = this;
    if (!grabbed) return;
    const { run, scene } = this.page, { scale } = run;
    run.pointAt(grabbed.body, grabbed.at, undefined, spot);
    a.fromArray(spot);
    d.fromArray(grabbed.to).sub(a);
    const length = d.length(), r = 0.007 * scale, tip = Math.min(0.07 * scale, 0.6 * length);
    this.object.visible = true;
    this.material.color.set(colors().force);
    this.ball.position.copy(a);
    this.ball.scale.setScalar(2 * r);
    this.shaft.visible = this.head.visible = length > 1e-4 * scale;
    if (this.shaft.visible) {
      turn.setFromUnitVectors(Z, d.divideScalar(length));
      this.shaft.quaternion.copy(turn);
      this.head.quaternion.copy(turn);
      this.shaft.position.copy(a);
      this.shaft.scale.set(r, r, length - tip);
      this.head.position.copy(a).addScaledVector(d, length - tip);
      this.head.scale.set(2.7 * r, 2.7 * r, tip);
    }
    const newton = this.stiffness > 0 ? this.stiffness * length : this.force;
    this.tag.hidden = false;
    const text = `${number(newton, 3)} N`;
    if (this.tag.textContent !== text) this.tag.textContent = text;
    scene.project(0, grabbed.to, pixel);
    this.tag.style.transform = `translate(${pixel[0].toFixed(1)}px, ${(pixel[1] + 14).toFixed(1)}px) translateX(-50%)`;
  }
}
const pointer = new Vector2();
