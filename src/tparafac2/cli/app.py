"""The commands, put together."""

from typing import Annotated

import typer

from tparafac2 import __version__
from tparafac2.cli import (
    append,
    choose,
    compare,
    complete,
    fit,
    forecast,
    transform,
    viewing,
)
from tparafac2.cli.errors import MEANINGS, PlainSpoken

EXIT_CODES = "\n".join(f"{code:>5}  {meaning}" for code, meaning in MEANINGS.items())

app = typer.Typer(
    cls=PlainSpoken,
    epilog=f"Exit codes:\n{EXIT_CODES}",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback to report has to be plain text
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("fit", epilog=fit.EXAMPLES)(fit.fit)
app.command("append", epilog=append.EXAMPLES)(append.append)
app.command("forecast", epilog=forecast.EXAMPLES)(forecast.forecast)
app.command("report", epilog=viewing.REPORT_EXAMPLES)(viewing.report)
app.command("choose", epilog=choose.EXAMPLES)(choose.choose)
app.command("compare", epilog=compare.EXAMPLES)(compare.compare)
app.command("info", epilog=viewing.INFO_EXAMPLES)(viewing.info)
app.command("transform", epilog=transform.EXAMPLES)(transform.transform)
app.command("complete", epilog=complete.EXAMPLES)(complete.complete)
app.command("demo", epilog=fit.DEMO_EXAMPLES)(fit.demo)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tparafac2 {__version__}")
        raise typer.Exit


@app.callback()
def tparafac2(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the code an error comes from.")
    ] = False,
) -> None:
    """Find patterns that change in time."""
