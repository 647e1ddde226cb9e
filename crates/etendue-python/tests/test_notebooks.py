"""The notebooks of examples/python: their code runs, and they hold no outputs."""

import json
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "python"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS] == ["batch.ipynb", "mujoco.ipynb", "simulate.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs(path, tmp_path, monkeypatch):
    cells = json.loads(path.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 4 and all(cell["outputs"] == [] for cell in code)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for cell in code:
        exec(compile("".join(cell["source"]), f"{path.name}/{cell['id']}", "exec"), names)
    assert len(names) > 5
