"""Commands, run in this process."""

from typer.testing import CliRunner

from tparafac2.cli.app import app


def run(*arguments):
    """Run what was typed, in a wide terminal without colours."""
    return CliRunner(env={"NO_COLOR": "1", "COLUMNS": "200"}).invoke(app, list(map(str, arguments)))
