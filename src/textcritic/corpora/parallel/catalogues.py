"""Message catalogues of installed packages as a parallel corpus: English messages and their translations."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from textcritic.corpora.moses import ENGLISH, MosesOptions, moses
from textcritic.corpora.parallel.corpus import Sentence, Sentences
from textcritic.errors import TextcriticError
from textcritic.plan.entries.parallel import CatalogueOptions
from textcritic.runlog import versions

PLACEHOLDER = "%s"
# %(name)s, %s, %5.2f, %1$s, {name}, {0}, ${name}, %%: what a program fills in.
_PLACEHOLDERS = re.compile(
    r"%\([^)]*\)[-#0+ ]*[\d.]*[a-zA-Z]|%(?:\d+\$)?[-#0+]*[\d.]*[diouxXeEfFgGcrsa]|%%|\$?\{[^{}]*\}"
)
_TAGS = re.compile(r"</?[A-Za-z][^<>]*>")
_MNEMONICS = re.compile(r"(?<!\w)[_&](?=\w)")
# Catalogues lie in {language}/LC_MESSAGES/{domain}.mo, the language perhaps with its main country: es, es_ES.
_CATALOGUE = re.compile(
    r"(?P<folder>(?:.*/)?)(?P<language>[a-z]{2,3})(?P<country>[-_][A-Z]{2})?/LC_MESSAGES/(?P<file>[^/]+)"
)

Key = tuple[str, str]
"""Context and message."""


def read_catalogues(options: CatalogueOptions) -> Sentences:
    """The messages of installed packages that are translated into all languages.

    A message with a plural is two sentences, its singular and its plural; the plural is translated by the last plural
    form. What a program fills in (`%(name)s`, `{0}`) becomes the one token `%s`: names of variables are English words
    and would look like English in a translation. Tags of HTML, entities, and marks of keyboard shortcuts go. A message
    in several lines is one sentence. A message is left out, and counted, if it lacks one of the languages, is the same
    as its translation in one of them, is too short or too long, or came before.

    Args:
        options: `options.catalogues` of a corpus.

    Raises:
        TextcriticError: a package is not installed, has no catalogue in all the languages, or a catalogue is damaged.
    """
    skipped: Counter[str] = Counter()
    provenance = {"packages": versions(*options.packages)}
    return Sentences(_sentences(options, skipped), skipped, provenance)


def _sentences(options: CatalogueOptions, skipped: Counter[str]) -> Iterator[Sentence]:
    languages = options.languages
    how = MosesOptions(protected=(re.escape(PLACEHOLDER),))
    tokens = {language: moses(language, how) for language in (ENGLISH, *languages)}
    seen: set[str] = set()
    for package in options.packages:
        for message, translations in _messages(package, languages, skipped):
            text = tokens[ENGLISH](cleaned(message))
            sides = {language: tokens[language](cleaned(side)) for language, side in translations.items()}
            reason = "came before" if text in seen else _unfit(text, sides, options)
            if reason:
                skipped[reason] += 1
                continue
            seen.add(text)
            yield Sentence(text, sides, package)


def _unfit(text: str, sides: Mapping[str, str], options: CatalogueOptions) -> str | None:
    """Why a message and its translations are left out, if they are."""
    lengths = [len(side.split()) for side in (text, *sides.values())]
    if min(lengths) < options.least_tokens:
        return f"fewer than {options.least_tokens} tokens"
    if max(lengths) > options.most_tokens:
        return f"more than {options.most_tokens} tokens"
    same = next((language for language, side in sides.items() if side == text), None)
    return f"the same in {same}" if same else None


def cleaned(message: str) -> str:
    """A message without tags, entities and marks of shortcuts, with `%s` for all that a program fills in."""
    text = _PLACEHOLDERS.sub(f" {PLACEHOLDER} ", html.unescape(_TAGS.sub(" ", message)))
    return _MNEMONICS.sub("", text)


def _messages(package: str, languages: Sequence[str], skipped: Counter[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Messages and their translations, from every catalogue of a package that is there in all languages."""
    catalogues = _catalogues(package, languages)
    if not catalogues:
        raise TextcriticError(
            f"extractor 'catalogues': {package} has no message catalogue in all of {', '.join(languages)}"
        )
    for paths in catalogues:
        read = {language: _read(paths[language]) for language in languages}
        for key in dict.fromkeys(key for messages in read.values() for key in messages):
            missing = [language for language in languages if key not in read[language]]
            skipped.update(f"missing {language}" for language in missing)
            if not missing:
                yield key[1], {language: read[language][key] for language in languages}


def _catalogues(package: str, languages: Sequence[str]) -> list[dict[str, Path]]:
    """The catalogues of a package that have all the languages, each by language, compiled ones before sources.

    Raises:
        TextcriticError: the package is not installed.
    """
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError as error:
        raise TextcriticError(
            f"extractor 'catalogues': the package {package} is not installed; `textcritic install catalogues` installs"
            " those that the registry names"
        ) from error
    found: dict[tuple[str, str], dict[str, tuple[bool, bool, Path]]] = {}
    for file in files:
        match = _CATALOGUE.fullmatch(file.as_posix())
        if match is None or file.suffix not in (".mo", ".po") or match["language"] not in languages:
            continue
        if match["country"] and match["country"][1:].lower() != match["language"]:
            continue
        by_language = found.setdefault((match["folder"], file.stem), {})
        rank = (file.suffix != ".mo", bool(match["country"]), Path(str(file.locate())))
        by_language[match["language"]] = min(rank, by_language.get(match["language"], rank))
    return [
        {language: path for language, (_, _, path) in sorted(by_language.items())}
        for _, by_language in sorted(found.items())
        if set(by_language) == set(languages)
    ]


def _read(path: Path) -> dict[Key, str]:
    """The translated messages of a catalogue; a plural is a message of its own."""
    try:
        import polib  # only this extractor needs it
    except ModuleNotFoundError as error:
        raise TextcriticError(
            "extractor 'catalogues': polib is not installed; run `textcritic install catalogues`"
        ) from error
    try:
        entries = polib.mofile(str(path)) if path.suffix == ".mo" else polib.pofile(str(path))
    except (OSError, ValueError, IndexError, UnicodeError) as error:
        raise TextcriticError(f"{path}: is not a message catalogue: {error}; install its package again") from error
    messages: dict[Key, str] = {}
    for entry in entries.translated_entries():
        forms = [form for _, form in sorted(entry.msgstr_plural.items())] or [entry.msgstr]
        pairs = [(entry.msgid, forms[0]), (entry.msgid_plural, forms[-1])]
        for message, translation in pairs:
            if message and translation:
                messages[entry.msgctxt or "", message] = translation
    return messages
