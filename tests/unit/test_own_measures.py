"""Measures of one's own: what may be declared, how a module is found, and what a function may return."""

import logging
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from own_in_memory import own_scores

import textcritic
from textcritic.api.own import folder_of, metrics_of
from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.own import declaration_of, measure_documents, measured_of, score_own
from textcritic.errors import TextcriticError
from textcritic.experiments import KINDS
from textcritic.files import read_table
from textcritic.measures.measure import Resampling
from textcritic.measures.memory import REAL
from textcritic.measures.own import KEYS, OURS, check_source, digest_of, load_metric, metric_of


def document(name="d", *texts, title=None, group=None):
    return Article(name, title, tuple(Section(f"part {n}", text) for n, text in enumerate(texts)), "here", group)


def documents(number=5):
    return [document(f"d{n}", "one two", "three " * n) for n in range(number)]


def measured(function, given=None, **declared):
    function.__name__ = function.__name__.replace("<lambda>", "plain")
    metric = metric_of(textcritic.measure(**declared)(function))
    given = documents() if given is None else given
    return measure_documents(metric, given, len(given))


def line_of(work):
    with pytest.raises(TextcriticError) as refused:
        work()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def word_count(document):
    return len(document.text.split())


def test_a_document_is_measured_by_its_text_and_sections():
    table = measured(lambda d: len(d.text), [document("a", "one", "two"), document("b")], title="Characters")
    assert table["values"].to_pylist() == [[7], [0]]  # sections are joined by a line break
    table = measured(
        lambda s: (len(s.text), len(s.title)),
        [document("a", "one", "three")],
        title="X",
        of="sections",
        statistic="ratio",
    )
    assert table.select(["values", "weights"]).to_pylist() == [{"values": [3, 5], "weights": [6, 6]}]


@pytest.mark.parametrize("value", [1, 1.5, True, np.float32(2), np.int64(3), np.bool_(True), np.array(4.0)])
def test_numbers_of_any_type_are_taken(value):
    assert measured(lambda _: value, title="X")["values"].to_pylist() == [[float(value)]] * 5


def test_documents_are_left_out_for_a_reason():
    given = [document("a", title="A", group="g"), document("b", "text"), document("c", "text", title="C")]

    def function(d):
        return None if d.id == "a" else textcritic.left_out("too\n short; really: 1")

    table = measured(function, given, title="X", needs=("title",))
    assert table["why"].to_pylist() == ["no value", "no title", "too short, really: 1"]
    assert table["rejected"].to_pylist() == [True] * 3
    assert measured(function, given, title="X", needs=["group"])["why"].to_pylist() == [
        "no value",
        "no group",
        "no group",
    ]


def test_sections_are_left_out_one_by_one_and_documents_only_without_any():
    given = [document("a", "x", ""), document("b", "", ""), document("c")]
    table = measured(lambda s: len(s.text) or None, given, title="X", of="sections")
    assert table["values"].to_pylist() == [[1], [], []]
    assert table["why"].to_pylist() == [None, "no value", "no section"]
    assert table["sections_left_out"].to_pylist() == [1, 0, 0]


def test_a_ratio_of_nothing_is_left_out():
    assert measured(lambda _: (0, 0), title="X", statistic="ratio")["why"].to_pylist() == ["denominator 0"] * 5


def test_a_function_for_lists_gets_several_documents_at_once():
    sizes = []

    def function(some):
        sizes.append(len(some))
        return np.array([word_count(d) for d in some])

    given = documents(100)
    table = measured(function, given, title="X", batch=True)
    assert [values for (values,) in table["values"].to_pylist()] == [word_count(d) for d in given]
    assert sizes == [3, 3, 64, 33]  # the first three twice


BAD = {
    "nan": (lambda _: float("nan"), "nan is not a finite number"),
    "infinite": (lambda _: float("inf"), "inf is not a finite number"),
    "huge": (lambda _: 10**400, "is not a finite number"),
    "text": (lambda _: "0.5", "'0.5' is not a finite number; return one, or None to leave it out"),
    "complex": (lambda _: 1j, "1j is not a finite number"),
    "list": (lambda _: [1.0], r"\[1.0\] is not a finite number"),
    "array": (lambda _: np.zeros(3), r"array\(\[0., 0., 0.\]\) is not a finite number"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_number_is_refused(name):
    function, said = BAD[name]
    line = line_of(lambda: measured(function, title="X"))
    assert re.match(rf"{__name__}:plain: document 'd0': .*{said}", line), line


def test_an_error_is_one_line_with_the_place_in_the_function():
    def fails(d):
        if d.id == "d4":
            raise ValueError("no\nvowel")
        return 1

    number = fails.__code__.co_firstlineno + 2
    line = line_of(lambda: measured(fails, title="X"))
    assert line == f"{__name__}:fails: document 'd4': {__file__}:{number}: ValueError: no"


def test_an_error_in_a_library_is_placed_in_the_function():
    def fails(d):
        return re.compile("(").match(d.text)

    assert f"{__file__}:{fails.__code__.co_firstlineno + 1}: " in line_of(lambda: measured(fails, title="X"))


def test_an_error_of_a_section_and_of_a_list_names_what_it_is_about():
    def fails(_):
        raise KeyError("x")

    assert "fails: section 1 of document 'd0': " in line_of(lambda: measured(fails, title="X", of="sections"))
    assert "fails: documents 'd0' to 'd2': " in line_of(lambda: measured(fails, title="X", batch=True))


def test_a_list_of_another_length_is_refused():
    def short(some):
        return [1.0] * (len(some) - 1)

    def number(_):
        return 3.0

    assert "short: documents 'd0' to 'd2': 2 values for 3; return one for each" in line_of(
        lambda: measured(short, title="X", batch=True)
    )
    assert "number: documents 'd0' to 'd2': 3.0 is no list of values" in line_of(
        lambda: measured(number, title="X", batch=True)
    )


@pytest.mark.parametrize(
    ("value", "said"), [(1.0, "1.0 is no pair"), ((1, -1), "should be above 0"), ((1, 0), "above 0")]
)
def test_what_is_no_ratio_is_refused(value, said):
    def function(_):
        return value

    assert said in line_of(lambda: measured(function, title="X", statistic="ratio"))


def test_another_number_the_second_time_is_refused():
    rng = np.random.default_rng(1)

    def drawn(_):
        return rng.random()

    line = line_of(lambda: measured(drawn, title="X"))
    assert re.match(rf"{__name__}:drawn: document 'd0': 0\.\d+ and then 0\.\d+, when it was measured twice; ", line)
    seen = []

    def forgets(d):
        seen.append(d.id)
        return None if seen.count(d.id) > 1 else 1

    assert "1 and then no value" in line_of(lambda: measured(forgets, title="X"))


def test_a_slow_function_shows_the_time_left(monkeypatch, caplog):
    clock = iter(range(0, 10_000, 11))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))  # a document takes more than the time between lines
    with caplog.at_level(logging.INFO, "textcritic"):
        measured(word_count, documents(20), title="Slow")
    assert re.search(r"measuring Slow: \d+ of 20 documents \(\d+%\), .* left", caplog.text)


def test_numbers_and_their_declaration_survive_the_file(tmp_path):
    metric = metric_of(textcritic.measure(title="Words", unit="words", aim="lower", needs=("group",))(word_count))
    given = [document("a", "one two", group="g"), document("b", "one", group="g"), document("c", "x")]
    write_articles(tmp_path / "articles.parquet", given)
    score_own(metric, tmp_path / "articles.parquet", tmp_path / "scores.parquet")
    table = read_table(tmp_path / "scores.parquet")
    assert declaration_of(table, "x") == metric.declared
    found = measured_of(table)
    assert found.sums().tolist() == [[2, 1], [1, 1]]
    assert (found.groups, found.reasons) == (["g", "g"], {"no group": 1})
    before = (tmp_path / "scores.parquet").stat().st_mtime_ns
    score_own(metric, tmp_path / "articles.parquet", tmp_path / "scores.parquet")
    assert (tmp_path / "scores.parquet").stat().st_mtime_ns == before
    assert "no measure is declared" in line_of(lambda: declaration_of(table.replace_schema_metadata({}), "x"))


def test_what_is_declared_is_checked():
    for key, value, said in (
        ("aim", "best", "aim: 'best' is not one of real, higher, lower"),
        ("statistic", "mode", "statistic: 'mode' is not one of mean, median, ratio"),
        ("of", "words", "of: 'words' is not one of documents, sections"),
        ("needs", "title", "needs: 'title': give a tuple of 'title', 'section titles', 'group'"),
        ("needs", ("pair",), "needs: 'pair': give a tuple"),
        ("unit", 3, "unit: 3 should be text in one line"),
        ("goal", "real", "unknown key 'goal'; known are title, aim"),
        ("titel", "X", "unknown key 'titel'; did you mean 'title'?"),
    ):
        assert said in line_of(lambda key=key, value=value: textcritic.measure(title="X", **{key: value})(word_count))
    assert "title: '  ' should be text" in line_of(lambda: textcritic.measure(title="  ")(word_count))


def test_plain_functions_and_bare_decorators_are_the_mean_under_their_own_name():
    def bare(document):
        return 1

    assert metric_of(bare).declared == metric_of(textcritic.measure(bare)).declared
    assert metric_of(bare).declared.name == "bare"
    assert bare(None) == 1


@pytest.mark.parametrize("given", [3, None, Article, lambda d: 1])
def test_what_is_no_function_is_refused(given):
    with pytest.raises(TextcriticError, match="is no function with a name"):
        metrics_of([given])


def test_names_of_ours_and_two_of_one_name_are_refused():
    def latent_ppl(document):
        return 1

    def other(document):
        return 1

    assert "a measure of the name 'latent_ppl'; rename the function" in line_of(lambda: metrics_of(latent_ppl))
    title = textcritic.measure(title="latent ppl")(other)
    assert "a measure of the name 'latent ppl'; give another `title`" in line_of(lambda: metrics_of(title))
    assert "several measures have the name 'word_count'" in line_of(lambda: metrics_of([word_count, word_count]))
    two = [textcritic.measure(title="Same")(one) for one in (lambda d: 1, lambda d: 2)]
    two[0].__name__, two[1].__name__ = "one", "two"
    assert "several measures have the name 'Same' (" in line_of(lambda: metrics_of(two))


def test_every_name_of_ours_is_known():
    """What own measures may not be called, against the declarations of all kinds."""
    code = f"""
import importlib, sys
for kind in {KINDS!r}:
    for module in ("tables", "section"):
        importlib.import_module(f"textcritic.experiments.{{kind}}.{{module}}")
from textcritic.measures.measure import Measure
values = [value for module in list(sys.modules.values()) for value in vars(module).values()]
found = [value for value in values if isinstance(value, Measure)]
print(*sorted({{f"{{m.name}}|{{m.key}}" for m in found}}), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [line.rsplit("|", 1) for line in done.stdout.splitlines()]
    assert len(lines) > 10
    for name, key in lines:
        assert re.sub(r", (%|nats|millions|of \d+)$", "", name) in OURS, name
        assert not key or key in KEYS, key


# Modules

MODULE = """\
import textcritic

@textcritic.measure(title="Words", of="documents")
def words(document):
    return len(document.text.split())

number = 3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine_ok.py").write_text(MODULE)
    (tmp_path / "mine_raises.py").write_text("import os\n1 / 0\n")
    (tmp_path / "mine_exits.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "mine_needs.py").write_text("import a_package_that_nobody_has\n\ndef words(d): ...\n")
    (tmp_path / "mine_syntax.py").write_text("def words(document)\n    return 1\n")
    (tmp_path / "mine_wrong.py").write_text(MODULE.replace('"documents"', '"words"'))
    (tmp_path / "mine_package").mkdir()
    (tmp_path / "mine_package/inside.py").write_text(MODULE)
    (tmp_path / "mine_package/__init__.py").write_text("")
    yield tmp_path
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]
    for name in [name for name in sys.modules if name.startswith("mine_")]:
        del sys.modules[name]


def test_a_module_is_found_in_a_folder(folder):
    metric = load_metric("mine_ok:words", [folder])
    assert (metric.key, metric.declared.title, metric.function(document("a", "b c"))) == ("words", "Words", 2)
    assert folder_of(metric) == folder
    assert folder_of(load_metric("mine_package.inside:words", [folder])) == folder
    (by_file,) = metrics_of(str(folder / "mine_ok.py") + ":words")
    assert by_file == metric


def test_a_function_that_no_other_process_can_import_has_no_folder():
    def inside(document):
        return 1

    assert folder_of(metric_of(inside)) is None
    assert folder_of(metric_of(word_count)) is not None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine_none:words", "no module 'mine_none' in FOLDER, and none is installed"),
        ("mine_package.none:words", "no module 'mine_package.none' in FOLDER"),
        ("mine_ok.inside:words", "'mine_ok' is a module and has no modules in it"),
        ("mine_ok:word", "FOLDER/mine_ok.py has no function 'word'; did you mean 'words'?"),
        ("mine_ok", "is not the name of a measure; write MODULE:FUNCTION"),
        ("mine_ok:", "is not the name of a measure"),
        ("../mine_ok:words", "is not the name of a measure"),
        ("json:loads", "'json' is a module of Python itself"),
        ("mine_syntax:words", "FOLDER/mine_syntax.py:1: SyntaxError: expected ':'"),
        ("mine_raises:words", "FOLDER/mine_raises.py:2: ZeroDivisionError: division by zero"),
        ("mine_exits:words", "FOLDER/mine_exits.py:1: SystemExit: 3"),
        (
            "mine_needs:words",
            "FOLDER/mine_needs.py:1: ModuleNotFoundError: No module named 'a_package_that_nobody_has'",
        ),
        ("mine_wrong:words", "measure 'Words': of: 'words' is not one of documents, sections"),
        ("mine_ok:number", "is no function with a name"),
    ],
)
def test_a_module_or_function_that_is_wrong_is_one_line(folder, name, said):
    line = line_of(lambda: load_metric(name, [folder]))
    assert line.startswith(f"{name}: ")
    assert said.replace("FOLDER", str(folder)) in line


def test_a_module_is_checked_before_a_run_without_being_imported(folder):
    for name in ("mine_ok:words", "mine_raises_not:words"):
        if name.startswith("mine_ok"):
            check_source(name, [folder])
    assert "mine_ok" not in sys.modules
    check_source("mine_needs:words", [folder])
    assert "has no function 'word'; did you mean 'words'?" in line_of(lambda: check_source("mine_ok:word", [folder]))
    assert "mine_syntax.py, line 1: expected ':'" in line_of(lambda: check_source("mine_syntax:words", [folder]))


def test_a_change_of_the_module_changes_its_digest(folder):
    before = digest_of("mine_ok:words", [folder])
    assert digest_of("mine_ok:words", [folder]) == before
    (folder / "mine_ok.py").write_text(MODULE + "\n")
    assert digest_of("mine_ok:words", [folder]) != before


# In memory


def texts(rng, number, most, groups=False):
    return [
        document(f"d{n}", "word " * int(rng.integers(1, most)), group=f"g{n // 2}" if groups else None)
        for n in range(number)
    ]


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_scores_in_memory_are_those_of_plain_numbers(statistic):
    rng = np.random.default_rng(1)
    sets = {REAL: texts(rng, 60, 50), "long": texts(rng, 40, 100, groups=True)}

    def words(d):
        return word_count(d)

    metric = metric_of(textcritic.measure(title="Words", statistic=statistic, aim="lower")(words))
    real, sample = own_scores([metric], sets, Resampling(300))
    plain = [word_count(d) for d in sets["long"]]
    assert sample.value == pytest.approx(getattr(np, statistic)(plain))
    assert real.low < real.value < real.high
    assert (sample.label, sample.key, sample.aim, sample.n) == ("long", "words", "lower", 40)
    assert sample.verdict == "different"


@pytest.mark.parametrize("name", ["p_value", "ci_low", "documents", "rejected", "label", "source", "generator"])
def test_a_function_may_have_the_name_of_a_column(name):
    """The value was once kept under the name of the function, beside the columns of every row."""
    namespace: dict = {}
    exec(f"def {name}(document): return float(len(document.text))", namespace)
    plain = {}
    exec("def size(document): return float(len(document.text))", plain)
    sets = {REAL: ["a" * n for n in range(1, 41)], "model": ["a" * (2 * n) for n in range(1, 31)]}
    given = {label: [document(str(n), text) for n, text in enumerate(texts)] for label, texts in sets.items()}
    found, expected = (
        own_scores([metric_of(function)], given, Resampling(99)) for function in (namespace[name], plain["size"])
    )
    assert [(s.key, s.source, s.number, s.p, s.n, s.left_out, s.verdict) for s in found] == [
        (name, s.source, s.number, s.p, s.n, s.left_out, s.verdict) for s in expected
    ]
    assert found[1].p < 0.05


def test_two_files_of_one_name_are_refused_and_the_nearer_one_is_loaded(tmp_path, monkeypatch):
    for number, folder in enumerate(("a", "b"), start=1):
        (tmp_path / folder).mkdir()
        text = f"def f(document):\n    return {number}\n\n\ndef g_{folder}(d):\n    return 0\n"
        (tmp_path / folder / "twins.py").write_text(text)
    monkeypatch.setattr("sys.path", [*sys.path])
    files = [f"{tmp_path}/{folder}/twins.py" for folder in ("a", "b")]
    with pytest.raises(TextcriticError, match=r"a/twins.py and .*b/twins.py are two modules of one name; rename one"):
        metrics_of([f"{files[0]}:f", f"{files[1]}:g_b"])
    for _ in range(2):
        assert [metrics_of(f"{file}:f")[0].function(None) for file in files] == [1, 2]


@pytest.mark.parametrize(
    ("keywords", "says"),
    [({"needs": 5}, "needs: 5: give a tuple of"), ({"batch": "yes"}, "batch: 'yes' should be True or False")],
)
def test_a_declaration_that_is_wrong_is_one_line(keywords, says):
    with pytest.raises(TextcriticError, match=says):
        textcritic.measure(title="T", **keywords)(len)
