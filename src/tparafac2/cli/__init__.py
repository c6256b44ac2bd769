"""The command line: ``tparafac2 --help``."""

import io
import sys


def main() -> None:
    """Run the command line on the arguments of this process."""
    from tparafac2.cli.app import app

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A file name that the terminal cannot show is no reason to fail after the work is done.
        sys.stdout.reconfigure(errors="backslashreplace")
    app()
