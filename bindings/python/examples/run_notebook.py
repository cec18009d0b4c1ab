"""Runs notebooks (.ipynb) without Jupyter: the code cells in order, in one namespace, each in the notebook's folder or in FOLDER.

    python3 bindings/python/examples/run_notebook.py [--write] [--folder FOLDER] NOTEBOOK...

A cell that raises ends the run with its number and the traceback. The value of a cell's last expression is shown as a notebook shows it
(_repr_html_, _repr_svg_, repr). --write stores outputs in the file; without it the file is not touched.
"""
import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
import sys
import traceback


def _shown(value):
    """The output of an expression, as nbformat 4 has it."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    for mime, name in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(type(value), name):
            data[mime] = getattr(value, name)().splitlines(keepends=True)
    return data


def _run_cell(source, names, number):
    """Outputs of a cell."""
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    out = []
    if printed.getvalue():
        out.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        out.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": _shown(value)})
    return out


def run(path, folder=None, write=False):
    """True: every cell ran."""
    path = pathlib.Path(path).resolve()
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if notebook.get("nbformat") != 4:
        sys.exit(f"{path}: expected a notebook of nbformat 4")
    names, number, here = {"__name__": "__main__"}, 0, os.getcwd()
    os.chdir(folder or path.parent)
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            number += 1
            try:
                outputs = _run_cell("".join(cell["source"]), names, number)
            except Exception:
                print(f"{path.name}: cell {number} failed\n{traceback.format_exc()}", file=sys.stderr)
                return False
            cell["outputs"], cell["execution_count"] = outputs, number
    finally:
        os.chdir(here)
    if write:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path.name}: {number} cells")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="+", metavar="NOTEBOOK")
    parser.add_argument("--folder", help="where cells run, and write their files")
    parser.add_argument("--write", action="store_true", help="store the outputs in the notebook")
    given = parser.parse_args()
    sys.exit(0 if all([run(path, given.folder, given.write) for path in given.notebooks]) else 1)


if __name__ == "__main__":
    main()
