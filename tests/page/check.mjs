// Tests of the page in a headless browser: node check.mjs CHROMIUM FOLDER [PART...]. The pages and tables that it opens are in FOLDER, made by
// tests/check_page.sh; pictures go there, too. Every line "FAILED ..." is a failure.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';

const [, , program, folder, ...wanted] = process.argv;
const SCRIPT_MS = 8;         // a frame of 60 a second is 16.7 ms: half of it for the script
const POSE = 2e-6;           // poses are floats of places of about 1 m
let bad = 0;
const fail = (text) => { console.log(`FAILED page: ${text}`); bad++; };
const ensure = (truth, text) => { if (!truth) fail(text); };
const address = (name, query = '') => `${pathToFileURL(join(folder, name))}${query}`;

function readTable(name) {
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n').filter((line) => !line.startsWith('#'));
  const names = lines[0].split(',').map((x) => x.replace(/ \[.*\]$/, ''));
  const rows = lines.slice(1).map((line) => line.split(',').map(Number));
  return { rows, column: (word) => { const i = names.indexOf(word); if (i < 0) throw new Error(`no column ${word}`); return rows.map((row) => row[i]); } };
}

const frames = (page, n) => page.run((count) => new Promise((done) => {
  const step = () => { if (count-- > 0) requestAnimationFrame(step); else done(true); };
  step();
}), n);
const goTo = async (page, t) => { await page.run((x) => window.sarrus.set({ time: x, playing: false }), t); await frames(page, 2); };

function quiet(page, what) {
  ensure(page.complaints.length === 0, `${what}: the console says ${page.complaints[0]}`);
  ensure(page.requests.length === 0, `${what}: asks the network for ${page.requests[0]}`);
  page.complaints.length = page.requests.length = 0;
}

// Row-major rotation and place of a quaternion and position, as the table has them.
function matrixOf(x, q) {
  const [w, i, j, k] = q;
  return [1 - 2 * (j * j + k * k), 2 * (i * j + w * k), 2 * (i * k - w * j), 0, 2 * (i * j - w * k), 1 - 2 * (i * i + k * k), 2 * (j * k + w * i), 0,
    2 * (i * k + w * j), 2 * (j * k - w * i), 1 - 2 * (i * i + j * j), 0, ...x, 1];
}

// ---- places, plots, pixels --------------------------------------------------------------------------------------------
async function checkMotion(page) {
  const table = readTable('hexapod.csv'), t = table.column('t');
  await page.open(address('hexapod.html', '?quality=low&play=0&theme=light'));
  const names = await page.run(() => window.sarrus.page.run.model.bodies.map((b) => b.name));
  for (const row of [0, 57, t.length - 1]) {
    await goTo(page, t[row]);
    for (const body of ['torso', 'tibia3', 'foot6']) {
      const at = (word) => table.column(`point(${body}).${word}`)[row];
      const expected = matrixOf(['x', 'y', 'z'].map(at), ['qw', 'qx', 'qy', 'qz'].map(at));
      const drawn = await page.run((i) => window.sarrus.test.pose(i), names.indexOf(body));
      const most = Math.max(...expected.map((x, k) => Math.abs(x - drawn[k])));
      ensure(most < POSE, `${body} at t = ${t[row]} is drawn ${most} from where it was computed`);
    }
  }
  const between = await page.run((a, b) => { window.sarrus.set({ time: (a + b) / 2 }); window.sarrus.page.run.pose((a + b) / 2); return window.sarrus.page.run.matrices[16 + 12]; }, t[10], t[11]);
  const x = table.column('point(torso).x');
  ensure(Math.abs(between - (x[10] + x[11]) / 2) < POSE, 'between two rows places are not their mean');

  // Pictures: two of one time are equal, one of another time is not, and a body is where project() says.
  const picture = (time) => page.run((x2) => { window.sarrus.page.run.pose(x2); return window.sarrus.page.scene.picture(); }, time);
  const first = await picture(t[20]), again = await picture(t[20]), later = await picture(t[60]);
  ensure(first === again, 'two pictures of one time differ');
  ensure(first !== later, 'the picture does not change');
  const place = await page.run((i) => { const s = window.sarrus.test.project(i); return [s[0], s[1], window.sarrus.page.host.getBoundingClientRect().left, window.sarrus.page.host.getBoundingClientRect().top]; }, names.indexOf('torso'));
  await page.click(place[0] + place[2], place[1] + place[3]);
  await frames(page, 2);
  const selected = await page.run(() => window.sarrus.state.selection);
  ensure(selected?.kind === 'body' && names[selected.index] === 'torso', `a click on the torso selects ${JSON.stringify(selected)}`);

  // The plot: legend and data are those of the table.
  const row = 42;
  await goTo(page, t[row]);
  const shown = await page.run(() => window.sarrus.page.plots.plots.map((p) => ({ names: p.columns.map((c) => c.name), text: p.values.map((v) => v.textContent), y: p.chart.data.slice(1).map((d) => Array.from(d)) })));
  ensure(shown.length >= 3, `${shown.length} plots at the start`);
  for (const plot of shown) {
    plot.names.forEach((name, k) => {
      const expected = table.column(name), value = Number(plot.text[k].replace('−', '-').replace('e−', 'e-'));
      ensure(Math.abs(value - expected[row]) <= 5.1e-4 * Math.abs(expected[row]) + 1e-9, `the legend of ${name} has ${plot.text[k]} for ${expected[row]}`);
      const most = Math.max(...expected.map((y, i) => Math.abs(y - plot.y[k][i]) / (1e-6 + Math.abs(y))));
      ensure(most < 1e-6, `the line of ${name} is not that of the table: ${most}`);
    });
  }
  // The playhead of a plot and of the time line is at the time.
  const heads = await page.run(() => {
    const { page: p } = window.sarrus, x = (node) => new DOMMatrix(getComputedStyle(node).transform).m41;
    return [x(p.plots.plots[0].playhead) - p.plots.plots[0].chart.bbox.left / devicePixelRatio - p.plots.plots[0].chart.valToPos(window.sarrus.state.time, 'x'), x(p.timeline.playhead) - p.timeline.x(window.sarrus.state.time)];
  });
  const tall = await page.run(() => window.sarrus.page.plots.plots.map((p) => { const a = p.playhead.getBoundingClientRect(), b = p.chart.over.getBoundingClientRect(); return [a.width, Math.abs(a.top - b.top) + Math.abs(a.bottom - b.bottom)]; }));
  ensure(tall.every(([width, apart]) => width > 0 && apart < 2), `a playhead does not cover its plot: ${JSON.stringify(tall)}`);
  ensure(heads.every((d) => Math.abs(d) < 0.5), `a playhead is ${heads} px from the time`);
  quiet(page, 'hexapod');
}

// ---- one column against another -----------------------------------------------------------------------------------------
async function checkPhase(page) {
  const table = readTable('hexapod.csv'), t = table.column('t'), q = table.column('q.tibia3'), v = table.column('v.tibia3');
  await page.open(address('hexapod.html', '?quality=low&play=0&theme=light'));
  const before = await page.run(() => window.sarrus.page.plots.plots.length);
  await page.press('k', 2);
  for (const letter of 'v.tibia3 against q.tibia3') await page.press(letter);
  await page.press('Enter');
  await frames(page, 2);
  const made = await page.run(() => window.sarrus.page.plots.plots.map((p) => p.names));
  ensure(made.length === before + 1 && made.at(-1).y === 'v.tibia3' && made.at(-1).x === 'q.tibia3', `Ctrl K makes ${JSON.stringify(made.at(-1))}`);
  // The dot: where values of the table are between the ends of the axes, in pixels of the screen.
  const geometry = () => page.run(() => {
    const plot = window.sarrus.page.plots.plots.at(-1), box = plot.chart.over.getBoundingClientRect(), dot = plot.dot.getBoundingClientRect(), { x, y } = plot.chart.scales;
    return { box: [box.left, box.top, box.width, box.height], dot: [(dot.left + dot.right) / 2, (dot.top + dot.bottom) / 2], x: [x.min, x.max], y: [y.min, y.max], shown: plot.dot.style.visibility !== 'hidden' };
  });
  const place = (g, a, b) => [g.box[0] + g.box[2] * (a - g.x[0]) / (g.x[1] - g.x[0]), g.box[1] + g.box[3] * (g.y[1] - b) / (g.y[1] - g.y[0])];
  const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  for (const row of [0, 33, 57, t.length - 1]) {
    await goTo(page, t[row]);
    const g = await geometry();
    ensure(g.shown && apart(g.dot, place(g, q[row], v[row])) < 1, `the dot of the phase plot at t = ${t[row]} is at ${g.dot}, not at ${place(g, q[row], v[row])}`);
    ensure(g.x[0] < Math.min(...q) && g.x[1] > Math.max(...q) && g.y[0] < Math.min(...v) && g.y[1] > Math.max(...v), `the axes of the phase plot end within the values: ${g.x} ${g.y}`);
  }
  // Its line is drawn: pixels in its colour at rows, and midway between them.
  const g = await geometry(), points = t.map((_, i) => place(g, q[i], v[i])), middles = points.slice(1).map((p, i) => [(p[0] + points[i][0]) / 2, (p[1] + points[i][1]) / 2]);
  const at = [...points, ...middles].filter((p) => apart(p, g.dot) > 20);
  const drawn = await page.run((places) => {
    const { ctx } = window.sarrus.page.plots.plots.at(-1).chart, { canvas } = ctx, box = canvas.getBoundingClientRect(), k = devicePixelRatio;
    const { data } = ctx.getImageData(0, 0, canvas.width, canvas.height);
    return places.filter(([x, y]) => [-1, 0, 1].some((i) => [-1, 0, 1].some((j) => {
      const o = 4 * (canvas.width * (Math.round((y - box.top) * k) + j) + Math.round((x - box.left) * k) + i);
      return data[o + 3] > 60 && data[o + 2] - data[o] > 60;
    }))).length;
  }, at);
  ensure(at.length > 100 && drawn === at.length, `the line of the phase plot goes through ${drawn} of ${at.length} places`);
  // A click near a row, which no other row is as close to, sets its time.
  const lone = t.map((_, i) => i).find((i) => i > 0 && t.every((_, k) => k === i || apart(place(g, q[k], v[k]), place(g, q[i], v[i])) > 7));
  ensure(lone !== undefined, 'no row of the phase plot is alone');
  const [x, y] = place(g, q[lone], v[lone]);
  await page.click(x + 1, y - 1);
  await frames(page, 2);
  const time = await page.run(() => window.sarrus.state.time);
  ensure(time === t[lone], `a click at t = ${t[lone]} in the phase plot sets ${time}`);
  // The button of a body; plots that are put back are the same ones.
  await page.run(() => { const { run } = window.sarrus.page; window.sarrus.set({ selection: { kind: 'body', index: run.model.bodies.findIndex((b) => b.name === 'tibia3') } }); });
  await page.run(() => [...document.querySelectorAll('.properties button')].find((b) => b.textContent === 'phase').click());
  await page.run(() => window.sarrus.set({ selection: { kind: 'contact', index: 0 } }));
  await page.run(() => [...document.querySelectorAll('.properties button')].find((b) => b.textContent === 'force against penetration').click());
  const names = await page.run(() => { const { plots } = window.sarrus.page, before = JSON.stringify(plots.names); plots.arrange(plots.names); return [before, JSON.stringify(plots.names)]; });
  const [phase, force] = JSON.parse(names[0]).slice(-2);
  ensure(phase.y === 'v.tibia3' && /^contact\(limb1\)\.n$/.test(force.y) && force.x === 'contact(limb1).penetration', `buttons plot ${JSON.stringify([phase, force])}`);
  ensure(names[0] === names[1], 'plots that are put back are others');
  quiet(page, 'phase plots');
}

// ---- keyboard ---------------------------------------------------------------------------------------------------------
async function checkKeys(page) {
  const get = (what) => page.run(`(w) => ({ time: sarrus.state.time, playing: sarrus.state.playing, show: sarrus.state.show, theme: sarrus.state.theme, speed: sarrus.state.speed, selection: sarrus.state.selection, mode: sarrus.state.mode, plots: sarrus.page.plots.plots.length, follow: sarrus.state.follow, hidden: [...sarrus.state.hidden], loop: sarrus.state.loop })[w]`, what);
  const times = await page.run(() => Array.from(window.sarrus.page.run.times));
  await page.run(() => document.activeElement?.blur());
  await page.press('Home');
  ensure(await get('time') === times[0], 'Home');
  await page.press('ArrowRight');
  ensure(await get('time') === times[1], 'Right is a step');
  await page.press('ArrowRight', 8);
  ensure(await get('time') === times[11], 'Shift Right is ten steps');
  await page.press('ArrowLeft');
  ensure(await get('time') === times[10], 'Left is a step back');
  await page.press('End');
  ensure(await get('time') === times.at(-1), 'End');
  const events = await page.run(() => window.sarrus.page.timeline.events.map((e) => e.t));
  await page.press('Home');
  await page.press('n');
  ensure(events.length === 0 || await get('time') === events.find((x) => x > times[0] + 1e-9), 'N is the next event');
  for (const [key, name] of [['a', 'frames'], ['c', 'centres'], ['v', 'forces'], ['t', 'trails'], ['g', 'grid'], ['s', 'shapes']]) {
    const before = (await get('show'))[name];
    await page.press(key);
    ensure((await get('show'))[name] === !before, `${key} switches ${name}`);
    await frames(page, 1);
    await page.press(key);
  }
  await page.press(']');
  ensure(await get('speed') === 2, '] is faster');
  await page.press('[');
  ensure(await get('speed') === 1, '[ is slower');
  await page.press('l');
  ensure(await get('loop') === false, 'L');
  await page.press('l');
  const theme = await get('theme');
  await page.press('d');
  ensure(await get('theme') !== theme, 'D changes the theme');
  await page.press('d');
  await page.press('m');
  await frames(page, 1);
  const nodes = await page.run(() => [document.querySelectorAll('.topology .node').length, window.sarrus.page.run.model.bodies.length]);
  ensure(nodes[0] === nodes[1], `the topology has ${nodes[0]} of ${nodes[1]} bodies`);
  await page.press('m');
  await page.press('Escape');
  await page.press('ArrowDown');
  const first = await get('selection');
  await page.press('ArrowDown');
  ensure(await page.run(() => { const row = document.getElementById(document.querySelector('.tree').getAttribute('aria-activedescendant')); return row?.getAttribute('aria-selected') === 'true'; }), 'a reader of screens does not hear the row of the tree');
  const second = await get('selection');
  ensure(first?.kind === 'body' && second?.index === first.index + 1, `Down moves in the tree: ${JSON.stringify([first, second])}`);
  await page.press('h');
  ensure((await get('hidden')).includes(second.index), 'H hides');
  await page.press('h');
  const plots = await get('plots');
  await page.run(() => { const { run } = window.sarrus.page; window.sarrus.set({ selection: { kind: 'body', index: run.model.bodies.findIndex((b) => b.name === 'tibia3') } }); });
  await page.press('p');
  ensure(await get('plots') > plots, 'P plots the selection');
  await page.press('k', 2);
  ensure(await page.run(() => document.activeElement.tagName === 'INPUT' && Boolean(document.querySelector('.veil'))), 'Ctrl K opens the list');
  for (const letter of 'foot6') await page.press(letter);
  await page.press('Enter');
  ensure(await page.run(() => { const s = window.sarrus.state.selection; return window.sarrus.page.run.model.bodies[s.index]?.name === 'foot6'; }), 'Ctrl K finds a body');
  await page.press('?');
  ensure(await page.run(() => document.querySelectorAll('.keys .pair').length > 30), '? lists the keys');
  await page.press('Escape');
  ensure(await page.run(() => !document.querySelector('.veil')), 'Escape closes the list');
  await page.press('5');
  await page.press('3');
  await page.press('f');
  await page.press('/');
  for (const letter of 'tibia') await page.press(letter);
  ensure(await page.run(() => window.sarrus.page.tree.visible.filter((x) => x.name.startsWith('tibia')).length === 6 && window.sarrus.page.tree.visible.every((x) => x.name !== 'foot1')), '/ filters the tree');
  await page.press('Escape');
  await page.press('Home');
  await page.press(' ');
  await page.until('it plays', () => window.sarrus.state.playing && window.sarrus.state.time > 0);
  await page.press(' ');
  ensure(await get('playing') === false, 'Space pauses');
  quiet(page, 'keys');
}

// ---- cost of a frame --------------------------------------------------------------------------------------------------
async function checkCost(page, name, count) {
  await page.open(address(name, '?quality=low&theme=light'));
  const [median, calls, triangles] = await page.run(async (n) => {
    const { page: p, set, state } = window.sarrus;
    const frame = () => new Promise((done) => { requestAnimationFrame(done); });
    set({ playing: true, time: p.run.start });
    for (let i = 0; i < n / 3; i++) await frame();
    p.script.length = 0;
    while (p.script.length < n) { await frame(); if (!state.playing) set({ playing: true, time: p.run.start }); }
    set({ playing: false });
    const sorted = p.script.slice(0, n).sort((a, b) => a - b), info = p.scene.renderer.info.render;
    return [sorted[n >> 1], info.calls, info.triangles];
  }, count);
  console.log(`page: ${name}: ${median.toFixed(2)} ms of script a frame, ${calls} calls, ${triangles} triangles`);
  ensure(median < SCRIPT_MS, `${name}: ${median} ms of script a frame, at most ${SCRIPT_MS}`);
  ensure(calls < 200 && triangles < 300000, `${name}: ${calls} calls, ${triangles} triangles`);
  quiet(page, name);
}

// ---- topology ---------------------------------------------------------------------------------------------------------
// On a laptop: every body, every closure; names are large enough, in sight, and cover no other name; on the second model also two closures between the same bodies.
async function checkTopology(page) {
  for (const name of ['charmie.html', 'suspension.html']) {
    await page.open(address(name, '?quality=low&play=0&theme=light&view=topology'));
    await frames(page, 3);
    const seen = await page.run(() => {
      const { model } = window.sarrus.page.run, svg = document.querySelector('.topology'), view = document.querySelector('.view').getBoundingClientRect(), all = [...svg.querySelectorAll('.node, .joint')];
      const names = all.map((g) => ({ box: g.querySelector('rect').getBoundingClientRect(), text: g.querySelector('text').getBoundingClientRect(), words: g.querySelector('text').textContent,
        size: parseFloat(getComputedStyle(g.querySelector('text')).fontSize) * svg.getScreenCTM().a }));
      const covers = [];
      names.forEach(({ box: a, words }, i) => {
        for (const { box: b, words: other } of names.slice(0, i)) if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) covers.push(`${words} and ${other}`);
      });
      return { bodies: svg.querySelectorAll('.node').length - model.bodies.length, closures: svg.querySelectorAll('.joint.closure').length - model.closures.length, covers,
        size: Math.min(...names.map((n) => n.size)), wide: names.filter((n) => n.text.width > n.box.width).map((n) => n.words),
        outside: names.filter(({ box: b }) => b.left < view.left || b.right > view.right || b.top < view.top || b.bottom > view.bottom).map((n) => n.words) };
    });
    ensure(seen.bodies === 0 && seen.closures === 0, `${name}: the topology lacks ${-seen.bodies} bodies, ${-seen.closures} closures`);
    ensure(seen.covers.length === 0, `${name}: names that cover each other: ${seen.covers}`);
    ensure(seen.size >= 8, `${name}: names of ${seen.size} px`);
    ensure(seen.outside.length === 0 && seen.wide.length === 0, `${name}: names out of sight: ${seen.outside}; wider than their frames: ${seen.wide}`);
    await page.picture(join(folder, `topology-${name.replace('.html', '')}-1366.png`));
    // The time line has six lanes: those of contacts that touch, in the order of the model.
    const lanes = await page.run(() => { const { timeline } = window.sarrus.page; return [timeline.shown.map((lane) => [lane.name, lane.segments.length > 0]), timeline.lanes.filter((lane) => lane.segments.length > 0).map((lane) => lane.name)]; });
    ensure(lanes[0].length <= 6 && lanes[0].filter((lane) => lane[1]).map((lane) => lane[0]).join() === lanes[1].slice(0, 6).join(), `${name}: lanes ${JSON.stringify(lanes)}`);
    // Names at the ends of axes are in their drawing, and as short as they can be.
    const cut = await page.run(() => window.sarrus.page.plots.plots.flatMap(({ chart }) => {
      const [axis] = chart.axes, g = document.createElement('canvas').getContext('2d'), texts = axis._values;
      g.font = '10.5px Inter';
      return axis._splits.map((t, i) => [chart.bbox.left / devicePixelRatio + chart.valToPos(t, 'x') + g.measureText(texts[i] ?? '').width / 2 - chart.width, texts[i]]).filter(([over, text]) => text && (over > -2 || /\.\d*0e|\.0*$/.test(text)));
    }));
    ensure(cut.length === 0, `${name}: names of an axis at the edge of the drawing, or too long: ${JSON.stringify(cut)}`);
    // Drawn as large as the text is, it does not fit a small window: what is chosen in the tree comes into sight.
    await page.size(700, 500);
    await page.run(() => window.sarrus.set({ selection: { kind: 'body', index: window.sarrus.page.run.model.bodies.length - 1 } }));
    await frames(page, 3);
    const there = await page.run(() => { const a = document.querySelector('.topology .node.selected').getBoundingClientRect(), b = document.querySelector('.topology').getBoundingClientRect(); return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom && document.querySelector('.topology').getScreenCTM().a >= 0.74; });
    ensure(there, `${name}: the body that was chosen is out of sight in a small window`);
    await page.size(1366, 768);
  }
  quiet(page, 'topology');
}

// ---- names that would be markup ---------------------------------------------------------------------------------------
async function checkHostile(page) {
  await page.open(address('hostile.html', '?quality=low&play=0#select=body:1'));
  await page.press('m');
  await frames(page, 2);
  await page.press('m');
  for (const kind of ['body', 'closure', 'force', 'sensor']) {
    await page.run((k) => window.sarrus.set({ selection: { kind: k, index: k === 'body' ? 1 : 0 } }), kind);
    await page.press('p');
    await frames(page, 1);
  }
  await page.press('k', 2);
  await frames(page, 1);
  const found = await page.run(() => ({
    boom: window.boom, images: document.querySelectorAll('img, iframe, object, [onerror], [onload]').length,
    scripts: [...document.querySelectorAll('script')].filter((s) => s.type !== 'text/plain').length,
    name: document.querySelector('.head .name').textContent, file: document.querySelector('.head .file').textContent, body: window.sarrus.page.run.model.bodies[1].name }));
  ensure(found.boom === undefined && found.images === 0 && found.scripts === 1, `a name has become markup: ${JSON.stringify(found)}`);
  ensure(found.name === '<script>boom=1<!--' && found.file.includes('</script><img') && found.body === '<img src=x onerror=boom=2>', `names are not as the model has them: ${JSON.stringify(found)}`);
  await page.press('Escape');
  quiet(page, 'hostile names');
}

// ---- modes ------------------------------------------------------------------------------------------------------------
// A shape at its own amplitude is where `modes --shapes` has it; at twice the amplitude a pendulum's first body turns by twice the angle.
async function checkModes(page) {
  await page.open(address('modes.html', '?quality=low&play=0&theme=light'));
  const index = await page.run(() => window.sarrus.page.modes.list.map((m) => m.index));
  ensure(index.length === 2, `2 modes, not ${index}`);
  for (let i = 0; i < index.length; i++) {
    const table = readTable(`mode-${index[i]}.csv`);
    for (const [phase, row] of [[0, 0], [0.25, 15], [0.5, 30], [0.75, 45]]) {
      const at = await page.run((mode, part) => {
        const { modes: m, run } = window.sarrus.page, { body, at: place } = run.model.sensors.find((s) => s.name === 'tip').place;
        m.choose(mode);
        m.scaleTo(1 / m.base);
        m.go(part);
        m.pose(run.matrices);
        return run.pointAt(body, place, undefined, [0, 0, 0]);
      }, i, phase);
      const most = Math.max(...['x', 'y', 'z'].map((k, n) => Math.abs(at[n] - table.column(`tip.${k}`)[row])));
      ensure(most < POSE, `mode ${index[i]} at ${phase} of its period: the tip is ${most} from where --shapes has it`);
    }
  }
  const turns = await page.run(() => [1, 2].map((factor) => {
    const { modes: m, run } = window.sarrus.page;
    m.scaleTo(factor / m.base);
    m.go(0);
    m.pose(run.matrices);
    return Math.atan2(run.matrices[16 + 8], run.matrices[16 + 10]);
  }));
  ensure(Math.abs(turns[0]) > 0.02 && Math.abs(turns[1] - 2 * turns[0]) < POSE, `a shape of twice the amplitude turns by ${turns}`);
  const place = () => page.run(() => { window.sarrus.page.modes.pose(window.sarrus.page.run.matrices); return [...window.sarrus.page.run.matrices.slice(16, 32)].join(); });
  const before = await place();
  await page.run(() => window.sarrus.page.modes.body.focus());
  await page.press('ArrowUp');
  ensure(await page.run(() => window.sarrus.page.modes.chosen) === 0, 'the arrow keys choose a mode');
  await page.press(' ');
  await frames(page, 5);
  await page.press(' ');
  ensure(await place() !== before && await page.run(() => !window.sarrus.state.playing), 'Space plays a mode and stops it');
  quiet(page, 'modes');
}

// ---- in other pages ---------------------------------------------------------------------------------------------------
// embed.html has a page in a frame that may run scripts and nothing else, as notebooks show it: it is set and read by messages alone.
async function checkEmbed(page) {
  await page.open(address('embed.html'));
  await page.until('the frame is ready', () => window.heard.some((m) => m.sarrus === 'ready'));
  const ask = (message) => page.run(async (m) => {
    const id = window.heard.length + 1000, frame = document.querySelector('iframe').contentWindow;
    frame.postMessage({ ...m, id }, '*');
    for (let i = 0; i < 200; i++) {
      const answer = window.heard.find((x) => x.id === id);
      if (answer) return answer;
      await new Promise((done) => { setTimeout(done, 25); });
    }
    return null;
  }, message);
  const first = await ask({ sarrus: 'get' });
  ensure(first?.name === 'four-bar' && first.start === 0 && first.end === 1 && first.playing === false && first.view === 'animate', `get: ${JSON.stringify(first)}`);
  const camera = { position: [1, -2, 3], target: [0.25, 0.5, -0.125] };
  const then = await ask({ sarrus: 'set', time: 0.375, selection: { kind: 'body', name: 'rocker' }, speed: 0.5, theme: 'dark', camera });
  const near = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 1e-6);
  ensure(then?.time === 0.375 && then.selection?.name === 'rocker' && then.speed === 0.5 && then.theme === 'dark' && near(then.camera.position, camera.position) && near(then.camera.target, camera.target), `set: ${JSON.stringify(then)}`);
  const late = await ask({ sarrus: 'set', time: 99 });
  ensure(late?.time === 1, `a time beyond the end becomes the end: ${JSON.stringify(late)}`);
  for (const wrong of [{ time: 'soon' }, { time: null }, { colour: 1 }, { selection: { kind: 'body', name: 'nobody' } }, { selection: { kind: '__proto__', name: 'x' } }, { camera: { position: [1, 2, 3], target: [1, 2, 3] } }, { theme: '<img>' }]) {
    const answer = await ask({ sarrus: 'set', ...wrong });
    ensure(answer?.sarrus === 'error' && typeof answer.error === 'string', `${JSON.stringify(wrong)} is taken: ${JSON.stringify(answer)}`);
  }
  ensure((await ask({ sarrus: 'get' }))?.selection?.name === 'rocker', 'what was refused has changed something');
  await ask({ sarrus: 'listen' });
  const before = await page.run(() => window.heard.length);
  await ask({ sarrus: 'set', time: 0, playing: true });
  await page.until('it tells of the time that passes', (n) => window.heard.slice(n).filter((m) => m.sarrus === 'state' && m.time > 0 && m.id === undefined).length > 2, before);
  await ask({ sarrus: 'set', playing: false, time: 0.5 });
  await frames(page, 3);
  await page.picture(join(folder, 'embed.png'));
  quiet(page, 'in a frame');
  await page.open(address('hexapod.html', '?embed=1&play=0&quality=low&theme=light#t=0.5'));
  const shown = await page.run(() => ['.head', '.left', '.right', '.view', '.foot'].map((x) => document.querySelector(x).getBoundingClientRect()).map((b) => [b.width, b.height]));
  ensure(shown.slice(0, 3).every((b) => b[0] * b[1] === 0) && shown[3][0] > 600 && shown[3][1] > 300 && shown[4][1] < 64, `embedded: ${shown}`);
  quiet(page, 'embedded');
}

// ---- without WebGL ----------------------------------------------------------------------------------------------------
async function checkFlat(page) {
  await page.open(address('hostile.html', '?webgl=none&play=0#t=1'));
  await page.until('there are plots', () => document.querySelectorAll('.plot canvas').length > 0);
  const state = await page.run(() => [document.querySelector('.view').textContent, document.querySelectorAll('.plot canvas').length, document.querySelectorAll('.tree .row').length, window.sarrus.state.time]);
  ensure(state[0].includes('no WebGL') && state[1] > 0 && state[2] > 3 && state[3] === 1, `without WebGL: ${JSON.stringify(state)}`);
  // Of the two quaternions of a rotation a row has the one near that of the row before: the crank turns by more than half a turn.
  const turn = await page.run(() => {
    const { run } = window.sarrus.page, { poses: x, bodies } = run, [low, high] = run.extent(run.column('q.<!-- crank'));
    let least = 1;
    for (let i = 1; i < run.rows; i++) for (let b = 0; b < bodies; b++) {
      const n = 7 * (i * bodies + b) + 3, o = n - 7 * bodies;
      least = Math.min(least, x[n] * x[o] + x[n + 1] * x[o + 1] + x[n + 2] * x[o + 2] + x[n + 3] * x[o + 3]);
    }
    return [least, high - low];
  });
  ensure(turn[0] > 0.99 && turn[1] > Math.PI, `quaternions of neighbouring rows are apart: ${turn}`);
  await page.press('ArrowRight');
  await page.press('m');
  ensure(await page.run(() => document.querySelectorAll('.topology .node').length === 4), 'without WebGL there is no topology');
  quiet(page, 'without WebGL');
}

// ---- pictures ---------------------------------------------------------------------------------------------------------
async function takePictures(page) {
  for (const theme of ['light', 'dark']) {
    for (const [width, height] of [[1366, 768], [2560, 1440]]) {
      await page.size(width, height);
      await page.open(address('hexapod.html', `?theme=${theme}&play=0${width > 2000 ? '&quality=low' : ''}#t=0.8&select=body:12`));
      await frames(page, 2);
      const over = await page.run(() => [document.documentElement.scrollWidth - innerWidth, document.documentElement.scrollHeight - innerHeight, document.fonts.check('13px Inter')]);
      ensure(over[0] <= 0 && over[1] <= 0 && over[2], `${theme} ${width}: the page is ${over} larger than the window, or its font is missing`);
      await page.picture(join(folder, `animate-${theme}-${width}.png`));
    }
    await page.size(1366, 768);
    await page.open(address('modes.html', `?theme=${theme}&play=0`));
    await frames(page, 2);
    await page.picture(join(folder, `modes-${theme}-1366.png`));
    await page.open(address('hostile.html', `?theme=${theme}&play=0&quality=low&view=topology#t=0.5&select=closure:0`));
    await frames(page, 2);
    await page.picture(join(folder, `topology-${theme}-1366.png`));
  }
  quiet(page, 'pictures');
}

const parts = {
  motion: [1366, 768, async (page) => { await checkMotion(page); await checkPhase(page); await checkKeys(page); }],
  topology: [1366, 768, checkTopology],
  names: [1120, 420, async (page) => { await checkHostile(page); await checkFlat(page); }],
  modes: [1120, 420, checkModes],
  embed: [800, 480, checkEmbed],
  cost: [480, 320, async (page) => { await checkCost(page, 'hexapod.html', 60); await checkCost(page, 'balls.html', 30); }],  // small: filling pixels is the software renderer's work
  pictures: [1366, 768, takePictures],
};
const browser = new Browser(program), begin = Date.now();
try {
  const page = await browser.page(1366, 768);
  for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) {
    const [width, height, check] = parts[name];
    await page.size(width, height);
    await check(page);
    console.log(`page: ${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  }
} catch (error) {
  fail(error.stack);
} finally {
  await browser.close();
}
process.exit(bad > 0 ? 1 : 0);
