"""Lidars: presets, files, values and changes."""

import numpy as np
import pytest

import etendue as et


@pytest.mark.parametrize("preset", et.presets())
def test_a_saved_preset_is_the_same_lidar(preset, tmp_path):
    lidar = et.Lidar(preset)
    path = tmp_path / f"{preset}.toml"
    lidar.save(path)
    again = et.Lidar(path)
    assert again.toml == lidar.toml and repr(again) == repr(lidar)
    assert et.Lidar(str(path)).name == lidar.name
    # Values that are set to what they are change nothing.
    keys = lidar.keys()
    same = lidar.replace({key: lidar[key] for key in keys})
    assert same.keys() == keys and [same[key] for key in keys] == [lidar[key] for key in keys]
    scene = et.Scene.arena()
    assert et.simulate(scene, same).points.tobytes() == et.simulate(scene, lidar).points.tobytes()


def test_values_have_units(urg):
    assert urg.wavelength == pytest.approx(1e-9 * urg["wavelength_nm"])
    assert urg.range_limits[1] == urg["range.far_m"]
    assert urg.channels == 1 and urg.columns == 682 and urg.receiver == "phase"
    assert urg.sweep_duration == pytest.approx(0.1, abs=0.01)
    assert urg.sources and urg.description


def test_a_change_has_its_effect_and_keeps_the_original(arena, urg):
    near = urg.replace({"range.far_m": 0.6})
    assert urg["range.far_m"] == 5.6
    whole, clipped = et.simulate(arena, urg, seed=1), et.simulate(arena, near, seed=1)
    assert 0 < len(clipped) < len(whole) and clipped.range.max() <= 0.6 < whole.range.max()
    assert not clipped.image("range")[1].all()


def test_changes_take_numpy_scalars_arrays_and_none(vlp, urg):
    assert vlp.replace({"range.far_m": np.float32(50)})["range.far_m"] == 50
    assert vlp.replace({"range.far_m": np.int64(50)}).range_limits[1] == 50
    assert vlp.replace(description="mine").description == "mine"
    assert vlp.replace({"description": None}).description == ""
    elevations = np.array(vlp["channels.elevations_deg"]) if "channels.elevations_deg" in vlp.keys() else None
    if elevations is not None:
        changed = vlp.replace({"channels.elevations_deg": elevations + 1.0})
        assert np.allclose(changed["channels.elevations_deg"], elevations + 1.0)


def test_comments_of_a_file_survive_a_change(urg):
    comments = urg.toml.count("#")
    assert comments > 0
    assert urg.replace({"range.far_m": 2.0}).toml.count("#") == comments
