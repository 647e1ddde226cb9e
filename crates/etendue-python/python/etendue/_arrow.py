"""Sweeps as Arrow tables, of the package `pyarrow`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._etendue import Sweep

# Columns with one number per return.
_COLUMNS = ("range", "intensity", "time", "ring", "column", "azimuth", "elevation")


def table(sweep: "Sweep") -> Any:
    """Table of the returns; the memory is that of the arrays of the sweep."""
    import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    points = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(sweep.points.reshape(-1)), 3)
    columns = {"points": points, **{name: pyarrow.array(getattr(sweep, name)) for name in _COLUMNS}}
    truth = sweep.truth
    if truth is not None:
        columns |= {f"true_{name}": pyarrow.array(values) for name, values in truth.items()}
    return pyarrow.table(columns)
