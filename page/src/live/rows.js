// A run that grows: rows of the engine are appended to blocks; nothing is copied again. Beyond MOST bytes the oldest block goes.
import { Run } from '../data.js';

const BLOCK = 4 << 20, MOST = 384 << 20, ROWS = 256;

function rowsOfBlock(width) {  // a power of two: ROWS, fewer where rows are long
  let shift = Math.log2(ROWS);
  while (shift > 3 && (4 * width) << shift > BLOCK) shift--;
  return shift;
}

export class LiveRun extends Run {
  constructor(head, report, triangles) {
    super({ ...head, rows: 0 }, report, new Float64Array(4 * ROWS), new Float32Array(0), null, triangles);
    this.stride = 7 * this.bodies;
    this.numbers = [];
    this.poses = [];
    const width = this.columns.length + this.stride;
    this.shift = rowsOfBlock(width);
    this.mask = (1 << this.shift) - 1;
    this.room = Math.max(4, Math.floor(MOST / ((4 * width) << this.shift)));  // blocks
    this.serials = new Float64Array(4 * ROWS);  // numbers of the rows with the engine
    this.spare = null;
    this.dropped = 0;
    this.first = 0;    // rows before cannot be gone on from: they are of a model that was changed
  }

  value(column, row) { return this.numbers[row >> this.shift][(row & this.mask) * this.columns.length + column.index]; }
  poseBlock(row) { return this.poses[row >> this.shift]; }
  poseAt(row, body) { return (row & this.mask) * this.stride + 7 * (body - 1); }

  // The time line has room: up to the end that the model names, then in steps of a quarter.
  get reach() {
    const end = Math.max(this.end, this.start + 1e-3);
    let reach = Math.max(this.horizon ?? 0, this.start + 1e-3);
    while (reach < end) reach = this.start + 1.25 * (reach - this.start);
    return reach;
  }

  // rows of an answer: t (float64), columns and poses (float32). from: the first that is taken.
  append(answer) {
    const n = answer.rows ?? 0;
    if (n === 0) return;
    const t = answer.array('t'), columns = answer.array('columns'), poses = answer.array('poses'), width = this.columns.length, { stride } = this;
    if (t.length !== n || columns.length !== n * width || poses.length !== n * stride) throw new Error(`the engine sent ${columns.length} numbers and ${poses.length} of poses for ${n} rows`);
    for (let i = 0; i < n;) {
      if (this.rows >> this.shift === this.numbers.length) this.addBlock();
      const at = this.rows & this.mask, block = this.rows >> this.shift, some = Math.min(n - i, this.mask + 1 - at);
      this.numbers[block].set(columns.subarray(i * width, (i + some) * width), at * width);
      this.poses[block].set(poses.subarray(i * stride, (i + some) * stride), at * stride);
      this.stamp(t, i, some, answer.serial ?? 0);
      i += some;
    }
  }

  stamp(t, from, n, serial) {
    if (this.rows + n > this.times.length) {
      const grown = (x) => { const y = new Float64Array(2 * x.length); y.set(x); return y; };
      this.times = grown(this.times);
      this.serials = grown(this.serials);
    }
    for (let i = 0; i < n; i++) {
      this.times[this.rows] = t[from + i];
      this.serials[this.rows++] = serial + from + i;
    }
  }

  addBlock() {
    if (this.numbers.length >= this.room) this.dropOldest();
    const rows = this.mask + 1;
    this.numbers.push(this.spare?.[0] ?? new Float32Array(rows * this.columns.length));
    this.poses.push(this.spare?.[1] ?? new Float32Array(rows * this.stride));
    this.spare = null;
  }

  dropOldest() {
    const n = this.mask + 1;
    this.spare = [this.numbers.shift(), this.poses.shift()];
    this.times.copyWithin(0, n, this.rows);
    this.serials.copyWithin(0, n, this.rows);
    this.rows -= n;
    this.dropped += n;
    this.first = Math.max(0, this.first - n);
    this.row = Math.max(0, this.row - n);
  }

  // Only the first n rows stay.
  truncate(n) {
    if (n >= this.rows) return;
    this.rows = n;
    const blocks = Math.ceil(n / (this.mask + 1));
    while (this.numbers.length > blocks) this.spare = [this.numbers.pop(), this.poses.pop()];
    this.first = Math.min(this.first, n);
    this.row = Math.min(this.row, Math.max(0, n - 2));
  }
}
