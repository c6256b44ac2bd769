"""Records of choices that nobody made, for tests of what is shown of them."""

from math import inf

COLUMNS = "model rank smoothness rigidity nonnegative hidden_error z_behind_chosen tied best_of_rank chosen"
MEASURED = ("agreement", "replicability", "components_there", "components_replicable", "explained_variance")

HARD, FLEXIBLE = "tPARAFAC2", "flexible tPARAFAC2"
TRIED = [
    (HARD, 2, 0.1, inf, None, 0.3, 5.0, False, False, False),
    (HARD, 2, 0.01, inf, None, 0.2 * 1.002, 0.0, True, True, True),
    (HARD, 2, 0.001, inf, None, 0.2, -0.5, True, False, False),
    (FLEXIBLE, 2, 0.01, 1.0, None, 0.2 * 0.999, -1.5, True, False, False),
    (HARD, 1, 0.01, inf, None, 0.4, 9.0, True, True, False),
    (HARD, 3, 0.01, inf, None, 0.21, 1.0, True, True, False),
    (f"{HARD}, non-negative rows", 2, 0.01, inf, "rows", 0.25, 2.0, False, False, False),
    ("CP", 2, None, inf, None, 0.6, 12.0, False, False, False),
]


def a_choice():
    """Rank 2 of 1 to 3, at smoothness 0.01."""
    tried = {name: list(column) for name, column in zip(COLUMNS.split(), zip(*TRIED))}
    tried["choosing_error"] = list(tried["hidden_error"])
    known = [0, 1, 0, 0, 1, 1, 0, 1]
    whole = {
        "agreement": 1.0,
        "replicability": 0.97,
        "components_there": 2,
        "components_replicable": 2,
        "explained_variance": 0.8,
    }
    tried |= {name: [whole[name] if one else None for one in known] for name in MEASURED}
    settings = {"rank": 2, "smoothness": 0.01, "rigidity": inf, "nonnegative": None, "model": "TParafac2"}
    settings |= {"label": HARD, "name": f"{HARD}, rank 2, smoothness 0.01", "hidden_error": 0.2 * 1.002}
    lines = [3, 1, 7]
    left_out = ("tied", "best_of_rank", "rank")
    return {
        "chosen": settings,
        "hard": dict(settings),
        "rank": {
            "rank": 2,
            "by_error": 2,
            "by_components": 2,
            "replicable": 2,
            "sure": True,
            "doubts": [],
        },
        "z": 1.5,
        "gain": 0.001,
        "tie_band": 0.005,
        "tied": 3,
        "paid": 0.0,
        "ranks": {
            "rank": [1, 2, 3],
            "hidden_error": [0.4, 0.2 * 1.002, 0.21],
            "z": [None, 9.0, -1.0],
            "agreement": [1.0, 1.0, 0.5],
            "all_there": [True, True, False],
            "all_replicable": [True, True, False],
            "model": [HARD] * 3,
            "smoothness": [0.01] * 3,
            "rigidity": [inf] * 3,
        },
        "compared": {name: [tried[name][i] for i in lines] for name in tried if name not in left_out},
        "tried": tried,
        "components": {
            "model": [HARD] * 6 + ["CP"] * 2,
            "rank": [1, 2, 2, 3, 3, 3, 2, 2],
            "component": [1, 1, 2, 1, 2, 3, 1, 2],
            "replicability": [0.95, 0.97, 0.99, 0.96, 0.7, 0.3, 0.5, 0.5],
            "chance": [0.0, 0.2, 0.3, 0.2, 0.3, 0.6, 0.1, 0.1],
            "verdict": ["replicable"] * 4 + ["there", "not there", "there", "there"],
        },
        "hides": "entries",
        "n_masks": 2,
        "share": 0.2,
        "bound_by_data": False,
        "n_splits": 5,
        "threshold": 0.9,
        "groups": 0,
        "single_groups": 0,
        "ranks_asked": [1, 2, 3],
        "interrupted": False,
        "nonnegative_data": False,
    }


def spread_out():
    """Twenty ranks, of which the largest has components of every kind, and no error at all."""
    record = a_choice()
    ranks = list(range(1, 21))
    kinds = ["replicable", "there", "not there"]
    places = [(rank, number) for rank in ranks for number in range(1, rank + 1)]
    record["ranks"] = {name: [column[1]] * 20 for name, column in record["ranks"].items()}
    record["ranks"] |= {"rank": ranks, "hidden_error": [0.0] * 20}
    tried = {name: [column[1]] * 20 for name, column in record["tried"].items()}
    record["tried"] = tried | {"rank": ranks, "hidden_error": [0.0] * 20, "choosing_error": [0.0] * 20}
    record["components"] = {
        "model": [HARD] * len(places),
        "rank": [rank for rank, _ in places],
        "component": [number for _, number in places],
        "replicability": [1.0 - number / 30 for _, number in places],
        "chance": [0.5] * len(places),
        "verdict": [kinds[number % 3] for _, number in places],
    }
    record["compared"]["hidden_error"] = [0.0] * 3
    record["chosen"]["hidden_error"] = 0.0
    return record


def interrupted():
    """The same before any fit to all data: nothing is known of starts, halves and other models."""
    record = a_choice()
    for table, names in (("ranks", ("agreement", "all_there", "all_replicable")), ("tried", MEASURED)):
        for name in names:
            record[table][name] = [None] * len(record[table][name])
    record["compared"] = {name: column[1:2] for name, column in record["compared"].items()}
    record["compared"] |= {name: [None] for name in MEASURED}
    return record | {"components": {}, "interrupted": True}
