"""
Several classes, and kernels
============================

With more than two classes, :class:`~hardmargin.HardMarginSVC` solves one binary problem per pair of classes, or per
class. With a kernel, the boundary is no longer a line. Both come with a bound.
"""

# %%
# Three classes of irises by two features. There is one gap and one status for all pairs of classes.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, make_moons

from hardmargin import HardMarginSVC
from hardmargin.plotting import BoundaryDisplay

flowers, species = load_iris(return_X_y=True)
flowers = flowers[:, 2:]
model = HardMarginSVC(C=10, time_limit=20).fit(flowers, species)
print(f"{model.status_}, gap {model.gap_:.1e}, accuracy {model.score(flowers, species):.3f}")

across, up = np.meshgrid(np.linspace(0.5, 7.5, 300), np.linspace(-0.2, 2.9, 300))
regions = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
figure, axis = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
colours = ["#0072B2", "#E69F00", "#009E73"]
axis.contourf(across, up, regions, levels=[-0.5, 0.5, 1.5, 2.5], colors=colours, alpha=0.15)
for label, (colour, marker) in enumerate(zip(colours, "o^s", strict=True)):
    rows = flowers[species == label]
    axis.scatter(rows[:, 0], rows[:, 1], c=colour, marker=marker, s=22, label=f"species {label}")
axis.set(xlabel="petal length, cm", ylabel="petal width, cm")
axis.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Two moons, with a few wrong labels, and an RBF kernel. The bound is proven for the problem with this kernel.

X, y = make_moons(60, noise=0.12, random_state=0)
wrong = np.random.default_rng(0).choice(60, 4, replace=False)
y[wrong] = 1 - y[wrong]
curved = HardMarginSVC(kernel="rbf", gamma=1.0, C=10, time_limit=20).fit(X, y)
BoundaryDisplay.from_estimator(curved, X, y)
plt.show()
print(f"{curved.status_}, objective {curved.objective_:.2f}, proven to be at least {curved.lower_bound_:.2f}")
print(f"wrong labels {sorted(wrong.tolist())}, given up {curved.violations_.tolist()}")
