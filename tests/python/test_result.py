"""Tables and figures of results, errors with their place, and the notebook's view of them."""
import tempfile
import xml.etree.ElementTree as ElementTree

import numpy as np
from common import MODELS, main, refuses

import sarrus


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
