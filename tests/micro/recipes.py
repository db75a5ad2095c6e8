"""Made-up recipes: a known chain of sections, each with words of its own, so that every stage has something to learn.

`python tests/micro/recipes.py FOLDER` writes recipes.jsonl (a corpus, two articles of each book) and theirs.jsonl
(samples with the order spoilt), stories.jsonl (short stories, each about one person), and sentences with translations,
of which those in mixed.txt are in two languages.
"""

import json
import random
import sys
from pathlib import Path

TRANSITIONS = {
    "begin": {"summary": 1.0},
    "summary": {"ingredients": 0.9, "history": 0.1},
    "history": {"ingredients": 1.0},
    "ingredients": {"steps": 0.8, "tools": 0.2},
    "tools": {"steps": 1.0},
    "steps": {"notes": 0.6, "end": 0.4},
    "notes": {"end": 1.0},
}
WORDS = {
    "summary": "a dish of the north that people eat in winter with friends",
    "history": "first cooked by monks centuries ago in an old abbey",
    "ingredients": "two eggs flour butter sugar salt milk one lemon",
    "tools": "bowl whisk oven pan spoon knife board",
    "steps": "mix stir bake cool slice pour heat serve until golden",
    "notes": "keeps for three days cold freeze leftovers well covered",
}


def chain(rng: random.Random) -> list[str]:
    """One draw from the chain of section titles."""
    titles, state = [], "begin"
    while True:
        state = rng.choices(list(TRANSITIONS[state]), list(TRANSITIONS[state].values()))[0]
        if state == "end":
            return titles
        titles.append(state)


def text(title: str, rng: random.Random) -> str:
    """A few words of the section."""
    return " ".join(rng.choices(WORDS[title].split(), k=rng.randint(4, 8))) + "."


def write(folder: Path, articles: int = 240, samples: int = 60) -> None:
    """Write both files of articles, and one with mentions that people have marked."""
    rng = random.Random(1)
    for name, count, spoilt in (("recipes", articles, False), ("theirs", samples, True)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as handle:
            for number in range(count):
                titles = chain(rng)
                if spoilt:
                    rng.shuffle(titles)
                sections = [{"title": title, "text": text(title, rng)} for title in titles]
                article = {"id": f"{name}-{number}", "sections": sections}
                if not spoilt:
                    article["group"] = f"book {number // 2}"
                handle.write(json.dumps(article) + "\n")
    write_stories(folder, random.Random(2))
    write_sentences(folder, rng)
    (folder / "annotated.conll").write_text("".join(map(annotated, ("Ann", "Mary", "Jane"))), encoding="utf-8")


def write_stories(folder: Path, rng: random.Random, stories: int = 120) -> None:
    """Write stories.jsonl: each of 3 to 6 sentences about one person who has things of one kind."""
    people = {"Ann": "She", "Mary": "She", "Paul": "He", "John": "He"}
    things = {"garden": "roses tulips apples", "kitchen": "pots plates cakes", "harbour": "boats ropes nets"}
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as handle:
        for number in range(stories):
            name, place = rng.choice(list(people)), rng.choice(list(things))
            sentences = [f"{name} was in the {place} for {rng.randint(2, 9)} days."]
            for _ in range(rng.randint(2, 5)):
                thing, verb = rng.choice(things[place].split()), rng.choice(("saw", "found", "sold", "carried"))
                sentences.append(f"{people[name]} {verb} the {rng.choice(('old', 'new', 'red'))} {thing} and left.")
            sections = [{"title": "story", "text": " ".join(sentences)}]
            handle.write(json.dumps({"id": f"story-{number}", "sections": sections}) + "\n")


def write_sentences(folder: Path, rng: random.Random, sentences: int = 60, tested: int = 18) -> None:
    """Write sentences.{en,de,es,fr}, a word of a language being its name and a number, and mixed.txt.

    Args:
        folder: where they go.
        rng: what they are drawn from.
        sentences: of the corpus.
        tested: of its test split, each of which has a line in mixed.txt.
    """
    for language in ("en", "de", "es", "fr"):
        lines = [" ".join(f"{language}{rng.randint(1, 20)}" for _ in range(8)) for _ in range(sentences)]
        (folder / f"sentences.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [" ".join(f"{rng.choice(('de', 'fr'))}{rng.randint(1, 20)}" for _ in range(8)) for _ in range(tested)]
    (folder / "mixed.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def annotated(name: str) -> str:
    """A document in the columns of CoNLL-2012, with its mentions marked."""
    words = f"{name}|(0) met|_ Tom|(1) .|_ / She|(0) saw|_ him|(1) ,|_ and|_ he|(1) smiled|_ at|_ her|(0) .|_".split()
    lines = [f"#begin document ({name}); part 0"]
    for number, word in enumerate(words):
        text, _, mark = word.partition("|")
        lines.append("" if text == "/" else "\t".join([name, "0", str(number), text, *["_"] * 8, mark]))
    return "\n".join([*lines, "", "#end document", ""])


if __name__ == "__main__":
    write(Path(sys.argv[1]))
