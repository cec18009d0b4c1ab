// Without a mouse: what a page is by the keyboard alone, for a reader of screens, and by fingers. Faults are sentences.
const interactive = new Set(['button', 'slider', 'textbox', 'searchbox', 'combobox', 'tab', 'checkbox', 'radio', 'link', 'treeitem', 'tree', 'dialog', 'menuitem', 'spinbutton', 'switch', 'tabpanel', 'Canvas']);

// What can be used has a name.
export async function nameless(tab) {
  await tab.send('Accessibility.enable');
  const { nodes } = await tab.send('Accessibility.getFullAXTree');
  await tab.send('Accessibility.disable');
  const wrong = nodes.filter((n) => !n.ignored && interactive.has(n.role?.value) && !n.name?.value?.trim());
  return wrong.length === 0 ? [] : [`${wrong.length} without a name: ${wrong.slice(0, 5).map((n) => n.role.value)}`];
}

// Tab reaches everything that is in sight once, shows where it is, in an order that follows the page, and leaves again.
export async function tabOrder(tab) {
  const faults = [], seen = [];
  await tab.run(() => { document.activeElement?.blur?.(); window.getSelection()?.removeAllRanges(); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex'); });
  for (let i = 0; i < 200; i++) {
    await tab.press('Tab');
    const at = await tab.run(() => {
      const x = document.activeElement;
      if (!x || x === document.body) return null;
      window.tabbed ??= [];
      const again = window.tabbed.includes(x), r = x.getBoundingClientRect();
      if (!again) window.tabbed.push(x);
      const marked = (y) => { const s = getComputedStyle(y); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1; };
      return { again, what: `${x.tagName.toLowerCase()} ${x.getAttribute('aria-label') ?? x.title ?? ''} ${x.textContent.slice(0, 20)}`.trim(), marked: marked(x) || marked(x.parentElement),
        inside: r.width > 0 && r.height > 0 && r.right > 0 && r.bottom > 0 && r.left < innerWidth && r.top < innerHeight, part: x.closest('.head, .left, .view, .right, .foot')?.className ?? '' };
    });
    if (at === null || at.again) break;
    seen.push(at);
    if (!at.marked) faults.push(`the focus is not seen on ${at.what}`);
    if (!at.inside) faults.push(`the focus is out of sight on ${at.what}`);
  }
  const missed = await tab.run(() => {
    const all = [...document.querySelectorAll('button, input, select, [tabindex="0"], canvas[tabindex]')].filter((x) => !x.disabled && x.tabIndex >= 0 && x.checkVisibility({ visibilityProperty: true }));
    return all.filter((x) => !window.tabbed.includes(x)).map((x) => `${x.tagName.toLowerCase()} ${x.getAttribute('aria-label') ?? x.title} ${x.textContent.slice(0, 20)}`);
  });
  if (missed.length > 0) faults.push(`Tab does not reach ${missed.length}: ${missed.slice(0, 4)}`);
  const parts = seen.map((x) => x.part).filter((x, i, all) => i === 0 || x !== all[i - 1]);
  if (new Set(parts).size !== parts.length) faults.push(`Tab jumps between the parts of the page: ${parts.join(' > ')}`);
  await tab.run(() => { delete window.tabbed; });
  return { faults, seen };
}

const touch = (tab, type, places) => tab.send('Input.dispatchTouchEvent', { type, touchPoints: places.map(([x, y], id) => ({ x, y, id })) });
const frame = (tab) => tab.run(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(() => done(true))); }));

// Fingers that go from places to places.
export async function swipe(tab, from, to, steps = 8) {
  await touch(tab, 'touchStart', from);
  for (let i = 1; i <= steps; i++) {
    await touch(tab, 'touchMove', from.map(([x, y], k) => [x + (to[k][0] - x) * i / steps, y + (to[k][1] - y) * i / steps]));
    await frame(tab);
  }
  await touch(tab, 'touchEnd', []);
  await frame(tab);
}

const camera = (tab) => tab.run(() => { const { camera: c, controls } = window.sarrus.page.scene, d = c.position.clone().sub(controls.target); return { way: d.clone().normalize().toArray(), distance: d.length(), target: controls.target.toArray() }; });

// The camera may still go back from a model that has just been moved by a slider: until it has stood for ten frames.
async function stands(tab) {
  let last = '';
  for (let i = 0, same = 0; i < 200 && same < 10; i++) {
    await frame(tab);
    const now = JSON.stringify(await camera(tab));
    same = now === last ? same + 1 : 0;
    last = now;
  }
}

// One finger turns, two fingers zoom and move, a tap selects, a finger on the time line scrubs.
export async function fingers(tab, body) {
  const faults = [], ensure = (truth, text) => { if (!truth) faults.push(text); };
  await tab.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 5 });
  const [x, y] = await tab.run(() => { const r = document.querySelector('canvas.three').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; });
  await stands(tab);
  let before = await camera(tab);
  await swipe(tab, [[x, y]], [[x + 80, y + 10]]);
  let after = await camera(tab);
  const turn = Math.acos(Math.min(1, before.way.reduce((sum, c, i) => sum + c * after.way[i], 0)));
  ensure(turn > 0.1 && Math.abs(after.distance / before.distance - 1) < 0.01, `one finger turns the view by ${turn} rad`);
  before = after;
  await swipe(tab, [[x - 20, y], [x + 20, y]], [[x - 80, y], [x + 80, y]]);
  after = await camera(tab);
  ensure(after.distance < 0.8 * before.distance, `two fingers apart: from ${before.distance} to ${after.distance} m`);
  before = after;
  await swipe(tab, [[x - 30, y], [x + 30, y]], [[x - 30, y + 60], [x + 30, y + 60]]);
  after = await camera(tab);
  ensure(Math.hypot(...after.target.map((c, i) => c - before.target[i])) > 0.02 * after.distance, 'two fingers side by side do not move the view');
  const place = await tab.run((i) => { const { page } = window.sarrus, r = page.host.getBoundingClientRect(); window.sarrus.set({ selection: null }); page.scene.fit(-1); const com = page.run.model.bodies[i].com, s = page.scene.project(i, com, [0, 0, 0]); return [r.left + s[0], r.top + s[1]]; }, body);
  await frame(tab);
  const there = await tab.run((i) => { const { page } = window.sarrus, r = page.host.getBoundingClientRect(), com = page.run.model.bodies[i].com, s = page.scene.project(i, com, [0, 0, 0]); return [r.left + s[0], r.top + s[1]]; }, body);
  await touch(tab, 'touchStart', [there ?? place]);
  await touch(tab, 'touchEnd', []);
  await frame(tab);
  const got = await tab.run(() => window.sarrus.state.selection);
  ensure(got?.kind === 'body' && got.index === body, `a tap on body ${body} selects ${JSON.stringify(got)}`);
  await tab.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  return faults;
}
