"""What the pages tell people to type is there: commands, targets of make and of Snakemake, studies, kinds."""

import re
from pathlib import Path

import pytest
import yaml

from textcritic.cli import main
from textcritic.experiments import KINDS
from textcritic.plan.project import Project

ROOT = Path(__file__).parents[2]
AT_THE_TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "config/README.md"]
PAGES = [*AT_THE_TOP, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/results").glob("*.md"))]
TEXT = {page: page.read_text(encoding="utf-8") for page in PAGES}
CODE = [code for text in TEXT.values() for code in re.findall(r"^```\n(.*?)^```$|`([^`\n]+)`", text, re.M | re.S)]
LINES = [line.removeprefix("$ ") for pair in CODE for line in "".join(pair).splitlines()]
PARTS = r"(table|figure)(\d+)`(?: to `(?:\w+_)?(?:table|figure)(\d+)`)?"


def test_the_readme_is_short():
    assert len(TEXT[ROOT / "README.md"].splitlines()) <= 150


@pytest.mark.parametrize("name", sorted({line.split()[1] for line in LINES if re.match(r"textcritic [a-z-]+", line)}))
def test_every_command_of_the_pages_is_one(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0, capsys.readouterr().err


def test_every_target_of_make_and_every_study_of_the_pages_is_there():
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M).group(1).split()
    asked = {line.split()[1] for line in LINES if re.match(r"make [a-z-]+", line)}
    assert {"demo", "criticise", "test"} <= asked <= set(targets)
    studies = {path.stem for path in (ROOT / "config/studies").glob("*.yaml")}
    demos = {
        name for line in LINES for name in re.findall(r"make demo STUDY=([\w-]+)|textcritic demo ([a-z-]+)$", line)
    }
    assert {name for pair in demos for name in pair if name} == {name for name in studies if name.endswith("-demo")}


def test_every_file_of_tests_of_the_pages_is_there_and_named():
    """Not a folder with `-k NAME`, which loads all files to run a few tests."""
    calls = [line.split() for line in LINES if re.match(r"(\.venv/bin/)?pytest ", line)]
    assert [".venv/bin/pytest", "tests/oracle/test_holm.py"] in calls
    assert not [call for call in calls if "-k" in call and not call[1].endswith(".py")]
    named = {word for call in calls for word in call if word.startswith("tests/")}
    assert not [pattern for pattern in named if not list(ROOT.glob(pattern))]


def test_hooks_of_commits_run_the_programs_of_the_lock():
    [local] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"
    assert {hook["language"] for hook in local["hooks"]} == {"system"}
    programs = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in local["hooks"]}
    assert programs == {"ruff", "mypy", "snakefmt"}
    assert programs <= {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines()}


@pytest.mark.parametrize("page", ["README.md", "docs/how-it-works.md"])
def test_every_kind_of_experiment_is_in_the_tables_of_kinds(page):
    found = re.findall(r"\[(\w+)\]\([./]*src/textcritic/experiments/(\w+)/README\.md\)", TEXT[ROOT / page])
    assert sorted(found) == sorted((kind, kind) for kind in KINDS)


def test_the_page_of_the_papers_has_every_target_of_their_studies_and_no_other():
    sections = re.split(r"^## ", TEXT[ROOT / "docs/reproduce.md"], flags=re.M)
    named = {}
    for section in sections:
        if study := re.match(r".*\n\nStudy `([\w-]+)`", section):
            rows = "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
            found = [(part, int(first), int(last or first)) for part, first, last in re.findall(PARTS, rows)]
            named[study[1]] = {f"{part}{n}" for part, first, last in found for n in range(first, last + 1)}
    project = Project({"studies": sorted(named)}, ROOT)
    assert named == {name: set(study.parts()) for name, study in project.studies.items()}
    assert len(named) == 4
