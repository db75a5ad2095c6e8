import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from textcritic.errors import TextcriticError
from textcritic.latents.bags import ldac, read_ldac


def write_ldac(path, matrix):
    """Write counts [documents, words] as LDA-C; the word ids of a line ascend, zeros are left out."""
    rows = csr_matrix(matrix)
    with path.open("wb") as handle:
        for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            pairs = zip(rows.indices[start:stop].tolist(), rows.data[start:stop].tolist(), strict=True)
            handle.write(b" ".join([b"%d" % (stop - start), *map(b"%d:%d".__mod__, pairs)]) + b"\n")


def write(tmp_path, content):
    path = tmp_path / "x.dat"
    path.write_bytes(content)
    return path


@pytest.fixture(params=["at once", "line by line", "by line and in blocks of 10 bytes", "in blocks of 10 bytes"])
def way(request, monkeypatch):
    if "line" in request.param:
        monkeypatch.setattr(ldac, "_fast", lambda block, num_words: None)
    if "10" in request.param:
        monkeypatch.setattr(ldac, "BLOCK", 10)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"2 0:1 2:30\n", [[1, 0, 30]]),
        (b"2 2:30 0:1\n", [[1, 0, 30]]),
        (b"0\n1 1:5\n0\n", [[0, 0], [0, 5], [0, 0]]),
        (b"0\n", [[]]),
        (b"2 1:2 1:3\n", [[0, 5]]),
        (b"1 0:1\r\n 1\t1:2  \r\n", [[1, 0], [0, 2]]),
        (b"01 000000000001:0000000000002\n", [[0, 2]]),
        (b"1 0:2147483647\n", [[2147483647]]),
        (b"12" + b"".join(b" %d:1" % n for n in range(12)) + b"\n0\n", [[1] * 12, [0] * 12]),
    ],
)
def test_rows(tmp_path, content, rows):
    found = read_ldac(write(tmp_path, content))
    assert found.toarray().tolist() == rows
    assert found.dtype == np.int32
    assert found.has_sorted_indices


def test_width_is_the_vocabulary(tmp_path):
    assert read_ldac(write(tmp_path, b"1 1:1\n"), num_words=5).shape == (1, 5)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1 5:1", "word id 5 is beyond the vocabulary of 5 words, whose ids start at 0"),
        (b"1 99999999999999999999:1", "word id 99999999999999999999 is beyond"),
        (b"1 0:-1", "the count of '0:-1' is not from 1 to 2147483647"),
        (b"1 0:0", "the count of '0:0' is not from 1 to 2147483647"),
        (b"1 0:2147483648", "the count of '0:2147483648' is not from 1"),
        (b"1 -1:1", "'-1:1' is not id:count in whole numbers"),
        (b"1 0:1.5", "'0:1.5' is not id:count in whole numbers"),
        (b"1 0:nan", "'0:nan' is not id:count in whole numbers"),
        (b"1 0:", "'0:' is not id:count"),
        (b"1 :1", "':1' is not id:count"),
        (b"1 0 :1", "'0' is not id:count"),
        (b"1 0: 1", "'0:' is not id:count"),
        (b"1 0:1:1", "'0:1:1' is not id:count"),
        (b"1 0::1", "'0::1' is not id:count"),
        (b"1:1 0", "'1:1' is not the number of types"),
        (b"x 0:1", "'x' is not the number of types"),
        (b"-1", "'-1' is not the number of types"),
        (b"3 0:1 1:1", "'3' types, and the line has 2 (is it cut short?)"),
        (b"1 0:1 1:1", "'1' types, and the line has 2"),
        (b"2", "'2' types, and the line has 0"),
        (b"", "a blank line, where an empty document is a 0"),
        (b"  \t", "a blank line"),
        (b"1 \xff:1", r"'\ufffd:1' is not id:count"),
        (b"\xef\xbb\xbf1 0:1", r"'\ufeff1' is not the number of types"),
        ("1 ٣:1".encode(), "is not id:count"),
        (b"1 0:1\x00", r"'0:1\x00' is not id:count"),
        (b"1" * 5000, "1111' is not the number of types"),
    ],
)
def test_bad_line_is_named(tmp_path, line, message):
    path = write(tmp_path, b"1 0:1\n0\n" + line + b"\n1 0:1\n")
    with pytest.raises(TextcriticError) as error:
        read_ldac(path, num_words=5)
    assert str(error.value).startswith(f"{path}:3: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_counts_of_a_word_that_are_too_many_together(tmp_path):
    with pytest.raises(TextcriticError, match="add up to more than"):
        read_ldac(write(tmp_path, b"2 0:2147483647 0:1\n"))


@pytest.mark.parametrize("content", [b"", None])
def test_no_document(tmp_path, content):
    path = tmp_path / "x.dat"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TextcriticError, match=r"x\.dat: (there is no document|cannot be read: No such file)"):
        read_ldac(path)
    with pytest.raises(TextcriticError, match="Is a directory"):
        read_ldac(tmp_path)


def test_last_line_without_line_break_is_taken_with_a_warning(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="textcritic"):
        assert read_ldac(write(tmp_path, b"1 0:1\n1 1:22")).toarray().tolist() == [[1, 0], [0, 22]]
    assert "the last line has no line break" in caplog.text
    with pytest.raises(TextcriticError, match=r":2: '2' types, and the line has 1 \(is it cut short\?\)"):
        read_ldac(write(tmp_path, b"1 0:1\n2 1:22"))


@settings(deadline=None)
@given(st.binary(max_size=30) | st.text("0123456789: \n\r-", max_size=30).map(str.encode))
def test_both_ways_agree_on_anything(block):
    """What is parsed at once is what is parsed line by line, and nothing that this refuses is taken."""
    block += b"\n"
    fast = ldac._fast(block, 100)
    if fast is not None:
        careful = ldac._careful(block, "x", 1, 100)
        assert [column.tolist() for column in fast] == [column.tolist() for column in careful]


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 3000), st.integers(1, 2**31 - 1)), min_size=1, max_size=6))
def test_clean_lines_are_parsed_at_once(documents):
    lines = [b" ".join([b"%d" % len(d), *(b"%d:%d" % pair for pair in d.items())]) for d in documents]
    block = b"".join(line + b"\n" for line in lines)
    found = ldac._fast(block, 3001)
    counts = [count for document in documents for count in document.values()]
    if counts and max(counts) < 10**9:
        assert found is not None
    if found is not None:
        assert [column.tolist() for column in found] == [
            [len(document) for document in documents],
            [id_ for document in documents for id_ in document],
            counts,
        ]


@settings(deadline=None, max_examples=30)
@given(rows=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("ldac") / "x.dat"
    write_ldac(path, csr_matrix(np.array(rows)))
    assert read_ldac(path, num_words=4).toarray().tolist() == rows
    assert path.read_bytes().endswith(b"\n")


def test_wiki_round_trip_is_byte_for_byte(tmp_path, wiki_counts):
    found = read_ldac(wiki_counts, num_words=3546)
    assert (found.shape, found.nnz) == ((819, 3546), 95907)
    write_ldac(tmp_path / "wiki.dat", found)
    assert (tmp_path / "wiki.dat").read_bytes() == wiki_counts.read_bytes()


def test_a_line_without_end_is_refused_before_memory_is_gone(monkeypatch):
    monkeypatch.setattr(ldac, "LONGEST_LINE", 1 << 24)
    with pytest.raises(TextcriticError, match=r"^/dev/zero: a line is longer than 16 MiB; write one document a line$"):
        read_ldac("/dev/zero")
