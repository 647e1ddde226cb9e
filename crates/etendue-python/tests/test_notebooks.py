"""The notebooks in examples/python run; those on gradients check their results by assertions."""

import json

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "python").glob("*.ipynb"))


def cells(notebook):
    content = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs(notebook, tmp_path, monkeypatch):
    code = cells(notebook)
    if any("import torch" in cell for cell in code):
        pytest.importorskip(
            "torch", reason="PyTorch is not installed: its download of gigabytes is not part of the tests"
        )
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for number, cell in enumerate(code):
        exec(compile(cell, f"{notebook.name}, code cell {number}", "exec"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_stored_outputs_are_small(notebook):
    # Measured at most 10 kB.
    assert notebook.stat().st_size < 30_000


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 7
