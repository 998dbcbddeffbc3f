"""
Outliers beside hinge and logistic loss
=======================================

Ten of 80 samples have the label +1 but lie together, far behind the class -1. The hinge loss and the logistic loss
charge a sample by how far it is on the wrong side, so these ten turn the line. The hard-margin loss charges every
violated sample the same: it gives the ten up and separates the rest.
"""

# %%
# The data: two classes of 35, and a cluster of ten outliers at a given distance.

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from hardmargin import HardMarginSVC
from hardmargin.plotting import BoundaryDisplay

rng = np.random.default_rng(1)
negative = rng.normal((-1.5, 0.0), (0.8, 1.2), (35, 2))
positive = rng.normal((1.5, 0.0), (0.8, 1.2), (35, 2))
cluster = rng.normal(0.0, 0.4, (10, 2))
y = np.repeat([-1, 1], [35, 45])
clean = np.arange(80) < 70


def samples(distance: float) -> NDArray[np.float64]:
    """All samples, with the outliers at this distance behind the class -1."""
    return np.vstack([negative, positive, cluster + distance * np.array([-0.9, 0.45])])


# %%
# Three models of the same data. All are drawn by
# :class:`~hardmargin.plotting.BoundaryDisplay`; rings are samples with a margin below 1.

models = {
    "hard-margin loss": HardMarginSVC(C=10),
    "hinge loss": SVC(kernel="linear", C=10),
    "logistic loss": LogisticRegression(C=10),
}
X = samples(9.0)
figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True, layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=axis)
    right = int((model.predict(X[clean]) == y[clean]).sum())
    axis.set_title(f"{name}\n{right} of 70 clean samples right")
    axis.set_ylabel("feature 2" if axis is axes[0] else "")
    axis.get_legend().remove()
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
plt.show()

# %%
# The hard-margin model gives up the ten outliers and a few samples where the classes overlap, and it is proven that
# no other line does better:

hard = models["hard-margin loss"]
print(f"given up: {len(hard.violations_)} samples, {(hard.violations_ >= 70).sum()} of them outliers")
print(f"objective {hard.objective_:.4f}, proven to be at least {hard.lower_bound_:.4f}: {hard.status_}")

# %%
# The same for outliers at growing distances. The hard-margin loss keeps nearly all clean samples on their own side,
# however far the ten are away; the others lose a quarter of them.

distances = np.array([0.0, 1.5, 3.0, 4.5, 6.0, 9.0, 12.0, 18.0])
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, model), style in zip(models.items(), ("o-", "s--", "^:"), strict=True):
    shares = []
    for distance in distances:
        X = samples(distance)
        model.fit(X, y)
        shares.append(100 * np.mean(model.predict(X[clean]) == y[clean]))
    axis.plot(distances, shares, style, label=name)
axis.set(xlabel="distance of the outliers", ylabel="clean samples on their own side, %", ylim=(None, 101))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
