"""Draws the pictures of docs/how-it-works.md.

Losses, must-hit sets, regions of directions, blocks and the steps of the paper's method.

They show ideas, but the bounds of regions and blocks are computed.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial import ConvexHull

from hardmargin import solve
from hardmargin.data import generate
from hardmargin.plotting.look import NEGATIVE, POSITIVE

TARGET = Path(__file__).resolve().parent.parent / "docs"
INK, GREY, GREEN, SAND = "#222222", "0.72", "#009E73", "#E6C84C"

#: No region of directions is split below this angle; near the optimum, lengths would have to be split instead.
NARROW = np.pi / 200

FloatArray = NDArray[np.float64]


def draw_losses() -> Figure:
    """The cost of one sample by its margin, in units of C."""
    figure, axis = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    margins = np.linspace(-3.0, 3.0, 601)
    axis.plot(margins, np.maximum(0.0, 1 - margins), color=GREY, lw=2, label="hinge")
    axis.plot(margins, np.log1p(np.exp(-margins)) / np.log(2), color=GREEN, lw=2, ls="--", label="logistic")
    axis.plot([-3, 1], [1, 1], color=POSITIVE.colour, lw=3, label="hard-margin")
    axis.plot([1, 3], [0, 0], color=POSITIVE.colour, lw=3)
    axis.plot([1], [1], "o", color=POSITIVE.colour, mfc="white", mew=2)
    axis.plot([1], [0], "o", color=POSITIVE.colour, mew=2)
    axis.axvline(0, color=INK, lw=0.6)
    axis.text(-0.08, 3.7, "wrong side", ha="right", color=INK)
    axis.text(0.08, 3.7, "right side", ha="left", color=INK)
    axis.set(xlabel="margin y (w·x + b)", ylabel="cost / C", ylim=(-0.15, 4.1), xlim=(-3, 3))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="upper right", bbox_to_anchor=(1, 0.92))
    return figure


def draw_must_hit_sets() -> Figure:
    """Disjoint sets of samples that no hyperplane keeps together: three around one of the other class."""
    sets = (
        (1, [(-0.5, 2.1), (0.5, 2.6), (0.6, 1.7), (0.25, 2.15)]),
        (-1, [(-0.7, 0.9), (0.4, 0.6), (-0.5, -0.1), (-0.25, 0.5)]),
        (1, [(-0.3, -1.0), (0.6, -1.2), (0.1, -2.0), (0.15, -1.4)]),
    )
    generator = np.random.default_rng(2)
    figure, axis = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    X = [generator.uniform((side * 2.3 - 1.1, -2.2), (side * 2.3 + 1.1, 2.6), (12, 2)) for side in (1, -1)]
    y = [np.repeat([1, -1], 12)]
    for number, (outer, points) in enumerate(sets):
        X.append(np.array(points))
        y.append(np.array([outer, outer, outer, -outer]))
        outline = around(np.array(points))
        axis.add_patch(Polygon(outline, closed=True, fc=SAND, alpha=0.45, ec=INK, lw=1))
        top = outline[np.argmax(outline[:, 1])]
        axis.annotate(f"set {number + 1}", top, (0, 3), textcoords="offset points", ha="center", color=INK)
    draw_samples(axis, np.vstack(X), np.concatenate(y))
    axis.set_title("Every hyperplane gives up at least one sample of each set", color=INK, fontsize=11)
    return figure


def around(points: FloatArray, distance: float = 0.16) -> FloatArray:
    """The outline of some points, with a little distance from them."""
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    circles = points[:, None, :] + distance * np.column_stack([np.cos(angles), np.sin(angles)])
    cloud = circles.reshape(-1, 2)
    return np.asarray(cloud[ConvexHull(cloud).vertices])


def draw_samples(axis: Axes, X: FloatArray, y: NDArray[np.int_]) -> None:
    """The samples of two classes, without axes."""
    for label, look in ((-1, NEGATIVE), (1, POSITIVE)):
        across, up = X[y == label].T
        axis.scatter(across, up, s=36, c=look.colour, marker=look.marker, lw=0, zorder=3, label=f"class {label:+d}")
    axis.set_aspect("equal")
    axis.set_axis_off()
    axis.legend(frameon=False, loc="lower left", bbox_to_anchor=(1, 0))


def draw_regions() -> Figure:
    """Branch and bound over the directions in the plane, on the sides of a square."""
    data = generate("A", n=60, d=2, seed=3)
    best = solve(data.X, data.y, C=1.0)
    positive, negative = data.X[data.y > 0], data.X[data.y < 0]
    leaves: list[tuple[float, float, int]] = []
    regions = [(-np.pi / 4 + quarter * np.pi / 2, np.pi / 4 + quarter * np.pi / 2) for quarter in range(4)]
    while regions:
        low, high = regions.pop()
        matched = least_given_up(positive, negative, low, high, best.objective)
        if matched < best.objective and high - low > NARROW:
            middle = (low + high) / 2
            regions += [(low, middle), (middle, high)]
        else:
            leaves.append((low, high, matched))
    figure, axis = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    for low, high, matched in leaves:
        corners = np.array([on_square(angle) for angle in (low, high)])
        axis.add_patch(Polygon([(0, 0), *corners], closed=True, fc="#A9CCE3", ec="white", lw=0.8))
        if high - low > np.pi / 40:
            across, up = 0.88 * on_square((low + high) / 2)
            axis.text(across, up, str(matched), ha="center", va="center", fontsize=9, color=INK)
    square = np.array([on_square(angle) for angle in np.pi / 4 + np.pi / 2 * np.arange(5)])
    axis.plot(*square.T, color=INK, lw=1.6)
    arrow = on_square(float(np.arctan2(best.coef[1], best.coef[0])))
    axis.add_patch(
        FancyArrowPatch((0, 0), tuple(1.22 * arrow), arrowstyle="-|>", mutation_scale=16, color=INK, lw=1.6)
    )
    axis.text(1.32 * arrow[0], 1.32 * arrow[1], "best w", ha="center", va="center", color=INK)
    axis.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.1), aspect="equal")
    axis.set_axis_off()
    axis.set_title(
        "Every better hyperplane of a region gives up at least this many samples.\n"
        f"More than the best objective, {best.objective:.1f} with C = 1, and the region is closed.",
        color=INK,
        fontsize=11,
    )
    return figure


def least_given_up(positive: FloatArray, negative: FloatArray, low: float, high: float, objective: float) -> int:
    """A maximum matching of the pairs that conflict in all directions between two angles, with C = 1.

    What the matched pairs cost is not left for the norm, which limits the length of w, on which conflicts depend.
    """
    differences = positive[:, None, :] - negative[None, :, :]
    ends = differences @ np.array([np.cos([low, high]), np.sin([low, high])])
    turned = np.mod(np.arctan2(differences[..., 1], differences[..., 0]) - low, 2 * np.pi)
    reach = np.where(turned <= high - low, np.linalg.norm(differences, axis=2), ends.max(axis=2))
    matched, before = 0, -1
    while before < matched < objective:
        length = np.sqrt(2 * (objective - matched))
        partners = maximum_bipartite_matching(csr_array(reach < 2 / length), perm_type="column")
        matched, before = int((partners >= 0).sum()), matched
    return matched


def on_square(angle: float) -> FloatArray:
    """The point of the square in a direction."""
    point = np.array([np.cos(angle), np.sin(angle)])
    return np.asarray(point / np.abs(point).max())


def draw_blocks() -> Figure:
    """Samples dealt out to blocks, and how the bounds of the blocks add up."""
    count, penalty = 3, 1.0
    data = generate("A", n=90, d=2, seed=5)
    best = solve(data.X, data.y, C=penalty)
    margins = best.decision_function(data.X)
    order = np.lexsort((margins, data.y))
    blocks = [order[number::count] for number in range(count)]
    bounds = [solve(data.X[rows], data.y[rows], C=penalty * count).lower_bound / count for rows in blocks]
    figure = plt.figure(figsize=(8.6, 2.9), layout="constrained")
    panels = figure.subplots(1, count + 1, width_ratios=[1] * count + [1.25])
    low, high = np.percentile(data.X, [8, 92], axis=0)
    colours = ("#56B4E9", SAND, GREEN)
    for number, (axis, rows, colour) in enumerate(zip(panels, blocks, colours, strict=False)):
        for label, look in ((-1, NEGATIVE), (1, POSITIVE)):
            chosen = rows[data.y[rows] == label]
            axis.scatter(data.X[chosen, 0], data.X[chosen, 1], s=16, c=look.colour, marker=look.marker, lw=0)
        axis.set(xlim=(low[0] - 1, high[0] + 1), ylim=(low[1] - 1, high[1] + 1), xticks=[], yticks=[])
        axis.set_title(f"block {number + 1}: bound {bounds[number]:.1f}", fontsize=10, color=INK)
        axis.patch.set(facecolor=colour, alpha=0.15)
    sums, base = panels[-1], 0.0
    for number, (bound, colour) in enumerate(zip(bounds, colours, strict=True)):
        sums.bar(["sum of\nthe bounds"], [bound], bottom=[base], color=colour, ec="white", width=0.6)
        sums.text(0, base + bound / 2, f"block {number + 1}", ha="center", va="center", fontsize=9, color=INK)
        base += bound
    sums.bar(["optimum of\nall samples"], [best.objective], color="0.8", width=0.6)
    sums.text(1, best.objective / 2, f"{best.objective:.1f}", ha="center", va="center", fontsize=9, color=INK)
    sums.text(0, base, f"{base:.1f}", ha="center", va="bottom", fontsize=9, color=INK)
    sums.spines[["top", "right", "left"]].set_visible(False)
    sums.set_yticks([])
    return figure


def draw_benders() -> Figure:
    """The steps of CB-SVM-HML as boxes."""
    figure, axis = plt.subplots(figsize=(8.6, 2.2), layout="constrained")
    steps = (
        ("1. First bound", "hinge loss:\na hyperplane and\na bound on ||w||"),
        ("2. Cuts", "sets that cannot be kept,\nfirst on random subsets,\nthen on all samples"),
        ("3. Integer program", "one binary variable\nper sample, indicator\nconstraints, all cuts"),
    )
    for number, (title, text) in enumerate(steps):
        left = 3.4 * number
        axis.add_patch(
            FancyBboxPatch((left, 0), 2.6, 1.7, boxstyle="round,pad=0.1", fc="#E8F1F8", ec=NEGATIVE.colour)
        )
        axis.text(left + 1.3, 1.42, title, ha="center", va="center", fontsize=11, fontweight="bold", color=INK)
        axis.text(left + 1.3, 0.68, text, ha="center", va="center", fontsize=10, color=INK)
        if number:
            ends = ((left - 0.66, 0.85), (left - 0.12, 0.85))
            axis.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=18, color=INK, lw=1.6))
    axis.set(xlim=(-0.2, 9.6), ylim=(-0.2, 1.9))
    axis.set_axis_off()
    return figure


def main() -> None:
    """Write all pictures as SVG, the same bytes every time."""
    plt.rcParams.update({"svg.hashsalt": "hardmargin", "svg.fonttype": "path", "font.size": 10})
    drawings = {
        "loss": draw_losses,
        "must-hit-sets": draw_must_hit_sets,
        "regions": draw_regions,
        "blocks": draw_blocks,
        "benders": draw_benders,
    }
    for name, draw in drawings.items():
        draw().savefig(TARGET / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
