// The run that an engine computes meanwhile: one request at a time, rows as they come. The playhead moves along the rows; whenever they end
// soon, the engine is asked for more. So the past is played like the present, and the run goes on where it ends.
import { set, state } from '../state.js';

const LEAD = 0.05, BUDGET = 30;  // s on the clock of the wall that rows are ahead; ms of a request

export class Session {
  constructor(engine) {
    this.engine = engine;
    this.run = null;
    this.queue = [];
    this.latest = new Map();  // of sliders and the pointer only the newest request counts
    this.busy = false;
    this.lost = false;
    this.behind = false;      // the engine has another state than the newest row: it must start again
    this.goal = 0;            // time up to which rows are wanted
    this.catchUp = null;      // time to come back to after a reload,
    this.after = false;       // and whether it runs on from there
    this.stopped = null;      // {t, why}
    this.reached = null;      // speed, over the last second
    this.clock = [0, 0];
    this.every = 0.01;
    this.margin = 0;          // rows that more is asked for, where the last answer had none
    this.listeners = [];
    engine.onclose = () => this.lose();
  }

  on(call) { this.listeners.push(call); }
  tell(what, value) { for (const call of this.listeners) call(what, value); }

  // ---- requests -------------------------------------------------------------------------------------------------------
  // The answer; one that says no comes back, too, with its sentence in `error`.
  ask(request) {
    return new Promise((done, fail) => {
      this.queue.push({ request, done, fail });
      this.pump();
    });
  }

  // As ask, but a request of the same key that has not been sent is forgotten (its promise gives null).
  askLatest(key, request) {
    this.latest.get(key)?.done(null);
    return new Promise((done, fail) => {
      this.latest.set(key, { request, done, fail });
      this.pump();
    });
  }

  next() {
    if (this.queue.length > 0) return this.queue.shift();
    for (const [key, job] of this.latest) { this.latest.delete(key); return job; }
    const to = this.catchUp ?? (state.playing && state.mode !== 'modes' ? this.goal : -Infinity);
    if (this.stopped || this.behind || !this.run || to < this.run.end + 0.999 * this.every) return null;
    advance.to = to + this.margin * this.every;
    return { request: advance, done: (answer) => { this.margin = answer.rows > 0 || answer.more ? 0 : Math.min(64, 2 * this.margin + 1); this.take(answer); }, fail: () => {} };
  }

  pump() {
    if (this.busy || this.lost) return;
    const job = this.next();
    if (!job) return;
    this.busy = true;
    this.engine.ask(job.request).then((answer) => { this.busy = false; job.done(answer); }, (error) => {
      this.busy = false;
      if (this.lost) job.done({ ok: false, error: 'The engine is not there; trying again.' });
      else if (job.request === advance) job.fail(error);  // the next frame asks again
      else job.done({ ok: false, error: error.message });
    }).then(() => this.pump()).catch((error) => this.tell('error', error.message));
  }

  // ---- rows -----------------------------------------------------------------------------------------------------------
  take(answer) {
    const { run } = this;
    if (!answer.ok) { this.stop(answer.error); return; }
    const stood = !state.playing && this.newest;
    run.append(answer);
    if (stood) set({ time: run.end });  // it was asked for before it stood
    for (const event of answer.events ?? []) if (Number.isFinite(event.t)) run.report.events.push(event);
    if (run.report.events.length > 5000) run.report.events.splice(0, 1000);
    if (answer.stopped) this.stop(answer.stopped.why ?? answer.stopped);
    if (this.catchUp !== null) {
      set({ time: run.end });
      if (run.end >= this.catchUp - this.every) this.arrive();
    }
    this.tell('rows', answer);
  }

  // At the time that it was to come to.
  arrive() {
    this.catchUp = null;
    if (this.after) this.play(); else set({ time: this.run.end });
  }

  stop(why) {
    this.stopped = { t: this.run.end, why };
    this.catchUp = null;
    this.run.report.error_message = why;
    set({ playing: false, time: this.run.end });
    this.tell('stopped', why);
  }

  goOn() {
    if (!this.stopped) return;
    this.stopped = null;
    this.run.report.error_message = null;
    this.tell('stopped', null);
  }

  get newest() { return state.time >= this.run.end - 1e-12; }

  // One frame of dt seconds while it plays.
  move(dt) {
    const { run } = this, t = state.time + dt * state.speed;
    if (state.range && t >= state.range[1] && state.range[1] <= run.end) { set({ time: state.range[0] }); return; }
    const ahead = t + LEAD * state.speed;
    this.goal = ahead > run.end ? Math.max(ahead, run.end + 1.001 * this.every) : ahead;
    this.pump();
    if (t >= run.end && this.stopped) { set({ time: run.end, playing: false }); return; }
    set({ time: Math.min(t, run.end) });
    this.measure();
  }

  measure() {
    const now = performance.now(), [at, time] = this.clock;
    if (now - at < 500) return;
    const span = (now - at) / 1000;
    this.reached = span < 1 && state.time >= time ? (state.time - time) / span : null;
    this.clock = [now, state.time];
  }

  play() {
    if (this.stopped && this.newest) { this.tell('note', `It cannot go on: ${this.stopped.why}`); return; }
    if (this.behind && this.newest) { this.restart(true); return; }
    this.clock = [performance.now(), state.time];
    this.reached = null;
    set({ playing: true });
  }

  // The newest row is the state of the engine: there it stands.
  pause() { set({ playing: false, time: this.inPast ? state.time : this.run.end }); }
  get inPast() { return this.run.end - state.time > 2 * (LEAD * state.speed + this.every); }

  // ---- states ---------------------------------------------------------------------------------------------------------
  // The engine gets the state of the row at the playhead; what was computed after it goes. An answer, or null where nothing was to do.
  async here() {
    const { run } = this;
    if (this.behind) return { ok: false, error: 'The engine has begun again and does not know this row: Shift R starts the run.' };
    if (this.newest) return null;
    const row = run.nearestRow(state.time);
    if (row >= run.rows - 1) { set({ time: run.end }); return null; }
    if (row < run.first) return { ok: false, error: 'This row is of a model that was changed since: the run cannot go on from it.' };
    const answer = await this.ask({ do: 'back', serial: run.serials[row] });
    if (!answer.ok) return answer;
    run.truncate(row + 1);
    const t = run.times[row];
    while (run.report.events.at(-1)?.t > t) run.report.events.pop();
    this.goOn();
    set({ time: t });
    this.tell('back', t);
    return answer;
  }

  async runFromHere() {
    set({ playing: false });
    const answer = await this.here();
    if (answer?.ok === false) this.tell('note', answer.error); else this.play();
  }

  async step(n) {
    set({ playing: false });
    const { run } = this;
    if (n < 0 || !this.newest) {
      const row = Math.min(run.rows - 1, Math.max(0, run.nearestRow(state.time) + n));
      set({ time: run.times[row] });
      return;
    }
    if (this.stopped) { this.tell('note', `It cannot go on: ${this.stopped.why}`); return; }
    if (this.behind) { this.tell('note', 'The engine has begun again: Shift R starts the run.'); return; }
    const answer = await this.ask({ do: 'step', n });
    this.take(answer);
    set({ time: run.end });
  }

  async restart(playing = false) {
    set({ playing: false });
    const answer = await this.ask({ do: 'restart' });
    if (!answer.ok) { this.tell('note', answer.error); return; }
    this.catchUp = null;
    this.behind = false;
    this.clear(answer);
    set({ time: this.run.start });
    this.tell('back', this.run.start);
    if (playing) this.play();
  }

  clear(answer) {
    const { run } = this;
    run.truncate(0);
    run.report.events.length = 0;
    run.append(answer);
    this.goOn();
  }

  // Coordinates [[index, value], ...] are put there and held while loops are closed. The answer says no with a sentence.
  async pose(q) {
    const ready = await this.here();
    if (ready?.ok === false) return ready;
    const answer = await this.askLatest('pose', { do: 'pose', q });
    if (!answer?.ok) return answer;
    const { run } = this;
    run.truncate(run.rows - 1);
    run.append(answer);
    this.goOn();
    set({ time: run.end });
    this.tell('posed', answer);
    return answer;
  }

  // ---- a server that went away -----------------------------------------------------------------------------------------
  lose() {
    if (this.lost) return;
    this.lost = true;
    this.behind = true;
    set({ playing: false });
    this.tell('lost');
  }

  found(engine) {
    this.engine = engine;
    engine.onclose = () => this.lose();
    this.lost = this.busy = false;
    this.tell('found');
    this.pump();
  }
}
const advance = { do: 'advance', to: 0, budget: BUDGET };  // one object for all: a frame allocates none
