// Icons of Lucide, as texts of the bundle: constants, the only markup that is parsed here.
import axis from 'lucide-static/icons/axis-3d.svg';
import box from 'lucide-static/icons/box.svg';
import camera from 'lucide-static/icons/camera.svg';
import chart from 'lucide-static/icons/chart-line.svg';
import check from 'lucide-static/icons/circle-check.svg';
import chevron from 'lucide-static/icons/chevron-right.svg';
import crosshair from 'lucide-static/icons/crosshair.svg';
import end from 'lucide-static/icons/skip-forward.svg';
import force from 'lucide-static/icons/move-up-right.svg';
import grid from 'lucide-static/icons/grid-3x3.svg';
import keyboard from 'lucide-static/icons/keyboard.svg';
import locate from 'lucide-static/icons/locate-fixed.svg';
import moon from 'lucide-static/icons/moon.svg';
import next from 'lucide-static/icons/step-forward.svg';
import pause from 'lucide-static/icons/pause.svg';
import play from 'lucide-static/icons/play.svg';
import previous from 'lucide-static/icons/step-back.svg';
import repeat from 'lucide-static/icons/repeat.svg';
import search from 'lucide-static/icons/search.svg';
import start from 'lucide-static/icons/skip-back.svg';
import sun from 'lucide-static/icons/sun.svg';
import trail from 'lucide-static/icons/spline.svg';
import warning from 'lucide-static/icons/triangle-alert.svg';
import wrong from 'lucide-static/icons/circle-x.svg';
import close from 'lucide-static/icons/x.svg';

const sources = { axis, box, camera, chart, check, chevron, crosshair, end, force, grid, keyboard, locate, moon, next, pause, play,
  previous, repeat, search, start, sun, trail, warning, wrong, close };
const parsed = new Map();

// Icons that one page alone has: they are in no other bundle.
export function addIcons(more) { Object.assign(sources, more); }

export function icon(name, size = 16) {
  if (!parsed.has(name)) parsed.set(name, new DOMParser().parseFromString(sources[name], 'image/svg+xml').documentElement);
  const node = document.importNode(parsed.get(name), true);
  node.setAttribute('width', size);
  node.setAttribute('height', size);
  node.setAttribute('stroke-width', '1.75');
  node.setAttribute('aria-hidden', 'true');
  node.removeAttribute('class');
  return node;
}
