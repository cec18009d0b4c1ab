// Bundles the front end into one HTML file: node build.mjs FOLDER writes FOLDER/page.html and FOLDER/THIRD-PARTY.txt.
// The same sources give the same bytes. The script's hash is in the policy of the page: nothing else can run there.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) {
  console.error('usage: node build.mjs FOLDER');
  process.exit(2);
}

const result = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.js'],
  outdir: 'out',
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  loader: { '.svg': 'text', '.woff2': 'dataurl' },
  logLevel: 'warning',
});
const part = (end) => result.outputFiles.find((file) => file.path.endsWith(end)).text;
// What would end the script, or begin a comment in it, can only be in a string or a template there.
const script = part('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const style = part('.css').replaceAll('</style', '<\\/style');
const hash = createHash('sha256').update(script, 'utf8').digest('base64');

// Licences of what is in the bundle.
let notices = 'Parts of this page come from other projects. Their licences:\n';
const { dependencies } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
for (const name of Object.keys(dependencies).sort()) {
  const root = join(here, 'node_modules', name);
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const text = await readFile(join(root, 'LICENSE'), 'utf8');
  notices += `\n${'-'.repeat(100)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
}
if (notices.includes('</script')) throw new Error('a licence text would end its element');

const values = { hash, script, style, notices };
const page = (await readFile(join(here, 'src/index.html'), 'utf8')).replace(/@([a-z]+)@/g, (_, word) => values[word]);
if (page.split('<!-- sarrus: data -->').length !== 2) throw new Error('the page must have one place for the data');
await mkdir(folder, { recursive: true });
await writeFile(join(folder, 'THIRD-PARTY.txt'), notices);
await writeFile(join(folder, 'page.html'), page);
