"""Derivatives in PyTorch: its own checks, compilation, devices and types."""

import doctest

import numpy as np
import pytest

import etendue as et

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: its download of gigabytes is not part of the tests"
)

FACETS = "objects.room.facets.*.scattering"


@pytest.fixture(scope="module")
def few():
    """A lidar of few beams, which all return in the arena."""
    return et.Lidar("velodyne-vlp-16").replace({"range.near_m": 0.01, "pattern.spinning.period_us": None, "pattern.spinning.columns": 12})


@pytest.fixture(scope="module")
def pose(arena):
    return torch.tensor(arena.sensor_pose, dtype=torch.float64, requires_grad=True)


def test_a_simulation_is_the_prediction(arena, urg, pose):
    y, valid = et.torch.simulate(arena, urg, {"sensor.pose": pose})
    expected, mask = et.predict(arena, urg, {"sensor.pose": arena.sensor_pose})
    assert y.dtype == torch.float64 and valid.dtype == torch.bool and not valid.requires_grad
    assert np.array_equal(valid, mask)
    # The nearest rotation of the matrix is that of the scene up to rounding: measured 0.
    assert np.nanmax(np.abs(y.detach().numpy() - expected)) < 1e-9


def test_gradcheck(arena, few, pose):
    simulator = et.torch.Simulator(arena, few)

    def returned(*values):
        y, valid = simulator(dict(zip(["sensor.pose", FACETS, "sensor.beams.*.range_offset"], values, strict=True)))
        return y[valid]

    facets = torch.linspace(0.8, 1.2, 12, dtype=torch.float64, requires_grad=True)
    offsets = torch.zeros(few.beams, dtype=torch.float64, requires_grad=True)
    assert len(returned(pose, facets, offsets)) > 100
    assert torch.autograd.gradcheck(returned, (pose, facets, offsets), atol=1e-4, rtol=1e-4)


def test_opcheck(arena, few, pose):
    simulator = et.torch.Simulator(arena, few)
    facets = torch.ones(12, dtype=torch.float32, requires_grad=True)
    paths = f"sensor.pose\n{FACETS}"
    for dtype in (torch.float64, torch.float32):
        arguments = ([pose, facets], paths, simulator._name, few.beams, dtype)
        y = torch.ops.etendue.measurements(*arguments)
        assert y.dtype == dtype and not torch.isnan(y).any()
        torch.library.opcheck(torch.ops.etendue.measurements, arguments)
    arguments = ([pose.detach(), facets.detach()], paths, simulator._name, torch.ones_like(y))
    torch.library.opcheck(torch.ops.etendue.gradients, arguments)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_functions_equal_others(arena, few, backend):
    simulator = et.torch.Simulator(arena, few)

    def loss(facets):
        y, valid = simulator({FACETS: facets * facets})
        return torch.where(valid, y, 0).square().sum()

    def loss_of_simulate(facets):
        y, valid = et.torch.simulate(arena, few, {FACETS: facets * facets})
        return torch.where(valid, y, 0).square().sum()

    results = []
    for function in (
        loss,
        torch.compile(loss, backend=backend, fullgraph=True),
        torch.compile(loss_of_simulate, backend=backend),
    ):
        facets = torch.linspace(0.8, 1.2, 12, dtype=torch.float64, requires_grad=True)
        function(facets).backward()
        results.append(facets.grad)
    assert results[0].abs().max() > 1
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])


def test_a_compiled_function_follows_its_simulator(arena, few):
    """Another simulator, with another number of beams, is not confused with the first."""
    other = few.replace({"pattern.spinning.columns": 15})
    simulators = [et.torch.Simulator(arena, lidar) for lidar in (few, other)]
    compiled = torch.compile(lambda simulator, facets: simulator({FACETS: facets})[0], backend="eager")
    for simulator, lidar in zip(simulators, (few, other), strict=True):
        y = compiled(simulator, torch.ones(12))
        assert len(y) == lidar.beams
        assert torch.equal(y, simulator({FACETS: torch.ones(12)})[0])


def test_types_and_constants(arena, few, pose):
    single = torch.ones(12, requires_grad=True)
    y, valid = et.torch.simulate(arena, few, {FACETS: single, "sensor.pose": arena.sensor_pose})
    assert y.dtype == torch.float32
    y[valid].sum().backward()
    assert single.grad.dtype == torch.float32 and single.grad.abs().max() > 0
    y, _ = et.torch.simulate(arena, few, {FACETS: single, "sensor.pose": pose})
    assert y.dtype == torch.float64
    y, valid = et.torch.simulate(arena, few, {})
    assert np.array_equal(y, et.predict(arena, few)[0], equal_nan=True)


def test_a_step_along_the_gradient_moves_the_pose_towards_the_truth(arena, urg):
    """Gradient by the matrix of a pose, through an exponential of its twist."""
    measured, _ = et.torch.simulate(arena, urg, {})
    start = torch.tensor(arena.sensor_pose)
    twist = torch.tensor([0.02, -0.01, 0.03], dtype=torch.float64, requires_grad=True)

    def ranges(twist):
        x, y, turn = twist
        zero = torch.zeros_like(x)
        rows = [torch.stack(row) for row in ([zero, -turn, zero, x], [turn, zero, zero, y], [zero] * 4, [zero] * 4)]
        return et.torch.simulate(arena, urg, {"sensor.pose": start @ torch.matrix_exp(torch.stack(rows))})

    optimiser = torch.optim.LBFGS([twist], max_iter=30, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        y, valid = ranges(twist)
        residual = torch.where(valid & ~torch.isnan(measured), y - measured, 0)[:, 0]
        loss = torch.nn.functional.huber_loss(residual, torch.zeros_like(residual), delta=0.02, reduction="sum")
        loss.backward()
        return loss

    optimiser.step(closure)
    # Measured 5e-7 m and rad.
    assert twist.abs().max() < 1e-4


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (torch.ones(12, device="meta"), ValueError, r'parameters\["objects.room.facets.*"\]: expected a tensor on the CPU'),
        (torch.ones(12, dtype=torch.float16), TypeError, r'parameters\["objects.room.*float16'),
        (torch.ones(12, dtype=torch.int64), TypeError, "expected float32 or float64"),
        (torch.ones(5), ValueError, r"expected the shape \(12,\), got \(5,\)"),
        (torch.full((12,), torch.nan), ValueError, "finite"),
    ],
)
def test_wrong_tensors_are_refused(arena, few, value, kind, text):
    with pytest.raises(kind, match=text):
        et.torch.simulate(arena, few, {FACETS: value})
    mixed = {"sensor.beams.*.range_offset": torch.zeros(few.beams), FACETS: value}
    with pytest.raises(kind, match=text):
        et.torch.simulate(arena, few, mixed)


def test_other_wrong_arguments_are_refused(arena, few):
    with pytest.raises(et.UnknownNameError, match='did you mean "sensor.pose"'):
        et.torch.simulate(arena, few, {"sensor.pos": torch.ones(2)})
    with pytest.raises(TypeError, match="parameters: expected a dict"):
        et.torch.simulate(arena, few, [torch.ones(12)])
    with pytest.raises(ValueError, match="have to be a rotation"):
        et.torch.simulate(arena, few, {"sensor.pose": torch.diag(torch.tensor([1.0, 1, -1, 1]))})


def test_examples_run():
    assert doctest.testmod(et.torch).attempted > 10
    assert doctest.testmod(et.torch).failed == 0
