#!/usr/bin/env python3
"""Ranges and false alarms of lidars by night and at noon, as the table in docs/sensors.md (Sunlight) states them.

    python3 scripts/sunlight.py                              # all presets of the table
    python3 scripts/sunlight.py ouster-os1-64 --sweeps 10    # one of them, with fewer sweeps

A vertical panel faces the sensor at 0.6 to 1.6 times the range of `found`, scaled by the root of the reflectance; at noon the sun is
at 50 degrees behind the sensor. Beams within 10 degrees of the horizontal and 3.5 of the vertical axis count. Needs NumPy and the package etendue.
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
# Half extents of the beams that count, and of the panel, degrees.
BEAMS = (10.0, 3.5)
PANEL = (11.0, 4.5)
FACTORS = np.arange(0.6, 1.601, 0.05)


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


POSE = np.eye(4)


def measure(lidar, folder, light, reflectance, found, sweeps):
    """Fraction of the beams that return from the panel at each distance, and false alarms per 10,000 shots."""
    azimuth, elevation, counts = directions(lidar, folder)
    fractions, alarms, shots = [], 0, 0
    for number, factor in enumerate(FACTORS):
        distance = factor * found
        scene = panel(folder, light, reflectance, distance)
        surface = distance / (np.cos(azimuth) * np.cos(elevation))
        returned = 0
        for sweep in range(sweeps):
            found_range, has_range = et.simulate(scene, lidar, POSE, seed=number, sweep=sweep).image("range")
            is_right = np.abs(found_range - surface) < 1.0
            returned += np.sum(counts & has_range & is_right)
            alarms += np.sum(counts & has_range & ~is_right)
        of_all = sweeps * np.sum(counts)
        fractions.append(returned / of_all)
        shots += of_all
    return np.array(fractions), 1e4 * alarms / shots, shots


def half_range(fractions, found):
    """Range at which half of the beams return, m, between the distances."""
    below = np.argmax(fractions < 0.5)
    place = (fractions[below - 1] - 0.5) / (fractions[below - 1] - fractions[below])
    return found * (FACTORS[below - 1] + place * (FACTORS[below] - FACTORS[below - 1]))


def main():
    """Prints one line per preset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", default=PRESETS)
    parser.add_argument("--sweeps", type=int, default=30)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for preset in arguments.presets:
            lidar = with_false_alarms(preset, folder)
            range_m = lidar["receiver.pulsed.found.range_m"]
            base = lidar["receiver.pulsed.found.reflectance"]
            cells = []
            for light, reflectance in [("", 0.1), (NOON, 0.1), (NOON, 0.8)]:
                found = range_m * np.sqrt(reflectance / base)
                fractions, alarms, shots = measure(lidar, folder, light, reflectance, found, arguments.sweeps)
                half = half_range(fractions, found)
                cells.append(f"{half:.1f} m, {alarms:.1f} false alarms per 10,000 of {shots} shots")
            print(f"{preset}: night {cells[0]}; noon 0.1 {cells[1]}; noon 0.8 {cells[2]}", flush=True)


if __name__ == "__main__":
    main()
