"""The published probe files: what their keys mean, agreement with our edits, bad input."""

import json
import sys
from pathlib import Path

import pytest
from samples import LARGE

from textcritic.errors import TextcriticError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from published_probes import FILES, agreement, read_published

FOLDER = LARGE / "insted" / "linguistic_probe_data"
WHOLE = {
    **{"gender": 82, "animacy-down": 97, "animacy-up": 95, "past-to-future": 90},
    **{"conjunction": 90, "demonstrative": 90, "negation": 56, "number": 7},
}
TEXT = "Ada lived in Ulm. She was old. He wrote a book in 1990. It sold well."


def line(**keys):
    base = {"ctx": TEXT, "label": 0, "to_be_replaced": "He wrote a book in 1990.", "sen_position": 2, "train": 0}
    return {**base, "replace_with": "She wrote a book in 1990.", "file_id": 7, **keys}


def write(folder, name, *lines):
    path = folder / name
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines))
    return path


def test_agreement_counts_either_gender(tmp_path):
    path = write(
        tmp_path,
        "original_animacy_pronoun_upgrade.txt",
        line(to_be_replaced="It sold well.", replace_with="She sold well."),
        line(to_be_replaced="It sold well.", replace_with="He sold well."),
        line(to_be_replaced="It sold well.", replace_with="They sold well."),
        line(to_be_replaced="We sold well.", replace_with="They sold well."),
    )
    found = agreement(read_published(path))
    assert (found.pairs, found.exact, found.refused) == (4, 2, 1)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"ctx": "a"'], r"original_gender_pronoun_flip\.txt:1: not JSON"),
        (["[1]"], r"txt:1: not a JSON object"),
        ([line(), {k: v for k, v in line().items() if k != "ctx"}], r"txt:2: `ctx` is missing or no text"),
        ([line(replace_with=" ")], r"txt:1: `replace_with` is missing or no text"),
        ([line(to_be_replaced=3)], r"txt:1: `to_be_replaced` is missing or no text"),
        ([line(sen_position="2")], r"txt:1: `sen_position` is '2'; it should be a whole number from 1 on"),
        ([line(sen_position=0)], r"txt:1: `sen_position` is 0"),
        ([line(sen_position=True)], r"txt:1: `sen_position` is True"),
        ([line(file_id=None)], r"txt:1: `file_id` is None; it should be a number or a string"),
        ([line(file_id=[7])], r"txt:1: `file_id` is \[7\]"),
    ],
)
def test_bad_lines_are_named(tmp_path, lines, message):
    with pytest.raises(TextcriticError, match=message):
        read_published(write(tmp_path, "original_gender_pronoun_flip.txt", *lines))


def test_bad_files(tmp_path):
    with pytest.raises(TextcriticError, match=r"gender\.txt: its name should be injected_X\.txt or original_X\.txt"):
        read_published(write(tmp_path, "gender.txt", line()))
    with pytest.raises(TextcriticError, match=r"original_to_negation\.txt: no such file"):
        read_published(tmp_path / "original_to_negation.txt")
    assert read_published(write(tmp_path, "original_to_negation.txt", "")) == []


@pytest.mark.large
class TestPublished:
    """The files of the paper."""

    @pytest.mark.parametrize("name", FILES)
    def test_share_that_our_edits_give_to_the_letter(self, name):
        found = agreement(read_published(FOLDER / f"original_{name}.txt"))
        assert found.pairs == 100
        assert found.exact >= WHOLE[FILES[name]]

    def test_demonstratives_of_intruders(self):
        found = agreement(read_published(FOLDER / "injected_singular_determiner_flip.txt"))
        assert (found.pairs, found.exact) == (91, 86)

    def test_what_the_files_hold(self):
        counts = {}
        for kind in ("injected", "original"):
            for name, probe in FILES.items():
                probes = read_published(FOLDER / f"{kind}_{name}.txt")
                assert len(probes) == 100
                assert all(1 <= one.position <= 7 for one in probes)
                occurs = sum(one.replaced in one.context for one in probes)
                counts[kind, probe] = (occurs, sum(one.replaced == one.edited for one in probes))
        assert counts.pop(("injected", "demonstrative")) == (0, 0)
        assert counts.pop(("original", "demonstrative")) == (0, 3)
        assert counts.pop(("original", "animacy-up")) == (98, 1)
        assert counts.pop(("original", "conjunction")) == (100, 1)
        assert set(counts.values()) == {(100, 0)}
