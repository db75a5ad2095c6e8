"""What the tables of known processes print, against an independent computation from chains, texts and process.npz."""

import json
import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest
from report_jobs import Made
from trainings_oracle import recipe

from experiments.by_hand import check, check_p, decomposition, interval, kept, ppl, printed
from experiments.process.conftest import PUBLISHED
from experiments.process.tiny import NOTHING, SAMPLES, build_process
from textcritic.files import read_json, write_json
from textcritic.measures.scored import RECIPE

RESAMPLES = 999
SEQUENCES = 120
TWO_SEEDS = tuple((*row[:3], 2, *row[4:]) for row in (SAMPLES[0], NOTHING))
PAPER = {"transformer-released": (64.80, 2.28), "data": (44.30, 1.99)}  # of Latent and word-level PPL (Table 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files, the folder of their tables, and P(next | previous) by name of state."""
    root = tmp_path_factory.mktemp("values")
    samples = (*SAMPLES, *TWO_SEEDS, NOTHING)
    files = build_process(root, samples=samples, sequences=SEQUENCES, resamples=RESAMPLES)
    for sample in files.samples:
        report = read_json(sample.perplexity)
        report["body"] |= {"ppl": report["body"]["ppl"] + 0.5, "ci95": [end + 0.5 for end in report["body"]["ci95"]]}
        write_json(sample.perplexity, report)
    Made("process", files, published=PUBLISHED).tables(root / "tables")
    arrays = np.load(files.data[0].process)
    transition = arrays["transition"]
    return (
        files,
        root / "tables",
        {key: arrays[key] for key in arrays.files}
        | {"p": lambda before, after: transition[0 if before == "<begin>" else int(before), int(after)]},
    )


def steps_of(chain):
    """M steps of M states: the first from the initial distribution, which is row 0, and no end."""
    return list(pairwise(["<begin>", *chain]))


def documents(path, p):
    return [(-sum(math.log(p(*step)) for step in steps_of(row["chain"])), len(row["chain"])) for row in kept(path)]


def of_test(files, p, sequences):
    """The divergence of as many sequences of the test split, in the order that numpy's generator deals them."""
    chains = [row["chain"] for row in kept(files.data[0].scores)]
    dealt = np.random.default_rng(1234).permutation(len(chains))[:sequences]
    if not len(dealt):
        return {"kl_of_test": None, "kl_corrected_of_test": None}
    parts = decomposition([step for i in dealt for step in steps_of(chains[i])], p)
    return {"kl_of_test": parts["kl"], "kl_corrected_of_test": parts["kl_corrected"]}


def latent(files, path, p, published):
    """The columns of a file of scores that depend on the chains alone."""
    every, scored = pq.read_table(path).to_pylist(), documents(path, p)
    rejected = Counter(row["why"] for row in every if row["rejected"])
    commonest = sorted(rejected.items(), key=lambda pair: (-pair[1], pair[0]))
    row = {
        "documents": len(scored),
        "steps": sum(steps for _, steps in scored),
        "rejected": len(every) - len(scored),
        "rejected_share": (len(every) - len(scored)) / len(every),
        "rejected_by_reason": "; ".join(f"{why}: {n}" for why, n in commonest),
        "infinite_because": None,
        "published": published,
        **of_test(files, p, len(scored)),
    }
    names = ("latent_ppl", "latent_nll", "ci_low", "ci_high", "difference")
    parts = ("cross_entropy", "entropy", "kl", "entropy_corrected", "kl_corrected")
    if not scored:
        return row | dict.fromkeys((*names, *parts))
    low, high = interval(scored, ppl, RESAMPLES)
    row |= {"latent_ppl": ppl(scored), "ci_low": low, "ci_high": high}
    row |= {"latent_nll": sum(nll for nll, _ in scored) / len(scored)}
    row["difference"] = None if published is None else row["latent_ppl"] - published
    return row | decomposition([step for r in kept(path) for step in steps_of(r["chain"])], p)


def test_every_sample(made):
    files, folder, process = made
    rows = printed(folder, "process")[2:]
    real = documents(files.data[0].scores, process["p"])
    for row, sample in zip(rows, files.samples, strict=True):
        scored = documents(sample.scores, process["p"])
        of_paper = PAPER.get(sample.generator, (None, None))
        if sample.generator == "hsmm-800-adam":  # printed once, of the decoding that stops at the given length
            of_paper = (47.24 if sample.decoding == "sequences-given" else None, 2.05)
        report = json.loads(sample.perplexity.read_text())
        expected = {"corpus": "process", "source": "sample", "setting": "wo-title", "generator": sample.generator}
        expected |= {"decoding": sample.decoding, "seed": sample.seed, "draw": 1}
        expected |= latent(files, sample.scores, process["p"], of_paper[0])
        for part in ("all", "body"):
            low, high = report[part]["ci95"]
            expected |= {f"ppl_{part}": report[part]["ppl"], f"ppl_{part}_low": low, f"ppl_{part}_high": high}
        expected |= {"ppl_unit": "tokens", "ppl_infinite_because": None, "ppl_body_published": of_paper[1]}
        gap = None if of_paper[1] is None else report["body"]["ppl"] - of_paper[1]
        expected["ppl_body_difference"] = gap
        same = [s for s in files.samples if (s.generator, s.decoding) == (sample.generator, sample.decoding)]
        read = [ppl(d) for s in same if (d := documents(s.scores, process["p"]))]
        expected |= {"seeds": len(same), "seeds_read": len(read)}
        expected |= recipe(read, (ppl(real), *interval(real, ppl, RESAMPLES)))
        if scored:
            check_p(float(row["p_value"]), scored, real, RESAMPLES)
        else:
            expected["p_value"] = None
        check(row, expected)
        assert set(row) - set(expected) <= {"label", "p_value", "published_note"}


def test_the_process_and_its_test_split(made):
    files, folder, process = made
    exact, test = printed(folder, "process")[:2]
    statistics = json.loads(files.data[0].statistics.read_text())
    transition, owner, emission = process["transition"], process["owner"], process["emission"]
    tokens_of = np.array([len(letters) + 1 for letters in process["subsequences"]])
    # The state before each step: the first one for sure, then as the transitions lead on.
    before, visited = [np.eye(len(transition))[0]], []
    for _ in range(int(process["steps"])):
        visited.append(before[-1] @ transition)
        before.append(visited[-1])
    nats_of_rows = -np.array([sum(p * math.log(p) for p in row if p) for row in transition])
    states = sum(float(b @ nats_of_rows) for b in before[:-1])
    emitted = sum(v[owner[s]] * -emission[s] * math.log(emission[s]) for v in visited for s in range(len(owner)))
    tokens = sum(v[owner[s]] * emission[s] * tokens_of[s] for v in visited for s in range(len(owner)))
    word = math.exp((states + emitted) / tokens)
    per_step = states / int(process["steps"])
    values = {
        "latent_ppl": math.exp(per_step),
        "ppl_body": word,
        "ppl_all": math.exp((states + emitted) / (tokens + 1)),
        "cross_entropy": per_step,
        "entropy": per_step,
        "ppl_unit": "tokens",
    }
    nothing = ("ci_low", "ci_high", "p_value", "documents", "steps", "rejected", "published", "ppl_body_published")
    check(exact, values | dict.fromkeys((*nothing, "ppl_body_low", "ppl_body_high", "seeds", "kl_of_test")))
    # What is left of equal numbers after rounding.
    assert 0 <= float(exact["kl"]) < 1e-12
    expected = latent(files, files.data[0].scores, process["p"], PAPER["data"][0])
    kept_tokens, nats = 0, []
    for row in pq.read_table(files.data[0].articles).to_pylist():
        chain = [section["title"] for section in row["sections"]]
        of_states = -sum(math.log(process["p"](*step)) for step in steps_of(chain))
        pieces = [list(process["subsequences"]).index(section["text"]) for section in row["sections"]]
        length = sum(int(tokens_of[piece]) for piece in pieces)
        nats.append((of_states - sum(math.log(emission[piece]) for piece in pieces), length))
        kept_tokens += length
    low, high = interval(nats, ppl, 10_000)  # the corpus' own number of resamples
    expected |= {"ppl_body": ppl(nats), "ppl_body_low": low, "ppl_body_high": high, "ppl_unit": "tokens"}
    expected |= {"ppl_all": math.exp(sum(n for n, _ in nats) / (kept_tokens + len(nats))), "p_value": None}
    expected |= {"ppl_body_published": PAPER["data"][1], "ppl_body_difference": ppl(nats) - PAPER["data"][1]}
    check(test, expected | dict.fromkeys((*RECIPE, "seeds_read", "ppl_all_low")))
    assert statistics["tokens"]["test"] == kept_tokens


def test_parsing(made):
    files, folder, process = made
    owner = dict(zip(process["subsequences"], process["owner"].tolist(), strict=True))
    wanted = int(process["steps"])
    rows = {}
    for row in printed(folder, "parsing"):
        rows.setdefault((row["generator"], row["decoding"], row["seed"]), {})[row["switch"]] = row
    assert len(rows) == len(files.samples)
    for sample in files.samples:
        chains = [row["chain"] for row in kept(sample.scores)]
        texts = pq.read_table(sample.rejected).to_pylist()
        released = [(t["text"], c) for t in texts if len(c := known_states(t["text"], owner)) == wanted]
        lengths = [known_states(t["text"], owner) for t in texts if "than" in t["why"]]
        invalid = sum(text.count(" ") > wanted for text, _ in released)
        more = {"default": [], "as_released": [c for _, c in released], "any length": lengths}
        ours = rows[sample.generator, sample.decoding, str(sample.seed)]
        assert set(ours) == set(more)
        value = {name: pooled([*chains, *extra], process["p"]) for name, extra in more.items()}
        for name, extra in more.items():
            against = None if name == "default" else "default"
            compared = against and value[name] is not None and value["default"] is not None
            change = 100 * (value[name] / value["default"] - 1) if compared else None
            counts = {"documents": len(chains) + len(extra), "rejected": len(texts) - len(extra)}
            released_says = {"processed": len(chains) + len(extra), "invalid": invalid}
            counts |= released_says if name == "as_released" else dict.fromkeys(released_says)
            check(ours[name], {"latent_ppl": value[name], "compared_with": against, "change_percent": change} | counts)


def known_states(text, owner):
    """The states of a text up to the first sub-sequence that there is not; what has no delimiter behind it is none."""
    states = []
    for piece in text.split(" ")[:-1]:
        if piece not in owner:
            break
        states.append(str(owner[piece]))
    return states


def pooled(chains, p):
    steps = [step for chain in chains for step in steps_of(chain)]
    return math.exp(-sum(math.log(p(*step)) for step in steps) / len(steps)) if steps else None
