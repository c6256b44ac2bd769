import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from claims import CLAIMS, CLAIMS_AT_CHOSEN
from paired import holm, paired_test
from plan import CHOSEN, FLEXIBLE, HARD, LEVELS, METHODS
from verdicts import Ruling, as_json, as_table, as_text, by_penalties, judge

pytestmark = pytest.mark.slow

# What the paper claims, roughly: the score at the lowest level, and what it loses up to the highest.
SCORES = {"PARAFAC2": (0.90, 0.30), "tPARAFAC2": (0.97, 0.10), "tCMF": (0.60, 0.05), "NNtCMF": (0.98, 0.02)}
AGREEMENT = {"PARAFAC2": 0.97, "tPARAFAC2": 0.98, "tCMF": 0.60, "NNtCMF": 0.99}


SCORES |= {method.model: SCORES["tPARAFAC2"] for method in CHOSEN}
AGREEMENT |= {method.model: AGREEMENT["tPARAFAC2"] for method in CHOSEN}


def results(n=12, seed=0, methods=METHODS):
    """Make a table in which all claims hold, by a wide margin."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 0.02, n)
    rows = []
    for case, levels in LEVELS.items():
        for i, level in enumerate(levels):
            for method in methods:
                start, loss = SCORES[method.model]
                score = start - loss * i / (len(levels) - 1)
                weak = {"PARAFAC2": 0.1}.get(method.model, 0.8)
                for dataset in range(n):
                    jitter = difficulty[dataset] + rng.normal(0, 0.003)
                    rows.append(
                        {
                            "case": case,
                            "level": float(level),
                            "dataset": dataset,
                            "model": method.model,
                            "lambda_b": np.nan if method.lambda_b is None else method.lambda_b,
                            "method": method.label,
                            "fms": score + jitter,
                            "fms_a": score + jitter,
                            "fms_c": np.nan if "CMF" in method.model else score + jitter,
                            "fms_unit": score + jitter,
                            "fms_unit_c": score + jitter,
                            "weak_patterns": weak + jitter if case == "almost_zero" else np.nan,
                            "agreement": AGREEMENT[method.model] + jitter,
                            "objective_spread": 1e-7 * rng.random(),
                        }
                    )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def table():
    return results()


@pytest.fixture(scope="module")
def verdicts(table):
    return judge(table)


def rows_of(table, model, *, case="easy", level=None, lambda_b=1000.0):
    chosen = (table["case"] == case) & (table["model"] == model)
    if level is not None:
        chosen &= table["level"] == level
    return chosen & (table["lambda_b"].isna() | (table["lambda_b"] == lambda_b))


def lifted(table, by, model, *, measure="fms", **where):
    """Raise what was measured of a model, where it is asked for."""
    changed = table.copy()
    changed.loc[rows_of(table, model, **where), measure] += by
    return changed


def levelled(table, level, *, sign):
    """Give tPARAFAC2 at the headline the score of PARAFAC2, plus differences of given signs."""
    changed = table.copy()
    mine, other = rows_of(table, "tPARAFAC2", level=level), rows_of(table, "PARAFAC2", level=level)
    sizes = np.linspace(0.01, 0.02, mine.sum())
    changed.loc[mine, "fms"] = changed.loc[other, "fms"].to_numpy() + np.asarray(sign) * sizes
    return changed


def find(verdicts, key):
    [verdict] = [one for one in verdicts if one.claim.key == key]
    return verdict


def judged(table, key):
    [verdict] = judge(table, [claim for claim in CLAIMS if claim.key == key])
    return verdict


def alternating(n):
    return np.where(np.arange(n) % 2, 1, -1)


# --- outcomes -----------------------------------------------------------------------------------------------


def test_all_claims_hold_where_all_should(verdicts):
    assert [verdict.claim for verdict in verdicts] == list(CLAIMS)
    assert {verdict.claim.key: verdict.outcome for verdict in verdicts} == {
        claim.key: Ruling.HOLDS for claim in CLAIMS
    }
    assert all(verdict.note == verdict.claim.remark for verdict in verdicts)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_no_claim_holds_where_nothing_differs(claim, table):
    same = table.copy()
    for measure, value in {"fms": 0.8, "fms_a": 0.8, "fms_c": 0.8, "agreement": 0.8}.items():
        same[measure] = value
    same["weak_patterns"] = 0.5
    same["objective_spread"] = 1e-4
    [verdict] = judge(same, [claim])
    assert verdict.outcome is Ruling.FAILS
    assert all(one.p == 1.0 for one in verdict.comparisons)


def test_a_claim_that_fails_at_one_level_holds_in_part(table):
    changed = levelled(table, 0.5, sign=alternating(12))
    verdict = judged(changed, "easy-better")
    assert verdict.outcome is Ruling.IN_PART
    assert [one.significant for one in verdict.headline] == [True, False, True, True]
    assert 'not significant for "score: tPARAFAC2 > PARAFAC2" at noise 0.5.' in verdict.note
    assert "the other way" not in verdict.note


def test_a_claim_that_is_reversed_at_one_level_holds_in_part_and_says_so(table):
    verdict = judged(levelled(table, 0.5, sign=-1), "easy-better")
    assert verdict.outcome is Ruling.IN_PART
    assert 'significantly the other way for "score: tPARAFAC2 > PARAFAC2" at noise 0.5.' in verdict.note


def test_a_claim_that_fails_everywhere_does_not_hold(table):
    changed = table
    for level in LEVELS["easy"]:
        changed = levelled(changed, level, sign=alternating(12))
    verdict = judged(changed, "easy-better")
    assert verdict.outcome is Ruling.FAILS
    assert verdict.note.startswith("This differs from the paper: not significant for")


def test_a_claim_that_is_nowhere_right_and_somewhere_reversed_is_contradicted(table):
    changed = levelled(table, 0.25, sign=-1)
    for level in LEVELS["easy"][1:]:
        changed = levelled(changed, level, sign=alternating(12))
    verdict = judged(changed, "easy-better")
    assert verdict.outcome is Ruling.CONTRADICTED
    assert 'significantly the other way for "score: tPARAFAC2 > PARAFAC2" at noise 0.25.' in verdict.note


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("easy-noise", {"by": 0.5, "model": "tPARAFAC2", "level": 1.0}),
        ("easy-robust", {"by": 0.5, "model": "PARAFAC2", "level": 1.0}),
        ("weak-better", {"by": -0.5, "model": "tPARAFAC2", "case": "almost_zero"}),
        ("weak-wrong", {"by": 0.6, "model": "PARAFAC2", "case": "almost_zero", "measure": "weak_patterns"}),
        (
            "weak-repaired",
            {"by": -0.5, "model": "tPARAFAC2", "case": "almost_zero", "measure": "weak_patterns"},
        ),
        ("overlap-better", {"by": -0.5, "model": "tPARAFAC2", "case": "overlapping"}),
        ("overlap-parts", {"by": -0.5, "model": "tPARAFAC2", "case": "overlapping", "measure": "fms_a"}),
        ("overlap-parts", {"by": -0.5, "model": "tPARAFAC2", "case": "overlapping", "measure": "fms_c"}),
        ("overlap-harder", {"by": 0.5, "model": "PARAFAC2", "case": "overlapping", "level": 0.4}),
        ("tcmf-low", {"by": 0.6, "model": "tCMF", "case": "overlapping"}),
        ("tcmf-not-unique", {"by": 0.6, "model": "tCMF", "case": "overlapping", "measure": "agreement"}),
        ("tcmf-not-unique", {"by": 1, "model": "tCMF", "case": "overlapping", "measure": "objective_spread"}),
        ("nonnegativity-repairs", {"by": -0.6, "model": "NNtCMF", "case": "overlapping"}),
        (
            "nonnegativity-repairs",
            {"by": -0.6, "model": "NNtCMF", "case": "overlapping", "measure": "agreement"},
        ),
    ],
)
def test_a_claim_stands_on_what_it_is_about(key, change, table):
    outcome = judged(lifted(table, **change), key).outcome
    expectations = next(claim.expectations for claim in CLAIMS if claim.key == key)
    assert outcome is (Ruling.CONTRADICTED if len(expectations) == 1 else Ruling.IN_PART)


@pytest.mark.parametrize("n", [1, 4])
def test_few_data_sets_decide_nothing(n):
    verdicts = judge(results(n))
    assert {verdict.outcome for verdict in verdicts} == {Ruling.TOO_FEW}
    assert f"only {n} data set" in verdicts[0].note


def test_five_data_sets_can_decide():
    assert judged(results(5), "easy-better").outcome is Ruling.HOLDS


def test_a_level_with_few_data_sets_leaves_the_claim_open(table):
    few = table[(table["case"] != "easy") | (table["level"] != 1.0) | (table["dataset"] < 3)]
    verdicts = judge(few)
    assert find(verdicts, "easy-better").outcome is Ruling.TOO_FEW
    assert find(verdicts, "overlap-better").outcome is Ruling.HOLDS


def test_the_other_lambdas_do_not_decide(table):
    changed = table
    for lambda_b in (1.0, 10.0, 100.0):
        changed = lifted(changed, -0.9, "tPARAFAC2", lambda_b=lambda_b)
    verdict = judged(changed, "easy-better")
    assert verdict.outcome is Ruling.HOLDS
    assert all(one.contradicts for one in verdict.secondary)


# --- reasons and remarks ------------------------------------------------------------------------------------


def test_a_reason_is_given_only_where_the_run_differs(table):
    claim = replace(CLAIMS[0], reason="The moon was full.", remark="Scores lie between 0 and 1.")
    [held] = judge(table, [claim])
    [failed] = judge(levelled(table, 0.5, sign=-1), [claim])
    [open_] = judge(table[table["dataset"] < 3], [claim])
    assert "moon" not in held.note + open_.note
    assert "The moon was full." in failed.note
    assert all("Scores lie between 0 and 1." in verdict.note for verdict in (held, failed, open_))


# --- comparisons --------------------------------------------------------------------------------------------


def test_a_comparison_is_of_pairs(table):
    one = judged(table, "easy-better").headline[1]
    left = table.loc[rows_of(table, "tPARAFAC2", level=0.5), "fms"].to_numpy()
    right = table.loc[rows_of(table, "PARAFAC2", level=0.5), "fms"].to_numpy()
    assert (one.setting, one.compared, one.lambda_b, one.n) == (
        "noise 0.5",
        "score: tPARAFAC2 > PARAFAC2",
        1000.0,
        12,
    )
    assert one.median_left == np.median(left)
    assert one.median_right == np.median(right)
    assert one.median_difference == np.median(left - right)
    assert one.p == one.p_corrected == paired_test(left, right)
    assert one.p_opposite == paired_test(right, left)


def test_pairs_are_found_whatever_the_order_of_rows(table, verdicts):
    assert judge(table.sample(frac=1, random_state=0)) == verdicts


def test_pairs_with_a_number_missing_are_left_out(table):
    changed = table.copy()
    changed.loc[rows_of(table, "tPARAFAC2", level=0.5) & (table["dataset"] == 3), "fms"] = np.nan
    changed = changed[~(rows_of(changed, "PARAFAC2", level=0.5) & (changed["dataset"] == 7))]
    assert [one.n for one in judged(changed, "easy-better").headline] == [12, 10, 12, 12]


def test_gains_are_compared_between_the_ends(table):
    [one] = judged(table, "easy-robust").headline
    fms = table.set_index("dataset")["fms"]

    def gain(level):
        left, right = (rows_of(table, model, level=level).to_numpy() for model in ("tPARAFAC2", "PARAFAC2"))
        return fms[left] - fms[right]

    assert one.setting == "noise 1 vs noise 0.25"
    assert one.median_left == gain(1.0).median()
    assert one.median_right == gain(0.25).median()
    assert one.p == paired_test(gain(1.0), gain(0.25))


def test_settings_have_names(verdicts):
    names = {key: [one.setting for one in find(verdicts, key).headline] for key in
             ("weak-better", "overlap-better", "overlap-harder")}  # fmt: skip
    assert names == {
        "weak-better": ["1 weak concept", "2 weak concepts"],
        "overlap-better": ["overlap 10 %", "overlap 20 %", "overlap 40 %"],
        "overlap-harder": ["overlap 10 % vs overlap 40 %"] * 2,
    }


def test_what_has_no_lambda_is_headline(verdicts):
    verdict = find(verdicts, "weak-wrong")
    assert [one.lambda_b for one in verdict.comparisons] == [None, None]
    assert verdict.secondary == ()


def test_secondary_comparisons_are_corrected_within_the_claim(table):
    # A weak effect, so that the correction matters.
    rng = np.random.default_rng(5)
    changed = table.copy()
    easy = (table["case"] == "easy") & (table["model"] == "tPARAFAC2")
    changed.loc[easy, "fms"] += rng.normal(-0.15, 0.12, easy.sum())
    verdict = judged(changed, "easy-better")
    assert len(verdict.headline) == 4
    assert len(verdict.secondary) == 12
    raw = np.array([one.p for one in verdict.secondary])
    assert [one.p_corrected for one in verdict.secondary] == holm(raw).tolist()
    assert [one.significant for one in verdict.secondary] == (holm(raw) < 0.05).tolist()
    assert ((raw < 0.05) & (holm(raw) >= 0.05)).any()


# --- smaller tables -----------------------------------------------------------------------------------------


def test_claims_of_absent_cases_are_left_out(table):
    verdicts = judge(table[table["case"] == "almost_zero"])
    assert [verdict.claim.key for verdict in verdicts] == ["weak-better", "weak-wrong", "weak-repaired"]


def test_claims_about_a_change_need_two_levels(table):
    verdicts = judge(table[(table["case"] == "easy") & (table["level"] == 0.5)])
    assert [verdict.claim.key for verdict in verdicts] == ["easy-better"]


def test_claims_of_absent_models_are_left_out(table):
    verdicts = judge(table[~table["model"].isin(["tCMF", "NNtCMF"]) & (table["case"] == "overlapping")])
    assert [verdict.claim.key for verdict in verdicts] == [
        "overlap-better",
        "overlap-parts",
        "overlap-harder",
    ]


def test_claims_need_the_headline(table):
    verdicts = judge(table[table["lambda_b"] != 1000.0])
    assert [verdict.claim.key for verdict in verdicts] == ["weak-wrong"]


def test_an_empty_table_says_nothing(table):
    assert judge(table[:0]) == []


def test_missing_columns_are_named(table):
    with pytest.raises(ValueError, match="lacks the columns level, agreement"):
        judge(table.drop(columns=["level", "agreement"]))


def test_repeated_rows_are_refused(table):
    with pytest.raises(ValueError, match=r"same fit.*'PARAFAC2'"):
        judge(pd.concat([table, table[:1]]))


def test_the_table_is_left_alone(table):
    before = table.copy()
    judge(table)
    pd.testing.assert_frame_equal(table, before)


# --- with what the data chose -------------------------------------------------------------------------------

EVERY = (*CLAIMS, *CLAIMS_AT_CHOSEN)


@pytest.fixture(scope="module")
def both():
    """A table with all methods, and its verdicts."""
    table = results(methods=(*METHODS, *CHOSEN))
    return table, judge(table, EVERY)


def test_claims_hold_at_chosen_penalties_too(both):
    apart = by_penalties(both[1])
    assert list(apart) == ["published", HARD.label, FLEXIBLE.label]
    assert [len(verdicts) for verdicts in apart.values()] == [12, 10, 10]
    assert {verdict.outcome for verdict in both[1]} == {Ruling.HOLDS}


@pytest.mark.parametrize(("method", "measure"), [(HARD, "fms"), (FLEXIBLE, "fms_unit")])
def test_what_the_data_chose_decides_its_own_verdicts_alone(both, method, measure):
    table, before = both
    worse = lifted(table, -0.9, method.model, measure=measure)
    changed = [
        (one.claim.key, one.claim.at) for one, other in zip(judge(worse, EVERY), before, strict=True)
        if one.outcome is not other.outcome
    ]  # fmt: skip
    assert changed == [("easy-better", method.label)]


def test_published_verdicts_do_not_depend_on_what_the_data_chose(both):
    table, verdicts = both
    published = table[~table["model"].isin([method.model for method in CHOSEN])]
    assert judge(published, EVERY) == by_penalties(verdicts)["published"]


def test_files_keep_published_and_chosen_apart(both):
    _, verdicts = both
    told = json.loads(as_json(verdicts))
    assert len(told["verdicts"]) == len(CLAIMS)
    assert {at: len(those) for at, those in told["verdicts_at_chosen"].items()} == {
        HARD.label: 10, FLEXIBLE.label: 10
    }  # fmt: skip
    table = as_table(verdicts)
    assert list(table["at"].unique()) == ["published", HARD.label, FLEXIBLE.label]
    assert len(table[table["at"] == "published"]) == len(as_table(by_penalties(verdicts)["published"]))


def test_the_text_tells_the_published_first_and_fits_a_terminal(both):
    lines = as_text(both[1]).splitlines()
    assert lines[:3] == [
        "12 claims of the paper: holds 12.",
        "10 claims of the paper with tPARAFAC2, chosen: holds 10.",
        "10 claims of the paper with flexible tPARAFAC2, chosen: holds 10.",
    ]
    titles = [above for above, line in pairwise(lines) if line.startswith("==")]
    assert titles[2:4] == ["Overlapping concepts", "Easy case: tPARAFAC2, chosen"]
    assert titles[-1] == "Overlapping concepts: flexible tPARAFAC2, chosen"
    assert max(map(len, lines)) <= 100


# --- telling ------------------------------------------------------------------------------------------------


def test_the_table_has_every_comparison(verdicts):
    told = as_table(verdicts)
    assert len(told) == sum(len(verdict.comparisons) for verdict in verdicts)
    first = told.iloc[0]
    assert (first["claim"], first["case"], first["outcome"]) == ("easy-better", "easy", "holds")
    assert first["p"] == verdicts[0].comparisons[0].p
    assert told["significant"].dtype == bool
    assert as_table([]).columns.to_list() == told.columns.to_list()


def test_the_table_survives_a_csv_file(verdicts, tmp_path):
    told = as_table(verdicts)
    told.to_csv(tmp_path / "verdicts.csv", index=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "verdicts.csv"), told, check_dtype=False)


def refuse(constant):
    raise ValueError(constant)


def test_json_is_valid_and_complete(verdicts):
    told = json.loads(as_json(verdicts), parse_constant=refuse)
    assert [one["claim"] for one in told["verdicts"]] == [claim.key for claim in CLAIMS]
    wrong = next(one for one in told["verdicts"] if one["claim"] == "weak-wrong")
    assert wrong["outcome"] == "holds"
    assert wrong["comparisons"][0]["lambda_b"] is None
    assert wrong["comparisons"][0]["significant"] is True


def mixed(table):
    """Make a table with every outcome but a claim that holds nowhere, and everything the text can say."""
    changed = levelled(table, 0.5, sign=-1)
    changed = lifted(changed, -0.9, "tPARAFAC2", case="overlapping")
    return changed[(changed["case"] != "almost_zero") | (changed["dataset"] < 3)]


@pytest.mark.parametrize("change", [lambda table: table, mixed], ids=["all hold", "mixed"])
def test_the_text_fits_a_terminal(change, table):
    lines = as_text(judge(change(table))).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line == line.rstrip() for line in lines)
    assert not any(line.lstrip().startswith("%") for line in lines)


def test_the_text_tells_claims_in_order_with_their_outcome(table):
    verdicts = judge(mixed(table))
    text = as_text(verdicts)
    places = [
        text.replace("\n  ", " ").find(f"{one.outcome.value.upper()}: {one.claim.words}") for one in verdicts
    ]
    assert -1 not in places
    assert places == sorted(places)
    for title in ("Easy case", "Almost zero strength", "Overlapping concepts"):
        assert f"\n{title}\n{'=' * len(title)}\n" in text


def test_the_text_begins_with_the_count(verdicts, table):
    assert as_text(verdicts).splitlines()[0] == f"{len(CLAIMS)} claims of the paper: holds {len(CLAIMS)}."
    outcomes = [verdict.outcome for verdict in judge(mixed(table))]
    assert (
        f"too few data sets {outcomes.count(Ruling.TOO_FEW)}." in as_text(judge(mixed(table))).splitlines()[0]
    )


def test_the_text_marks_directions(table):
    lines = as_text(judge(levelled(levelled(table, 0.5, sign=-1), 0.75, sign=alternating(12)))).splitlines()
    told = {name: next(line for line in lines if line.startswith(f"    {name} ")) for name in
            ("noise 0.25", "noise 0.5", "noise 0.75")}  # fmt: skip
    assert [next(sign for sign in "><~" if f" {sign} " in line) for line in told.values()] == [">", "<", "~"]


def test_the_text_has_one_line_on_the_other_lambdas(verdicts):
    text = as_text(verdicts[:1])
    assert (
        "  Significant at other lambda_b, after Holm's correction: 1: 4 of 4, 10: 4 of 4, 100: 4 of 4."
        in text
    )


def test_columns_of_numbers_are_aligned(verdicts):
    lines = [line for line in as_text(verdicts).splitlines() if "n = 12" in line]
    assert len(lines) == sum(len(verdict.headline) for verdict in verdicts)
    assert len({line.index("n = 12") for line in lines}) == 1
    assert len({line.index(" p ") for line in lines}) == 1
