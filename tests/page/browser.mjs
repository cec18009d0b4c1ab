// A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): what the tests of the page need of it, and no package.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

export class Browser {
  constructor(program, flags = []) {
    this.folder = mkdtempSync(join(tmpdir(), 'sarrus-page-'));
    this.process = spawn(program, ['--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--font-render-hinting=none', '--hide-scrollbars', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-dev-shm-usage', '--mute-audio', '--lang=en-US', `--user-data-dir=${this.folder}`, ...flags, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.calls = new Map();
    this.listeners = [];
    this.next = 1;
    let text = '';
    this.process.stdio[3].on('error', () => {});  // it has ended: whoever waits is told below
    this.process.stdio[4].on('data', (part) => {
      const parts = (text + part).split('\0');
      text = parts.pop();
      for (const message of parts) this.take(JSON.parse(message));
    });
    this.process.on('exit', () => { for (const call of this.calls.values()) call.fail(new Error('the browser has ended')); });
    this.process.on('error', (error) => { for (const call of this.calls.values()) call.fail(error); });
  }

  take(message) {
    const call = this.calls.get(message.id);
    if (call) {
      this.calls.delete(message.id);
      if (message.error) call.fail(new Error(`${call.method}: ${message.error.message}`)); else call.done(message.result);
    } else for (const listener of this.listeners) listener(message);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    return new Promise((done, fail) => {
      this.calls.set(id, { method, done, fail });
      this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  async page(width, height) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Tab(this, sessionId, targetId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
    await page.send('Network.emulateNetworkConditions', { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
    await page.size(width, height);
    return page;
  }

  async close() {
    const ended = new Promise((done) => { this.process.on('exit', done); });
    try { await Promise.race([this.send('Browser.close'), wait(2000)]); } catch { /* it has ended */ }
    await Promise.race([ended, wait(3000)]);
    this.process.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

class Tab {
  constructor(browser, session, target) {
    this.browser = browser;
    this.session = session;
    this.target = target;
    this.complaints = [];  // errors and warnings of the console, exceptions
    this.requests = [];    // addresses outside of the file
    browser.listeners.push((message) => { if (message.sessionId === session) this.see(message.method, message.params); });
  }

  see(method, p) {
    if (method === 'Runtime.exceptionThrown') this.complaints.push(p.exceptionDetails.exception?.description ?? p.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(p.type))
      this.complaints.push(p.args.map((x) => x.value ?? x.description).join(' '));
    // The software renderer tells of its own slowness when its pictures are read.
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(p.entry.level) && !p.entry.text.includes('GL Driver Message')) this.complaints.push(p.entry.text);
    if (method === 'Network.requestWillBeSent' && !/^(file|data|blob|about):/.test(p.request.url)) this.requests.push(p.request.url);
  }

  send(method, params) { return this.browser.send(method, params, this.session); }

  async size(width, height) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  // Runs a function in the page, with values that JSON can hold.
  async run(call, ...values) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate',
      { expression: `(${call})(...${JSON.stringify(values)})`, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(what, call, ...values) {
    for (let i = 0; i < 1200; i++) {
      if (await this.run(call, ...values)) return;
      await wait(50);
    }
    throw new Error(`not after a minute: ${what}`);
  }

  async open(address) {
    await this.send('Page.navigate', { url: 'about:blank' });
    await this.send('Page.navigate', { url: address });
    await this.until(`the page is there (${this.complaints[0] ?? 'no message'})`, () => Boolean(window.sarrus));
  }

  async press(key, modifiers = 0) {
    const code = { ' ': 'Space' }[key] ?? key, text = key.length === 1 && (modifiers & 3) === 0 ? key : undefined;
    const numbers = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, Enter: 13, Escape: 27, ' ': 32, '.': 190 };
    const event = { key, code, text, modifiers, windowsVirtualKeyCode: numbers[key] ?? key.toUpperCase().charCodeAt(0) };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event, text: undefined });
  }

  async click(x, y) {
    for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: 1 });
  }

  // Presses at a place, moves over others and releases at the last; steps: moves between two of them.
  async drag(places, { steps = 6, modifiers = 0 } = {}) {
    let [x, y] = places[0];
    const send = (type, buttons) => this.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' && !buttons ? 'none' : 'left', buttons, clickCount: 1, modifiers });
    await send('mouseMoved', 0);
    await send('mousePressed', 1);
    for (const [u, v] of places.slice(1)) {
      const from = [x, y];
      for (let i = 1; i <= steps; i++) {
        [x, y] = [from[0] + (u - from[0]) * i / steps, from[1] + (v - from[1]) * i / steps];
        await send('mouseMoved', 1);
      }
    }
    await send('mouseReleased', 0);
  }

  async move(x, y) { await this.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y, button: 'none' }); }
  async type(text) { await this.send('Input.insertText', { text }); }

  async picture(path) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }
}
