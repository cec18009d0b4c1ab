// The page of `sarrus view`: the engine is at the other end of a WebSocket of the server that this page came from.
import { openEngine } from './engine.js';
import { openPage } from './main.js';
import { Live } from './live/open.js';
import { Session } from './live/session.js';
import './live/live.css';

await openPage(async (options) => {
  const connect = window.sarrusConnect ?? (() => openEngine({ kind: 'socket', address: `ws://${location.host}/live${location.search}` }));
  const engine = await connect(), session = new Session(engine);
  const loaded = await session.ask({ do: 'load', ...(window.sarrusModel ?? {}) });
  if (!loaded.ok) throw new Error(loaded.error);
  const live = new Live(session, loaded), page = live.open(options);
  page.live = live;
  return page;
});
