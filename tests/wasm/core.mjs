// The core as WebAssembly, without a page: node core.mjs CORE MODELS SARRUS. Runs of shipped models end where those of the program here end, to
// 1e-9, or, where impacts amplify last digits, no farther than the program is from itself when a parameter changes by one unit in its last place;
// errors have their places; files that a model includes are found, and others are not. Every line "FAILED ..." is a failure.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [, , folder, models, sarrus] = process.argv;
const SAME = 1e-9;  // of the largest coordinate or velocity
let bad = 0;
const fail = (text) => { console.log(`FAILED wasm: ${text}`); bad++; };
const ensure = (truth, text) => { if (!truth) fail(text); };

let told = 0;
const make = createRequire(import.meta.url)(resolve(folder, 'core.js'));
const core = await make({ wasmBinary: readFileSync(join(folder, 'core.wasm')), progress: () => { told++; } });
const encode = (text) => new TextEncoder().encode(text);
const read = (path) => readFileSync(join(models, path), 'utf8');

function lend(bytes, call) {
  const at = core._malloc(bytes.length + 1);
  core.HEAPU8.set(bytes, at);
  core.HEAPU8[at + bytes.length] = 0;
  try { return call(at, bytes.length); } finally { core._free(at); }
}
let id = 0;
function ask(request) {
  id++;
  const text = typeof request === 'string' ? request : JSON.stringify({ id, ...request });
  if (!lend(encode(text), (at, n) => core._core_request(at, n))) throw new Error('out of memory');
  const at = core._core_answer(), bytes = core.HEAPU8.slice(at, at + core._core_answer_size()), n = new DataView(bytes.buffer).getUint32(0, true);
  const answer = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + n))), base = Math.ceil((4 + n) / 8) * 8;
  answer.array = (name) => { const a = answer.arrays[name]; return new { f32: Float32Array, f64: Float64Array, u32: Uint32Array, u8: Uint8Array }[a.type](bytes.buffer, base + a.at, a.n); };
  return answer;
}
const put = (name, text) => lend(encode(name), (path) => lend(encode(text), (at, n) => core._core_file(path, at, n)));

ensure(core._core_open() === 1, 'no session');
const hello = ask({ do: 'hello' });
ensure(hello.ok && hello.engine === 'wasm', `hello: ${JSON.stringify(hello).slice(0, 200)}`);

// ---- the same numbers ------------------------------------------------------------------------------------------------------
function farApart(a, b) {
  const scale = Math.max(1, ...b.map(Math.abs));
  return a.length === b.length ? Math.max(...b.map((x, i) => Math.abs(x - a[i]))) / scale : Infinity;
}
const run_here = (file, options) => JSON.parse(execFileSync(sarrus, ['run', join(models, file), '--json', '--quiet', ...options], { stdio: ['ignore', 'pipe', 'ignore'] }));
const distance = (a, b) => Math.max(farApart(a.q, b.q), farApart(a.v, b.v));
function neighbours(x) {
  const number = new Float64Array([x]), bits = new BigInt64Array(number.buffer);
  return [1n, -2n].map((more) => { bits[0] += more; return number[0]; });
}
// How far the program's end is from its own where each of these parameters is one unit in its last place larger or smaller.
const ofOneUnit = (file, options, parameters, end) => Math.max(...Object.entries(parameters).flatMap(([name, value]) => neighbours(value).map((x) => distance(run_here(file, [...options, '--set', `${name}=${x}`]), end))));

// The elementary functions (sin, cos, pow, atan2) are another library's in the core, and KLU and AMD are the program's alone. With the same functions and without
// KLU both give the same bits, at the dominoes, too (2649 steps): nothing else differs.
const cases = [
  ['double-pendulum.xml', ['--t-end', '2']],
  ['humanoid.xml', []],
  ['mechanisms/four-bar.xml', []],
  ['mechanisms/stewart-platform.xml', []],
  ['mechanisms/delta-robot.xml', []],
  ['mechanisms/engine.xml', []],
  ['robots/hexapod.xml', ['--method', 'rk4', '--step', '2e-4', '--t-end', '0.1']],
  ['robots/arm-six.urdf', ['--t-end', '0.5']],
  ['contact/newtons-cradle.xml', []],                         // forces of contact
  ['contact/wheel-on-terrain.xml', ['--t-end', '0.3']],
  ['nonsmooth/dominoes.xml', ['--t-end', '0.1']],             // one has fallen on the next
  ['contact/bouncing-ball.xml', ['--contact', 'event']],      // impacts as events
  ['nonsmooth/woodpecker.xml', ['--contact', 'event']],
  ['contact/heap-of-balls.xml', ['--t-end', '0.1']],          // in time steps
  ['contact/slider-crank-clearance.xml', ['--contact', 'timestepping', '--t-end', '0.2']],
  ['nonsmooth/dominoes.xml', [], { thick: 0.008, wide: 0.024, tall: 0.048, m: 0.01, gap: 0.016, w0: 6 }],  // all eight: each impact amplifies what differs
];
for (const [file, options, parameters] of cases) {
  const native = run_here(file, options), title = [file, ...options].join(' ');
  const loaded = ask({ do: 'load', text: read(file), file });
  if (!loaded.ok) { fail(`${file}: ${loaded.error}`); continue; }
  const value = (name) => { const i = options.indexOf(name); return i < 0 ? undefined : isNaN(options[i + 1]) ? options[i + 1] : Number(options[i + 1]); };
  const settings = Object.fromEntries(['method', 'contact', 'step'].map((name) => [name, value(`--${name}`)]).filter(([, x]) => x !== undefined));
  const set = Object.keys(settings).length > 0 ? ask({ do: 'options', ...settings }) : { ok: true };
  ensure(set.ok, `${title}: ${set.error}`);
  const t_end = value('--t-end');
  const run = ask({ do: 'run', ...(t_end ? { t_end } : {}) });
  if (!run.ok) { fail(`${title}: ${run.error}`); continue; }
  const near = parameters ? ofOneUnit(file, options, parameters, native) : SAME;
  const far = distance({ q: Array.from(run.array('q')), v: Array.from(run.array('v')) }, native);
  console.log(`  ${title}: ${far.toExponential(1)}${parameters ? ` (one unit in the last place: ${near.toExponential(1)})` : ''}, steps ${run.report.steps} and ${native.steps}`);
  ensure(far < near, `${title}: ends ${far} from where the program ends, at most ${near}`);
  ensure(Math.abs(run.array('t').at(-1) - native.t) < 1e-12, `${title}: ends at another time`);
}
ensure(told > 0, 'no run has told its progress');

// ---- errors, files -----------------------------------------------------------------------------------------------------------
const wrong = ask({ do: 'check', text: '<sarrus version="1" name="ä">\n  <body name="a" paernt="ground"/>\n</sarrus>\n', file: 'x.xml' });
const first = wrong.messages.find((m) => m.severity === 'error');
ensure(first?.line === 2 && first.column === 18 && first.text.includes('paernt'), `the place of an error: ${JSON.stringify(first)}`);
const cut = ask({ do: 'check', text: '<sarrus version="1">\n  <body name="a">\n</sarrus>\n', file: 'x.xml' });
ensure(cut.messages.some((m) => m.severity === 'error' && m.line === 3), `mismatched tags: ${JSON.stringify(cut.messages)}`);
const plugin = ask({ do: 'check', text: '<sarrus version="1">\n  <plugin file="x.so"/>\n</sarrus>\n', file: 'x.xml' });
ensure(plugin.messages.some((m) => m.severity === 'error' && m.line === 2), `a plugin: ${JSON.stringify(plugin.messages)}`);
const hexapod = { do: 'load', text: read('paper1/hexapod.xml'), file: 'hexapod.xml' };
ensure(!ask(hexapod).ok, 'a model without the files that it includes is read');
for (const name of ['hexapod-body.xml', 'hexapod-gait.csv']) ensure(put(name, read(join('paper1', name))) === 1, `${name} is not taken`);
const walking = ask(hexapod);
ensure(walking.ok && walking.model.bodies.length === 26, `with its files: ${walking.error}`);
core._core_forget_files();
ensure(!ask(hexapod).ok, 'forgotten files are still there');
ensure(!ask({ do: 'load', text: '<sarrus version="1"><include file="../etc/passwd"/></sarrus>', file: 'x.xml' }).ok, 'a file outside of the folder is read');
for (const request of ['', '{', '[]', '{"id": 1}', '{"id": 1, "do": "fly"}', `{"id": 1, "do": "load", "text": "${'<a>'.repeat(100000)}"}`, '{"id":1,"do":"check","text":"\\u0000","file":"x"}'])
  ensure(ask(request).ok === false, `accepted: ${request.slice(0, 40)}`);
ensure(ask({ do: 'load', text: read('pendulum.xml'), file: 'p.xml' }).ok, 'a good model after bad requests');
process.exit(bad > 0 ? 1 : 0);
