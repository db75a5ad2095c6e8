"""Messages of installed packages: which catalogues are read, what is cleaned, and what is left out."""

import sys
from importlib import metadata

import polib
import pytest

from textcritic.corpora.parallel.catalogues import cleaned, read_catalogues
from textcritic.errors import TextcriticError
from textcritic.plan.entries.parallel import CatalogueOptions

GERMAN = {
    "Delete the selected file": "Die gewählte Datei löschen",
    "Hello %(name)s, you have {0} mails": "Hallo %(name)s, Sie haben {0} Nachrichten",
    "OK": "OK",
    "Do it now": "Do it now",
    "Only in German here": "Hier nur auf Deutsch",
}
SPANISH = {
    "Delete the selected file": "Borrar el fichero elegido",
    "Hello %(name)s, you have {0} mails": "Hola %(name)s, tiene {0} mensajes",
    "OK": "Vale",
    "Do it now": "Hazlo ahora mismo",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Make an installed package of catalogues: {path: messages, or entries of polib}."""

    def make(name, catalogues):
        files = []
        for path, entries in catalogues.items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            catalogue = polib.POFile()
            catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
            if isinstance(entries, dict):
                entries = [polib.POEntry(msgid=key, msgstr=text) for key, text in entries.items()]
            catalogue.extend(entries)
            getattr(catalogue, "save_as_mofile" if path.endswith(".mo") else "save")(str(place))
            files.append(path)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        return info

    return make


def read(*packages, languages=("de", "es"), **more):
    given = {"packages": list(packages), "languages": list(languages), **more}
    sentences = read_catalogues(CatalogueOptions.read(given, "test"))
    return list(sentences.stream), +sentences.skipped, sentences.provenance


def test_messages_with_all_translations(package):
    folders = {"apples/locale/de": GERMAN, "apples/locale/es": SPANISH}
    package("apples", {f"{folder}/LC_MESSAGES/apples.mo": entries for folder, entries in folders.items()})
    sentences, skipped, provenance = read("apples")
    assert {s.text: s.translations for s in sentences} == {
        "Delete the selected file": {"de": "Die gewählte Datei löschen", "es": "Borrar el fichero elegido"},
        "Hello %s , you have %s mails": {
            "de": "Hallo %s , Sie haben %s Nachrichten",
            "es": "Hola %s , tiene %s mensajes",
        },
    }
    assert {s.source for s in sentences} == {"apples"}
    assert skipped == {"missing es": 1, "fewer than 3 tokens": 1, "the same in de": 1}
    assert provenance == {"packages": {"apples": "1.0"}}


def test_sources_are_read_where_nothing_is_compiled_and_main_countries_count(package):
    package(
        "pears",
        {
            "pears/locale/de_DE/LC_MESSAGES/pears.po": GERMAN,
            "pears/locale/es/LC_MESSAGES/pears.po": {"Delete the selected file": "never read"},
            "pears/locale/es/LC_MESSAGES/pears.mo": SPANISH,
            "pears/locale/es_MX/LC_MESSAGES/pears.mo": {"Delete the selected file": "never read"},
        },
    )
    sentences, _, _ = read("pears")
    first = next(s for s in sentences if s.text == "Delete the selected file")
    assert first.translations == {"de": "Die gewählte Datei löschen", "es": "Borrar el fichero elegido"}


def test_plurals_contexts_and_fuzzy_messages(package):
    def entries(one, *others, context, vague):
        forms = dict(enumerate((one, *others)))
        return [
            polib.POEntry(msgid="%d file was deleted", msgid_plural="%d files were deleted", msgstr_plural=forms),
            polib.POEntry(msgid="Open the door", msgctxt="order", msgstr=context),
            polib.POEntry(msgid="A vague old message", msgstr=vague, flags=["fuzzy"]),
        ]

    german = entries("%d Datei ging verloren", "%d Dateien gingen verloren", context="Öffne die Tür", vague="Nicht so")
    spanish = entries("se borró %d fichero", "muchos", "se borraron %d ficheros", context="Abre la puerta", vague="No")
    package("plums", {"l/de/LC_MESSAGES/p.po": german, "l/es/LC_MESSAGES/p.po": spanish})
    sentences, skipped, _ = read("plums")
    assert [(s.text, *s.translations.values()) for s in sentences] == [
        ("%s file was deleted", "%s Datei ging verloren", "se borró %s fichero"),
        ("%s files were deleted", "%s Dateien gingen verloren", "se borraron %s ficheros"),
        ("Open the door", "Öffne die Tür", "Abre la puerta"),
    ]
    assert skipped == {}


def test_a_message_of_two_packages_counts_once(package):
    for name in ("first", "second"):
        package(
            name, {f"{name}/{code}/LC_MESSAGES/x.mo": {"Save this file": code * 3 + " a b"} for code in ("de", "es")}
        )
    sentences, skipped, _ = read("first", "second")
    assert [s.source for s in sentences] == ["first"]
    assert skipped == {"came before": 1}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("100% of %5.2f and %1$s", "100% of %s and %s"),
        ("<a href='x'>Go &amp; see</a> ${place}\nnow", "Go & see %s now"),
        ("_File or &Save as snake_case", "File or Save as snake_case"),
        ("%(count)d of %(total)s %% done", "%s of %s %s done"),
    ],
)
def test_cleaning(message, text):
    assert " ".join(cleaned(message).split()) == text


def test_faults_are_one_line(package):
    with pytest.raises(
        TextcriticError, match=r"package no-such-package is not installed; `textcritic install catalogues`"
    ):
        read("no-such-package")
    package("nuts", {"nuts/de/LC_MESSAGES/nuts.mo": GERMAN})
    with pytest.raises(TextcriticError, match=r"nuts has no message catalogue in all of de, es"):
        read("nuts")
    info = package("bad", {f"bad/{code}/LC_MESSAGES/bad.mo": GERMAN for code in ("de", "es")})
    (info.parent / "bad/es/LC_MESSAGES/bad.mo").write_bytes(b"not a catalogue")
    with pytest.raises(TextcriticError, match=r"es/LC_MESSAGES/bad\.mo: is not a message catalogue"):
        read("bad")


def test_the_packages_of_the_registry_are_the_pinned_ones():
    from own_study import ROOT

    from textcritic.plan.spec import load_yaml

    lines = (ROOT / "requirements-catalogues.lock").read_text().splitlines()
    pinned = {line.split("==")[0] for line in lines if "==" in line}
    registry = load_yaml(ROOT / "config/registry/corpora.yaml")
    assert {*registry["catalogues"]["options"]["catalogues"]["packages"], "polib"} == pinned
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.distribution("no-such-package")
