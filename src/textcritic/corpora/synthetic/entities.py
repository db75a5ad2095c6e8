"""Made-up texts whose words depend on who is mentioned: a model that knows the entities can predict them better."""

from dataclasses import dataclass, field

import numpy as np

from textcritic.corpora.structured.texts import Mention, Structured

NAMES = {
    "she": ("Anna", "Berta", "Clara", "Dora", "Emma", "Frida", "Greta", "Hanna"),
    "he": ("Adam", "Bruno", "Carl", "David", "Emil", "Fritz", "Georg", "Hans"),
}
OBJECT_FORMS = {"she": "her", "he": "him"}
ROLES = ("baker", "doctor", "driver", "farmer", "judge", "painter", "singer", "teacher")
VERBS = ("sees", "calls", "helps", "follows", "thanks", "leaves")
PLACES = ("school", "market", "river", "station")
SENTENCES = (4, 8)
NEW = 0.3  # P(a mention is of a new person), if others are known
RECENT = 0.7  # P(of those who are known, the one mentioned last), else P(the one before), and so on
LATER_FORMS = (0.5, 0.3, 0.2)  # P(pronoun, name, role) of a person who was mentioned before
NEXT_VERB = 0.6  # P(the next verb of the list), else any


def draw_entity_texts(count: int, seed: int) -> list[Structured]:
    """Texts of a known process, with their mentions.

    A text has 4 to 8 sentences. A sentence has a person, a verb, and either another person or a place, and ends with a
    full stop. Verbs are a Markov chain. A mention is of a new person with probability `NEW`, as long as there are names
    left; otherwise of one who is known, of the last one more often than of those before. A new person is drawn with
    a gender, a name and a role, and mentioned by name. Later mentions are the pronoun of the gender, the name, or `the`
    and the role: two tokens. So name, role and gender of a person are the same through the text, and are not known
    before the first mention.

    Args:
        count: of texts.
        seed: of `numpy.random.default_rng`; the first texts are the same for every count.

    Returns:
        texts with ids entities-1, ...; entities are numbered in order of their first mention; each text is its own
        group.
    """
    rng = np.random.default_rng(seed)
    return [_Text(rng).draw(f"entities-{number}") for number in range(1, count + 1)]


@dataclass(frozen=True)
class _Person:
    pronoun: str
    name: str
    role: str


@dataclass
class _Text:
    """A text while it is drawn."""

    rng: np.random.Generator
    tokens: list[str] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    people: list[_Person] = field(default_factory=list)
    recent: list[int] = field(default_factory=list)  # numbers of people, the last mentioned one first

    def draw(self, text_id: str) -> Structured:
        verb = int(self.rng.integers(len(VERBS)))
        for _ in range(self.rng.integers(SENTENCES[0], SENTENCES[1] + 1)):
            subject = self._mention(subject=True)
            in_order = self.rng.random() < NEXT_VERB
            verb = (verb + 1) % len(VERBS) if in_order else int(self.rng.integers(len(VERBS)))
            self.tokens.append(VERBS[verb])
            if self.rng.random() < 0.5:
                self._mention(subject=False, but=subject)
            else:
                self.tokens += ["the", str(self.rng.choice(PLACES))]
            self.tokens.append(".")
        return Structured(text_id, tuple(self.tokens), mentions=tuple(self.mentions))

    def _mention(self, subject: bool, but: int | None = None) -> int:
        """Mention somebody, though not the subject of the same sentence; the number of the person."""
        candidates = [number for number in self.recent if number != but]
        left = len(self.people) < len(ROLES)
        if not candidates or (left and self.rng.random() < NEW):
            person = len(self.people)
            self.people.append(self._person())
            words = [self.people[person].name]
        else:
            person = next((number for number in candidates[:-1] if self.rng.random() < RECENT), candidates[-1])
            words = self._words(self.people[person], subject)
        self.mentions.append(Mention(len(self.tokens), len(self.tokens) + len(words), str(person)))
        self.tokens += words
        self.recent = [person, *(number for number in self.recent if number != person)]
        return person

    def _person(self) -> _Person:
        """Somebody with a name and a role that nobody in the text has."""
        pronoun = str(self.rng.choice(list(NAMES)))
        names = [name for name in NAMES[pronoun] if name not in {person.name for person in self.people}]
        roles = [role for role in ROLES if role not in {person.role for person in self.people}]
        return _Person(pronoun, str(self.rng.choice(names)), str(self.rng.choice(roles)))

    def _words(self, person: _Person, subject: bool) -> list[str]:
        form = self.rng.choice(len(LATER_FORMS), p=LATER_FORMS)
        pronoun = person.pronoun if subject else OBJECT_FORMS[person.pronoun]
        return [[pronoun], [person.name], ["the", person.role]][form]
