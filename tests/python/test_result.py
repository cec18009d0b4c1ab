"""Tables and figures of results, errors with their place, and the notebook's view of them."""
import base64
import html
import json
import os
import pathlib
import re
import tempfile
import webbrowser
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np
from common import MODELS, main, refuses

import sarrus
from sarrus._page import front


def _fall():
    """z = 5 - 5 t^2 at 11 times."""
    t = np.linspace(0, 1, 11)
    return sarrus.Result(["t", "q.z", "v.z"], ["s", "m", "m/s"], np.column_stack([t, 5 - 5 * t**2, -10 * t]))


def test_rows_and_columns_without_pandas():
    r = _fall()
    assert r["q.z"][2] == r.table[2, 1] and r[["t", "v.z"]].shape == (11, 2) and (r[["v.z", "t"]][:, 1] == r.t).all()
    assert r[-1] == {"t": 1.0, "q.z": 0.0, "v.z": -10.0} and r[0]["q.z"] == 5
    part = r[2:5]
    assert isinstance(part, sarrus.Result) and len(part) == 3 and part.units == r.units and part.t[0] == r.t[2]
    assert len(r[r["q.z"] > 4]) == 5
    assert abs(r.at(0.25)["v.z"] + 2.5) < 1e-15 and r.at(1)["q.z"] == 0
    assert r.records()["v.z"][3] == r["v.z"][3] and list(r.select("q.*")) == ["q.z"] and list(r) == r.keys() == r.names
    refuses(KeyError, "did you mean 'q.z'", r.__getitem__, "q.zz")
    refuses(KeyError, "no column 'a'", r.__getitem__, ["t", "a"])
    refuses(ValueError, "outside of the results, 0 to 1 s", r.at, 1.5)


def test_a_figure_is_svg_with_the_names_and_notebooks_show_it():
    r = _fall()
    figure = r.figure("q.*", ["v.z"], title="a fall")
    root = ElementTree.fromstring(figure.svg)
    assert root.tag.endswith("svg") and figure._repr_svg_() == figure.svg
    assert "a fall" in figure.svg and "q.z" in figure.svg and "m/s" in figure.svg
    page = r._repr_html_()
    assert "<svg" in page and "<table>" in page and "q.z [m]" in page and "11 rows" in page
    refuses(KeyError, "did you mean 'q.z'", r.figure, "q.zz")
    with tempfile.TemporaryDirectory() as folder:
        figure.save(folder + "/fall.svg")
        with open(folder + "/fall.svg", encoding="utf-8") as file:
            assert file.read() == figure.svg


def _blocks(page):
    """{name: bytes} of the data of a page: deflated, in base64."""
    return {name: zlib.decompress(base64.b64decode(text), -15)
            for name, text in re.findall(r'<script type="text/plain" id="sarrus-(model|report|times|poses|columns)">([^<]*)</script>', page)}


def _unpack(data, rows, columns, width):
    """Undoes the planes of bytes, zigzag and differences of columns (src/page/pack.c), with numpy."""
    kind = f"<u{width}"
    planes = np.frombuffer(data, np.uint8).reshape(columns, width, rows).transpose(0, 2, 1)
    z = np.ascontiguousarray(planes).view(kind).reshape(columns, rows)
    d = (z >> 1) ^ (~(z & 1) + 1)
    return np.cumsum(d, axis=1, dtype=kind).view(f"<f{width}").T


def test_a_result_is_a_page_with_its_columns_and_the_poses_of_its_coordinates():
    if front() is None:
        return
    for formulation in ("relative", "absolute"):
        r = sarrus.run(MODELS / "double-pendulum.xml", t_end=1, every=0.05, formulation=formulation)
        with tempfile.TemporaryDirectory() as folder:
            r.page(folder + "/p.html")
            with open(folder + "/p.html", encoding="utf-8") as file:
                blocks = _blocks(file.read())
        model, n = json.loads(blocks["model"]), len(r)
        assert [c["name"] for c in model["columns"]] == r.names[1:] and model["rows"] == n
        assert json.loads(blocks["report"])["steps"] == r.report["steps"]
        assert (_unpack(blocks["times"], n, 1, 8)[:, 0] == r.t).all()
        assert np.array_equal(_unpack(blocks["columns"], n, len(r.names) - 1, 4), r.table[:, 1:].astype(np.float32), equal_nan=True)
        poses = _unpack(blocks["poses"], n, 14, 4).reshape(n, 2, 7)  # both rods turn about y: the second by both angles, at the end of the first
        names = [x for x in r.names if x.startswith("q.")]
        angle = np.cumsum(r[names], axis=1)
        for body in range(2):
            turn = 2 * np.arctan2(poses[:, body, 5], poses[:, body, 3])
            assert np.abs(np.exp(1j * turn) - np.exp(1j * angle[:, body])).max() < 1e-6
        assert np.abs(poses[:, 0, :3]).max() == 0 and np.allclose(np.hypot(poses[:, 1, 0], poses[:, 1, 2]), 1, atol=1e-6)


def test_notebooks_show_the_page_of_a_run_and_its_names_are_no_markup():
    text = """<sarrus version="1" name="&lt;b onclick=boom&gt;&amp;quot;&lt;!--"><body name="&lt;img onerror=boom&gt;"><joint type="revolute" axis="0 1 0"/>
      <inertial mass="1" com="0 0 -1" inertia="1 1 1"/></body></sarrus>"""
    r = sarrus.loads(text).compile().run(t_end=1, every=0.001)
    shown = r._repr_html_()
    if front() is None:
        assert "<svg" in shown
        return
    assert "<img" not in shown and "<b " not in shown and shown.count("<iframe") == 1 and 'sandbox="allow-scripts"' in shown
    frame = re.search(r'srcdoc="([^"]*)"', shown)[1]
    assert "<" not in frame and shown.endswith('"></iframe>')
    page = html.unescape(frame)
    assert 'id="sarrus-options">embed=1&play=0<' in page and json.loads(_blocks(page)["model"])["rows"] <= 601
    assert json.loads(_blocks(page)["model"])["model"]["name"] == "<b onclick=boom>&quot;<!--"
    r.notebook = "figure"
    assert "<svg" in r._repr_html_() and "<iframe" not in r._repr_html_()
    assert "<svg" in _fall()._repr_html_()  # of no model
    refuses(sarrus.Error, "of a model", _fall().page, "x.html")
    opened = []
    webbrowser.register("none", None, type("None", (), {"open": lambda self, url, *_: opened.append(url) or True})(), preferred=True)
    path = r.show()
    assert opened == [pathlib.Path(path).as_uri()] and pathlib.Path(path).stat().st_size > 1e5
    os.remove(path)


def test_a_run_of_a_file_and_of_a_model_are_the_same_kind_of_object():
    file = MODELS / "double-pendulum.xml"
    one, other = sarrus.run(file, t_end=0.5, rtol=1e-8), sarrus.load(file).compile().run(t_end=0.5, rtol=1e-8)
    assert type(one) is type(other) is sarrus.Result
    assert (one.table == other.table).all() and one.report["steps"] == other.report["steps"] and one.data.t == 0.5
    assert type(sarrus.verb("run", file, t_end=0.1)) is sarrus.Result


def test_errors_have_file_line_and_column():
    text = '<sarrus version="1">\n  <body name="a"><joint type="revolut"/></body>\n  <body name="a"/>\n</sarrus>'
    error = refuses(sarrus.Error, "revolut", lambda: sarrus.loads(text, name="mine.xml").compile())
    assert (error.file, error.line, error.column) == ("mine.xml", 2, 31) and "unknown type" in error.text and error.status == 2
    assert error.messages[0].line == 2
    missing = refuses(sarrus.Error, "no-such-file", sarrus.load, "/no-such-file.xml")
    assert missing.column == 0
    model = sarrus.load(MODELS / "pendulum.xml").compile()
    plain = refuses(sarrus.Error, "first", model.energy, model.data())
    assert (plain.file, plain.line, plain.column) == (None, 0, 0) and plain.text


if __name__ == "__main__":
    main(globals())
