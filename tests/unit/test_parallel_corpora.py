"""Parallel corpora from files: alignment by line, document, table and join; tokens; splits by sentence; bad input."""

import gzip
from collections import Counter

import pytest
from sacremoses import MosesTokenizer
from samples import LARGE, SMALL

from textcritic.corpora import read_articles
from textcritic.corpora.parallel.build import build_parallel
from textcritic.corpora.parallel.corpus import Sentence, Sentences, sentence_number, write_parallel_corpus
from textcritic.corpora.parallel.files import read_lines, read_parallel
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Corpus
from textcritic.plan.entries.corpora import Splits
from textcritic.plan.entries.parallel import ParallelOptions

SLICE, NTREX = SMALL / "parallel", LARGE / "parallel"
SPLITS = Splits(validation=0.1, test=0.1)


def options(**given):
    return ParallelOptions.read(given, "test")


def write(folder, **sides):
    """A file for each side, from a list of lines; their paths by side."""
    paths = {}
    for side, lines in sides.items():
        paths[side] = folder / f"{side}.txt"
        paths[side].write_bytes("".join(f"{line}\n" for line in lines).encode())
    return {side: str(path) for side, path in paths.items()}


def two_sides(folder, english, german, **more):
    paths = write(folder, en=english, de=german)
    return options(source=paths["en"], targets={"de": paths["de"]}, **more)


def read(given, name="mine"):
    sentences = read_parallel(given, name)
    return list(sentences.stream), +sentences.skipped


def corpus(count, languages=("de", "es")):
    return Sentences(
        Sentence(f"sentence {n}", {language: f"{language} {n}" for language in languages}, "mine") for n in range(count)
    )


def splits_of(folder):
    return {split: read_articles(folder / f"{split}.parquet") for split in ("train", "validation", "test")}


def test_sides_are_aligned_by_line_and_tokenised_as_moses_does(tmp_path):
    english, german = ["Don't panic, Mr. Smith!", "5 < 6 & so on"], ["Keine Panik, Dr. Schmidt!", "5 < 6 u.s.w."]
    (first, second), skipped = read(two_sides(tmp_path, english, german))
    assert first.text == "Don 't panic , Mr. Smith !"
    assert first.translations == {"de": "Keine Panik , Dr. Schmidt !"}
    assert second.text == "5 < 6 & so on"  # nothing is escaped
    assert first.source == "mine"
    assert skipped == {}
    for sentence, line in zip((first, second), german, strict=True):
        expected = MosesTokenizer("de").tokenize(line, escape=False, return_str=True)
        assert sentence.translations["de"] == expected


def test_normalising_lower_case_and_white_space(tmp_path):
    english, german = ["He  said\u00a0“Hi”"], ["Er sagte „Hallo“"]
    plain, _ = read(two_sides(tmp_path, english, german, tokenise=False))
    assert plain[0].text == "He said “Hi”"
    changed, _ = read(two_sides(tmp_path, english, german, normalise=True, lowercase=True))
    assert changed[0].text == 'he said " hi "'
    assert changed[0].translations == {"de": 'er sagte " hallo "'}


def test_what_is_missing_empty_or_too_long_is_left_out_and_counted(tmp_path):
    english = ["one two", "", "three four five six", "seven", "eight"]
    german = ["eins zwei", "leer", "drei", "", "acht neun zehn elf zwölf"]
    sentences, skipped = read(two_sides(tmp_path, english, german, most_tokens=3))
    assert [(s.text, s.translations) for s in sentences] == [("one two", {"de": "eins zwei"})]
    assert skipped == {
        "empty sentence": 1,
        "sentence longer than 3 tokens": 1,
        "missing de": 1,
        "de longer than 3 tokens": 1,
    }


def test_a_missing_translation_leaves_the_others(tmp_path):
    paths = write(tmp_path, en=["a b", "c d"], de=["A B", ""], es=["Á B", "Ç D"])
    given = options(source=paths["en"], targets={"de": paths["de"], "es": paths["es"]})
    sentences, skipped = read(given)
    assert [list(s.translations) for s in sentences] == [["de", "es"], ["es"]]
    assert skipped == {"missing de": 1}


def test_sides_of_unequal_length_are_one_line_with_both_numbers(tmp_path):
    given = two_sides(tmp_path, ["a", "b", "c"], ["A", "B"])
    with pytest.raises(TextcriticError, match=r"en\.txt has 3 lines and \S*de\.txt has 2; .* a line for each line"):
        read(given)


def test_text_that_is_not_utf8_names_file_and_line(tmp_path):
    given = two_sides(tmp_path, ["a", "b"], ["A", "B"])
    (tmp_path / "de.txt").write_bytes(b"A\n\xfcber\n")
    with pytest.raises(TextcriticError, match=r"de\.txt, line 2: is not UTF-8; save the file as UTF-8"):
        read(given)
    with pytest.raises(TextcriticError, match=r"none\.txt: no such file"):
        list(read_lines(tmp_path / "none.txt"))


def test_gzip_line_separators_and_byte_order_marks(tmp_path):
    text = "\ufeffa\u2028b\r\nc\x0cd\nlast"
    (tmp_path / "plain").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "zipped").write_bytes(gzip.compress(text.encode()))
    for name in ("plain", "zipped"):
        assert list(read_lines(tmp_path / name)) == ["a\u2028b", "c\x0cd", "last"]
    (tmp_path / "cut").write_bytes(gzip.compress(text.encode())[:-9])
    with pytest.raises(TextcriticError, match=r"cut: cannot be read"):
        list(read_lines(tmp_path / "cut"))


def test_one_file_of_documents_gives_the_sources(tmp_path):
    ids = write(tmp_path, ids=["first", "first", ""])["ids"]
    sentences, _ = read(two_sides(tmp_path, ["a", "b", "c"], ["A", "B", "C"], documents=ids))
    assert [s.source for s in sentences] == ["first", "first", "mine"]


def test_documents_of_unequal_length_are_left_out(tmp_path):
    ids = write(tmp_path, ids_en=["x", "x", "y", "z", "z", "only"], ids_de=["x", "x", "y", "y", "z", "z"])
    documents = {"source": ids["ids_en"], "de": ids["ids_de"]}
    english, german = ["x1", "x2", "y1", "z1", "z2", "o"], ["X1", "X2", "Y1", "Y2", "Z1", "Z2"]
    given = two_sides(tmp_path, english, german, documents=documents)
    sentences, skipped = read(given)
    assert [(s.text, s.translations["de"], s.source) for s in sentences] == [
        ("x1", "X1", "x"),
        ("x2", "X2", "x"),
        ("z1", "Z1", "z"),
        ("z2", "Z2", "z"),
    ]
    assert skipped == {"document missing on a side": 1, "document whose sides differ in length": 1}


@pytest.mark.parametrize(
    ("german", "fault"),
    [
        (["z", "z", "x", "x"], r"ids_de\.txt: has documents in another order than \S*ids_en\.txt"),
        (["x", "z", "x", "z"], r"ids_de\.txt, line 3: document 'x' comes again"),
    ],
)
def test_documents_out_of_order_are_one_line(tmp_path, german, fault):
    ids = write(tmp_path, ids_en=["x", "x", "z", "z"], ids_de=german)
    documents = {"source": ids["ids_en"], "de": ids["ids_de"]}
    with pytest.raises(TextcriticError, match=fault):
        read(two_sides(tmp_path, list("abcd"), list("ABCD"), documents=documents))


def test_tables_by_header_and_by_column(tmp_path):
    path = write(tmp_path, table=["document\ten\tde", "d1\ta b\tA B", "d2\tc\t"])["table"]
    sentences, skipped = read(options(source=path, format="tsv"))
    assert [(s.text, s.translations, s.source) for s in sentences] == [("a b", {"de": "A B"}, "d1")]
    assert skipped == {"missing de": 1}
    given = options(source=path, format="tsv", columns={"source": 3, "en": 2})
    assert [s.text for s in read(given)[0]] == ["de", "A B"]  # without a header all lines are sentences


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["a\tb", "c\td"], r"table\.txt, line 1: should name the columns, source \(or en\)"),
        (["en\tde", "a"], r"table\.txt, line 2: has 1 columns; at least 2"),
    ],
)
def test_wrong_tables_are_one_line(tmp_path, lines, fault):
    path = write(tmp_path, table=lines)["table"]
    with pytest.raises(TextcriticError, match=fault):
        read(options(source=path, format="tsv"))


def test_pairs_are_joined_on_the_same_english_line(tmp_path):
    paths = write(
        tmp_path,
        en1=["c", "a", "b", "a", "x"],
        de=["C", "A", "B", "A again", "X"],
        en2=["b", "y", "a", "c"],
        es=["bé", "ye", "á", "ce"],
    )
    pairs = {
        "de": {"source": paths["en1"], "target": paths["de"]},
        "es": {"source": paths["en2"], "target": paths["es"]},
    }
    sentences, skipped = read(options(pairs=pairs))
    assert [(s.text, s.translations) for s in sentences] == [
        ("c", {"de": "C", "es": "ce"}),
        ("a", {"de": "A", "es": "á"}),
        ("b", {"de": "B", "es": "bé"}),
    ]
    assert skipped == {"sentence not in every pair": 2}


def test_articles_splits_and_statistics(tmp_path):
    record = write_parallel_corpus(corpus(200), SPLITS, tmp_path / "mine")
    splits = splits_of(tmp_path / "mine")
    sentences = {split: {article.title for article in articles} for split, articles in splits.items()}
    assert {split: len(titles) for split, titles in sentences.items()} == {"train": 160, "validation": 20, "test": 20}
    assert len(set.union(*sentences.values())) == 200  # no sentence is in two splits
    every = [article for articles in splits.values() for article in articles]
    assert Counter(article.id for article in every) == {
        f"{n:06d}-{language}": 1 for n in range(200) for language in ("de", "es")
    }
    assert len({article.group for article in every}) == 200
    assert all(article.group == str(sentence_number(article.id)) for article in every)
    article = next(article for article in every if article.id == "000017-es")
    assert (article.title, article.source) == ("sentence 17", "mine")
    assert [(section.title, section.text) for section in article.sections] == [("es", "es 17")]
    for articles in splits.values():
        numbers = [sentence_number(article.id) for article in articles]
        assert numbers == sorted(numbers)
    assert record == read_json(tmp_path / "mine/statistics.json")
    assert record["translations"] == {"de": 200, "es": 200}
    assert record["tokens"] == {"source": 400, "de": 400, "es": 400}
    assert record["splits"]["test"] == {"sentences": 20, "articles": 40}
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [
        "statistics.json",
        "test.parquet",
        "train.parquet",
        "validation.parquet",
    ]


def test_the_seed_decides_the_splits_and_a_repeated_sentence_stays_on_one_side(tmp_path):
    twice = [sentence for _ in range(2) for sentence in corpus(50).stream]
    titles = []
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        record = write_parallel_corpus(Sentences(iter(twice)), SPLITS.changed(seed=seed), tmp_path / name)
        assert record["sentences"] == 100
        assert record["splits"]["test"] == {"sentences": 5, "articles": 20}
        titles.append({article.title for article in splits_of(tmp_path / name)["test"]})
    assert titles[0] == titles[1] != titles[2]


def test_too_few_sentences_are_one_line(tmp_path):
    with pytest.raises(TextcriticError, match=r"corpus 'mine': 3 distinct sentences are too few .* left out: none"):
        write_parallel_corpus(corpus(3), SPLITS, tmp_path / "mine")
    with pytest.raises(TextcriticError, match=r"splits: validation and test together should be less than 1"):
        write_parallel_corpus(corpus(30), Splits(validation=0.5, test=0.5), tmp_path / "mine")


def ntrex(folder, names, documents):
    english, german, spanish, french = (str(folder / name) for name in names)
    targets = {"de": german, "es": spanish, "fr": french}
    given = {"source": english, "targets": targets, "documents": documents}
    return Corpus.read({"extractor": "parallel", "options": {"parallel": given}}, "test")


def test_news_of_thirteen_documents(tmp_path):
    names = [f"ntrex.{part}" for part in ("en", "de", "es", "fr")]
    record = build_parallel(ntrex(SLICE, names, str(SLICE / "ntrex.documents")), tmp_path / "ntrex")
    assert record["sentences"] == 198
    assert record["translations"] == {"de": 198, "es": 198, "fr": 198}
    assert record["skipped"] == {}
    articles = [article for articles in splits_of(tmp_path / "ntrex").values() for article in articles]
    assert len({article.source for article in articles}) == 13
    first = {article.id: article.sections[0].text for article in articles}["000000-fr"]
    assert first == "Des membres de l ’ Assemblée du pays de Galles inquiets de « passer pour des marionnettes »"


@pytest.mark.large
def test_all_of_ntrex(tmp_path):
    names = ["src.eng.txt", "ref.deu.txt", "ref.spa.txt", "ref.fra.txt"]
    ids = [line.split("\t")[0] for line in (NTREX / "DOCUMENT_IDS.tsv").read_text().splitlines()]
    record = build_parallel(ntrex(NTREX, names, write(tmp_path, documents=ids)["documents"]), tmp_path / "ntrex")
    assert record["translations"] == {"de": 1997, "es": 1997, "fr": 1997}
    assert record["sentences"] == 1997
