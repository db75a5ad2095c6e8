"""What the terms of corpora mean."""

DEFINITIONS = (
    (
        "Section length",
        "Tokens of a section, its title not counted: words split at white space, or the tokens of the tokenizer that "
        "the corpus names. Median and longest are of all splits together.",
    ),
    ("Section types", "Distinct section titles of the training articles, after titles were standardised."),
)
