// The core in a worker: requests and files in, answers out, one after the other. SarrusCore is emscripten's function, before this text.
let core = null, turn = Promise.resolve();

async function start(module) {
  core = await self.SarrusCore({
    instantiateWasm: (imports, done) => { WebAssembly.instantiate(module, imports).then(done); return {}; },
    progress: (part) => postMessage({ progress: part }),
    print: () => {},
    printErr: () => {},
    onAbort: (why) => { throw new Error(String(why)); },
  });
  if (!core._core_open()) throw new Error('out of memory');
}

// Gives the bytes, and a zero behind them, to a function of the core.
function lend(bytes, call) {
  const at = core._malloc(bytes.length + 1);
  if (at === 0) throw new Error('out of memory');
  core.HEAPU8.set(bytes, at);
  core.HEAPU8[at + bytes.length] = 0;
  try { return call(at, bytes.length); } finally { core._free(at); }
}

const encoder = new TextEncoder();

function file(name, bytes) {
  const good = lend(encoder.encode(name), (path) => lend(bytes, (at, n) => core._core_file(path, at, n)));
  if (!good) throw new Error(`no room for the file ${name}`);
}

function request(text) {
  const good = lend(encoder.encode(text), (at, n) => core._core_request(at, n));
  if (!good) throw new Error('out of memory');
  const at = core._core_answer(), answer = core.HEAPU8.slice(at, at + core._core_answer_size());
  postMessage(answer.buffer, [answer.buffer]);
}

async function take(data) {
  if (data.module) await start(data.module);
  if (data.files) {
    core._core_forget_files();
    for (const [name, bytes] of data.files) file(name, bytes);
  }
  if (data.request) request(data.request);
}

self.onmessage = ({ data }) => {
  turn = turn.then(() => take(data)).catch((error) => postMessage({ failed: error.message }));
};
