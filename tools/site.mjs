// Renders all Markdown pages of the repository into HTML: node site.mjs OUT EDITOR GALLERY (tools/site calls it). The same pages give the same bytes.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, normalize, relative } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { Marked } from '../page/node_modules/marked/lib/marked.esm.js';

const [, , out, editor, gallery] = process.argv;
const packages = 'page/node_modules', HOME = 'docs/index.md';
const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const files = new Set(execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 1 << 26 }).trim().split('\n').filter((path) => existsSync(path)));
const pages = [...files].filter((path) => path.endsWith('.md') && !path.startsWith('tests/') && !path.startsWith('.')).sort();
const pictures = new Set(['.svg', '.webp', '.png']);
const bad = [];

// ---- addresses --------------------------------------------------------------------------------------------------------
const address = (path) => (path === HOME ? 'index.html' : path.replace(/^docs\//, '').replace(/\.md$/, '.html').replace(/^README\.html$/, 'readme.html'));
const between = (from, to) => relative(dirname(address(from)), to) || basename(to);

// As GitHub names headings.
function slugs() {
  const used = new Map();
  return (text) => {
    const slug = text.toLowerCase().trim().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-'), n = used.get(slug) ?? 0;
    used.set(slug, n + 1);
    return n > 0 ? `${slug}-${n}` : slug;
  };
}
const plain = (html) => html.replace(/<[^>]*>/g, '').replace(/&#(\d+);/g, (_, n) => String.fromCharCode(n)).replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, '&');

// A link of a page: to another page, to a picture, to an address; null: to a file that the site does not have.
function target(page, href) {
  if (/^[a-z]+:/.test(href)) return href;
  const [path, anchor] = href.split('#'), hash = anchor ? `#${anchor}` : '';
  if (!path) return hash;
  const file = normalize(join(dirname(page), decodeURIComponent(path))).replace(/\/$/, '');
  if (pages.includes(file)) return between(page, address(file)) + hash;
  const inside = [`${file}/index.md`, `${file}/README.md`].find((p) => pages.includes(p));
  if (inside) return between(page, address(inside)) + hash;
  if (files.has(file) && pictures.has(extname(file))) return between(page, copyPicture(file));
  if (!files.has(file) && ![...files].some((f) => f.startsWith(`${file}/`))) bad.push(`${page}: '${href}' is not there`);
  return null;
}

const copied = new Map();
function copyPicture(file) {
  const to = `pictures/${file.replace(/^docs\//, '').replaceAll('/', '--')}`;
  copied.set(file, to);
  return to;
}

// ---- pages ------------------------------------------------------------------------------------------------------------
const hasEditor = existsSync(editor);
// A whole model opens in the editor: its address holds it (page/src/share.js).
function tryLink(page, text) {
  if (!hasEditor || !/^<sarrus\b/.test(text.trim()) || !/<\/sarrus>\s*$/.test(text) || /<include|file=/.test(text)) return '';
  const letters = deflateRawSync(JSON.stringify({ file: 'model.xml', text, files: {} }), { level: 9 }).toString('base64url');
  return letters.length > 20000 ? '' : `<a class="try" href="${between(page, 'sarrus.html')}#model=${letters}">Run it</a>`;
}

function render(page) {
  const slug = slugs(), headings = [], sections = [];
  const marked = new Marked({ gfm: true });
  let title = null;
  marked.use({ renderer: {
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens), text = plain(html), id = slug(text);
      title ??= text;
      headings.push({ depth, text, id });
      sections.push({ id, text, words: [] });
      return `<h${depth} id="${escape(id)}">${html}</h${depth}>\n`;
    },
    code({ text, lang }) {
      sections.at(-1)?.words.push(text);
      const word = (lang ?? '').split(/[\s(]/)[0];
      return `<div class="code">${word === 'xml' ? tryLink(page, text) : ''}<pre><code>${escape(text)}</code></pre></div>\n`;
    },
    table(token) {
      const row = (cells, tag) => `<tr>${cells.map((c) => { const html = this.parser.parseInline(c.tokens); sections.at(-1)?.words.push(plain(html)); return `<${tag}>${html}</${tag}>`; }).join('')}</tr>`;
      return `<div class="table"><table><thead>${row(token.header, 'th')}</thead><tbody>${token.rows.map((r) => row(r, 'td')).join('')}</tbody></table></div>\n`;
    },
    paragraph({ tokens }) {
      const html = this.parser.parseInline(tokens);
      sections.at(-1)?.words.push(plain(html));
      return `<p>${html}</p>\n`;
    },
    listitem(item) {
      const html = this.parser.parse(item.tokens);
      if (!html.includes('<p>')) sections.at(-1)?.words.push(plain(html));
      return `<li>${html}</li>\n`;
    },
    link({ href, tokens }) {
      const html = this.parser.parseInline(tokens), to = target(page, href);
      return to === null ? `<span class="file" title="${escape(href)}">${html}</span>` : `<a href="${escape(to)}">${html}</a>`;
    },
    image({ href, text }) { return `<img src="${escape(target(page, href) ?? '')}" alt="${escape(text)}" loading="lazy">`; },
    html({ text }) { return text.replace(/(src|srcset)="([^"]*)"/g, (_, name, href) => `${name}="${escape(target(page, href) ?? '')}"`); },
  } });
  const body = marked.parse(readFileSync(page, 'utf8'));
  return { page, title: title ?? basename(page), headings, sections, body };
}

// The list on the left: that of the index, then what is beside docs/.
function navigation() {
  const groups = [];
  for (const line of readFileSync(HOME, 'utf8').split('\n')) {
    const head = /^\*\*\[(\w+)\]/.exec(line)?.[1], item = /^- \[([^\]]+)\]\(([^)]+\.md)\)/.exec(line);
    if (head) groups.push({ head, items: [] });
    else if (item && groups.length > 0) groups.at(-1).items.push({ text: item[1], page: normalize(join('docs', item[2])) });
  }
  groups.push({ head: 'project', items: [['Overview', 'README.md'], ['Models', 'models/README.md'], ['Changes', 'CHANGELOG.md'], ['Contributing', 'CONTRIBUTING.md'], ['Security', 'SECURITY.md']]
    .filter((x) => pages.includes(x[1])).map(([text, page]) => ({ text, page })) });
  return groups;
}

const extra = [...(existsSync(join(gallery, 'index.html')) ? [['Gallery', 'gallery/index.html']] : []), ...(hasEditor ? [['Editor', 'sarrus.html']] : [])];

function layout(x, groups) {
  const to = (path) => escape(between(x.page, path)), up = to('style.css').replace('style.css', '');
  const nav = groups.map((g) => `<h2>${escape(g.head)}</h2><ul>${g.items.map((i) => `<li><a href="${to(address(i.page))}"${i.page === x.page ? ' aria-current="page"' : ''}>${escape(i.text)}</a></li>`).join('')}</ul>`).join('');
  const toc = x.headings.filter((h) => h.depth === 2 || h.depth === 3);
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<title>${escape(x.title)} · Sarrus</title><link rel="stylesheet" href="${to('style.css')}"><script src="${to('site.js')}" defer></script></head>
<body><header><a class="home" href="${to('index.html')}"><svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true"><path d="M6 6h10l4 5-4 5H6l-4-5z" stroke-linejoin="round"/><circle cx="6" cy="6" r="1.6" fill="currentColor"/><circle cx="16" cy="6" r="1.6" fill="currentColor"/><circle cx="6" cy="16" r="1.6" fill="currentColor"/><circle cx="16" cy="16" r="1.6" fill="currentColor"/></svg>Sarrus</a>
<div class="search"><input type="search" placeholder="Search the documentation  ( / )" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><div class="found" role="listbox" hidden></div></div>
<nav class="extra">${extra.map(([text, path]) => `<a href="${to(path)}">${text}</a>`).join('')}<button class="theme" type="button" aria-label="Light or dark" title="Light or dark">◐</button></nav></header>
<div class="columns"><nav class="pages" aria-label="Pages">${nav}</nav><main>${x.body}</main>
<nav class="toc" aria-label="On this page">${toc.length > 1 ? `<h2>On this page</h2><ul>${toc.map((h) => `<li class="d${h.depth}"><a href="#${escape(h.id)}">${escape(h.text)}</a></li>`).join('')}</ul>` : ''}</nav></div></body></html>
`;
}

// ---- all of it --------------------------------------------------------------------------------------------------------
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const rendered = pages.map(render), groups = navigation();
for (const x of rendered) {
  const to = join(out, address(x.page));
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, layout(x, groups));
}
for (const [from, to] of copied) {
  mkdirSync(dirname(join(out, to)), { recursive: true });
  cpSync(from, join(out, to));
}
// Links to headings that are not there.
const anchors = new Map(rendered.map((x) => [address(x.page), new Set(x.headings.map((h) => h.id))]));
for (const x of rendered) {
  for (const [, href] of x.body.matchAll(/<a href="([^":]*#[^"]*)"/g)) {
    if (href.includes('sarrus.html')) continue;
    const [path, hash] = plain(href).split('#'), to = path ? normalize(join(dirname(address(x.page)), path)) : address(x.page);
    if (!anchors.get(to)?.has(hash)) bad.push(`${x.page}: '${href}' is no heading`);
  }
}
// page: [address, title]; section: [page, heading, anchor, words]
const index = { pages: rendered.map((x) => [address(x.page), x.title]),
  sections: rendered.flatMap((x, i) => x.sections.map((s) => [i, s.text, s.id, s.words.join(' ').replace(/\s+/g, ' ').slice(0, 4000)])) };
writeFileSync(join(out, 'index.js'), `window.sarrusIndex = ${JSON.stringify(index).replaceAll('</', '<\\/')};\n`);
for (const name of ['style.css', 'site.js']) cpSync(`tools/site-files/${name}`, join(out, name));
for (const [name, file] of [['inter.woff2', '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'], ['greek.woff2', '@fontsource-variable/inter/files/inter-greek-wght-normal.woff2'],
  ['mono.woff2', '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2']]) cpSync(join(packages, file), join(out, name));
if (existsSync(join(gallery, 'index.html'))) cpSync(gallery, join(out, 'gallery'), { recursive: true });
if (hasEditor) cpSync(editor, join(out, 'sarrus.html'));
for (const text of bad) console.error(`tools/site: ${text}`);
console.log(`${rendered.length} pages, ${index.sections.length} sections: ${join(out, 'index.html')}`);
process.exit(bad.length > 0 ? 1 : 0);
