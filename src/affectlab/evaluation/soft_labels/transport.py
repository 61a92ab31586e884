"""Exact optimal transport between small distributions. Import inside the function that needs it.

Successive shortest paths on the bipartite graph of labels that give and labels that take, with
potentials, so that every search is Dijkstra's on a dense graph of at most 2 k nodes.
"""

from __future__ import annotations

import numpy as np

from affectlab.core.compiled import kernel
from affectlab.core.types import Floats, Ints

_EMPTY = 1e-15
"""Mass up to here is rounding noise of a total of 1."""


@kernel
def transport_costs(first: Floats, second: Floats, cost: Floats, metric: bool, out: Floats) -> None:
    """Compute the smallest cost of turning each row of ``first`` into the same row of ``second``.

    Parameters
    ----------
    first, second
        Shape (n, k); rows sum to the same total, or hold ``nan``.
    cost
        Cost of moving one unit from label to label, shape (k, k), at least 0, 0 on the diagonal.
    metric
        Whether the costs obey the triangle inequality: mass that both have then stays in place.
    out
        Overwritten, shape (n,); ``nan`` where a row holds ``nan``.
    """
    n, k = first.shape
    giving = np.empty(k, dtype=np.int64)
    taking = np.empty(k, dtype=np.int64)
    supply = np.empty(k)
    demand = np.empty(k)
    for row in range(n):
        known = True
        m = 0
        w = 0
        for label in range(k):
            give = first[row, label]
            take = second[row, label]
            if np.isnan(give) or np.isnan(take):
                known = False
                break
            if metric:
                shared = min(give, take)
                give -= shared
                take -= shared
            if give > _EMPTY:
                giving[m] = label
                supply[m] = give
                m += 1
            if take > _EMPTY:
                taking[w] = label
                demand[w] = take
                w += 1
        if not known:
            out[row] = np.nan
        elif m == 0 or w == 0:
            out[row] = 0.0
        elif m == 1 or w == 1:
            total = 0.0
            for i in range(m):
                for j in range(w):
                    total += min(supply[i], demand[j]) * cost[giving[i], taking[j]]
            out[row] = total
        else:
            out[row] = _solve(giving[:m], taking[:w], supply[:m].copy(), demand[:w].copy(), cost)


@kernel
def _start(
    giving: Ints,
    taking: Ints,
    supply: Floats,
    demand: Floats,
    cost: Floats,
    potential: Floats,
    flow: Floats,
) -> None:
    """Find potentials under which no arc costs less than 0, and send what goes for nothing."""
    m, w = giving.size, taking.size
    for j in range(w):
        least = np.inf
        for i in range(m):
            least = min(least, cost[giving[i], taking[j]])
        potential[m + j] = least
    for i in range(m):
        least = np.inf
        for j in range(w):
            least = min(least, cost[giving[i], taking[j]] - potential[m + j])
        potential[i] = -least
        for j in range(w):
            free = cost[giving[i], taking[j]] + potential[i] - potential[m + j] <= 0.0
            if free and demand[j] > _EMPTY:
                amount = min(supply[i], demand[j])
                flow[i, j] = amount
                supply[i] -= amount
                demand[j] -= amount
                if supply[i] <= _EMPTY:
                    break


@kernel
def _solve(giving: Ints, taking: Ints, supply: Floats, demand: Floats, cost: Floats) -> float:
    """Send all supply to the demands along cheapest paths; nodes are givers, then takers."""
    m, w = giving.size, taking.size
    nodes = m + w
    flow = np.zeros((m, w))
    potential = np.empty(nodes)
    _start(giving, taking, supply, demand, cost, potential, flow)
    distance = np.empty(nodes)
    parent = np.empty(nodes, dtype=np.int64)
    done = np.empty(nodes, dtype=np.bool_)
    while True:
        for v in range(nodes):
            distance[v] = np.inf
            parent[v] = -1
            done[v] = False
        waiting = False
        for i in range(m):
            if supply[i] > _EMPTY:
                distance[i] = 0.0
                waiting = True
        if not waiting:
            break
        target = -1
        while True:
            at = -1
            nearest = np.inf
            for v in range(nodes):
                if not done[v] and distance[v] < nearest:
                    nearest = distance[v]
                    at = v
            if at < 0:
                break
            done[at] = True
            if at >= m and demand[at - m] > _EMPTY:
                target = at
                break
            if at < m:
                for j in range(w):
                    if not done[m + j]:
                        step = cost[giving[at], taking[j]] + potential[at] - potential[m + j]
                        # Rounding can make a cost of zero slightly negative.
                        reached = nearest + max(step, 0.0)
                        if reached < distance[m + j]:
                            distance[m + j] = reached
                            parent[m + j] = at
            else:
                j = at - m
                for i in range(m):
                    if not done[i] and flow[i, j] > _EMPTY:
                        step = potential[at] - potential[i] - cost[giving[i], taking[j]]
                        reached = nearest + max(step, 0.0)
                        if reached < distance[i]:
                            distance[i] = reached
                            parent[i] = at
        if target < 0:
            # What is left of the supply is the rounding error of two equal totals.
            break
        for v in range(nodes):
            potential[v] += min(distance[v], distance[target])
        amount = demand[target - m]
        v = target
        while parent[v] >= 0:
            before = parent[v]
            if v < m:
                amount = min(amount, flow[v, before - m])
            v = before
        amount = min(amount, supply[v])
        supply[v] -= amount
        demand[target - m] -= amount
        v = target
        while parent[v] >= 0:
            before = parent[v]
            if v < m:
                flow[v, before - m] -= amount
            else:
                flow[before, v - m] += amount
            v = before
    total = 0.0
    for i in range(m):
        for j in range(w):
            total += flow[i, j] * cost[giving[i], taking[j]]
    return total
