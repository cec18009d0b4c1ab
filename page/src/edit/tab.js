// Edit as one of the tabs of a page with an engine: the editor has the engine while it is open, and what was edited is what runs afterwards.
import { on, set, state } from '../state.js';
import { Editor } from './editor.js';

export const tabs = [['edit', 'Edit']];

export function showEditing(enter, leave) {
  let before = state.mode;
  on('mode', () => {
    const last = before;
    before = state.mode;
    if (before === 'edit' && last !== 'edit') enter();
    if (before !== 'edit' && last === 'edit') leave();
  }, true);
}

// live: of live/open.js, after its page was opened; text: of the model.
export function addEditor(live, text) {
  const { page, session } = live, engine = { ask: (request) => session.ask(request) };
  let editor = null;

  const enter = () => {
    set({ playing: false });
    page.app.classList.add('editing');
    if (editor) { page.app.append(editor.element); editor.load(); return; }
    editor = new Editor({ engine, text, file: (live.loaded.file ?? 'model.xml').split('/').pop(), quality: page.options.get('quality') });
    page.editor = editor;
    page.app.append(editor.element);
  };
  // The engine has the model at its start: so has the page.
  const leave = async () => {
    page.app.classList.remove('editing');
    editor.close();
    set({ time: session.run.start });
    await live.reload({ text: editor.good ?? text, file: editor.file });
  };
  showEditing(enter, leave);
}
