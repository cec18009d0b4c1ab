// The page of `sarrus view`: the engine is at the other end of a WebSocket of the server that this page came from.
import { openEngine } from './engine.js';
import { openPage } from './main.js';
import { Live } from './live/open.js';
import { Session } from './live/session.js';
import './live/live.css';

const LATEST = 5000;  // ms between two attempts

const connect = window.sarrusConnect ?? (() => openEngine({ kind: 'socket', address: `ws://${location.host}/live${location.search}` }));
const load = (session) => session.ask({ do: 'load', ...(window.sarrusModel ?? {}) });
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

await openPage(async (options) => {
  const engine = await connect(), session = new Session(engine), loaded = await load(session);
  if (!loaded.ok) throw new Error((loaded.messages ?? []).filter((m) => m.severity === 'error').map((m) => `${m.file}:${m.line}:${m.column} ${m.text}`).join('\n') || loaded.error);
  const live = new Live(session, loaded), page = live.open(options);
  session.on((what) => { if (what === 'lost') again(live); });
  page.live = live;
  return page;
});
