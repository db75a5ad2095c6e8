"""The default wording for annotators, for campaigns without their own; an empty line separates paragraphs."""

from collections.abc import Mapping

from textcritic.annotation.answers import INTRUDER, SECTIONS
from textcritic.plan.entries import Campaign
from textcritic.plan.entries.parts import Words

CONSENT = """\
You are invited to take part in a study of how well computer programs write. You will read texts and answer questions \
about them. Some of the texts were written by people, others by programs.

Taking part is voluntary. You can stop at any time without giving a reason and without any penalty.

We store your answers, the time of each, and a random number in place of your name. We store no address of your \
computer. The answers are used for research, and published without anything that says who you are.

You can withdraw on any page: all your answers are then deleted. After publication that is no longer possible.

You must be 18 or older. Please do the task yourself, without the help of a language model: we want to know what \
people think."""

QUESTION: Mapping[str, str] = {
    SECTIONS: "Do the section types, in this order, make sense for such a text?",
    INTRUDER: "Which sentence does not belong here?",
}

TITLE: Mapping[str, str] = {
    SECTIONS: "Does this text hang together?",
    INTRUDER: "Which sentence does not belong?",
}

INSTRUCTIONS: Mapping[str, str] = {
    SECTIONS: """\
Read the text. Next to each section, choose its type from the list. The type says what the section is for, not how \
well it is written.

Then look at the types in their order, and answer whether such an order makes sense for a whole text of this kind. Do \
not judge whether the text is true.

If a section is so bad that you cannot tell its type, choose any type, and answer that the order makes no sense.""",
    INTRUDER: """\
Read the sentences in their order. In some texts one sentence was replaced by a sentence from another text. In others \
all sentences belong.

Choose the sentence that does not belong, or that all sentences belong. The first sentence always belongs. Do not look \
up whether the text is true.""",
}


class Worded(Campaign):
    """A campaign that says all of its wording."""

    title: Words
    question: Words
    instructions: Words
    consent: Words


def with_wording(entry: Campaign) -> Worded:
    """The entry of a campaign, completed with the default wording."""
    task = entry.task
    brought = {"consent": CONSENT, "title": TITLE[task], "question": QUESTION[task], "instructions": INSTRUCTIONS[task]}
    missing = {key: text for key, text in brought.items() if getattr(entry, key) is None}
    return Worded.read(entry.plain() | missing, "wording")
