"""The words of the command line: flags for arguments, and advice that helps in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from tparafac2.words import Advice, Setting, Words

_OTHER_NAMES = {
    "client": "dask",
    "n_starts": "starts",
    "random_state": "seed",
    "n_jobs": "jobs",
    "n_resamples": "intervals",
    "h": "steps",
}
"""What Python calls the options that are called otherwise here."""

_ADVICE = {
    "or_loosen_tol": "",
    "to_feasibility_tol": "",
    "choose": ": 'tparafac2 choose' does",
    "or_penalise": ", or use a smooth model (--model tparafac2)",
    "or_lambdas": "",
    "or_the_lambdas": ".",
    "no_bridge": "--no-bridge",
    "nonnegative": "--nonnegative patterns",
    "what_helps": "Read them together, or use non-negative patterns (--nonnegative patterns) if the data "
    "allow it; more smoothness does not help",
    "unmeasured": "replicability was not measured ('tparafac2 choose' does)",
    "set_yourself": "Give --rank and --smoothness, or use --model cp.",
    "let_give_way": ": give --rigidity",
    "unique_model": "--model tparafac2, or --nonnegative rows",
    "use_parafac2": "--model parafac2",
    "give_lambdas": "use --model tparafac2",
    "refit": "--refit",
    "sparsity_by_factor": "patterns=1e-4,rows=1e-4",
    "data": "the data",
    "load": "look at it with 'tparafac2 info' or 'tparafac2 report'",
    "our_file": "a model.npz that 'tparafac2 fit' wrote",
    "save_again": "",
    "reset_index": "save the table with its index as a column",
    "dropna": "",
    "to_numeric": "",
    "other_dates": "; write other dates in one of these forms",
    "even_times": "save the data without labels of time",
    "float32": "",
    "or_none": "",
    "or_labels": "",
    "drop_unknown": ", or say --drop-unknown",
    "transform_rows": "",
}
"""Advice that is another here, or (if empty) none."""


class Flags(Words):
    """The words of the command line.

    Parameters
    ----------
    flags : mapping of str to str, optional
        Flags of a command by the names of arguments, see `flags_of`; without it those of `fit`.

    Examples
    --------
    >>> Flags().name("n_starts"), Flags({}).name("n_starts")
    ('--starts', 'n_starts')
    >>> Flags().setting(Setting("rows", "first name"))
    "--rows 'first name'"
    """

    def __init__(self, flags: Mapping[str, str] | None = None) -> None:
        self.flags = flags

    def name(self, argument: str) -> str:
        """Give the flag of an argument."""
        if self.flags is not None:
            return self.flags.get(argument, argument)
        return "--" + _OTHER_NAMES.get(argument, argument).replace("_", "-")

    def setting(self, setting: Setting) -> str:
        """Write an option as one would type it in a shell; what cannot be typed stays as Python shows it."""
        flag = self.name(setting.argument)
        if flag == setting.argument:
            return super().setting(setting)
        if not setting.is_given:
            return flag
        text = str(setting.value)
        return f"{flag} {shlex.quote(text) if text.isprintable() else repr(setting.value)}"

    def advice(self, advice: Advice) -> str:
        """Give the advice that helps here."""
        return _ADVICE.get(advice.key, advice.usual)


FLAGS = Flags()


def flags_of(command: Any) -> dict[str, str]:
    """The longest flag of every option of a command, by the names that Python has for it."""
    options = [one for one in getattr(command, "params", ()) if one.param_type_name == "option"]
    flags = {str(one.name): str(max(one.opts, key=len)) for one in options}
    return flags | {name: flags[here] for name, here in _OTHER_NAMES.items() if here in flags}
