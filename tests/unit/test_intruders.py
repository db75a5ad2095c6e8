"""Documents with intruder sentences: cut out of articles, given a sentence of another one, and chosen by a filter."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from textcritic.corpora.articles import Article, Section, write_articles
from textcritic.corpora.intruders import artefacts, candidates, cut
from textcritic.corpora.intruders.build import IN_TWO_SPLITS, NO_CANDIDATE, Parts, build_intruders
from textcritic.corpora.intruders.candidates import document_of, find_candidates, plan_attacks
from textcritic.corpora.intruders.cut import Wanted, cut_articles, cut_corpus
from textcritic.corpora.intruders.documents import Document, read_documents, write_documents
from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_table
from textcritic.plan.entries.intruders import IntruderOptions

SPLITS = ("train", "validation", "test")
WORDS = [f"{a}{b}" for a in "bcdfgklmnprst" for b in ("ad", "en", "ir", "os", "um")]


def options(**changed):
    return IntruderOptions.read(changed, "test")


def sentences(number, rng, words=WORDS):
    return [" ".join(["The", *rng.choice(words, 6), "is", "here."]) for _ in range(number)]


def article(name, numbers, rng, group=None, title=None, topic=WORDS):
    sections = tuple(Section("s", " ".join(sentences(number, rng, topic))) for number in numbers)
    return Article(name, title, sections, "made", group)


def made(number, rng, split="", groups=False):
    """Articles about one of four topics each, with one section of 2 to 10 sentences."""
    topics = [list(rng.choice(WORDS, 12, replace=False)) for _ in range(4)]
    return [
        article(
            f"{split}{n}", [int(rng.integers(2, 11))], rng, f"book{n % 3}" if groups else None, f"t{n}", topics[n % 4]
        )
        for n in range(number)
    ]


def built(folder, asked, articles):
    """The corpus and its statistics; `articles` by split."""
    parts = {}
    for split in SPLITS:
        base = folder / f"{split}.base.parquet"
        write_articles(base, articles[split])
        documents, found = folder / f"{split}.documents.parquet", folder / f"{split}.candidates.parquet"
        cut_corpus(base, documents, documents.with_suffix(".json"), asked)
        find_candidates(documents, found, found.with_suffix(".json"), asked)
        parts[split] = Parts(str(documents), str(found))
    said = build_intruders("made", asked, parts, folder / "corpus")
    return {split: read_documents(folder / "corpus" / f"{split}.parquet") for split in SPLITS}, said, parts


def cosines(texts, pairs):
    vectors = TfidfVectorizer().fit(texts)
    return [float((vectors.transform([a]) @ vectors.transform([b]).T).toarray()[0, 0]) for a, b in pairs]


# Cutting.


def test_a_text_is_a_document_if_it_has_as_many_sentences_as_asked():
    rng, left_out = np.random.default_rng(1), Counter()
    articles = [article(str(n), [n, 4], rng, group="g" if n == 5 else None, title=f"T{n}") for n in range(1, 11)]
    documents = list(cut_articles([Article("empty", None, (), "made"), *articles], options(), left_out))
    assert [document.id for document in documents] == [str(n) for n in range(3, 9)]
    assert [len(document.sentences) for document in documents] == [*range(3, 9)]
    assert " ".join(documents[0].sentences) == articles[2].sections[0].text
    assert (documents[2].group, documents[2].title, documents[0].group) == ("g", "T5", None)
    assert left_out == {cut.TOO_FEW: 2, cut.TOO_MANY: 2}


def test_first_sentences_are_as_many_as_drawn_or_all():
    rng, left_out = np.random.default_rng(1), Counter()
    articles = [article(str(n), [n % 12], rng) for n in range(400)]
    documents = list(cut_articles(articles, options(sentences={"random": True}), left_out))
    sizes = {int(document.id): len(document.sentences) for document in documents}
    assert set(sizes) == {n for n in range(400) if n % 12 >= 3}
    assert all(3 <= size <= min(8, n % 12) for n, size in sizes.items())
    assert {size for n, size in sizes.items() if n % 12 >= 8} == set(range(3, 9))
    assert left_out == {cut.TOO_FEW: sum(n % 12 < 3 for n in range(400))}


def test_passages_follow_one_another_within_sections():
    rng, left_out = np.random.default_rng(1), Counter()
    whole = article("a", [30, 2, 17], rng)
    asked = options(document="passages", sentences={"random": True, "least": 3, "most": 5})
    documents = list(cut_articles([whole], asked, left_out))
    assert [document.id for document in documents][:2] == ["a#1", "a#2"]
    assert len({document.id for document in documents}) == len(documents)
    assert {document.group for document in documents} == {"a"}
    assert all(3 <= len(document.sentences) <= 5 for document in documents)
    kept = [sentence for document in documents for sentence in document.sentences]
    everything = [s + "." for section in whole.sections for s in section.text.rstrip(".").split(". ")]
    assert len(everything) - len(kept) <= 2 * left_out[cut.REST] + 2 * left_out[cut.TOO_FEW]
    assert kept == [sentence for sentence in everything if sentence in kept]
    assert left_out[cut.TOO_FEW] == 1


def test_sections_and_whole_articles():
    rng = np.random.default_rng(1)
    articles = [article("a", [3, 4], rng)]
    assert [d.id for d in cut_articles(articles, options(document="section"), Counter())] == ["a#1", "a#2"]
    (whole,) = cut_articles(articles, options(document="article"), Counter())
    assert len(whole.sentences) == 7


def test_two_articles_with_one_id_and_a_corpus_of_single_sentences_are_refused(tmp_path):
    rng = np.random.default_rng(1)
    twice = [article("a", [3], rng), article("a", [4], rng)]
    with pytest.raises(TextcriticError, match="made: two articles have the id 'a'"):
        list(cut_articles(twice, options(), Counter()))
    write_articles(tmp_path / "short.parquet", [article("a", [1], rng)])
    with pytest.raises(
        TextcriticError, match=r"no text of it has 3 to 8 sentences \(left out: {'too few sentences': 1}\)"
    ):
        cut_corpus(tmp_path / "short.parquet", tmp_path / "d.parquet", tmp_path / "d.json", options())
    assert not (tmp_path / "d.parquet").exists()


def test_no_more_documents_than_asked_in_their_order(tmp_path):
    rng = np.random.default_rng(1)
    write_articles(tmp_path / "a.parquet", [article(f"{n:03}", [3], rng) for n in range(50)])
    cut_corpus(tmp_path / "a.parquet", tmp_path / "d.parquet", tmp_path / "d.json", options(), Wanted(most=20))
    ids = [document.id for document in read_documents(tmp_path / "d.parquet")]
    assert len(ids) == 20
    assert ids == sorted(ids)
    assert ids != [f"{n:03}" for n in range(20)]
    assert read_json(tmp_path / "d.json") == {"documents": 20, "left_out": {cut.NOT_DRAWN: 30}}


# A later state of the articles.


def test_articles_that_changed_little_or_are_gone_go(tmp_path):
    rng, left_out = np.random.default_rng(1), Counter()
    articles = [article(str(n), [4], rng, title=f"T{n}") for n in range(6)]
    documents = list(cut_articles(articles, options(), Counter()))
    changed = replace(articles[1], sections=(Section("s", "All of it is new: xylophone quartz."),))
    moved = replace(articles[2], id="other", sections=changed.sections)
    write_articles(tmp_path / "later.parquet", [articles[0], changed, moved, replace(articles[3], id="x", title="y")])
    kept = cut.changed_documents(documents, [tmp_path / "later.parquet"], lambda a: a.sections[0].text, 0.72, left_out)
    assert [document.id for document in kept] == ["1", "2"]  # the second by its title
    assert left_out == {cut.UNCHANGED: 1, cut.ABSENT: 3}


def test_a_later_corpus_of_other_articles_is_refused(tmp_path):
    rng = np.random.default_rng(1)
    write_articles(tmp_path / "later.parquet", [article("z", [4], rng, title="Z")])
    write_articles(tmp_path / "a.parquet", [article("a", [4], rng)])
    asked = options(later={"corpus": "z"})
    with pytest.raises(TextcriticError, match=r"not one of 1 documents, such as 'a', has its id or title in .*later"):
        cut_corpus(
            tmp_path / "a.parquet",
            tmp_path / "d.parquet",
            tmp_path / "d.json",
            asked,
            Wanted(later=(str(tmp_path / "later.parquet"),)),
        )


# Candidates and the corpus.


@pytest.mark.parametrize(
    ("asked", "groups"),
    [
        ({}, False),
        ({"candidates": {"from": "random", "top": 3}}, True),
        ({"candidates": {"rank": 2}}, False),
        ({"attacked": 1.0, "similarity": None, "seed": 7}, False),
        ({"document": "passages", "sentences": {"random": True, "least": 2, "most": 4}, "similarity": 0.3}, False),
    ],
)
def test_an_intruder_is_what_it_is_said_to_be(tmp_path, asked, groups):
    rng = np.random.default_rng(3)
    asked = options(**asked)
    articles = {split: made(60, rng, split, groups) for split in SPLITS}
    corpus, said, parts = built(tmp_path, asked, articles)
    for split in SPLITS:
        coherent = {document.id: document for document in read_documents(parts[split].documents)}
        assert [document.id for document in corpus[split]] == list(coherent)
        pairs = []
        for document in corpus[split]:
            before = coherent[document.id]
            if document.intruder is None:
                assert document.sentences == before.sentences
                assert document.group == (before.group or document.id)
                assert (document.origin, document.rank, document.replaced, document.hard) == (None, None, None, None)
                continue
            place, origin = document.intruder, coherent[document.origin]
            assert place >= 1
            assert document.origin != document.id
            assert document.sentences[place] in origin.sentences[1:]
            assert document.sentences[place] not in before.sentences
            assert document.replaced == before.sentences[place]
            assert document.sentences[:place] + document.sentences[place + 1 :] == (
                before.sentences[:place] + before.sentences[place + 1 :]
            )
            assert document.group == (before.group or document.origin)
            assert document.title == before.title
            expected = {"random": [None], "retrieved": [asked.candidates.rank] * 1}[asked.candidates.from_]
            assert document.rank in expected if expected != [None] or document.rank is None else document.rank <= 10
            pairs.append((document.replaced, document.sentences[place]))
        if asked.similarity is not None:
            texts = [" ".join(document.sentences) for document in coherent.values()]
            assert max(cosines(texts, pairs)) < asked.similarity
        attacked = round(asked.attacked * len(coherent))
        assert len(pairs) + said["left_out"][split].get(NO_CANDIDATE, 0) == attacked
        assert said["splits"][split]["incoherent"] == len(pairs) / len(coherent)
        sizes = [len(document.sentences) for document in corpus[split]]
        assert said["splits"][split]["sentences"] == pytest.approx({"mean": np.mean(sizes), "sd": np.std(sizes)})
    assert said == read_json(tmp_path / "corpus" / "statistics.json")
    again, _, _ = built(tmp_path, asked, articles)
    assert again == corpus


def test_all_positions_but_the_first_are_replaced_equally_often():
    documents = [Document(str(n), tuple(f"s{n}{m} word" for m in range(4))) for n in range(3000)]
    attacks = plan_attacks(documents, options(candidates={"from": "random", "top": 1}), "here")
    assert len(attacks.documents) == len(set(attacks.documents.tolist())) == 1500
    counts = np.bincount(attacks.positions, minlength=4)
    assert counts[0] == 0
    assert (abs(counts[1:] - 500) < 5 * np.sqrt(1500 * 2 / 9)).all()
    assert (attacks.sources[:, 0] != attacks.documents).all()
    assert {0, 2999} <= set(attacks.sources.ravel().tolist()) or len(set(attacks.sources.ravel().tolist())) > 1000


def test_a_split_too_small_gives_fewer_candidates_or_is_refused(tmp_path, caplog):
    rng = np.random.default_rng(1)
    documents = [Document(str(n), tuple(sentences(4, rng))) for n in range(5)]
    attacks = plan_attacks(documents, options(), "here")
    assert attacks.sources.shape == (2, 4)
    assert attacks.ranks == (1, 2, 3, 4)
    for number, asked, said in (
        (1, {}, r"here: 1 document\(s\) have no other one; give more texts"),
        (5, {"candidates": {"rank": 5}}, r"5 document\(s\) have no other one at rank 5; give more texts, or a lower"),
    ):
        with pytest.raises(TextcriticError, match=said):
            plan_attacks(documents[:number], options(**asked), "here")


def test_what_cannot_be_retrieved_or_repeats_the_document_is_counted(tmp_path):
    """Three of ten documents share words; two of these are the same, and cannot give each other a new sentence."""
    same = ("one alpha beta.", "two gamma delta.", "three epsilon zeta.")
    texts = [
        same,
        same,
        ("one alpha beta.", "new gamma words.", "newer delta words."),
        ("x q.", "y w."),
        ("k j.", "v u."),
        *((f"w{n} q{n}.", f"r{n} t{n}.") for n in range(5)),
    ]
    write_documents(tmp_path / "d.parquet", [Document(str(n), text) for n, text in enumerate(texts)], "made")
    asked = options(attacked=1.0, candidates={"top": 4}, similarity=None)
    find_candidates(tmp_path / "d.parquet", tmp_path / "c.parquet", tmp_path / "c.json", asked)
    said = read_json(tmp_path / "c.json")
    assert said["left_out"] == {candidates.NOT_FOUND: 40 - 6, candidates.REPEATED: 2}
    found = read_documents(tmp_path / "c.parquet")
    assert said["candidates"] == len(found) == 4
    assert {document_of(candidate.id) for candidate in found} == {"0", "1", "2"}
    assert all(candidate.sentences.count(candidate.sentences[candidate.intruder]) == 1 for candidate in found)


# The filter.


def test_the_filter_takes_what_its_detector_misses(tmp_path):
    rng = np.random.default_rng(3)
    asked = options(attacked=1.0, candidates={"top": 5}, similarity=None)
    _, _, parts = built(tmp_path, asked, {split: made(40, rng, split) for split in SPLITS})
    filtered, hard = {}, {}
    for split, part in parts.items():
        rows = []
        for candidate in read_documents(part.candidates):
            easy = bool(rng.random() < 0.7)
            flagged = [bool(rng.random() < 0.5) for _ in candidate.sentences[1:]]
            flagged[candidate.intruder - 1] = easy
            rows.append({"id": candidate.id, "flagged": flagged, "scores": [0.5] * len(flagged)})
            hard.setdefault((split, document_of(candidate.id)), []).append((not easy, candidate))
        write_table(tmp_path / f"{split}.predictions.parquet", pa.Table.from_pylist(rows))
        filtered[split] = replace(part, predictions=str(tmp_path / f"{split}.predictions.parquet"))
    said = build_intruders("filtered", asked, filtered, tmp_path / "filtered")
    for split in SPLITS:
        documents = [d for d in read_documents(tmp_path / "filtered" / f"{split}.parquet") if d.intruder is not None]
        for document in documents:
            possible = [c for is_hard, c in hard[split, document.id] if is_hard]
            assert document.hard is bool(possible)
            among = possible or [c for _, c in hard[split, document.id]]
            assert document.sentences in [candidate.sentences for candidate in among]
        assert said["splits"][split]["hard"] == np.mean([document.hard for document in documents])


def test_predictions_of_other_candidates_are_refused(tmp_path):
    rng = np.random.default_rng(3)
    asked = options(similarity=None)
    _, _, parts = built(tmp_path, asked, {split: made(20, rng, split) for split in SPLITS})
    first = read_documents(parts["train"].candidates)[0]
    rows = [{"id": first.id, "flagged": [True]}, {"id": "another", "flagged": [True, False]}]
    write_table(tmp_path / "p.parquet", pa.Table.from_pylist(rows))
    wrong = {**parts, "train": replace(parts["train"], predictions=str(tmp_path / "p.parquet"))}
    with pytest.raises(TextcriticError, match=r"p\.parquet: has no prediction for each sentence of the candidate"):
        build_intruders("made", asked, wrong, tmp_path / "wrong")


def test_candidates_of_other_documents_and_ids_in_two_splits_are_refused(tmp_path):
    rng = np.random.default_rng(3)
    asked = options(similarity=None)
    _, _, parts = built(tmp_path, asked, {split: made(20, rng, split) for split in SPLITS})
    with pytest.raises(TextcriticError, match="has candidates for documents that are missing in"):
        build_intruders(
            "made",
            asked,
            {**parts, "test": replace(parts["test"], candidates=parts["train"].candidates)},
            tmp_path / "x",
        )
    with pytest.raises(TextcriticError, match=r"made: the document 'train[0-9]+' is in train and in test"):
        build_intruders("made", asked, {**parts, "test": parts["train"]}, tmp_path / "x")


def test_a_text_under_two_ids_stays_in_the_later_split_and_is_counted(tmp_path):
    rng = np.random.default_rng(3)
    asked = options(similarity=None)
    articles = {split: made(20, rng, split) for split in SPLITS}
    plain, said, _ = built(tmp_path, asked, articles)
    tested = Article(
        "again", None, (Section("s", f"  {articles['test'][0].sections[0].text} ".replace(" ", "  ")),), "x"
    )
    (tmp_path / "double").mkdir()
    double, told, _ = built(tmp_path / "double", asked, {**articles, "validation": [*articles["validation"], tested]})
    assert "test0" in {document.id for document in double["test"]}
    assert {split: [d.id for d in double[split]] for split in SPLITS} == {
        split: [d.id for d in plain[split]] for split in SPLITS
    }
    assert told["left_out"]["validation"].get(IN_TWO_SPLITS) == 1
    assert not any(IN_TWO_SPLITS in counts for counts in said["left_out"].values())
    assert told["left_out"]["test"] == said["left_out"]["test"]


# What may give intruders away.


def test_differences_are_those_of_pairs():
    documents = [
        Document("a", ("x y.", "He left 3 men."), 1, replaced="And then all was done."),
        Document("b", ("x y.", "It is so."), 1, replaced="The end of it"),
        Document("c", ("x y.", "Coherent.")),
    ]
    found = artefacts.differences(documents)
    assert (found["words"].intruders, found["words"].replaced) == (3.5, 4.5)
    assert found["words"].error == pytest.approx(np.std([-1, -1], ddof=1))
    assert (found["begins with a pronoun"].intruders, found["begins with a pronoun"].replaced) == (1, 0)
    assert (found["begins with a joining word"].intruders, found["begins with a joining word"].replaced) == (0, 0.5)
    assert (found["has a digit"].intruders, found["ends with a full stop"].replaced) == (0.5, 0.5)
    with pytest.raises(TextcriticError, match=r"artefacts: 0 intruder\(s\)"):
        artefacts.differences(documents[2:])


def test_intruders_of_a_built_corpus_are_like_what_they_replace(tmp_path):
    """Drawn from the same texts, they differ by no more than four standard errors."""
    rng = np.random.default_rng(5)
    corpus, _, _ = built(tmp_path, options(attacked=1.0), {split: made(200, rng, split) for split in SPLITS})
    for difference in artefacts.differences([d for documents in corpus.values() for d in documents]).values():
        assert abs(difference.intruders - difference.replaced) <= 4 * difference.error
