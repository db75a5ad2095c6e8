"""Files of a small experiment by importance sampling: log weights that are drawn, so that the truth is known."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from textcritic.corpora.structured.texts import Edge, Mention, Structured, write_structured
from textcritic.experiments.importance.files import MIXED, Beam, Exact, Filtered, ImportanceFiles, Own, Texts, Weighed
from textcritic.files import write_arrays
from textcritic.inference.importance import ExactWeights, LogWeights

# Words that HTML and LaTeX would take for their own are among them.
NASTY = (r"\alpha_1", "<b>bold</b>", "50%", "&amp;", "{{x}}", "$y$", "#1", "~z^2")
DRAWS, SHARDS = 30, 2
TEMPERATURES = (0.5, 1.0, 2.0)
LOG_P = -2.5  # of a token
OWN = 40  # texts that a model draws
SMC_LOSS = 2.6  # nats of a token, by the particle filter


def tiny(root: Path, *, documents: int = 30, empty: bool = False) -> ImportanceFiles:
    """Every file of a complete experiment below `root`.

    Args:
        root: where the files go.
        documents: texts of each corpus.
        empty: of one model no draw is possible, for no text.
    """
    return build_importance(root, documents=documents, impossible=empty)


def build_importance(
    root: Path,
    *,
    documents: int = 30,
    seeds: Sequence[int] = (1,),
    deviation: float = 1.0,
    impossible: bool = False,
) -> ImportanceFiles:
    """Write every file that the tables, figures and section read below `root`.

    Weights are log-normal: log w = log p - s^2 / 2 + s e with normal e, whose mean is p; s is `deviation` at
    temperature 1, and more at others.

    Args:
        root: where the files go.
        documents: texts of each corpus.
        seeds: of each model.
        deviation: s.
        impossible: all weights of one model are -inf.
    """
    rng = np.random.default_rng(7)
    corpora = {"trees": _trees(documents), "mentions": _mentions(documents), "links": _links(documents)}
    texts = tuple(_written(root, name, corpus) for name, corpus in corpora.items())
    weighed: list[Weighed] = []
    exact: list[Exact] = []
    beams: list[Beam] = []
    filtered: list[Filtered] = []
    own: list[Own] = []
    for corpus, generator, proposal in (("trees", "rnng", "crf"), ("mentions", "entitynlm", "disc")):
        for seed in seeds:
            place = root / generator / f"seed{seed}"
            place.mkdir(parents=True)
            said = {"corpus": corpus, "generator": generator, "seed": seed, "label": f"model <{generator}>"}
            truth = np.array([LOG_P * len(text.tokens) for text in corpora[corpus]])
            for temperature, peeks in [*((tau, True) for tau in (*TEMPERATURES, MIXED)), (1.0, False)]:
                spread = deviation * (1 + abs(np.log(temperature or 1.0)) + (not peeks))
                name = proposal if peeks else f"{proposal}-blind"
                shards = tuple(place / f"{name}-t{temperature:g}-{n}.npz" for n in range(SHARDS))
                for path in shards:
                    noise = spread * rng.standard_normal((documents, DRAWS)) - spread**2 / 2
                    log_weights = truth[:, None] + noise
                    if impossible and generator == "rnng":
                        log_weights[:] = -np.inf
                    _save(path, corpora[corpus], log_weights)
                weighed.append(
                    Weighed(**said, proposal=name, drawn_by=name, temperature=temperature, peeks=peeks, shards=shards)
                )
            if generator == "entitynlm":
                path = place / "particles.npz"
                noise = 0.3 * (-1.0) ** (np.arange(documents) // 2)  # 0 in sum, of 4 n texts
                _save(path, corpora[corpus], (truth * SMC_LOSS / -LOG_P + noise)[:, None])
                keys = {key: said[key] for key in ("corpus", "generator", "seed")}
                own.append(_own(place, rng, {**keys, "proposal": proposal, "temperature": 1.0}))
                filtered.append(Filtered(**keys, proposal=proposal, particles=60, weights=path))
            for states in (1, 10):
                path = place / f"beam{states}.npz"
                log_p = truth[:, None] - 1.0 - np.arange(states)
                log_p[:, 5:] = -np.inf
                ids = np.array([text.id for text in corpora[corpus]])
                write_arrays(path, {"ids": ids, "tokens": _tokens(corpora[corpus]), "log_p": log_p})
                beams.append(Beam(**said, proposal=proposal, drawn_by=proposal, states=states, joint=path))
    for corpus, generator, latent in (("trees", "rnng", True), ("mentions", "lstm", False)):
        truth = np.array([LOG_P * len(text.tokens) for text in corpora[corpus]])
        path = root / f"{generator}-exact.npz"
        _save(path, corpora[corpus], (truth if latent else truth - 2)[:, None])
        label = "model <rnng>" if latent else "LSTM & co"
        exact.append(Exact(corpus=corpus, generator=generator, seed=1, label=label, latent=latent, weights=path))
    return ImportanceFiles(
        weighed=tuple(weighed),
        exact=tuple(exact),
        beams=tuple(beams),
        filtered=tuple(filtered),
        own=tuple(own),
        texts=texts,
        repeats=20,
        group=10,
        resamples=200,
    )


def _own(place: Path, rng: np.random.Generator, keys: dict) -> Own:
    """Own texts, of which the proposal never draws the states of every tenth."""
    ids, tokens = tuple(f"own-{n}" for n in range(OWN)), np.full(OWN, 6.0)
    drawn = LOG_P * 6 + 0.1 * rng.standard_normal((OWN, DRAWS))
    exact = np.where(np.arange(OWN) % 10 == 0, np.inf, LOG_P * 6)[:, None]
    LogWeights(ids, drawn, tokens).save(place / "own.npz")
    ExactWeights(ids, exact, tokens).save(place / "own-exact.npz")
    return Own(**keys, drawn=place / "own.npz", exact=place / "own-exact.npz")


def _written(root: Path, name: str, corpus: Sequence[Structured]) -> Texts:
    path = root / f"{name}.parquet"
    write_structured(path, corpus, "made up")
    return Texts(corpus=name, test=path, structured=True)


def _save(path: Path, texts: Sequence[Structured], log_weights: np.ndarray) -> None:
    LogWeights(tuple(text.id for text in texts), log_weights, _tokens(texts)).save(path)


def _tokens(texts: Sequence[Structured]) -> np.ndarray:
    return np.array([len(text.tokens) for text in texts], dtype=np.float64)


def _trees(count: int) -> list[Structured]:
    """Sentences whose trees branch to the right."""
    made = []
    for number in range(count):
        words = (*NASTY, "word")[: 2 + number % 7]
        made.append(Structured(f"tree-{number}", tuple(words), (*[0] * len(words), *[1] * (len(words) - 1))))
    return made


def _mentions(count: int) -> list[Structured]:
    """Texts with two people, two in each group."""
    made = []
    for number in range(count):
        words = ("Ann", "Smith", "met", "Bob", ".", "She", *NASTY[: number % 8])
        mentions = (Mention(0, 2, "a"), Mention(3, 4, "b"), Mention(5, 6, "a"))
        made.append(Structured(f"text-{number}", words, (), mentions, f"book {number // 2}"))
    return made


def _links(count: int) -> list[Structured]:
    """Texts about a person and her team."""
    made = []
    for number in range(count):
        words = ("Kawhi", "joins", "the", "Clippers", ".", "He", *NASTY[: number % 8])
        mentions = (
            Mention(0, 1, "Q1"),
            Mention(3, 4, "Q2", (Edge("Q1", "P54:team_of"),)),
            Mention(5, 6, "Q1", (Edge("Q1", "@@REFLEXIVE@@"),)),
        )
        made.append(Structured(f"link-{number}", words, (), mentions))
    return made
