"""Names of namespaces: MediaWiki's for every language, the dump's own, and words of pictures."""

import json
from importlib.resources import files

import pytest

from textcritic.corpora.wikipedia.namespaces import namespaces_of, normal
from textcritic.corpora.wikipedia.wikitext import sections_of

LANGUAGES = json.loads(files("textcritic.corpora.wikipedia").joinpath("mediawiki.json").read_text("utf-8"))["languages"]


@pytest.mark.parametrize(
    ("language", "prefix"),
    [
        *[("pt", "Imagem"), ("pt", "Arquivo"), ("vi", "Hình"), ("lv", "Attēls"), ("ltg", "Attēls"), ("ja", "画像")],
        *[
            ("it", "Immagine"),
            ("de", "Bild"),
            ("ru", "Изображение"),
            ("zh", "文件"),
            ("no", "Fil"),
            ("simple", "Image"),
        ],
        *[("en", "File"), ("", "Image"), ("xx-unknown", "image"), ("pt-BR", "Imagem"), ("he", "\u200fקובץ")],
    ],
)
def test_a_file_is_known_by_any_name_of_its_language(language, prefix):
    spaces = namespaces_of(language, [])
    assert sections_of(f"a [[{prefix}:b|220px|c\nd]] e", spaces)[0].text == "a e"
    assert sections_of(f"a [[{prefix.upper()}_ :b]] e", spaces)[0].text == "a e"


def test_a_link_to_a_file_shows_its_text_by_the_number_of_the_namespace():
    spaces = namespaces_of("de", [("-2", "Medium"), ("6", "Datei")])
    assert sections_of("a [[Medium:b.ogg|c]] [[Media:b.ogg|d]] [[Datei:e.jpg|f]]", spaces)[0].text == "a c d"


def test_a_name_of_another_language_is_none():
    assert sections_of("[[Bild:a|b]] [[画像:a|c]]", namespaces_of("en", []))[0].text == "b c"


def test_every_language_knows_its_own_names_and_english():
    assert len(LANGUAGES) > 400
    for code, names in LANGUAGES.items():
        spaces = namespaces_of(code, [])
        assert {"file", "image", "media"} <= spaces.media | spaces.others, code
        assert set(map(normal, names.get("category", []))) <= spaces.category | spaces.media, code
        assert not spaces.media & spaces.category, code
        assert not spaces.others & (spaces.media | spaces.category), code
        assert "thumb" in spaces.words


def test_the_wiki_s_own_names_win():
    own = [("6", "Dosya"), ("14", "Image"), ("100", "Media"), ("0", ""), ("4", "Vikipedi")]
    spaces = namespaces_of("en", own)
    assert spaces.media == {"dosya", "file"}
    assert spaces.category == {"image", "category"}
    assert {"media", "vikipedi", "talk"} <= spaces.others


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("Xyz:a|220px|right|thumb|b", ""),
        ("Xyz:a|20x30px|b", ""),
        ("Xyz:a|destra|b", ""),
        ("Xyz:a|x30px|b [[c]] d", ""),
        ("Xyz:a|right", "right"),
        ("Xyz:a|px|b", "px|b"),
        ("Xyz:a|b|c", "b|c"),
        ("a|thumb|b", "thumb|b"),
        ("Utente:a|right|b", "right|b"),
    ],
)
def test_words_tell_a_picture_whose_prefix_is_unknown(link, shown):
    assert sections_of(f"[[{link}]]", namespaces_of("it", []))[0].text == shown
