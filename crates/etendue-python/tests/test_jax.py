"""Derivatives in JAX: its own checks, compilation, batches and types."""

import doctest

import numpy as np
import pytest

import etendue as et

jax = pytest.importorskip("jax", reason="JAX is not installed: its 500 MB are not part of the tests")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

FACETS = "objects.room.facets.*.scattering"


@pytest.fixture(scope="module", autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def few():
    return et.Lidar("velodyne-vlp-16").replace({"range.near_m": 0.01, "pattern.spinning.period_us": None, "pattern.spinning.columns": 12})


def loss_of(scene, lidar, paths):
    def loss(*values):
        y, valid = et.jax.simulate(scene, lidar, dict(zip(paths, values, strict=True)))
        return jnp.where(valid, y, 0).sum()

    return loss


def test_a_simulation_is_the_prediction(arena, urg):
    y, valid = et.jax.simulate(arena, urg, {FACETS: np.ones(12)})
    expected, mask = et.predict(arena, urg)
    assert y.dtype == jnp.float64 and np.array_equal(valid, mask)
    assert np.array_equal(y, expected, equal_nan=True)


def test_check_grads(arena, few):
    loss = loss_of(arena, few, ["sensor.pose", FACETS, "sensor.beams.*.range_offset"])
    values = (jnp.asarray(arena.sensor_pose), jnp.linspace(0.8, 1.2, 12), jnp.zeros(few.beams))
    check_grads(loss, values, order=1, modes=["rev"], atol=1e-3, rtol=1e-3, eps=1e-6)
    wrong = loss_of(arena, few, ["sensor.pose", FACETS, "sensor.beams.*.range_offset"])
    assert np.abs(jax.grad(wrong, 0)(*values)).max() > 1


def test_compiled_functions_and_batches_equal_single_calls(arena, few):
    loss = loss_of(arena, few, [FACETS])
    batch = jnp.stack([jnp.linspace(0.8, top, 12) for top in (1.0, 1.1, 1.2)])
    single = np.stack([jax.grad(loss)(one) for one in batch])
    assert np.abs(single).max() > 1
    assert np.array_equal(np.stack([jax.jit(jax.grad(loss))(one) for one in batch]), single)
    assert np.array_equal(jax.vmap(jax.grad(loss))(batch), single)
    assert np.array_equal(jax.jit(jax.vmap(jax.grad(loss)))(batch), single)


def test_single_precision(arena, few):
    with jax.enable_x64(False):
        factors = jnp.ones(12)
        y, valid = et.jax.simulate(arena, few, {FACETS: factors, "sensor.pose": arena.sensor_pose})
        gradient = jax.grad(loss_of(arena, few, [FACETS]))(factors)
    assert y.dtype == gradient.dtype == jnp.float32 and valid.all()
    expected = jax.grad(loss_of(arena, few, [FACETS]))(jnp.ones(12))
    # Rounding of float32: measured 3e-8.
    assert np.abs(gradient - expected).max() < 1e-6 * np.abs(expected).max()


def test_gradients_do_not_depend_on_beams_without_a_return(arena, urg):
    """The masked sum has derivatives, though `y` contains NaN."""
    y, valid = et.jax.simulate(arena, urg, {FACETS: np.ones(12)})
    gradient = jax.grad(loss_of(arena, urg, [FACETS]))(jnp.ones(12))
    assert np.isfinite(gradient).all()
    near = urg.replace({"range.far_m": 0.9})
    assert not et.jax.simulate(arena, near, {})[1].all()
    assert np.isfinite(jax.grad(loss_of(arena, near, [FACETS]))(jnp.ones(12))).all()


def test_wrong_arguments_are_refused(arena, few):
    for parameters, kind, text in [
        ({"sensor.pos": 1.0}, et.UnknownNameError, 'did you mean "sensor.pose"'),
        ({FACETS: np.ones(5)}, ValueError, r"expected the shape \(12,\), got \(5,\)"),
        ({FACETS: np.full(12, np.nan)}, ValueError, "finite"),
        ({FACETS: np.ones(12, complex)}, TypeError, "expected an array of real numbers"),
        ({FACETS: "ones"}, TypeError, "expected an array of real numbers"),
        ([1.0], TypeError, "parameters: expected a dict"),
    ]:
        # JAX raises errors of callbacks as errors of its own, with their text.
        with pytest.raises((kind, Exception), match=text) as raised:
            et.jax.simulate(arena, few, parameters)[0].block_until_ready()
        assert isinstance(raised.value, kind) or kind.__name__ in str(raised.value)


def test_examples_run():
    assert doctest.testmod(et.jax).attempted >= 5
    assert doctest.testmod(et.jax).failed == 0
