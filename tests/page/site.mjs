// The documentation in a headless browser: node site.mjs CHROMIUM SITE FOLDER-FOR-PICTURES.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';

const [, , program, site, out] = process.argv;
let bad = 0;
const ensure = (truth, text) => { if (!truth) { console.log(`FAILED site: ${text}`); bad++; } };
const address = (name) => String(pathToFileURL(join(site, name)));
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function visit(tab, name) {
  await tab.send('Page.navigate', { url: address(name) });
  await tab.until(`${name} is there`, (url) => location.href === url && document.readyState === 'complete', address(name));
}

// What is found first for some words: titles that a reader would expect.
const questions = [['restitution', ['contact.html', 'impact', 'laws', 'contact']], ['mode shapes', ['modes', 'page.html']], ['redundant constraint', ['loops.html', 'half-explicit.html', 'mechanisms']], ['glTF', ['page.html']],
  ['Gymnasium', ['python.html', 'readme.html']], ['--rtol', ['cli', 'integrators', 'using', 'theory']]];

async function checkSearch(tab) {
  await visit(tab, 'using/page.html');
  await tab.press('/');
  ensure(await tab.run(() => document.activeElement.type === 'search'), '/ goes to the search');
  for (const [words, expected] of questions) {
    await tab.run((text) => { const input = document.querySelector('.search input'); input.value = text; input.dispatchEvent(new Event('input')); }, words);
    await tab.until(`answers to ${words}`, () => document.querySelectorAll('.found a, .found p').length > 0 && !document.querySelector('.found').hidden);
    const first = await tab.run(() => [...document.querySelectorAll('.found a')].slice(0, 3).map((a) => a.href));
    ensure(first.some((href) => expected.some((word) => href.includes(word))), `'${words}' finds ${first}`);
  }
  await tab.run(() => { const input = document.querySelector('.search input'); input.value = '<img src=x onerror=boom=1> qqqq'; input.dispatchEvent(new Event('input')); });
  ensure(await tab.run(() => window.boom === undefined && document.querySelector('.found p')?.textContent.startsWith('Nothing')), 'words that nothing has');
  await tab.run(() => { const input = document.querySelector('.search input'); input.value = 'articulated bodies'; input.dispatchEvent(new Event('input')); });
  await tab.picture(join(out, 'search.png'));
  const wanted = await tab.run(() => document.querySelector('.found a').href);
  await tab.press('Enter');
  await tab.until('Enter opens what was found first', (href) => location.href === href && document.readyState === 'complete', wanted);
}

// Links of the text that hold a model are clicked: the editor opens it from the address, reads it and runs it to its end.
async function checkModels(tab, links) {
  for (const [name, href, nth] of links) {
    await visit(tab, name);
    const place = await tab.run((i) => {
      const link = document.querySelectorAll('a.try')[i];
      link.scrollIntoView({ block: 'center', behavior: 'instant' });
      const r = link.getBoundingClientRect();
      return [r.left + r.width / 2, r.top + r.height / 2];
    }, nth);
    await tab.click(...place);
    await tab.until(`${name}: the link leads to the editor`, (to) => location.href.split('#')[0] === to.split('#')[0] && Boolean(window.sarrus?.app), href);
    await tab.until(`${name}: the model has run, or it says why not`, () => {
      const { app, page } = window.sarrus;
      return !app.running && ((page?.run.rows > 1 && app.last) || app.errors > 0 || !app.banner.hidden);
    });
    const seen = await tab.run(() => {
      const { app, page } = window.sarrus;
      return { said: app.banner.hidden ? '' : app.banner.textContent, errors: app.errors, rows: page?.run.rows ?? 0, start: page?.run.start, end: page?.run.end,
        bodies: page?.run.model.bodies.length ?? 0, q: app.last?.q ?? [], engine: app.engine?.hello?.engine };
    });
    ensure(seen.engine === 'wasm' && seen.errors === 0 && seen.rows > 1 && seen.end > seen.start, `${name}: its model does not run: ${seen.said || JSON.stringify(seen)}`);
    ensure(seen.bodies > 1 && Array.from(seen.q).every(Number.isFinite), `${name}: its run has ${seen.bodies - 1} bodies and ends with ${seen.q}`);
  }
}

const browser = new Browser(program);
try {
  const tab = await browser.page(1366, 768);
  await checkSearch(tab);
  const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith('.html') && !name.startsWith('gallery') && name !== 'sarrus.html');
  const links = [];  // of whole models: [page, address]
  for (const name of pages) {
    await visit(tab, name);
    links.push(...await tab.run((page) => [...document.querySelectorAll('a.try')].map((a, i) => [page, a.href, i]), name));
    const wide = await tab.run(() => document.documentElement.scrollWidth - innerWidth);
    ensure(wide <= 0, `${name} is ${wide} pixels wider than the window`);
    const broken = await tab.run(() => [...document.images].filter((i) => i.loading !== 'lazy' && (!i.complete || i.naturalWidth === 0)).map((i) => i.src));
    ensure(broken.length === 0, `${name}: pictures are missing: ${broken}`);
  }
  for (const theme of ['light', 'dark']) {
    await visit(tab, 'using/page.html');
    await tab.run((word) => { localStorage.setItem('sarrus-theme', word); }, theme);
    for (const [name, file] of [['index.html', 'home'], ['using/tutorial.html', 'tutorial'], ['readme.html', 'readme']]) {
      await visit(tab, name);
      await wait(200);
      await tab.picture(join(out, `${file}-${theme}.png`));
    }
  }
  ensure(tab.complaints.length === 0, `the console says ${tab.complaints[0]}`);
  ensure(tab.requests.length === 0, `asks the network for ${tab.requests[0]}`);
  const opened = links.filter((_, i) => i % Math.ceil(links.length / 5) === 0);
  if (existsSync(join(site, 'sarrus.html'))) {
    ensure(links.length > 0, 'no page has a model that runs');
    await checkModels(tab, opened);
    ensure(tab.complaints.length === 0, `the editor of a link: the console says ${tab.complaints[0]}`);
    ensure(tab.requests.length === 0, `the editor of a link asks the network for ${tab.requests[0]}`);
  } else console.log('site: skipped models in links: sarrus.html is not built');
  console.log(`site: ${pages.length} pages, ${links.length} models in links, ${existsSync(join(site, 'sarrus.html')) ? opened.length : 0} opened`);
} catch (error) {
  console.log(`FAILED site: ${error.stack}`);
  bad++;
} finally {
  await browser.close();
}
process.exit(bad > 0 ? 1 : 0);
