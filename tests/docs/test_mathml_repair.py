"""Formulas look as LaTeX would set them where docutils alone would not."""

import importlib.util
import re
from pathlib import Path

import pytest

latex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml", exc_type=ImportError)

SOURCE = Path(__file__).parents[2] / "docs" / "_extensions" / "mathml_repair.py"
SPEC = importlib.util.spec_from_file_location("mathml_repair", SOURCE)
mathml_repair = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mathml_repair)


def mended(latex, block=False):
    """Give the inside of the repaired formula."""
    text = mathml_repair.repair(latex2mathml.tex2mathml(latex, as_block=block))
    return re.fullmatch(r"<math [^>]*>(.*)</math>", text).group(1)


def plain(latex):
    """Give it without attributes."""
    return re.sub(r"<(\w+)[^>]*>", r"<\1>", mended(latex))


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("X_k", "<msub><mi>X</mi><mi>k</mi></msub>"),
        (r"\hat{X}_k", "<msub><mover><mi>X</mi><mo>ˆ</mo></mover><mi>k</mi></msub>"),
        (r"\hat X_k^2", "<msubsup><mover><mi>X</mi><mo>ˆ</mo></mover><mi>k</mi><mn>2</mn></msubsup>"),
        (r"\hat X^2", "<msup><mover><mi>X</mi><mo>ˆ</mo></mover><mn>2</mn></msup>"),
        (r"\sum_{k}^K", "<munderover><mo>∑</mo><mi>k</mi><mi>K</mi></munderover>"),
        ("x'", "<msup><mi>x</mi><mo>′</mo></msup>"),
        ("B_k' B", "<msubsup><mi>B</mi><mi>k</mi><mo>′</mo></msubsup><mi>B</mi>"),
        (r"\text{don't}", "<mtext>don't</mtext>"),
        (r"\operatorname{diag} c", "<mi>diag</mi><mo>\N{FUNCTION APPLICATION}</mo><mi>c</mi>"),
    ],
)
def test_structure(latex, expected):
    assert plain(latex) == expected


def test_norms_are_tight():
    bar = '<mo lspace="0" rspace="0" stretchy="false">‖</mo>'
    assert mended(r"\|x\|") == f"{bar}<mi>x</mi>{bar}"


def test_bars_grow_where_asked_to():
    assert "stretchy" not in mended(r"\left\|x\right\|")


def test_aligned_lines_are_displayed():
    assert 'displaystyle="true"' in mended(r"\begin{aligned}a&=b\\c&=d\end{aligned}", block=True)


@pytest.mark.parametrize("latex", [r"\nosuch{x}", r"\begin{aligned}a&=\frac12\\c&=d\end{aligned}"])
def test_what_cannot_be_shown_is_refused(latex):
    with pytest.raises(mathml_repair.MathError):
        mended(latex, block=True)
