"""
Signs of weights that are known in advance
==========================================

Often it is known that a feature can only speak for a class: a higher dose does not lower a risk. With few samples
or wrong labels, a free model may learn the opposite. ``monotonic_cst`` restricts the signs of the weights, and the
proof then is about all hyperplanes with these signs.
"""

# %%
# Six risk factors that can only raise the risk; the last two hardly matter. A tenth of the 50 labels is wrong. Both
# kinds of model are trained on twelve such data sets.

import matplotlib.pyplot as plt
import numpy as np

from hardmargin import HardMarginSVC

truth = np.array([1.0, 0.8, 0.6, 0.4, 0.05, 0.0])


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and labels that follow the true weights."""
    factors = rng.normal(size=(n, 6))
    return factors, (factors @ truth + 0.3 * rng.normal(size=n) > 0).astype(int)


scores, weights, objectives = [], [], []
for seed in range(12):
    rng = np.random.default_rng(seed)
    X, y = draw(50, rng)
    X_test, y_test = draw(5000, rng)
    wrong = rng.choice(50, 5, replace=False)
    y[wrong] = 1 - y[wrong]
    models = [HardMarginSVC(C=2).fit(X, y), HardMarginSVC(C=2, monotonic_cst=[1] * 6).fit(X, y)]
    scores.append([model.score(X_test, y_test) for model in models])
    weights.append([model.coef_[0] / np.linalg.norm(model.coef_) for model in models])
    objectives.append([model.objective_ for model in models])

# %%
# The objective with signs is never lower, because fewer hyperplanes are allowed. The accuracy on new samples is
# another matter:

free, signed = np.transpose(scores)
print(f"objective is higher with signs in {np.sum(np.diff(objectives) > 1e-6)} of 12 draws")
print(f"mean accuracy: {free.mean():.3f} free, {signed.mean():.3f} with signs")
print(f"with signs, it is higher in {np.sum(signed > free)} draws and lower in {np.sum(signed < free)}")

# %%
# On the left the weights of the draw in which the signs changed the weights most, on the right all draws.

most = int(np.argmax([np.linalg.norm(pair[0] - pair[1]) for pair in weights]))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[1.5, 1], layout="constrained")
for offset, name, shown in zip((-0.2, 0.2), ("free", "with signs"), weights[most], strict=True):
    left.bar(np.arange(6) + offset, shown, width=0.38, label=name)
left.plot(np.arange(6), truth / np.linalg.norm(truth), "k_", ms=30, mew=2, label="truth")
left.axhline(0, color="black", lw=0.8)
left.set(title=f"draw {most}", xlabel="feature", ylabel="weight / ||w||", xticks=range(6))
left.legend(frameon=False)
right.plot([0.74, 0.92], [0.74, 0.92], color="0.7", lw=1)
right.plot(free, signed, "o")
right.set(title="accuracy on new samples", xlabel="free", ylabel="with signs", aspect="equal")
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
