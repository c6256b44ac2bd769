"""The command line described in Markdown, from the commands themselves."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import typer

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|$])")
_WORDS = {"bool": "", "float": "number", "int": "whole number", "str": "text"}


class Part(NamedTuple):
    """A part of the reference; the first has no title."""

    anchor: str
    title: str
    text: str


def describe_app(app: typer.Typer, program: str, meanings: Mapping[Any, str]) -> list[Part]:
    """Describe every command of an app, the options of the program itself, and the exit codes.

    Parameters
    ----------
    app : typer.Typer
        The program.
    program : str
        What the user types to run it.
    meanings : mapping of exit code to str
        What each exit code means.

    Returns
    -------
    list of Part
        An overview, a part for each command with the anchor ``command-NAME``, and two more.
    """
    group: Any = typer.main.get_command(app)
    context = group.make_context(program, [], resilient_parsing=True)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    codes = ((f"`{int(code)}`", _plain(meaning)) for code, meaning in meanings.items())
    table_of_codes = _table(("code", "meaning"), codes)
    itself = ["These options come before the command:", *_parameters(group, context)]
    return [
        Part("commands", "", _table(("command", "what it does"), _overview(commands))),
        *(
            Part(f"command-{name}", f"{program} {name}", _command(program, name, command, context))
            for name, command in commands.items()
        ),
        Part("program-options", f"{program} itself", "\n\n".join(itself)),
        Part("exit-codes", "Exit codes", f"The same for every command:\n\n{table_of_codes}"),
    ]


def _overview(commands: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, command in commands.items():
        yield f"[{name}](#command-{name})", _plain(" ".join(command.help.split("\n\n")[0].split()))


def _command(program: str, name: str, command: Any, parent: typer.Context) -> str:
    context = typer.Context(command, parent=parent, info_name=name)
    usage = " ".join([program, name, *command.collect_usage_pieces(context)])
    blocks = [
        _plain(command.help),
        _code(usage.replace("{", "").replace("}", ""), "text"),
        *_parameters(command, context),
        *_epilog(command.epilog or "", program),
    ]
    return "\n\n".join(blocks)


def _parameters(command: Any, context: typer.Context) -> Iterator[str]:
    """Tables of arguments and options: one for each panel of the help, in its order."""
    for panel, parameters in _panels(command.get_params(context)).items():
        yield f"**{panel}**"
        if panel == "Arguments":
            yield _table(
                ("argument", "what it is", "takes"),
                ((_called(one), _plain(one.help), _kind(one, context)) for one in parameters),
            )
        else:
            yield _table(
                ("option", "what it does", "takes", "default"),
                ((_names(one), _plain(one.help), _takes(one, context), _default(one)) for one in parameters),
            )


def _panels(parameters: Iterable[Any]) -> dict[str, list[Any]]:
    panels: dict[str, list[Any]] = {"Arguments": [], "Options": []}
    for one in parameters:
        if not one.hidden:
            usual = "Arguments" if one.param_type_name == "argument" else "Options"
            panels.setdefault(one.rich_help_panel or usual, []).append(one)
    return {panel: listed for panel, listed in panels.items() if listed}


def _called(argument: Any) -> str:
    return f"`{argument.metavar or argument.name}`"


def _names(option: Any) -> str:
    names = sorted([*option.opts, *option.secondary_opts], key=len, reverse=True)
    return ", ".join(f"`{name}`" for name in names)


def _takes(option: Any, context: typer.Context) -> str:
    kind = f"`{option.metavar}`" if option.metavar else _kind(option, context)
    return f"{kind}, repeatable" if option.multiple else kind


def _kind(parameter: Any, context: typer.Context) -> str:
    """What a parameter takes, in words: its choices, or the kind of value."""
    kind: str = parameter.display_type(context).strip("<>").removeprefix("list[").removesuffix("]")
    if "|" in kind:
        return ", ".join(f"`{choice}`" for choice in kind.split("|"))
    return _WORDS.get(kind, kind)


def _default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    if option.required:
        return "required"
    return "" if option.is_flag or option.default is None else f"`{option.default}`"


def _epilog(text: str, program: str) -> Iterator[str]:
    """Indented lines of the help's last part are code, the others sentences."""
    for indented, lines in groupby(text.strip().splitlines(), key=lambda line: line.startswith(" ")):
        block = "\n".join(line.strip() for line in lines).strip()
        if indented:
            yield _code(block, "shell" if block.startswith(program) else "python")
        elif block:
            yield _plain(block)


def _plain(text: str | None) -> str:
    """Text that Markdown leaves as it is."""
    return _MARKUP.sub(r"\\\1", text or "")


def _code(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
