"""Progress of long calls."""

from collections.abc import Callable


def bar() -> Callable[[int, int], None] | None:
    """A function of the finished and of all parts that draws a bar of tqdm; None where tqdm is absent."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    shown = tqdm()

    def report(done: int, parts: int) -> None:
        shown.total = parts
        shown.n = done
        shown.refresh()
        if done >= parts:
            shown.close()

    return report
