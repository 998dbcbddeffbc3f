"""Pictures of models, in scikit-learn's convention for displays; they need matplotlib, the extra ``plot``.

A display holds the numbers of one picture. ``from_estimator`` (``from_table`` for prices) computes and draws them;
``plot`` draws them again, for instance into other axes. The axes are in ``ax_``, and their figure in ``figure_``.
"""

from __future__ import annotations

from hardmargin.plotting.boundary import BoundaryDisplay
from hardmargin.plotting.convergence import ConvergenceDisplay
from hardmargin.plotting.margins import MarginsDisplay
from hardmargin.plotting.prices import PricesDisplay
from hardmargin.plotting.projection import ProjectionDisplay
from hardmargin.plotting.weights import WeightsDisplay

__all__ = [
    "BoundaryDisplay",
    "ConvergenceDisplay",
    "MarginsDisplay",
    "PricesDisplay",
    "ProjectionDisplay",
    "WeightsDisplay",
]
