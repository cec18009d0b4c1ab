// Colours of both themes, for the styles and for the 3-D view.
import { on, set, state } from './state.js';

const themes = {
  light: {
    bg: '#eceef2', panel: '#ffffff', raised: '#f6f7f9', hover: '#eef0f4', line: '#e2e5ea', 'line-strong': '#cfd4dc',
    text: '#171a21', mid: '#4a5361', mute: '#697386', accent: '#3056d3', 'accent-soft': '#e8edfc', 'on-accent': '#ffffff',
    ok: '#1a7f4b', 'ok-soft': '#e5f4ec', warn: '#9a5b00', 'warn-soft': '#fdf3e1', error: '#c62f2f', 'error-soft': '#fdecec',
    force: '#e8590c', 'force-text': '#c2410c', top: '#f7f8fa', bottom: '#dde2ea', body: '#f2f4f7', joint: '#3a4250', teal: '#0b8a80',
    tag: '#171a21', 'on-tag': '#ffffff', lane: '#bcc3cf', 'lane-bg': '#f3f4f7', grid: '#8d97a8',
    shadow: '0 1px 2px #1018280f, 0 4px 16px #10182814',
    s1: '#3056d3', s2: '#d9480f', s3: '#0b7a75', s4: '#9c36b5', s5: '#a66f00', s6: '#c2255c',
  },
  dark: {
    bg: '#0d0f13', panel: '#15181e', raised: '#1b1f27', hover: '#222732', line: '#262b35', 'line-strong': '#3a4150',
    text: '#e9ebf0', mid: '#b3bbc8', mute: '#8a94a5', accent: '#7f9cff', 'accent-soft': '#202a49', 'on-accent': '#0d0f13',
    ok: '#4cc38a', 'ok-soft': '#12291f', warn: '#f0b04a', 'warn-soft': '#2e2412', error: '#ff7b72', 'error-soft': '#3a1a1c',
    force: '#ff9248', 'force-text': '#ff9248', top: '#2b303b', bottom: '#191c23', body: '#c9d0dc', joint: '#5d6880', teal: '#3ecfc0',
    tag: '#e9ebf0', 'on-tag': '#15181e', lane: '#4a5264', 'lane-bg': '#1b1f27', grid: '#7d889b',
    shadow: '0 1px 2px #00000040, 0 4px 16px #00000055',
    s1: '#7f9cff', s2: '#ff9248', s3: '#3ecfc0', s4: '#d59bf6', s5: '#f0c04a', s6: '#ff86ac',
  },
};

export const axisColors = ['#e5484d', '#30a46c', '#3e63dd'];

export function colors() { return themes[state.theme]; }
export function smallSize() { return innerWidth >= 1800 ? 12 : 10.5; }  // px, of the text in drawings
export function smallFont() { return `${smallSize()}px Inter, system-ui, sans-serif`; }
export function axisStyle() {  // of plots
  const c = colors();
  return { stroke: c.mute, grid: { stroke: c.line, width: 1 }, ticks: { show: false }, font: smallFont() };
}
export function axisWidth(texts) { return Math.max(34, 14 + 0.6 * smallSize() * Math.max(0, ...(texts ?? []).map((text) => text.length))); }

export function series(i) { return colors()[`s${(i % 6) + 1}`]; }

// Chosen before, in the address, or what the system prefers. Storage may be refused: then nothing is remembered.
function remembered() {
  try { return localStorage.getItem('sarrus-theme'); } catch { return null; }
}

function apply() {
  const root = document.documentElement;
  root.dataset.theme = state.theme;
  for (const [name, value] of Object.entries(colors())) root.style.setProperty(`--${name}`, value);
}

export function startTheme(wanted) {
  const known = [wanted, remembered()].find((word) => word in themes);
  state.theme = known ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  apply();
  on('theme', apply, true);
}

export function toggleTheme() {
  set({ theme: state.theme === 'light' ? 'dark' : 'light' });
  try { localStorage.setItem('sarrus-theme', state.theme); } catch { /* not remembered */ }
}
