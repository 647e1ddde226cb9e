#!/usr/bin/env python3
"""Writes the tables of docs/validation/presets.md: presets_beside_recordings.py [ETENDUE]

Runs `etendue calibrate noise RECORDING --sensor PRESET --json` for each recording of a standing sensor in ETENDUE_DATA.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("ETENDUE_DATA", ROOT / "../shared/data"))
PAGE = ROOT / "docs/validation/presets.md"
MARKS = ["<!-- begin tables -->", "<!-- end tables -->"]

# Preset, recording, and whether it set numbers of the preset or checks them.
RECORDINGS = [
    ("velodyne-vlp-16", "mrpt_velodyne_pcap/sample_velodyne_vlp16_gps.pcap", "sets"),
    ("velodyne-vlp-16", "nebula_lidar_packets/vlp16/1673400471837873222", "checks"),
    ("velodyne-vlp-32c", "nebula_lidar_packets/vlp32/1713492677464078412", "sets"),
    ("hesai-pandar40p", "nebula_lidar_packets/40p/1673400149412331409", "sets"),
    ("hesai-xt32", "nebula_lidar_packets/xt32/1673400677802009732", "sets"),
    ("hesai-xt16", "nebula_lidar_packets/xt16/1732848127890747768", "sets"),
    ("hokuyo-urg-04lx", "urg04lx_tinyslam/exp2.dat", "sets"),
    ("hokuyo-urg-04lx", "urg04lx_tinyslam/exp1.dat", "sets"),
    ("sick-lms-291", "radish_2d_slam/mit-csail.clf.bz2", "sets"),
    ("sick-lms-291", "radish_2d_slam/fr079.clf.bz2", "checks"),
]


def pair(recorded, simulated, key):
    """Recorded number with its standard error, and the simulated one."""

    def text(number, error):
        if number is None:
            return "-"
        return f"{number['value']:.1f}" + (f" ± {number['standard_error']:.1f}" if error else "")

    return f"{text(recorded[key], True)} / {text(simulated[key], False)}"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "etendue"
    parts, spreads = [], []
    for preset, name, role in RECORDINGS:
        path = DATA / name
        if not path.exists():
            parts.append(f"| {preset} | {name} | not at hand |" + " |" * 7)
            continue
        sensor = ROOT / f"crates/etendue-config/sensors/{preset}.toml"
        command = [program, "calibrate", "noise", path, "--sensor", sensor, "--json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        recorded, compared = report["recorded"], report["simulated"]
        simulated, differences = compared["parts"], compared["second_differences"]
        keys = ["independent_mm", "neighbour_mm", "scan_mm", "channel_mm", "beam_mm"]
        numbers = [pair(recorded, simulated, key) for key in keys]
        correlation = pair(recorded, simulated, "neighbour_correlation")
        parts.append(
            f"| {preset} | {name} | {role} | {recorded['scans']} | "
            + " | ".join([*numbers[:2], correlation, *numbers[2:]])
            + f" | {differences['recorded_sd_mm']:.1f} / {differences['simulated_sd_mm']:.1f}, "
            f"p {differences['kolmogorov_smirnov_p']:.3f} ({differences['recorded']}) |"
        )
        bands = [
            f"{band['from_m']:g}-{band['to_m']:g} m: {band['recorded_mm']:.1f} / {band['simulated_mm']:.1f} "
            f"({band['directions']})"
            for band in compared["spread"]
        ]
        spreads.append(f"| {preset} | {name} | {'; '.join(bands)} |")
    tables = [
        "| preset | recording | it | scans | independent, mm | of neighbours, mm | their correlation | of a scan, mm | "
        "of channels, mm | of beams, mm | second differences, mm |",
        "|---" * 11 + "|",
        *parts,
        "",
        "| preset | recording | spread by range, mm (directions) |",
        "|---|---|---|",
        *spreads,
    ]
    page = PAGE.read_text()
    before, rest = page.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(before + "\n".join([MARKS[0], "", *tables, "", MARKS[1]]) + after)


if __name__ == "__main__":
    main()
