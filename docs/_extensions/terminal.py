"""A cell magic for pages: ``%%bash`` as a terminal would show it, after ``%load_ext terminal``."""

import os
import subprocess
import sys
from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Make ``%%bash`` known to the kernel of a page, with the commands of its own environment."""
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    shell.register_magic_function(_bash, "cell", "bash")


def _bash(line: str, cell: str) -> None:
    done = subprocess.run(["bash", "-ec", cell], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    sys.stdout.write(done.stdout)
    done.check_returncode()
