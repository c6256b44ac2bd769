"""The data sets to show: typical ones, chosen by rule and fitted again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tparafac2.experiments.measure import fit
from tparafac2.experiments.plan import Protocol, Task
from tparafac2.experiments.settings import HEADLINE, Method, Setting

if TYPE_CHECKING:
    import pandas as pd

    from tparafac2.models import Decomposition
    from tparafac2.synthetic import SyntheticData

PLAIN, TIMED = Method("PARAFAC2"), Method("tPARAFAC2", HEADLINE)


class Example(NamedTuple):
    """One data set, and the models fitted to it."""

    setting: Setting
    dataset: int
    data: SyntheticData
    models: dict[str, Decomposition]


def typical_dataset(table: pd.DataFrame, setting: Setting) -> int:
    """The data set on which tPARAFAC2 gains as much over PARAFAC2 as in the median.

    Of an even number the one with the smaller gain of the two in the middle, so that no example flatters.
    """
    of_setting = table[(table["case"] == setting.case) & (table["level"] == setting.level)]
    scores = of_setting.pivot_table(index="dataset", columns="method", values="fms")
    gain = (scores[TIMED.label] - scores[PLAIN.label]).sort_values(kind="stable")
    return int(gain.index[(len(gain) - 1) // 2])


def show(table: pd.DataFrame, setting: Setting, protocol: Protocol) -> Example:
    """Fit PARAFAC2 and tPARAFAC2 once more to a typical data set; the factors are those of the records."""
    dataset = typical_dataset(table, setting)
    models = {}
    for method in (PLAIN, TIMED):
        data, models[method.label] = fit(Task(setting, dataset, method), protocol)
    return Example(setting, dataset, data, models)
