"""How scripts/shown_commands.py runs the commands of README.md and docs/: reduced forms, exit codes, stated numbers."""

from dataclasses import dataclass, field


@dataclass
class Rule:
    """One shown command, named by its beginning."""

    command: str
    run: str = ""  # the reduced form that is run in its place
    reason: str = ""  # why it is reduced
    skip: str = ""  # why it is left out
    recording: str = ""  # file or folder of ETENDUE_DATA that it needs
    exit_codes: tuple[int, ...] = (0,)
    numbers: list[tuple[str, float, float]] = field(default_factory=list)  # pattern with one group, lowest and highest value


# Commands that provide the files that a page takes for granted.
PREPARE = {}

RULES = []
