#!/usr/bin/env python3
"""Ranges and false alarms of lidars by night and at noon, as the table in docs/sensors.md (Sunlight) states them.

    python3 scripts/sunlight.py                              # all presets of the table
    python3 scripts/sunlight.py ouster-os1-64 --sweeps 10    # one of them, with fewer sweeps

The range at which 50 % of the beams return is measured at a vertical panel of reflectance 0.1 at 0.9 to 1.4 times the range of `found`; false alarms at a
panel beyond the ranges that the sensor reports. At noon the sun is at 50 degrees behind the sensor. Beams within 10 degrees of the
horizontal and 3.5 of the vertical axis count. Needs NumPy and the package etendue.
"""

import argparse
import tempfile
from pathlib import Path

import etendue as et
import numpy as np

PRESETS = ["velodyne-vlp-16", "velodyne-vlp-32c", "ouster-os1-64", "hesai-pandar40p"]
SCENE = """version = 1
name = "panel"
description = "Vertical panel"
{light}
[materials.panel]
diffuse = {{ reflectance = {reflectance} }}
[[objects]]
name = "panel"
material = "panel"
shape.box = {{ size_m = [0.1, {width}, {height}] }}
position_m = [{centre}, 0.0, 0.0]
"""
NOON = "[lights.daylight]\nsun_azimuth_deg = 180\nsun_elevation_deg = 50"
POSE = np.eye(4)
# Half extents of the beams that count, and of the panel, degrees.
BEAMS = (10.0, 3.5)
PANEL = (11.0, 4.5)
FACTORS = np.arange(0.9, 1.401, 0.05)


def with_false_alarms(preset, folder):
    """The preset with false alarms."""
    text = et.Lidar(preset).toml
    table = "[receiver.pulsed]\n"
    assert table in text, preset
    path = folder / f"{preset}.toml"
    path.write_text(text.replace(table, table + "false_alarms = true\n"))
    return et.Lidar(path)


def panel(folder, light, reflectance, distance):
    """A scene with a panel at a distance, m."""
    width, height = (2 * distance * np.tan(np.radians(half)) for half in PANEL)
    path = folder / "panel.toml"
    centre = distance + 0.05
    path.write_text(
        SCENE.format(light=light, reflectance=reflectance, width=width, height=height, centre=centre)
    )
    return et.Scene.load(path)


def directions(lidar, folder):
    """Azimuth and elevation of every beam, from a panel nearby; which beams count."""
    near = panel(folder, "", 0.8, 3.0)
    azimuth, has_return = et.simulate(near, lidar, POSE, seed=0).image("azimuth")
    elevation, _ = et.simulate(near, lidar, POSE, seed=0).image("elevation")
    across, up = (np.radians(half) for half in BEAMS)
    counts = has_return & (np.abs(azimuth) < across) & (np.abs(elevation) < up)
    return azimuth, elevation, counts


def half_range(lidar, folder, light, sweeps):
    """Range at which 50 % of the beams return from a panel of reflectance 0.1, m, between the distances."""
    azimuth, elevation, counts = directions(lidar, folder)
    found = lidar["receiver.pulsed.found.range_m"] * np.sqrt(0.1 / lidar["receiver.pulsed.found.reflectance"])
    fractions = []
    for number, factor in enumerate(FACTORS):
        distance = factor * found
        scene = panel(folder, light, 0.1, distance)
        surface = distance / (np.cos(azimuth) * np.cos(elevation))
        returned = 0
        for sweep in range(sweeps):
            ranges, has_range = et.simulate(scene, lidar, POSE, seed=number, sweep=sweep).image("range")
            returned += np.sum(counts & has_range & (np.abs(ranges - surface) < 1.0))
        fractions.append(returned / (sweeps * np.sum(counts)))
    below = np.argmax(np.array(fractions) < 0.5)
    assert below > 0, fractions
    place = (fractions[below - 1] - 0.5) / (fractions[below - 1] - fractions[below])
    return found * (FACTORS[below - 1] + place * (FACTORS[below] - FACTORS[below - 1]))


def false_alarms(lidar, folder, light, reflectance, shots):
    """False alarms per 10,000 shots at a panel beyond the ranges that are reported, of at least that many shots."""
    _, _, counts = directions(lidar, folder)
    scene = panel(folder, light, reflectance, 2 * lidar.range_limits[1])
    sweeps = int(np.ceil(shots / np.sum(counts)))
    alarms = 0
    for sweep in range(sweeps):
        _, has_range = et.simulate(scene, lidar, POSE, seed=1, sweep=sweep).image("range")
        alarms += np.sum(counts & has_range)
    return 1e4 * alarms / (sweeps * np.sum(counts))


def main():
    """Prints one line per preset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", default=PRESETS)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--shots", type=int, default=300_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for preset in arguments.presets:
            lidar = with_false_alarms(preset, folder)
            night, noon = (half_range(lidar, folder, light, arguments.sweeps) for light in ("", NOON))
            cases = [("", 0.1), (NOON, 0.1), (NOON, 0.8)]
            alarms = [false_alarms(lidar, folder, *case, arguments.shots) for case in cases]
            cells = " | ".join(f"{rate:.1f}" for rate in alarms)
            print(f"| {preset} | {night:.1f} m, {noon:.1f} m | {cells} |", flush=True)


if __name__ == "__main__":
    main()
