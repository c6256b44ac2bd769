"""Files of models from strangers are not believed, and damage is found."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

import tparafac2 as tp

HEADER = "tparafac2_model.npy"


@pytest.fixture(scope="module")
def model():
    X = tp.synthetic.easy(seed=0, n_times=5, n_rows=12, n_columns=18).X
    return tp.CP(2, n_starts=1, random_state=0).fit(X)


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, packed=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, content in members if isinstance(members, list) else members.items():
            archive.writestr(name, content)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def claiming(shape, descr="<f8", held=b""):
    """What begins like an array of this shape and type, and holds something else."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file.getvalue() + held


def with_header(members, **changes):
    facts = json.loads(np.load(io.BytesIO(members[HEADER])).item()) | changes
    return members | {HEADER: npy(np.array(json.dumps(facts).encode()))}


def refused(path):
    with pytest.raises(ValueError) as caught:
        tp.load(path)
    assert str(path) in str(caught.value)


class Planted:
    """Opening it would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_numpy_reads_it_and_nothing_in_it_is_code(saved, model):
    with np.load(saved, allow_pickle=False) as found:
        np.testing.assert_array_equal(found["A"], model.A_)
        assert json.loads(found["tparafac2_model"].item())["model"] == "CP"


CHANGED = {
    "an array that claims what is not there": lambda m: m | {"A.npy": claiming((10**9, 2))},
    "an array that claims an entry too many": lambda m: m | {"A.npy": claiming((13, 2), held=bytes(192))},
    "an array with more than it claims": lambda m: m | {"A.npy": m["A.npy"] + bytes(8)},
    "an array of endless nothing": lambda m: m | {"B.npy": claiming((10**12, 0, 2))},
    "an array of negative lengths": lambda m: m | {"A.npy": claiming((-12, -2), held=bytes(192))},
    "an array of other lengths": lambda m: m | {"A.npy": npy(np.ones((12, 3)))},
    "an array of texts": lambda m: m | {"A.npy": npy(np.full((12, 2), "one"))},
    "an array of records": lambda m: m | {"A.npy": npy(np.zeros(12, dtype="f8,f8"))},
    "an array of no text": lambda m: m | {"start.status.npy": claiming((1,), "<U1", b"\xff" * 4)},
    "no array": lambda m: m | {"A.npy": b"no array"},
    "an array of rows less": lambda m: {name: content for name, content in m.items() if name != "A.npy"},
    "a stranger": lambda m: m | {"D.npy": npy(np.ones(3))},
    "a listed stranger": lambda m: with_header(
        m | {"D.npy": npy(np.ones(3))},
        arrays=[*(name.removesuffix(".npy") for name in m if name != HEADER), "D"],
    ),
    "no header": lambda m: {name: content for name, content in m.items() if name != HEADER},
    "a header that is no JSON": lambda m: m | {HEADER: npy(np.array(b"{"))},
    "a header that goes down without end": lambda m: m | {HEADER: npy(np.array(b"[" * 10**6))},
    "a header that is a list": lambda m: m | {HEADER: npy(np.array(b"[]"))},
    "a header of another format": lambda m: with_header(m, format_version="two"),
    "a header of a later format": lambda m: with_header(m, format_version=99),
    "widths of other slices": lambda m: with_header(m, widths=[1, 1]),
}


@pytest.mark.parametrize("change", CHANGED)
def test_what_nobody_saved_is_refused(saved, change):
    write(saved, CHANGED[change](members_of(saved)))
    tracemalloc.start()
    refused(saved)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 30_000_000


def test_objects_are_not_opened(saved, tmp_path):
    planted = np.array([Planted(str(tmp_path / "planted"))] * 24, dtype=object).reshape(12, 2)
    write(saved, members_of(saved) | {"A.npy": npy(planted, allow_pickle=True)})
    refused(saved)
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("name", ["../planted.npy", "/planted.npy", "planted/", "..\\planted.npy"])
def test_nothing_is_unpacked_to_other_places(saved, tmp_path, name):
    write(saved, members_of(saved) | {name: npy(np.ones(3))})
    before = sorted(tmp_path.parent.rglob("*"))
    refused(saved)
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_two_arrays_of_one_name_are_refused(saved):
    members = members_of(saved)
    with pytest.warns(UserWarning, match="Duplicate name"):
        write(saved, [*members.items(), ("A.npy", members["A.npy"])])
    refused(saved)


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(saved, packed):
    members = members_of(saved) | {"A.npy": npy(np.zeros((2_000_000, 2)))}
    write(saved, members, packed)
    assert saved.stat().st_size < 1_000_000
    tracemalloc.start()
    refused(saved)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000


def test_arrays_that_share_their_bytes_are_refused(saved):
    """Every entry of the directory is there a hundred times, under another name, at the same place."""
    whole = saved.read_bytes()
    begin = whole.index(b"PK\1\2")
    end = whole.rindex(b"PK\5\6")
    one = whole[begin : whole.index(b"PK\1\2", begin + 4)]
    copies = b"".join(one.replace(b"tparafac2_model", b"tparafac2_m%04d" % n) for n in range(100))
    directory = whole[begin:end] + copies
    number = len(members_of(saved)) + 100
    tail = bytearray(whole[end:])
    tail[8:12] = number.to_bytes(2, "little") * 2
    tail[12:16] = len(directory).to_bytes(4, "little")
    saved.write_bytes(whole[:begin] + directory + bytes(tail))
    with zipfile.ZipFile(saved) as archive:
        assert len(archive.namelist()) == number
    refused(saved)


def test_a_model_that_claims_a_rank_that_it_does_not_have_is_refused(saved):
    members = members_of(saved)
    facts = json.loads(np.load(io.BytesIO(members[HEADER])).item())
    parameters = json.loads(facts["parameters"])
    assert parameters["rank"] == 2
    write(saved, with_header(members, parameters=json.dumps(parameters | {"rank": 10**9})))
    with pytest.raises(ValueError, match="rank"):
        tp.load(saved)


def test_a_model_that_another_program_wrote_again_is_still_read(saved, model):
    with np.load(saved) as found:
        np.savez(saved, **dict(found))
    np.testing.assert_array_equal(tp.load(saved).A_, model.A_)


def test_a_model_file_is_no_data(saved):
    with pytest.raises(ValueError, match="fitted model"):
        tp.io.read(saved, axes="time,rows,columns")


def same(one, other):
    """Whether two models are the same in all that is saved of them."""
    ours, theirs = one.result_, other.result_
    equal = all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in "ABC")
    for name in ("trace", "starts"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        equal &= list(mine) == list(yours)
        equal &= all(np.array_equal(mine[key], yours[key], equal_nan=key != "status") for key in mine)
    facts = ("model", "parameters", "objective", "status", "notes", "feasibility_gaps", "version", "terms")
    return equal and all(getattr(ours, name) == getattr(theirs, name) for name in facts)


def damaged(whole, seed):
    """The bytes of a file after one of the things that happen to files."""
    rng = np.random.default_rng(seed)
    content = bytearray(whole)
    begin, end = sorted(rng.integers(len(whole), size=2))
    kind = seed % 6
    if kind == 0:
        content[begin] ^= 1 << rng.integers(8)
    elif kind == 1:
        for place in rng.integers(len(whole), size=20):
            content[place] = rng.integers(256)
    elif kind == 2:
        del content[begin:]
    elif kind == 3:
        del content[begin:end]
    elif kind == 4:
        content[begin : begin + 64] = bytes(len(content[begin : begin + 64]))
    else:  # in the directory, where the checksums do not reach
        first = whole.index(b"PK\1\2")
        content[rng.integers(first, len(whole))] = rng.integers(256)
    return bytes(content)


def test_damage_is_found_or_does_not_matter(saved, model):
    whole = saved.read_bytes()
    refusals = 0
    tracemalloc.start()
    for seed in range(500):
        saved.write_bytes(damaged(whole, seed))
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        try:
            again, said = tp.load(saved), ""
        except ValueError as error:
            again, said = None, str(error)
        refusals += again is None
        assert str(saved) in said if again is None else same(again, model), seed
        assert tracemalloc.get_traced_memory()[1] - before < 1_000_000 + 10 * len(whole), seed
    tracemalloc.stop()
    assert refusals > 400
