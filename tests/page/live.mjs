// Tests of a page with a live engine in a headless browser: node live.mjs CHROMIUM FOLDER PROGRAM MODELS [PART...]. FOLDER has view.html and the
// tables that tests/check_live_page.sh made; PROGRAM is a session on its standard input; MODELS the folder that it reads. Pictures go to FOLDER.
import { spawn } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';
import { fingers, nameless, tabOrder } from './hands.mjs';
import { attach, cut } from './pipe.mjs';

const [, , program, folder, engine, models, ...wanted] = process.argv;
const SCRIPT_MS = 8;  // a frame of 60 a second is 16.7 ms: half of it for the script
const SINGLE = 2e-6;  // poses and columns are floats of places of about 1 m
let bad = 0;
const fail = (text) => { console.log(`FAILED live page: ${text}`); bad++; };
const ensure = (truth, text) => { if (!truth) fail(text); };
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function open(page, model, query = '', request = { path: model }, below = '') {
  await attach(page, engine, join(models, below), request);
  await page.open(`${pathToFileURL(join(folder, 'view.html'))}?quality=low&theme=light&play=0${query}`);
}

function quiet(page, what) {
  ensure(page.complaints.length === 0, `${what}: the console says ${page.complaints[0]}`);
  ensure(page.requests.length === 0, `${what}: asks the network for ${page.requests[0]}`);
  page.complaints.length = page.requests.length = 0;
}

const frames = (page, n) => page.run((count) => new Promise((done) => {
  const step = () => { if (count-- > 0) requestAnimationFrame(step); else done(true); };
  step();
}), n);

// Runs to a time and stands there.
async function runTo(page, t) {
  await page.run(() => { window.sarrus.set({ speed: 4 }); window.sarrus.page.run.session.play(); });
  await page.until(`it runs to ${t} s`, (x) => window.sarrus.page.run.end >= x || window.sarrus.page.run.session.stopped !== null, t);
  await page.run(() => { const { page: p, set } = window.sarrus; p.run.session.pause(); set({ time: p.run.end, speed: 1 }); });
  await page.until('the last answer is there', () => !window.sarrus.page.run.session.busy);
  await page.run(() => window.sarrus.set({ time: window.sarrus.page.run.end }));
  await frames(page, 2);
}

const column = (page, name) => page.run((x) => { const { run } = window.sarrus.page, c = run.column(x); return Array.from({ length: run.rows }, (_, i) => [run.times[i], run.value(c, i)]); }, name);
const state = (page) => page.run(() => { const { page: p, state: s } = window.sarrus; return { time: s.time, playing: s.playing, mode: s.mode, rows: p.run.rows, end: p.run.end, start: p.run.start, pill: document.querySelector('.head .pill').textContent }; });

function readTable(name) {
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n').filter((line) => !line.startsWith('#'));
  const names = lines[0].split(',').map((x) => x.replace(/ \[.*\]$/, '')), rows = lines.slice(1).map((line) => line.split(',').map(Number));
  return (word) => { const i = names.indexOf(word); if (i < 0) throw new Error(`no column ${word}`); return rows.map((row) => row[i]); };
}

// ---- rows that come ---------------------------------------------------------------------------------------------------
async function checkRun(page) {
  await open(page, 'pendulum.xml');
  const picture = () => page.run(() => { const { page: p, state: s } = window.sarrus; p.run.pose(s.time); return p.scene.picture(); });
  const first = await picture(), before = await state(page);
  await page.run(() => window.sarrus.page.plots.add({ y: 'v.theta', x: 'q.theta' }));
  ensure(before.rows === 1 && before.time === 0 && before.pill === 'paused', `a page that has begun: ${JSON.stringify(before)}`);
  await page.press(' ');
  await page.until('it runs', () => window.sarrus.state.playing && window.sarrus.state.time > 0.3);
  const running = await state(page);
  ensure(running.pill === 'live', `while it runs the header says ${running.pill}`);
  await page.press(' ');
  await page.until('the last answer is there', () => !window.sarrus.page.run.session.busy);
  await frames(page, 2);
  const after = await state(page);
  ensure(!after.playing && after.time === after.end && after.pill === 'paused', `Space stands at the newest row: ${JSON.stringify(after)}`);
  ensure(first !== await picture(), 'the picture does not change');
  // Rows, and what is drawn, are those of `sarrus run`.
  await runTo(page, 1.2);
  // One column against another goes on with the rows: its dot is where the axes have the newest values, and they reach over all of them.
  await frames(page, 12);
  const phase = await page.run(() => {
    const { plots, run } = window.sarrus.page, plot = plots.plots.at(-1), over = plot.chart.over.getBoundingClientRect(), dot = plot.dot.getBoundingClientRect();
    const { x, y } = plot.chart.scales, values = ['q.theta', 'v.theta'].map((name) => Array.from({ length: run.rows }, (_, i) => run.value(run.column(name), i)));
    const [a, b] = values.map((list) => list.at(-1)), at = [over.left + over.width * (a - x.min) / (x.max - x.min), over.top + over.height * (y.max - b) / (y.max - y.min)];
    const inside = [x, y].every((axis, k) => values[k].every((v) => v > axis.min && v < axis.max));
    return { apart: Math.hypot((dot.left + dot.right) / 2 - at[0], (dot.top + dot.bottom) / 2 - at[1]), inside };
  });
  ensure(phase.apart < 1 && phase.inside, `the phase plot of rows that come: ${JSON.stringify(phase)}`);
  const table = readTable('pendulum.csv'), t = table('t'), theta = table('q.theta'), rows = await column(page, 'q.theta');
  const most = Math.max(...rows.slice(0, 100).map(([x, y]) => Math.abs(y - theta[t.findIndex((s) => Math.abs(s - x) < 1e-9)])));
  ensure(most < SINGLE, `angles are ${most} rad from those of sarrus run`);
  for (const row of [0, 40, 100]) {
    await page.run((i) => window.sarrus.set({ time: window.sarrus.page.run.times[i] }), row);
    await frames(page, 2);
    const m = await page.run(() => window.sarrus.test.pose(1)), q = theta[row];
    // the body turns about y: its z axis in the world is (sin q, 0, cos q)
    const off = Math.hypot(m[8] - Math.sin(q), m[9], m[10] - Math.cos(q), m[12], m[13], m[14]);
    ensure(off < SINGLE, `row ${row}: the rod is drawn ${off} from where it was computed`);
  }
  // The plot has the rows, its window the newest of them.
  await page.press('End');
  await frames(page, 8);
  const plot = await page.run(() => { const p = window.sarrus.page.plots.plots[0]; return { x: Array.from(p.chart.data[0]), y: Array.from(p.chart.data[1]), name: p.columns[0].name, max: p.chart.scales.x.max, value: p.values[0].textContent }; });
  const last = rows.length ? (await column(page, plot.name)).at(-1) : null;
  ensure(plot.x.at(-1) === last[0] && plot.y.at(-1) === last[1] && plot.max >= last[0], `the plot ends at ${plot.x.at(-1)}, the run at ${last[0]}`);
  ensure(Math.abs(Number(plot.value.replace('−', '-')) - last[1]) < 1e-3 * Math.abs(last[1]) + 1e-9, `its legend has ${plot.value} for ${last[1]}`);
  quiet(page, 'run');
}

// ---- the past ---------------------------------------------------------------------------------------------------------
async function checkPast(page) {
  await open(page, 'double-pendulum.xml', '&webgl=none');
  await page.run(() => document.activeElement?.blur());
  const start = await state(page);
  await page.press('ArrowRight');
  await page.until('a step', () => window.sarrus.page.run.rows === 2);
  ensure((await state(page)).time === (await state(page)).end, 'Right does a step and stands there');
  await runTo(page, 0.6);
  const all = await column(page, await page.run(() => window.sarrus.page.run.columns[0].name)), first = await state(page);
  await page.press('ArrowLeft');
  await frames(page, 1);
  ensure((await state(page)).time === all.at(-2)[0], 'Left is the row before');
  ensure((await state(page)).pill === 'in the past', 'the header does not say that this is the past');
  await page.press('ArrowRight');
  await frames(page, 1);
  ensure((await state(page)).time === all.at(-1)[0] && (await state(page)).rows === first.rows, 'Right in the past is the next row');
  await page.press('Home');
  ensure((await state(page)).time === start.time, 'Home');
  // Scrub, then run on from there: the rows after it go, and the same ones come again.
  const row = 30;
  await page.run((t) => window.sarrus.set({ time: t }), all[row][0]);
  await frames(page, 2);
  ensure(await page.run(() => document.querySelector('.here').classList.contains('on')), 'nothing offers to run from here');
  await page.press('r');
  await page.until('it runs from there', (n) => window.sarrus.state.playing && window.sarrus.page.run.rows > n, row + 5);
  await runTo(page, all.at(-1)[0]);
  const again = await column(page, await page.run(() => window.sarrus.page.run.columns[0].name));
  const most = Math.max(...all.slice(row).map(([t, x], i) => Math.abs(again[row + i]?.[1] - x) + Math.abs(again[row + i]?.[0] - t)));
  ensure(most < 1e-5, `run again from row ${row} it is ${most} off`);  // the steps of an adaptive method begin anew there
  ensure(await page.run(() => window.sarrusAsked.some((x) => x.do === 'back')), 'the engine was not asked to go back');
  // What cannot be gone on from says why.
  await page.press('R', 8);
  await page.until('it starts again', () => window.sarrus.page.run.rows === 1 && window.sarrus.state.time === window.sarrus.page.run.start);
  await page.press(']');
  await page.press(']');
  ensure(await page.run(() => window.sarrus.state.speed) === 4, '] is faster');
  await page.press('[');
  await page.press('[');
  // The slider of the time line, by pointer.
  await runTo(page, 0.5);
  const box = await page.run(() => { const r = document.querySelector('.lanes').getBoundingClientRect(), p = window.sarrus.page.timeline; return [r.left + p.x(0.25), r.top + r.height / 2]; });
  await page.click(...box);
  await frames(page, 2);
  ensure(Math.abs((await state(page)).time - 0.25) < 0.01, `a click on the time line goes to ${(await state(page)).time} s`);
  quiet(page, 'past');
}

// ---- coordinates ------------------------------------------------------------------------------------------------------
const gap = (page) => page.run(() => {
  const { run } = window.sarrus.page, { a, b } = run.model.closures[0];
  run.pose(window.sarrus.state.time);
  const p = run.pointAt(a.body, a.at, undefined, [0, 0, 0]), q = run.pointAt(b.body, b.at, undefined, [0, 0, 0]);
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
});
const values = (page) => page.run(() => { const { run } = window.sarrus.page; return Object.fromEntries(run.columns.filter((c) => c.name.startsWith('q.')).map((c) => [c.name, run.value(c, run.rows - 1)])); });

async function checkSlider(page) {
  await open(page, 'mechanisms/four-bar.xml', '&webgl=none');
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 } }));
  const before = await values(page), rows = (await state(page)).rows;
  const slide = (part) => page.run((x) => { const s = document.querySelector('.drawer .properties input[type=range]'); s.value = x; s.dispatchEvent(new Event('input', { bubbles: true })); return s.getAttribute('aria-label'); }, part);
  const label = await slide(600);
  ensure(label === 'crank in degrees', `the first slider is ${label}`);
  await page.until('the pose is there', () => { const s = window.sarrus.page.run.session; return !s.busy && s.latest.size === 0; });
  const after = await values(page), wanted = -Math.PI + 0.6 * 2 * Math.PI;
  ensure(Math.abs(after['q.crank'] - wanted) < SINGLE, `the crank is at ${after['q.crank']}, expected ${wanted}`);
  ensure(Math.abs(after['q.rocker'] - before['q.rocker']) > 1e-3 && Math.abs(after['q.coupler'] - before['q.coupler']) > 1e-3, 'the others do not follow');
  ensure(await gap(page) < 1e-6, `the loop is ${await gap(page)} m open`);
  ensure((await state(page)).rows === rows, 'a pose is a row more');
  // The closed form of the linkage: crank 0.2, coupler 0.6, rocker 0.5, ground 0.7 m.
  const dx = 0.7 - 0.2 * Math.cos(wanted), dy = -0.2 * Math.sin(wanted), d = Math.hypot(dx, dy), a3 = Math.atan2(dy, dx) + Math.acos((0.36 + d * d - 0.25) / (1.2 * d));
  const rocker = Math.atan2(0.6 * Math.sin(a3) - dy, 0.6 * Math.cos(a3) - dx);
  ensure(Math.abs(after['q.rocker'] - rocker) < SINGLE, `the rocker is at ${after['q.rocker']}, expected ${rocker}`);
  // Many moves of the pointer: the last one counts, and the loop is closed at each.
  let most = 0;
  for (let i = 0; i <= 20; i++) { await slide(600 + 10 * i); most = Math.max(most, await gap(page)); }
  await page.until('they are done', () => { const s = window.sarrus.page.run.session; return !s.busy && s.latest.size === 0; });
  const end = -Math.PI + 0.8 * 2 * Math.PI;
  ensure(most < 1e-6 && Math.abs((await values(page))['q.crank'] - end) < SINGLE, `after a drag the crank is at ${(await values(page))['q.crank']}, expected ${end}; loops ${most} m open`);
  // The rocker swings between two angles: beyond them the engine says no, and the slider goes back.
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 3 } }));
  const stands = await values(page);
  await slide(50);
  await page.until('the answer is there', () => { const s = window.sarrus.page.run.session; return !s.busy && s.latest.size === 0 && document.querySelector('.drawer .said.error')?.textContent; });
  const said = await page.run(() => [document.querySelector('.drawer .properties .said').textContent, Number(document.querySelector('.drawer .properties input[type=range]').value)]);
  const back = await values(page), place = 1000 * (stands['q.rocker'] + Math.PI) / (2 * Math.PI);
  ensure(said[0].length > 20 && Object.keys(back).every((k) => back[k] === stands[k]), `a pose that cannot be: ${said[0]}`);
  ensure(Math.abs(said[1] - place) < 1, `the slider stays at ${said[1]}, expected ${place}`);
  // The field takes degrees; the tree has the value.
  await page.run(() => { window.sarrus.set({ selection: { kind: 'body', index: 1 } }); const f = document.querySelector('.drawer .properties .field'); f.focus(); f.value = '45'; });
  await page.press('Enter');
  await page.until('45 degrees', () => Math.abs(window.sarrus.page.run.value(window.sarrus.page.run.column('q.crank'), 0) - Math.PI / 4) < 1e-6);
  await frames(page, 2);
  ensure(await page.run(() => document.querySelector('.tree [aria-selected=true] .value').textContent) === '45.0°', 'the tree has another value');
  // And the run goes on from there.
  await runTo(page, 0.1);
  ensure(await gap(page) < 1e-6, `after running on the loop is ${await gap(page)} m open`);
  const q = await column(page, 'q.crank');
  ensure(Math.abs(q[0][1] - Math.PI / 4) < 1e-6 && q.length > 10, 'the run does not begin at the pose');
  quiet(page, 'slider');
}

// ---- parameters and options ---------------------------------------------------------------------------------------------
// Complete elliptic integral of the first kind, by the arithmetic-geometric mean.
function ellipticK(k) {
  let a = 1, b = Math.sqrt(1 - k * k);
  for (let i = 0; i < 30; i++) [a, b] = [(a + b) / 2, Math.sqrt(a * b)];
  return Math.PI / (2 * a);
}

function periodOf(rows) {  // between two falling zeros
  const zeros = [];
  for (let i = 1; i < rows.length; i++) {
    const [[t0, x0], [t1, x1]] = [rows[i - 1], rows[i]];
    if (x0 > 0 && x1 <= 0) zeros.push(t0 + (t1 - t0) * x0 / (x0 - x1));
  }
  return zeros[1] - zeros[0];
}

async function checkParameters(page) {
  await open(page, 'pendulum.xml', '&webgl=none');
  await page.press('e');
  ensure(await page.run(() => document.querySelector('#panel-parameters').hidden === false), 'E opens the parameters');
  const field = (name, text) => page.run((n, x) => { const row = window.sarrus.page.live.parameters.rows.find((r) => r.name === n); row.field.focus(); row.field.value = x; }, name, text);
  const idle = () => page.until('the answer is there', () => { const s = window.sarrus.page.run.session; return !s.busy && s.latest.size === 0 && s.queue.length === 0; });
  const period = (l) => 4 * Math.sqrt(l / 9.81) * ellipticK(Math.sin(Math.PI / 4));
  await runTo(page, 3.3);
  const long = periodOf(await column(page, 'q.theta'));
  ensure(Math.abs(long - period(1)) < 1e-3, `l = 1 swings in ${long} s, expected ${period(1)}`);
  // Another length while it stands: the state stays; started again, it swings as that length does.
  const stands = (await values(page))['q.theta'];
  await field('l', '0.5');
  await page.press('Enter');
  await page.until('it was compiled', () => window.sarrus.page.run.model.bodies[1].com[2] === -0.5);
  ensure((await values(page))['q.theta'] === stands, 'a parameter moves the state');
  await page.run(() => document.activeElement.blur());
  await page.press('R', 8);
  await page.until('it starts again', () => window.sarrus.page.run.rows === 1);
  await runTo(page, 2.6);
  const short = periodOf(await column(page, 'q.theta'));
  ensure(Math.abs(short - period(0.5)) < 1e-3, `l = 0.5 swings in ${short} s, expected ${period(0.5)}`);
  // While it runs: it goes on running.
  await page.run(() => window.sarrus.page.run.session.play());
  await page.until('it runs', (t) => window.sarrus.page.run.end > t, 2.8);
  await page.run(() => { const row = window.sarrus.page.live.parameters.rows.find((r) => r.name === 'm'); row.slider.value = 80; row.slider.dispatchEvent(new Event('input')); });
  await page.until('it goes on with another mass', () => window.sarrus.page.run.model.bodies[1].mass > 2 && window.sarrus.state.playing);
  const t = (await state(page)).end;
  await page.until('it goes on', (x) => window.sarrus.page.run.end > x + 0.1, t);
  ensure(await page.run(() => window.sarrus.page.run.report.events.some((e) => e.kind === 'change' && e.why.startsWith('m = '))), 'the time line has no mark of the change');
  await page.press(' ');
  // Errors stand at the field, and the last good model stays.
  await idle();
  const mass = await page.run(() => window.sarrus.page.run.model.bodies[1].mass);
  for (const [text, words] of [['1 +', 'expected'], ['2*nobody', 'nobody'], ['-1', '']]) {
    await field('m', text);
    await page.press('Enter');
    await page.until(`an error for ${text}`, () => window.sarrus.page.live.parameters.rows.find((r) => r.name === 'm').error.textContent.length > 5);
    await idle();
    const said = await page.run(() => { const row = window.sarrus.page.live.parameters.rows.find((r) => r.name === 'm'); return [row.error.textContent, row.field.getAttribute('aria-invalid'), window.sarrus.page.run.model.bodies[1].mass]; });
    ensure(said[0].includes(words) && said[1] === 'true' && said[2] === mass, `${text}: ${JSON.stringify(said)}`);
    await page.run(() => { const row = window.sarrus.page.live.parameters.rows.find((r) => r.name === 'm'); row.say(null); row.show(row.p, true); document.activeElement.blur(); });
  }
  // A formula.
  await field('m', '2*0.75');
  await page.press('Enter');
  await page.until('a formula', () => Math.abs(window.sarrus.page.run.model.bodies[1].mass - 1.5) < 1e-9);
  ensure(await page.run(() => window.sarrus.page.live.parameters.rows.find((r) => r.name === 'm').formula.textContent) === '= 1.5', 'a formula without its value');
  // Method and step.
  await page.run(() => document.activeElement.blur());
  await page.press('o');
  const method = await page.run(() => { const s = document.querySelector('#panel-run select'); return [s.getAttribute('aria-label'), [...s.options].length, document.activeElement === s]; });
  ensure(method[0] === 'Method' && method[1] > 5 && method[2], `O opens the options: ${method}`);
  await page.run(() => { const s = document.querySelector('#panel-run select'); s.value = 'rk4'; s.dispatchEvent(new Event('change')); });
  await idle();
  ensure(await page.run(() => window.sarrus.page.run.session.settings.method) === 'rk4', 'the method was not taken');
  await page.run(() => { const f = [...document.querySelectorAll('#panel-run input')].find((x) => x.getAttribute('aria-label') === 'Step'); f.focus(); f.value = '-3'; f.blur(); });
  await page.until('a sentence', () => document.querySelector('#panel-run .said.error')?.textContent.length > 10);
  // What is made of others follows, and a field takes a formula of those before it.
  const text = '<sarrus version="1" name="p"><parameter name="a" value="0.5"/><parameter name="b" value="2*a"/><body name="x"><joint type="revolute" axis="0 1 0" q="1"/><inertial mass="b" com="0 0 -1" inertia="1 1 1"/></body><run t-end="1"/></sarrus>';
  await open(page, '', '&webgl=none', { text, file: 'p.xml' });
  await page.press('e');
  await field('a', '0.75');
  await page.press('Enter');
  await page.until('b follows a', () => window.sarrus.page.run.model.bodies[1].mass === 1.5 && window.sarrus.page.live.parameters.rows[1].formula.textContent.includes('1.5'));
  await field('b', '4*a + 1');
  await page.press('Enter');
  await page.until('b is a formula of a', () => window.sarrus.page.run.model.bodies[1].mass === 4);
  await field('a', '1');
  await page.press('Enter');
  await page.until('and follows it', () => window.sarrus.page.run.model.bodies[1].mass === 5);
  ensure(await page.run(() => { const [, b] = window.sarrus.page.live.parameters.rows; return b.field.value === '4*a + 1' && b.slider.parentElement.hidden && b.error.textContent === ''; }), 'the field of b does not show its formula');
  quiet(page, 'parameters');
}

// ---- pulling ------------------------------------------------------------------------------------------------------------
const mouse = (page, type, x, y, modifiers = 2) => page.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1, modifiers });

async function checkPull(page) {
  await open(page, 'pendulum.xml', '', { path: 'pendulum.xml', settings: { theta0: '0' } });
  const at = () => page.run(() => { const { page: p } = window.sarrus, r = p.host.getBoundingClientRect(), s = p.scene.project(1, [0, 0, -0.8], [0, 0, 0]); return [r.left + s[0], r.top + s[1]]; });
  const angle = () => page.run(() => { const { run } = window.sarrus.page; return run.value(run.column('q.theta'), run.rows - 1); });
  await runTo(page, 0.2);
  ensure(Math.abs(await angle()) < 1e-12, 'a pendulum at rest moves by itself');
  // Where nothing, or the past, is under the pointer, it says why.
  const [x, y] = await at(), camera = () => page.run(() => window.sarrus.page.scene.camera.position.toArray()), before = await camera();
  await mouse(page, 'mousePressed', x + 200, y - 150);
  await mouse(page, 'mouseReleased', x + 200, y - 150);
  ensure((await page.run(() => document.querySelector('.toast').textContent)).includes('nothing to pull'), 'pulling at nothing is silent');
  await page.press('Home');
  await frames(page, 2);
  await mouse(page, 'mousePressed', x, y);
  await mouse(page, 'mouseReleased', x, y);
  ensure((await page.run(() => document.querySelector('.toast').textContent)).includes('past'), 'pulling in the past is silent');
  await page.press('End');
  await frames(page, 2);
  // Ctrl drag while it runs.
  await page.press(' ');
  await page.until('it runs', () => window.sarrus.state.playing);
  await mouse(page, 'mousePressed', x, y);
  for (let i = 1; i <= 6; i++) await mouse(page, 'mouseMoved', x + 12 * i, y);

  await page.until('it moves', () => { const { run } = window.sarrus.page; return Math.abs(run.value(run.column('q.theta'), run.rows - 1)) > 0.05; });
  await page.press(' ');
  await page.until('it stands', () => !window.sarrus.page.run.session.busy);
  await frames(page, 3);
  const pulled = await page.run(() => {
    const { page: p } = window.sarrus, { pull } = p.live, spot = p.run.pointAt(1, pull.grabbed.at, undefined, [0, 0, 0]), { to } = pull.grabbed;
    return { newton: Number(document.querySelector('.tag.pulls').textContent.replace(' N', '')), expected: pull.stiffness * Math.hypot(to[0] - spot[0], to[1] - spot[1], to[2] - spot[2]), shown: pull.object.visible && !pull.tag.hidden, at: pull.grabbed.at };
  });
  ensure(pulled.shown && Math.abs(pulled.newton - pulled.expected) < 5e-3 * pulled.expected && pulled.expected > 0.1, `the arrow says ${pulled.newton} N, its spring has ${pulled.expected} N`);
  ensure(Math.abs(pulled.at[2] + 0.8) < 0.05 && Math.abs(pulled.at[0]) < 0.1, `grabbed at ${pulled.at}`);
  // Towards the pointer: to the side of the picture to which it went.
  const now = await page.run(() => { const { page: p } = window.sarrus, r = p.host.getBoundingClientRect(), s = p.scene.project(1, p.live.pull.grabbed.at, [0, 0, 0]); return r.left + s[0]; });
  ensure(now > x + 3, `the body moves to ${now - x} px of the pointer's 72`);
  ensure(JSON.stringify(await camera()) === JSON.stringify(before), 'the camera moves with a pull');
  await mouse(page, 'mouseReleased', x + 72, y);
  await page.until('it is let go', () => window.sarrusAsked.at(-1).do === 'release' || window.sarrusAsked.some((r) => r.do === 'release'));
  await frames(page, 2);
  ensure(await page.run(() => !window.sarrus.page.live.pull.object.visible && document.querySelector('.tag.pulls').hidden), 'the arrow stays');
  // Let go, it keeps its energy: the pull was the only thing that gave it some.
  const t = (await state(page)).end;
  await runTo(page, t + 0.3);
  const kinetic = await column(page, 'kinetic'), potential = await column(page, 'potential'), tail = kinetic.map(([s, x2], i) => [s, x2 + potential[i][1]]).filter(([s]) => s > t + 0.02);
  const [low, high] = [Math.min(...tail.map((r) => r[1])), Math.max(...tail.map((r) => r[1]))];
  ensure(high - low < 1e-4 * Math.max(1e-3, high - potential[0][1]) + 2e-6, `after it was let go the energy changes by ${high - low} J`);
  // By the switch, without Ctrl.
  await page.press('x');
  const [u, w] = await at();
  await mouse(page, 'mousePressed', u, w, 0);
  ensure(await page.run(() => window.sarrus.page.live.pull.grabbed !== null), 'the switch does not pull');
  await mouse(page, 'mouseReleased', u, w, 0);
  await page.press('x');
  quiet(page, 'pull');
}

// ---- runs that cannot go on, servers that go away -------------------------------------------------------------------------
async function checkEnds(page) {
  const text = '<sarrus version="1" name="ends"><body name="b"><joint name="x" type="prismatic" axis="0 0 1"/><inertial mass="1"/></body><event name="low" when="q(x) + 0.5" direction="falling" stop="yes"/><run t-end="2"/></sarrus>';
  await open(page, '', '&webgl=none', { text, file: 'ends.xml' });
  await page.run(() => window.sarrus.page.run.session.play());
  await page.until('it stops', () => window.sarrus.page.run.session.stopped !== null);
  await frames(page, 3);
  const s = await state(page), said = await page.run(() => [document.querySelector('.banner:not([hidden])')?.textContent, window.sarrus.page.timeline.events.map((e) => e.t)]);
  const fall = Math.sqrt(2 * 0.5 / 9.81);
  ensure(!s.playing && s.pill === 'stopped' && Math.abs(s.end - fall) < 1e-4 && s.time === s.end, `it stops at ${s.end}, expected ${fall}: ${JSON.stringify(s)}`);
  ensure(said[0]?.includes('event') && said[1].some((t) => Math.abs(t - fall) < 1e-4), `the page says: ${JSON.stringify(said)}`);
  const beyond = await page.run(() => {
    const { timeline: t, run } = window.sarrus.page, g = t.canvas.getContext('2d'), r = devicePixelRatio, count = (from, to) => {
      const { data } = g.getImageData(r * from, 30 * r, r * (to - from), 50 * r);
      let n = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] > 0) n++;
      return n;
    };
    return count(t.x(run.end) + 3, t.x(run.reach) - 3);
  });
  ensure(beyond > 200, 'the time line is not hatched beyond the end');
  await page.press(' ');
  await frames(page, 2);
  ensure(!(await state(page)).playing && (await page.run(() => document.querySelector('.toast').textContent)).includes('cannot go on'), 'Space at the end is silent');
  // From an earlier row it goes on.
  await page.press('Home');
  await page.press('r');
  await page.until('it stops again', (x) => window.sarrus.page.run.session.stopped !== null && window.sarrus.page.run.rows > 5 && Math.abs(window.sarrus.page.run.end - x) < 1e-4, fall);
  // The program ends: what is there stays, and it comes back.
  const rows = (await state(page)).rows;
  await page.run(() => { window.sarrusGone = true; });
  await cut(page);
  await frames(page, 2);
  const lost = await state(page);
  ensure(lost.pill === 'reconnecting' && lost.rows === rows, `without a server: ${JSON.stringify(lost)}`);
  await wait(600);
  await page.run(() => { window.sarrusGone = false; });
  await page.until('it is back', () => !window.sarrus.page.run.session.lost && !window.sarrus.page.run.session.busy);
  await page.until('the model is there again', () => document.querySelector('.toast').textContent.includes('back'));
  ensure((await state(page)).rows === rows, 'the rows have gone with the server');
  await page.press('Home');
  await page.press('r');
  await page.until('it says that it cannot', () => document.querySelector('.toast').textContent.includes('Shift R'));
  await page.press('R', 8);
  await page.until('it starts again', () => window.sarrus.page.run.rows === 1);
  await page.run(() => window.sarrus.page.run.session.play());
  await page.until('it runs again', () => window.sarrus.page.run.rows > 5);
  quiet(page, 'ends');
}

// ---- a file that changes --------------------------------------------------------------------------------------------------
async function checkReload(page) {
  await open(page, 'double-pendulum.xml');
  await runTo(page, 0.4);
  const text = readFileSync(join(models, 'double-pendulum.xml'), 'utf8');
  await page.run(() => { const { set, page: p } = window.sarrus; set({ selection: { kind: 'body', index: 2 } }); p.plots.add(['kinetic']); p.scene.view(0, -0.001, 1); p.scene.controls.dispatchEvent({ type: 'start' }); p.scene.camera.position.multiplyScalar(1.1); p.scene.controls.update(); });
  await frames(page, 2);
  const look = () => page.run(() => { const { page: p, state: s } = window.sarrus; return JSON.stringify([p.scene.camera.position.toArray().map((x) => Number(x.toFixed(5))), s.selection, p.plots.names]); });
  const before = await look(), { time } = await state(page);
  // A mistake: the last good model stays, with the place of the error.
  await page.run((x) => window.sarrus.page.live.reload({ text: x, file: 'double-pendulum.xml' }), text.replace('</sarrus>', '<body name="'));
  const said = await page.run(() => document.querySelector('.banner:not([hidden])')?.textContent ?? '');
  ensure(/1 error: showing the last model that compiled.*double-pendulum\.xml:\d+:\d+/.test(said), `a file with an error: ${said}`);
  ensure(await look() === before, 'a file with an error changes the view');
  await page.run((x) => window.sarrus.page.live.reload({ text: x, file: 'double-pendulum.xml' }), text.replace(/<sensor/, '<body name="more"><joint name="more" type="revolute" axis="0 1 0"/><inertial mass="1" com="0.1 0 0"/></body>\n  <sensor'));
  await page.until('it has come to where it was', (t) => Math.abs(window.sarrus.state.time - t) < 0.02 && window.sarrus.page.run.session.catchUp === null, time);
  await frames(page, 2);
  ensure(await page.run(() => window.sarrus.page.run.model.bodies.some((b) => b.name === 'more')), 'the new body is not there');
  ensure(await look() === before, `a file that was saved changes the view: ${await look()}, ${before}`);
  ensure(await page.run(() => document.querySelectorAll('canvas.three').length === 1 && !document.querySelector('.banner:not([hidden])')), 'the page has two pictures, or still an error');
  ensure(await page.run(() => document.querySelectorAll('.tree .row').length) >= 4, 'the tree is not there');
  await page.press(' ');
  await page.until('it runs on', (t) => window.sarrus.page.run.end > t + 0.1, time);
  await page.press(' ');
  quiet(page, 'reload');
}

// ---- modes --------------------------------------------------------------------------------------------------------------
async function checkModes(page) {
  await open(page, 'double-pendulum.xml', '');
  await page.press('M', 8);
  await page.until('there are modes, or a sentence', () => window.sarrus.page.modes.there || window.sarrus.page.modes.said.textContent);
  const said = await page.run(() => window.sarrus.page.modes.said.textContent);
  if (said.includes("no request 'modes'")) { console.log('live page: modes: this engine has none'); return; }
  ensure(said === '', `modes: ${said}`);
  await page.run(() => { const { modes } = window.sarrus.page; modes.at.value = 'equilibrium'; modes.at.dispatchEvent(new Event('change')); });
  await page.until('those of the equilibrium', () => window.sarrus.page.modes.asked?.startsWith('equilibrium') && window.sarrus.page.modes.there);
  const list = await page.run(() => window.sarrus.page.modes.list);
  ensure(list.length >= 1 && list.every((m) => m.frequency >= 0), `modes: ${JSON.stringify(list)}`);
  const pose = () => page.run(() => Array.from(window.sarrus.page.run.matrices).join());
  await page.run(() => { const { set } = window.sarrus; set({ playing: true }); });
  const first = await pose();
  await frames(page, 4);
  ensure(first !== await pose(), 'a mode does not move');
  await page.press(' ');
  await frames(page, 2);
  const still = await pose();
  await frames(page, 3);
  ensure(still === await pose(), 'Space does not stop a mode');
  await page.run(() => { const { modes } = window.sarrus.page; modes.slider.value = -4; modes.slider.dispatchEvent(new Event('input')); });
  await frames(page, 2);
  await page.press('M', 8);
  await frames(page, 2);
  ensure((await state(page)).mode === 'animate', 'Shift M leaves the modes');
  quiet(page, 'modes');
}

// ---- keys, labels -------------------------------------------------------------------------------------------------------
async function checkReach(page) {
  await open(page, 'mechanisms/four-bar.xml', '&webgl=none#select=body:1');
  await page.press('?');
  const keys = await page.run(() => [...document.querySelectorAll('.keys .pair')].map((x) => x.textContent));
  for (const word of ['Run from this row', 'Start again', 'Pull at bodies', 'Parameters', 'Method, step']) ensure(keys.some((x) => x.includes(word)), `? does not list: ${word}`);
  await page.press('Escape');
  await page.press('Escape');
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 } }));
  for (const tab of ['selection', 'parameters', 'run']) {
    await page.run((name) => document.getElementById(`tab-${name}`).click(), tab);
    const mute = await page.run(() => [...document.querySelectorAll('button, input, select')].filter((x) => x.offsetParent && !x.getAttribute('aria-label') && !x.textContent.trim() && !x.title && !x.closest('label')).map((x) => x.outerHTML.slice(0, 90)));
    ensure(mute.length === 0, `${tab}: without a name for screen readers: ${mute[0]}`);
    const roles = await page.run((name) => { const p = document.getElementById(`panel-${name}`); return [p.getAttribute('role'), p.hidden, document.getElementById(p.getAttribute('aria-labelledby')).getAttribute('aria-selected')]; }, tab);
    ensure(roles.join() === 'tabpanel,false,true', `${tab}: roles ${roles}`);
  }
  await page.run(() => document.getElementById('tab-run').focus());
  await page.press('ArrowLeft');
  ensure(await page.run(() => document.activeElement.id === 'tab-parameters' && !document.getElementById('panel-parameters').hidden), 'Left moves among the tabs');
  await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] });
  await attach(page, engine, models, { path: 'pendulum.xml' });
  await page.open(`${pathToFileURL(join(folder, 'view.html'))}?webgl=none`);
  await wait(400);
  ensure(!(await state(page)).playing, 'it plays by itself where less motion is preferred');
  await page.send('Emulation.setEmulatedMedia', { features: [] });
  quiet(page, 'reach');
}

// ---- cost of a frame ------------------------------------------------------------------------------------------------------
async function checkCost(page, model, request, below, count = 60) {
  await open(page, model, '', request, below);
  const found = await page.run(async (n) => {
    const { page: p, set, state: s } = window.sarrus, frame = () => new Promise((done) => { requestAnimationFrame(done); });
    p.run.session.play();
    while (p.script.length < n / 3) await frame();
    p.script.length = 0;
    const from = p.run.rows + p.run.dropped;
    while (p.script.length < n && s.playing) await frame();
    set({ playing: false });
    const sorted = p.script.slice(0, n).sort((a, b) => a - b), info = p.scene.renderer.info.render;
    return { n: sorted.length, median: sorted[sorted.length >> 1], worst: sorted.at(-1), rows: p.run.rows + p.run.dropped - from, calls: info.calls, triangles: info.triangles, stopped: p.run.session.stopped };
  }, count);
  console.log(`live page: ${model}: ${found.median.toFixed(2)} ms of script a frame (worst ${found.worst.toFixed(1)}), ${found.rows} rows in ${found.n} frames, ${found.calls} calls, ${found.triangles} triangles`);
  ensure(found.n === count && found.rows > 0, `${model}: ${JSON.stringify(found)}`);
  ensure(found.median < SCRIPT_MS, `${model}: ${found.median} ms of script a frame, at most ${SCRIPT_MS}`);
  quiet(page, model);
}

// ---- over the server --------------------------------------------------------------------------------------------------------
async function checkServer(page) {
  if (!process.env.SARRUS) { console.log('live page: server: SARRUS names no program'); return; }
  const path = join(folder, 'served.xml'), text = readFileSync(join(models, 'pendulum.xml'), 'utf8');
  copyFileSync(join(models, 'pendulum.xml'), path);
  const server = spawn(process.env.SARRUS, ['view', path, '--no-open'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  server.stdout.on('data', (part) => { said += part; });
  server.stderr.on('data', (part) => { said += part; });
  for (let i = 0; i < 200 && !/http:\S+/.test(said) && server.exitCode === null; i++) await wait(50);
  if (said.includes('needs civetweb')) { console.log('live page: server: this build has none'); return; }
  const address = /http:\S+/.exec(said)?.[0];
  if (!address) { fail(`sarrus view says: ${said}`); return; }
  if (page.injected) await page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: page.injected });
  page.injected = null;
  await page.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  try {
    await page.open(`${address}&quality=low&play=0`);
    ensure(!(await page.run(() => window.location.href)).includes('token'), 'the token stays in the address');
    await page.press(' ');
    await page.until('it runs', () => window.sarrus.page.run.end > 0.4);
    await page.press(' ');
    await page.until('it stands', () => !window.sarrus.page.run.session.busy);
    const table = readTable('pendulum.csv'), t = table('t'), theta = table('q.theta'), rows = await column(page, 'q.theta');
    const most = Math.max(...rows.map(([x, y]) => Math.abs(y - theta[t.findIndex((s) => Math.abs(s - x) < 1e-9)])));
    ensure(most < SINGLE, `over the server angles are ${most} rad from those of sarrus run`);
    // The file is saved: it is read again, and the run comes to where it was.
    const before = (await state(page)).time;
    writeFileSync(path, text.replace('name="l" value="1"', 'name="l" value="0.25"'));
    await page.until('the file is read again', () => window.sarrus.page.run.model.bodies[1].com[2] === -0.25);
    await page.until('it has come to where it was', (x) => Math.abs(window.sarrus.state.time - x) < 0.03 && window.sarrus.page.run.session.catchUp === null, before);
    server.kill('SIGTERM');
    await page.until('it is lost', () => document.querySelector('.head .pill').textContent === 'reconnecting');
    ensure((await state(page)).rows > 10, 'the rows have gone with the server');
  } finally { server.kill('SIGKILL'); }
  page.complaints = page.complaints.filter((x) => !x.includes('WebSocket'));  // that nobody answers is what was to be shown
  page.requests = page.requests.filter((x) => !x.startsWith(address.slice(0, 20)));
  quiet(page, 'server');
  await page.send('Page.navigate', { url: 'about:blank' });
}

// ---- pictures ---------------------------------------------------------------------------------------------------------------
async function takePictures(page) {
  for (const theme of ['light', 'dark']) {
    for (const [width, height] of [[1366, 768], [2560, 1440]]) {
      await page.size(width, height);
      const shoot = async (name) => {
        await frames(page, 3);
        const over = await page.run(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight]);
        ensure(over[0] <= 0 && over[1] <= 0, `${name} ${theme} ${width}: the page is ${over} larger than the window`);
        await page.picture(join(folder, `live-${name}-${theme}-${width}.png`));
      };
      await open(page, 'hexapod.xml', `&theme=${theme}`, { path: 'hexapod.xml' }, 'paper1');
      await runTo(page, 0.6);
      await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 4 } }));
      await shoot('hexapod');
      await open(page, 'mechanisms/four-bar.xml', `&theme=${theme}`);
      await runTo(page, 0.5);
      await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 }, time: 0.3 }));
      await shoot('past');
      await page.press('End');
      await page.press('e');
      await page.run(async () => { const row = window.sarrus.page.live.parameters.rows[0]; row.field.value = '0.7 +'; await row.send('0.7 +'); });
      await shoot('parameters');
      await page.press('Escape');
      await page.run(() => document.activeElement.blur());
      await page.press('o');
      await page.run(() => document.activeElement.blur());
      await shoot('options');
      const [x, y] = await page.run(() => { const { page: p } = window.sarrus, r = p.host.getBoundingClientRect(), s = p.scene.project(3, [0.3, 0, 0], [0, 0, 0]); return [r.left + s[0], r.top + s[1]]; });
      await mouse(page, 'mousePressed', x, y);
      await mouse(page, 'mouseMoved', x + 140, y - 60);
      await page.until('the spring is there', () => window.sarrus.page.live.pull.stiffness > 0 || !window.sarrus.page.live.pull.grabbed);
      await shoot('pull');
      await mouse(page, 'mouseReleased', x + 140, y - 60);
      await page.run(() => { window.sarrus.set({ mode: 'modes', selection: null }); });
      await page.until('modes', () => window.sarrus.page.modes.there || window.sarrus.page.modes.said.textContent);
      await wait(300);
      await page.run(() => window.sarrus.set({ playing: false }));
      await shoot('modes');
    }
  }
  quiet(page, 'pictures');
}

// Rotations of free and ball joints: the body has R = Rz(yaw) Ry(pitch) Rx(roll), quaternions stay units, loops closed.
const turnOf = ([a, b, c]) => {
  const [[sa, ca], [sb, cb], [sc, cc]] = [a, b, c].map((x) => [Math.sin(x * Math.PI / 180), Math.cos(x * Math.PI / 180)]);
  return [[cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa], [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa], [-sb, cb * sa, cb * ca]];
};
const stands = (page, index) => page.run((body) => {
  const { run } = window.sarrus.page, at = (x) => run.pointAt(body, x, undefined, [0, 0, 0]).slice();
  run.pose(window.sarrus.state.time);
  const o = at([0, 0, 0]), axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(at), q = run.columns.filter((c) => c.name.startsWith('q.')).map((c) => run.value(c, run.rows - 1));
  const gaps = run.model.closures.map(({ a, b }) => Math.hypot(...run.pointAt(a.body, a.at, undefined, [0, 0, 0]).slice().map((x, i) => x - run.pointAt(b.body, b.at, undefined, [0, 0, 0])[i])));
  return { R: [0, 1, 2].map((i) => axes.map((x) => x[i] - o[i])), o, q, gap: Math.max(0, ...gaps), shown: [...document.querySelectorAll('.drawer .properties .slide')].map((x) => [x.firstElementChild.textContent, Number(x.querySelector('.field').value.replace('−', '-'))]) };
}, index);
const differ = (a, b) => Math.max(...a.flat().map((x, i) => Math.abs(x - b.flat()[i])));

async function checkTurn(page) {
  const settled = () => page.until('the pose is there', () => { const s = window.sarrus.page.run.session; return !s.busy && s.latest.size === 0 && !s.queue.length; });
  const put = async (name, text) => {
    await page.run((n) => { const f = [...document.querySelectorAll('.drawer .properties .slide')].find((x) => x.firstElementChild.textContent === n[0]).querySelector('.field'); f.focus(); f.value = n[1]; }, [name, text]);
    await page.press('Enter');
    await settled();
  };
  const passive = readFileSync(join(models, 'mechanisms/stewart-platform.xml'), 'utf8').replace(/<driver .*\/>/, '');  // legs that follow
  await open(page, '', '&webgl=none', { text: passive, file: 'platform.xml' });
  await page.run(() => { const { run } = window.sarrus.page; window.sarrus.set({ selection: { kind: 'body', index: run.model.bodies.findIndex((b) => b.name === 'platform') } }); });
  const body = await page.run(() => window.sarrus.state.selection.index), begin = await stands(page, body);
  for (const [name, text] of [['roll', '5'], ['pitch', '-8'], ['yaw', '12']]) await put(name, text);
  let x = await stands(page, body);
  ensure(differ(x.R, turnOf([5, -8, 12])) < SINGLE, `the platform is turned by ${JSON.stringify(x.R)}`);
  ensure(x.gap < 1e-6, `turned, the loops are ${x.gap} m open`);
  ensure(['roll', 'pitch', 'yaw'].every((name, i) => Math.abs(x.shown.find((y) => y[0] === name)?.[1] - [5, -8, 12][i]) < 0.06), `the fields show ${JSON.stringify(x.shown)}`);
  const [up] = x.shown.filter((y) => y[0].endsWith('z'));
  await put(up[0], String(begin.o[2] + 0.02));
  x = await stands(page, body);
  ensure(Math.abs(x.o[2] - begin.o[2] - 0.02) < 1e-4 && x.gap < 1e-6, `moved up by ${x.o[2] - begin.o[2]}, the loops are ${x.gap} m open`);
  // A body that turns freely, by the pointer, beyond 90 degrees of pitch: the other angles stay.
  await open(page, 'free-body.xml', '&webgl=none');
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 } }));
  await put('roll', '20');
  await put('yaw', '0');
  await page.run(async () => {
    const s = [...document.querySelectorAll('.drawer .properties .slide')].find((y) => y.firstElementChild.textContent === 'pitch').querySelector('input[type=range]');
    for (let i = 0; i <= 12; i++) { s.value = 500 + 1000 * 10 * i / 360; s.dispatchEvent(new Event('input', { bubbles: true })); await new Promise(requestAnimationFrame); }
    s.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await settled();
  x = await stands(page, 1);
  ensure(differ(x.R, turnOf([20, 120, 0])) < SINGLE, `the free body is turned by ${JSON.stringify(x.R)}`);
  ensure(Math.abs(Math.hypot(...x.q.slice(-4)) - 1) < 1e-6, `the quaternion has the length ${Math.hypot(...x.q.slice(-4))}`);
  const angles = x.shown.slice(-3).map((y) => y[1]);
  ensure(differ([angles], [[20, 120, 0]]) < 0.06, `the fields show ${angles}`);
  await open(page, 'top.xml', '&webgl=none');
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 } }));
  await put('roll', '-30');
  await put('pitch', '90');
  await put('yaw', '40');
  x = await stands(page, 1);
  ensure(differ(x.R, turnOf([-30, 90, 40])) < SINGLE, `the top is turned by ${JSON.stringify(x.R)}`);
  quiet(page, 'turn');
}

// By the keyboard alone, by fingers, for a reader of screens, and where less motion is preferred.
async function checkHands(page) {
  await open(page, 'mechanisms/four-bar.xml');
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 } }));  // its sliders are in the order, too
  for (const fault of [...await nameless(page), ...(await tabOrder(page)).faults]) fail(`by hand: ${fault}`);
  const focus = (query) => page.run((text) => { document.querySelector(text).focus({ focusVisible: true }); }, query);
  // Space presses a button that the keyboard is on, and runs elsewhere.
  await focus('[aria-label="Frames (A)"], [title="Frames (A)"]');
  const shown = await page.run(() => window.sarrus.state.show.frames);
  await page.press(' ');
  const now = await page.run(() => [window.sarrus.state.show.frames, window.sarrus.state.playing]);
  ensure(now[0] !== shown && !now[1], `Space on a button gives ${now}, was ${shown}`);
  const at = await page.run(() => { document.activeElement.blur(); const r = document.querySelector('[title="Frames (A)"]').getBoundingClientRect(); return [r.left + 10, r.top + 10]; });
  await page.click(...at);  // by the mouse: the button is not where the keyboard is
  ensure(await page.run(() => window.sarrus.state.show.frames) === shown, 'a click on Frames does nothing');
  await page.press(' ');
  await page.until('Space runs', () => window.sarrus.state.playing && window.sarrus.page.run.rows > 2);
  await page.press(' ');
  await page.until('Space pauses', () => !window.sarrus.state.playing && !window.sarrus.page.run.session.busy);
  // Arrows on the slider of a coordinate move the linkage.
  await focus('.drawer .properties input[type=range]');
  const q = (await values(page))['q.crank'];
  for (let i = 0; i < 5; i++) await page.press('ArrowRight');
  await page.until('arrows move the crank', (x) => { const { run } = window.sarrus.page; return Math.abs(run.value(run.column('q.crank'), run.rows - 1) - x) > 1e-4; }, q);
  ensure(await gap(page) < 1e-6, `by the keyboard the loop is ${await gap(page)} m open`);
  for (const fault of await fingers(page, 3)) fail(`by hand: ${fault}`);
  await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] });
  await open(page, 'mechanisms/four-bar.xml', '&webgl=none&play=1');
  await frames(page, 5);
  ensure(!(await state(page)).playing && (await state(page)).rows === 1, 'it plays by itself where less motion is preferred');
  await page.send('Emulation.setEmulatedMedia', { features: [] });
  // The editor by the keyboard: the focus is seen on its view, too.
  await page.run(() => window.sarrus.set({ mode: 'edit' }));
  await page.until('the editor is there', () => Boolean(window.sarrus.page.editor?.still));
  for (const fault of [...await nameless(page), ...(await tabOrder(page)).faults.filter((x) => !x.includes('jumps'))]) fail(`by hand, in the editor: ${fault}`);
  await page.run(() => window.sarrus.set({ mode: 'animate' }));
  quiet(page, 'by hand');
}

// A small window: every tab can be clicked, and its view has room. Colours that the system chooses: what is selected is another colour than what is not.
async function checkSmall(page) {
  await open(page, 'mechanisms/four-bar.xml');
  for (const [tab, view] of [['Modes', '.view'], ['Topology', '.topology'], ['Edit', '.edit-view canvas'], ['Animate', '.view canvas']]) {
    const at = await page.run((name) => { const r = [...document.querySelectorAll('.head [role=tab]')].find((x) => x.textContent === name).getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2, r.right]; }, tab);
    await page.click(at[0], at[1]);
    await frames(page, 3);
    await page.until(`${tab} has room`, (name, query) => { const r = document.querySelector(query)?.getBoundingClientRect(); return document.querySelector('.head [role=tab][aria-selected=true]').textContent === name && r?.width > 600 && r.height > 200; }, tab, view);
    const over = await page.run(() => document.documentElement.scrollWidth - innerWidth);
    ensure(over <= 0 && at[2] < 700, `${tab}: the page is ${over} px wider than a window of 700`);
  }
  const drawer = await page.run(() => [...document.querySelectorAll('.drawer [role=tab]')].map((x) => x.getBoundingClientRect().width));
  ensure(drawer.length === 3 && drawer.every((w) => w > 40), `in a small window the panels below the tree have no tabs: ${drawer}`);
  await page.size(1366, 768);
  await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'forced-colors', value: 'active' }] });
  await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: 1 } }));
  await frames(page, 2);
  const shades = await page.run(() => ['.head [role=tab]', '.tree .row', '.bar .button'].map((query) => {
    const all = [...document.querySelectorAll(query)], on = all.filter((x) => x.getAttribute('aria-selected') === 'true' || x.getAttribute('aria-pressed') === 'true'), shade = (x) => getComputedStyle(x).backgroundColor;
    return on.length > 0 && on.length < all.length && on.every((x) => all.every((y) => on.includes(y) || shade(x) !== shade(y)));
  }));
  const swatches = await page.run(() => new Set([...document.querySelectorAll('.plot .names button')].slice(0, 3).map((x) => getComputedStyle(x, '::before').backgroundColor)).size);
  ensure(shades.every(Boolean) && swatches === 3, `in colours of the system: selected tab, row, buttons ${shades}; ${swatches} colours of lines`);
  await page.send('Emulation.setEmulatedMedia', { features: [] });
  quiet(page, 'small windows, colours of the system');
}

// The camera follows a car, goes back from an engine whose piston rises, and stays where somebody has turned it.
async function checkFraming(page) {
  const inside = (indices) => page.run((list) => {
    const { page: p, state: s } = window.sarrus, { run, scene, host } = p;
    run.pose(s.time);
    return list.every((i) => { const [x, y] = scene.project(i, run.model.bodies[i].com, [0, 0, 0]); return x > 0 && y > 0 && x < host.clientWidth && y < host.clientHeight; });
  }, indices);
  const look = () => page.run(async () => { for (let i = 0; i < 3; i++) await new Promise((done) => { setTimeout(() => requestAnimationFrame(done), 220); }); });
  await open(page, 'car.xml', '', { path: 'car.xml' }, 'vehicles');
  await runTo(page, 0.3);
  await look();
  ensure(await page.run(() => window.sarrus.state.follow === window.sarrus.page.run.base) && await inside([1, 5, 9, 14, 18]), 'the car has left the view');
  await page.run(() => window.sarrus.set({ follow: -1 }));
  await look();
  ensure(await page.run(() => window.sarrus.state.follow === -1), 'the camera follows again after it was told not to');
  await open(page, 'mechanisms/engine.xml');
  const from = await page.run(() => window.sarrus.page.run.measure.reach);
  await runTo(page, 0.02);  // half a turn
  await page.run(() => { const { run } = window.sarrus.page, c = run.column('q.cylinder'); let best = 0; for (let i = 0; i < run.rows; i++) if (run.value(c, i) > run.value(c, best)) best = i; window.sarrus.set({ time: run.times[best] }); });
  await look();
  ensure(await page.run(() => window.sarrus.page.run.measure.reach) > 1.05 * from && await inside([1, 2, 3]), 'the piston has left the view');
  quiet(page, 'framing');
}

// ---- every model ----------------------------------------------------------------------------------------------------------
// Shapes of all kinds, walls, fields, meshes, wheels, an up that is not z: each is drawn, and the console stays empty.
const KINDS = ['contact/heap-of-balls.xml', 'contact/wheel-on-terrain.xml', 'contact/bead-in-bowl.xml', 'mechanisms/four-bar.xml', 'vehicles/car.xml', 'robots/quadruped-stand.xml', 'nonsmooth/dominoes.xml', 'pendulum.xml'];
async function checkModels(page, names) {
  for (const name of names) {
    const below = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '';
    await open(page, name, '', { path: name.slice(below ? below.length + 1 : 0) }, below);
    await frames(page, 3);
    const found = await page.run(() => {
      const { page: p } = window.sarrus, shapes = p.run?.model.shapes ?? [];
      return { said: document.querySelector('.notice')?.textContent ?? document.querySelector('.banner:not([hidden])')?.textContent ?? '',
        scene: Boolean(p.scene), triangles: p.scene?.renderer.info.render.triangles ?? 0, shapes: shapes.length, bodies: p.run?.model.bodies.length ?? 0 };
    });
    ensure(found.scene && found.said === '' && found.bodies > 1 && found.triangles > 2, `${name}: ${JSON.stringify(found)}`);
    quiet(page, name);
  }
}
const everyModel = () => readdirSync(models, { recursive: true }).filter((name) => name.endsWith('.xml') && readFileSync(join(models, name), 'utf8').includes('<sarrus ')).sort();

const parts = {
  run: [1120, 420, checkRun],
  past: [1120, 420, checkPast],
  slider: [1120, 620, checkSlider],
  turn: [1120, 620, checkTurn],
  hands: [1366, 768, checkHands],
  small: [700, 500, checkSmall],
  framing: [700, 500, checkFraming],
  parameters: [1120, 620, checkParameters],
  pull: [900, 520, checkPull],
  ends: [1120, 420, checkEnds],
  reload: [1120, 420, checkReload],
  modes: [900, 420, checkModes],
  reach: [1120, 620, checkReach],
  server: [1120, 420, checkServer],
  cost: [480, 320, async (page) => {  // small: filling pixels is the software renderer's work
    await checkCost(page, 'hexapod.xml', { path: 'hexapod.xml' }, 'paper1');
    await checkCost(page, 'heap-of-balls.xml', { path: 'heap-of-balls.xml', settings: { N: '1000', side: '10' } }, 'contact');
  }],
  kinds: [700, 500, (page) => checkModels(page, KINDS)],
  models: [700, 500, (page) => checkModels(page, everyModel())],
  pictures: [1366, 768, takePictures],
};
const browser = new Browser(program), begin = Date.now();
try {
  const page = await browser.page(1366, 768);
  for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) {
    const [width, height, check] = parts[name];
    await page.size(width, height);
    await check(page);
    console.log(`live page: ${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  }
  page.pipe?.close();
} catch (error) {
  fail(error.stack);
} finally {
  await browser.close();
}
process.exit(bad > 0 ? 1 : 0);
