"""What can go wrong, with every message of the library: file, line, column, sentence."""
import ctypes
import difflib
import re
import warnings as python_warnings

from . import _library as L

ERROR, WARNING, NOTE = "error", "warning", "note"


class Message(str):
    """"file:line:column: error: ..." with its parts as attributes."""
    severity = ERROR
    file = None
    line = column = 0
    text = ""


_PLACED = re.compile(r"(?:(?P<file>.*?):(?:(?P<line>\d+):(?P<column>\d+):)? )?(?P<severity>error|warning|note): (?P<text>.*)", re.S)


def parsed(line):
    """A Message of a line that the program wrote."""
    if isinstance(line, Message):
        return line
    out, found = Message(line), _PLACED.fullmatch(line)
    out.text = line
    if found:
        out.severity, out.text, out.file = found["severity"], found["text"], found["file"]
        out.line, out.column = int(found["line"] or 0), int(found["column"] or 0)
    return out


class Error(Exception):
    """The input is wrong, or the computation failed.

    `messages` are all that were found, not only the first; `file`, `line`, `column` and `text` are those of the first one that has a
    location (None, 0, 0 where none has). `status` is as the exit status of the command line: 1 the computation failed, 2 the input
    is wrong."""

    def __init__(self, messages, status=2):
        if isinstance(messages, str):
            messages = [messages]
        self.messages = [parsed(m) for m in messages]
        self.status = status
        placed = next((m for m in self.messages if m.file), self.messages[0] if self.messages else Message())
        self.file, self.line, self.column, self.text = placed.file, placed.line, placed.column, placed.text
        super().__init__("\n".join(self.messages))


class Stopped(Error):
    """A run that could not go on; `result` holds what was computed up to there."""

    def __init__(self, messages, result):
        super().__init__(messages, 1)
        self.result = result


class ModelWarning(UserWarning):
    """Something in a model or a run that is worth checking. Also in `warnings` of what was made."""


def warn(messages, level=3):
    for message in messages:
        python_warnings.warn(message, ModelWarning, stacklevel=level)


def nearest(word, known, end=""):
    """The end of a sentence on an unknown word; end: where there is none like it and another sentence follows."""
    found = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean '{found[0]}'?" if found else end


def _message(pointer):
    m = pointer.contents
    size = len(m.text or b"") + len(m.place_file or b"") + 64
    buffer = ctypes.create_string_buffer(size)
    L.lib.sr_message_format(pointer, buffer, size)
    out = Message(buffer.value.decode(errors="replace"))
    out.severity = (ERROR, WARNING, NOTE)[m.severity]
    out.file = m.place_file.decode(errors="replace") if m.place_file else None
    out.line, out.column = m.place_line, m.place_column
    out.text = (m.text or b"").decode(errors="replace")
    return out


class Messages:
    """A list that a call of the library fills: `with Messages() as said: ...`"""

    def __enter__(self):
        self.pointer = L.lib.sr_messages_create()
        if not self.pointer:
            raise MemoryError
        return self

    def __exit__(self, *exception):
        L.lib.sr_messages_destroy(self.pointer)
        self.pointer = None

    def all(self, severity=None):
        found = [_message(L.lib.sr_messages_get(self.pointer, i)) for i in range(L.lib.sr_messages_count(self.pointer))]
        return [m for m in found if severity is None or m.severity == severity]

    def check(self, status, otherwise=""):
        """Raises what went wrong; returns the warnings where nothing did."""
        if status == L.OK:
            return self.all(WARNING)
        if status == 3:
            raise MemoryError
        errors = self.all(ERROR) or [otherwise or L.lib.sr_status_text(status).decode()]
        raise Error(errors, 1 if status == L.FAILED else 2)
