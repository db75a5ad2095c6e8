"""The data file of a language: English as it is shipped, another language from a file, and files that are wrong."""

import pytest
import yaml

from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.language import FOLDER, LISTS, load_language
from textcritic.latents.resolvers.persons import PersonsResolver

# A small file of German: no list of it is long, and all nouns have capital letters.
GERMAN = {
    **dict.fromkeys(LISTS, ""),
    "capitals_mark_names": False,
    "pronouns": {
        "er": {"gender": "male", "number": "singular", "person": 3, "case": "subject"},
        "ihn": {"gender": "male", "number": "singular", "person": 3, "case": "object"},
        "sie": {"gender": "female", "number": "singular", "person": 3, "case": "subject object"},
        "sich": {"gender": "neither", "number": "singular", "person": 3, "case": "object", "reflexive": True},
    },
    "titles": {"male": "herr", "female": "frau", "neither": "dr"},
    "given_names": {"male": "Hans", "female": "Grete Margarete", "neither": "Toni"},
    "same_names": ["Margarete Grete"],
    "nouns": {
        **dict.fromkeys(("male plural", "female plural", "neither plural"), ""),
        "male": "mann vater",
        "female": "frau mutter",
        "neither": "kind",
    },
    "determiners": {"definite": "der die das den", "indefinite": "ein eine einen"},
    "conjunctions": "und",
    "function_words": "im in und aber der die das",
    "verbs": "sah ging",
}


@pytest.fixture
def write(tmp_path):
    """Writes a data file, with some keys exchanged (None leaves one out), and gives its path."""

    def written(**changed):
        data = {key: value for key, value in {**GERMAN, **changed}.items() if value is not None}
        path = tmp_path / f"de-{len(list(tmp_path.iterdir()))}.yaml"
        path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
        return path

    return written


def test_english_is_complete():
    english = load_language("en")
    assert english is load_language("en")
    genders = list(english.given_names.values())
    assert min(genders.count("male"), genders.count("female")) > 500
    assert {english.given_names[name] for name in ("jordan", "leslie")} == {None}
    people = {"abraham": "male", "moses": "male", "jesus": "male", "mary": "female", "sarah": "female", "god": "male"}
    assert {name: english.given_names[name] for name in people} == people
    assert english.same_name["lord"] == english.same_name["jehovah"] == "god"
    assert (english.nouns["mother"].gender, english.nouns["kings"].plural) == ("female", True)
    assert english.pronouns["her"].cases == {"object", "possessive"}
    assert all(english[name] for name in LISTS)


def test_another_language_is_a_data_file(write):
    resolver = PersonsResolver(load_language(str(write())))
    text = "Herr Meier ging im Wald. Der Mann sah Grete und sie sah ihn. Der Baum fiel. Margarete sah sich."
    (found,) = resolver.resolve([("a", text)])
    shown = [(text[mention.start : mention.end], mention.entity) for mention in found.mentions]
    assert shown == [
        ("Herr Meier", 0),
        ("Der Mann", 1),
        ("Grete", 2),
        ("sie", 2),
        ("ihn", 1),
        ("Margarete", 2),
        ("sich", 2),
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"titles": None}, ["the file", "'titles' is missing"]),
        ({"titels": "herr"}, ["the file", "'titels' is no key"]),
        ({"titles": "herr"}, ["titles", "table"]),
        ({"titles": {"male": "herr", "female": "frau"}}, ["titles", "'neither' is missing"]),
        (
            {"titles": {"male": "herr", "female": "frau Herr", "neither": ""}},
            ["titles.female", "'herr'", "titles.male"],
        ),
        ({"given_names": {"male": ["Hans"], "female": "", "neither": ""}}, ["given_names.male", "one text of words"]),
        ({"capitals_mark_names": "yes"}, ["capitals_mark_names", "true or false"]),
        ({"function_words": 3}, ["function_words", "one text of words"]),
        ({"pronouns": {}}, ["pronouns", "table"]),
        ({"pronouns": {True: {}}}, ["pronouns.True", "quotes"]),
        ({"pronouns": {"er": {"gender": "male"}}}, ["pronouns.er", "'number' is missing"]),
        ({"same_names": "Grete"}, ["same_names", "list"]),
        ({"same_names": ["Margarete Grete", "Grethe Grete"]}, ["same_names, item 2", "'grete'"]),
        (
            {"pronouns": {"er": {"gender": "masculine", "number": "singular", "person": 3, "case": "subject"}}},
            ["pronouns.er.gender", "'masculine'", "male, female, neither"],
        ),
        (
            {"pronouns": {"er": {"gender": "male", "number": "singular", "person": 3, "case": "nominative"}}},
            ["pronouns.er.case", "'nominative'", "subject"],
        ),
    ],
)
def test_what_is_wrong_is_named_in_a_line(write, changed, words):
    path = write(**changed)
    with pytest.raises(TextcriticError) as caught:
        load_language(str(path))
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert all(word in message for word in words)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(TextcriticError, match=r"'xx'.*one of en"):
        load_language("xx")
    (tmp_path / "a.yaml").write_text("titles: [", encoding="utf-8")
    with pytest.raises(TextcriticError, match=r"a\.yaml: not YAML"):
        load_language(str(tmp_path / "a.yaml"))
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(TextcriticError, match=r"b\.yaml"):
        load_language(str(tmp_path / "b.yaml"))


def test_no_file_of_a_language_shadows_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_language("en").file == str(FOLDER / "en.yaml")
