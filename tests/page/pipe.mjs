// A live session of the program on the other end of its standard input, for a page that a test has opened: what window.sarrusConnect gives is
// what page/src/engine.js gives.
import { spawn } from 'node:child_process';

export class Pipe {
  constructor(program, ...args) {
    this.process = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.bytes = Buffer.alloc(0);
    this.waiting = [];
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

// In the page.
function connect(model) {
  const types = { f32: Float32Array, f64: Float64Array, u32: Uint32Array, u8: Uint8Array };
  const waiting = [];
  window.sarrusModel = model;
  window.sarrusAnswer = (text) => {
    const { id, done, fail } = waiting.shift();
    if (text === '') { fail(new Error('the program has ended')); return; }
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), n = new DataView(bytes.buffer).getUint32(0, true), base = Math.ceil((4 + n) / 8) * 8;
    const answer = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + n)));
    answer.array = (name) => { const a = answer.arrays?.[name]; return a ? new types[a.type](bytes.buffer, base + a.at, a.n) : null; };
    if (answer.id !== id) fail(new Error(`answer ${answer.id} to request ${id}`)); else done(answer);
  };
  window.sarrusAsked = [];
  window.sarrusConnect = async () => {
    let next = 1;
    return {
      ask: (request) => new Promise((done, fail) => {
        const id = next++;
        if (request.do !== 'advance' || window.sarrusAsked.length < 2000) window.sarrusAsked.push(request.do);
        waiting.push({ id, done, fail });
        window.sarrusSend(JSON.stringify({ id, ...request }));
      }),
      close: () => {},
      onclose: null,
    };
  };
}

// Pages that this tab opens from now on have a session of their own.
export async function attach(tab, program, folder, model) {
  const old = tab.pipe;
  old?.close();
  const pipe = new Pipe(program, folder);
  tab.pipe = pipe;
  if (!old) {
    await tab.send('Runtime.addBinding', { name: 'sarrusSend' });
    tab.browser.listeners.push(async ({ method, params, sessionId }) => {
      if (method !== 'Runtime.bindingCalled' || sessionId !== tab.session || params.name !== 'sarrusSend') return;
      const answer = await tab.pipe.ask(params.payload);
      await tab.send('Runtime.evaluate', { expression: `window.sarrusAnswer?.("${answer.toString('base64')}")` }).catch(() => {});
    });
  } else await tab.send('Page.removeScriptToEvaluateOnNewDocument', { identifier: tab.injected });
  const { identifier } = await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: `(${connect})(${JSON.stringify(model)})` });
  tab.injected = identifier;
}
