"""What a fit gives back, and how it is looked at, kept and read again."""

from tparafac2.result.choices import ComponentPoint, ModelPoint, Panels, RankPoint, Setting, rank_table
from tparafac2.result.choices import panels as choice_panels
from tparafac2.result.choices import sentences as choice_sentences
from tparafac2.result.choices import table_text as choice_table
from tparafac2.result.choices import to_html as choice_html
from tparafac2.result.distinctive import By, distinctiveness, leaders, of_columns, of_rows, require_by
from tparafac2.result.evaluation import Evaluation, relative_error, require_fitted, take_again
from tparafac2.result.files import holds_result, load_result
from tparafac2.result.findings import (
    AGREEMENT,
    ALIKE,
    SAME_OBJECTIVE,
    count_alike,
    count_same_objective,
    faults,
    share_alike,
    static,
    vanished,
)
from tparafac2.result.intervals import UNSTABLE, Band, Intervals
from tparafac2.result.kinds import ENDINGS, Finding, Kind, Severity
from tparafac2.result.moments import Timeline, moment_text, read_moments, slice_at, timeline
from tparafac2.result.naming import called, heading, place_of, read_names
from tparafac2.result.observation import Clock, strengths, weak
from tparafac2.result.parameters import GIVEN_FACTORS
from tparafac2.result.portraits import Mark, portraits
from tparafac2.result.record import NormalisedFactors, Result
from tparafac2.result.summary import size_text
from tparafac2.result.terms import LostTerm, Method, Terms
from tparafac2.result.trajectories import courses
from tparafac2.result.trust import Trust, Verdict
from tparafac2.result.unobserved import Unobserved
from tparafac2.result.wording import counted, notes, percentage, sentence, trusted, what_is_explained

__all__ = [
    "Band",
    "Clock",
    "Evaluation",
    "Finding",
    "Intervals",
    "Kind",
    "LostTerm",
    "Method",
    "NormalisedFactors",
    "Result",
    "Severity",
    "Terms",
    "Trust",
    "load_result",
    "sentence",
]
