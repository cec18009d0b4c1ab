// A page of a run as a video, picture by picture: node video.mjs CHROMIUM FFMPEG PAGE.html OUT WIDTH HEIGHT FPS SPEED THEME
// A headless Chromium without network draws the page at the times k SPEED/FPS from its start to its end, and ffmpeg gets every picture: nothing is
// recorded from a screen, so no picture is lost on a slow machine. What goes wrong is one line on standard error.
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';

const [, , chromium, ffmpeg, page, out, ...rest] = process.argv;
const [width, height, fps, speed] = rest.slice(0, 4).map(Number), theme = rest[4];
const PATIENCE = 60000;  // ms for one picture
const codecs = {
  mp4: ['-c:v', 'libx264', '-crf', '18', '-pix_fmt', 'yuv420p', '-movflags', '+faststart'],
  webm: ['-c:v', 'libvpx-vp9', '-crf', '30', '-b:v', '0', '-row-mt', '1', '-deadline', 'good', '-cpu-used', '4', '-pix_fmt', 'yuv420p'],
};

function start() {
  const codec = codecs[out.toLowerCase().split('.').pop()];
  const child = spawn(ffmpeg, ['-y', '-loglevel', 'error', '-f', 'image2pipe', '-framerate', String(fps), '-c:v', 'png', '-i', '-', ...codec, out],
    { stdio: ['pipe', 'ignore', 'pipe'] });
  child.text = '';
  child.stderr.on('data', (part) => { child.text += part; });
  child.stdin.on('error', () => {});  // it has ended: the exit status tells why
  child.done = new Promise((done) => {
    child.on('exit', (code) => done(code));
    child.on('error', (error) => { child.text = error.message; done(1); });
  });
  return child;
}

async function within(promise, what) {
  let timer = null;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`${what}: nothing for ${PATIENCE / 1000} s`)), PATIENCE); });
  try { return await Promise.race([promise, late]); } finally { clearTimeout(timer); }
}

// Draws the moment t; the next picture of the window has it.
const draw = (t) => new Promise((done) => {
  window.sarrus.set({ time: t, playing: false });
  requestAnimationFrame(() => requestAnimationFrame(() => done(window.sarrus.state.time)));
});

async function film(browser, encoder) {
  const tab = await within(browser.page(width, height), 'the browser');
  await within(tab.open(`${pathToFileURL(page)}?embed=film&play=0&theme=${theme}`), 'the page');
  const [from, to, shown] = await tab.run(() => { const { run, scene } = window.sarrus.page; return [run.start, run.end, Boolean(scene)]; });
  if (!shown) throw new Error('the browser has no WebGL');
  const n = Math.floor((to - from) * fps / speed + 1e-6) + 1;
  for (let k = 0; k < n; k++) {
    await within(tab.run(draw, Math.min(to, from + k * speed / fps)), `picture ${k}`);
    const { data } = await within(tab.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true }), `picture ${k}`);
    if (encoder.exitCode !== null) return;
    if (!encoder.stdin.write(Buffer.from(data, 'base64'))) await within(Promise.race([new Promise((done) => { encoder.stdin.once('drain', done); }), encoder.done]), 'ffmpeg');
  }
  if (tab.complaints.length > 0) throw new Error(`the page says: ${tab.complaints[0]}`);
}

const browser = new Browser(chromium), encoder = start();
let error = null;
try {
  await film(browser, encoder);
} catch (thrown) {
  error = thrown.message;
}
encoder.stdin.end();
if (error) encoder.kill('SIGKILL');
const code = await encoder.done;
if (!error && code !== 0) error = `ffmpeg: ${encoder.text.trim().split('\n').pop() || `exit status ${code}`}`;
await browser.close();
if (error) console.error(error);
process.exit(error ? 1 : 0);
