// A live session of the program on the other end of its standard input, for a page that a test has opened: what window.sarrusConnect gives is
// what page/src/engine.js gives.
import { spawn } from 'node:child_process';

export class Pipe {
  constructor(program, ...args) {
    this.process = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.bytes = Buffer.alloc(0);
    this.waiting = [];
    this.process.stdin.on('error', () => {});
    this.process.stdout.on('data', (part) => { this.bytes = Buffer.concat([this.bytes, part]); this.take(); });
    this.process.on('exit', () => { for (const done of this.waiting.splice(0)) done(Buffer.alloc(0)); });
  }

  take() {
    while (this.bytes.length >= 4) {
      const n = this.bytes.readUInt32LE(0);
      if (this.bytes.length < 4 + n) return;
      this.waiting.shift()?.(Buffer.from(this.bytes.subarray(4, 4 + n)));
      this.bytes = this.bytes.subarray(4 + n);
    }
  }

  // One request, one answer.
  ask(line) {
    return new Promise((done) => {
      this.waiting.push(done);
      this.process.stdin.write(`${line}\n`);
    });
  }

  close() { this.process.stdin.end(); }
}

// In the page. Every connection is a new session.
function connect(model) {
  const types = { f32: Float32Array, f64: Float64Array, u32: Uint32Array, u8: Uint8Array };
  window.sarrusModel = model;
  window.sarrusAsked = [];
  window.sarrusConnect = async () => {
    const waiting = [];
    const engine = {
      next: 1,
      ask: (request) => new Promise((done, fail) => {
        const id = engine.next++;
        if (window.sarrusAsked.length < 5000) window.sarrusAsked.push(request);
        waiting.push({ id, done, fail });
        window.sarrusSend(JSON.stringify({ id, ...request }));
      }),
      close: () => {},
      onclose: null,
    };
    window.sarrusAnswer = (text) => {
      if (text === '') {
        for (const { fail } of waiting.splice(0)) fail(new Error('the program has ended'));
        engine.onclose?.('the program has ended');
        return;
      }
      const { id, done, fail } = waiting.shift();
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), n = new DataView(bytes.buffer).getUint32(0, true), base = Math.ceil((4 + n) / 8) * 8;
      const answer = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + n)));
      answer.array = (name) => { const a = answer.arrays?.[name]; return a ? new types[a.type](bytes.buffer, base + a.at, a.n) : null; };
      if (answer.id === id) done(answer); else fail(new Error(`answer ${answer.id} to request ${id}`));
    };
    if (window.sarrusGone) throw new Error('nobody answers');
    window.sarrusSend('open');
    return engine;
  };
}

// Pages that this tab opens from now on have a session of their own.
export async function attach(tab, program, folder, model) {
  const send = (bytes) => tab.send('Runtime.evaluate', { expression: `window.sarrusAnswer?.("${bytes.toString('base64')}")` }).catch(() => {});
  const before = tab.live;
  tab.live = { program, folder };
  if (!before) {
    await tab.send('Runtime.addBinding', { name: 'sarrusSend' });
    tab.browser.listeners.push(async ({ method, params, sessionId }) => {
      if (method !== 'Runtime.bindingCalled' || sessionId !== tab.session || params.name !== 'sarrusSend') return;
      if (params.payload === 'open') {
        tab.pipe?.close();
        tab.pipe = new Pipe(tab.live.program, tab.live.folder);
        return;
      }
      await send(await tab.pipe.ask(params.payload));
    });
  } else if (tab.injected) await tab.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: tab.injected });
  const { identifier } = await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${connect})(${JSON.stringify(model)})` });
  tab.injected = identifier;
}

// The program ends: what a page sees of a server that went away.
export async function cut(tab) {
  tab.pipe.close();
  await tab.send('Runtime.evaluate', { expression: 'window.sarrusAnswer("")' });
}
