#!/usr/bin/env python3
"""Runs every shell command that README.md and docs/ show, and checks the numbers that the text states.

    python3 scripts/shown_commands.py                  # all pages
    python3 scripts/shown_commands.py docs/fit.md      # some pages
    python3 scripts/shown_commands.py --list           # what would run, without running it

The commands of a page run in the order of the page, in an empty folder with a link to examples/ and scripts/; two pages at
a time, because few commands use two processors throughout. The
program is target/debug/etendue unless ETENDUE names another. Commands on recordings need ETENDUE_DATA (default
../shared/data) and are listed as skipped without them. Needs CPython 3.10 or later and nothing else.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from shown_commands_rules import EXAMPLES, PREPARE, RULES, Rule

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = Path(os.environ.get("ETENDUE", TARGET / "debug" / "etendue"))
DATA = Path(os.environ.get("ETENDUE_DATA", ROOT / "../shared/data")).resolve()


@dataclass
class Outcome:
    """What became of one command."""

    page: str
    command: str
    result: str
    seconds: float = 0.0
    details: list[str] = field(default_factory=list)


def pages(chosen: list[str]) -> list[Path]:
    """The Markdown files to read, README first."""
    if chosen:
        return [Path(page).resolve() for page in chosen]
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def shown_commands(text: str) -> list[str]:
    """Commands of the ```sh blocks of a page: continued lines joined, comments removed."""
    commands = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"(^|\s)#.*$", "", line)
            command = " ".join(command.split())
            if command:
                commands.append(command)
    return commands


def rule_of(command: str) -> Rule:
    """The rule whose text begins the command; the longest, if several do."""
    matching = [rule for rule in RULES if command.startswith(rule.command)]
    return max(matching, key=lambda rule: len(rule.command), default=Rule(command))


def executable(command: str) -> str:
    """The command with the built program in place of cargo."""
    command = command.replace("cargo run --release --example", "example")
    command = command.replace("cargo run --release --", "etendue")
    return re.sub(r"example (\w+) --", lambda match: str(TARGET / "debug/examples" / match[1]), command)


def run(command: str, folder: Path) -> subprocess.CompletedProcess:
    """One command, by bash, in a folder; its outputs are captured."""
    environment = dict(os.environ, ETENDUE_DATA=str(DATA), NO_COLOR="1", PATH=f"{PROGRAM.parent}:{os.environ['PATH']}")
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def check(rule: Rule, done: subprocess.CompletedProcess) -> list[str]:
    """What differs from the text: exit code and numbers."""
    wrong = []
    if done.returncode not in rule.exit_codes:
        wrong.append(f"exit code {done.returncode}, expected {' or '.join(map(str, rule.exit_codes))}")
        wrong.extend((done.stdout + done.stderr).strip().splitlines()[-8:])
        return wrong
    if not re.search(rule.output, done.stdout + done.stderr):
        wrong.append(f"no match of {rule.output!r} in the output")
    for pattern, low, high in rule.numbers:
        match = re.search(pattern, done.stdout + done.stderr)
        if match is None:
            wrong.append(f"no match of {pattern!r} in the output")
        elif not low <= float(match[1]) <= high:
            wrong.append(f"{pattern!r} is {match[1]}, stated as {low} to {high}")
    return wrong


def try_command(page: str, command: str, folder: Path) -> Outcome:
    """Runs a shown command by its rule."""
    rule = rule_of(command)
    if rule.skip:
        return Outcome(page, command, "left out", details=[rule.skip])
    if rule.recording and not (DATA / rule.recording).exists():
        return Outcome(page, command, "skipped", details=[f"{rule.recording} is not in ETENDUE_DATA"])
    start = time.monotonic()
    done = run(executable(rule.run or command), folder)
    seconds = time.monotonic() - start
    wrong = check(rule, done)
    if wrong:
        return Outcome(page, command, "FAILED", seconds, wrong)
    reduced = [f"as: {rule.run} ({rule.reason})"] if rule.run else []
    return Outcome(page, command, "ok", seconds, reduced)


def try_page(page: Path) -> list[Outcome]:
    """Runs all commands of a page in a folder of their own."""
    name = str(page.relative_to(ROOT))
    commands = shown_commands(page.read_text())
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="shown-") as temporary:
        folder = Path(temporary)
        for link in ("examples", "scripts"):
            (folder / link).symlink_to(ROOT / link)
        if name in EXAMPLES:
            example = re.search(r"^```toml\n(.*?)^```", page.read_text(), re.S | re.M)
            (folder / EXAMPLES[name]).write_text(example[1])
        if name in PREPARE and commands:
            run(PREPARE[name], folder).check_returncode()
        for command in commands:
            outcome = try_command(name, command, folder)
            report(outcome)
            outcomes.append(outcome)
    return outcomes


def report(outcome: Outcome) -> None:
    """Prints an outcome as it is known, in one piece."""
    details = [f"             {detail}" for detail in outcome.details]
    head = f"{outcome.result:8} {outcome.seconds:6.1f} s  {outcome.page}: {outcome.command}"
    print("\n".join([head, *details, ""]), end="", flush=True)


def main() -> int:
    """Runs the pages and returns the exit code."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("pages", nargs="*")
    arguments.add_argument("--list", action="store_true", help="list the commands without running them")
    options = arguments.parse_args()
    if options.list:
        for page in pages(options.pages):
            for command in shown_commands(page.read_text()):
                rule = rule_of(command)
                print(f"{page.relative_to(ROOT)}: {rule.run or command}" + (f"  (left out: {rule.skip})" if rule.skip else ""))
        return 0
    if not PROGRAM.exists():
        print(f"{PROGRAM} is missing: cargo build --package etendue-cli", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(itertools.chain.from_iterable(pool.map(try_page, pages(options.pages))))
    counts = {result: sum(o.result == result for o in outcomes) for result in ("ok", "skipped", "left out", "FAILED")}
    print("== shown commands: " + ", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main())
