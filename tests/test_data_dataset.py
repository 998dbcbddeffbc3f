"""The Dataset checks that its parts fit together."""

import numpy as np
import pytest

from hardmargin.data import Dataset


def test_sizes():
    dataset = Dataset(np.zeros((3, 2)), np.zeros(3), ["a", "b"])
    assert (dataset.n, dataset.m) == (3, 2)


@pytest.mark.parametrize(("x_shape", "y_shape"), [((3,), (3,)), ((3, 2), (2,)), ((3, 2), (3, 1))])
def test_shapes_that_do_not_fit(x_shape, y_shape):
    with pytest.raises(ValueError, match="expected a row of X and a label for every sample"):
        Dataset(np.zeros(x_shape), np.zeros(y_shape))


def test_names_that_do_not_fit():
    with pytest.raises(ValueError, match="there are 1 feature names; expected 2, one per column of X"):
        Dataset(np.zeros((3, 2)), np.zeros(3), ["a"])
