"""
Which labels are wrong, and how sure is that?
=============================================

A model says which samples it gives up. The *price of keeping* one of them, the amount by which the best objective
would rise, tells a wrong label from a sample that only happens to lie near the boundary. Prices come as proven
intervals.
"""

# %%
# Two classes of 40, with six wrong labels far from the boundary.

import matplotlib.pyplot as plt
import numpy as np

from hardmargin import HardMarginSVC
from hardmargin.plotting import BoundaryDisplay, PricesDisplay

rng = np.random.default_rng(3)
X = np.vstack([rng.normal((-1.6, 0.0), 1.0, (40, 2)), rng.normal((1.6, 0.0), 1.0, (40, 2))])
y = np.repeat([-1, 1], 40)
far = np.argsort(-np.abs(X[:, 0]))[:20]
wrong = np.sort(rng.choice(far, 6, replace=False))
y[wrong] = -y[wrong]

model = HardMarginSVC(C=2).fit(X, y)
BoundaryDisplay.from_estimator(model, X, y)
plt.show()

# %%
# The table of what was given up, the most expensive sample first. "Always given up" is a statement about *every*
# hyperplane whose objective is within 25 % of the optimum.

table = model.outliers(within=0.25, time_limit=20)
print(table)

# %%
# The prices as a picture. Samples near the boundary are cheap to keep; the wrong labels are not.

PricesDisplay.from_table(table)
plt.show()

suspects = [row.row for row in table if row.always_given_up]
print(f"wrong labels: {wrong.tolist()}")
print(f"suspects:     {sorted(suspects)}")
