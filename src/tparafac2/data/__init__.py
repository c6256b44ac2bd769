"""What the solver may ask of the data, and how the user's data get there."""

from tparafac2.data.compression import Compressed, compress
from tparafac2.data.dense import DenseData
from tparafac2.data.intake import Intake, take_in
from tparafac2.data.interface import Factors, FloatArray, SliceData
from tparafac2.data.labels import MODES, Labels, Mode
from tparafac2.data.memory import physical_memory, require_memory

__all__ = [
    "MODES",
    "Compressed",
    "DenseData",
    "Factors",
    "FloatArray",
    "Intake",
    "Labels",
    "Mode",
    "SliceData",
    "compress",
    "physical_memory",
    "require_memory",
    "take_in",
]
