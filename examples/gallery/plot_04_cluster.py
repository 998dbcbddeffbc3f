"""
A Dask cluster
==============

A search runs on the workers of a Dask scheduler: on a batch system, on Kubernetes or, as here, on two processes of
this machine. Workers may come and go; what is lost with a worker is done again by another one.
"""

# %%
# In a script, starting processes belongs under ``if __name__ == "__main__":``, because they import the script.

import logging

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from hardmargin import solve, verify
from hardmargin.data import generate

data = generate("B", n=100, d=7, seed=3)

if __name__ == "__main__":
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL) as processes,
        Client(processes) as client,
    ):
        print(f"{len(client.ncores())} workers")
        result = solve(data.X, data.y, C=10.0, time_limit=30, cluster=client)
    print(result.summary())
    print("verified:", bool(verify(result, data.X, data.y)))

# %%
# The bounds over time. A short search at the start always runs in the main process, so that small problems never
# leave the machine; from then on, the workers raise the lower bound.

if __name__ == "__main__":
    times, upper, lower = np.array([(point.time, point.upper, point.lower) for point in result.trace]).T
    figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
    axis.step(times, upper, where="post", label="objective of the best hyperplane")
    axis.step(times, lower, where="post", label="proven lower bound")
    axis.set(xlabel="seconds", ylabel="objective", ylim=(0, 1.15 * result.objective))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="lower right")
    plt.show()
