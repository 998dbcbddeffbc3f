"""
A pipeline and a grid search
============================

:class:`~hardmargin.HardMarginSVC` is a scikit-learn classifier: it can be scaled, searched over and cross-validated
like any other. The grid is searched without proofs, because the score depends on the hyperplane only. The model
with the best C is then fitted with a proof.
"""

# %%
# One in ten of the training labels is wrong.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

from hardmargin import ConstantModelWarning, HardMarginSVC

X, y = load_breast_cancer(return_X_y=True)
X = X[:, [0, 1, 4, 6, 8]]
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=200, stratify=y, random_state=0)
wrong = np.random.default_rng(0).choice(200, 20, replace=False)
y_train[wrong] = 1 - y_train[wrong]

# %%
# ``RobustScaler`` uses quartiles, which outliers hardly move. A value of C that is too small yields a constant
# model and a warning, which is no mistake in a grid.

pipeline = make_pipeline(RobustScaler(), HardMarginSVC(method="heuristic", time_limit=10))
grid = {"hardmarginsvc__C": [0.03, 0.1, 0.3, 1, 3, 10, 100]}
search = GridSearchCV(pipeline, grid, cv=5)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConstantModelWarning)
    search.fit(X_train, y_train)

penalties = np.array(grid["hardmarginsvc__C"])
mean, deviation = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.errorbar(penalties, mean, deviation, marker="o", capsize=3)
axis.axvline(search.best_params_["hardmarginsvc__C"], color="0.5", ls="--", lw=1)
axis.set(xscale="log", xlabel="C", ylabel="accuracy (5 folds, wrong labels included)")
axis.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The final model, now with the default method, which proves a bound. If there is no progress any more
# (``stop="stall"``, the default) or time runs out, a warning says how much is proven.

best = make_pipeline(RobustScaler(), HardMarginSVC(C=search.best_params_["hardmarginsvc__C"], time_limit=15))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    best.fit(X_train, y_train)
for warning in caught:
    print(warning.message)
svc = best[-1]
print(f"C = {svc.C:g}: objective {svc.objective_:.3f}, proven to be at least {svc.lower_bound_:.3f}")
print(f"accuracy on {len(y_test)} test samples: {best.score(X_test, y_test):.3f}")

# %%
# How many of the wrong labels were given up? A model that gives up a sample says that its label does not fit.

found = np.intersect1d(svc.violations_, wrong)
print(f"{len(svc.violations_)} samples given up, among them {len(found)} of the 20 wrong labels")
