"""What the tables of coherence print, against an independent computation from the scores' chains and the critic.

The sources differ widely, so that a value of one source in the place of another's is seen: "gold" are the titles of the
noisiest sample, the classifier's accuracy is another on each split, and body tokens are harder than all tokens.
"""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from report_jobs import Made
from trainings_oracle import recipe

from experiments.by_hand import (
    BEGIN,
    END,
    Critic,
    check,
    check_p,
    decomposition,
    documents,
    interval,
    kept,
    percent,
    ppl,
    printed,
    steps_of,
)
from experiments.coherence.tiny import audited, build_coherence
from textcritic.experiments.coherence.tables import NAMES, TABLES
from textcritic.files import read_json, write_json
from textcritic.measures.material import Material
from textcritic.measures.scored import RECIPE
from textcritic.report.sheet import to_html

RESAMPLES = 999
DOCUMENTS = 40
PAPER_GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PUBLISHED = {
    ("docstrings", "", "data", "", "latent_ppl"): 2.0,
    ("docstrings", "w-title", "gpt2-demo", "", "latent_ppl"): 2.5,
    ("docstrings", "w-title", "gpt2-demo", "", "ppl"): 20.0,
    ("docstrings", "w-title", "gpt2-demo", "", "total_errors_percent"): 5.46,
    ("docstrings", "w-title", "gpt2-demo", "", "repetition_share_percent"): 17.89,
    ("docstrings", "w-title", "gpt2-demo", "", "error_percent: notes > notes"): 0.13,
    ("docstrings", "", "data", "", "classifier_accuracy_percent"): 90.0,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files, the folder of their tables, and the critic."""
    root = tmp_path_factory.mktemp("values")
    files = build_coherence(root, documents=DOCUMENTS, seeds=(1, 2), resamples=RESAMPLES)
    (data,) = files.data
    accuracy = read_json(data.accuracy)
    accuracy["test"] |= {"accuracy": 0.87, "ci95": [0.85, 0.89], "n": 580}
    write_json(data.accuracy, accuracy)
    for sample in files.samples:
        report = read_json(sample.perplexity)
        if report["body"]["ppl"] is not None:
            report["body"] |= {"ppl": report["body"]["ppl"] + 3, "ci95": [end + 3 for end in report["body"]["ci95"]]}
        write_json(sample.perplexity, report)
    files = audited(replace(files, data=(replace(data, gold=files.samples[-1].scores),)))
    lines = [f"2,{','.join(cell)},{value},paper," for cell, value in PUBLISHED.items()]
    csv = root / "published.csv"
    csv.write_text("\n".join(["table,corpus,setting,generator,decoding,metric,value,source,note", *lines]))
    Made("coherence", files, published=csv).tables(root / "tables")
    return files, root / "tables", Critic.of(data.critic)


def sources(files):
    """(file of scores, what the key columns hold) of real text and of every sample, in the order of the tables."""
    (data,) = files.data
    real = {"corpus": "docstrings", "setting": "", "generator": "data", "decoding": "", "seed": None, "draw": None}
    yield data.inferred, real | {"source": "data-inferred"}
    yield data.gold, real | {"source": "data-gold"}
    for s in files.samples:
        keys = {"setting": s.setting, "generator": s.generator, "decoding": s.decoding, "seed": s.seed, "draw": 1}
        yield s.scores, {"corpus": s.corpus, "source": "sample", **keys}


def published(metric, keys):
    """The paper's value beside a source; those of real text stand under no setting."""
    return PUBLISHED.get(("docstrings", keys["setting"], keys["generator"], "", metric))


def minus(value, printed_value):
    return None if printed_value is None else value - printed_value


def share(columns, resamples=RESAMPLES):
    """(percent, low, high) of (part, whole) by document; nothing of nothing."""
    if not sum(whole for _, whole in columns):
        return None, None, None
    return percent(columns), *interval(columns, percent, resamples)


def test_coherence(made):
    files, folder, critic = made
    rows = printed(folder, "coherence")
    real = documents(files.data[0].inferred, critic)
    of_group = {}
    for path, keys in sources(files):
        of_group.setdefault((keys["generator"], keys["setting"]), []).append(ppl(documents(path, critic)))
    for row, (path, keys) in zip(rows, sources(files), strict=True):
        scored = documents(path, critic)
        every = pq.read_table(path).to_pylist()
        low, high = interval(scored, ppl, RESAMPLES)
        soft = [(r["nll_soft"], r["steps"]) for r in every if not r["rejected"]]
        rejected = Counter(r["why"] for r in every if r["rejected"])
        expected = keys | {
            "latent_ppl": ppl(scored),
            "ci_low": low,
            "ci_high": high,
            "latent_nll": sum(nll for nll, _ in scored) / len(scored),
            "latent_ppl_soft": ppl(soft),
            "documents": len(scored),
            "groups": None,
            "steps": sum(steps for _, steps in scored),
            "rejected": rejected.total(),
            "rejected_share": rejected.total() / len(every),
            "rejected_by_reason": "; ".join(f"{why}: {n}" for why, n in rejected.most_common()),
            "infinite_because": None,
            "published": published("latent_ppl", keys),
            "difference": minus(ppl(scored), published("latent_ppl", keys)),
        }
        expected |= perplexity_of(files, keys) | seeds_of(of_group, keys, real) | next_smoothings(path, critic)
        assert row["label"]
        if keys["source"] == "sample":
            check_p(float(row["p_value"]), scored, real, RESAMPLES)
        else:
            expected["p_value"] = None
        check(row, expected)
        assert set(row) - set(expected) <= {"label", "p_value"}


def next_smoothings(path, critic):
    """The Latent PPL under the next smaller and the next larger pseudo-count of the grid."""
    place = PAPER_GRID.index(critic.delta)
    row = {"smoothing": critic.delta}
    for way, other in (("less", place - 1), ("more", place + 1)):
        delta = PAPER_GRID[other] if 0 <= other < len(PAPER_GRID) else None
        value = None if delta is None else ppl(documents(path, replace(critic, delta=delta)))
        row |= {f"smoothing_{way}": delta, f"latent_ppl_{way}": value}
    return row


def seeds_of(of_group, keys, real):
    if keys["source"] != "sample":
        return dict.fromkeys(RECIPE)
    values = of_group[keys["generator"], keys["setting"]]
    return {"seeds": len(values), **recipe(values, (ppl(real), *interval(real, ppl, RESAMPLES)))}


def perplexity_of(files, keys):
    columns = [f"ppl_{part}{end}" for part in ("all", "body") for end in ("", "_low", "_high")]
    columns += ["ppl_unit", "ppl_infinite_because", "ppl_published", "ppl_difference"]
    if keys["source"] != "sample":
        return dict.fromkeys(columns)
    (sample,) = (s for s in files.samples if all(getattr(s, k) == keys[k] for k in ("generator", "setting", "seed")))
    report = json.loads(sample.perplexity.read_text())
    values = dict.fromkeys(columns)
    values["ppl_unit"] = report.get("unit", "tokens")
    for part in ("all", "body"):
        value, (low, high) = report[part]["ppl"], report[part]["ci95"]
        values |= {f"ppl_{part}": math.inf if value is None else value}
        values |= {f"ppl_{part}_low": low, f"ppl_{part}_high": high}
    if report["all"]["ppl"] is None:
        values["ppl_infinite_because"] = "14 words of the test text have probability 0"
    values["ppl_published"] = published("ppl", keys)
    values["ppl_difference"] = minus(values["ppl_all"], values["ppl_published"])
    return values


def test_perplexity(made):
    files, folder, _ = made
    samples = [keys for _, keys in sources(files) if keys["source"] == "sample"]
    for row, keys in zip(printed(folder, "perplexity"), samples, strict=True):
        expected = {name: value for name, value in keys.items() if name != "source"} | perplexity_of(files, keys)
        check(row, expected)
        assert set(row) == set(expected)


def test_what_the_sheet_shows_is_what_the_rows_hold(made):
    """One seed alone, so that intervals stand under the values."""
    files, _, critic = made
    one = replace(files, samples=tuple(s for s in files.samples if s.seed == 1 and s.generator == "gpt2-demo"))
    table = TABLES["coherence"](Material(one, names=NAMES(one)))
    page = to_html(table.sheet)
    p_values = dict(zip(table.rows["setting"], table.rows["p_value"], strict=True))
    for path, keys in sources(one):
        scored = documents(path, critic)
        low, high = interval(scored, ppl, RESAMPLES)
        cell = f"{digits(ppl(scored))}<small>{digits(low)}–{digits(high)}</small>"
        if keys["source"] == "sample":
            p = p_values[keys["setting"]]
            words = "p &lt; 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.01 else f"p = {p:.2f}"
            cell += f"<small>{words}</small>"
        assert f"{cell}</td>" in page


def digits(value):
    """Three significant digits, as the tables write numbers below 100."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def test_titles(made):
    files, folder, critic = made
    of = {(keys["generator"], keys["setting"], keys["seed"]): documents(path, critic) for path, keys in sources(files)}
    rows = printed(folder, "titles")
    assert len(rows) == 4
    for row in rows:
        first, second = (of[row["generator"], setting, int(row["seed"])] for setting in ("w-title", "wo-title"))
        check(row, {"with_titles": ppl(first), "without_titles": ppl(second), "ratio": ppl(second) / ppl(first)})
        check_p(float(row["p_value"]), second, first, RESAMPLES)
        assert (row["corpus"], row["decoding"]) == ("docstrings", "plain")
    assert set(rows[0]) - {"generator", "seed", "draw", "corpus", "decoding", "p_value"} == {
        "with_titles",
        "without_titles",
        "ratio",
    }


def test_decomposition(made):
    files, folder, critic = made
    for row, (path, keys) in zip(printed(folder, "decomposition"), sources(files), strict=True):
        steps = [step for r in kept(path) for step in steps_of(r["chain"])]
        expected = keys | {"steps": len(steps)} | decomposition(steps, critic.p)
        check(row, expected)
        assert set(row) == set(expected)


def without_gold(files):
    return [(path, keys) for path, keys in sources(files) if keys["source"] != "data-gold"]


def test_transition_errors(made):
    files, folder, critic = made
    rows = printed(folder, "transition-errors")
    real = None
    for path, keys in without_gold(files):
        ours = [r for r in rows if all(r[k] == ("" if keys[k] is None else str(keys[k])) for k in keys)]
        each = [Counter(steps_of(r["chain"])) for r in kept(path)]
        taken = sum(each, Counter())
        wrong = {step: n for step, n in taken.items() if critic.p(*step) < 0.01}
        errors = [sum(n for step, n in c.items() if step in wrong) for c in each]
        again = [sum(n for step, n in c.items() if step in wrong and step[0] == step[1]) for c in each]
        lengths = [c.total() for c in each]
        expected = {
            ("(all)", ""): (sum(errors), sum(lengths), *share(list(zip(errors, lengths, strict=True)))),
            # Documents without an error are left out: they say nothing of this share.
            ("(repeated)", ""): (
                sum(again),
                sum(errors),
                *share([(a, e) for a, e in zip(again, errors, strict=True) if e]),
            ),
        }
        commonest = sorted(wrong, key=lambda step: (-wrong[step], place(critic, step)))[:5]
        asked = [("notes", "notes")] if keys["generator"] == "gpt2-demo" and keys["setting"] == "w-title" else []
        for step in {*wrong, *asked}:
            value = (taken[step], sum(lengths), 100 * taken[step] / sum(lengths))
            of_kind = list(zip([c[step] for c in each], lengths, strict=True))
            shown = step in commonest or step in asked
            expected[step] = (*value, *(interval(of_kind, percent, RESAMPLES) if shown else (None, None)))
        assert {(r["from"], r["to"]) for r in ours} == set(expected)
        real = real or {step: values[2] for step, values in expected.items()}
        for row in ours:
            step = row["from"], row["to"]
            metric = {"(all)": "total_errors_percent", "(repeated)": "repetition_share_percent"}.get(
                step[0], f"error_percent: {step[0]} > {step[1]}"
            )
            values = dict(zip(("count", "steps", "percent", "ci_low", "ci_high"), expected[step], strict=True))
            values |= {
                "documents": len(each),
                "probability": None if step[0].startswith("(") else critic.p(*step),
                "data_percent": real.get(step, 0.0),
                "published": published(metric, keys),
                "difference": minus(values["percent"], published(metric, keys)),
            }
            check(row, keys | values)
            assert set(row) == {*keys, *values, "from", "to"}


def place(critic, step):
    """Row and column of a step in the critic's table."""
    before, after = step
    row = 0 if before == BEGIN else 1 + critic.titles.index(before)
    return row, len(critic.titles) if after == END else critic.titles.index(after)


def test_repetition_rates(made):
    files, folder, critic = made
    for row, (path, keys) in zip(printed(folder, "repetition-rates"), without_gold(files), strict=True):
        chains = [steps_of(r["chain"]) for r in kept(path)]
        lengths = [len(chain) for chain in chains]
        repeated = [sum(a == b for a, b in chain) for chain in chains]
        errors = [sum(critic.p(*step) < 0.01 for step in chain) for chain in chains]
        both = [sum(a == b and critic.p(a, b) < 0.01 for a, b in chain) for chain in chains]
        among = [(b, e) for b, e in zip(both, errors, strict=True) if e]
        of_all, of_errors = share(list(zip(repeated, lengths, strict=True))), share(among)
        expected = keys | {"documents": len(chains), "steps": sum(lengths), "repeated": sum(repeated)}
        expected |= {"errors": sum(errors), "errors_repeated": sum(both)}
        for name, values in (("repeated_percent", of_all), ("share_percent", of_errors)):
            expected |= dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))
        expected["published"] = published("repetition_share_percent", keys)
        expected["difference"] = minus(of_errors[0], expected["published"])
        check(row, expected)
        assert set(row) == set(expected)


def test_classifier(made):
    _, folder, _ = made
    first, second = printed(folder, "classifier")
    common = {"corpus": "docstrings", "metric": "classifier_accuracy_percent"}
    check(first, common | {"split": "validation", "value": 94.2, "ci_low": 93.1, "ci_high": 95.3, "sections": 612})
    check(first, {"published": 90.0, "difference": 4.2})
    check(second, common | {"split": "test", "value": 87.0, "ci_low": 85.0, "ci_high": 89.0, "sections": 580})
    check(second, {"published": None, "difference": None})


def test_audit(made):
    files, folder, critic = made
    rows = printed(folder, "audit")
    train = [[s["title"] for s in article["sections"]] for article in pq.read_table(files.data[0].train).to_pylist()]
    names = ("setting", "generator", "decoding", "seed")
    by_source = {}
    for row in rows:
        by_source.setdefault(tuple(row[name] for name in names), {})[row["switch"]] = row
    assert len(by_source) == 1 + len(files.samples)
    latents = {("", "data", "", ""): (files.data[0].latents, "gold", 0)}
    for s in files.samples:
        unread = 9 if s.setting == "w-title" else 1
        latents[s.setting, s.generator, s.decoding, str(s.seed)] = (s.latents, "inferred", unread)
    for source, (path, titles, unread) in latents.items():
        table = pq.read_table(path).to_pylist()
        chains = {which: [steps_of(r[which]) for r in table] for which in ("gold", "inferred")}
        base = chains[titles]
        values = {
            "default": pooled(base, critic),
            "smoothing": pooled(base, smoothed(critic, train, (0.0, 1.0), False)),
            "normalisation": pooled(base, smoothed(critic, train, PAPER_GRID, True)),
            "unknown titles": pooled(base, critic),
            "posterior": expected_ppl(table, critic),
            "all as released": pooled(base, smoothed(critic, train, (0.0, 1.0), True)),
        }
        if titles == "gold":
            values["titles"] = pooled(chains["inferred"], critic)
        ours = {switch: row for switch, row in by_source[source].items() if not switch.startswith("decoding")}
        assert set(ours) == set(values)
        for switch, row in ours.items():
            against = None if switch == "default" else "default"
            against = "titles" if switch == "posterior" and titles == "gold" else against
            finite = against and math.isfinite(values[switch])
            change = 100 * (values[switch] / values[against] - 1) if finite else None
            check(row, {"latent_ppl": values[switch], "compared_with": against, "change_percent": change})
            check(row, {"documents": len(table), "rejected": unread})


def pooled(chains, critic):
    nll = sum(critic.nll(steps) for steps in chains)
    return math.exp(nll / sum(map(len, chains)))


def smoothed(critic, train, grid, begin_too):
    """The critic with the pseudo-count of the lowest Latent PPL of held-out tenths; of equal ones the larger."""
    steps = [steps_of(chain) for chain in train]
    folds = np.random.default_rng(1).permutation(len(steps)) % 10

    def held_out(delta):
        nll = 0.0
        for fold in range(10):
            others = np.zeros_like(critic.counts)
            for own, of in zip(steps, folds, strict=True):
                for before, after in own if of != fold else ():
                    others[[BEGIN, *critic.titles].index(before), [*critic.titles, END].index(after)] += 1
            one = replace(critic, counts=others, delta=delta, begin_too=begin_too)
            nll += sum(one.nll(own) for own, of in zip(steps, folds, strict=True) if of == fold)
        return math.exp(nll / sum(map(len, steps)))

    return replace(critic, delta=min(reversed(grid), key=held_out), begin_too=begin_too)


def expected_ppl(table, critic):
    """Under the factorised posterior each step's expectation is a sum over pairs of neighbouring titles."""
    names = [BEGIN, *critic.titles]
    costs = np.array([[-math.log(critic.p(a, b)) for b in (*critic.titles, END)] for a in names])
    total, steps = 0.0, 0
    for row in table:
        q = np.array(row["posterior"], float)
        q /= q.sum(axis=1, keepdims=True)
        before = np.vstack([np.eye(len(names))[0], np.column_stack([np.zeros(len(q)), q])])
        after = np.vstack([np.column_stack([q, np.zeros(len(q))]), np.eye(len(names))[-1]])
        total += np.einsum("si,ij,sj->", before, costs, after)
        steps += len(q) + 1
    return math.exp(total / steps)
