"""What the solver may ask of the data, and how the user's data get there."""

from tparafac2.data.compression import Compressed, compress, compressed_shape
from tparafac2.data.correction import Correction
from tparafac2.data.dense import DenseData
from tparafac2.data.holed_sparse import HoledSparseData
from tparafac2.data.incomplete import ObservedData
from tparafac2.data.intake import Intake, make_intake, take_in
from tparafac2.data.interface import (
    AroundOthers,
    Compressible,
    FloatArray,
    PartlyObserved,
    RowSolve,
    SliceData,
    SparselyStored,
    Sweepable,
    is_complete,
    is_seen_by_slice,
    negative_share,
    padded,
    present_columns,
    row_weights,
)
from tparafac2.data.labels import MODES, Labels, Mode
from tparafac2.data.memory import physical_memory, require_memory
from tparafac2.data.places import Places
from tparafac2.data.reading import Reading, read_in
from tparafac2.data.sketching import Sketch, sample, sampled_rows, sketch, sketched_rows
from tparafac2.data.sparse import SparseData
from tparafac2.data.stacked import StackedData
from tparafac2.data.table import Table
from tparafac2.data.teamwork import one_busy, teamwork
from tparafac2.data.text import label_text, label_texts, listed, printable, shortened, shown
from tparafac2.data.times import Lines, TimeWeights, lines_through, read_times, slice_durations, time_weights
from tparafac2.data.unseen import FIRMLY, couplings, unseen_among, unseen_columns
from tparafac2.data.weighted import EntryWeightedData, RowWeightedData
from tparafac2.data.weights import Weighting

__all__ = [
    "Compressible",
    "Correction",
    "DenseData",
    "FloatArray",
    "Labels",
    "PartlyObserved",
    "SliceData",
    "SparseData",
    "SparselyStored",
    "Table",
]
