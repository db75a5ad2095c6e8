"""Detectors that learn nothing: surprise against a plain double loop, topics and mentions without a sentence."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_intruders import entry_of, planted, written

from textcritic.corpora.articles import Article, Section, write_articles
from textcritic.corpora.intruders.documents import Document
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.posterior import infer
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.critics.detectors.detector import Detector
from textcritic.critics.detectors.learner import Files
from textcritic.critics.detectors.nll import MentionsWithout, OrderWithout, TopicsWithout
from textcritic.critics.detectors.predictions import read_predictions
from textcritic.critics.detectors.scores import best_threshold
from textcritic.critics.detectors.surprise import CausalSentences, NgramSentences, Surprise
from textcritic.critics.detectors.train import measured, predict_documents, train_detector
from textcritic.critics.mentions.model import MentionCritic
from textcritic.critics.order.arrangements import arranged
from textcritic.critics.order.critic import OrderCritic
from textcritic.critics.order.sentences import sentences_of
from textcritic.errors import TextcriticError
from textcritic.generators.ngram.job import NgramFiles, fit_ngram
from textcritic.generators.ngram.model import load as load_ngram
from textcritic.latents.bags import count_words
from textcritic.latents.bags.vocabulary import build_vocabulary
from textcritic.latents.resolvers.chains import ChainOptions, chains_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.plan.entries import Ngram, Persons, read_entry
from textcritic.plan.entries.critics import VocabularyOptions
from textcritic.rehearsal.checkpoints import tiny_gpt2
from textcritic.training.load import load_causal, load_tokenizer
from textcritic.training.loop import Run

STORY = Document("story", ("ba1 ba2 ba3.", "du1 ba4.", "ba5 ba6 ba7 ba1.", "ki3 ki4 ba2."))


def sentence_of(starts, place):
    """The number of the last start at or before a place."""
    return max(n for n, start in enumerate(starts) if start <= place)


@pytest.mark.parametrize("repeats", [1, 4])  # 4: longer than the model's 32 positions
def test_surprise_of_a_transformer_is_that_of_a_plain_double_loop(tmp_path, repeats):
    folder = tiny_gpt2(tmp_path / "gpt2", ["ba1 ba2 ba3 ba4 ba5 ba6 ba7 du1 du2 ki3 ki4. " * 3], tokenizer_json=True)
    document = Document("d", tuple(" ".join([sentence] * repeats) for sentence in STORY.sentences))
    sentences = CausalSentences(folder)
    (table,) = sentences.log_probs([document])
    tokenizer = load_tokenizer(folder)
    model = load_causal({"folder": str(folder)}, tokenizer)
    text, end = " ".join(document.sentences), tokenizer.eos_token_id
    encoded = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    # A space belongs to the sentence behind it.
    starts = [0, *(len(" ".join(document.sentences[:n])) for n in range(1, 4))]
    owner = [sentence_of(starts, stop - 1) for _, stop in encoded["offset_mapping"]]
    for number in range(4):
        own = [token for token, of in zip(encoded["input_ids"], owner, strict=True) if of == number][:31]
        before = [token for token, of in zip(encoded["input_ids"], owner, strict=True) if of < number]
        before = before[max(0, len(before) + len(own) - 31) :]
        alone = after = 0.0
        for place, token in enumerate(own):
            for context, total in (([], "alone"), (before, "after")):
                ids = torch.tensor([[end, *context, *own[:place]]])
                with torch.no_grad():
                    value = float(model(ids).logits[0, -1].log_softmax(0)[token])
                alone, after = (alone + value, after) if total == "alone" else (alone, after + value)
        np.testing.assert_allclose(table[number], [alone, after, len(own)], rtol=1e-5)
    others = planted(20, 3)
    together = sentences.log_probs([*others, document])[-1]
    np.testing.assert_allclose(together, table, rtol=1e-5)


@pytest.fixture(scope="session")
def ngram(shared_folder):
    """An interpolated trigram of documents without intruders, and one without smoothing."""

    def make(folder: Path) -> None:
        for seed, (split, count) in enumerate({"train": 300, "validation": 60}.items()):
            texts = (" ".join(d.sentences) for d in planted(count, 10 + seed) if d.intruder is None)
            articles = [Article(str(n), None, (Section(None, text),), "tiny") for n, text in enumerate(texts)]
            write_articles(folder / f"{split}.parquet", articles)
        splits = {"train": folder / "train.parquet"} | dict.fromkeys(
            ("validation", "test"), folder / "validation.parquet"
        )
        for smoothing in ("interpolated", "none"):
            files = NgramFiles(folder / smoothing, folder / f"{smoothing}.json", folder / f"{smoothing}-ppl.json")
            fit_ngram(splits, "wo-title", Ngram(kind="ngram", smoothing=smoothing), files)

    return shared_folder("ngram-of-topics", make)


def test_surprise_of_an_n_gram_model_is_that_of_a_plain_double_loop(ngram):
    model = load_ngram(ngram / "interpolated")

    def log_prob(words):
        article = Article("a", None, (Section(None, " ".join(words)),), "tiny")
        return -model.nll(model.vocabulary.encode([article], "wo-title"))[: len(words)].sum()

    for document in (STORY, *planted(5, 1)):
        (table,) = NgramSentences(ngram / "interpolated").log_probs([document])
        before = []
        for number, sentence in enumerate(document.sentences):
            words = sentence.split()
            row = [log_prob(words), log_prob([*before, *words]) - log_prob(before), len(words)]
            np.testing.assert_allclose(table[number], row, rtol=1e-9)
            before += words
    scorer = Surprise(NgramSentences(ngram / "interpolated"), "total")
    (total,) = scorer.scores([STORY])
    (table,) = scorer.model.log_probs([STORY])
    np.testing.assert_allclose(total, table[:, 0] - table[:, 1])
    assert total[0] == 0
    (per_token,) = Surprise(scorer.model, "token").scores([STORY])
    np.testing.assert_allclose(per_token, total / [3, 2, 4, 3])


def test_a_language_model_that_gives_probability_0_is_refused(ngram):
    with pytest.raises(TextcriticError, match="1-0: a sentence has probability 0; use a language model with smoothing"):
        Surprise(NgramSentences(ngram / "none"), "token").scores(planted(1, 1))


def test_surprise_finds_intruders_and_chooses_its_threshold_on_validation(ngram, tmp_path):
    paths = [
        written(tmp_path / f"{split}.parquet", planted(60, seed)) for seed, split in enumerate(("train", "validation"))
    ]
    generator = read_entry({"kind": "ngram", "order": 3, "smoothing": "interpolated"}, "generators", "test")
    files = Files(scorer=ngram / "interpolated", made_with={"generators": generator.canonical()})
    entry = entry_of({"surprise": {"generator": "ngram-3-interpolated"}})
    run = Run(tmp_path / "model", tmp_path / "training.json", "surprise", threads=1)
    report = train_detector(*paths, files, entry, 1, run)
    assert json.loads((tmp_path / "training.json").read_text()) == report
    assert report["threshold_from"] == "validation"
    held_out = planted(60, 1)
    scored = Detector.load(tmp_path / "model", ngram / "interpolated").scorer.scores(held_out)
    wrong = [n == d.intruder for d in held_out for n in range(1, len(d.sentences))]
    assert (report["threshold"], report["validation"]["f1"]) == pytest.approx(
        best_threshold(np.concatenate([part[1:] for part in scored]), wrong)
    )
    documents = planted(200, 2)
    written(tmp_path / "documents.parquet", documents)
    predict_documents(
        tmp_path / "model", tmp_path / "documents.parquet", tmp_path / "out.parquet", ngram / "interpolated"
    )
    found = read_predictions(tmp_path / "out.parquet")
    assert not found[0].probabilities
    assert measured(documents, found)["auc"] > 0.75
    with pytest.raises(TextcriticError, match="surprise is made with another model"):
        Detector.load(tmp_path / "model")


def test_topics_are_scored_with_and_without_each_sentence(tmp_path):
    documents = planted(40, 1)
    words = [" ".join(document.sentences).split() for document in documents]
    vocabulary, _ = build_vocabulary(words, VocabularyOptions(minimum_count=1, maximum_share=1.0))
    random = np.random.default_rng(1)
    topics = np.log(random.dirichlet(np.full(len(vocabulary), 0.1), 4))
    critic = CTM(topics, np.zeros(3), np.diag([1.0, 2.0, 0.5]))
    critic.save(tmp_path / "critic.npz")
    vocabulary.save(tmp_path / "vocabulary.parquet")
    scored = TopicsWithout(tmp_path).scores([*documents, Document("foreign", ("xyz.", "zyx.", "yyy."))])

    def nll(sentences):
        counts = count_words([" ".join(sentences).split()], vocabulary)
        posterior = infer(critic, counts)
        return latent_nll(critic, posterior.means, posterior.variances)[0][0]

    for document, scores in zip(documents[:6], scored, strict=False):
        whole = nll(document.sentences)
        for number, score in enumerate(scores):
            rest = document.sentences[:number] + document.sentences[number + 1 :]
            assert score == pytest.approx(whole - nll(rest), abs=1e-3)
    np.testing.assert_allclose(scored[-1], 0, atol=1e-9)  # no word of the vocabulary, with any sentence or without


def test_order_is_scored_with_and_without_each_sentence(tmp_path):
    """By the evidence of the texts that are left; a sentence about something else is the likest an intruder."""
    rng = np.random.default_rng(2)
    names = ("Ada", "Bo", "Cy", "Di")

    def story(number):
        who, thing = names[number % 4], f"thing{rng.integers(30)}"
        return (
            f"There was a {thing} of {who}.",
            f"The {thing} was what {who} had.",
            f"Then {who} sold the {thing}.",
            f"So the {thing} was gone.",
        )

    stories = [story(number) for number in range(60)]
    critic = OrderCritic.fit(sentences_of([" ".join(one)] for one in stories))
    critic.save(tmp_path / "critic.npz")
    right = 0
    for number, sentences in enumerate(stories[:20]):
        intruder = (*sentences[:2], f"Green stones lie in the sand {number}.", *sentences[2:])
        (scores,) = OrderWithout(tmp_path / "critic.npz").scores([Document("one", intruder)])
        whole, *others = (
            float(arranged(sentences_of([[" ".join(some)]]), critic.vocabulary).found[0] @ critic.weights) / 100
            for some in (intruder, *(intruder[:n] + intruder[n + 1 :] for n in range(5)))
        )
        assert scores == pytest.approx([other - whole for other in others], rel=1e-9)
        right += int(np.argmax(scores) == 2)
    assert right >= 15


PEOPLE = Document("people", ("Anna met Tom.", "She gave him a book.", "He thanked her.", "The weather was fine."))


def test_mentions_are_scored_with_and_without_each_sentence(tmp_path):
    resolver = resolver_of(Persons(kind="persons"))
    options = ChainOptions()
    texts = [" ".join(PEOPLE.sentences), "Mary saw John. He saw her. They laughed.", "Peter slept. He woke."]
    chains = chains_of(resolver.resolve((str(n), text) for n, text in enumerate(texts)), options).chains
    critic = MentionCritic.fit(chains, 3)
    critic.save(tmp_path / "critic.npz")
    (scores,) = MentionsWithout(tmp_path / "critic.npz", options, resolver).scores([PEOPLE])

    def nll(sentences):
        chained = chains_of(resolver.resolve([("x", " ".join(sentences))]), options)
        log_probs = critic.log_prob(chained.chains)
        return -math.fsum(log_probs) / len(log_probs)

    whole = nll(PEOPLE.sentences)
    for number, score in enumerate(scores):
        assert score == pytest.approx(whole - nll(PEOPLE.sentences[:number] + PEOPLE.sentences[number + 1 :]))
    assert np.ptp(scores) > 0
