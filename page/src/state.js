// One time, one selection, one set of switches for all panels. set() tells those who listen to what has changed.
export const state = {
  time: 0,
  playing: false,
  speed: 1,
  loop: true,
  range: null,       // [from, to] of the loop
  selection: null,   // {kind: 'body' | 'closure' | 'force' | 'contact' | 'sensor', index}
  mode: 'animate',   // or 'topology', 'modes', 'edit'
  modes: null,       // the modes that are there (modes.js)
  theme: 'light',
  follow: -1,        // body, -1: none
  hidden: new Set(), // bodies
  show: { shapes: true, frames: false, centres: false, forces: true, trails: true, grid: true, technical: false },
};

const listeners = [];

// lasting: also when another page takes the place of this one.
export function on(names, call, lasting = false) { listeners.push([names.split(' '), call, lasting]); }

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

// Before another page is put together in place of this one: its panels listen no more, nothing is chosen.
export function forget() {
  listeners.splice(0, listeners.length, ...listeners.filter((listener) => listener[2]));
  Object.assign(state, { time: 0, playing: false, range: null, selection: null, follow: -1, hidden: new Set() });
}

export function toggle(name) { set({ show: { ...state.show, [name]: !state.show[name] } }); }

export function isSelected(kind, index) {
  return state.selection !== null && state.selection.kind === kind && state.selection.index === index;
}
