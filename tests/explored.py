"""A small fit whose page the browser opens, and what a reader does there."""

from dataclasses import replace

import numpy as np
from banded import intervals_for
from chosen import a_choice

from tparafac2.data import Labels
from tparafac2.result import Result

YEARS = [1990, 1992, 1993, 1996, 1997, 2000]
WORDS = ["Zo\u00eb", "ant", "bee", *(f"word {j:02}" for j in range(3, 60))]
HOSTILE = "<img src=x onerror=window.hit=1></script><script>window.hit=1</script>"


def fit(**changes):
    """Two components of 60 words: the first passes from word to word, the second does not change."""
    K, J = len(YEARS), len(WORDS)
    B = np.full((K, J, 2), 0.01)
    B[np.arange(K), np.arange(K), 0] = 1.0
    B[:, 40, 1] = 1.0
    B[:, 41, 1] = -0.8
    plain = {
        "model": "TParafac2",
        "A": np.array([[3.0, 0.1], [1.0, 2.0], [0.5, -1.0]]),
        "B": B,
        "C": np.array([[1.0, 2.0]] * 5 + [[3.0, 2.0]]),
        "labels": Labels(
            rows=["Ann", "Bo", "Cleo"],
            columns=WORDS,
            time=YEARS,
            names={"rows": "author", "columns": "word", "time": "year"},
        ),
        "objective": 2.0,
        "explained_variance": 0.9,
        "status": "Converged.",
        "converged": True,
        "n_iter": 3,
        "parameters": {"rank": 2},
        "trace": {"iteration": [1, 2, 3], "objective": [9.0, 3.0, 2.0], "gap_b": [0.1, 0.01, 0.0]},
        "starts": {
            "start": [0, 1],
            "objective": [2.0, 2.5],
            "fms_to_chosen": [1.0, 0.6],
            "chosen": [True, False],
        },
    }
    return Result(**(plain | changes))


def rich():
    """A fit of which everything is known, in hostile words: bands, choice, groups, gaps, missing entries."""
    rng = np.random.default_rng(0)
    B = fit().B * rng.uniform(0.5, 1.5, size=(6, 60, 2))
    kinds = np.array(["young", "old", HOSTILE, None] * 5, dtype=object)
    labels = Labels(
        rows=[f"person {i}" for i in range(20)],
        columns=[HOSTILE, *(f"word {j}" for j in range(59))],
        time=YEARS,
        attributes={"kind": kinds, "age": np.arange(20.0)},
    )
    coverage = np.ones((6, 60))
    coverage[2] = 0.0
    undetermined = np.zeros((6, 2), dtype=bool)
    undetermined[2] = True
    result = fit(
        A=rng.normal(size=(20, 2)),
        B=B,
        labels=labels,
        coverage=coverage,
        undetermined=undetermined,
        observed_share=5 / 6,
        choice=a_choice(),
        times=np.array(YEARS, dtype=float),
        period=4.0,
    )
    return replace(result, intervals=intervals_for(result))


def slide(page, place):
    page.run(
        "(() => { const slider = document.getElementById('time');"
        f"slider.value = {place}; slider.dispatchEvent(new Event('input')); }})()"
    )


def search(page, text):
    page.run("document.getElementById('search').value = ''")
    page.click("#search")
    page.type(text)


def bar_names(page):
    return page.texts("#bars .name")


def choose(page, name, value):
    """Choose from a list."""
    page.run(
        f"(() => {{ const list = document.getElementById('{name}');"
        f"list.value = '{value}'; list.dispatchEvent(new Event('change')); }})()"
    )
