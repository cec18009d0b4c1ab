// One time, one selection, one set of switches for all panels. set() tells those who listen to what has changed.
export const state = {
  time: 0,
  playing: false,
  speed: 1,
  loop: true,
  range: null,       // [from, to] of the loop
  selection: null,   // {kind: 'body' | 'closure' | 'force' | 'contact' | 'sensor', index}
  mode: 'animate',   // or 'topology', 'modes'
  modes: null,       // the modes that are there (modes.js)
  theme: 'light',
  follow: -1,        // body, -1: none
  hidden: new Set(), // bodies
  show: { shapes: true, frames: false, centres: false, forces: true, trails: true, grid: true, technical: false },
};

const listeners = [];

export function on(names, call) { listeners.push([names.split(' '), call]); }

export function set(patch) {
  const changed = new Set();
  for (const [name, value] of Object.entries(patch)) {
    if (state[name] === value) continue;
    state[name] = value;
    changed.add(name);
  }
  if (changed.size === 0) return;
  for (const [names, call] of listeners) if (names.some((name) => changed.has(name))) call(changed);
}

export function toggle(name) { set({ show: { ...state.show, [name]: !state.show[name] } }); }

export function isSelected(kind, index) {
  return state.selection !== null && state.selection.kind === kind && state.selection.index === index;
}
