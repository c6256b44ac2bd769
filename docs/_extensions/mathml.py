"""Formulas become MathML when the site is built, so that pages need no script to show them."""

from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, unichar2tex
from mathml_repair import repair
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOG = logging.getLogger(__name__)


def to_mathml(formula: str, *, block: bool) -> str:
    """Turn LaTeX into MathML; unknown LaTeX is a `MathError`."""
    latex = formula.translate(unichar2tex.uni2tex_table)
    return repair(latex2mathml.tex2mathml(latex, as_block=block))


def _markup(translator: Any, node: nodes.math | nodes.math_block) -> str:
    formula = node.astext()
    try:
        return to_mathml(formula, block=isinstance(node, nodes.math_block))
    except MathError as error:
        page = translator.builder.current_docname
        LOG.warning("the formula %r on page %r has no MathML: %s", formula, page, error, location=node)
        return f"<code>{escape(formula)}</code>"


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula in a sentence."""
    translator.body.append(_markup(translator, node))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, with its number if it has a label."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(f'<div class="formula">{_markup(translator, node)}</div>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
