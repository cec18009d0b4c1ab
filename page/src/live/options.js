// How the run is computed: method, contact, step, tolerances, time between rows.
import { el, number } from '../dom.js';

const names = { method: 'Method', contact: 'Contact', stabilization: 'Stabilisation', step: 'Step', rtol: 'Relative tolerance', atol: 'Absolute tolerance', every: 'Rows every' };
const units = { step: 's', every: 's' };

const read = (text) => Number(text.trim().replace(',', '.').replace('−', '-'));

export class Options {
  // run: what the engine says; choices: {method: [...], contact: [...], stabilization: [...]}; ask(change): the answer of the engine
  constructor(run, choices, ask) {
    this.ask = ask;
    this.choices = choices;
    this.element = el('div', { class: 'options' });
    this.said = el('div', { class: 'said', role: 'status' });
    this.fill(run);
  }

  fill(run) {
    this.run = run;
    const rows = Object.keys(names).filter((key) => run[key] !== undefined && run[key] !== null).map((key) => this.row(key, run[key]));
    this.element.replaceChildren(...rows, this.said);
  }

  row(key, value) {
    const list = this.choices[key];
    let control;
    if (list?.length > 0) {
      const all = list.includes(value) ? list : [value, ...list];
      control = el('select', { 'aria-label': names[key] }, ...all.map((x) => el('option', { value: x, selected: x === value }, x)));
      control.addEventListener('change', () => this.send({ [key]: control.value }));
    } else if (typeof value === 'number') {
      const text = value > 0 || key !== 'step' ? String(+value.toPrecision(9)) : '';
      control = el('input', { class: 'field wide', type: 'text', spellcheck: 'false', inputmode: 'decimal', value: text, placeholder: 'chosen', 'aria-label': names[key] });
      control.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') control.blur();
        if (event.key === 'Escape') { control.value = text; control.blur(); }
        event.stopPropagation();
      });
      control.addEventListener('blur', () => {
        if (control.value.trim() === text) return;
        const x = read(control.value);
        if (Number.isFinite(x)) this.send({ [key]: x }); else this.say(`'${control.value}' is not a number`, true);
      });
    } else control = el('span', {}, String(value));
    return el('div', { class: 'slide' }, el('label', {}, names[key]), el('span', { class: 'grow' }), control, el('span', { class: 'unit' }, units[key] ?? ''));
  }

  say(text, bad) {
    this.said.className = bad ? 'said error' : 'said';
    this.said.textContent = text ?? '';
  }

  async send(change) {
    const answer = await this.ask(change);
    if (answer.ok) this.fill({ ...this.run, ...change, ...(answer.run ?? answer.options ?? {}) });
    else this.fill(this.run);
    const warning = (answer.messages ?? []).map((m) => m.text).join(' ') || (answer.warnings ?? []).join(' ');
    this.say(answer.ok ? warning : answer.error, !answer.ok);
    if (answer.ok && !warning) this.say(change.step !== undefined ? `step ${number(change.step)} s from here on` : 'from here on');
  }
}
