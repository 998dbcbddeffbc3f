"""
Many samples, with a bound by blocks
====================================

With 20 000 samples, a tree over all of them would get nowhere. The method ``blocks``, which the default method uses
for large data, solves parts of the samples and adds their bounds up. A good hyperplane is found in a moment; what
takes time is the proof.
"""

# %%
# Two classes of which a tenth are widely spread outliers.

import matplotlib.pyplot as plt
import numpy as np

from hardmargin import solve
from hardmargin.data import generate

data = generate("A", n=20_000, d=2, seed=1)
result = solve(data.X, data.y, C=1.0, method="blocks", options={"first_size": 200}, time_limit=10)
print(result.summary())

# %%
# The bounds over time. The upper bound is the objective of the best hyperplane so far. The lower bound rises block
# by block at first, and then as blocks are merged.

times, upper, lower = np.array([(point.time, point.upper, point.lower) for point in result.trace]).T
figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
axis.step(times, upper, where="post", label="objective of the best hyperplane")
axis.step(times, lower, where="post", label="proven lower bound")
axis.fill_between(times, lower, upper, step="post", alpha=0.12)
axis.set(xlabel="seconds", ylabel="objective", ylim=(0, 1.15 * result.objective))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="lower right")
plt.show()

# %%
# The size of the blocks decides what they prove. Here, blocks are not merged beyond a given size: few large blocks
# prove more than many small ones. How large they can be is a question of time, because the work of a block grows
# steeply with its samples and features.

part = generate("A", n=2000, d=2, seed=1)
sizes = [25, 50, 100, 200, 400]
runs = [
    solve(part.X, part.y, C=1.0, method="blocks", options={"first_size": size, "last_size": size}, time_limit=10)
    for size in sizes
]
figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
bars = axis.bar([str(size) for size in sizes], [100 * run.lower_bound / run.objective for run in runs])
axis.bar_label(bars, fmt="%.0f %%", padding=2)
axis.set(xlabel="samples in a block (2000 in total)", ylabel="proven share of the objective, %", ylim=(0, 105))
axis.spines[["top", "right"]].set_visible(False)
plt.show()
