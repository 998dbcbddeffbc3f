"""
A row of the paper's tables, on SCIP
====================================

Santana, Serrano, Schiffer and Vidal compare Brooks' integer program (2011) with their method CB-SVM-HML on CPLEX.
Both are part of the package, as ``indicator`` and ``benders``, and run on SCIP, which needs no licence. This
program repeats a part of the row "Type A, n = 60" on an instance with two features. It is drawn by the same recipe
as the published ones, whose files are not part of the package.
"""

# %%
# The published row: 75 runs of at most 600 s on CPLEX 12.9.

import matplotlib.pyplot as plt
import numpy as np

from hardmargin import solve, verify
from hardmargin.data import generate

published = {"Brooks 2011": (75, 0.00, 2.87), "CB-SVM-HML": (75, 0.00, 32.83)}
print(f"{'published, CPLEX':<22} {'proven':>8} {'gap %':>8} {'seconds':>9}")
for name, (proven, gap, seconds) in published.items():
    print(f"{name:<22} {proven:>5}/75 {gap:>8.2f} {seconds:>9.2f}")

# %%
# Ours: three penalties, and the default method beside the two. The limit is 8 s instead of 600 s, and CB-SVM-HML
# spends the same share of it on cuts as in the paper, a tenth.

time_limit = 8.0
penalties = (1.0, 10.0, 100.0)
methods = {"indicator": "Brooks 2011", "benders": "CB-SVM-HML", "auto": "hardmargin (auto)"}
data = generate("A", n=60, d=2, seed=0)
runs = {
    method: [solve(data.X, data.y, C=C, method=method, time_limit=time_limit, gap=1e-4) for C in penalties]
    for method in methods
}
assert all(verify(result, data.X, data.y) for results in runs.values() for result in results)

print(f"{'here, SCIP':<22} {'proven':>8} {'gap %':>8} {'seconds':>9}")
for method, results in runs.items():
    optimal, gaps, times = np.array([(result.optimal, 100 * result.gap, result.runtime) for result in results]).T
    print(f"{methods[method]:<22} {optimal.sum():>6g}/{len(results)} {gaps.mean():>8.2f} {times.mean():>9.2f}")

# %%
# Each line is one run: the gap falls until the proof is complete. All three find good hyperplanes; they differ in
# how long the proof takes.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for axis, (method, results) in zip(axes, runs.items(), strict=True):
    for result, style in zip(results, ("-", "--", ":"), strict=True):
        times, upper, lower = np.array([(point.time, point.upper, point.lower) for point in result.trace]).T
        axis.step(times, 100 * (upper - lower) / upper, style, where="post", label=f"C = {result.C:g}")
    axis.set(title=methods[method], xlabel="seconds", xscale="log", xlim=(0.01, time_limit), ylim=(0, 103))
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("gap, %")
axes[0].legend(frameon=False, loc="lower left")
plt.show()

# %%
# ``hardmargin bench`` runs the whole experiment, checks every answer and puts the published results beside it::
#
#     hardmargin bench fetch --data data
#     hardmargin bench run --data data --out paper.jsonl --instances n60 --sets A --methods indicator benders
#     hardmargin bench tables paper.jsonl
