// Draws pages of models: node gallery.mjs CHROMIUM gallery|readme FOLDER-OF-PAGES OUT (tools/gallery calls it). gallery: the models are the lines of standard input.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from '../tests/page/browser.mjs';

const [, , chromium, what, folder, out] = process.argv;
const EMPTY = 2e-4;  // share of the pixels that bodies cover: below, nothing is seen
const frames = (tab, n) => tab.run((count) => new Promise((done) => {
  const step = () => { if (count-- > 0) requestAnimationFrame(step); else done(true); };
  step();
}), n);
const save = (name, base64) => { const data = Buffer.from(base64, 'base64'); writeFileSync(join(out, name), data); return data.length; };
const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// The first sentence of the comment at the head of a model.
function about(model) {
  const comment = /<!--([^]*?)-->/.exec(readFileSync(model, 'utf8'))?.[1] ?? '';
  const text = comment.replace(/\s+/g, ' ').trim(), sentence = /^.*?[.:;](?= |$)/.exec(text)?.[0] ?? text;
  return (sentence.length > 160 ? `${sentence.slice(0, 157)}…` : sentence).replace(/[.:;]$/, '');
}

const groups = { '': 'First models', mechanisms: 'Mechanisms and closed loops', vehicles: 'Vehicles', robots: 'Robots', contact: 'Contact and friction', benchmark: 'Benchmarks of the literature',
  nonsmooth: 'Rigid contact', 'contact-problems': 'Contact problems' };
const style = `:root { color-scheme: light dark; --bg: #eceef2; --panel: #fff; --line: #e2e5ea; --text: #171a21; --mute: #697386; --top: #f7f8fa; --bottom: #dde2ea; }
@media (prefers-color-scheme: dark) { :root { --bg: #0d0f13; --panel: #15181e; --line: #262b35; --text: #e9ebf0; --mute: #8a94a5; --top: #2b303b; --bottom: #191c23; } }
body { font: 14px/20px Inter, system-ui, sans-serif; margin: 0 auto; padding: 24px; max-width: 1280px; background: var(--bg); color: var(--text); }
h1 { font-size: 20px; } h2 { font-size: 14px; margin: 28px 0 10px; } p { color: var(--mute); max-width: 720px; }
.models { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 14px; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 10px; background: var(--panel); overflow: hidden; }
img { display: block; width: 100%; aspect-ratio: 8/5; background: linear-gradient(var(--top), var(--bottom)); }
figcaption { padding: 8px 12px 10px; font-size: 13px; } figcaption b { display: block; overflow-wrap: anywhere; } figcaption span { color: var(--mute); font-size: 12px; line-height: 17px; display: block; }`;

async function gallery(tab) {
  const models = readFileSync(0, 'utf8').trim().split('\n').filter(Boolean), sections = new Map(), empty = [];
  let bytes = 0;
  for (const model of models) {
    const name = model.slice('models/'.length, -'.xml'.length), file = name.replaceAll('/', '--');
    await tab.open(`${pathToFileURL(join(folder, `${file}.html`))}?embed=film&play=0&theme=light`);
    const { address, drawn } = await tab.run(() => {
      const { page, set } = window.sarrus;
      set({ show: { ...window.sarrus.state.show, grid: false }, time: page.run.start + 0.6 * (page.run.end - page.run.start) });
      page.run.pose(window.sarrus.state.time);
      page.scene.fit();
      page.scene.draw();
      const { canvas } = page.scene, copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      let opaque = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] === 255) opaque++;
      return { address: canvas.toDataURL('image/webp', 0.8), drawn: opaque / (data.length / 4) };
    });
    if (drawn < EMPTY) { empty.push(model); console.error(`tools/gallery: ${model}: its picture is empty`); }
    bytes += save(`${file}.webp`, address.split(',')[1]);
    const group = name.includes('/') ? name.split('/')[0] : '';
    if (!sections.has(group)) sections.set(group, []);
    sections.get(group).push(`<figure><img src="${encodeURIComponent(file)}.webp" alt="" loading="lazy"><figcaption><b>${escape(name.split('/').pop())}</b><span>${escape(about(model))}</span><span>${escape(model)}</span></figcaption></figure>`);
    if (tab.complaints.length > 0) throw new Error(`${model}: the page says: ${tab.complaints[0]}`);
  }
  const order = [...Object.keys(groups), ...sections.keys()], known = [...new Set(order)].filter((g) => sections.has(g));
  const title = (g) => groups[g] ?? (/^paper\d$/.test(g) ? 'Models of published studies' : g);
  writeFileSync(join(out, 'index.html'), `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>Models · Sarrus</title>
<style>${style}</style></head><body><h1>Models</h1><p>The models that come with Sarrus, drawn by its page. <b>sarrus run MODEL --page model.html</b> writes a page of each in motion.</p>
${known.map((g) => `<h2>${escape(title(g))}</h2><div class="models">${sections.get(g).join('\n')}</div>`).join('\n')}</body></html>\n`);
  console.log(`${models.length} models, ${empty.length} of them empty, ${(bytes / 1e3).toFixed(0)} kB of pictures: ${join(out, 'index.html')}`);
}

// [page, name, address]: two pages in two themes.
async function readme(tab) {
  for (const theme of ['light', 'dark']) {
    for (const [name, hash] of [['hexapod', 't=0.84&select=body:12'], ['four-bar', 't=0.62&select=body:3']]) {
      await tab.size(1366, 768);
      await tab.open(`${pathToFileURL(join(folder, `${name}.html`))}?theme=${theme}&play=0#${hash}`);
      await frames(tab, 4);
      const { data } = await tab.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
      console.log(`${name}-${theme}.webp: ${save(`${name}-${theme}.webp`, data)} bytes`);
    }
  }
}

const browser = new Browser(chromium);
try {
  const tab = await browser.page(480, 300);
  await (what === 'readme' ? readme : gallery)(tab);
} finally {
  await browser.close();
}
