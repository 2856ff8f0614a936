"""NDCG@10, @100 and full of a run in memory: one worker per tool.

python benchmarks/kernels.py NAME WORKLOAD     # a line on standard input is one round
python benchmarks/kernels.py references WORKLOAD
"""

from __future__ import annotations

import sys

import our_kernels
import peer_kernels
from kernel_entry import KERNELS
from processes import say, serve

__all__ = ["KERNELS", "our_kernels", "peer_kernels"]


def main() -> None:
    """Be the worker of one contender on one workload."""
    name, workload = sys.argv[1:]
    from scenes import Scene

    if name == "references":
        say({"means": Scene.of(workload).references()})
        return
    try:
        work = KERNELS[name].prepared(Scene.of(workload))
        means = KERNELS[name].means(work())
    except MemoryError:
        say({"failed": "out of memory"})
        return
    serve(work, {"means": means})


if __name__ == "__main__":
    main()
