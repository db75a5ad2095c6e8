import resource
import signal
import subprocess
import sys

import pyarrow as pa
import pytest

from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table, whole_file, whole_folder, write_json, write_table


def write_then_fail(path):
    path.write_text("half")
    raise ZeroDivisionError


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_only_when_it_is_whole(tmp_path):
    target = tmp_path / "deep" / "x.txt"
    with pytest.raises(ZeroDivisionError), whole_file(target) as temporary:
        write_then_fail(temporary)
    assert left_in(target.parent) == []
    with whole_file(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
    assert left_in(target.parent) == ["x.txt"]
    assert target.read_text() == "whole"


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "model"
    for text in ("first", "second"):
        with whole_folder(target) as temporary:
            (temporary / "weights").write_text(text)
    with pytest.raises(ZeroDivisionError), whole_folder(target) as temporary:
        write_then_fail(temporary / "weights")
    assert (target / "weights").read_text() == "second"
    assert left_in(tmp_path) == ["model"]


def test_a_kill_in_mid_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "x.json"
    write_json(target, {"version": 1})
    program = (
        "import os, signal; from textcritic.files import whole_file\n"
        f"with whole_file({str(target)!r}) as t:\n    t.write_text('{{'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    run = subprocess.run([sys.executable, "-c", program], check=False)
    assert run.returncode == -signal.SIGKILL
    assert read_json(target) == {"version": 1}


def test_a_full_disk_is_one_clear_line(tmp_path):
    """A limit on the size of files stands in for a full disk: the write fails in the same place in the same way."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    program = (
        "import sys; from textcritic.files import write_text; from textcritic.errors import TextcriticError\n"
        f"try: write_text({str(tmp_path / 'big.txt')!r}, 'x' * 100000)\n"
        "except TextcriticError as error: sys.exit(str(error))"
    )
    run = subprocess.run([sys.executable, "-c", program], preexec_fn=limit, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.strip() == f"{tmp_path / 'big.txt'}: cannot be written: File too large"
    assert left_in(tmp_path) == []


def test_reading_says_what_is_wrong(tmp_path):
    (tmp_path / "cut.json").write_text('{"a": ')
    with pytest.raises(TextcriticError, match=r"cut.json: not a JSON file"):
        read_json(tmp_path / "cut.json")
    with pytest.raises(TextcriticError, match=r"absent.json: no such file"):
        read_json(tmp_path / "absent.json")
    write_table(tmp_path / "t.parquet", pa.table({"a": list(range(1000))}))
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(TextcriticError, match=r"t.parquet: not a whole Parquet file"):
        read_table(tmp_path / "t.parquet")


def test_json_refuses_numbers_that_are_none(tmp_path):
    with pytest.raises(ValueError, match=r"Out of range"):
        write_json(tmp_path / "x.json", {"ppl": float("inf")})
    assert left_in(tmp_path) == []


def test_what_killed_writers_left_is_cleared_away(tmp_path):
    (tmp_path / ".x.json.99999.tmp").write_text("half")
    (tmp_path / ".model.99999.tmp").mkdir()
    (tmp_path / ".model.99999.tmp" / "weights").write_text("half")
    write_json(tmp_path / "x.json", 1)
    with whole_folder(tmp_path / "model") as temporary:
        (temporary / "weights").write_text("whole")
    assert left_in(tmp_path) == ["model", "x.json"]
