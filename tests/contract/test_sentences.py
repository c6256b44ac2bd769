"""All sentences of bad input in one file, for a person to read: `sentences.txt`.

Words may change: with ``TPARAFAC2_WRITE_SENTENCES=1 pytest tests/contract/test_sentences.py`` the file is
written anew, and its difference is what there is to review. What Python and other libraries say themselves is
left out. The file belongs to this version, and not to others.
"""

import os
import re
from pathlib import Path

import pytest
from contract.bad_inputs import ROOMS, refuse

GOLDEN = Path(__file__).with_name("sentences.txt")
WRITE = "TPARAFAC2_WRITE_SENTENCES"


def rendered(tmp_path):
    """Every room with its rows: what was given, the kind of error, and the sentence."""
    lines = []
    for room, rows in ROOMS.items():
        lines += [f"## {room}", ""]
        for row in rows:
            error = refuse(row, tmp_path)
            sentence = str(error).replace(str(tmp_path), "<folder>")
            sentence = re.sub(r"^\w+\.__init__\(\).*", "(Python's own sentence)", sentence)
            sentence = re.sub(r" object at 0x[0-9a-f]+", "", sentence)
            lines += [f"{row.what}: {type(error).__name__}", f"    {sentence}", ""]
    return "\n".join(lines)


@pytest.mark.slow
def test_sentences(tmp_path):
    found = rendered(tmp_path)
    if os.environ.get(WRITE):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8"), f"read the difference, and write it with {WRITE}=1"
