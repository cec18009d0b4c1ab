// The page of `sarrus view`: the engine is at the other end of a WebSocket of the server that this page came from.
import { bytesOf, inflate } from './data.js';
import { addEditor, tabs } from './edit/tab.js';
import { openEngine } from './engine.js';
import { openPage } from './main.js';
import { Live } from './live/open.js';
import { Session } from './live/session.js';
import { state } from './state.js';
import './live/live.css';

const LATEST = 5000;  // ms between two attempts
const CHANGED = 1000;  // ms between two looks at the file

// What the server has put into the page: {socket, file}. Tests give their own engine.
async function about() {
  const block = document.getElementById('sarrus-live');
  return block ? JSON.parse(new TextDecoder().decode(await inflate(bytesOf(block.textContent)))) : { socket: '/live', file: '' };
}

const { socket, file } = await about(), { search } = location;
// The token is taken out of the address: it must not be in links that are passed on.
const kept = new URLSearchParams(search);
if (kept.has('token')) {
  kept.delete('token');
  history.replaceState(null, '', `${location.pathname}${kept.size > 0 ? `?${kept}` : ''}${location.hash}`);
}
const connect = window.sarrusConnect ?? (() => openEngine({ kind: 'socket', address: `ws://${location.host}${socket}${search}` }));
const request = window.sarrusModel ?? { path: file };
const load = (session) => session.ask({ do: 'load', ...request });
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

// A server that went away may come back: with a new session, which has the model and not the run.
async function again(live) {
  for (let pause = 250; ; pause = Math.min(2 * pause, LATEST)) {
    await wait(pause);
    try {
      live.session.found(await connect());
      live.foundAgain(await load(live.session));
      return;
    } catch { /* not yet */ }
  }
}

// A model whose file has changed is read again; a file that is written in pieces is checked once more.
async function watch(live) {
  const { session } = live;
  for (let seen = 0; ;) {
    await wait(CHANGED);
    if (session.lost || document.hidden || state.mode === 'edit') continue;
    const answer = await session.ask({ do: 'changed' });
    if (!answer.ok) { if (!session.lost) return; continue; }
    seen = answer.changed ? seen + 1 : 0;
    if (seen === 1 || (seen > 1 && live.broken)) await live.reload(request);
  }
}

await openPage(async (options) => {
  const engine = await connect(), session = new Session(engine), loaded = await load(session);
  if (!loaded.ok) throw new Error((loaded.messages ?? []).filter((m) => m.severity === 'error').map((m) => `${m.file}:${m.line}:${m.column} ${m.text}`).join('\n') || loaded.error);
  const live = new Live(session, loaded), text = loaded.text ?? request.text, page = live.open(options, text ? { tabs } : {});
  if (text) addEditor(live, loaded, request);
  session.on((what) => { if (what === 'lost') again(live); });
  if (request.path) watch(live);
  page.live = live;
  return page;
});
