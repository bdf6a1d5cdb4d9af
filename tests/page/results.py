# SPDX-License-Identifier: Apache-2.0
"""Results made by hand, for what no small run of the program gives: a thousand variables, names that attack the page."""

import random


def network(names, seed=1, links_per_variable=1.5, undecided=0.2):
    """Boundaries and a graph of the given variables, as `fansite mb` and `fansite dag` write them."""
    rng = random.Random(seed)
    edges = set()
    for child in range(1, len(names)):
        # Mostly close neighbours, so that the graph has a shape and not the density of a ball of wool.
        for _ in range(rng.choice([1, 1, 2]) if rng.random() < links_per_variable / 1.4 else 0):
            edges.add((max(0, child - rng.choice([1, 2, 3, 5, 8, 40])), child))
    parents = {child: sorted(a for a, b in edges if b == child) for child in range(len(names))}
    roles = [{} for _ in names]
    for child, above in parents.items():
        for parent in above:
            for other in above:
                if other != parent:
                    roles[parent].setdefault(other, ("spouse", [child]))
    decided = {edge: rng.random() > undecided for edge in sorted(edges)}
    for (parent, child), known in decided.items():
        roles[parent][child] = ("child" if known else "undecided", None)
        roles[child][parent] = ("parent" if known else "undecided", None)

    def member(other):
        gain = rng.lognormvariate(-2, 0.8)
        return {"name": names[other], "gain": gain, "se": 0.1 * gain + 0.003, "unique": 0.8 * gain,
                "p_value": 10 ** -rng.uniform(4, 40), "q_value": 10 ** -rng.uniform(3, 30), "votes": 1.0, "stability": 0.97}

    def near_miss(target):
        other = (target + 7) % len(names)
        return {"name": names[other], "gain": 0.002, "se": 0.003, "p_value": 0.3, "q_value": 0.9,
                "reason": "its evidence is within chance"}

    boundaries, moral = [], set()
    for target, found in enumerate(roles):
        members = [member(other) for other in found]
        moral |= {tuple(sorted((target, other))) for other in found}
        left = 1.4
        path = []
        for entry in members:
            left -= entry["gain"] / 4
            path.append({"name": entry["name"], "conditional_entropy": left})
        misses = [near_miss(target)] if (target + 7) % len(names) not in found and len(names) > 7 else []
        boundaries.append({"target": names[target], "entropy": 1.4, "conditional_entropy": left, "members": members,
                           "near_misses": misses, "path": path})

    def evidence():
        return {"value": rng.lognormvariate(-2, 0.8), "se": 0.01, "stability": 1.0}

    head = {"version": "0.1.0", "variables": names, "rows": 2000, "warnings": []}
    return (
        {"format": "fansite.boundaries/2", **head, "settings": {"estimator": "flow", "fdr": 0.05, "seed": 0},
         "estimator": "flow", "boundaries": boundaries,
         "moral_edges": [[names[a], names[b]] for a, b in sorted(moral)], "steps": 10,
         "timing": {"total_seconds": 1.5, "threads": 2}},
        {"format": "fansite.graph/2", **head, "settings": {"method": "fansite-anm"},
         "details": {"score": -1.25, "fits": 321, "rows_used": 2000},
         "edges": [{"from": names[a], "to": names[b], "directed": known, "weight": 0.1, "existence": evidence(),
                    "direction": evidence(), "direction_by": "score" if known else "undecided"}
                   for (a, b), known in decided.items()],
         "roles": [{"target": names[target], "members": [
             {"name": names[other], "role": role, **({"through": [names[c] for c in through]} if through else {})}
             for other, (role, through) in found.items()]} for target, found in enumerate(roles)],
         "timing": {"total_seconds": 2.5, "threads": 2}},
    )


def add_diagnostics(boundaries, seed=1):
    """What flows tell about themselves: training and calibration."""
    rng = random.Random(seed)

    def histogram():
        shares = [rng.uniform(0.8, 1.2) for _ in range(20)]
        return [share / sum(shares) for share in shares]

    boundaries["training"] = {"networks": 5, "steps": 25000, "parameters": {"folds": 5}, "curve": [
        {"step": step, "training": 1 + 100 / step, "training_sd": 0.05, "held_out": 1.1 + 90 / step, "held_out_sd": 0.05}
        for step in range(250, 5001, 250)]}
    boundaries["calibration"] = {"rows": 2000, "bins": 20, "pit": histogram(), "variables": [
        {"name": name, "pit": histogram(), "ks": 0.02, "p_value": 0.4, "latent_mean": 0.01, "latent_sd": 1.02,
         "latent_skewness": -0.03, "latent_kurtosis": 0.1} for name in boundaries["variables"]]}
    boundaries["manifest"] = {"data_hash": "00112233aabbccdd", "version": "0.1.0", "seed": 0}
    boundaries["complete"] = False
    boundaries["unfinished"] = "The time budget ran out."
    boundaries["warnings"] = ["column 'x3' repeats 'x1'"]
