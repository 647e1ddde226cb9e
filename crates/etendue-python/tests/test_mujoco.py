"""Lidars in MuJoCo models, compared with MuJoCo's rays; and their Gymnasium observations."""

import copy
import pickle

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import etendue as et
import etendue.gymnasium
import etendue.mujoco

# Vertices and faces of a tilted prism without symmetries.
PRISM = "0.3 0 0  0 0.4 0  -0.2 -0.1 0  0.3 0 0.5  0 0.4 0.6  -0.2 -0.1 0.4"
HEIGHTS = "0 0.1 0 0 0.2  0 0.9 0.2 0.3 0  0 0.1 0.7 0.2 0  0 0.1 0.2 1.0 0"

MODEL = f"""
<mujoco>
  <asset>
    <mesh name="prism" vertex="{PRISM}"/>
    <hfield name="hills" nrow="4" ncol="5" size="2 1.5 0.5 0.2" elevation="{HEIGHTS}"/>
    <material name="steel" rgba="1 1 1 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" euler="2 3 0"/>
    <geom name="stage" type="plane" size="1.5 0.5 1" pos="-3 0 0.4"/>
    <geom name="hills" type="hfield" hfield="hills" pos="0 5 0.3" euler="0 0 20"/>
    <geom name="hidden" type="box" size="9 9 9" group="3"/>
    <geom name="clear" type="box" size="0.3 0.3 0.3" pos="1 0 1" rgba="1 1 1 0"/>
    <body name="arm" pos="2 0.5 1" euler="10 20 30">
      <freejoint/>
      <geom name="box" type="box" size="0.3 0.4 0.5" material="steel"/>
      <geom name="prism" type="mesh" mesh="prism" pos="0 1.5 0" euler="30 0 10"/>
    </body>
    <body name="post" pos="0 -2.5 0.5" mocap="true"><geom name="post" type="box" size="0.2 0.2 0.9"/></body>
    <body name="round" pos="-2.5 2 1" euler="20 30 0">
      <freejoint/>
      <geom name="sphere" type="sphere" size="0.4"/>
      <geom name="capsule" type="capsule" size="0.25 0.5" pos="0 1.3 0"/>
      <geom name="cylinder" type="cylinder" size="0.4 0.3" pos="0 -1.3 0"/>
      <geom name="ellipsoid" type="ellipsoid" size="0.5 0.3 0.2" pos="0 0 1.2"/>
    </body>
    <body name="robot" pos="0 0 1"><freejoint/>
      <geom name="shell" type="box" size="0.1 0.1 0.1"/>
      <site name="lidar" pos="0.02 0.01 0.3" euler="1 2 40"/>
    </body>
  </worldbody>
</mujoco>"""

# Geoms whose meshes are exact, and those that are approximated.
FLAT = ["floor", "stage", "hills", "box", "prism", "post"]
ROUND = ["sphere", "capsule", "cylinder", "ellipsoid"]
GROUPS = [0, 1, 2]


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(MODEL)


def states(model, count=4):
    """Random states, with moved bodies and sensor."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        data = mujoco.MjData(model)
        data.qpos[:] = model.qpos0
        for joint in range(model.njnt):
            start = model.jnt_qposadr[joint]
            data.qpos[start : start + 3] += rng.uniform(-0.2, 0.2, 3)
            turn = rng.normal([1, 0, 0, 0], 0.2)
            data.qpos[start + 3 : start + 7] = turn / np.linalg.norm(turn)
        data.mocap_pos[0] += rng.uniform(-0.3, 0.3, 3)
        mujoco.mj_kinematics(model, data)
        yield data


def multi_ray(model, data, site, directions):
    """Distance, geom and normal of each ray by MuJoCo."""
    count = len(directions)
    geoms, distances, normals = np.zeros(count, np.int32), np.zeros(count), np.zeros(3 * count)
    site = model.site(site).id
    groups = np.array([g in GROUPS for g in range(6)], dtype=np.uint8)
    mujoco.mj_multiRay(
        model, data, data.site_xpos[site], directions.ravel(), groups, True, int(model.site_bodyid[site]), geoms, distances,
        normals, count, 1e10,
    )
    return distances, geoms, normals.reshape(-1, 3)


def random_directions(count, seed=1):
    directions = np.random.default_rng(seed).normal(size=(count, 3))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def numbers(model, names):
    return [model.geom(name).id for name in names]


def test_distances_on_flat_geoms_are_those_of_mujoco(model):
    lidar = etendue.mujoco.Lidar(model, "lidar", "velodyne-vlp-16", groups=GROUPS)
    directions = random_directions(20000)
    flat, seen, worst = numbers(model, FLAT), set(), 0.0
    for data in states(model):
        own, geoms = lidar.raycast(data, directions)
        distances, expected, _ = multi_ray(model, data, "lidar", directions)
        both = (geoms == expected) & np.isin(expected, flat)
        # Rays that hit the same geom agree; others pass the outlines of round geoms, or end beyond the plane's square.
        assert both.sum() > 5000
        worst = max(worst, np.abs(own - distances)[both].max())
        seen |= set(expected[both].tolist())
        differing = (geoms != expected) & ~np.isin(geoms, numbers(model, ROUND)) & ~np.isin(expected, numbers(model, ROUND))
        near = np.where(expected >= 0, distances, np.inf) < 100.0
        assert (differing & near).sum() == 0
    assert seen == set(flat)
    # Measured 9e-13 m.
    assert worst < 1e-6


def outside(points, kind, size):
    """Distance of points in the frame of a round geom from its surface, m, negative inside; of an ellipsoid to first order."""
    x, y, z = points.T
    if kind == "sphere":
        return np.linalg.norm(points, axis=1) - size[0]
    if kind == "capsule":
        return np.sqrt(x**2 + y**2 + np.maximum(np.abs(z) - size[1], 0) ** 2) - size[0]
    if kind == "cylinder":
        return np.maximum(np.hypot(x, y) - size[0], np.abs(z) - size[1])
    scaled = np.linalg.norm(points / size, axis=1)
    return scaled * (scaled - 1) / np.linalg.norm(points / size**2, axis=1)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3])
def test_round_geoms_are_within_the_tolerance(model, tolerance):
    lidar = etendue.mujoco.Lidar(model, "lidar", "velodyne-vlp-16", groups=GROUPS, tolerance=tolerance)
    directions = random_directions(20000, seed=2)
    depth, worst, missed, rays = dict.fromkeys(ROUND, 0.0), 0.0, 0, 0
    for data in states(model):
        own, geoms = lidar.raycast(data, directions)
        distances, expected, normals = multi_ray(model, data, "lidar", directions)

        # Every hit is inside the surface by at most the tolerance.
        hits = data.site_xpos[0] + own[:, None] * directions
        for name, geom in zip(ROUND, numbers(model, ROUND)):
            local = (hits[geoms == geom] - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
            error = outside(local, name, model.geom_size[geom])
            assert len(error) > 20 and error.max() < 1e-9
            depth[name] = max(depth[name], -error.min())

        # Ranges are longer than MuJoCo's by about that over the cosine of the incidence.
        on_round = np.isin(expected, numbers(model, ROUND))
        both = (geoms == expected) & on_round
        cosine = np.abs((normals * directions).sum(axis=1))
        steep = both & (cosine > 0.5)
        error = (own - distances)[steep]
        assert error.min() > -1e-6
        worst = max(worst, (error * cosine[steep]).max())
        missed, rays = missed + (on_round & ~both).sum(), rays + on_round.sum()
    # Measured 0.76 to 0.97 of the tolerance.
    assert all(0.3 * tolerance < one <= tolerance for one in depth.values()), depth
    # Measured 1.56 of 10 mm, where the second order counts, and 0.97 of 1 mm.
    assert worst < (1.7 if tolerance > 5e-3 else 1.05) * tolerance, worst / tolerance
    # Rays between the outline and the mesh: measured 2.0 % and 0.
    assert missed / rays < 4.0 * tolerance, missed / rays


def test_sweeps_follow_the_state(model):
    lidar = etendue.mujoco.Lidar(model, "lidar", "velodyne-vlp-16", groups=GROUPS, materials={"steel": "brick", "post": "wood"})
    assert {"brick", "wood", "white-paint"} == set(lidar.scene.materials)
    assert "hidden" not in lidar.scene.objects and "clear" not in lidar.scene.objects and "shell" not in lidar.scene.objects
    moving = dict(lidar._moving)
    assert {"box", "prism", "post", *ROUND} == set(moving) and "geoms=10, moving=7" in repr(lidar)
    all_states = list(states(model))
    for number, data in enumerate(all_states):
        sweep = lidar.simulate(data, seed=3, sweep=number, truth=True)
        truth, valid = sweep.image("true_range")
        azimuth, elevation = sweep.image("azimuth")[0][valid], sweep.image("elevation")[0][valid]
        local = np.stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], axis=1)
        directions = local @ lidar.pose(data)[:3, :3].T
        distances, _, _ = multi_ray(model, data, "lidar", directions)
        hit = (distances > 0) & (distances < 30)
        # The exits of the beams of a VLP-16 are off the centre of the sensor.
        assert hit.sum() > 5000 and np.median(np.abs(truth[valid] - distances)[hit]) < 0.05

    # A batch has the same sweeps.
    ranges, _, valid, labels = lidar.simulate_batch(all_states, seed=3, labels=True, time=0.0)
    for number, data in enumerate(all_states):
        sweep = lidar.simulate(data, seed=3, sweep=number, time=0.0)
        assert ranges[number].tobytes() == sweep.image("range")[0].tobytes()
    assert set(np.unique(labels)) > {0, 1}


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"site": "lidr"}, ValueError, "site: no site is named 'lidr'"),
        ({"site": 5}, ValueError, "site: expected a number from 0 to 0, got 5"),
        ({"site": 1.5}, TypeError, "site: expected the name or the number"),
        ({"sensor": "velodyne"}, et.UnknownNameError, "velodyne"),
        ({"sensor": 3}, TypeError, "sensor: expected a Lidar, got int"),
        ({"model": MODEL}, TypeError, "model: expected a mujoco.MjModel, got str"),
        ({"groups": [5]}, ValueError, "no geom is seen"),
        ({"groups": 3}, TypeError, "groups: expected a sequence, got int"),
        ({"groups": ["a"]}, TypeError, "groups: expected whole numbers"),
        ({"materials": {"stel": "wood"}}, ValueError, "materials: no geom and no material.*'stel'\nhelp: did you mean 'steel'"),
        ({"exclude": "nobody"}, ValueError, "exclude: no body is named 'nobody'"),
        ({"default": "wod"}, et.UnknownNameError, 'did you mean "wood"'),
        ({"tolerance": 0.0}, ValueError, "tolerance: expected a length above 0"),
    ],
)
def test_wrong_lidars_are_refused(model, arguments, kind, text):
    with pytest.raises(kind, match=text):
        etendue.mujoco.Lidar(**{"model": model, "site": "lidar", "sensor": "velodyne-vlp-16", **arguments})


TRANSPARENT = """
<mujoco>
  <asset><material name="opaque" rgba="1 0 0 1"/><material name="clear" rgba="1 0 0 0"/></asset>
  <worldbody>
    <geom name="own alpha" type="box" size="0.1 1 1" pos="2 0 0" rgba="1 1 1 0"/>
    <geom name="of its material" type="box" size="0.1 1 1" pos="3 0 0" material="clear" rgba="1 1 1 1"/>
    <geom name="hit" type="box" size="0.1 1 1" pos="4 0 0" material="opaque" rgba="1 1 1 0"/>
    <body><site name="lidar"/></body>
  </worldbody>
</mujoco>"""


def test_geoms_are_transparent_to_the_lidar_where_they_are_to_the_rays_of_mujoco():
    model = mujoco.MjModel.from_xml_string(TRANSPARENT)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lidar = etendue.mujoco.Lidar(model, "lidar", "velodyne-vlp-16")
    assert lidar.scene.objects == ["hit"]
    distances, geoms, _ = multi_ray(model, data, "lidar", np.array([[1.0, 0.0, 0.0]]))
    own = lidar.raycast(data, [[1.0, 0.0, 0.0]])
    assert distances[0] == own[0][0] == 3.9 and geoms[0] == own[1][0] == 2


def test_data_without_poses_or_of_another_model_are_refused(model):
    lidar = etendue.mujoco.Lidar(model, "lidar", "hokuyo-urg-04lx")
    other = mujoco.MjModel.from_xml_string(TRANSPARENT)
    for data, kind, text in [
        (mujoco.MjData(model), ValueError, "no poses yet\nhelp: call mujoco.mj_forward"),
        (mujoco.MjData(other), ValueError, "not of the model of this lidar"),
        (model, TypeError, "data: expected a mujoco.MjData, got MjModel"),
    ]:
        for call in (lidar.simulate, lambda data: lidar.simulate_batch([data]), lambda data: lidar.raycast(data, [[1, 0, 0]])):
            with pytest.raises(kind, match=text):
                call(data)
    with pytest.raises(TypeError, match="states: expected a sequence, got MjData"):
        lidar.simulate_batch(mujoco.MjData(model))


def test_lidars_are_copied_and_pickled(model):
    lidar = etendue.mujoco.Lidar(model, "lidar", "hokuyo-urg-04lx", materials={"floor": "asphalt"})
    data = next(states(model))
    expected = lidar.simulate(data, seed=3).range
    for copied in (copy.copy(lidar), copy.deepcopy(lidar), pickle.loads(pickle.dumps(lidar))):
        assert copied.simulate(data, seed=3).range.tobytes() == expected.tobytes()


class Cart(gymnasium.Env):
    """A cart that drives between two walls."""

    XML = """
    <mujoco><worldbody>
      <geom type="box" size="0.1 2 1" pos="3 0 0"/><geom type="box" size="0.1 2 1" pos="-3 0 0"/>
      <body><joint type="slide" axis="1 0 0"/><geom size="0.1"/><site name="lidar"/></body>
    </worldbody><actuator><motor joint="0"/></actuator></mujoco>"""

    def __init__(self):
        self.model = mujoco.MjModel.from_xml_string(self.XML.replace('<joint type', '<joint name="0" type'))
        self.data = mujoco.MjData(self.model)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[0] = self.np_random.uniform(-0.5, 0.5)
        mujoco.mj_forward(self.model, self.data)
        return self.observation(), {}

    def step(self, action):
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, 10)
        return self.observation(), 0.0, False, False, {}

    def observation(self):
        return np.concatenate([self.data.qpos, self.data.qvel])


def test_observations_of_a_lidar_pass_the_check_of_gymnasium():
    env = Cart()
    lidar = etendue.mujoco.Lidar(env.model, "lidar", "hokuyo-urg-04lx")
    wrapped = etendue.gymnasium.LidarObservation(env, lidar, intensity=True)
    check_env(wrapped, skip_render_check=True)

    # Noise differs from step to step, and is that of the seed.
    def episode(seed):
        first = wrapped.reset(seed=seed)[0]
        return [first, *(wrapped.step(np.zeros(1, np.float32))[0] for _ in range(2))]

    one, same, other = episode(1), episode(1), episode(2)
    assert all(np.array_equal(a["range"], b["range"]) for a, b in zip(one, same))
    assert not np.array_equal(one[0]["range"], one[1]["range"])
    assert not np.array_equal(one[0]["range"], other[0]["range"])
    seen = one[0]["valid"].astype(bool)
    assert seen.any() and not seen.all() and (one[0]["range"][~seen] == np.float32(5.6)).all()
    # The front beam is as long as the way to the wall: measured 5 mm.
    assert abs(one[0]["range"][0, 341] - (2.9 - one[0]["observation"][0])) < 0.05
    with pytest.raises(TypeError, match="lidar: expected"):
        etendue.gymnasium.LidarObservation(env, "lidar")
    for name in ("seed", "sweep", "dtype", "labels", "out", "bodies"):
        with pytest.raises(TypeError, match=f"{name}: the wrapper sets it"):
            etendue.gymnasium.LidarObservation(env, lidar, **{name: 1})


def test_every_episode_of_an_environment_has_other_random_numbers():
    env = Cart()
    lidar = etendue.mujoco.Lidar(env.model, "lidar", "hokuyo-urg-04lx")
    reflectance = "materials.white-paint.reflectance"
    wrapped = etendue.gymnasium.LidarObservation(
        env, lidar, randomise={reflectance: (0.4, 0.9)}, values={"sensor.range.far_m": 5.0}
    )
    drawn = et.draw({reflectance: (0.4, 0.9)}, 3, seed=7)[reflectance]
    for sweep in range(9):
        # Every third step begins an episode; the seed is given once.
        if sweep % 3 == 0:
            image = wrapped.reset(seed=7 if sweep == 0 else None)[0]
        else:
            image = wrapped.step(np.zeros(1, np.float32))[0]
        for episode in range(3):
            values = {reflectance: drawn[[episode]], "sensor.range.far_m": [5.0]}
            ranges, _, valid = lidar.simulate_batch([env.data], seed=7, sweep=sweep, dtype="float32", values=values)
            is_equal = np.array_equal(image["range"], np.where(valid[0], ranges[0], np.float32(5.6)))
            assert valid.any() and is_equal == (episode == sweep // 3)
    with pytest.raises(ValueError, match="the least number"):
        etendue.gymnasium.LidarObservation(env, lidar, randomise={"sensor.range.far_m": (5, 4)})


def test_environments_without_a_seed_have_different_noise():
    def noise():
        env = Cart()
        wrapped = etendue.gymnasium.LidarObservation(env, etendue.mujoco.Lidar(env.model, "lidar", "hokuyo-urg-04lx"))
        image = wrapped.reset(options={})[0]
        truth = wrapped.lidar.raycast(env.data, [[1.0, 0.0, 0.0]])[0][0]
        return image["range"][0, 341] - truth

    # Ranges are whole millimetres: twenty equal ones would need equal noise.
    assert len({round(float(noise()), 3) for _ in range(20)}) > 3


def test_lidars_of_processes_are_those_that_the_factories_hold():
    sensor = et.Lidar("hokuyo-urg-04lx")

    def make():
        env = Cart()
        return etendue.gymnasium.LidarObservation(env, etendue.mujoco.Lidar(env.model, "lidar", sensor))

    one = gymnasium.vector.SyncVectorEnv([make, make])
    several = gymnasium.vector.AsyncVectorEnv([make, make], context="spawn")
    try:
        expected, found = one.reset(seed=5)[0], several.reset(seed=5)[0]
        assert all(np.array_equal(expected[name], found[name]) for name in expected)
    finally:
        several.close()


URDF = """
<robot name="arm">
  <link name="base"><collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision></link>
  <link name="mast">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.6 1"/></geometry></collision>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="mast"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/>
  </joint>
</robot>"""


def test_a_urdf_file_is_a_scene_at_the_positions_of_its_joints(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    ray = [3.0, 0.0, 0.6, -1.0, 0.0, 0.0]
    # The mast is 0.2 m thick along x; turned by a right angle, 0.6 m.
    for qpos, expected in [(None, 2.9), ([np.pi / 2], 2.7)]:
        scene = etendue.mujoco.load_scene(path, qpos=qpos)
        assert len(scene.objects) == 2
        assert scene.raycast(ray)["t_hit"] == pytest.approx(expected, abs=1e-6)
    lidar = et.Lidar("hokuyo-urg-04lx")
    sweep = et.simulate(etendue.mujoco.load_scene(path), lidar, pose=((1.5, 0, 0.6), (1, 0, 0, 0)), seed=1)
    assert len(sweep.points) == 0
    sweep = et.simulate(etendue.mujoco.load_scene(path), lidar, pose=((-1.5, 0, 0.6), (1, 0, 0, 0)), seed=1)
    assert len(sweep.points) > 50


def test_a_loaded_scene_is_that_of_the_rays_of_mujoco(model):
    """Rays at flat geoms have the distances of MuJoCo."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    scene = etendue.mujoco.load_scene(model, groups=GROUPS, reach=50.0)
    directions = np.random.default_rng(3).normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origin = np.array([0.0, 0.0, 2.5])
    hits = scene.raycast(np.hstack([np.broadcast_to(origin, directions.shape), directions]))
    names = [*scene.objects, "none"]
    numbers = np.where(hits["geometry_ids"] == et.Scene.INVALID_ID, len(scene.objects), hits["geometry_ids"])
    differences = []
    for direction, distance, number in zip(directions, hits["t_hit"], numbers):
        geom = np.zeros(1, dtype=np.int32)
        group = np.array([1, 1, 1, 0, 0, 0], dtype=np.uint8)
        expected = mujoco.mj_ray(model, data, origin, direction, group, 1, -1, geom)
        if geom[0] >= 0 and model.geom(geom[0]).name in FLAT and names[number] in FLAT:
            assert model.geom(geom[0]).name == names[number]
            differences.append(abs(distance - expected))
    assert len(differences) > 1000
    assert max(differences) < 1e-6


def test_models_that_are_no_scene_are_refused(tmp_path, model):
    with pytest.raises(TypeError, match="model: expected a mujoco.MjModel"):
        etendue.mujoco.load_scene(7)
    with pytest.raises(ValueError, match="qpos: expected"):
        etendue.mujoco.load_scene(model, qpos=[1.0])
    with pytest.raises(ValueError, match="reach: expected a length above 0"):
        etendue.mujoco.load_scene(model, reach=-1.0)
    with pytest.raises(ValueError, match="no geom"):
        etendue.mujoco.load_scene(model, groups=[5])
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot")
    with pytest.raises(ValueError):
        etendue.mujoco.load_scene(broken)
