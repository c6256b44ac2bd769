"""The directive ``{commands}``: the reference of the command line, made from the program when the site is."""

from command_text import Part, describe_app
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tparafac2.cli.app import app as program
from tparafac2.cli.errors import MEANINGS


class Commands(SphinxDirective):
    """Every command with its options, and the exit codes."""

    def run(self) -> list[nodes.Node]:
        """Describe the program, each part in a section of its own."""
        overview, *parts = describe_app(program, "tparafac2", MEANINGS)
        return [*self.parse_text_to_nodes(overview.text), *map(self._section, parts)]

    def _section(self, part: Part) -> nodes.section:
        section = nodes.section(ids=[part.anchor], names=[part.anchor])
        section += nodes.title(text=part.title)
        section += self.parse_text_to_nodes(part.text)
        self.state.document.note_explicit_target(section)
        return section


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
