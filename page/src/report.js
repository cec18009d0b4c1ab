// The physics report with a verdict: does the run keep energy and constraints, and has it ended well?
import { el, number } from './dom.js';
import { icon } from './icons.js';

const CLOSED = 1e-3, OPEN = 1e-2;  // part of the largest energy that the balance may miss: good, and the program's own limit

// [level, name, text]; level: ok, warn, error.
export function facts(r) {
  const out = [], e = r.energy;
  if (e) {
    const part = e.scale > 0 ? Math.abs(e.residual) / e.scale : e.residual === 0 ? 0 : 1;
    out.push([part < CLOSED ? 'ok' : part < OPEN ? 'warn' : 'error', 'Energy residual', `${number(e.residual, 2)} J of ${number(e.scale, 3)} J`]);
  }
  const v = r.violation;
  if (v) {
    const none = v.position === 0 && v.velocity === 0;
    const level = v.position < 1e-4 && v.velocity < 1e-2 ? 'ok' : v.position < 1e-2 ? 'warn' : 'error';
    out.push([level, 'Constraint violation', none ? 'none' : `${number(v.position, 2)} m, ${number(v.velocity, 2)} m/s`]);
  }
  if (r.unsolved > 0) out.push(['warn', 'Contact problems', `${r.unsolved} of ${r.problems} not solved to their tolerance`]);
  if (r.penetration > 0) out.push(['ok', 'Penetration', `${number(1000 * r.penetration, 3)} mm`]);
  if (r.event_count > 0) out.push(['ok', 'Events', eventText(r)]);
  if (r.steps !== undefined) out.push(['ok', 'Steps', `${number(r.steps, 7)}${r.rejected ? `, ${number(r.rejected, 7)} rejected` : ''}`]);
  if (r.redundant > 0) out.push(['ok', 'Redundant rows', String(r.redundant)]);
  out.push(['ok', 'Method', [r.method, r.formulation, r.contact === 'continuous' ? null : r.contact].filter(Boolean).join(' · ')]);
  if (e) out.push(['ok', 'Dissipated', `${number(Math.abs(e.dissipated) < 1e-9 * e.scale ? 0 : e.dissipated, 3)} J`]);
  return out;
}

function eventText(r) {
  const kinds = new Map();
  for (const e of r.events ?? []) kinds.set(e.kind, (kinds.get(e.kind) ?? 0) + 1);
  const list = [...kinds].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([kind, n]) => `${n} ${kind}${n > 1 && kind === 'impact' ? 's' : ''}`);
  return r.event_count > (r.events ?? []).length ? `${r.event_count}` : list.join(', ');
}

export function verdict(r) {
  if (r.error_message) return ['error', 'stopped early'];
  const levels = facts(r).map((f) => f[0]);
  if (levels.includes('error')) return ['error', 'inconsistent'];
  if (levels.includes('warn')) return ['warn', 'look closer'];
  return ['ok', 'consistent'];
}

const symbols = { ok: 'check', warn: 'warning', error: 'wrong' };

function all(value, name, out) {  // every number of the report, by its path
  if (Array.isArray(value)) return;
  if (value !== null && typeof value === 'object') for (const [k, x] of Object.entries(value)) all(x, name ? `${name}.${k}` : k, out);
  else if (name !== 'error_message') out.push([name, typeof value === 'number' ? number(value, 6) : String(value)]);
}

export class Report {
  constructor(run) {
    this.run = run;
    this.element = el('section', { class: 'report', 'aria-label': 'Physics report' });
    this.fill();
  }

  fill() {
    const { run } = this, r = run.report, [level, word] = verdict(r);
    this.element.replaceChildren(el('div', { class: 'title' }, el('h2', { class: 'grow' }, 'Physics report'), el('span', { class: `pill ${level}` }, word)));
    if (r.error_message) this.element.append(el('div', { class: 'message error' }, r.error_message));
    for (const [l, name, text] of facts(r)) {
      const symbol = icon(symbols[l]);
      symbol.setAttribute('class', l);
      this.element.append(el('div', { class: 'fact' }, symbol, el('span', {}, name), el('span', {}, text)));
    }
    const warnings = r.warnings ?? [];
    if (warnings.length > 0) {
      this.element.append(el('details', {}, el('summary', {}, `${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`),
        ...warnings.map((text) => el('div', { class: 'message' }, text))));
    }
    const numbers = [];
    all(r, '', numbers);
    const rows = el('div');
    const details = el('details', {}, el('summary', {}, 'All numbers'), rows);
    details.addEventListener('toggle', () => {
      if (!details.open || rows.firstChild) return;
      rows.append(el('div', { class: 'mute' }, run.head.provenance ?? ''));
      for (const [name, text] of numbers) rows.append(el('div', { class: 'pair' }, el('span', {}, name), el('span', {}, text)));
    });
    this.element.append(details);
  }
}
