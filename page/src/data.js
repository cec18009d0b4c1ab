// What a page holds: the model, the report, and the rows of the run. The blocks are deflated texts in base64 (src/page/page.c writes them);
// a server may send the same blocks.

export function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

export async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Undoes sr_pack (src/page/pack.c): planes of bytes, zigzag, differences. put(column, row, bits) takes every number.
function unpack32(bytes, rows, columns, put) {
  for (let c = 0; c < columns; c++) {
    const plane = 4 * c * rows;
    let bits = 0;
    for (let i = 0; i < rows; i++) {
      const k = plane + i;
      const z = bytes[k] | bytes[k + rows] << 8 | bytes[k + 2 * rows] << 16 | bytes[k + 3 * rows] << 24;
      bits = (bits + ((z >>> 1) ^ -(z & 1))) | 0;
      put(c, i, bits);
    }
  }
}

function unpackDoubles(bytes, rows) {
  const out = new BigUint64Array(rows);
  let bits = 0n;
  for (let i = 0; i < rows; i++) {
    let z = 0n;
    for (let k = 7; k >= 0; k--) z = z << 8n | BigInt(bytes[k * rows + i]);
    bits = BigInt.asUintN(64, bits + ((z >> 1n) ^ -(z & 1n)));
    out[i] = bits;
  }
  return new Float64Array(out.buffer);
}

export async function readBlocks(find) {
  const block = async (name) => inflate(bytesOf(find(name)));
  const json = async (name) => JSON.parse(new TextDecoder().decode(await block(name)));
  const head = await json('model'), report = await json('report'), rows = head.rows;
  const times = unpackDoubles(await block('times'), rows), width = head.columns.length, stride = 7 * (head.model.bodies.length - 1);
  const values = new Int32Array(rows * width), places = new Int32Array(rows * stride);
  unpack32(await block('columns'), rows, width, (c, i, bits) => { values[c * rows + i] = bits; });
  unpack32(await block('poses'), rows, stride, (c, i, bits) => { places[i * stride + c] = bits; });
  const run = new Run(head, report, times, new Float32Array(values.buffer), new Float32Array(places.buffer), (await block('triangles')).buffer);
  if (head.modes) run.modes = unpackModes(head, await block('modes'));
  return run;
}

// What modes.js takes.
function unpackModes(head, bytes) {
  const { list, phases, stability } = head.modes, rows = list.length * phases, stride = 7 * (head.model.bodies.length - 1), bits = new Int32Array(rows * stride);
  unpack32(bytes, rows, stride, (c, i, x) => { bits[i * stride + c] = x; });
  return { modes: list, phases, stability, shapes: new Float32Array(bits.buffer) };
}

export function readDocument() {
  return readBlocks((name) => document.getElementById(`sarrus-${name}`).textContent);
}

// The matrix of a pose, by columns.
export function writeMatrix(x, y, z, w, i, j, k, out, o) {
  out[o] = 1 - 2 * (j * j + k * k); out[o + 1] = 2 * (i * j + w * k); out[o + 2] = 2 * (i * k - w * j); out[o + 3] = 0;
  out[o + 4] = 2 * (i * j - w * k); out[o + 5] = 1 - 2 * (i * i + k * k); out[o + 6] = 2 * (j * k + w * i); out[o + 7] = 0;
  out[o + 8] = 2 * (i * k + w * j); out[o + 9] = 2 * (j * k - w * i); out[o + 10] = 1 - 2 * (i * i + j * j); out[o + 11] = 0;
  out[o + 12] = x; out[o + 13] = y; out[o + 14] = z; out[o + 15] = 1;
}

export class Run {
  // values: column by column; poses: row by row, 7 numbers a body; triangles: a buffer. A run that grows (live/rows.js) keeps its rows in blocks.
  constructor(head, report, times, values, poses, triangles) {
    const rows = head.rows, bodies = head.model.bodies.length - 1;
    this.head = head;
    this.model = head.model;
    this.report = report;
    this.rows = rows;
    this.bodies = bodies;  // without the ground, which is body 0
    this.times = times;
    this.triangles = triangles;
    this.columns = head.columns.map((x, c) => ({ ...x, index: c, data: values.subarray(c * rows, (c + 1) * rows) }));
    this.byName = new Map(this.columns.map((x) => [x.name, x]));
    this.poses = poses;
    this.matrices = new Float32Array(16 * (bodies + 1));  // of all bodies at the time of the last pose(), by columns
    for (const k of [0, 5, 10, 15]) this.matrices[k] = 1;
    this.row = 0;
    this.part = 0;
  }

  column(name) { return this.byName.get(name); }

  get start() { return this.rows ? this.times[0] : 0; }
  get end() { return this.rows ? this.times[this.rows - 1] : 0; }
  get reach() { return this.end; }  // up to where the time line goes: a run that grows has room after its end

  value(column, row) { return column.data[row]; }
  poseBlock() { return this.poses; }  // that has a row,
  poseAt(row, body) { return 7 * (row * this.bodies + body - 1); }  // and where in it

  extent(column) {  // least and largest value
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < this.rows; i++) {
      const x = this.value(column, i);
      if (x < low) low = x;
      if (x > high) high = x;
    }
    return [low, high];
  }

  // The row before a time, and which part of the way to the next one it is. Of rows with one time the last one counts.
  seek(t) {
    const x = this.times;
    let low = 0, high = Math.max(0, this.rows - 2);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (x[middle] <= t) low = middle; else high = middle - 1;
    }
    this.row = low;
    this.part = 0;
    if (this.rows < 2) return;
    const span = x[low + 1] - x[low];
    this.part = span > 0 ? Math.min(1, Math.max(0, (t - x[low]) / span)) : t >= x[low] ? 1 : 0;
  }

  valueAt(column) {  // at the time of the last seek
    const a = this.value(column, this.row);
    return this.part === 0 ? a : a + this.part * (this.value(column, this.row + 1) - a);
  }

  nearestRow(t) {
    this.seek(t);
    return this.part > 0.5 ? this.row + 1 : this.row;
  }

  // The matrices of all bodies at a time: positions in between are linear, rotations the normalised mean of quaternions.
  pose(t) {
    this.seek(t);
    for (let b = 1; b <= this.bodies; b++) this.bodyMatrix(b, this.row, this.part, this.matrices, 16 * b);
  }

  bodyMatrix(body, row, part, out, o) {
    const next = part > 0 ? row + 1 : row, x = this.poseBlock(row), y = this.poseBlock(next), a = this.poseAt(row, body), b = this.poseAt(next, body);
    const f = part, g = 1 - f;
    let w = g * x[a + 3] + f * y[b + 3], i = g * x[a + 4] + f * y[b + 4];
    let j = g * x[a + 5] + f * y[b + 5], k = g * x[a + 6] + f * y[b + 6];
    const n = 1 / Math.sqrt(w * w + i * i + j * j + k * k);
    w *= n; i *= n; j *= n; k *= n;
    writeMatrix(g * x[a] + f * y[b], g * x[a + 1] + f * y[b + 1], g * x[a + 2] + f * y[b + 2], w, i, j, k, out, o);
  }

  // A point of a body at a row, or at the time of the last pose (row undefined).
  pointAt(body, at, row, out) {
    let m = this.matrices, o = 16 * body;
    if (row !== undefined && body > 0) {
      m = scratch;
      o = 0;
      this.bodyMatrix(body, row, 0, m, 0);
    }
    for (let k = 0; k < 3; k++) out[k] = m[o + k] * at[0] + m[o + 4 + k] * at[1] + m[o + 8 + k] * at[2] + m[o + 12 + k];
    return out;
  }
}
const scratch = new Float32Array(16);
