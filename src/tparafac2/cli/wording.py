"""Sentences of the library, which speaks Python, in the words of the command line."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping
from typing import Any

from tparafac2.words import Advice, Setting, Words

_OTHER_NAMES = {
    "n_starts": "starts",
    "random_state": "seed",
    "n_jobs": "jobs",
    "n_weak": "weak",
    "n_concepts": "concepts",
    "n_times": "times",
    "n_rows": "rows",
    "n_columns": "columns",
}
"""What Python calls the options that are called otherwise here."""

_PHRASES = {
    r"\bat max_iter\b": "at --max-iter",
    r"\breached max_iter\b": "reached --max-iter",
    r"\braise max_iter\b( or loosen tol\b)?": "raise --max-iter",
    r" to feasibility_tol(?=:)": "",
    r"\braise n_starts\b": "raise --starts",
    r"\bstarts \(n_starts\), processes \(n_jobs\) or components \(rank\)": "--starts, --jobs or --rank",
    r"\bfewer processes \(n_jobs\)": "fewer processes (--jobs)",
    r" needs top_columns=:": " needs --top-columns:",
    r"\btime= must say which column": "--time must say which column",
    r"\bcolumns= must say which column": "--columns must say which column",
    r"\bchoose n_weak(?= <=)": "choose --weak",
    r"\bLower smoothness \(or the lambdas\)": "Lower --smoothness",
    r"\buse norm penalties or smoothness\b": "use a smooth model (--model tparafac2)",
    r"\bwithout smoothness use Parafac2\b": "without smoothness use --model parafac2",
    r"\bUse bridge=False if\b": "Use --no-bridge if",
    r"\bCheck X and mask\b": "Check the data",
    r"\breplace it with overwrite\b": "replace it with --overwrite",
    r"\bopen it with tparafac2\.load\b": "look at it with 'tparafac2 info' or 'tparafac2 report'",
    r"\ba file that Result\.save wrote(, or save the result again)?": "a model.nc that 'tparafac2 fit' wrote",
    r"\bmake it a column with frame\.reset_index\(\)": "save the table with its index as a column",
    r"\bleave such lines out with frame\.dropna\(subset=\[.*?\]\)": "leave such lines out",
    r", for example with pandas\.to_numeric\(frame\[.*?\]\)": "",
    r" \(pandas\.to_datetime reads other forms of dates\)": "; write other dates in one of these forms",
    r"\bgive times='even' if\b": "save the data without labels of time if",
    r"\buse dtype='float32' to halve the need, ": "",
    r", or None(?=; got )": "",
    r"; got None(?=\.$)": "",
}
"""Advice that means something else here, or nothing; patterns match whole phrases of the library only."""

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


_ADVICE = {
    "or_loosen_tol": "",
    "to_feasibility_tol": "",
    "or_penalise": ", or use a smooth model (--model tparafac2)",
    "or_lambdas": "",
    "no_bridge": "--no-bridge",
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
        if flag == setting.argument or not setting.is_given:
            return super().setting(setting) if flag == setting.argument else flag
        text = str(setting.value)
        return f"{flag} {shlex.quote(text) if text.isprintable() else repr(setting.value)}"

    def advice(self, advice: Advice) -> str:
        """Give the advice that helps here."""
        return _ADVICE.get(advice.key, advice.usual)


FLAGS = Flags()


def in_flags(sentence: str, flags: Mapping[str, str] | None = None) -> str:
    """Say a sentence with the flags of a command in place of Python's arguments.

    What stands in quotation marks is the user's, and stays as it is.

    Parameters
    ----------
    sentence : str
    flags : mapping of str to str, optional
        Flags of the command by the names of arguments, see `flags_of`.

    Examples
    --------
    >>> in_flags("rows='rr' is not a column of the table.", {"rows": "--rows"})
    '--rows rr is not a column of the table.'
    >>> in_flags("there is no file \\"rows='rr'\\".", {"rows": "--rows"})
    'there is no file "rows=\\'rr\\'".'
    """
    flags = flags or {}
    names = "|".join(map(re.escape, flags)) or "(?!)"
    pattern = (
        f"(?P<phrase>{'|'.join(_PHRASES)})"
        rf"|(?<![\w.'\"-])(?P<given>{names})=(?P<value>{_QUOTED}|{_NUMBER})?(?=[\s,;:.)]|$)"
        rf"|(?:^|(?<=: ))(?P<name>{names})(?= must )"
        rf"|(?<!\w)(?:{_QUOTED})"
    )

    def spoken(found: re.Match[str]) -> str:
        if found["phrase"] is not None:
            return next(new for old, new in _PHRASES.items() if _is_found(old, found))
        if found["name"]:
            return flags[found["name"]]
        if found["given"]:
            return flags[found["given"]] + (f" {_typed(found['value'])}" if found["value"] else "")
        return found[0]

    return re.sub(pattern, spoken, sentence)


def flags_of(command: Any) -> dict[str, str]:
    """The longest flag of every option of a command, by the names that Python has for it."""
    options = [one for one in getattr(command, "params", ()) if one.param_type_name == "option"]
    flags = {str(one.name): str(max(one.opts, key=len)) for one in options}
    return flags | {name: flags[here] for name, here in _OTHER_NAMES.items() if here in flags}


def _is_found(phrase: str, found: re.Match[str]) -> bool:
    there = re.compile(phrase).match(found.string, found.start())
    return there is not None and there.end() == found.end()


def _typed(value: str) -> str:
    """A value as one would type it in a shell; what cannot be typed stays as Python shows it."""
    text = str(ast.literal_eval(value)) if value[0] in "'\"" else value
    return shlex.quote(text) if text.isprintable() else value
