#!/usr/bin/env python3
"""Runs the blocks of Markdown pages as a reader would; tests/check_pages.sh makes the place for it.

    tests/pages.py FOLDER [PREFIX...] -- PAGE...     FOLDER: tree/ (sources and build), home/, log/; PREFIX: what every command begins with

One session of bash per page, in a copy of the tree; a page of docs/ begins with the commands of docs/index.md. In the order of the page, but in
every section the files first, for a command may be above a file that it uses. The info string of a fence says what a block is:

    sh                      commands: each must succeed
    python                  run in one interpreter per page, in the environment that the commands have made
    text                    what the last block printed, each line up to "...": blanks counted alike, numbers below 1e-8 (rounding) too
    xml NAME, c NAME, ...   a file. A model that no command of the page names is checked, a C program compiled and run, a plugin compiled
    xml (added to MODEL)    elements that the model must accept
    c                       part of a program: listed as not run, like blocks of other languages
    usage                   a synopsis with words in capitals
    (no info string)        equations, drawings, messages; commands there are an error
    ... (long)              only under ./test --long
    ... (not run: REASON)   listed with the reason
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

COMMAND = re.compile(r"(\$ )?(sarrus|build/sarrus|\./\w+|tools/[\w-]+|python3|pip|cmake|cpack|make|cc|export|sudo|apt-get) ")
COMPLETE = {"xml": re.compile(r"(<\?.*?\?>|<!--.*?-->|\s)*<(sarrus|network|robot|mujoco|mbsDescR7)\b", re.S),
            "c": re.compile(r"^int (main|sarrus_plugin)\(", re.M)}
SECONDS = 1150  # a page that takes longer hangs; the README's own build under --long takes minutes

# The interpreter of a page: reads "LOG PAGE LINE FILE", runs FILE, answers.
PYTHON = r'''
import os, sys, traceback
answer = os.fdopen(os.dup(1), "w")
names = {"__name__": "__main__"}
for request in sys.stdin:
    log, page, line, file = request.split()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1), os.dup2(out, 2), os.close(out)
    try:
        with open(file) as source:
            exec(compile("\n" * int(line) + source.read(), page, "exec"), names)
        result = "ok"
    except BaseException:
        traceback.print_exc()
        result = "failed"
    sys.stdout.flush(), sys.stderr.flush()
    print(result, file=answer, flush=True)
answer.close()
'''

PRELUDE = r'''
set -e
exec < /dev/null
page_begin() { echo "$1" > "$page_log/at"; exec > "$page_log/$1.log" 2>&1; }
page_python() {
  [ -n "${page_interpreter:-}" ] || { coproc page_interpreter { exec python3 -W error "$page_log/interpreter.py"; } 2> "$page_log/interpreter.log"; }
  echo "$page_log/$1.log $2 $3 $page_log/$1" >&"${page_interpreter[1]}"
  read -r page_answer <&"${page_interpreter[0]}" && [ "$page_answer" = ok ]
}
'''


class Block:
    def __init__(self, page, line, info, text, section):
        self.page, self.line, self.text, self.section = page, line, text, section
        found = re.fullmatch(r"(\w*)(?: ([\w./-]+))?(?: \((.*)\))?", info.strip())
        if not found:
            sys.exit(f"FAILED pages: {page}:{line}: the info string '{info}' is not understood (tests/pages.py lists what there is)")
        self.kind, self.name, self.mark = found[1], found[2], found[3] or ""

    @property
    def where(self):
        return f"{self.page}:{self.line}"

    def complete(self):
        return self.kind in COMPLETE and COMPLETE[self.kind].search(self.text) is not None and \
            (self.kind != "xml" or COMPLETE["xml"].match(self.text))


def blocks_of(root, page):
    out, section, block = [], 0, None
    for number, line in enumerate((root / page).read_text(encoding="utf-8").split("\n"), 1):
        if block is not None:
            if line.startswith("```"):
                out.append(Block(page, block[0], block[1], "".join(x + "\n" for x in block[2]), section))
                block = None
            else:
                block[2].append(line)
        elif line.startswith("```"):
            block = (number, line[3:], [])
        elif line.startswith("## "):
            section += 1
    return out


def unknown_options(program, root, page):
    """Options of `sarrus VERB ...` within the text that the verb does not have."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), (root / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    for span in re.finditer(r"`(?:build/)?sarrus ([a-z]+)( [^`]*)?`", text):
        known = subprocess.run([program, "help", span[1]], capture_output=True, text=True, check=False)
        where = f"{page}:{text.count(chr(10), 0, span.start()) + 1}"
        if known.returncode != 0:
            yield f"{where}: there is no verb '{span[1]}'"
            continue
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span[2] or ""):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", known.stdout):
                yield f"{where}: `sarrus {span[1]}` has no option {option}"


class Page:
    """The script of one session, and what is left out of it."""

    def __init__(self, work, page, blocks, before, long):
        self.work, self.page, self.blocks, self.long = work, page, blocks, long
        self.log = work / "log" / page.replace("/", "-")
        self.parts, self.skipped, self.faults, self.expected = [], [], [], {}
        self.steps = 0
        self.commands = "".join(b.text for b in blocks if b.kind == "sh")
        for block in before:
            self.parts.append(block.text)
        for block in sorted(blocks, key=lambda b: (b.section, not b.name)):  # stable: the order of the page otherwise
            self.add(block)

    def fault(self, block, what):
        self.faults.append(f"{block.where}: {what}")

    def skip(self, block, why):
        self.skipped.append(f"{block.where}: {why}")

    def step(self, block, command):
        """A step of the session; `command` may use the block's text, which lies in a file of its number."""
        self.steps += 1
        (self.log / str(self.steps)).write_text(block.text, encoding="utf-8")
        self.parts.append(f"page_begin {self.steps}\n{command.format(file=self.log / str(self.steps), step=self.steps)}\n")
        self.expected[self.steps] = (block, [])

    def add(self, block):
        reason = re.fullmatch(r"not run: (.+)", block.mark)
        if reason:
            self.skip(block, reason[1])
        elif block.mark == "long" and not self.long:
            self.skip(block, "only under --long")
        elif block.kind == "" and any(COMMAND.match(x) for x in block.text.split("\n")):
            self.fault(block, "commands belong into a block ```sh")
        elif block.kind in ("", "usage"):
            pass
        elif block.kind == "text":
            if self.steps:
                self.expected[self.steps][1].append(block)
            else:
                self.fault(block, "```text is what a command above it prints; there is none")
        elif block.kind == "sh":
            self.step(block, ". {file}")
        elif block.kind == "python":
            self.step(block, f"page_python {{step}} {block.page} {block.line}")
        elif block.name:
            self.file(block)
        elif block.mark.startswith("added to "):
            self.addition(block, block.mark.removeprefix("added to "))
        elif block.complete():
            self.fault(block, f"a complete file needs a name: ```{block.kind} NAME")
        elif block.kind == "xml":
            self.fault(block, "part of a model needs the model that it fits: ```xml (added to MODEL)")
        else:
            self.skip(block, "part of a program" if block.kind == "c" else f"{block.kind} is not run")

    def file(self, block):
        name = shlex.quote(block.name)
        put = f"mkdir -p $(dirname {name}) && cp {{file}} {name}"
        strict = "cc -std=c17 -Wall -Wextra -Werror -Iinclude"
        if re.search(rf"(?<![\w./-]){re.escape(block.name)}(?![\w.-])", self.commands) or not block.complete():
            use = ""
        elif block.kind == "xml":
            use = f"\nsarrus check {name}"
        elif "sarrus_plugin(" in block.text:
            use = f"\n{strict} -fPIC -shared {name} -o {name}.so -lm"
        else:
            use = f"\n{strict} {name} -Lbuild -lsarrus -Wl,-rpath,$PWD/build -lm -o {name}.out\n./{name}.out"
        self.step(block, put + use)

    def addition(self, block, model):
        includes = "".join(f'<include file="{x}"/>' for x in model.split(" and "))
        head = f'<sarrus version="1" name="addition">{includes}'
        self.step(block, f"{{{{ echo {shlex.quote(head)}; cat {{file}}; echo '</sarrus>'; }}}} > page-addition.xml\nsarrus check page-addition.xml")

    def run(self, prefix):
        """Faults of the page, as texts."""
        if not self.steps:
            return self.faults
        tree = self.work / "page"
        # README.md makes the build that the other pages use, so it works in the tree itself.
        where = self.work / "tree" if self.page == "README.md" else tree
        if where == tree:
            subprocess.run(["cp", "-a", self.work / "tree", tree], check=True)
        path = "/usr/local/bin:/usr/bin:/bin"
        (self.log / "interpreter.py").write_text(PYTHON)
        script = self.log / "session"
        script.write_text(f"page_log={self.log}\n{PRELUDE}" + "\n".join(self.parts) + "\npage_begin done\n", encoding="utf-8")
        if prefix:
            subprocess.run(["chown", "-R", "nobody", self.log], check=True)
        try:
            subprocess.run([*prefix, "env", "-i", f"HOME={self.work / 'home'}", f"PATH={path}", "bash", script], cwd=where, timeout=SECONDS,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{self.page}: not done after {SECONDS} s")
        at = (self.log / "at").read_text().strip() if (self.log / "at").exists() else "1"
        if at != "done":
            block = self.expected[int(at)][0]
            self.fault(block, "this failed:\n" + indent(block.text, 15) + "\n  it printed:\n" + indent(self.printed(int(at)), 15))
        for step, (_, texts) in self.expected.items():
            if at == "done" or step < int(at):
                self.compare(self.printed(step), texts)
        if where == tree:
            shutil.rmtree(tree)
        return self.faults

    def printed(self, step):
        out = ""
        for name in (f"{step}.log", "interpreter.log"):
            file = self.log / name
            out += file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
        return out

    def compare(self, printed, texts):
        lines = [plain(x) for x in printed.split("\n")]
        for block in texts:
            for line in block.text.split("\n"):
                wanted = plain(line.split("...")[0])
                if not any(wanted in x for x in lines):
                    self.fault(block, f"the page shows '{line}'; the program printed\n" + indent(printed, 40))
                    break


def plain(line):
    line = re.sub(r"-?\b\d+(\.\d+)?e-(0[89]|[1-9]\d)\b", "(rounding)", line)
    return " ".join(line.split())


def indent(text, most):
    lines = text.rstrip("\n").split("\n")
    cut = ["..."] if len(lines) > most else []
    return "\n".join("    " + x for x in cut + lines[-most:])


def main():
    split = sys.argv.index("--")
    work, prefix, names = pathlib.Path(sys.argv[1]), sys.argv[2:split], dict.fromkeys(sys.argv[split + 1:])
    long = os.environ.get("SARRUS_TEST_LONG") == "1"
    tree, count, pages, faults, skipped = work / "tree", 0, 0, [], []
    start = [b for b in blocks_of(tree, "docs/index.md") if b.kind == "sh"]
    if not start:
        sys.exit("FAILED pages: docs/index.md has no commands that the other pages begin with")
    for name in names:
        (work / "log" / name.replace("/", "-")).mkdir()
        page = Page(work, name, blocks_of(tree, name), start if name.startswith("docs/") and name != "docs/index.md" else [], long)
        faults += page.run(prefix)
        faults += unknown_options(tree / "build" / "sarrus", tree, name)
        skipped += page.skipped
        if name == "README.md":  # of the build that it made the other pages need the program alone
            shutil.rmtree(tree / "build" / "CMakeFiles", ignore_errors=True)
        count, pages = count + page.steps, pages + (page.steps > 0)
    for line in skipped:
        print(f"  not run: {line}")
    for fault in faults:
        print(f"FAILED pages: {fault}")
    if faults:
        sys.exit(1)
    print(f"ok pages: {count} blocks of {pages} pages, word for word; {len(skipped)} not run")


if __name__ == "__main__":
    main()
