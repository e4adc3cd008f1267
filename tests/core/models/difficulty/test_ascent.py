import numpy as np
import pytest

from core.models.difficulty.mode import ascend


def rosenbrock(x):
    """Minus the curved valley of Rosenbrock, its top of 0 at ones."""
    rest = x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[1:] -= 200 * rest
    gradient[:-1] += 400 * x[:-1] * rest + 2 * (1 - x[:-1])
    return -(100 * rest**2).sum() - ((1 - x[:-1]) ** 2).sum(), gradient


@pytest.mark.parametrize("ndim", [2, 10, 60])
def test_a_curved_ridge_is_climbed_to_its_top(ndim):
    place, value, done = ascend(rosenbrock, np.full(ndim, 0.3))
    assert done and value == pytest.approx(0, abs=1e-8) and place == pytest.approx(np.ones(ndim), abs=1e-4)


def test_the_top_is_that_of_the_library_where_coordinates_differ_by_a_hundred():
    scale = np.logspace(-1, 1, 20)

    def bent(x):
        y = x / scale
        return float(-np.logaddexp(y, -2 * y).sum()), -(1 - 3 / (1 + np.exp(3 * y))) / scale

    from scipy.optimize import minimize

    expected = minimize(lambda x: (-bent(x)[0], -bent(x)[1]), np.ones(20), jac=True, method="BFGS", tol=1e-9)
    place, value, done = ascend(bent, np.ones(20))
    assert done and value == pytest.approx(-expected.fun, abs=1e-8)
    assert place / scale == pytest.approx(np.full(20, np.log(2) / 3), abs=2e-3)


def test_walls_of_minus_infinity_are_kept_off():
    def walled(x):
        return (float(np.log(x).sum() - x.sum()), 1 / x - 1) if (x > 0).all() else (-np.inf, np.zeros_like(x))

    place, _, done = ascend(walled, np.array([30.0, 0.001]))
    assert done and place == pytest.approx(np.ones(2), abs=1e-4)


def test_running_out_of_steps_is_said_and_so_is_a_start_without_value():
    assert ascend(rosenbrock, np.full(5, -1.0), most_steps=3)[2] is False
    _, value, _ = ascend(lambda x: (-np.inf, np.zeros_like(x)), np.ones(2))
    assert value == -np.inf
