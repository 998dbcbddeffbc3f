"""Draws docs/conflicts.png: what is known in a region of directions, and how it becomes exact.

A positive and a negative sample are joined by a line if no hyperplane of the region keeps both. The thick lines are
a maximum matching: at least this many samples are given up everywhere in the region. On the left the region is a
wide fan of directions, on the right a narrow one around the optimal direction, and its bound is the optimum. The
length of w is that of the optimum in both.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from hardmargin import solve

C = 2.0
TARGET = Path(__file__).resolve().parent.parent / "docs" / "conflicts.png"


def main() -> None:
    """Solve a small problem, and draw two regions around its optimal direction."""
    generator = np.random.default_rng(4)
    positive = generator.normal((1.0, 0.3), 1.0, (25, 2))
    negative = generator.normal((-1.0, -0.3), 1.0, (25, 2))
    result = solve(np.vstack([positive, negative]), np.repeat([1, -1], 25), C, method="directions")
    angle = np.arctan2(result.coef[1], result.coef[0])
    length = np.linalg.norm(result.coef)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for axis, half_width in zip(axes, (1.5, 0.002), strict=True):
        directions = angle + np.linspace(-half_width, half_width, 201)
        normals = np.column_stack([np.cos(directions), np.sin(directions)])
        differences = positive[:, None, :] - negative[None, :, :]
        conflicts = (differences @ normals.T).max(axis=2) < 2 / length
        partners = maximum_bipartite_matching(csr_array(conflicts), perm_type="column")
        matched = int((partners >= 0).sum())
        for i, j in zip(*np.nonzero(conflicts), strict=True):
            is_matched = partners[i] == j
            axis.plot(
                *np.column_stack([positive[i], negative[j]]),
                color="black" if is_matched else "0.8",
                linewidth=2 if is_matched else 0.5,
                zorder=1 + is_matched,
            )
        axis.scatter(*positive.T, color="tab:blue", zorder=3, label="positive")
        axis.scatter(*negative.T, color="tab:orange", marker="s", zorder=3, label="negative")
        axis.set_title(
            f"directions within {half_width:g} rad: at least {matched} given up\n"
            f"bound {0.5 * length**2 + C * matched:.2f}, optimum {result.objective:.2f}"
        )
        axis.set_aspect("equal")
    axes[0].legend()
    figure.savefig(TARGET, dpi=110)


if __name__ == "__main__":
    main()
