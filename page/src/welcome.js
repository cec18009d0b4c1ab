// Drawings of the first page.
import { svg } from './dom.js';

const stroke = { fill: 'none', stroke: 'currentColor', 'stroke-linecap': 'round', 'stroke-linejoin': 'round' };

export function mark() {
  return svg('svg', { class: 'mark', width: 22, height: 22, viewBox: '0 0 22 22', ...stroke, 'stroke-width': 2, 'aria-hidden': 'true' },
    svg('path', { d: 'M6 6h10l4 5-4 5H6l-4-5z' }), ...[[6, 6], [16, 6], [6, 16], [16, 16]].map(([cx, cy]) => svg('circle', { cx, cy, r: 1.6, fill: 'currentColor' })));
}

// bars: [x1 y1 x2 y2]; pins: [x y]; soft: paths behind; ground: x y of hatched feet
function drawing({ bars = [], pins = [], soft = [], accent = [], feet = [] }) {
  const bar = ([x1, y1, x2, y2]) => svg('line', { x1, y1, x2, y2, class: 'bar' });
  const foot = ([x, y]) => svg('path', { d: `M${x - 9} ${y + 11}h18M${x} ${y}l-6 11M${x} ${y}l6 11`, class: 'foot-line' });
  return svg('svg', { class: 'drawing', viewBox: '0 0 160 100', ...stroke, 'aria-hidden': 'true' },
    ...soft.map((d) => svg('path', { d, class: 'soft' })), ...feet.map(foot), ...bars.map(bar), ...accent.map((d) => svg('path', { d, class: 'accent' })),
    ...pins.map(([cx, cy]) => svg('circle', { cx, cy, r: 3.4, class: 'pin' })));
}

const leg = (x, y, side) => [[x, y, x + side * 22, y - 14], [x + side * 22, y - 14, x + side * 32, y + 28]];
export const pictures = {
  'double-pendulum': () => drawing({ soft: ['M36 62c6 26 36 34 58 18s30-44 22-52'], bars: [[70, 18, 94, 50], [94, 50, 122, 30]], pins: [[70, 18], [94, 50], [122, 30]], feet: [] }),
  'four-bar': () => drawing({ soft: ['M52 76m-22 0a22 22 0 1 0 44 0a22 22 0 1 0-44 0'], bars: [[52, 76, 66, 59], [66, 59, 118, 26], [118, 26, 112, 76]], pins: [[52, 76], [66, 59], [118, 26], [112, 76]], feet: [[52, 76], [112, 76]] }),
  hexapod: () => drawing({ soft: ['M12 82h136'], bars: [...leg(62, 48, -1), ...leg(98, 48, 1), [74, 50, 62, 62], [62, 62, 58, 84], [86, 50, 98, 62], [98, 62, 102, 84]], accent: ['M60 42h40l8 8-8 8H60l-8-8z'], pins: [[40, 34], [120, 34], [62, 62], [98, 62]] }),
};
