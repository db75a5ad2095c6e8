import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix, vstack

from textcritic.errors import TextcriticError
from textcritic.latents.bags import Counts, open_counts, write_counts


@pytest.fixture
def stored(tmp_path):
    rows = np.random.default_rng(1).poisson(0.4, (300, 40)).astype(np.int32)
    rows[[0, 7, 299]] = 0
    blocks = [
        Counts(pa.array([f"d{n}" for n in range(a, b)]), np.arange(a, b), csr_matrix(rows[a:b]))
        for a, b in [(0, 1), (1, 200), (200, 300)]
    ]
    write_counts(tmp_path / "bags", iter(blocks), 40)
    return tmp_path / "bags", rows


def test_counts_round_trip_without_copies(stored):
    folder, rows = stored
    found = open_counts(folder)
    assert (found.matrix.toarray() == rows).all()
    assert (found.ids.to_pylist()[299], found.tokens.tolist()) == ("d299", list(range(300)))
    for name, array in (("indices", found.matrix.indices), ("counts", found.matrix.data)):
        mapped = array
        while not isinstance(mapped, np.memmap):
            mapped = mapped.base
        assert np.shares_memory(mapped, array)
        assert mapped.filename == folder / f"{name}.npy"
        assert not array.flags.writeable
        assert np.load(folder / f"{name}.npy").dtype == np.int32
    assert np.load(folder / "indptr.npy").dtype == np.int64
    assert found.matrix[7:9].nnz == (rows[7:9] > 0).sum()  # scipy's own operations work on what cannot be written
    assert vstack([found.matrix[:2], found.matrix[2:]]).sum() == rows.sum()


def test_opening_does_not_read_into_memory(tmp_path):
    """80 MB of counts are opened, and a part of them summed, with a few MB of memory that is the process's own."""
    block = csr_matrix(np.ones((1000, 1000), dtype=np.int32))
    documents = Counts(pa.array(map(str, range(1000))), np.full(1000, 1000), block)
    write_counts(tmp_path / "bags", (documents for _ in range(10)), 1000)
    open_counts(tmp_path / "bags")  # what is imported and cached on the way is there now

    def own() -> int:
        with open("/proc/self/statm") as handle:  # noqa: PTH123
            _, resident, shared = map(int, handle.read().split()[:3])
        return (resident - shared) * 4096

    before = own()
    found = open_counts(tmp_path / "bags")
    assert found.matrix[5000:5100].sum() == 100_000
    assert own() - before < 40_000_000
    assert found.matrix.nnz == 10_000_000


def test_empty_counts_are_opened(tmp_path):
    write_counts(tmp_path / "none", [], 3)
    assert open_counts(tmp_path / "none").matrix.shape == (0, 3)
    blank = Counts(pa.array(["a", "b"]), np.array([5, 0]), csr_matrix((2, 3), dtype=np.int32))
    write_counts(tmp_path / "blank", [blank], 3)
    assert open_counts(tmp_path / "blank").matrix.shape == (2, 3)


def test_unsorted_rows_are_written_sorted(tmp_path):
    matrix = csr_matrix((np.array([1, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    write_counts(tmp_path / "bags", [Counts(pa.array(["a"]), np.array([6]), matrix)], 3)
    assert open_counts(tmp_path / "bags").matrix.toarray().tolist() == [[2, 0, 4]]
    assert matrix.nnz == 3


def test_a_failure_leaves_the_old_folder(stored):
    folder, rows = stored
    narrow = Counts(pa.array(["a"]), np.array([1]), csr_matrix((1, 39), dtype=np.int32))
    with pytest.raises(TextcriticError, match="counts over 39 words"):
        write_counts(folder, [narrow], 40)
    assert (open_counts(folder).matrix.toarray() == rows).all()
    assert [path.name for path in folder.parent.iterdir()] == ["bags"]


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[0, 2**31 - 1, 3]]),
        np.array([[0.0, 2.0, 3.0]]),
        np.array([[0, 200, 3]], dtype=np.uint8),
        np.array([[False, True, True]]),
    ],
)
def test_counts_of_any_kind_are_stored_as_they_are(tmp_path, rows):
    write_counts(tmp_path / "bags", [Counts(pa.array(["a"]), np.array([9]), csr_matrix(rows))], 3)
    assert open_counts(tmp_path / "bags").matrix.toarray().tolist() == rows.astype(int).tolist()


def test_a_zero_that_is_stored_is_left_out(tmp_path):
    matrix = csr_matrix((np.array([1, 0, 0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    write_counts(tmp_path / "bags", [Counts(pa.array(["a", "b"]), np.array([6, 0]), matrix)], 3)
    found = open_counts(tmp_path / "bags").matrix
    assert (found.nnz, found.toarray().tolist()) == (1, [[0, 0, 1], [0, 0, 0]])
    assert matrix.nnz == 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2**32 + 5, "4294967301"),
        (2**31, "2147483648"),
        (np.uint64(2**63 + 5), "9223372036854775813"),
        (0.5, "0.5"),
        (-1, "-1"),
        (np.nan, "nan"),
        (np.inf, "inf"),
        (1e30, r"1e\+30"),
    ],
)
def test_what_is_no_count_is_not_written_and_its_document_is_named(tmp_path, value, shown):
    data = np.array([1, value, 1], dtype=np.asarray(value).dtype)
    matrix = csr_matrix((data, np.array([0, 1, 0]), np.array([0, 0, 2, 3])), shape=(3, 2))
    block = Counts(pa.array(["empty", "wrong", "last"]), np.array([0, 2, 1]), matrix)
    with pytest.raises(TextcriticError, match=rf"bags: document 'wrong': a count of {shown}; it must be a"):
        write_counts(tmp_path / "bags", [block], 2)
    assert not list(tmp_path.iterdir())


def test_counts_of_a_word_that_are_too_many_together_are_not_written(tmp_path):
    matrix = csr_matrix((np.array([2**31 - 1, 1], dtype=np.int32), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(TextcriticError, match="document 'a': a count of 2147483648; it must be"):
        write_counts(tmp_path / "bags", [Counts(pa.array(["a"]), np.array([2]), matrix)], 2)


def changed(path, change):
    array = np.load(path)
    change(array)
    np.save(path, array)


def write_ids(path, number):
    pq.write_table(pa.table({"id": [str(n) for n in range(number)], "tokens": np.arange(number)}), path)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-4])


def put(position, value):
    def change(array):
        array[position] = value

    return change


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("indptr.npy", truncate, "not a whole .npy file"),
        ("indices.npy", truncate, "not a whole .npy file"),
        ("counts.npy", truncate, "not a whole .npy file"),
        ("counts.npy", lambda p: p.write_bytes(b""), "not a whole .npy file"),
        ("counts.npy", lambda p: p.unlink(), "no such file"),
        ("indices.npy", lambda p: np.save(p, np.load(p)[:-1]), r"shape.json says \("),
        ("counts.npy", lambda p: np.save(p, np.load(p).astype(np.int64)), "of int64"),
        ("indices.npy", lambda p: changed(p, put(-1, 40)), "a word id that is not among those of 40 words"),
        ("indices.npy", lambda p: changed(p, put(0, -1)), "a word id that is not among those of 40 words"),
        ("indices.npy", lambda p: changed(p, lambda a: a[:2].sort() or put(slice(0, 2), a[1::-1])(a)), "do not ascend"),
        ("indices.npy", lambda p: changed(p, lambda a: put(1, a[0])(a)), "do not ascend"),
        ("counts.npy", lambda p: changed(p, put(3, -2)), "a count below 1"),
        ("counts.npy", lambda p: changed(p, put(-1, 0)), "a count below 1"),
        ("indptr.npy", lambda p: changed(p, put(5, 10**6)), "the rows do not follow one another"),
        ("indptr.npy", lambda p: changed(p, put(0, 1)), "the rows do not follow one another"),
        ("ids.parquet", truncate, "not a whole Parquet file"),
        ("ids.parquet", lambda p: write_ids(p, 299), "not the ids of 300 documents"),
        ("shape.json", lambda p: p.write_text('{"documents": 3}'), "not whole numbers under documents, words, entries"),
        ("shape.json", lambda p: p.write_text("{"), "not a JSON file"),
    ],
)
@pytest.mark.parametrize("scan", [7, 1 << 22])
def test_damage_is_named(stored, monkeypatch, name, damage, message, scan):
    monkeypatch.setattr("textcritic.latents.bags.counts.SCAN", scan)
    folder, _ = stored
    open_counts(folder)
    damage(folder / name)
    with pytest.raises(TextcriticError, match=message) as error:
        open_counts(folder)
    assert str(error.value).startswith(str(folder / name))
    assert "\n" not in str(error.value)
