"""Records of choices that nobody made, for tests of what is shown of them."""

from math import inf

HARD, RELAXED = "tPARAFAC2", "relaxed tPARAFAC2"
TRIED = {
    "model": [HARD, HARD, HARD, RELAXED, HARD, HARD],
    "rank": [2, 2, 2, 2, 1, 3],
    "smoothness": [0.1, 0.01, 0.001, 0.01, 0.01, 0.01],
    "rigidity": [inf, inf, inf, 1.0, inf, inf],
    "nonnegative": [None] * 6,
    "changes": ["smooth"] * 6,
    "error": [0.3, 0.2 * 1.002, 0.2, 0.2 * 0.999, 0.4, 0.21],
    "tied": [False, True, True, True, True, True],
    "best_of_rank": [False, True, False, False, True, True],
    "chosen": [False, True, False, False, False, False],
}
SIMILAR = [0.95, 0.97, 0.99, 0.96, 0.7, 0.3]


def a_choice():
    """Rank 2 of 1 to 3, at smoothness 0.01."""
    chosen = {
        "rank": 2,
        "smoothness": 0.01,
        "rigidity": inf,
        "nonnegative": None,
        "changes": "smooth",
        "model": "TParafac2",
        "label": HARD,
        "name": f"{HARD}, rank 2, smoothness 0.01",
        "error": 0.2 * 1.002,
    }
    return {
        "threshold": 0.9,
        "ranks_asked": [1, 2, 3],
        "n_folds": 5,
        "groups": 0,
        "sampled": None,
        "bound_by_data": False,
        "sudden": None,
        "interrupted": False,
        "chosen": chosen,
        "hard": dict(chosen),
        "relaxed": {"gain": 0.001, "z": 1.5, "null": 0.004, "chosen": False},
        "sure": True,
        "doubts": [],
        "supported": 2,
        "draws": [2, 2, 2],
        "tie_band": 0.005,
        "by": "halves",
        "ranks": {
            "rank": [1, 2, 3],
            "error": [0.4, 0.2 * 1.002, 0.21],
            "gain": [None, 0.499, -0.048],
            "z": [None, 9.0, -1.0],
            "rows": [None, 12.0, 3.0],
            "null": [None, 0.02, None],
            "supported": [True, True, False],
            "agreement": [1.0, 1.0, 0.4],
            "model": [HARD] * 3,
            "smoothness": [0.01] * 3,
            "rigidity": [inf] * 3,
            "hard_smoothness": [0.01] * 3,
        },
        "tried": {name: list(column) for name, column in TRIED.items()},
        "components": {
            "model": [HARD] * 6,
            "rank": [1, 2, 2, 3, 3, 3],
            "component": [1, 1, 2, 1, 2, 3],
            "folds": [0.99] * 6,
            "folds_alone": [0.98] * 6,
            "halves": SIMILAR,
            "halves_alone": [0.9, 0.8, 0.9, 0.9, 0.6, 0.1],
            "verdict": ["replicable"] * 4 + ["there", "not there"],
        },
        "compared": {
            "model": [HARD, RELAXED, "CP"],
            "smoothness": [0.01, 0.01, None],
            "rigidity": [inf, 1.0, inf],
            "error": [0.2004, 0.2, 0.6],
            "excess": [0.0, -0.003, 1.994],
            "z_behind_chosen": [0.0, -1.5, 12.0],
            "chosen": [True, False, False],
        },
        "left_out": 0,
    }


def spread_out():
    """Twenty ranks, of which the largest has components of every kind, and no error at all."""
    record = a_choice()
    ranks = list(range(1, 21))
    kinds = ["replicable", "there", "not there"]
    places = [(rank, number) for rank in ranks for number in range(1, rank + 1)]
    record["ranks"] = {name: [column[1]] * 20 for name, column in record["ranks"].items()}
    record["ranks"] |= {"rank": ranks, "error": [0.0] * 20}
    tried = {name: [column[1]] * 20 for name, column in record["tried"].items()}
    record["tried"] = tried | {"rank": ranks, "error": [0.0] * 20}
    similar = [1.0 - number / 30 for _, number in places]
    record["components"] = {
        "model": [HARD] * len(places),
        "rank": [rank for rank, _ in places],
        "component": [number for _, number in places],
        **dict.fromkeys(("folds", "folds_alone", "halves"), similar),
        "halves_alone": [0.5] * len(places),
        "verdict": [kinds[number % 3] for _, number in places],
    }
    record["chosen"]["error"] = 0.0
    return record


def interrupted():
    """The same before any fit to all data: nothing is known of starts, components and other models."""
    record = a_choice()
    record["ranks"] |= {"agreement": [None] * 3, "null": [None] * 3}
    doubts = ["unknown", "interrupted"]
    gone = {"components": {}, "compared": {}, "relaxed": None}
    return record | gone | {"interrupted": True, "sure": False, "doubts": doubts}
