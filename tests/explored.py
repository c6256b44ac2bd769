"""A small fit whose page the browser opens, and what a reader does there."""

import numpy as np

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
