// The program behind a page: in a worker of the page, as WebAssembly, or at the other end of a WebSocket (sarrus view). Both answer one
// request after the other; what they say is in docs/developing/live.md.
//   const engine = await openEngine({ kind: 'worker', worker: TEXT, module: WebAssembly.Module });  or  { kind: 'socket', address: URL }
//   const answer = await engine.ask({ do: 'load', text });      answer.ok, answer.array('poses') ...
const types = { f32: Float32Array, f64: Float64Array, u32: Uint32Array, u8: Uint8Array };

// Bytes of an answer: length of the JSON, the JSON, zeros up to a multiple of 8, arrays.
export function readAnswer(buffer) {
  if (buffer.byteLength < 4) throw new Error('the program sent an answer without a length');
  const n = new DataView(buffer).getUint32(0, true), base = Math.ceil((4 + n) / 8) * 8;
  if (4 + n > buffer.byteLength) throw new Error('the program sent an answer that is cut');
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, n)));
  answer.array = (name) => {
    const a = answer.arrays?.[name];
    return a ? new types[a.type](buffer, base + a.at, a.n) : null;
  };
  return answer;
}

// What both have: requests that wait for their answers, in order.
class Engine {
  constructor() {
    this.waiting = [];
    this.next = 1;
    this.onprogress = null;
    this.onclose = null;
    this.closed = null;
  }

  ask(request) {
    if (this.closed) return Promise.reject(new Error(this.closed));
    const id = this.next++;
    return new Promise((done, fail) => {
      this.waiting.push({ id, done, fail, request });
      this.post(JSON.stringify({ id, ...request }));
    });
  }

  take(buffer) {
    const call = this.waiting.shift();
    try {
      const answer = readAnswer(buffer);
      if (answer.id !== call.id) throw new Error(`the program answers request ${answer.id}, expected ${call.id}`);
      if (answer.ok && call.request) this.remember?.(call.request);
      call.done(answer);
    } catch (error) { call.fail(error); }
  }

  end(why) {
    if (this.closed) return;
    this.closed = why;
    this.failAll(why);
    this.onclose?.(why);
  }

  failAll(why) { for (const call of this.waiting.splice(0)) call.fail(new Error(why)); }
}

class WorkerEngine extends Engine {
  constructor({ worker, module }) {
    super();
    this.script = URL.createObjectURL(new Blob([worker], { type: 'text/javascript' }));
    this.module = module;
    this.kept = [];  // what a worker that takes the place of this one has to be told
    this.start();
  }

  start() {
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data }) => {
      if (data instanceof ArrayBuffer) this.take(data);
      else if (data.progress !== undefined) this.onprogress?.(data.progress);
      else if (data.failed) this.broken(data.failed);
    };
    this.worker.onerror = (event) => { event.preventDefault(); this.broken(event.message || 'the core could not be started'); };
    this.worker.postMessage({ module: this.module });
  }

  post(request) { this.worker.postMessage({ request }); }

  // Files that models include; others of the same names are replaced.
  files(list) {
    this.kept = this.kept.filter((x) => !x.files);
    this.kept.unshift({ files: list });
    this.worker.postMessage({ files: list });
  }

  remember(request) {
    if (request.do === 'load') this.kept = this.kept.filter((x) => x.files);
    if (!['load', 'parameter', 'options'].includes(request.do)) return;
    const same = ({ request: x }) => x?.do === 'parameter' && request.do === 'parameter' && x.name === request.name;
    this.kept = this.kept.filter((x) => !same(x));
    this.kept.push({ request });
  }

  // A core that has failed is replaced, and the page goes on; one that never started is the end.
  broken(why) {
    if (this.hello) this.stop(`The core has failed: ${why}`);
    else { this.worker.terminate(); this.end(`The core does not start: ${why}`); }
  }

  again(request) {
    const id = this.next++;
    this.waiting.push({ id, done: () => {}, fail: () => {}, request: null });
    this.post(JSON.stringify({ id, ...request }));
  }

  // What is in progress ends at once, in a new worker that has the same model.
  stop(why = 'stopped') {
    this.worker.terminate();
    this.failAll(why);
    this.start();
    for (const { files, request } of this.kept) if (files) this.worker.postMessage({ files }); else this.again(request);
  }

  close() {
    this.worker.terminate();
    URL.revokeObjectURL(this.script);
    this.end('closed');
  }
}

class SocketEngine extends Engine {
  open(address) {
    this.socket = new WebSocket(address);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = ({ data }) => this.take(data);
    return new Promise((done, fail) => {
      this.socket.onopen = done;
      this.socket.onclose = () => { fail(new Error('sarrus view does not answer')); this.end('sarrus view has ended'); };
    });
  }

  post(request) { this.socket.send(request); }
  close() { this.socket.close(); this.end('closed'); }
}

export async function openEngine(options) {
  const engine = options.kind === 'socket' ? new SocketEngine() : new WorkerEngine(options);
  if (options.kind === 'socket') await engine.open(options.address);
  engine.hello = await engine.ask({ do: 'hello' });
  return engine;
}
