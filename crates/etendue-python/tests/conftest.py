"""Scenes and lidars of the tests, and the command line as a reference."""

import os
import pathlib

import pytest

import etendue as et

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def arena():
    return et.Scene.arena()


@pytest.fixture(scope="session")
def urg():
    return et.Lidar("hokuyo-urg-04lx")


@pytest.fixture(scope="session")
def vlp():
    """A VLP-16 with one ray per beam, which takes a seventh of the time."""
    return et.Lidar("velodyne-vlp-16").replace({"beam.elliptical.sub_ray_rings": 0})


@pytest.fixture(scope="session")
def command():
    """Path of the command line: ETENDUE_COMMAND, else the build of the dev profile."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = pathlib.Path(os.environ.get("ETENDUE_COMMAND", target / "debug" / "etendue"))
    assert path.is_file(), f"{path} is missing: build it with `cargo build -p etendue-cli`"
    return path
