"""
The whole path over C
=====================

C says what it costs to give up a sample, and is rarely known in advance. :func:`hardmargin.path` finds the best
hyperplane for every C of a range, and proves each of them. The best hyperplane changes only at some values of C.
"""

# %%
# Body mass and flipper length of two kinds of animals, made up, with six wrong labels.

import matplotlib.pyplot as plt
import numpy as np

from hardmargin import HardMarginSVCCV, path
from hardmargin.plotting import BoundaryDisplay

rng = np.random.default_rng(4)
X = np.vstack([rng.normal((-0.9, -0.6), 0.7, (45, 2)), rng.normal((0.9, 0.6), 0.7, (45, 2))])
y = np.repeat([0, 1], 45)
wrong = rng.choice(90, 6, replace=False)
y[wrong] = 1 - y[wrong]

found = path(X, y, C=(0.05, 100))
print(found)

# %%
# The objective over C is made of straight lines: each of them is one hyperplane. Upper and lower bound coincide,
# because everything is proven.

figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
found.plot(axis)
plt.show()

# %%
# A small C prefers a wide margin and gives up many samples; a large one keeps as many as possible, at the price of
# a narrow margin.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True, layout="constrained")
for axis, C in zip(axes, (0.1, 1.0, 100.0), strict=True):
    model = found.at(C)
    BoundaryDisplay.from_estimator(model, X, y, ax=axis)
    axis.get_legend().remove()
    axis.set_title(f"C = {C:g}: {model.n_violations} given up")
plt.show()

# %%
# :class:`hardmargin.HardMarginSVCCV` computes such a path for every fold of a cross-validation, and chooses C.

chosen = HardMarginSVCCV(Cs="path", cv=5).fit(X, y)
print(f"C = {chosen.C_:.3g}, {len(chosen.violations_)} of 90 samples given up, {chosen.status_}")
