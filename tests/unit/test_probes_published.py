"""The published probe files: what their keys mean, documents made of them, agreement with our edits, bad input."""

import json

import pytest
from samples import LARGE

from textcritic.corpora.intruders.documents import Document
from textcritic.corpora.intruders.probes.edits import BASE, INTRUDER, OWN
from textcritic.corpora.intruders.probes.published import (
    FILES,
    NO_CUT,
    NO_SENTENCE,
    NO_UNEDITED,
    NOT_OFFICIAL,
    agreement,
    pairs,
    published_documents,
    read_published,
)
from textcritic.errors import TextcriticError

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


def by_dots(text):
    return [f"{piece.strip(' .')}." for piece in text.split(". ") if piece.strip(" .")]


def test_a_sentence_of_its_own(tmp_path):
    probes = read_published(write(tmp_path, "original_gender_pronoun_flip.txt", line(file_id="7")))
    made = published_documents(probes, by_dots)
    base, after = made.rows
    assert base.document.sentences == ("Ada lived in Ulm.", "She was old.", "He wrote a book in 1990.", "It sold well.")
    assert after.document.sentences == (*base.document.sentences[:2], "She wrote a book in 1990.", "It sold well.")
    assert (base.probe, after.probe, after.where, after.position) == (BASE, "gender", OWN, 2)
    assert base.document.intruder is after.document.intruder is None
    assert base.of == after.of == "7#own-2"
    assert (base.document.id, after.document.id) == ("7#own-2#base", "7#own-2#gender")
    assert (after.before, after.after) == ("He wrote a book in 1990.", "She wrote a book in 1990.")


def test_an_intruder_has_its_edit_only(tmp_path):
    probes = read_published(write(tmp_path, "injected_gender_pronoun_flip.txt", line(replace_with="She sang.")))
    made = published_documents(probes, by_dots)
    (after,) = made.rows
    assert after.document.sentences[2] == "She sang."
    assert (after.document.intruder, after.document.replaced, after.before) == (2, "He wrote a book in 1990.", None)
    assert after.document.id == "7#gender"
    assert made.lacking == {NO_UNEDITED: 1}


def test_the_official_document_gives_the_intruder_before_its_edit(tmp_path):
    probes = read_published(write(tmp_path, "injected_gender_pronoun_flip.txt", line(replace_with="She sang.")))
    sentences = ("Ada lived in Ulm.", "She was old.", "He sang.", "It sold well.")
    made = published_documents(probes, by_dots, {"7": Document("7", sentences, intruder=2, group="g")})
    base, after = made.rows
    assert base.document.sentences == sentences
    assert (after.before, after.after, after.where) == ("He sang.", "She sang.", INTRUDER)
    assert after.document.group == "g"
    assert not made.lacking
    for other in ({}, {"7": Document("7", sentences, intruder=1)}, {"7": Document("7", sentences[:2], intruder=1)}):
        assert published_documents(probes, by_dots, other).skipped == {NOT_OFFICIAL: 1}


def test_demonstratives_have_the_intruder_in_their_text(tmp_path):
    text = "Ada lived in Ulm. She was old. These cats saw this dog that year. It sold well."
    given = line(ctx=text, to_be_replaced="Gone.", replace_with="These cats saw these dog those year.")
    probes = read_published(write(tmp_path, "injected_singular_determiner_flip.txt", given))
    base, after = published_documents(probes, by_dots).rows
    assert base.document.sentences[2] == after.before == "These cats saw this dog that year."
    assert after.document.sentences[2] == after.after
    assert (base.document.intruder, base.document.replaced, base.position) == (2, "Gone.", 2)
    assert [before for _, before in pairs(probes)] == ["These cats saw this dog that year."]
    own = read_published(write(tmp_path, "original_singular_determiner_flip.txt", given))
    assert published_documents(own, by_dots).skipped == {NO_SENTENCE: 1}


def test_known_sentences_are_not_cut_again_and_too_many_are_joined(tmp_path):
    text = "Ada b. was old. She came to the city of Ulm. Dr. Roe wrote. It sold well."
    given = line(ctx=text, to_be_replaced="Dr. Roe wrote.", replace_with="Dr. Roe will write.")
    probes = read_published(write(tmp_path, "original_past_to_future_flip.txt", given))
    base, _ = published_documents(probes, by_dots).rows
    assert base.document.sentences == (
        *("Ada b. was old.", "She came to the city of Ulm.", "Dr. Roe wrote.", "It sold well."),
    )
    far = read_published(write(tmp_path, "original_past_to_future_flip.txt", {**given, "sen_position": 6}))
    assert published_documents(far, by_dots).skipped == {NO_CUT: 1}


def test_a_sentence_that_occurs_twice_is_the_one_at_its_position(tmp_path):
    text = "He sat. He came. She left. He came. It rained."
    given = line(ctx=text, to_be_replaced="He came.", replace_with="She came.", sen_position=3)
    probes = read_published(write(tmp_path, "original_gender_pronoun_flip.txt", given))
    _, after = published_documents(probes, by_dots).rows
    assert after.document.sentences == ("He sat.", "He came.", "She left.", "She came.", "It rained.")


def test_what_cannot_be_used_is_counted(tmp_path):
    path = write(
        tmp_path,
        "original_gender_pronoun_flip.txt",
        line(to_be_replaced="He came."),
        line(replace_with="He wrote a book in 1990."),
        line(file_id=8, train=1),
    )
    probes = read_published(path)
    made = published_documents(probes, by_dots)
    assert made.skipped == {NO_SENTENCE: 1}
    assert made.unchanged == 1
    assert [row.probe for row in made.rows] == [BASE, BASE, "gender", "gender"]
    assert [one.split for one in probes] == ["test", "test", "train"]


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
