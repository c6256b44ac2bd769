"""Fields of named tuples are told in the class's own docstring, not once more as members without a word."""

from typing import Any

from sphinx.application import Sphinx


def skip_bare_fields(
    _app: Sphinx, _what: str, _name: str, member: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out what Python documents as an alias for a field; have no opinion on anything else."""
    return True if (getattr(member, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen while autodoc gathers members."""
    app.connect("autodoc-skip-member", skip_bare_fields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
