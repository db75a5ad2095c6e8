"""What each number of coherence means."""

SOFT, TITLES, SURE = "Soft Latent PPL", "Inferred and gold titles", "Sure"
DEFINITIONS = (
    (
        "Step",
        "One transition of a chain of section types, beginning and end included: an article of K sections has K + 1.",
    ),
    (
        "Latent PPL",
        "exp(sum of the negative log-probabilities of all steps / number of steps), pooled over all articles of a "
        "source. The next section is as hard to guess as a draw from that many equally likely ones. Lower is not "
        "always better: the aim is the value of real text.",
    ),
    ("Latent NLL", "The sum of the negative log-probabilities of an article's steps in nats, averaged over articles."),
    (
        SOFT,
        "The same with the expectation over everything the classifier thinks possible, in place of its best guess.",
    ),
    (
        "95% interval",
        "The middle 95% of the values that come out when articles are drawn anew with replacement ({resamples:,} "
        "times). It covers the choice of articles, not of the training seed.",
    ),
    (
        "p-value",
        "The share of {resamples:,} random ways to deal the articles of two sources into two piles of the same sizes "
        "that differ at least as much in log Latent PPL as the sources do. Below 0.05 we call it a difference. Each "
        "p-value stands for one comparison; with many samples, about one comparison in twenty falls below by chance.",
    ),
    (
        "Entropy and divergence",
        "Cross-entropy per step = entropy of the source's own steps + Kullback-Leibler divergence of them from the "
        "critic, both conditional on the previous section. The corrected values take out the bias of a finite sample.",
    ),
    (
        "Perplexity",
        "exp(mean negative log-probability per token of the test articles), in tokens of the generator's encoding; for "
        "n-gram models per word. Numbers per word and per token, or of two encodings, cannot be compared. All: every "
        "token or word. Body: without section titles and separators.",
    ),
    ("Unlikely step", "A step with a probability below 5% under the critic (graphs and articles) or 1% (table)."),
    (
        TITLES,
        "Inferred: the classifier's best guess from a section's text. Gold: the titles that real articles come with. "
        "Samples are compared with real text by inferred titles on both sides: both carry the classifier's faults.",
    ),
    (
        SURE,
        "Of a section: the classifier's posterior probability of the title that it inferred. It says how sure the "
        "classifier is, not how often it is right.",
    ),
    ("Rejected", "Articles without a readable chain of known section types. Their reasons are counted."),
    (
        "Published",
        "The value in the paper, shown beside ours and used in no computation; the difference is ours minus theirs.",
    ),
)

# What takes their place where titles are given.
GIVEN = {
    SOFT: (SOFT, "Where titles are given there is nothing to be unsure of: it equals the Latent PPL."),
    TITLES: (
        "Given titles",
        "Sections are known by the titles that articles come with, spelt as the corpus spells its own, in real text "
        "and in samples. An article with a title that no training article has is rejected.",
    ),
}


def definitions(resamples: int, titles_given: bool = False) -> list[tuple[str, str]]:
    """Terms and what they mean."""
    known = [(term, words) for term, words in DEFINITIONS if not (titles_given and term == SURE)]
    pairs = [GIVEN.get(term, (term, words)) if titles_given else (term, words) for term, words in known]
    return [(term, words.format(resamples=resamples)) for term, words in pairs]
