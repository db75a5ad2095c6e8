"""Options: declared once, the same in Python and on the command line, and out of range in the same words."""

import inspect
import re
import subprocess
import sys
from argparse import Namespace
from dataclasses import fields

import pytest

import textcritic
from textcritic.api import criticise, options, tendencies, topics
from textcritic.cli import _parser, main
from textcritic.commands.arguments import in_flags
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Ctm, Tendencies

FUNCTIONS = {
    "chains": (textcritic.chains, options.ChainOptions),
    "coreference": (textcritic.coreference, options.CoreferenceOptions),
    "topics": (textcritic.topics, options.TopicOptions),
    "mixing": (textcritic.mixing, options.MixingOptions),
    "tendencies": (textcritic.compare_tendencies, options.TendencyOptions),
    "recitation": (textcritic.recitation, options.RecitationOptions),
    "criticise": (textcritic.criticise, options.CriticiseOptions),
}
EVERY = [(command, one) for command, (_, of) in FUNCTIONS.items() for one in fields(of)]
BAD = ["-1", "0", "1", "1.5", "10", "nan", "inf", "x", "9" * 20]


def flags(command):
    """The arguments of a command, by the names of the options."""
    (commands,) = (action for action in _parser()._actions if isinstance(action.choices, dict))
    return {action.dest: action for action in commands.choices[command]._actions}


def said_by(command, *arguments):
    """What the parser says of arguments that it refuses."""
    with pytest.raises(SystemExit) as stopped:
        main([command, "one", "other", *arguments])
    assert stopped.value.code == 2


@pytest.mark.parametrize(("command", "one"), EVERY, ids=lambda value: getattr(value, "name", value))
def test_command_and_python_have_the_same_option(capsys, command, one):
    function, _ = FUNCTIONS[command]
    argument = flags(command)[one.name]
    assert one.metadata["help"].replace("%", "%%") in argument.help
    assert f"{one.name}: " in function.__doc__
    assert inspect.signature(function).parameters[one.name].default == one.default
    values = one.metadata["values"]
    if not values.words or isinstance(one.default, bool):
        return
    refused = 0
    for text in BAD:
        try:
            value = values.read(text)
        except ValueError:
            value = text
        if not values.holds(value):
            with pytest.raises(TextcriticError) as error:
                function(["a"], ["a"], **{one.name: value})
            name, words = str(error.value).split(": ", 1)
            said_by(command, argument.option_strings[0], text)
            line = capsys.readouterr().err.splitlines()[-1]
            assert line.endswith(f"error: argument {argument.option_strings[0]}: {words}")
            assert name == one.name
            assert values.words in words
            refused += 1
    assert refused > 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--order", "10"], "--order: 10 is not a whole number from 1 to 9"),
        (["--seed", "9" * 20], f"--seed: {'9' * 20} is not a whole number from 0 upwards, of 15 digits at most"),
        (["--seed", "9" * 5000], f"--seed: '{'9' * 19}... is not a whole number from 0 upwards"),
        (["--resamples", "²"], "--resamples: '²' is not a whole number from 1 to 10,000,000"),
        (["--resamples", "1_0"], "--resamples: '1_0' is not a whole number from 1 to 10,000,000"),
        (["--discount", "x"], "--discount: 'x' is not one of kneser-ney, as_released, modified"),
        (["--held-out", "1"], "--held-out: 1.0 is not a number above 0 and below 1"),
        (["--smoothing", "x"], "--smoothing: 'x' is not a finite number from 0 upwards"),
    ],
)
def test_words_out_of_range(capsys, arguments, says):
    said_by("criticise", *arguments)
    assert says in capsys.readouterr().err


def test_a_truth_value_is_one():
    with pytest.raises(TextcriticError, match=r"^as_released: 3 is not True or False$"):
        textcritic.chains([["a"]], [["a"]], as_released=3)


def test_none_is_the_default_and_auto_is_none(capsys, tmp_path):
    (tmp_path / "c.jsonl").write_text('{"chain": ["a"]}\n{"chain": ["a", "a"]}\n')
    path = str(tmp_path / "c.jsonl")
    assert main(["chains", "--json", path, path, "--smoothing", "auto"]) == 0
    expected = textcritic.chains(path, path, seed=None, resamples=None, as_released=None).to_json()
    assert capsys.readouterr().out == f"{expected}\n"


@pytest.mark.parametrize("command", FUNCTIONS)
def test_an_option_that_does_not_exist_is_named_with_the_nearest(command):
    function, _ = FUNCTIONS[command]
    with pytest.raises(TypeError, match=r"has no option 'seeds'; did you mean 'seed'\?"):
        function([["a"]], [["a"]], seeds=1)


def test_defaults_are_those_of_what_they_are_for():
    assert topics.entry_of(options.TopicFit(), 2) == Ctm(kind="ctm", topics=2)
    assert tendencies.entry_of(options.TendencyOptions()) == Tendencies(kind="tendencies", tokenizer="words")


def test_criticise_has_the_options_of_each_kind():
    every = {name for kind in criticise.OF_KIND for name in criticise.options_of(kind)}
    assert every == {one.name for one in fields(options.CriticiseOptions)}
    with pytest.raises(TextcriticError, match=r"^starts: is for texts and articles; reference holds chains$"):
        textcritic.criticise([["a"]] * 3, [["a"]], starts=2)


def test_options_about_models_need_one():
    with pytest.raises(TextcriticError, match=r"^articles: is about models; name one with `model`$"):
        textcritic.criticise([{"sections": []}], [{"sections": []}], articles=5)
    assert options.ArticleOptions(model="a").models == ("a",)


def test_a_command_names_options_as_they_are_written_there(tmp_path, capsys):
    line = "held_out: cannot be used together with `test`; `sections` stay"
    changed = "--held-out: cannot be used together with --test; `sections` stay"
    given = Namespace(options=options.CriticiseOptions, reference="real", samples=["test"])
    assert in_flags(line, Namespace(options=options.CriticiseOptions)) == changed
    assert in_flags("gender: x", given) == "--no-gender: x"
    assert in_flags("test: no such file", given) == "test: no such file"
    assert in_flags(line, Namespace()) == line
    path = tmp_path / "c.jsonl"
    path.write_text('{"chain": ["a"]}\n')
    assert main(["criticise", str(path), str(path), "--order", "2"]) == 2
    assert capsys.readouterr().err == f"textcritic: --order: is for mentions, texts and articles; {path} holds chains\n"


def test_help_has_a_heading_for_each_kind_of_documents(capsys):
    with pytest.raises(SystemExit):
        main(["criticise", "--help"])
    out = capsys.readouterr().out
    for heading in ("texts and articles", "articles", "chains", "all"):
        assert f"\noptions for {heading}:\n" in out
    assert "\ntopics of texts and articles:\n" in out
    assert "\nmentions of people:\n" in out
    assert re.search(r"--articles N +drawn from each model \(default 200\)", out)


def test_the_parser_loads_nothing_heavy():
    code = (
        "import sys; from textcritic.cli import _parser; _parser(); "
        "heavy = {'numpy', 'pyarrow', 'torch', 'scipy', 'yaml', 'pandas', 'pydantic'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
