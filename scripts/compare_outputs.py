#!/usr/bin/env python3
"""Compare the outputs of two builds of `etendue simulate`, value by value.

    python3 scripts/compare_outputs.py OLD_BINARY NEW_BINARY
    python3 scripts/compare_outputs.py OLD NEW --only vlp-16 --old-examples ../old/examples
    python3 scripts/compare_outputs.py NEW NEW --new-isa reference

Runs both programs on the same cases with fixed seeds: every sensor preset in the arena, in the sun,
in motion and in front of boards with measured noise profiles, and some in weather and with other
options, on one thread and on two. Common columns of CSV and NPZ files must have the same bytes.
Added and removed columns are listed, but are not differences. `--renamed OLD=NEW` gives a renamed
column. Differing files of other formats are listed only, because they also contain the added
columns.

Prints one line per case. Exit code 1 if any common column, the number of rows or the outcome differs.
"""

import argparse
import ast
import csv
import io
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
# Sensors for the cases that are not run with every preset: spinning, with several rays per shot,
# with two blocks of lasers, a rosette, planar, and a phase receiver.
SPINNING = ["velodyne-vlp-16", "ouster-os1-64", "velodyne-hdl-64e"]
VARIED = SPINNING + ["livox-avia", "sick-lms-111", "hokuyo-urg-04lx"]
MOTION = ["--trajectory", "{examples}/street.tum", "--sweeps", "2"]
# Presets whose old files have one row per beam; new builds write these rows to files named beams.
PER_BEAM = {"hokuyo-urg-04lx"}
# Pictures contain labels; run.json and metadata.yaml contain file names and versions.
NOT_DATA = {".png", ".svg", ".json", ".yaml"}


def table_of(preset):
    """Name of the NPZ file of old builds for a sensor."""
    return "beams.npz" if preset in PER_BEAM else "out.npz"


def cases(presets):
    """(name, arguments, output, threads): the output is a folder of all formats or one NPZ file."""
    street = "{examples}/street.toml"
    for preset in presets:
        sensor, table = ["--sensor", preset], table_of(preset)
        yield f"{preset} arena", ["arena", *sensor, "--sweeps", "2"], "out", 1
        yield f"{preset} patio", ["patio", *sensor], table, 2
        yield f"{preset} street in motion", [street, *sensor, *MOTION], table, 2
        yield f"{preset} boards with profiles", ["{examples}/zigzag.toml", *sensor, "--sweeps", "2"], table, 2
    weather = {
        "rain": ["--rain", "10"],
        "rain without drops": ["--rain", "10", "--drops-from", "10"],
        "snow": ["--snow", "2"],
        "fog": ["--fog", "100"],
        "haze and dust": ["--visibility", "5000", "--dust", "0.01"],
    }
    for preset in VARIED:
        for name, options in weather.items():
            yield f"{preset} {name}", [street, "--sensor", preset, *options], table_of(preset), 2
    for preset in VARIED:
        sensor, table = ["--sensor", preset], table_of(preset)
        for threads in (1, 2):
            yield f"{preset} rain in motion, {threads} threads", [street, *sensor, *MOTION, "--rain", "20"], "out", threads
        for isa in ("plain", "avx2", "avx512"):
            yield f"{preset} {isa}", [street, *sensor, "--isa", isa], table, 2
        yield f"{preset} glass door", ["glass-door", *sensor], table, 2
        yield f"{preset} mirror corridor", ["mirror-corridor", *sensor], table, 2
        yield f"{preset} U of panels", ["{examples}/u-of-panels.toml", *sensor], table, 2
        yield f"{preset} random paths", ["arena", *sensor, "--paths", "4"], table, 2
    for frame in ("sensor", "sweep-start"):
        yield f"frame {frame}", [street, *MOTION, "--frame", frame, "--interpolation", "cubic"], "out.npz", 2
    yield "sampled waveforms in fog", ["{examples}/fit/hall-in-fog.toml"], "out", 2
    yield "posed URG-04LX", ["arena", "--pose", "-0.5,0.1,0,45", "--sweeps", "20"], "out", 2


class Build:
    """A binary, the example scenes that it reads, and the instruction set of cases without one."""

    def __init__(self, binary, examples, isa=None):
        self.binary = str(pathlib.Path(binary).resolve())
        self.examples = str(pathlib.Path(examples).resolve())
        self.isa = isa

    def presets(self):
        """Names of the lidar presets: the lines of `etendue sensors` without indentation, up to the
        sensors for robots."""
        listed = subprocess.run([self.binary, "sensors"], capture_output=True, text=True, check=True)
        lines = [line for line in listed.stdout.splitlines() if line and not line[0].isspace()]
        return list(itertools.takewhile(lambda line: not line.startswith("for robots"), lines))

    def simulate(self, arguments, output, threads, folder):
        """Whether the run succeeded, with its files by name or its error message."""
        command = [self.binary, "simulate", *(part.format(examples=self.examples) for part in arguments)]
        command += ["--seed", "7", "-o", str(folder / output)]
        # ETENDUE_ISA is the default of --isa, which some cases set.
        environment = {name: value for name, value in os.environ.items() if name != "ETENDUE_ISA"}
        environment["RAYON_NUM_THREADS"] = str(threads)
        if self.isa:
            environment["ETENDUE_ISA"] = self.isa
        run = subprocess.run(command, capture_output=True, text=True, env=environment)
        if run.returncode != 0:
            return False, run.stderr.strip()
        return True, {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def csv_columns(data):
    """Columns of a CSV file as tuples of texts."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    return dict(zip(rows[0], zip(*rows[1:])))


def npz_columns(data):
    """Arrays of an NPZ file: type, shape and bytes."""
    columns = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            array = archive.read(name)
            # Magic number, version, length of the header in two bytes (version 1) or four, header, values.
            width = 2 if array[6] == 1 else 4
            start = 8 + width
            end = start + int.from_bytes(array[8:start], "little")
            header = ast.literal_eval(array[start:end].decode())
            columns[name.removesuffix(".npy")] = (header["descr"], header["shape"], array[end:])
    return columns


def compare_columns(old, new, renamed):
    """Names of the columns that differ, that only the new build writes, and that only the old one writes."""
    old = {renamed.get(name, name): values for name, values in old.items()}
    differing = [name for name in old if name in new and old[name] != new[name]]
    return differing, [name for name in new if name not in old], [name for name in old if name not in new]


def name_in_new(name, content, new):
    """Name of the new build's file with the rows of an old file: old tables with one row per beam have a column `beam`."""
    path = pathlib.Path(name)
    beams = f"beams{path.suffix}"
    if path.suffix not in (".csv", ".npz") or beams not in new:
        return name
    columns = csv_columns(content) if path.suffix == ".csv" else npz_columns(content)
    return beams if "beam" in columns else name


def compare_files(old, new, renamed):
    """Differences and remarks between the files of both builds."""
    differences, remarks, compared = [], [], 0
    old = {name_in_new(name, old[name], new): content for name, content in old.items()}
    for name in sorted(old.keys() | new.keys()):
        kind = pathlib.Path(name).suffix
        if name not in old or name not in new:
            remarks.append(f"{'+' if name in new else '-'}{name}")
        elif kind in (".csv", ".npz"):
            columns = csv_columns if kind == ".csv" else npz_columns
            before, after = columns(old[name]), columns(new[name])
            differing, added, removed = compare_columns(before, after, renamed)
            compared += len(before) - len(removed)
            differences += [f"{name}:{column}" for column in differing]
            remarks += [f"+{name}:{column}" for column in added] + [f"-{name}:{column}" for column in removed]
        elif kind not in NOT_DATA and old[name] != new[name]:
            remarks.append(f"~{name}")
    if compared == 0:
        differences.append("no common column")
    return differences, remarks, compared


def compare_case(builds, arguments, output, threads, renamed):
    """Outcome of one case ("same", "DIFFERS", "rejected" by both builds, or "added" by the new
    build) and its details."""
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for number, build in enumerate(builds):
            case_folder = pathlib.Path(folder) / str(number)
            case_folder.mkdir()
            results.append(build.simulate(arguments, output, threads, case_folder))
    (old_done, old), (new_done, new) = results
    if not old_done:
        if new_done:
            return "added", "the old build rejects this case"
        return "rejected", old.splitlines()[0]
    if not new_done:
        return "DIFFERS", f"the new build fails: {new}"
    differences, remarks, compared = compare_files(old, new, renamed)
    details = f"{compared} columns" + (f"; {' '.join(remarks)}" if remarks else "")
    return ("DIFFERS", f"{' '.join(differences)}; {details}") if differences else ("same", details)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the build before")
    parser.add_argument("new", help="the build after")
    parser.add_argument("--old-examples", default=EXAMPLES, help="folder of example scenes that the old build reads")
    parser.add_argument("--new-examples", default=EXAMPLES, help="folder of example scenes that the new build reads")
    parser.add_argument("--only", default="", metavar="TEXT", help="run the cases whose name contains this text")
    parser.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW", help="a column that was renamed")
    parser.add_argument("--new-isa", metavar="ISA", help="instruction set of the new build for cases without one")
    options = parser.parse_args()
    builds = [Build(options.old, options.old_examples), Build(options.new, options.new_examples, options.new_isa)]
    renamed = dict(pair.split("=") for pair in options.renamed)

    presets, new_presets = (build.presets() for build in builds)
    missing = sorted(set(presets) - set(new_presets))
    counts = {"same": 0, "DIFFERS": 0, "rejected": 0, "added": 0}
    if missing:
        print(f"DIFFERS  presets missing from the new build: {' '.join(missing)}")
        counts["DIFFERS"] += 1
    for name, arguments, output, threads in cases([preset for preset in presets if preset not in missing]):
        if options.only in name:
            outcome, details = compare_case(builds, arguments, output, threads, renamed)
            counts[outcome] += 1
            print(f"{outcome:8} {name}: {details}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    sys.exit(1 if counts["DIFFERS"] or not counts["same"] else 0)


if __name__ == "__main__":
    main()
