// Bundles the front end into HTML files with everything in them:
//   node build.mjs FOLDER              page.html: shows a run; sarrus run --page puts the data into it
//   node build.mjs --view FOLDER       view.html: shows what an engine computes meanwhile; sarrus view serves it
//   node build.mjs --app FOLDER CORE EXPAT   sarrus.html: edits models and runs them, with the core in the folder CORE (core.js, core.wasm)
//                                      and the licence of expat, whose sources are in the folder EXPAT. CORE is - where there is none: the page says so
// Beside each a text with the licences of what is in it. The same sources give the same bytes. The scripts' hashes are in the policy of the page:
// nothing else can run there. That of sarrus.html is packed as its core is, which makes the page a quarter smaller: src/unpack.js runs it.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { readElements } from './elements.mjs';
import { examples } from './examples.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const what = process.argv[2]?.startsWith('--') ? process.argv[2] : '--page', app = what === '--app';
const [folder, core, expat] = process.argv.slice(process.argv[2] === what ? 3 : 2);
const pages = {
  '--page': { entry: 'src/page.js', file: 'page.html', notices: 'THIRD-PARTY.txt', policy: '' },
  '--view': { entry: 'src/viewer.js', file: 'view.html', notices: 'THIRD-PARTY-view.txt', policy: '' },
  '--app': { entry: 'src/app.js', file: 'sarrus.html', notices: 'THIRD-PARTY-sarrus.txt', policy: " 'wasm-unsafe-eval'; worker-src blob:" },
}[what];
if (!folder || !pages || (app && !expat)) {
  console.error('usage: node build.mjs FOLDER, node build.mjs --view FOLDER, or node build.mjs --app FOLDER CORE EXPAT');
  process.exit(2);
}

const elements = await readElements(join(here, '..', 'docs/using/format.md'));  // for the editor

async function bundle(entry, format) {
  return build({
    absWorkingDir: here,
    entryPoints: [entry],
    outdir: 'out',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    define: { SARRUS_ELEMENTS: JSON.stringify(elements) },
    loader: { '.svg': 'text', '.woff2': 'dataurl' },
    logLevel: 'warning',
  });
}
const part = (result, end) => result.outputFiles.find((file) => file.path.endsWith(end)).text;
// What would end an element, or begin a comment in it, can only be in a string or a template there.
const inScript = (text) => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

// Licences of the packages that a bundle has files of.
async function licences(result) {
  const names = new Set(Object.keys(result.metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
  let text = 'Parts of this page come from other projects. Their licences:\n';
  for (const name of [...names].sort()) {
    const root = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    text += notice(`${name} ${version} (${license})`, await readFile(join(root, 'LICENSE'), 'utf8'));
  }
  return text;
}
const notice = (title, text) => `\n${'-'.repeat(100)}\n${title}\n\n${text.trim()}\n`;

// Texts that no browser runs, deflated and in base64, as src/page/page.c writes them.
const block = (name, data) => `<script type="text/plain" id="sarrus-${name}">${deflateRawSync(data, { level: 9 }).toString('base64')}</script>\n`;

async function exampleBlock() {
  const models = join(here, '..', 'models'), read = (path) => readFile(join(models, path), 'utf8'), out = [];
  for (const { title, about, file, with: others = [] } of examples) {
    const files = {};
    for (const name of others) files[name] = await read(join(dirname(file), name));
    out.push({ title, about, file: file.slice(file.lastIndexOf('/') + 1), text: await read(file), files });
  }
  return block('examples', JSON.stringify(out));
}

async function coreBlocks() {
  if (core === '-') return { blocks: '', notices: '' };
  const worker = await bundle('src/worker.js', 'iife'), glue = await readFile(join(core, 'core.js'), 'utf8');
  const musl = '/usr/share/emscripten/system/lib/libc/musl/COPYRIGHT';
  const notices = notice('expat (MIT)', await readFile(join(expat, 'COPYING'), 'utf8')) +
    notice('emscripten (MIT)', 'Copyright (c) 2010-2022 Emscripten authors, under the licence of expat, which is printed above.') +
    (existsSync(musl) ? notice('musl (MIT)', await readFile(musl, 'utf8')) : '');
  return { blocks: block('worker', `${glue}\n${part(worker, '.js')}`) + block('core', await readFile(join(core, 'core.wasm'))), notices };
}

const hashOf = (text) => createHash('sha256').update(text, 'utf8').digest('base64');

const result = await bundle(pages.entry, 'esm'), code = part(result, '.js');
const script = inScript(app ? part(await bundle('src/unpack.js', 'esm'), '.js') : code), style = part(result, '.css').replaceAll('</style', '<\\/style');
const wasm = app ? await coreBlocks() : { blocks: '', notices: '' };
const notices = await licences(result) + wasm.notices;
if (notices.includes('</script')) throw new Error('a licence text would end its element');
const values = {
  hash: hashOf(script), script, style, notices,
  policy: app ? ` 'sha256-${hashOf(code)}'${pages.policy}` : pages.policy,
  data: app ? await exampleBlock() + wasm.blocks + block('script', code) : '<!-- sarrus: data -->',
};
const page = (await readFile(join(here, 'src/index.html'), 'utf8')).replace(/@([a-z]+)@/g, (_, word) => values[word]);
if (!app && page.split('<!-- sarrus: data -->').length !== 2) throw new Error('the page must have one place for the data');
await mkdir(folder, { recursive: true });
await writeFile(join(folder, pages.notices), notices);
await writeFile(join(folder, pages.file), page);
