"""Writes src/textcritic/corpora/wikipedia/mediawiki.json: names of namespaces and words of pictures, by language.

    apt-get download mediawiki && dpkg-deb -x mediawiki_*.deb unpacked
    python tools/mediawiki_names.py unpacked/usr/share/mediawiki "Debian package mediawiki 1:1.39.17-1+deb12u2"

Only names are read: `$namespaceNames`, `$namespaceAliases`, `$namespaceGenderAliases`, the magic words `img_*`, and
`$fallback`, the languages whose names count too. English counts everywhere, so its words are not repeated.
"""

import json
import re
import sys
from pathlib import Path

ARRAYS = re.compile(r"^\$namespace(?:Names|Aliases|GenderAliases) = \[.*?^\];", re.M | re.S)
STRING = r"'((?:[^'\\]|\\.)+)'"
KINDS = {"NS_FILE": "media", "NS_MEDIA": "media", "NS_CATEGORY": "category"}


def names_of(php: str) -> dict[str, list[str]]:
    """Of one language: names of files and media, of categories, of all others, words of pictures, fallbacks."""
    names: dict[str, set[str]] = {key: set() for key in ("media", "category", "others", "words")}
    for line in re.sub(r"^\s*(?:#|//).*$", "", "\n".join(ARRAYS.findall(php)), flags=re.M).split("\n"):
        if space := re.search(r"NS_[A-Z_]+", line):
            found = set(re.findall(STRING, line)) - {"male", "female"}
            names[KINDS.get(space[0], "others")] |= {
                name.replace("_", " ").lower() for name in found if "$" not in name
            }
    for line in re.findall(r"^\s*'img_\w+'\s*=> \[(.*)\],", php, re.M):
        names["words"] |= {
            word.lower() for word in re.findall(STRING, line) if word not in "01" and "$" not in word[1:]
        }
    fallback = re.search(r"^\$fallback = '(.*)';", php, re.M)
    fallbacks = {"fallback": re.split(r",\s*", fallback[1])} if fallback else {}
    return {
        **{key: sorted(re.sub(r"\\(.)", r"\1", name) for name in of) for key, of in names.items() if of},
        **fallbacks,
    }


files = sorted((Path(sys.argv[1]) / "languages" / "messages").glob("Messages*.php"))
codes = [file.stem.removeprefix("Messages").lower().replace("_", "-") for file in files]
languages = {code: names_of(file.read_text("utf-8")) for code, file in zip(codes, files, strict=True)}
for code in languages.keys() - {"en"}:
    languages[code]["words"] = [
        word for word in languages[code].get("words", []) if word not in languages["en"]["words"]
    ]
source = f"tools/mediawiki_names.py from languages/messages of MediaWiki (GPL-2.0-or-later), {sys.argv[2]}"
lines = ",\n".join(json.dumps({code: of}, ensure_ascii=False)[1:-1] for code, of in languages.items())
out = Path(__file__).parents[1] / "src" / "textcritic" / "corpora" / "wikipedia" / "mediawiki.json"
out.write_text(f'{{"source": {json.dumps(source)},\n"languages": {{\n{lines}\n}}}}\n', "utf-8")
