from typing import Any

import numpy as np
import pytest
from hand_made import hand_made

from tparafac2.data import Labels
from tparafac2.penalties import Static
from tparafac2.result import Result, Terms

NASTY = "<img src=x onerror=alert(1)>"


def make(**changes: Any) -> Result:
    B = np.zeros((2, 5, 2))
    B[0, :, 0] = [3.0, 0.0, -4.0, 0.0, 0.0]
    B[1, :, 0] = [0.0, 4.0, 1.0, 2.0, 2.0]
    B[:, 4, 1] = 1.0
    plain: dict[str, Any] = {
        "A": np.array([[3.0, 0.0], [4.0, 1.0]]),
        "B": B,
        "C": np.array([[0.2, 2.0], [0.4, 1.0]]),
        "labels": Labels(columns=["ant", "bee", "cat", "dog", "elk"], time=[1990, 2010]),
        "objective": 853.70829,
        "explained_variance": 0.91234,
        "n_iter": 321,
        "feasibility_gaps": {"A": 0.0, "B": 3e-13, "C": 0.0},
    }
    return hand_made(**(plain | changes))


def test_the_summary_says_what_was_fitted_and_how_it_ended() -> None:
    text = make().summary()
    for part in (
        "TParafac2: 2 rows x 5 columns x 2 times, 2 components",
        "0.9123",
        "853.70829",
        "Converged after 321 iterations: ",
        "B 3.0e-13",
        "note: Component 2 is static",
    ):
        assert part in text


def test_every_component_names_its_rows_and_its_columns_at_both_ends() -> None:
    # Sizes: |a_1| = 5 and |b_k1| = 5 give strengths 5 and 10; component 2 has 2 and 1.
    lines = make().summary().splitlines()
    first = next(place for place, line in enumerate(lines) if "component 1:" in line)
    assert lines[first : first + 8] == [
        "  component 1: 83% of strength, 5 -> 10",
        "    rows: row 1 0.80, row 0 0.60",
        "    1990: cat -0.80, ant 0.60",
        "    2010: bee 0.80, dog 0.40, elk 0.40",
        "  component 2: 17% of strength, 2 -> 1",
        "    rows: row 1 1.00",
        "    1990: elk 1.00",
        "    2010: elk 1.00",
    ]


def test_without_labels_columns_are_numbered() -> None:
    assert "first: column 2 -0.80, column 0 0.60\n    last: column 1 0.80" in make(labels=Labels()).summary()


def starts(**columns: Any) -> dict[str, Any]:
    return {"starts": {name: np.array(column) for name, column in columns.items()}}


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (
            starts(
                objective=[1.0, 1.0 + 5e-7, 1.1, 0.5, np.nan, np.inf],
                fms_to_chosen=[1.0, 1.0, 1.0, 0.995, 0.5, np.nan],
                chosen=[True, False, False, False, False, False],
                converged=[True, True, True, False, False, False],
                degenerate=[False, False, False, True, False, False],
            ),
            "3 of 5 other starts ended with these components (match of 0.99 or better) and 1 with this "
            "objective (the least alike matches by 0.50); of all, 3 converged, 1 degenerate.",
        ),
        (
            starts(objective=[2.0, 1.0, 1.0, np.nan], fms_to_chosen=[0.2, 1.0, 1.0, 1.0]),
            "2 of 3 other starts ended with these components (match of 0.99 or better) and 1 with this "
            "objective (the least alike matches by 0.20).",
        ),
        (starts(seconds=[1.0, 2.0]), None),
        (starts(objective=np.zeros(0), fms_to_chosen=np.zeros(0)), None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_agreement_of_the_starts(columns: dict[str, Any], text: str | None) -> None:
    assert fact("starts", **columns) == text


def fact(name: str, **changes: Any) -> str | None:
    """The line of that name, which the page must have as well."""
    result = make(**changes)
    for line in result.summary().splitlines():
        if line.startswith(f"  {name}  "):
            text = line.removeprefix(f"  {name}").strip()
            assert f"<tr><th>{name}</th><td>{text}</td></tr>" in result._repr_html_()
            return text
    assert f"<th>{name}</th>" not in result._repr_html_()
    return None


HALF_EMPTY = np.array([[0.0, 1, 1, 1, 1], [0.0, 0.5, 1, 1, 1]])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, None),
        ({"coverage": np.ones((2, 5))}, None),
        ({"observed_share": 0.877}, "12.3 % of the entries were missing and played no part."),
        ({"observed_share": 1 - 2e-6}, "0.0002 % of the entries were missing and played no part."),
        ({"observed_share": 1e-5}, "More than 99.9 % of the entries were missing and played no part."),
        ({"observed_share": 0}, "100 % of the entries were missing and played no part."),
        (
            {"observed_share": 0.75, "coverage": HALF_EMPTY},
            "25 % of the entries were missing and played no part; 2 of 10 pairs of time and column were not "
            "observed at all.",
        ),
    ],
)
def test_what_was_missing(changes: dict[str, Any], text: str | None) -> None:
    assert fact("missing entries", **changes) == text


def test_patterns_that_the_data_do_not_say() -> None:
    expected = "note: Component {} has almost no strength at 1 of 2 times"
    assert "no strength" not in make().summary()
    assert expected.format(1) in make(C=np.array([[1.0, 1.0], [1e-4, 1.0]])).summary()
    assert expected.format(2) in make(undetermined=np.array([[False, True], [False, False]])).summary()
    assert "no strength" not in make(C=np.eye(2), undetermined=np.zeros((2, 2), dtype=bool)).summary()


def three(times: Any, **changes: Any) -> dict[str, Any]:
    return {"B": np.ones((3, 5, 2)), "C": np.ones((3, 2)), "labels": Labels(), "times": times, **changes}


UNEVEN = "Times are uneven: neighbours are {} apart."
PERIODIC = "Time is periodic, {}: the last is followed by the first."
DATES = np.array(["2020-01-01", "2020-02-01", "2020-03-01"], dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, None),
        (three([0.1, 0.2, 0.3]), None),
        (three([0.3, 0.1, 0.2]), None),
        (three([0, 5, 1]), UNEVEN.format("1 to 4")),
        (
            three(DATES.astype(float), labels=Labels(time=DATES)),
            "Times are uneven: neighbours are 29 to 31 days apart.",
        ),
        (three([0, 8, 16], period=24), PERIODIC.format(24)),
        (
            three([0, 8, 20], period=24),
            f"{UNEVEN.format('4 to 12')} {PERIODIC.format(24)}",
        ),
        (three(None, period=3), PERIODIC.format(3)),
        (three(None, labels=Labels(time=[0, 5, 1])), None),
    ],
)
def test_uneven_and_cyclic_time(changes: dict[str, Any], text: str | None) -> None:
    assert fact("time", **changes) == text


def test_ragged_patterns_and_many_kinds_of_labels() -> None:
    B = [np.eye(5, 2), np.eye(3, 2)[::-1]]
    time = np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]")
    text = make(B=B, labels=Labels(columns=[0.5, 1, 2, 3, 4], time=time)).summary()
    assert "up to 5 columns" in text
    assert "2020-01-01: 0.5 1.00\n    NaT: 2 1.00" in text


def test_nothing_in_a_label_can_rewrite_the_terminal_or_flood_it() -> None:
    labels = Labels(
        columns=["\x1b[2J", "x" * 1000, "a\nb", "d", "e"],
        names={"rows": "\x1brows"},
    )
    result = make(labels=labels, status="\rgone", model="\x1bModel")
    text = result.summary()
    assert all(letter.isprintable() for letter in text.replace("\n", ""))
    assert repr(result).isprintable()
    assert "a?b -0.80, ?[2J 0.60" in text
    assert "xxx…xxx" in text
    assert max(map(len, text.splitlines())) < 200


def test_html_escapes_every_text_of_the_user() -> None:
    labels = Labels(
        columns=[NASTY, "b&b", "\"c'", "d", "e"],
        time=[NASTY, "end"],
        names={"rows": NASTY, "columns": "<b>", "time": "t"},
    )
    page = make(labels=labels, status=NASTY, model=NASTY)._repr_html_()
    assert "<img" not in page
    assert "<b>" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 3
    assert "b&amp;b" in page


def test_html_needs_nothing_from_elsewhere_and_has_the_facts() -> None:
    page = make()._repr_html_()
    assert not any(word in page for word in ("http", "src=", "href=", "<script", "<link", "@import"))
    for part in ("TParafac2", "0.9123", "cat -0.80, ant 0.60", "<td>83%</td>", "Component 2 is static"):
        assert part in page
    assert "<ul>" not in make(terms=Terms(B=(Static(),)))._repr_html_()
