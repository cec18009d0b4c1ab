// Edit as one of the tabs of a page with an engine: the editor has the engine while it is open, and what was edited is what runs afterwards.
import { on, set, state } from '../state.js';
import { Editor } from './editor.js';

export const tabs = [['edit', 'Edit']];

// The header has the names of what is edited.
export function nameHeader(app, model, file) {
  const head = app.querySelector('.head:not([data-own])');
  head?.querySelector('.name').replaceChildren(model);
  head?.querySelector('.file').replaceChildren(file);
}

export function showEditing(enter, leave) {
  let before = state.mode;
  on('mode', () => {
    const last = before;
    before = state.mode;
    if (before === 'edit' && last !== 'edit') enter();
    if (before !== 'edit' && last === 'edit') leave();
  }, true);
}

// live: of live/open.js, after its page was opened with the answer `loaded`; request: with which it loaded the model, {text, file} or {path}: of a file.
export function addEditor(live, loaded, request) {
  const { page, session } = live, engine = { ask: (question) => session.ask(question) }, writes = Boolean(request.path) && session.engine.hello?.writes === request.path;
  let editor = null, text = loaded.text ?? request.text;
  live.onload = (answer) => { text = answer.text ?? text; };

  const enter = () => {
    set({ playing: false });
    page.app.classList.add('editing');
    if (editor) {
      page.app.append(editor.element);
      if (editor.writes && text !== editor.doc.saved && !editor.doc.changed) editor.renew(text);  // it was changed elsewhere
      else editor.load();
      return;
    }
    editor = new Editor({ engine, text, writes, named: (model, name) => nameHeader(page.app, model, name), file: (live.loaded.file ?? 'model.xml').split('/').pop(), quality: page.options.get('quality') });
    page.editor = editor;
    page.app.append(editor.element);
  };
  // The engine has the model at its start: so has the page.
  const leave = async () => {
    page.app.classList.remove('editing');
    editor.close();
    set({ time: session.run.start });
    await live.reload(editor.writes && !editor.doc.changed && !editor.failed ? request : { text: editor.good ?? text, file: editor.file });
  };
  showEditing(enter, leave);
}
