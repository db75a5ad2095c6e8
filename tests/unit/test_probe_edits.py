"""The eight linguistic edits: exact sentences, what they leave alone, refusals; examples are our own."""

import re

import pytest

from textcritic.corpora.intruders.probes import PROBES, Refused, edited
from textcritic.corpora.intruders.probes.connectives import flip_connectives
from textcritic.corpora.intruders.probes.demonstratives import flip_demonstratives
from textcritic.corpora.intruders.probes.negation import negate
from textcritic.corpora.intruders.probes.numbers import exaggerate
from textcritic.corpora.intruders.probes.pronouns import downgrade_animacy, flip_gender, upgrade_animacy
from textcritic.corpora.intruders.probes.tense import to_future
from textcritic.corpora.intruders.probes.verb_forms import base_of, base_of_third, is_past_only, third_person
from textcritic.errors import TextcriticError

SENTENCES = [
    "She gave her sister the letter that her mother had sent him.",
    "He was born in Ghent, moved to Lille and was buried there in 1843, after he had lost his fortune.",
    "It lost its licence in 2004 because its owners could not pay, but it was sold later that year.",
    "Although the mill closed, this building stands, and its wheel turns in the spring.",
    "The three lakes, which cover 40 km of the valley, froze when the winter came.",
    "Ann Lee wrote, edited, and published 12 novels about herself; they were not read.",
    '"He is gone," she said, and the 1990s were over for them (he never came back).',
    "HE HAD SEEN IT.",
]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("He left his wife.", "She left her wife."),
        (
            "The prize made her rich, and her brother envied her.",
            "The prize made him rich, and his brother envied him.",
        ),
        ("They met her in Rome.", "They met him in Rome."),
        ("He spoke of a friend of his.", "She spoke of a friend of hers."),
        ("A friend of his was there.", "A friend of hers was there."),
        ("The house is hers, and she built it herself.", "The house is his, and he built it himself."),
        ("Her newly painted house burnt.", "His newly painted house burnt."),
        ("It brought her back.", "It brought him back."),
        ("The film earned her Emmy nominations.", "The film earned him Emmy nominations."),
        ("It was her first novel.", "It was his first novel."),
        ("They named her Miss Ohio.", "They named him Miss Ohio."),
        ("He's sure that he'd win.", "She's sure that she'd win."),
        ("They helped her win.", "They helped him win."),
    ],
)
def test_gender(before, after):
    assert flip_gender(before) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "He left his wife in May.",
        "She says that he saw her dog and his cat.",
        "Nobody told him that she herself had written his plays.",
    ],
)
def test_two_flips_of_gender_are_none(sentence):
    assert flip_gender(flip_gender(sentence)) == sentence


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("He left his wife.", "It left its wife."),
        ("She saw him, and he saw her.", "It saw it, and it saw it."),
        ("They gave her house to her.", "They gave its house to it."),
        ("He taught himself.", "It taught itself."),
        ("He's late.", "It's late."),
    ],
)
def test_animacy_downgrade(before, after):
    assert downgrade_animacy(before) == after


@pytest.mark.parametrize(
    ("before", "she", "he"),
    [
        ("It opens in May.", "She opens in May.", "He opens in May."),
        ("Its owner sold it.", "Her owner sold her.", "His owner sold him."),
        ("The town that it serves grew around it.", "The town that she serves grew around her.",
         "The town that he serves grew around him."),
        ("In 1990 it also won.", "In 1990 she also won.", "In 1990 he also won."),
        ("The play itself failed.", "The play herself failed.", "The play himself failed."),
        ("How long is it?", "How long is she?", "How long is he?"),
        ("It's old, and it is said that it fell.", "She's old, and it is said that she fell.",
         "He's old, and it is said that he fell."),
    ],
)  # fmt: skip
def test_animacy_upgrade(before, she, he):
    assert upgrade_animacy(before, "she") == she
    assert upgrade_animacy(before, "he") == he
    assert upgrade_animacy(before) in (she, he)


def test_animacy_upgrade_draws_both_genders():
    drawn = [upgrade_animacy(f"It has {n} rooms.").split()[0] for n in range(200)]
    assert {"He", "She"} == set(drawn)
    assert 70 < drawn.count("She") < 130  # four standard deviations around 100


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("This ship sank in that storm.", "These ship sank in those storm."),
        ("She won again later that year.", "She won again later those year."),
        ("He says that this is the end.", "He says that these is the end."),
        ("The climate is like that of Spain.", "The climate is like those of Spain."),
        ("The house that burnt had that same roof.", "The house that burnt had those same roof."),
        ("He held that post until 1970.", "He held those post until 1970."),
        ("For that reason he left, but that shop stayed.", "For those reason he left, but those shop stayed."),
    ],
)
def test_demonstratives(before, after):
    assert flip_demonstratives(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("She was born in Graz.", "She will be born in Graz."),
        ("They were not paid.", "They will not be paid."),
        ("He led the choir and sang well.", "He will lead the choir and sing well."),
        ("He also wrote plays.", "He will also write plays."),
        ("The mill was also closed.", "The mill will also be closed."),
        ("Built in 1900, the mill closed in 1950.", "Built in 1900, the mill will close in 1950."),
        ("The mill built by Kay was sold.", "The mill built by Kay will be sold."),
        ("The judge, who stayed, had seen it.", "The judge, who will stay, will have seen it."),
        ("She lived there until he died.", "She will live there until he dies."),
        ("When the war began, they fled.", "When the war begins, they will flee."),
        ("It was founded by monks in 1900 and merged with a bank in 1920.",
         "It will be founded by monks in 1900 and merge with a bank in 1920."),
        ("It was painted and restored.", "It will be painted and restored."),
        ("He did not stay.", "He will not stay."),
        ("He didn't stay.", "He won't stay."),
        ("It wasn't new.", "It won't be new."),
        ("She could not swim.", "She will not be able to swim."),
        ("She lives in Oslo, where she studied law.", "She lives in Oslo, where she will study law."),
        ("He carried a used 1960 map named Old Map.", "He will carry a used 1960 map named Old Map."),
        ("Ann, a painter, went to Rome.", "Ann, a painter, will go to Rome."),
        ("The hill, seen as holy, was high.", "The hill, seen as holy, will be high."),
        ('It was called "What Was Lost".', 'It will be called "What Was Lost".'),
        ("After Thomas came, they left.", "After Thomas comes, they will leave."),
        ("After the Romans came, they left.", "After the Romans come, they will leave."),
        ("Thou wast glad.", "Thou wilt be glad."),
    ],
)  # fmt: skip
def test_past_to_future(before, after):
    assert to_future(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It was old, but it worked.", "It was old, and it worked."),
        ("It was old but worked well.", "It was old and therefore worked well."),
        ("It fell and therefore broke.", "It fell but broke."),
        ("He came from Nice and settled in Bath.", "He came from Nice but settled in Bath."),
        ("They sell bread and wine.", None),
        ("It has walls, doors, and a roof.", None),
        ("It closed, although it was new.", "It closed, therefore it was new."),
        ("Although it was new, it closed.", "Because it was new, it closed."),
        ("It closed because it was old.", "It closed although it was old."),
        ("Not only he but also she went home.", None),
        ("It rained, so they left.", "It rained, but they left."),
    ],
)
def test_conjunctions(before, after):
    result = flip_connectives(before)
    assert isinstance(result, Refused) if after is None else result == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("He has a dog.", "He does not have a dog."),
        ("He has seen it.", "He has not seen it."),
        ("The mill was old.", "The mill was not old."),
        ("She works in Rome.", "She does not work in Rome."),
        ("They worked for Ann and for Bea.", "They did not work for Ann or for Bea."),
        ("They came and went.", "They did not come and did not go."),
        ("It can fly.", "It cannot fly."),
        ("It will be his last film.", "It will not be his last film."),
        ("When he came, she left.", "When he came, she did not leave."),
        ("When seen from afar, the sea has a low glow, as do most woods.",
         "When seen from afar, the sea does not have a low glow, as do most woods."),
        ("It turned to high art to live.", "It did not turn to high art to live."),
        ("This means that he won.", "This does not mean that he won."),
    ],
)  # fmt: skip
def test_negation(before, after):
    assert negate(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It is 30 km long.", "It is 30 mm long."),
        ("Some 90% agree.", "Some 900% agree."),
        ("It sold 3 million copies.", "It sold 3 copies."),
    ],
)
def test_numbers_with_one_way(before, after):
    assert exaggerate(before) == after


def test_years_go_200_years_before_our_era():
    for year in range(1800, 2010, 7):
        sentence = f"It opened in {year}."
        (found,) = re.fullmatch(r"It opened in (\d+) BCE\.", exaggerate(sentence)).groups()
        assert abs(int(found) - year / 10) <= 5


def test_counts_are_edited_in_several_ways():
    results = {exaggerate(f"{name} has 18 stations.").removeprefix(f"{name} has ") for name in map(chr, range(97, 123))}
    assert results == {"1.8 stations.", "18,000 stations.", "-18 stations."}
    results = {exaggerate(f"{name} has two sons.").removeprefix(f"{name} has ") for name in map(chr, range(97, 123))}
    assert results == {"two hundred sons.", "two thousand sons.", "two and a half sons."}


def test_days_names_and_codes_stay():
    for sentence in (
        "They met on May 5.",
        "He flew a Boeing 747.",
        "See no 4.",
        "It aired in the 1990s.",
        "In 44 BC.",
        "Use 3.19.4.",
    ):
        assert isinstance(exaggerate(sentence), Refused), sentence


@pytest.mark.parametrize(
    ("probe", "sentence", "reason"),
    [
        ("gender", "The mill closed.", "no pronoun of a man or a woman"),
        ("gender", "He or she pays.", "names both genders in one breath, as in `he or she`"),
        ("animacy-down", "It closed.", "no pronoun of a man or a woman"),
        ("animacy-up", "He closed the mill.", "no pronoun of a thing"),
        ("animacy-up", "It is said that he won.", "its only `it` stands for no thing, as in `it is said that`"),
        ("demonstrative", "He said that he won.", "no `this`, and no `that` that points at something"),
        ("past-to-future", "He lives in a used car.", "no verb in the past tense"),
        ("conjunction", "The mill closed.", "no conjunction between clauses or verbs"),
        ("negation", "He never came.", "is negative already"),
        ("negation", "Music and dance", "no finite verb is recognised"),
        ("number", "The mill closed.", "no number that is not part of a name, a date or a code"),
    ],
)
def test_refusals_say_why(probe, sentence, reason):
    assert edited(probe, sentence) == Refused(reason)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize(
    "sentence",
    ["", " ", ".", '"', "(", "Ω ≠ 1", "he", "and", "was", "it", "that", "1990", "his", "x -ed", "x-ed", "İt was"],
)
def test_odd_sentences_are_edited_or_refused(probe, sentence):
    assert isinstance(edited(probe, sentence), str | Refused)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_edit_repeats_changes_something_and_keeps_marks_and_names(probe, sentence):
    result = edited(probe, sentence)
    assert edited(probe, sentence) == result
    if isinstance(result, Refused):
        return
    assert result != sentence
    assert "  " not in result
    assert result[0].isupper() == sentence[0].isupper()
    marks = r'[;()?!"]'
    assert re.findall(marks, result) == re.findall(marks, sentence)
    for name in re.findall(r"(?<!^)\b(?:Ghent|Lille|Ann|Lee)\b", sentence):
        assert name in result


@pytest.mark.parametrize("probe", ["gender", "animacy-down", "animacy-up", "demonstrative"])
@pytest.mark.parametrize("sentence", SENTENCES)
def test_word_for_word_edits_leave_all_other_words(probe, sentence):
    result = edited(probe, sentence)
    if isinstance(result, str):
        changed = [(a, b) for a, b in zip(sentence.split(" "), result.split(" "), strict=True) if a != b]
        words = {"he", "she", "him", "her", "his", "hers", "himself", "herself", "it", "its", "itself", "this", "that"}
        assert all(re.sub(r"\W", "", a).lower() in words for a, _ in changed)


def test_unknown_probe():
    with pytest.raises(TextcriticError, match=r"probe 'tense': unknown; use one of gender, animacy-down"):
        edited("tense", "He came.")


@pytest.mark.parametrize(
    ("form", "base"),
    [
        *[("went", "go"), ("made", "make"), ("taken", "take"), ("rewrote", "rewrite"), ("led", "lead")],
        *[("moved", "move"), ("played", "play"), ("stopped", "stop"), ("carried", "carry"), ("died", "die")],
        *[("created", "create"), ("treated", "treat"), ("visited", "visit"), ("united", None), ("invited", "invite")],
        *[("controlled", "control"), ("called", "call"), ("added", "add"), ("focused", "focus"), ("freed", "free")],
        *[("used", "use"), ("co-founded", "co-found"), ("hundred", None), ("need", None), ("interest", None)],
        *[("remastered", "remaster"), ("rediscovered", "rediscover"), ("themed", "theme"), ("trekked", "trek")],
        ("spake", "speak"),
    ],
)  # fmt: skip
def test_base_forms(form, base):
    assert base_of(form) == base


def test_other_forms():
    assert [third_person(base) for base in ("go", "study", "play", "be", "have", "pass", "teach")] == [
        *["goes", "studies", "plays", "is", "has", "passes", "teaches"]
    ]
    assert [base_of_third(form) for form in ("goes", "studies", "taketh", "standeth", "teeth")] == [
        *["go", "study", "take", "stand", None]
    ]
    assert is_past_only("went")
    assert not is_past_only("made")
