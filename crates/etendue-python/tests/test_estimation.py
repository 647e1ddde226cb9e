"""Registration, mapping, comparison, correction, robots and cameras: results are those of the command line."""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pytest

import etendue as et

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def door():
    return et.Scene.load("glass-door")


@pytest.fixture(scope="module")
def drive(door):
    """Sweeps on a straight path, and their poses."""
    lidar = et.Lidar("velodyne-vlp-16")
    poses = np.tile(door.sensor_pose, (4, 1, 1))
    poses[:, 0, 3] += 0.05 * np.arange(4)
    return [et.simulate(door, lidar, pose, seed=1, sweep=k) for k, pose in enumerate(poses)], poses


def test_registration_finds_the_motion(drive, command, tmp_path):
    sweeps, poses = drive
    truth = np.linalg.inv(poses[0]) @ poses[2]
    for method in ["icp", "point-to-plane", "gicp", "ndt"]:
        found = et.register(sweeps[2], sweeps[0], method=method)
        # Measured at most 30 mm (ICP between points of other beams).
        assert np.abs(found.b_from_a - truth)[:3, 3].max() < 0.06, method
        assert found.method == method and found["pairs"] > 1000

    # Arrays and sweeps give the result of the command line.
    for number, sweep in [(0, sweeps[0]), (2, sweeps[2])]:
        sweep.save(tmp_path / f"{number}.npz")
    words = ["register", tmp_path / "2.npz", tmp_path / "0.npz", "--json"]
    reference = json.loads(subprocess.check_output([command, *words]))
    found = et.register(sweeps[2], sweeps[0])
    assert np.array_equal(found.b_from_a, reference["b_from_a_matrix"]) and found.rms == reference["rms"]
    of_points = et.register(sweeps[2].points, sweeps[0].points)
    assert np.abs(of_points.b_from_a - found.b_from_a).max() < 1e-3


def test_a_start_is_the_pose_of_a_in_b():
    rng = np.random.default_rng(1)
    cloud = rng.uniform(-1, 1, (3000, 3))
    angle = np.array([0.3, -0.2, 2.5])
    rotation = np.eye(3)
    for axis in (0, 1, 2):
        cos, sin = np.cos(angle[axis]), np.sin(angle[axis])
        turn = np.eye(3)
        i, k = [(1, 2), (2, 0), (0, 1)][axis]
        turn[[i, i, k, k], [i, k, i, k]] = cos, -sin, sin, cos
        rotation = turn @ rotation
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, (0.4, -0.3, 0.2)
    moved = cloud @ rotation.T + pose[:3, 3]
    found = et.register(cloud, moved, method="icp", start=pose, voxel=0)
    # The start is the solution: measured 2e-15.
    assert np.abs(found.b_from_a - pose).max() < 1e-9 and found.rms < 1e-9


def test_mapping_gives_poses_and_a_verdict(drive):
    sweeps, poses = drive
    found = et.slam(sweeps, poses=poses)
    assert found.poses.shape == (4, 4, 4) and found.points.shape[1] == 3 and len(found.points) > 100
    assert found.verdict in ("good", "doubtful", "failed") and len(found.quality) == 4
    truth = np.linalg.inv(poses[0]) @ poses
    estimate = np.linalg.inv(found.poses[0]) @ found.poses
    # Measured 4 mm.
    assert np.abs(estimate - truth)[:, :3, 3].max() < 0.05
    assert found.drift["ate_rms_m"] < 0.05


def test_comparison_of_sweeps(drive):
    sweeps, _ = drive
    same, other = et.compare(sweeps[0], sweeps[0]), et.compare(sweeps[0], sweeps[3])
    assert same.chamfer_m == 0.0 and same.f_score == 1.0
    assert other.chamfer_m > 0.0 and other.f_score < 1.0
    assert same.beams["range_m"]["root_mean_square"] == 0.0


def test_a_robot_runs(tmp_path):
    found = et.run(ROOT / "examples" / "cart.toml", duration=0.2, seed=1, output=tmp_path / "cart.mcap")
    assert (tmp_path / "cart.mcap").stat().st_size > 1000
    assert len(found) > 3


def test_a_bias_is_learnt_and_refused(door, tmp_path):
    folder, model = tmp_path / "drive", tmp_path / "model.toml"
    folder.mkdir()
    lidar = et.Lidar("velodyne-vlp-16")
    poses = np.tile(door.sensor_pose, (6, 1, 1))
    poses[:, 0, 3] += 0.3 * np.arange(6)
    for number, pose in enumerate(poses):
        et.simulate(door, lidar, pose, sweep=number).save(folder / f"{number:03}.pcd")
    np.savetxt(folder / "poses.txt", poses[:, :3].reshape(-1, 12), fmt="%.17g")
    found = et.correct.train(folder, output=model, pose_sd=(0.001, 0.01), iterations=5, viewpoint_variance=0.001)
    # Six scans of a room with glass do not determine a bias.
    assert model.is_file() and found.scans == 6 and len(found.weights) == 2
    assert not found.usable and found.reasons

    # Such a model is refused.
    scan, corrected = folder / "000.pcd", tmp_path / "corrected.pcd"
    with pytest.raises(et.EtendueError, match="force"):
        et.correct.apply(model, scan, corrected)
    forced = et.correct.apply(model, scan, corrected, force=True)
    assert forced.scans == 1 and corrected.is_file()


def test_pictures_have_depth_and_labels(arena):
    frame = et.render(arena, samples=2, seed=3)
    shape = frame["depth"].shape
    assert frame["picture"].shape[:2] == shape and frame["picture"].dtype == np.uint8
    assert frame["normal"].shape == (*shape, 3) and frame["flow"].shape == (*shape, 2)
    seen = frame["label"] >= 0
    assert seen.any() and set(np.unique(frame["label"])) <= {-1, 0, 1, 2}
    assert np.isfinite(frame["depth"][seen]).all() and (frame["range"] >= frame["depth"] - 1e-5)[seen].all()
    again = et.render(arena, samples=2, seed=3, threads=1)
    assert all(frame[name].tobytes() == again[name].tobytes() for name in frame)
    assert not np.array_equal(et.render(arena, samples=2, seed=4)["raw"], frame["raw"])


MOVING = """version = 1
[sensor]
preset = "velodyne-vlp-16"
position_m = [0, 0, 1]
motion.twist = { velocity_m_s = [1, 2, 0.5], angular_velocity_deg_s = [10, 5, 20] }
[[objects]]
name = "wall"
shape.plane = { size_m = [60, 60] }
position_m = [6, 0, 0]
rotation_deg = { pitch = -90 }
material = "white-paint"
[[objects]]
name = "cart"
shape.box = { size_m = [1, 1, 1] }
position_m = [4, 0, 1]
motion.twist = { velocity_m_s = [0, 1.5, 0] }
material = "wood"
"""


def test_the_flow_of_a_moving_camera_is_that_of_its_motion(tmp_path):
    path = tmp_path / "moving.toml"
    path.write_text(MOVING)
    scene, frame_time = et.Scene.load(path), 1 / 30

    def pose(time):
        """World from camera: the exponential of a constant twist, as a series."""
        x, y, z = np.radians([10, 5, 20]) * time
        twist = np.array([[0, -z, y, 1 * time], [z, 0, -x, 2 * time], [-y, x, 0, 0.5 * time], [0, 0, 0, 0]])
        powers = [np.eye(4)]
        for order in range(1, 12):
            powers.append(powers[-1] @ twist / order)
        return first @ np.sum(powers, axis=0)

    def pixel(time, point):
        x, y, z = (np.linalg.inv(pose(time)) @ [*point, 1])[:3]
        return np.array([319.5 - focal * y / x, 239.5 - focal * z / x])

    first, focal = scene.sensor_pose, 320 / np.tan(np.radians(35))
    times = np.linspace(50, 51, 201)
    along = et.Trajectory(times, np.stack([pose(time - 50) for time in times]))
    for given, index in ((None, 0), (along, 0), (None, 3), (along, 3)):
        frame, start = et.render(scene, "ideal", given, samples=1, index=index), index * frame_time
        labels = set()
        for row, column in ((10, 10), (240, 320), (400, 600)):
            depth, label = frame["depth"][row, column], frame["label"][row, column]
            labels.add(int(label))
            point = (pose(start) @ [*(depth * np.array([1, (319.5 - column) / focal, (239.5 - row) / focal])), 1])[:3]
            later = point + (np.array([0, 1.5, 0]) * frame_time if label == 1 else 0)
            # The exposure is 0.02 ms. Measured: 1.1e-5 px by the twist, and 1.5e-4 px along 201 poses.
            flow = pixel(start + frame_time, later) - pixel(start, point)
            assert np.abs(frame["flow"][row, column] - flow).max() < 5e-4
        assert labels == {0, 1}


def test_sweeps_are_drawn(arena, urg, vlp, tmp_path):
    for lidar, kinds in [(urg, [None, "top"]), (vlp, [None, "top", "range", "intensity"])]:
        sweep = et.simulate(arena, lidar)
        for kind in kinds:
            picture = sweep.plot(kind)
            picture.save(tmp_path / "a.png")
            assert (tmp_path / "a.png").read_bytes() == picture.png == picture._repr_png_()
            assert picture.png.startswith(b"\x89PNG") and len(picture.png) > 3000
        assert sweep._repr_png_() == sweep.plot().png
    with pytest.raises(et.UnknownNameError, match='did you mean "range"'):
        sweep.plot("rnge")


def test_pairs_may_be_nearer_than_the_cells_of_the_map(drive):
    sweeps, poses = drive
    found = et.slam(sweeps, within=0.2)
    assert found.verdict == "good" and len(found.poses) == len(poses)


def test_scans_without_a_point_give_an_empty_map():
    found = et.slam([np.full((100, 3), np.nan)] * 2)
    assert found.verdict == "failed" and found.points.shape == (0, 3)


def test_profiles_have_a_folder_by_default(monkeypatch):
    """That of the command line, which makes it; a folder that is given has to exist."""
    calls = []
    monkeypatch.setattr("etendue._estimation.call", lambda *words, **_: calls.append(words) or {})
    et.calibrate("setup.toml")
    et.calibrate("setup.toml", output="profiles")
    assert calls == [("calibrate", "setup.toml"), ("calibrate", "setup.toml", "--output=profiles")]


@pytest.mark.parametrize("seed", range(3))
def test_the_start_of_a_registration_is_the_pose(monkeypatch, seed):
    words = []
    monkeypatch.setattr("etendue._estimation.call", lambda *given, **_: words.extend(given) or {"b_from_a_matrix": np.eye(4)})
    # A pose of any yaw and roll whose x axis is vertical within rounding
    yaw = np.random.default_rng(seed).uniform(-3, 3)
    start = np.array([[0, -np.sin(yaw), np.cos(yaw), 1], [0, np.cos(yaw), np.sin(yaw), 2], [-1, 0, 0, 3], [0, 0, 0, 1]])
    et.register(CLOUD, CLOUD, start=start)
    (text,) = (word.removeprefix("--start=") for word in words if word.startswith("--start="))
    x, y, z, *angles = (float(number) for number in text.split(","))
    a, b, c = np.radians(angles)
    turns = [
        np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]),
        np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]]),
        np.array([[1, 0, 0], [0, np.cos(c), -np.sin(c)], [0, np.sin(c), np.cos(c)]]),
    ]
    assert np.abs(turns[0] @ turns[1] @ turns[2] - start[:3, :3]).max() < 1e-12 and (x, y, z) == (1, 2, 3)


CLOUD = np.random.default_rng(2).uniform(-1, 1, (50, 3))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: et.register(CLOUD[:, :2], CLOUD), ValueError, r"a: expected the shape \(n, 3\), got \(50, 2\)"),
        (lambda: et.register(CLOUD, "no-such.pcd"), et.FormatError, "no-such.pcd"),
        (lambda: et.register(CLOUD, CLOUD, method="icpp"), et.CommandError, "icp"),
        (lambda: et.register(CLOUD, CLOUD, start=np.eye(3)), ValueError, "start: expected the shape"),
        (lambda: et.register(CLOUD, CLOUD, start=np.eye(4) * np.nan), ValueError, "start: .*finite"),
        (lambda: et.register(CLOUD, CLOUD, start=np.diag([2.0, 2, 2, 1])), ValueError, "start: .*rotation"),
        (lambda: et.slam([CLOUD, CLOUD], within=-1.0), et.CommandError, "within"),
        (lambda: et.slam([CLOUD, CLOUD], prior_noise=(-1.0, 0.0)), et.CommandError, "prior-noise"),
        (lambda: et.register(CLOUD, CLOUD, cell=object()), TypeError, "cell: expected"),
        (lambda: et.register(object(), CLOUD), TypeError, "a: expected an array"),
        (lambda: et.compare(CLOUD * np.nan, CLOUD), et.CommandError, "no finite point"),
        (lambda: et.compare(CLOUD, CLOUD, tolerance=-1.0), et.CommandError, "tolerance"),
        (lambda: et.slam(5), TypeError, "scans: expected a path or a sequence"),
        (lambda: et.slam([]), et.EtendueError, "scans"),
        (lambda: et.slam([CLOUD], poses=np.eye(4)), ValueError, r"poses: expected the shape \(n, 4, 4\)"),
        (lambda: et.run("no-such.toml"), et.FormatError, "no-such.toml"),
        (lambda: et.run(5.0), et.EtendueError, "5.0"),
        (lambda: et.run(None), TypeError, "robot: expected"),
        (lambda: et.calibrate("no-such.toml"), et.FormatError, "no-such.toml"),
        (lambda: et.correct.train("no-such"), et.EtendueError, "no-such"),
        (lambda: et.correct.train([None]), TypeError, "sequences: expected"),
        (lambda: et.correct.train("no-such", colour="red"), et.EtendueError, "colour"),
        (lambda: et.correct.apply("no-such.toml", "a.pcd", "b.pcd"), et.EtendueError, "no-such.toml"),
    ],
)
def test_wrong_arguments_are_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_messages_name_arguments_and_no_temporary_files(tmp_path):
    empty, file = np.empty((0, 3)), tmp_path / "cloud.csv"
    file.write_text("x,y,z\n1,2,nan\n")
    calls = [
        (lambda: et.register(empty, CLOUD), r"\ba\b"),
        (lambda: et.register(CLOUD, empty), r"\bb\b"),
        (lambda: et.register(CLOUD, file), r"cloud\.csv"),
        (lambda: et.compare(CLOUD, np.full((3, 3), np.nan)), r"\bsimulated\b"),
        (lambda: et.slam([CLOUD] * 3, poses=np.stack([np.eye(4)] * 2)), r"\bposes\b"),
        (lambda: et.slam([CLOUD, CLOUD, empty]), r"scans\[2\]"),
        (lambda: et.slam([]), r"\bscans\b"),
    ]
    for call, name in calls:
        with pytest.raises(et.EtendueError, match=name) as error:
            call()
        own = str(error.value).replace(str(tmp_path), "")
        assert tempfile.gettempdir() not in own, own


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"camera": "ideall"}, et.UnknownNameError, 'did you mean "ideal"'),
        ({"light": "path"}, et.UnknownNameError, 'did you mean "paths"'),
        ({"samples": 0}, ValueError, "samples: expected 1 or more"),
        ({"pose": np.eye(3)}, ValueError, "pose: expected the shape"),
        ({"time": np.nan}, ValueError, "time"),
        ({"index": -1}, ValueError, "index: expected a whole number"),
        ({"pose": et.Trajectory([0, 0.01], np.stack([np.eye(4)] * 2))}, et.TrajectoryError, "0.01"),
        ({"camera": "no-such.toml"}, et.FormatError, "no-such.toml"),
        ({"camera": 5}, TypeError, "camera"),
    ],
)
def test_wrong_cameras_are_refused(arena, arguments, kind, text):
    with pytest.raises(kind, match=text):
        et.render(arena, **arguments)


def test_reports_are_mappings_with_attributes():
    found = et.register(CLOUD, CLOUD, method="icp", voxel=0)
    assert found["rms"] == found.rms and set(found) == set(dict(found)) and "rms" in dir(found)
    with pytest.raises(AttributeError, match="no result is named 'colour'"):
        found.colour
    assert repr(found).startswith("Report(")


def test_a_recorded_panel_gives_a_profile(tmp_path):
    data = pathlib.Path(os.environ.get("ETENDUE_DATA", ROOT.parent / "shared" / "data"))
    recording = data / "rplidar_apollosim" / "wood_data.txt"
    # Recordings are not part of the project; users of the package do not have them.
    if not recording.is_file():
        pytest.skip("the recording rplidar_apollosim is missing: set ETENDUE_DATA to the folder of the recordings")
    found = et.calibrate(recording=recording, material="wood", distance=0.389, width=1.25, bearing=180.0, output=tmp_path)
    (panel,) = found.materials
    assert panel["material"] == "wood" and panel["verdict"]["grade"] == "good" and panel["verdict"]["reasons"] == []
    assert (tmp_path / "wood.toml").is_file()
