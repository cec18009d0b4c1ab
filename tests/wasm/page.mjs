// The page of models in a headless browser, from the disk, without network: node page.mjs CHROMIUM PAGE SARRUS MODELS PICTURES [long]. Every line
// "FAILED ..." is a failure; pictures go to the folder PICTURES.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from '../page/browser.mjs';
import { buildFourBar, Hand } from '../page/hand.mjs';

const [, , program, file, sarrus, models, pictures, long] = process.argv;
const SAME = 1e-9;  // of doubles, relative to the largest
let bad = 0;
const fail = (text) => { console.log(`FAILED wasm: ${text}`); bad++; };
const ensure = (truth, text) => { if (!truth) fail(text); };
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
const address = (query = '') => `${pathToFileURL(file)}${query}`;
const quick = 'quality=low&play=0&theme=light';
const work = mkdtempSync(join(tmpdir(), 'sarrus-wasm-'));
mkdirSync(pictures, { recursive: true });

function quiet(page, what) {
  ensure(page.complaints.length === 0, `${what}: the console says ${page.complaints[0]}`);
  ensure(page.requests.length === 0, `${what}: asks the network for ${page.requests[0]}`);
  page.complaints.length = page.requests.length = 0;
}
const hasRun = (page) => page.until('a run is shown', () => window.sarrus.page && window.sarrus.app.session === null && window.sarrus.page.run.rows > 1 && !window.sarrus.app.running);
const openText = (page, name, text) => page.run((n, t) => window.sarrus.app.open({ file: n, text: t }), name, text);
const replace = async (page, text) => { await page.run((t) => window.sarrus.app.code.replace(t), text); await page.run(() => window.sarrus.app.read()); };

// ---- first page, examples ------------------------------------------------------------------------------------------------------
async function checkWelcome(page) {
  await page.open(address(`?${quick}`));
  await page.until('three cards', () => document.querySelectorAll('.card').length === 3);
  ensure(await page.run(() => window.sarrus.app.engine.hello.engine) === 'wasm', 'the page has no core');
  await page.picture(join(pictures, 'welcome.png'));
  await page.run(() => document.querySelectorAll('.card')[1].click());
  await hasRun(page);
  ensure(await page.run(() => window.sarrus.page.run.model.name) === 'four-bar', 'a card opens another model');
  await page.run(() => document.querySelector('.actions .examples').click());
  const names = await page.run(() => [...document.querySelectorAll('.examples-sheet .item b')].map((x) => x.textContent));
  ensure(names.length >= 12, `${names.length} examples`);
  await page.press('ArrowDown');
  await page.press('Escape');
  ensure(await page.run(() => document.querySelector('.veil') === null), 'Escape leaves the examples');
  quiet(page, 'first page');
}

// ---- the run: numbers, motion, keys --------------------------------------------------------------------------------------------
async function checkRun(page) {
  const path = join(models, 'mechanisms/four-bar.xml');
  const native = JSON.parse(execFileSync(sarrus, ['run', path, '--json', '--quiet'], { stdio: ['ignore', 'pipe', 'ignore'] }));
  await page.open(address(`?${quick}`));
  await openText(page, 'four-bar.xml', readFileSync(path, 'utf8'));
  ensure(await page.run(() => window.sarrus.page.run.rows === 1 && window.sarrus.app.session !== null), 'a model that was opened has run');
  await page.run(() => window.sarrus.app.code.view.focus());
  await page.press('Enter', 2);  // Ctrl
  await hasRun(page);
  const far = (a, b) => Math.max(...b.map((x, i) => Math.abs(x - a[i]))) / Math.max(1, ...b.map(Math.abs));
  const last = await page.run(() => ({ q: window.sarrus.app.last.q, v: window.sarrus.app.last.v, report: window.sarrus.page.run.report }));
  ensure(last.q.length === native.q.length && far(last.q, native.q) < SAME && far(last.v, native.v) < SAME, `the run ends ${far(last.q, native.q)}, ${far(last.v, native.v)} from native`);
  ensure(last.report.steps === native.steps && far([last.report.energy.residual], [native.energy.residual]) < SAME, `report: ${last.report.steps} steps, native ${native.steps}`);
  const moved = await page.run(() => {
    const { run, scene } = window.sarrus.page, picture = (t) => { run.pose(t); return scene.picture(); };
    return [picture(0) === picture(0), picture(0) === picture(run.end / 3)];
  });
  ensure(moved[0] && !moved[1], `pictures of one time and of two: ${moved}`);
  const rows = await page.run(() => window.sarrus.page.run.rows);
  ensure(rows === Math.round(2 / 0.002) + 1, `${rows} rows`);
  await page.run(() => window.sarrus.set({ playing: true }));
  await page.until('it plays', () => window.sarrus.state.time > 0.05);
  await page.run(() => window.sarrus.set({ playing: false, selection: { kind: 'body', index: 2 } }));

  // What is changed and run again: camera, selection and plots stay.
  const before = await page.run(() => { const { scene, plots } = window.sarrus.page; scene.view(1, 0, 0.001); scene.turned = true; plots.add(['q.rocker']); return [scene.camera.position.toArray(), plots.names.length]; });
  await replace(page, readFileSync(path, 'utf8').replace('name="speed" value="12"', 'name="speed" value="6"'));
  await page.run(() => window.sarrus.app.run());
  await hasRun(page);
  const after = await page.run(() => [window.sarrus.page.scene.camera.position.toArray(), window.sarrus.page.plots.names.length, window.sarrus.state.selection?.index, window.sarrus.page.run.column('v.crank').data[0]]);
  ensure(Math.hypot(...after[0].map((x, i) => x - before[0][i])) < 1e-6 && after[1] === before[1] && after[2] === 2, `camera, plots or selection are not kept: ${JSON.stringify([before, after])}`);
  ensure(Math.abs(after[3] - 6) < 1e-6, `the crank starts with ${after[3]}, expected 6`);
  quiet(page, 'run');
}

// ---- live: it plays, a parameter changes the motion and the text ------------------------------------------------------------------
async function checkLive(page) {
  const path = join(models, 'mechanisms/four-bar.xml'), text = readFileSync(path, 'utf8');
  await page.open(address(`?${quick}`));
  await openText(page, 'four-bar.xml', text);
  await page.run(() => window.sarrus.app.show('tree'));
  await page.run(() => window.sarrus.set({ playing: true }));
  await page.until('it moves', () => window.sarrus.page.run.rows > 20 && window.sarrus.state.time > 0.1);
  await page.picture(join(pictures, 'live.png'));
  await page.run(() => window.sarrus.set({ playing: false }));
  await page.run(() => window.sarrus.app.liveModel.parameter('crank', '0.15'));
  const changed = await page.run(() => [window.sarrus.app.code.text, window.sarrus.app.session.run.rows]);
  ensure(changed[0] === text.replace('name="crank" value="0.2"', 'name="crank" value="0.15"'), 'a parameter that was changed does not stand in the text');
  const native = JSON.parse(execFileSync(sarrus, ['run', path, '--set', 'crank=0.15', '--json', '--quiet'], { stdio: ['ignore', 'pipe', 'ignore'] }));
  await page.run(() => window.sarrus.app.run());
  await hasRun(page);
  const q = await page.run(() => window.sarrus.app.last.q);
  ensure(Math.max(...native.q.map((x, i) => Math.abs(x - q[i]))) / 30 < SAME, `a run with the changed parameter ends at ${q}, native at ${native.q}`);
  await page.run(() => document.querySelector('.plain.live').click());
  await page.until('live again', () => window.sarrus.app.session !== null && window.sarrus.page.run.rows === 1);
  await page.run(() => window.sarrus.app.show('text'));
  quiet(page, 'live');
}

// ---- the tab Edit: drawn from nothing, run, saved; one text with that of the page ---------------------------------------------------
async function checkEdit(page) {
  const hand = new Hand(page, address(), work, fail), editing = () => page.until('the editor is there', () => document.querySelector('.edit')?.isConnected && !window.editor.busy);
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: work });
  await page.open(address(`?${quick}`));
  await page.until('the first page', () => document.querySelectorAll('.card').length === 3);
  await hand.press('.welcome .primary');
  await page.until('the editor is there', () => Boolean(window.sarrus.app.editor?.still));
  await page.run(() => { window.editor = window.sarrus.app.editor; });
  await hand.idle();
  await buildFourBar(hand, sarrus, ensure, join(pictures, 'edit.png'));
  const drawn = await hand.text();
  ensure(await page.run(() => window.sarrus.app.code.text) === drawn, 'what was drawn is not in the text');

  // It runs here as it does there.
  await page.press('Enter', 2);
  await hasRun(page);
  const native = JSON.parse(execFileSync(sarrus, ['run', join(work, 'model.xml'), '--json', '--quiet'], { stdio: ['ignore', 'pipe', 'ignore'] })), q = await page.run(() => window.sarrus.app.last.q);
  ensure(Math.max(...native.q.map((x, i) => Math.abs(x - q[i]))) < SAME, `what was drawn ends at ${q}, native at ${native.q}`);

  // What is typed in the text is a step of the editor, errors stand there, and the page has the last good model when one leaves with them.
  await replace(page, drawn.replace('stiffness="60"', 'stiffness="75"'));
  await hand.press('.head:not([data-own]) [role=tab]:nth-child(4)');
  await editing();
  ensure((await hand.text()).includes('stiffness="75"'), 'what was typed is not in the editor');
  await hand.key('z', 2);
  ensure(await hand.text() === drawn && await page.run(() => window.sarrus.app.code.text) === drawn, 'what was typed is not undone in the editor');
  await hand.pick('spring1');
  await hand.fill('stiffness', '60*kk', 'spring');
  await hand.press('.head:not([data-own]) [role=tab]:nth-child(1)');
  await page.until('the error stands in the text', () => window.sarrus.app.errors === 1 && window.sarrus.app.page.run.bodies === 3 && !document.querySelector('.banner.own').hidden);
  await page.run(() => window.sarrus.set({ playing: true }));
  await page.until('the last good model plays', () => window.sarrus.state.time > 0.05);
  await page.run(() => window.sarrus.set({ playing: false }));
  await hand.press('.head:not([data-own]) [role=tab]:nth-child(4)');
  await editing();
  await hand.key('z', 2);
  ensure(await hand.text() === drawn, 'an error is not undone in the editor');

  // Another model takes its place there; its text is the page's.
  await page.run(() => { window.editor.markSaved(window.editor.doc.text); window.sarrus.app.open(window.sarrus.app.example('hexapod'), true); });
  await page.until('the hexapod is edited', () => window.editor.still.model.name === 'hexapod' && window.sarrus.state.mode === 'edit');
  await hand.press('.head:not([data-own]) [role=tab]:nth-child(1)');
  await page.until('the hexapod is live', () => window.sarrus.app.session !== null && window.sarrus.page.run.bodies === 25);
  quiet(page, 'edit');
}

// ---- errors ----------------------------------------------------------------------------------------------------------------------
async function checkErrors(page) {
  const text = readFileSync(join(models, 'double-pendulum.xml'), 'utf8');
  await page.open(address(`?${quick}`));
  await openText(page, 'double-pendulum.xml', text);
  const lines = text.split('\n'), line = lines.findIndex((x) => x.includes('<joint')) + 1, column = lines[line - 1].indexOf('type=') + 1;
  await replace(page, text.replace(' type="revolute"', ' tpye="revolute"'));
  await page.until('an error', () => window.sarrus.app.errors > 0);
  const seen = await page.run(() => ({
    list: [...document.querySelectorAll('.problem')].map((x) => [x.querySelector('.place').textContent, x.querySelector('.grow').textContent]),
    marked: [...document.querySelectorAll('.cm-lintRange-error')].map((x) => x.textContent),
    gutter: [...document.querySelectorAll('.cm-lint-marker-error')].map((x) => Math.round(x.getBoundingClientRect().top)),
    lines: [...document.querySelectorAll('.cm-lineNumbers .cm-gutterElement')].map((x) => [x.textContent, Math.round(x.getBoundingClientRect().top)]),
    banner: document.querySelector('.banner.own').textContent, hidden: document.querySelector('.banner.own').hidden,
    bodies: window.sarrus.page.run.model.bodies.length, disabled: document.querySelector('.run').disabled,
  }));
  const at = seen.list.find((x) => x[1].includes('tpye'));
  ensure(at?.[0] === `${line}:${column}`, `the error stands at ${at?.[0]}, expected ${line}:${column}`);
  ensure(seen.marked.includes('tpye'), `marked in the text: ${seen.marked}`);
  const top = seen.lines.find((x) => x[0] === String(line))[1];
  ensure(seen.gutter.some((y) => Math.abs(y - top) < 16), `no mark beside line ${line}`);
  ensure(!seen.hidden && /showing the last model that compiled/.test(seen.banner) && seen.bodies === 3 && seen.disabled, `the last good model: ${JSON.stringify(seen.banner)}`);
  await page.picture(join(pictures, 'errors.png'));
  await page.run(() => window.sarrus.app.code.view.focus());
  await page.press('z', 2);
  await page.until('undo mends it', () => window.sarrus.app.errors === 0 && document.querySelector('.problems').hidden);
  ensure(await page.run(() => window.sarrus.app.code.text) === text, 'undo does not give the text back');
  await page.press('f', 2);
  ensure(await page.run(() => document.querySelector('.cm-search') !== null), 'Ctrl F does not search');
  await page.press('Escape');

  // Characters beyond ASCII, and beyond 16 bits, before the place; tabs; an error in the first column; no XML at all.
  const odd = '<sarrus version="1" name="öä😀">\n\t<body name="😀😀" paernt="ground"/>\n</sarrus>\n';
  await openText(page, 'odd.xml', odd);
  ensure((await page.run(() => [...document.querySelectorAll('.cm-lintRange-error')].map((x) => x.textContent))).includes('paernt'), 'the mark is not where the word is');
  for (const bad2 of ['', 'no XML', '<sarrus', '<sarrus version="1">', '<robot name="x">\n<joint/></robot>', '\u0000\uffff', '<mujoco><worldbody><body/></mujoco>', '<!DOCTYPE a [<!ENTITY b "c">]><sarrus version="1">&b;</sarrus>']) {
    await openText(page, 'odd.xml', bad2);
    ensure(await page.run(() => window.sarrus.app.errors > 0 && document.querySelectorAll('.problem').length > 0), `no error of ${JSON.stringify(bad2)}`);
  }
  await openText(page, 'double-pendulum.xml', text);
  await page.until('a good model after bad ones', () => window.sarrus.app.errors === 0 && window.sarrus.page !== null);
  quiet(page, 'errors');
}

// ---- names of a hostile model, in texts, messages, links ---------------------------------------------------------------------------
async function checkNames(page) {
  const hostile = `<sarrus version="1" name="&lt;script&gt;boom=1&lt;!--">
  <body name="&lt;img src=x onerror=boom=2&gt;">
    <joint name="&lt;script&gt;boom=3" type="revolute" axis="0 1 0"/>
    <inertial mass="1" com="0.1 0 0" inertia="1e-3 1e-3 1e-3"/>
  </body>
  <parameter name="x" value="1"/>
  <sensor name="&lt;i&gt;tip" point="&lt;img src=x onerror=boom=2&gt;"/>
  <run t-end="0.1"/>
</sarrus>`;
  await page.open(address(`?${quick}`));
  await page.run((text) => window.sarrus.app.open({ file: '</script><img src=x onerror=boom=4>.xml', text }, true), hostile);
  await hasRun(page);
  await replace(page, hostile.replace('type="revolute"', 'type="&lt;img src=x onerror=boom=5&gt;"'));
  ensure(await page.run(() => [...document.querySelectorAll('.problem')].some((x) => x.textContent.includes('<img src=x onerror=boom=5>'))), 'the message has lost the word');
  const state = await page.run(() => [typeof window.boom, document.querySelectorAll('#app img').length, document.querySelectorAll('#app script').length]);
  ensure(state[0] === 'undefined' && state[1] === 0 && state[2] === 0, `a name became markup: ${state}`);
  quiet(page, 'names');
}

// ---- links, files, embedding, stopping ------------------------------------------------------------------------------------------------
async function checkLinks(page) {
  await page.open(address(`?${quick}&example=hexapod`));
  await hasRun(page);
  ensure(await page.run(() => window.sarrus.page.run.model.bodies.length) === 26, 'an example with its files');
  await page.run(() => window.sarrus.app.share());
  const link = await page.run(() => location.href);
  ensure(link.includes('#model='), 'the link holds no model');
  await page.open(link.replace('example=hexapod', ''));
  await hasRun(page);
  ensure(await page.run(() => window.sarrus.page.run.model.bodies.length) === 26, 'the link does not hold the model with its files');
  await page.open(`${link.slice(0, link.indexOf('#'))}#model=${link.slice(link.indexOf('#') + 60, link.indexOf('#') + 300)}`);
  await page.until('a sentence about a bad link', () => /could not be read/.test(document.querySelector('.say').textContent));
  ensure(page.complaints.length === 0, `a bad link: ${page.complaints[0]}`);

  // Files by the file dialog: the model is the one that no other names.
  await page.open(address(`?${quick}`));
  for (const name of ['hexapod-body.xml', 'hexapod-gait.csv', 'hexapod.xml']) writeFileSync(join(work, name), readFileSync(join(models, 'paper1', name)));
  const { root } = await page.send('DOM.getDocument', {});
  const { nodeId } = await page.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'input[type=file]' });
  await page.send('DOM.setFileInputFiles', { nodeId, files: ['hexapod-body.xml', 'hexapod-gait.csv', 'hexapod.xml'].map((x) => join(work, x)) });
  await page.until('the files are a model', () => window.sarrus.app.loaded !== null && window.sarrus.app.file === 'hexapod.xml');

  // A run that takes long is stopped, and the page goes on with the same model.
  await page.run(() => window.sarrus.app.code.replace(window.sarrus.app.code.text.replace('t-end="6"', 't-end="6000"')));
  await page.run(() => { window.sarrus.app.run(); });
  await page.until('it tells how far it is', () => window.sarrus.app.running && !document.querySelector('.progress').hidden && /%/.test(document.querySelector('.progress').textContent));
  await page.picture(join(pictures, 'running.png'));
  await page.press('Escape');
  await page.until('it is stopped', () => !window.sarrus.app.running);
  await page.until('its model is there', () => !window.sarrus.app.progress.offsetParent && window.sarrus.app.session !== null);
  ensure(await page.run(async () => { const { engine } = window.sarrus.app; engine.stop(); return (await engine.ask({ do: 'step' })).ok; }), 'a new worker does not have the model of the one before');
  await page.run(() => window.sarrus.app.code.replace(window.sarrus.app.code.text.replace('t-end="6000"', 't-end="0.2"')));
  await page.run(() => window.sarrus.app.run());
  await hasRun(page);
  ensure(Math.abs(await page.run(() => window.sarrus.page.run.end) - 0.2) < 1e-12, 'a run after a stopped one');

  await page.open(address(`?${quick}&embed=1&example=pendulum`));
  await hasRun(page);
  ensure(await page.run(() => ['.code', '.strip', '.right', '.head:not([data-own])'].every((x) => getComputedStyle(document.querySelector(x)).display === 'none')), 'embedded: more than the view and the time line');
  quiet(page, 'links and files');
}

// ---- every example, pictures in both themes and sizes ------------------------------------------------------------------------------------
async function checkExamples(page) {
  await page.open(address(`?${quick}`));
  await page.until('the examples are unpacked', () => Boolean(window.sarrus.app.examples));
  const files = await page.run(() => window.sarrus.app.examples.map((x) => x.file));
  for (const name of files) {
    await page.run((x) => window.sarrus.app.open(window.sarrus.app.example(x), true), name);
    await hasRun(page);
    const report = await page.run(() => [window.sarrus.page.run.report.error_message, window.sarrus.app.errors, document.querySelector('.report .pill').textContent]);
    ensure(!report[0] && report[1] === 0, `${name}: ${report}`);
  }
  quiet(page, 'examples');
}

async function takePictures(browser) {
  for (const [theme, width, height] of [['light', 1366, 768], ['dark', 1366, 768], ['light', 2560, 1440], ['dark', 2560, 1440]]) {
    const page = await browser.page(width, height), name = (what) => join(pictures, `${what}-${theme}-${width}.png`);
    await page.open(address(`?play=0&theme=${theme}`));
    await page.until('the first page', () => document.querySelectorAll('.card').length === 3);
    await wait(300);
    await page.picture(name('welcome'));
    await page.run(() => window.sarrus.app.open(window.sarrus.app.example('hexapod'), true));
    await hasRun(page);
    await page.run(() => window.sarrus.set({ time: 1.3, playing: false, selection: { kind: 'body', index: 3 } }));
    await wait(1500);
    await page.picture(name('model'));
    await page.run(() => { const { code } = window.sarrus.app; code.replace(code.text.replace('<parameter name="walk"', '<paramter name="walk"').replace('point="torso"', 'pont="torso"')); });
    await page.until('errors', () => window.sarrus.app.errors > 0);
    await wait(500);
    await page.picture(name('errors'));
    await page.run(() => window.sarrus.app.open(window.sarrus.app.example('engine')));
    await wait(1000);
    await page.picture(name('idle'));
    quiet(page, `pictures ${theme} ${width}`);
  }
}

const browser = new Browser(program);
const page = await browser.page(1366, 768);
try {
  for (const [what, call] of [['first page', checkWelcome], ['run', checkRun], ['live', checkLive], ['edit', checkEdit], ['errors', checkErrors], ['names', checkNames], ['links', checkLinks], ...(long ? [['examples', checkExamples]] : [])]) {
    const begin = performance.now();
    await call(page);
    console.log(`  ${what}: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }
  if (long) await takePictures(browser);
} catch (error) {
  fail(error.stack);
  await page.picture(join(pictures, 'failed.png')).catch(() => {});
}
await browser.close();
rmSync(work, { recursive: true, force: true });
process.exit(bad > 0 ? 1 : 0);
