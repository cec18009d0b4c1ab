// Named parameters of the model: value, formula, slider. A change is compiled by the engine, the state stays, and the run goes on.
import { el, number } from '../dom.js';
import { icon } from '../icons.js';

function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x)), rest = x / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

// From a tenth of what it is to three times that: signs of lengths and masses stay.
function rangeOf(x) {
  if (x === 0) return [-1, 1];
  return x > 0 ? [0.1 * x, 3 * x] : [3 * x, 0.1 * x];
}

class Parameter {
  constructor(owner, p) {
    this.owner = owner;
    this.field = el('input', { class: 'field wide', type: 'text', spellcheck: 'false', 'aria-label': `${p.name}: a number, or a formula` });
    this.slider = el('input', { type: 'range', step: 'any', 'aria-label': p.name });
    this.formula = el('div', { class: 'formula' });
    this.error = el('div', { class: 'said error', role: 'alert' });
    this.element = el('div', { class: 'parameter' }, el('div', { class: 'slide' }, el('label', { title: p.name }, p.name), el('div', { class: 'track' }, this.slider), this.field), this.formula, this.error);
    this.slider.addEventListener('input', () => {
      const [low, high] = this.range, step = nice((high - low) / 200), x = Math.round((low + this.slider.value / 100 * (high - low)) / step) * step;
      this.field.value = String(+x.toPrecision(6));
      this.send(this.field.value, true);
    });
    this.slider.addEventListener('change', () => { this.held = false; this.show(this.p); });
    this.field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.send(this.field.value.trim());
      if (event.key === 'Escape') { this.say(null); this.show(this.p, true); this.field.blur(); }
      event.stopPropagation();
    });
    this.field.addEventListener('blur', () => { if (this.field.value.trim() !== this.text) this.send(this.field.value.trim()); });
    this.show(p, true);
    this.range = rangeOf(p.value);
    this.place();
  }

  get name() { return this.p.name; }

  place() {
    const [low, high] = this.range;
    this.slider.min = 0;
    this.slider.max = 100;
    this.slider.value = 100 * (this.p.value - low) / (high - low);
    const words = new Set(String(this.p.formula ?? '').match(/[A-Za-z_]\w*/g)), derived = this.owner.names.some((name) => name !== this.name && words.has(name));
    this.slider.parentElement.hidden = derived || !Number.isFinite(this.p.value);  // a slider would put a number in the place of what others give
    this.field.classList.toggle('derived', derived);
  }

  show(p, always = false) {
    this.p = p;
    const formula = p.formula !== undefined && p.formula !== null && p.formula !== '' && !Number.isFinite(Number(p.formula));
    this.text = formula ? p.formula : String(+Number(p.value).toPrecision(9));
    if (always || document.activeElement !== this.field) this.field.value = this.text;
    this.formula.textContent = formula ? `= ${number(p.value, 5)}` : '';
    if (this.range && !this.held) {
      if (p.value < this.range[0] || p.value > this.range[1]) this.range = rangeOf(p.value);
      this.place();
    }
  }

  say(text) {
    this.error.textContent = text ?? '';
    this.field.setAttribute('aria-invalid', String(Boolean(text)));
  }

  async send(text, held = false) {
    if (text === '') { this.say('A number or a formula is needed.'); return; }
    this.held = held;
    const answer = await this.owner.send(this.name, text);
    if (answer === null) return;
    const first = (answer.messages ?? []).find((m) => m.severity === 'error');
    this.say(answer.ok ? null : first?.text ?? answer.error);
  }
}

export class Parameters {
  // change(name, text): the answer of the engine, null where a later one is on its way
  constructor(list, change) {
    this.change = change;
    this.element = el('div', { class: 'parameters' });
    this.fill(list);
  }

  fill(list) {
    this.names = list.map((p) => p.name);
    this.rows = list.map((p) => new Parameter(this, p));
    this.element.replaceChildren(...(this.rows.length > 0 ? this.rows.map((r) => r.element) : [el('div', { class: 'empty' }, icon('sliders', 22), el('b', {}, 'No parameters'),
      el('span', {}, 'A model has them where its file says <parameter name="…" value="…"/>.'))]));
  }

  send(name, text) { return this.change(name, text); }

  // What the engine says after a change: formulas of others have other values.
  update(list) {
    const same = list.length === this.rows.length && list.every((p, i) => p.name === this.rows[i].name);
    if (!same) { this.fill(list); return; }
    list.forEach((p, i) => this.rows[i].show(p));
  }
}
