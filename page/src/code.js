// The text of a model: an editor for XML that marks what the reader says at its line and column, and lists it below.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { xml } from '@codemirror/lang-xml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { crosshairCursor, drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
  rectangularSelection } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { clear, el } from './dom.js';
import { difference } from './edit/document.js';
import { icon } from './icons.js';

const MOST = 100;  // messages in the list

// From the line and column of a message, which count characters from 1, to the offset in the document, which counts units of UTF-16.
export function offsetOf(doc, line, column) {
  if (!(line >= 1)) return 0;
  if (line > doc.lines) return doc.length;
  const { from, text } = doc.line(line);
  let at = 0;
  for (let k = 1; k < column && at < text.length; k++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return from + at;
}

// What a message at this place speaks of: a word, a value up to its quote, or one character.
function endOf(doc, from) {
  const line = doc.lineAt(from), rest = line.text.slice(from - line.from);
  const word = /^(?:<\/?[\w:.-]+|[\w:.-]+)/.exec(rest) ?? /^[^"'<>]+/.exec(rest);
  return Math.min(line.to, from + Math.max(1, word ? word[0].length : 1));
}

export class Code {
  // changed(text) is called after every edit by the user
  constructor({ changed, commands }) {
    this.changed = changed;
    this.quiet = false;
    this.list = el('div', { class: 'problems', role: 'list', 'aria-label': 'Errors and warnings' });
    this.list.hidden = true;
    this.host = el('div', { class: 'editor' });
    const keys = commands.map(([key, call]) => ({ key, preventDefault: true, run: () => { call(); return true; } }));
    this.extensions = [
      keymap.of(keys), lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), foldGutter(), drawSelection(), dropCursor(), lintGutter(),
      EditorState.allowMultipleSelections.of(true), indentUnit.of('  '), indentOnInput(), syntaxHighlighting(classHighlighter), bracketMatching(), closeBrackets(),
      autocompletion(), rectangularSelection(), crosshairCursor(), highlightActiveLine(), highlightSelectionMatches(), xml(),
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ 'aria-label': 'Text of the model', spellcheck: 'false', autocorrect: 'off', autocapitalize: 'off' }),
      EditorView.updateListener.of((update) => { if (update.docChanged && !this.quiet) this.changed(this.text); }),
    ];
    this.view = new EditorView({ parent: this.host, state: this.state('') });
  }

  state(text) { return EditorState.create({ doc: text, extensions: this.extensions }); }

  get text() { return this.view.state.doc.toString(); }

  // Another model: what was before cannot be undone into it.
  open(text) {
    this.quiet = true;
    this.view.setState(this.state(text));
    this.quiet = false;
    this.mark([], '');
  }

  // Another text of the same model: one step of undo.
  replace(text) { this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } }); }

  // A part of the text that the page itself has changed: undone like any other, and not told.
  write(from, to, insert) {
    this.quiet = true;
    this.view.dispatch({ changes: { from, to, insert } });
    this.quiet = false;
  }

  // Another text that the page itself has made: only what differs is a change.
  take(text) {
    const { at, removed, inserted } = difference(this.text, text);
    if (removed !== inserted) this.write(at, at + removed.length, inserted);
  }

  // messages: [{severity, file, line, column, text}] of the reader; those of other files are in the list alone.
  mark(messages, file) {
    const { doc } = this.view.state, here = (m) => !m.file || m.file === file || m.file.endsWith(`/${file}`);
    const marks = messages.filter((m) => here(m) && m.line > 0).map((m) => {
      const from = offsetOf(doc, m.line, m.column);
      return { from, to: Math.max(from, endOf(doc, from)), severity: m.severity === 'note' ? 'info' : m.severity, message: m.text };
    });
    marks.sort((a, b) => a.from - b.from);
    this.view.dispatch(setDiagnostics(this.view.state, marks));
    this.list.hidden = messages.length === 0;
    const order = [...messages].sort((a, b) => here(b) - here(a) || a.line - b.line || a.column - b.column);
    clear(this.list).append(...order.slice(0, MOST).map((m) => this.row(m, here(m))));
    if (messages.length > MOST) this.list.append(el('div', { class: 'problem mute' }, `and ${messages.length - MOST} more`));
  }

  row(message, here) {
    const place = message.line > 0 ? `${here ? '' : `${message.file.split('/').pop()}:`}${message.line}:${message.column}` : '';
    const symbol = icon({ error: 'wrong', warning: 'warning' }[message.severity] ?? 'check');
    symbol.setAttribute('class', message.severity);
    return el('button', { class: 'problem', role: 'listitem', on: { click: () => { if (here && message.line > 0) this.go(message.line, message.column); } } },
      symbol, el('span', { class: 'place' }, place), el('span', { class: 'grow' }, message.text));
  }

  go(line, column) {
    const at = offsetOf(this.view.state.doc, line, column);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    this.view.focus();
  }
}
