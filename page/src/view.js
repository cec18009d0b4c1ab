// What lies over the 3-D view: switches, axes, scale, legend, the tag of the selection.
import { Quaternion, Vector3 } from 'three';
import { clear, el, fixed, number, svg } from './dom.js';
import { icon } from './icons.js';
import { coordinate } from './tree.js';
import { on, set, state, toggle } from './state.js';
import { axisColors, colors } from './theme.js';

const switches = [['shapes', 'box', 'Shapes (S)'], ['frames', 'axis', 'Frames (A)'], ['centres', 'crosshair', 'Centres of mass (C)'],
  ['forces', 'force', 'Forces (V)'], ['trails', 'trail', 'Trails (T)'], ['grid', 'grid', 'Grid (G)']];

export function lengthText(x) {
  return x < 0.999 ? `${number(1000 * x, 3)} mm` : x < 1000 ? `${number(x, 3)} m` : `${number(x / 1000, 3)} km`;
}

export class View {
  constructor(run, host) {
    this.run = run;
    this.host = host;
    this.film = Boolean(host.closest('.film'));
    this.buttons = switches.map(([name, symbol, title]) => [name, el('button', { class: 'button', title, 'aria-label': title, on: { click: () => toggle(name) } }, icon(symbol))]);
    this.follow = el('button', { class: 'button', title: 'Follow (.)', 'aria-label': 'Follow', on: { click: () => this.toggleFollow() } }, icon('locate'));
    const picture = el('button', { class: 'button', title: 'Save a picture', 'aria-label': 'Save a picture', on: { click: () => this.save() } }, icon('camera'));
    this.bar = el('div', { class: 'bar', role: 'toolbar', 'aria-label': 'What is shown' }, ...this.buttons.map((b) => b[1]), el('span', { class: 'gap' }), this.follow, picture);
    this.gizmo = svg('svg', { class: 'gizmo', viewBox: '-42 -42 84 84', 'aria-hidden': 'true' });
    this.scale = el('span', { class: 'scale' });
    this.scaleText = el('span');
    this.cameraText = el('span');
    this.clock = el('b');  // in videos, which have no time line
    this.corner = el('div', { class: 'corner' }, this.clock, this.scale, this.scaleText, this.cameraText);
    this.legend = el('div', { class: 'legend' });
    this.tag = el('div', { class: 'tag' });
    this.tag.hidden = true;
    host.append(this.bar, this.gizmo, this.corner, this.legend, this.tag);
    this.makeGizmo();
    on('show follow', () => this.showSwitches());
    on('show follow selection theme', () => queueMicrotask(() => this.showLegend()));  // after the trails were chosen
    on('selection', () => this.showTag());
    this.showSwitches();
  }

  attach(scene) {
    this.scene = scene;
    scene.forces.changed = () => this.showLegend();
    this.showLegend();
    this.showTag();
  }

  toggleFollow() {
    const body = state.selection?.kind === 'body' ? state.selection.index : this.run.base;
    set({ follow: state.follow > 0 ? -1 : body });
  }

  save() {
    if (!this.scene) return;
    const link = el('a', { href: this.scene.picture(), download: `${this.run.model.name}.png` });
    link.click();
  }

  showSwitches() {
    for (const [name, button] of this.buttons) button.setAttribute('aria-pressed', String(state.show[name]));
    this.follow.setAttribute('aria-pressed', String(state.follow > 0));
  }

  showLegend() {
    const { run, scene } = this, items = [], c = colors();
    if (!scene) return;
    if (state.show.forces && scene.forces.unit > 0) {
      const { length, newton } = scene.forces, kinds = [...new Set(scene.forces.sources.map((s) => s.kind))];
      items.push([c.force, `${kinds.join(', ')} force${kinds.length > 1 ? 's' : ''}, ${lengthText(length)} ≙ ${number(newton, 3)} N`]);
    }
    if (state.show.trails && scene.trail.line) items.push([c.accent, `trail of ${run.model.bodies[scene.trail.body].name}`]);
    if (state.show.trails && scene.path.line) items.push([c.teal, `trail of ${run.model.bodies[scene.path.body].name}`]);
    clear(this.legend).append(...items.map(([color, text]) => el('span', { style: `--c:${color}` }, text)));
  }

  // The name of the selection, where it is.
  showTag() {
    const { run } = this, s = state.selection;
    this.place = null;
    if (s?.kind === 'body' && s.index > 0) {
      const body = run.model.bodies[s.index], joint = run.model.joints[body.joint];
      this.place = { body: s.index, at: body.com };
      this.value = coordinate(run, joint);
      this.text = this.value && joint.name !== body.name ? `${body.name} · ${joint.name}` : body.name;
    } else if (s) {
      const x = { closure: run.model.closures, force: run.model.forces, sensor: run.model.sensors, contact: run.model.contacts }[s.kind]?.[s.index];
      if (x && s.kind === 'contact' && x.b >= 0) this.place = { body: run.model.shapes[x.b].body, at: run.model.shapes[x.b].at };
      else this.place = x?.a?.at ? x.a : x?.place ?? null;
      this.text = x?.name ?? '';
      this.value = null;
    }
    this.tag.hidden = !this.place;
  }

  // ---- axes -----------------------------------------------------------------------------------------------------------
  makeGizmo() {
    this.axes = [];
    for (let i = 0; i < 3; i++) {
      for (const sign of [1, -1]) {
        const direction = new Vector3().setComponent(i, sign), g = svg('g');
        const ball = svg('circle', { r: sign > 0 ? 8.5 : 5, fill: axisColors[i], opacity: sign > 0 ? 1 : 0.3 });
        const line = sign > 0 ? svg('line', { stroke: axisColors[i], 'stroke-width': 2, 'stroke-linecap': 'round' }) : null;
        if (line) g.append(line);
        g.append(ball);
        if (sign > 0) {
          const text = svg('text');
          text.textContent = 'XYZ'[i];
          g.append(text);
        }
        g.addEventListener('click', () => {
          const d = direction.clone().applyQuaternion(this.scene.world.quaternion);
          if (Math.abs(d.z) > 0.9) d.y -= 0.001;
          this.scene.fit(state.follow, d);
        });
        this.axes.push({ g, direction, ball, line });
      }
    }
  }

  drawGizmo() {
    const { camera, world } = this.scene;
    for (const a of this.axes) {
      point.copy(a.direction).applyQuaternion(world.quaternion).transformDirection(camera.matrixWorldInverse);
      a.depth = point.z;
      const x = 29 * point.x, y = -29 * point.y;
      a.ball.setAttribute('cx', x.toFixed(1));
      a.ball.setAttribute('cy', y.toFixed(1));
      a.line?.setAttribute('x2', x.toFixed(1));
      a.line?.setAttribute('y2', y.toFixed(1));
      const text = a.g.querySelector('text');
      if (text) { text.setAttribute('x', x.toFixed(1)); text.setAttribute('y', y.toFixed(1)); }
    }
    this.axes.sort((p, q) => p.depth - q.depth);
    this.gizmo.replaceChildren(...this.axes.map((a) => a.g));
  }

  drawScale() {
    const { camera, controls } = this.scene, distance = camera.position.distanceTo(controls.target);
    const perPixel = 2 * distance * Math.tan(camera.fov * Math.PI / 360) / this.host.clientHeight, wanted = 80 * perPixel;
    const power = 10 ** Math.floor(Math.log10(wanted)), length = power * (wanted / power >= 5 ? 5 : wanted / power >= 2 ? 2 : 1);
    this.scale.style.width = `${(length / perPixel).toFixed(1)}px`;
    this.scaleText.textContent = lengthText(length);
    this.cameraText.textContent = `${camera.fov > 10 ? 'perspective' : 'parallel'}${state.follow > 0 ? ` · following ${this.run.model.bodies[state.follow].name}` : ''}`;
  }

  // After a picture was drawn.
  update() {
    if (!this.scene) return;
    const { camera } = this.scene, distance = camera.position.distanceTo(this.scene.controls.target);
    if (this.film) this.clock.textContent = `${fixed(state.time, 2)} s`;
    if (!camera.quaternion.equals(lastTurn)) this.drawGizmo();
    if (distance !== this.distance || camera.fov !== this.fov || state.follow !== this.followed) this.drawScale();
    lastTurn.copy(camera.quaternion);
    this.distance = distance;
    this.fov = camera.fov;
    this.followed = state.follow;
    if (!this.place) return;
    this.scene.project(this.place.body, this.place.at, spot);
    const text = this.value ? `${this.text} ${this.value()}` : this.text;
    if (this.tag.textContent !== text) this.tag.textContent = text;
    this.tag.style.transform = `translate(${spot[0].toFixed(1)}px, ${(spot[1] - 34).toFixed(1)}px) translateX(-50%)`;
  }
}
const point = new Vector3(), lastTurn = new Quaternion(2, 0, 0, 0), spot = [0, 0, 0];
