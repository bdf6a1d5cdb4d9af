# SPDX-License-Identifier: Apache-2.0
"""Pages, and one browser for all tests."""

import json
import random

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="session")
def found(folder):
    """What the program itself finds in a small network, and the page of it."""
    from program import fansite
    fansite("simulate", "--nodes", 10, "--degree", 1, "--sem", "linear", "--noise", "mixed", "--rows", 300, "--seed", 5,
            "--out", "s", "--quiet", folder=folder)
    fansite("mb", "s/data.csv", "--estimator", "gaussian", "--out", "b.json", "--quiet", folder=folder)
    fansite("dag", "s/data.csv", "--boundaries", "b.json", "--out", "g.json", "--quiet", folder=folder)
    fansite("report", "b.json", "g.json", "--out", "found.html", "--quiet", folder=folder)
    read = lambda name: json.loads((folder / name).read_text())  # noqa: E731
    return read("b.json"), read("g.json"), folder / "found.html"


@pytest.fixture(scope="session")
def full(folder):
    """A page with everything that results may have: flows, an unfinished run, undecided edges."""
    from program import report
    from results import add_diagnostics, network
    boundaries, graph = network([f"x{i}" for i in range(1, 31)])
    add_diagnostics(boundaries)
    return boundaries, graph, report(folder, "full", boundaries, graph)


@pytest.fixture(scope="session")
def compared(folder, found):
    """Three methods on the same small network, one of which has too little time."""
    from program import fansite
    fansite("compare", "s/data.csv", "--truth", "s/dag.csv", "--methods", "iamb,stmb,kmb", "--orders", 2, "--out", "c.json",
            "--quiet", folder=folder)
    comparison = json.loads((folder / "c.json").read_text())
    comparison["summary"][2] |= {"done": 0, "timeout": 2, "scores": None, "pairs": None, "over_orders": None}
    for row in comparison["agreement"]["overlap"]:
        row[2] = None
    comparison["agreement"]["overlap"][2] = [None, None, None]
    comparison["alone"] = [{"method": "iamb", "pairs": [["x1", "x2"]]}, {"method": "stmb", "pairs": []}]
    return comparison


@pytest.fixture(scope="session")
def planned(folder, found):
    """What a run on the small network would take."""
    from program import fansite
    fansite("plan", "s/data.csv", "--estimator", "gaussian", "--out", "p.json", folder=folder)
    return json.loads((folder / "p.json").read_text())


@pytest.fixture(scope="session")
def hundred(folder):
    from program import report
    from results import network
    boundaries, graph = network([f"gene{i}" for i in range(1, 101)])
    return boundaries, graph, report(folder, "hundred", boundaries, graph)


@pytest.fixture(scope="session")
def thousand(folder):
    from program import report
    from results import network
    boundaries, graph = network([f"gene{i}" for i in range(1, 1001)])
    return boundaries, graph, report(folder, "thousand", boundaries, graph)


@pytest.fixture(scope="session")
def empty(folder):
    """What the program finds among columns that have nothing to do with each other: the page of it."""
    from program import fansite
    rng = random.Random(4)
    rows = [",".join(f"protein{i}" for i in range(12))] + [",".join(f"{rng.gauss(0, 1):.5f}" for _ in range(12)) for _ in range(120)]
    (folder / "noise.csv").write_text("\n".join(rows))
    fansite("mb", "noise.csv", "--estimator", "gaussian", "--out", "eb.json", "--quiet", folder=folder)
    fansite("dag", "noise.csv", "--boundaries", "eb.json", "--out", "eg.json", "--quiet", folder=folder)
    fansite("report", "eb.json", "eg.json", "--out", "empty.html", "--quiet", folder=folder)
    assert json.loads((folder / "eb.json").read_text())["moral_edges"] == []
    return folder / "empty.html"


@pytest.fixture(scope="session")
def session():
    from browser import Browser
    browser = Browser()
    yield browser
    browser.quit()


@pytest.fixture
def browser(session):
    session.resize(1440, 900)
    session.prefer()
    session.errors()
    yield session
    assert session.errors() == []
