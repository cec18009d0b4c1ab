// The hand of a person in the editor: what it does, and what the page says to it; and a four-bar with a spring that it builds by clicks, drags and keys alone.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

export class Hand {
  // address: of a page with the editor as its fourth tab; folder: where files are saved; fail(text)
  constructor(page, address, folder, fail) { Object.assign(this, { page, address, folder, fail }); }
  async open(query) {
    await this.forget();
    await this.page.open(`${this.address}${query}&play=0`);
    await this.press('.head [role=tab]:nth-child(4)');
    await this.page.until('the model is there', () => Boolean(window.sarrus.page.editor?.still));
    await this.page.run(() => { window.editor = window.sarrus.page.editor; });
    await wait(200);
  }
  async start(query) {  // with an empty model
    await this.open(query);
    await this.press('[data-do="new"]');
    await this.page.until('the model is empty', () => window.editor.still.bodies === 0);
    await this.idle();
  }
  // No question whether to leave.
  forget() { return this.page.run(() => { if (window.editor) { window.editor.doc.saved = window.editor.doc.text; window.editor.drawText(); } }); }
  async press(selector) {
    const place = await this.page.run((x) => { const r = document.querySelector(x).getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; }, selector);
    await this.page.click(...place);
  }
  place(x, z) {
    return this.page.run((a, b) => { const s = window.editor.scene, r = s.host.getBoundingClientRect(), p = s.project(0, [a, 0, b], [0, 0, 0]); return [p[0] + r.left, p[1] + r.top]; }, x, z);
  }
  async idle() {
    await wait(30);
    await this.page.until('the program has answered', () => !window.editor.busy);
    await wait(20);
  }
  async key(name, modifiers = 0) { await this.page.press(name, modifiers); await this.idle(); }
  async drag(...places) { await this.page.drag(await Promise.all(places.map(([x, z]) => this.place(x, z)))); await this.idle(); }
  async click(x, z) { const p = await this.place(x, z); await this.page.move(...p); await this.page.click(...p); await this.idle(); }
  async name(text) { await this.page.press('F2'); await wait(60); await this.page.type(text); await this.key('Enter'); }
  text() { return this.page.run(() => window.editor.doc.text); }
  say() { return this.page.run(() => window.editor.status.textContent); }
  // A field of the properties gets another text.
  async fill(field, text, element = '', enter = true) {
    const there = await this.page.run((f, e) => {
      const input = document.querySelector(`.panel ${e ? `[data-element="${e}"] ` : ''}[data-field="${f}"]`);
      input?.focus();
      input?.select?.();
      return Boolean(input);
    }, field, element);
    if (!there) this.fail(`there is no field ${field}`);
    await this.page.type(text);
    await this.idle();
    if (enter) await this.key('Enter');
  }
  // One of the choices above the view.
  async choose(label, text) {
    const there = await this.page.run((l, x) => {
      const select = document.querySelector(`.options select[aria-label="${l}"]`);
      if (select) select.value = x;
      select?.dispatchEvent(new Event('change'));
      return select?.value === x;
    }, label, text);
    if (!there) this.fail(`${label} cannot be ${text}`);
  }
  // Along a ring of the gizmo, about the y of the selection, by an angle.
  async turn(angle) {
    const places = await this.page.run((x) => {
      const { scene } = window.editor, { seat, gizmo, camera, host } = scene, r = host.getBoundingClientRect(), V = seat.position.constructor;
      const size = camera.position.distanceTo(seat.position) * Math.min(1.9 * Math.tan(Math.PI * camera.fov / 360), 7) * gizmo.size / 8;
      return Array.from({ length: 7 }, (_, i) => {
        const u = 0.3 + x * i / 6, p = scene.project(0, new V(size * Math.sin(u), 0, size * Math.cos(u)).applyQuaternion(seat.quaternion).add(seat.position).toArray(), [0, 0, 0]);
        return [p[0] + r.left, p[1] + r.top];
      });
    }, angle);
    await this.page.move(...places[0]);
    await wait(150);
    await this.page.drag(places, { steps: 2 });
    await this.idle();
  }
  async pick(name) {  // a row of the tree
    const place = await this.page.run((x) => { const found = [...document.querySelectorAll('.outline .row')].find((y) => y.querySelector('.label').textContent === x); found?.scrollIntoView({ block: 'nearest' }); const row = found?.getBoundingClientRect(); return row ? [row.left + 60, row.top + 12] : null; }, name);
    if (!place) { this.fail(`the tree has no ${name}`); return; }
    await this.page.click(...place);
    await this.idle();
  }
  async save(name) {
    const path = join(this.folder, name);
    rmSync(path, { force: true });
    await this.page.press('s', 2);
    for (let i = 0; i < 100 && !existsSync(path); i++) await wait(50);
    await wait(100);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }
}

// In an empty model: built, moved, run, saved, run by the program SARRUS. ensure(truth, text) is told what is wrong; pictures: a name of files, or nothing.
export async function buildFourBar(hand, sarrus, ensure, picture = null) {
  const { page } = hand, equal = (a, b, text) => ensure(a === b, `${text}: expected ${JSON.stringify(b)}, found ${JSON.stringify(a)}`), run = (...words) => spawnSync(sarrus, words, { encoding: 'utf8' });
  await hand.key('b');
  await hand.drag([-0.2, 0], [-0.2, 0.2]);
  await hand.name('crank');
  await hand.drag([-0.2, 0.2], [0.2, 0.4]);
  await hand.name('coupler');
  await hand.drag([0.2, 0], [0.2, 0.4]);
  await hand.name('rocker');
  await hand.key('c');
  await hand.click(0.2, 0.4);
  await hand.click(0.2, 0.4);
  await hand.key('l');
  await hand.click(0.2, 0.4);
  await hand.click(-0.3, 0.24);
  if (picture) await page.picture(picture);
  const built = await hand.text();
  equal((built.match(/<body /g) ?? []).length, 3, 'bodies');
  ensure(/<closure [^>]*a="(coupler|rocker)\/tip" b="(coupler|rocker)\/tip" normal="0 1 0"\/>/.test(built), `a closure of both tips: ${built}`);
  ensure(/<body name="coupler" parent="crank">/.test(built) && /<body name="rocker">/.test(built), 'parents');
  ensure(/<spring name="spring1" [^>]*stiffness="100" length="0.525"\/>/.test(built), 'a spring, relaxed at its length');
  ensure(!/\d\.\d{5,}/.test(built), `a number with too many digits: ${built}`);
  await hand.fill('stiffness', '60', 'spring');

  // A drag of the crank by a sixth of a turn: the loop stays closed, and the file has the coordinates.
  await hand.key('v');
  await hand.drag([-0.2, 0.1], [-0.2 + 0.1 * Math.sin(Math.PI / 3), 0.1 * Math.cos(Math.PI / 3)]);
  await hand.idle();
  const moved = await hand.text(), q = Number(/name="joint1"[^>]* q="([^"]*)"/.exec(moved)?.[1]);
  ensure(Math.abs(q - (-Math.PI / 2 + Math.PI / 3)) < 0.05, `the crank was dragged to q = ${q}`);
  const gap = await page.run(() => {
    const { still } = window.editor, p = still.model.points.filter((x) => /(coupler|rocker)\/tip/.test(x.name)).map((x) => [...still.pointAt(x.place.body, x.place.at, undefined, [0, 0, 0])]);
    return Math.hypot(...p[0].map((x, i) => x - p[1][i]));
  });
  ensure(gap < 1e-6, `after the drag the loop is open by ${gap} m`);

  // It runs.
  await page.run(() => { window.editor.before = Array.from(window.editor.still.poses); });
  await page.press(' ');
  await page.until('the bodies move', () => window.editor.before.some((x, i) => Math.abs(x - window.editor.still.poses[i]) > 0.01));  // it swings, and comes back
  await page.until('time passes', () => window.editor.time > 0.4);
  await page.press(' ');
  await hand.idle();
  await hand.key('Home');

  // Saved: a model of one degree of freedom that runs.
  const saved = await hand.save('model.xml');
  equal(saved, await hand.text(), 'the saved file');
  const check = run('check', join(hand.folder, 'model.xml'), '--json');
  ensure(check.status === 0, `the saved file: ${check.stderr}`);
  if (check.status === 0) equal(JSON.parse(check.stdout).dof, 1, 'degrees of freedom of the saved file');
  const motion = run('run', join(hand.folder, 'model.xml'), '--quiet', '--json');
  ensure(motion.status === 0, `the saved file does not run: ${motion.stderr}`);
}
