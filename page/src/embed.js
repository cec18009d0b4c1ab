// For pages and notebooks around this one: ?embed=1 shows the view and the time alone, and messages read and set what is seen (docs/using/page.md).
//   {sarrus: 'get' | 'set' | 'listen', id, ...}  ->  {sarrus: 'state', id, time, ...};  {sarrus: 'ready'} when the page is there
// Only the page around this one, or the one that has opened it, is heard, and it learns no more than what is seen.
import { on, set, state } from './state.js';

const kinds = { body: 'bodies', closure: 'closures', force: 'forces', contact: 'contacts', sensor: 'sensors' };
const isNumber = (x) => typeof x === 'number' && Number.isFinite(x);
const isPoint = (x) => Array.isArray(x) && x.length === 3 && x.every(isNumber);

// What is wrong with a message, in a sentence; null: it was done.
function change(page, m) {
  const { run, scene } = page, patch = {};
  let place = null;  // of the camera
  for (const [name, value] of Object.entries(m)) {
    if (['sarrus', 'id'].includes(name)) continue;
    else if (name === 'time' && isNumber(value)) Object.assign(patch, { time: Math.min(run.end, Math.max(run.start, value)) });
    else if (name === 'playing' && typeof value === 'boolean') patch.playing = value;
    else if (name === 'speed' && isNumber(value) && value >= 1 / 64 && value <= 16) patch.speed = value;
    else if (name === 'theme' && ['light', 'dark'].includes(value)) patch.theme = value;
    else if (name === 'view' && ['animate', 'topology', ...(page.modes.there ? ['modes'] : [])].includes(value)) patch.mode = value;
    else if (name === 'selection' && value === null) patch.selection = null;
    else if (name === 'selection' && Object.hasOwn(kinds, value?.kind)) {
      const index = run.model[kinds[value.kind]].findIndex((x) => x.name === value.name);
      if (index < 0) return `there is no ${value.kind} of that name`;
      patch.selection = { kind: value.kind, index };
    } else if (name === 'camera' && isPoint(value?.position) && isPoint(value.target)) {
      if (!scene) return 'this browser shows no 3-D pictures';
      const toward = scene.camera.position.clone().fromArray(value.position), target = scene.controls.target.clone().fromArray(value.target);
      toward.sub(target);
      if (!(toward.length() > 0)) return 'position and target of the camera are the same';
      place = () => scene.place(target, toward.clone().normalize(), toward.length());
    } else return `'${name}' is not known, or its value is not one of those that it takes`;
  }
  set(patch);
  place?.();
  return null;
}

function seen(page) {
  const { run, scene } = page, s = state.selection;
  return { name: run.model.name, time: state.time, start: run.start, end: run.end, playing: state.playing, speed: state.speed, theme: state.theme, view: state.mode,
    selection: s && kinds[s.kind] ? { kind: s.kind, name: run.model[kinds[s.kind]][s.index].name } : null,
    camera: scene ? { position: scene.camera.position.toArray(), target: scene.controls.target.toArray() } : null };
}

export function startMessages(page) {
  const around = window.parent !== window ? window.parent : window.opener;
  if (!around) return;
  const send = (word, more) => around.postMessage({ sarrus: word, ...more }, '*');
  let timer = 0, listening = false;
  const tell = () => {
    if (!listening || timer) return;
    timer = setTimeout(() => { timer = 0; send('state', seen(page)); }, 50);
  };
  addEventListener('message', (event) => {
    const m = event.data;
    if (event.source !== around || !['get', 'set', 'listen'].includes(m?.sarrus)) return;
    const error = m.sarrus === 'set' ? change(page, m) : null;
    if (m.sarrus === 'listen') listening = true;
    send(error ? 'error' : 'state', { id: m.id, ...(error ? { error } : seen(page)) });
  });
  on('time playing speed theme mode selection', tell);
  page.scene?.controls.addEventListener('change', tell);
  send('ready');
}
