// The editor in a headless browser: node editor_browser.mjs CHROMIUM SARRUS SESSION PAGE FOLDER [PART...]. SESSION is tests/page/live_pipe.c,
// PAGE the page of sarrus view; files that are saved and pictures go to FOLDER. Models are built by clicks, drags and keys alone, as a person does.
// SARRUS_TEST_LONG=1: also closures of every kind. TIMES=1 tells how long each part took.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';
import { buildFourBar, Hand } from './hand.mjs';
import { attach } from './pipe.mjs';

const [, , program, sarrus, live, html, folder, ...wanted] = process.argv;
const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
let bad = 0;
const fail = (text) => { console.log(`FAILED editor: ${text}`); bad++; };
const ensure = (truth, text) => { if (!truth) fail(text); };
const equal = (a, b, text) => ensure(a === b, `${text}: expected ${JSON.stringify(b).slice(-600)}, found ${JSON.stringify(a).slice(-600)}`);
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function start(browser) {
  const page = await browser.page(1366, 768);
  await attach(page, live, join(root, 'models'), { path: 'pendulum.xml' });
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: resolve(folder) });
  return page;
}

// ---- a four-bar with a spring, from nothing ---------------------------------------------------------------------------
async function checkBuild(page, hand) {
  await hand.start('?quality=low&theme=light');
  const empty = await hand.text();
  await buildFourBar(hand, sarrus, ensure, join(folder, 'editor-light-1366.png'));

  // An error stands at its field, and the model that compiled stays.
  await hand.pick('spring1');
  await hand.fill('stiffness', '10*kk', 'spring', false);
  const wrong = await page.run(() => ({ field: document.querySelector('[data-field="stiffness"]').getAttribute('aria-invalid'), said: document.querySelector('.attribute.wrong .said')?.textContent ?? '',
    banner: document.querySelector('.edit-view .banner').textContent, row: document.querySelectorAll('.outline .row.wrong').length, bodies: window.editor.still.bodies }));
  ensure(wrong.field === 'true' && wrong.said.includes("unknown name 'kk'") && wrong.banner.includes('showing the last model') && wrong.row === 1 && wrong.bodies === 3, `an unknown name: ${JSON.stringify(wrong)}`);
  await page.picture(join(folder, 'editor-error-1366.png'));
  await page.run(() => document.activeElement.blur());
  await hand.key('z', 2);
  ensure(await page.run(() => document.querySelector('.edit-view .banner').hidden && !document.querySelector('.outline .row.wrong')), 'the error is still there after it was undone');

  // What is deleted takes along what refers to it, and comes back.
  const full = await hand.text();
  await hand.pick('crank');
  await hand.key('Delete');
  const less = await hand.text();
  ensure(!/crank|coupler|closure/.test(less) && /rocker/.test(less), `without the crank: ${less}`);
  await hand.key('z', 2);
  equal(await hand.text(), full, 'the crank is back');
  for (let i = 0; i < 40; i++) await page.press('z', 2);
  await hand.idle();
  equal(await hand.text(), empty, 'all undone');
  for (let i = 0; i < 40; i++) await page.press('y', 2);
  await hand.idle();
  equal(await hand.text(), less === full ? '' : await hand.text(), 'all done again');
  ensure((await hand.text()).includes('stiffness'), 'all done again');
}

// ---- a file with comments ---------------------------------------------------------------------------------------------
const file = `<?xml version="1.0"?>
<!-- A pendulum with a formula.
     Two lines of words. -->
<sarrus version='1' name='pendulum'>
\t<parameter name="l"   value="0.3"/>   <!-- m -->
\t<parameter value="2*l" name="span"/>

\t<ground><point name="hook" at="0 0 0.1"/></ground>
\t<body name='arm'>   <!-- the arm -->
\t\t<joint type="revolute"
\t\t       axis="0 1 0"
\t\t       at="l 0 0"/>
\t\t<inertial mass="1.0" com="l/2 0 0" inertia="0 1e-2 1e-2"/><!-- slender -->
\t\t<point name="tip" at="l 0 0"/>
\t</body>
\t<run t-end="1"/>
</sarrus>
`;

async function checkFile(page, hand) {
  const path = join(folder, 'commented.xml');
  writeFileSync(path, file);
  await hand.open('?quality=low&theme=dark');
  const { root: document } = await page.send('DOM.getDocument');
  const { nodeId } = await page.send('DOM.querySelector', { nodeId: document.nodeId, selector: 'input[type=file]' });
  await page.send('DOM.setFileInputFiles', { nodeId, files: [resolve(path)] });
  await page.until('the file is open', () => window.editor.still.model.name === 'pendulum');
  await hand.idle();
  equal(await hand.text(), file, 'the file as it was opened');
  rmSync(path);
  equal(await hand.save('commented.xml'), file, 'the file, saved without a change');
  await hand.pick('arm');
  await hand.fill('mass', '1.5', 'inertial');
  equal(await hand.save('commented.xml'), file.replace('mass="1.0"', 'mass="1.5"'), 'one number changed');
  ensure(await page.run(() => [...document.querySelectorAll('[data-element="inertial"] .beside')].some((x) => x.textContent.includes('0.15'))), 'the value of a formula is not beside it');

  // A place that is a formula gets an offset: the joint is moved along x by its arrow, in steps of the grid.
  await page.run(() => document.activeElement.blur());
  await page.press('g');
  await wait(300);
  const [from, to] = await page.run(() => {
    const { scene } = window.editor, { seat, gizmo, camera, host } = scene, r = host.getBoundingClientRect();
    const size = camera.position.distanceTo(seat.position) * Math.min(1.9 * Math.tan(Math.PI * camera.fov / 360), 7) * gizmo.size / 4;
    return [0.45, 0.45 + 0.1 / size].map((x) => { const p = scene.project(0, [seat.position.x + x * size, seat.position.y, seat.position.z], [0, 0, 0]); return [p[0] + r.left, p[1] + r.top]; });
  });
  await page.move(...from);
  await wait(150);
  await page.drag([from, to], { steps: 12 });
  await hand.idle();
  const moved = await hand.text(), step = await page.run(() => window.editor.tools.step), place = /at="(l \+ [\d.]+) 0 0"\/>/.exec(moved);
  ensure(place && Math.abs(Number(place[1].slice(4)) - 0.1) <= 1.5 * step, `the joint was moved to ${/axis="0 1 0"\s+at="([^"]*)"/.exec(moved)?.[1]}`);
  equal(moved.replace(place?.[1], 'l'), file.replace('mass="1.0"', 'mass="1.5"'), 'nothing else is moved');
  await page.picture(join(folder, 'editor-dark-1366.png'));
  await hand.key('z', 2);
  equal(await hand.text(), file.replace('mass="1.0"', 'mass="1.5"'), 'the move is undone at once');

  // Another name, with its references; a parameter that completes.
  await hand.pick('l');
  await hand.name('length');
  const named = await hand.text();
  ensure(named.includes('value="2*length" name="span"') && named.includes('com="length/2 0 0"') && !/["\s*]l["\s*/]/.test(named), `another name: ${named}`);
  await hand.pick('tip');
  await hand.fill('at', 'sp', 'point', false);
  await page.press('ArrowDown');
  await page.press('Enter');
  await hand.idle();
  ensure((await hand.text()).includes('<point name="tip" at="span"/>') || (await hand.text()).includes('at="span 0 0"'), `completion: ${/<point name="tip"[^>]*>/.exec(await hand.text())[0]}`);
}

// ---- the other tabs -----------------------------------------------------------------------------------------------------
// What was edited is what the page runs, and the editor has its text and its undoing when one comes back.
async function checkTabs(page, hand) {
  await hand.open('?quality=low&theme=light');
  const before = await hand.text(), mass = await page.run(() => window.sarrus.page.run.model.bodies[1].mass);
  equal(before, readFileSync(join(root, 'models/pendulum.xml'), 'utf8'), 'the text of the model that the page came with');
  await hand.pick(/<body name="([^"]*)"/.exec(before)[1]);
  await hand.fill('mass', '7', 'inertial');
  await hand.press('.head [role=tab]:nth-child(1)');
  await page.until('the page has the edited model', () => window.sarrus.state.mode === 'animate' && window.sarrus.page.run.model.bodies[1].mass === 7);
  ensure(mass !== 7, 'the mass was 7 before');
  await page.press(' ');
  await page.until('it runs', () => window.sarrus.state.time > 0.3);
  await page.press(' ');
  await hand.press('.head [role=tab]:nth-child(4)');
  await hand.idle();
  await hand.key('z', 2);
  equal(await hand.text(), before, 'undone after a run');
  await hand.press('.head [role=tab]:nth-child(1)');
  await page.until('the page has the first model again', (x) => window.sarrus.page.run.model.bodies[1].mass === x, mass);
}

// ---- every tool by mouse ------------------------------------------------------------------------------------------------
const native = (...words) => { const x = spawnSync(sarrus, words, { encoding: 'utf8' }); return { ...x, json: x.status === 0 ? JSON.parse(x.stdout) : {} }; };
// A place of a body as it is drawn.
const drawn = (page, body, at) => page.run((b, x) => { const { still } = window.editor; return [...still.pointAt(still.model.bodies.findIndex((y) => y.name === b), x, undefined, [0, 0, 0])]; }, body, at);
const near = (a, b, tolerance, text) => ensure(a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) <= tolerance), `${text}: expected ${b.map((x) => x.toFixed(6))}, found ${a.map((x) => x.toFixed(6))}`);

// Each edit compiles, and is undone and done again: by keys and by the buttons in turn.
let steps = 0;
async function step(page, hand, what, matches, call) {
  const before = await hand.text();
  await call();
  const after = await hand.text(), failed = await page.run(() => window.editor.failed && window.editor.messages.map((m) => m.text).join());
  ensure(after !== before && !failed && matches.test(after) && !matches.test(before), `${what}: ${failed || after}`);
  const go = async (button, key) => { if (steps++ % 2) await hand.press(`[data-do="${button}"]`); else await page.press(key, 2); await hand.idle(); };
  await go('undo', 'z');
  equal(await hand.text(), before, `${what}, undone`);
  await go('redo', 'y');
  equal(await hand.text(), after, `${what}, done again`);
}

async function checkTools(page, hand) {
  await hand.start('?quality=low&theme=light');
  const try1 = (what, matches, call) => step(page, hand, what, matches, call);
  await hand.key('b');
  await try1('a bar', /<body name="body1">/, () => hand.drag([0, 0], [0.2, 0]));
  const joints = ['prismatic', 'ball', 'universal', 'cylindrical', 'helical', 'planar', 'free', 'weld'], forms = ['bar', 'box', 'sphere', 'cylinder'];
  for (const [i, type] of joints.entries()) {
    await hand.choose('Form', forms[i % 4]);
    await hand.choose('Joint', type);
    const x = -0.3 + 0.08 * i;
    await try1(`a ${forms[i % 4]} with a ${type} joint`, new RegExp(`<joint name="joint${i + 2}" type="${type}"`), () => hand.drag([x, -0.2], [x + 0.04, -0.22]));
  }
  await hand.choose('On', 'body1');
  await hand.choose('Joint', 'revolute');
  await try1('a body on another one', /<body name="body10" parent="body1">/, () => hand.drag([-0.1, 0.2], [-0.1, 0.24]));
  const text = await hand.text();
ensure(/<joint name="joint2" type="prismatic" axis="1 0 0" at="-0.3 0 -0.2" rpy="0 0.4636 0"\/>/.test(text), `a slider along its bar: ${/<joint name="joint2"[^>]*>/.exec(text)[0]}`);
  ensure(/<joint name="joint10" type="revolute" axis="0 1 0" at="-0.1 0 0.2"\/>\s*<shape type="cylinder" size="0.04 0.04" rpy="-pi\/2 0 0"/.test(text), `a wheel: ${/<body name="body10"[\s\S]*?<\/body>/.exec(text)[0]}`);

  await hand.key('s');
  for (const kind of ['box', 'sphere', 'cylinder', 'capsule', 'ellipsoid', 'cone']) {
    await hand.choose('Shape', kind);
    await try1(`a ${kind}`, new RegExp(`type="${kind}" size="0.0[^>]*at="0.1 0 0" density`), () => hand.click(0.1, 0));
  }
  await hand.choose('Shape', 'plane');
  await try1('a floor', /<ground>\s*<shape type="plane" at="0.3 0 -0.4"\/>/, () => hand.click(0.3, -0.4));
  await hand.key('p');
  await try1('a point', /<point name="point1" at="0.14 0 0"\/>/, () => hand.click(0.14, 0));
  await hand.key('n');
  await try1('a sensor', /<sensor name="sensor1" point="body1\/tip"\/>/, () => hand.click(0.2, 0));
  await hand.key('l');
  for (const [kind, matches] of [['damper', /<damper name="damper1" a="body1\/tip" b="ground\/point1" damping="1"\/>/], ['link', /<link name="link1" a="body1\/tip" b="ground\/point1" law="-100\*\(z - 0.316\)"\/>/]]) {
    await hand.choose('Kind', kind);
    await try1(`a ${kind}`, matches, async () => { await hand.click(0.2, 0); await hand.click(0.3, 0.3); });
  }
  await hand.key('k');
  await try1('a contact', /<contact name="contact1" a="body1" b="ground" normal="kelvin-voigt"/, async () => { await hand.click(0.06, 0); await hand.click(0.4, 0.2); });
  await page.picture(join(folder, 'editor-tools-1366.png'));

  // A joint is deleted: its body is free; one is given back by the tool.
  await hand.pick('joint1');
  await try1('a joint deleted', /<body name="body1">\s*<shape/, () => hand.key('Delete'));
  await hand.key('j');
  await try1('a joint for a free body', /<body name="body1">\s*<joint name="joint1" type="revolute" axis="0 1 0"\/>/, () => hand.click(0.06, 0));

  const saved = await hand.save('model.xml'), check = native('check', join(folder, 'model.xml'), '--json');
  ensure(saved && check.status === 0, `the saved file: ${check.stderr}`);
  equal(check.json.nbody, 10, 'bodies of the saved file');
}

// Closures of every kind between the tips of two bars that meet, each undone.
async function checkClosures(page, hand) {
  await hand.start('?quality=low&theme=dark');
  await hand.key('b');
  await hand.choose('Joint', 'free');
  await hand.drag([-0.2, 0], [0, 0]);
  await hand.choose('On', 'ground');
  await hand.drag([0.2, 0.2], [0, 0]);
  await hand.key('c');
  for (const kind of ['ball', 'revolute', 'weld', 'prismatic', 'cylindrical', 'universal', 'planar']) {
    await hand.choose('Closure', kind);
    const before = await hand.text();
    await hand.click(0, 0);
    await hand.click(0, 0);
    const text = await hand.text(), failed = await page.run(() => window.editor.failed && window.editor.messages.map((m) => m.text).join());
    ensure(new RegExp(`<closure name="closure1" type="${kind}" a="body[12]/tip" b="body[12]/tip"`).test(text), `a closure ${kind}: ${await hand.say()} ${text}`);
    ensure(!failed, `a closure ${kind}: ${failed}`);
    await hand.key('z', 2);
    equal(await hand.text(), before, `a closure ${kind}, undone`);
  }
  await hand.choose('Closure', 'rod');
  for (const _ of [1, 2]) await hand.click(0, 0);
  ensure(/a rod has a length/i.test(await hand.say()), `a rod without a length: ${await hand.say()}`);
  await hand.click(0, 0);
  await hand.click(0.2, 0.2);
  ensure(/<closure name="closure1" type="rod" a="body[12]\/tip" b="body2" length="0.283"\/>/.test(await hand.text()), `a rod: ${await hand.text()}`);
}

// Turned and dragged: poses are those that follow from the numbers of the file by hand.
async function checkPoses(page, hand) {
  await hand.start('?quality=low&theme=light');
  await hand.key('b');
  await hand.drag([0, 0], [0.2, 0]);
  const before = await hand.text();
  await hand.key('r');
  await hand.pick('joint1');
  await wait(200);
  await hand.turn(Math.PI / 6);
  const turned = await hand.text(), angle = /<joint name="joint1" type="revolute" axis="0 1 0" rpy="0 (\d*)\*?pi\/(\d+) 0"\/>/.exec(turned);
  ensure(angle, `a joint that was turned: ${/<joint[^>]*>/.exec(turned)[0]}`);
  const pitch = angle ? (Number(angle[1] || 1) * Math.PI) / Number(angle[2]) : 0;
  ensure(pitch > 0.2 && pitch < 1 && Math.abs(pitch / (Math.PI / 36) - Math.round(pitch / (Math.PI / 36))) < 1e-9, `turned by ${pitch} rad, in steps of 5 degrees`);
  near(await drawn(page, 'body1', [0.2, 0, 0]), [0.2 * Math.cos(pitch), 0, -0.2 * Math.sin(pitch)], 1e-6, 'the tip of a bar that was turned');
  await page.picture(join(folder, 'editor-turn-1366.png'));
  await hand.key('z', 2);
  equal(await hand.text(), before, 'a turn is undone at once');

  await hand.pick('shape');
  await wait(200);
  await hand.turn(Math.PI / 3);
  ensure(/<shape type="capsule"[^>]*rpy="[^"]+"/.test(await hand.text()) && await hand.text() !== before, `a shape that was turned: ${await hand.text()}`);
  const axis = await page.run(() => { const s = window.editor.still.model.shapes[0]; return s.q ?? s.rot ?? null; });
  ensure(axis === null || axis.length === 4, 'the turn of a shape');
  await hand.key('z', 2);
  equal(await hand.text(), before, 'a turn of a shape is undone at once');
  await page.run(() => { const f = document.querySelector('.readout [data-axis="pitch"]'); f.focus(); f.select(); });
  await page.type('pi/3');
  await page.press('Enter');
  await hand.idle();
  ensure(/rpy="0 pi\/3 0"/.test(await hand.text()), `a rotation that was typed: ${await hand.text()}`);
  await hand.key('z', 2);

  await hand.key('v');
  await hand.drag([0.1, 0], [0, -0.1]);
  const q = Number(/q="([^"]*)"/.exec(await hand.text())?.[1]);
  ensure(Math.abs(q - Math.PI / 2) < 0.06, `dragged by a quarter of a turn: q = ${q}`);
  near(await drawn(page, 'body1', [0.2, 0, 0]), [0.2 * Math.cos(q), 0, -0.2 * Math.sin(q)], 1e-5, 'the tip of a bar that was dragged');
}

// A slider-crank: its slider is where the triangle of crank and rod says.
async function checkCrank(page, hand) {
  await hand.start('?quality=low&theme=dark');
  await hand.key('b');
  await hand.drag([0, 0], [0.1, 0.1]);
  await hand.name('crank');
  await hand.drag([0.1, 0.1], [0.4, 0]);
  await hand.name('rod');
  await hand.choose('Form', 'box');
  await hand.choose('Joint', 'prismatic');
  await hand.choose('On', 'ground');
  await hand.drag([0.4, 0], [0.44, 0.02]);
  await hand.name('slider');
  await hand.key('c');
  await hand.click(0.4, 0);
  await hand.click(0.4, 0);
  const built = await hand.text();
  ensure(/<body name="slider">\s*<joint name="joint3" type="prismatic" axis="1 0 0" at="0.4 0 0"\/>\s*<shape type="box" size="0.08 0.04 0.04"/.test(built) && /parent="crank">\s*<joint name="joint2" type="revolute" axis="0 1 0" at="0.1414 0 0"/.test(built), `a slider-crank: ${built}`);
  await hand.key('v');
  await hand.drag([0.05, 0.05], [0, 0.07]);
  const moved = await hand.text(), a = -Number(/name="joint1"[^>]* q="([^"]*)"/.exec(moved)?.[1]), r = 0.1414, l = 0.3162, [x] = await drawn(page, 'slider', [0, 0, 0]);
  ensure(Math.abs(a - Math.PI / 2) < 0.1, `the crank was dragged to ${a}`);
  near([x], [r * Math.cos(a) + Math.sqrt(l * l - (r * Math.sin(a)) ** 2)], 1e-4, 'the slider, by the triangle');
  await page.picture(join(folder, 'editor-crank-1366.png'));
  await hand.save('model.xml');
  const check = native('check', join(folder, 'model.xml'), '--json');
  equal(check.json.dof, 1, 'degrees of freedom of the slider-crank');
  ensure(native('run', join(folder, 'model.xml'), '--quiet', '--json').status === 0, 'the slider-crank runs');
}

// A cart on two balls stands on a floor, in its plane: it sinks by its weight over the stiffness of both contacts.
async function checkCart(page, hand) {
  await hand.start('?quality=low&theme=light');
  await hand.key('k');
  await hand.click(0, 0.1);
  await hand.click(0.2, 0.1);
  ensure(/between two bodies/.test(await hand.say()), `a contact of nothing: ${await hand.say()}`);
  await hand.key('s');
  await hand.choose('Shape', 'plane');
  await hand.click(0, 0);
  await hand.key('b');
  await hand.choose('Form', 'box');
  await hand.choose('Joint', 'free');
  await hand.choose('On', 'ground');
  await hand.drag([0, 0.12], [0.16, 0.16]);
  await hand.name('cart');
  await hand.choose('Form', 'sphere');
  await hand.choose('Joint', 'revolute');
  await hand.choose('On', 'cart');
  for (const [name, x] of [['rear', -0.12], ['front', 0.12]]) {
    await hand.drag([x, 0.06], [x, 0]);
    await hand.name(name);
  }
  await hand.key('k');
  for (const x of [-0.12, 0.12]) {
    await hand.click(x, 0.03);
    await hand.click(0.4, 0.1);
  }
  const text = await hand.text();
  ensure(/<body name="front" parent="cart">\s*<joint name="joint3" type="revolute" axis="0 1 0" at="0.12 0 -0.06"\/>/.test(text) && (text.match(/<contact /g) ?? []).length === 2, `a cart: ${text}`);
  await page.picture(join(folder, 'editor-cart-1366.png'));
  await hand.save('model.xml');
  const end = native('run', join(folder, 'model.xml'), '--t-end', '1', '--quiet', '--json'), mass = 2700 * (0.32 * 0.04 * 0.08 + 2 * (4 / 3) * Math.PI * 0.06 ** 3), sinks = mass * 9.81 / 2e5;
  ensure(end.status === 0 && Math.abs(end.json.q?.[2] + sinks) < 1e-6, `the cart sinks by ${-end.json.q?.[2]} m, by hand ${sinks}: ${end.stderr}`);
}

// ---- the file is written ------------------------------------------------------------------------------------------------
// With the server itself. What is on the disk is never overwritten unseen.
function serve(path) {
  const server = spawn(sarrus, ['view', path, '--no-open', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((done) => {
    let text = '', errors = '';
    server.stderr.on('data', (part) => { errors += part; });
    server.stdout.on('data', (part) => { text += part; if (text.includes('}')) done({ server, address: JSON.parse(text).address }); });
    server.on('exit', () => done({ errors }));
  });
}

async function checkSave(page) {
  const own = join(folder, 'save'), path = join(own, 'pendulum.xml'), first = readFileSync(join(root, 'models/pendulum.xml'), 'utf8'), disk = () => readFileSync(path, 'utf8');
  rmSync(join(folder, 'pendulum.xml'), { force: true });
  mkdirSync(own, { recursive: true });
  writeFileSync(path, first);
  const { server, address, errors } = await serve(path);
  if (!server) { ensure(/civetweb/.test(errors), `sarrus view: ${errors}`); console.log('  Save is not tested: civetweb is not there'); return; }
  try {
    await page.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: page.injected });
    const hand = new Hand(page, address, folder, fail), asked = () => page.run(() => (document.querySelector('.ask').hidden ? '' : document.querySelector('.ask').textContent));
    const answer = async (word) => { await page.run((x) => { [...document.querySelectorAll('.ask button')].find((y) => y.textContent.startsWith(x)).click(); }, word); await hand.idle(); };
    await hand.open('&quality=low&theme=light');
    equal(await hand.text(), first, 'the text of the file');
    await hand.pick('m');
    await hand.fill('value', '7', 'parameter');
    await hand.key('s', 2);
    await page.until('it is saved', () => !window.editor.doc.changed);
    equal(disk(), first.replace('name="m" value="1"', 'name="m" value="7"'), 'the file, saved');
    ensure(!existsSync(join(folder, 'pendulum.xml')), 'Save is a download');

    // Another program changes the file: the page asks, and both answers do what they say.
    const other = first.replace('<sarrus', '<!-- another hand -->\n<sarrus');
    writeFileSync(path, other);
    await hand.fill('value', '8', 'parameter');
    await page.run(() => document.querySelector('[data-do="save"]').click());
    await page.until('the page asks', () => !document.querySelector('.ask').hidden);
    ensure(/has changed on the disk/.test(await asked()) && disk() === other, `a changed file: ${await asked()}`);
    await page.picture(join(folder, 'editor-save-1366.png'));
    await answer('Reload');
    equal(await hand.text(), other, 'reloaded');
    await hand.key('z', 2);
    equal(await hand.text(), first.replace('name="m" value="1"', 'name="m" value="8"'), 'what was here, after a reload');
    writeFileSync(path, first);
    await hand.key('s', 2);
    await page.until('the page asks again', () => !document.querySelector('.ask').hidden);
    await answer('Overwrite');
    await page.until('it is overwritten', () => !window.editor.doc.changed);
    equal(disk(), first.replace('name="m" value="1"', 'name="m" value="8"'), 'overwritten');
    await page.press('S', 10);
    for (let i = 0; i < 100 && !existsSync(join(folder, 'pendulum.xml')); i++) await wait(50);
    ensure(existsSync(join(folder, 'pendulum.xml')), 'Ctrl Shift S is not a download');

    // The page goes on with the file: it is read again when it changes, and the editor has it. Another model is never written there.
    await hand.press('.head [role=tab]:nth-child(1)');
    await page.until('the page has the file', () => window.sarrus.page.run.model.bodies[1].mass === 8);
    writeFileSync(path, first.replace('name="m" value="1"', 'name="m" value="9.25"'));
    await page.until('the page has read it again', () => window.sarrus.page.run.model.bodies[1].mass === 9.25);
    await hand.press('.head [role=tab]:nth-child(4)');
    await page.until('the editor has it', () => window.editor.doc.text.includes('9.25') && !window.editor.doc.changed);
    await hand.press('[data-do="new"]');
    await page.until('an empty model', () => window.editor.still.bodies === 0);
    ensure((await hand.save('model.xml')).includes('<sarrus') && disk().includes('9.25'), 'another model');
    ensure(await page.run(() => document.querySelector('[data-do="save"]').hidden), 'Save of a model that has no file');
  } finally { server.kill('SIGINT'); }
}

// ---- pictures -----------------------------------------------------------------------------------------------------------
async function takePictures(page, hand) {
  const text = readFileSync(join(root, 'models/mechanisms/stewart-platform.xml'), 'utf8');
  for (const [theme, width, height] of [['light', 2560, 1440], ['dark', 1366, 768]]) {
    await page.size(width, height);
    await hand.open(`?theme=${theme}&quality=low`);
    await page.run((x) => window.editor.show('stewart-platform.xml', x), text);
    await page.until('the platform is there', () => window.editor.still.bodies > 5);
    await hand.idle();
    await hand.pick('platform');
    await wait(600);
    const over = await page.run(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]);
    ensure(over[0] <= 0 && over[1] <= 0, `${theme} ${width}: the page is ${over} larger than the window`);
    await page.picture(join(folder, `editor-platform-${theme}-${width}.png`));
  }
}

const parts = [checkTools, ...(process.env.SARRUS_TEST_LONG === '1' ? [checkClosures] : []), checkPoses, checkCrank, checkCart, checkBuild, checkFile, checkTabs, checkSave, takePictures];
for (const part of parts.filter((x) => wanted.length === 0 || wanted.includes(x.name))) {
  const browser = new Browser(program), begin = performance.now();
  try {
    const page = await start(browser), hand = new Hand(page, pathToFileURL(resolve(html)), folder, fail);
    await part(page, hand);
    ensure(page.complaints.length === 0, `${part.name}: the console says ${page.complaints[0]}`);
    page.pipe?.close();
  } catch (error) {
    fail(`${part.name}: ${error.stack}`);
  } finally {
    await browser.close();
  }
  if (process.env.TIMES) console.log(`  ${part.name}: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
}
process.exit(bad ? 1 : 0);
