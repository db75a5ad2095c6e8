"""What a reader sees of links: `[[target|text]]`, `[[File:...]]`, `[[Category:...]]`, `[http://address text]`.

Two steps, each linear in the text: files and categories go from a whole section, because a caption may have several
lines; then each line's other links become text, inner ones first, as in MediaWiki.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set

from textcritic.corpora.wikipedia.gaps import GAP
from textcritic.corpora.wikipedia.markup import without
from textcritic.corpora.wikipedia.namespaces import Namespaces, normal

# Codes of Wikipedias, open and closed, and the aliases that are still in use (List of Wikipedias, Meta-Wiki).
_LANGUAGES = """
    aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar
    bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bho bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce
    ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq dk dsb dtp dty dv dz ee egl el eml en eo es
    et eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc
    gur guw gv ha hak haw he hi hif ho hr hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo
    jp jv ka kaa kab kbd kbp kcg kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez
    lfn lg li lij lld lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min minnan mk ml mn mni mnw mo mos
    mr mrj ms mt mus mwl my myv mzn na nah nan nap nb nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nup nv ny oc
    olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro roa-rup roa-tara rsk ru
    rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv
    sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve
    vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh zh-classical zh-cn zh-min-nan zh-tw zh-yue
    zu
"""
_SISTER_PROJECTS = """
    b c commons d foundation incubator m mediazilla meta metawikipedia mw n outreach phab q s sourceswiki species v voy
    w wikibooks wikidata wikimania wikimedia wikinews wikipedia wikiquote wikisource wikispecies wikiversity wikivoyage
    wikt wiktionary wmf
"""
LANGUAGES = frozenset(_LANGUAGES.split())
SISTER_PROJECTS = frozenset(_SISTER_PROJECTS.split())

_PREFIXED = re.compile(r"\[\[([^\[\]|\n:]++):([^\[\]|\n]*+)")
_PLAIN = re.compile(r"\[\[[^\[\]\n]*+\]\]")
_FILE = re.compile(r"\[\[[^\[\]]*+(?>(?:(?:\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\])[^\[\]]*+)*)\]\]")  # links in its caption
# Not after a third bracket, which is asked after two were found: an expression that begins with a text is fast.
_LINK = re.compile(r"\[\[(?<!\[\[\[)([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\](?!\])")
_INNERMOST = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_SINGLE = re.compile(r"\[[^\[\]]*\]")
_PAIR = re.compile(rf"(?<!\[)\[(?!{GAP})[^\[\]]*\]")  # single brackets around what has none
_BRACKETS = re.compile(r"\[+|\]+")
_DEEPEST = 6  # a link in a caption in a caption; deeper brackets are noise
_HALF_CLOSED = re.compile(r"(\[\[[^\[\]|\n]{1,200}(?:\|[^\[\]\n]{0,200})?\])(?![\]|])")  # [[a] or [[a|b]
_TARGET = re.compile(r"\[\[([^\[\]|\n]{0,200})")
_WITH_SLASHES = "ftps?|git|gopher|https?|ircs?|mms|nntp|redis|sftp|ssh|svn|telnet|worldwind"
_SCHEME = rf"(?:(?:(?:{_WITH_SLASHES}):)?//|(?:bitcoin|geo|magnet|mailto|news|sips?|sms|tel|urn|xmpp):)"
_SCHEMES = re.compile(_SCHEME, re.IGNORECASE)
_ADDRESS = re.compile(rf"\[{_SCHEME}", re.IGNORECASE)
_EXTERNAL = re.compile(rf"\[{_SCHEME}[^\s\[\]<>\"]++\s*+([^\]]*+)\]", re.IGNORECASE)
_FROM_TEMPLATE = re.compile(rf"(?<!\[)\[{GAP}[^\s\[\]|]*\s([^\[\]]*)\](?!\])")  # the address is a template's
_PICTURE = re.compile(
    r"\.(?:bmp|djvu|flac|gif|jpe?g|mid|mp3|og[agv]|pdf|png|stl|svg|tiff?|wav|webm|webp)\s*$", re.IGNORECASE
)
_OTHER_WIKIS = LANGUAGES | SISTER_PROJECTS
# Characters that XML cannot hold; they replace brackets that are text until all links of a line are read.
_OPEN, _CLOSED = "\x06", "\x07"
_BRACKETS_AGAIN = str.maketrans({_OPEN: "[", _CLOSED: "]"})
_WIDTH = re.compile(r"\d+(?:x\d+)?|x\d+")


def without_files(text: str, namespaces: Namespaces) -> str:
    """The section without files, categories and interlanguage links; each leaves a `GAP`.

    A file extends to its closing brackets, across lines, links and other files in its caption. A file that is never
    closed extends to the end of its line. A category or language link never extends beyond its line.
    """
    cuts: list[tuple[int, int]] = []
    files: set[int] = set()
    unmatched: list[int] = []  # where files begin that hold other files, or that nothing closes
    for mark in _PREFIXED.finditer(text):
        prefix = normal(mark[1])
        is_file = _is_file(prefix, mark[2], text[mark.end() : mark.end() + 100], namespaces)
        if is_file:
            files.add(mark.start())
        if is_file or prefix in namespaces.category or prefix in LANGUAGES:
            if link := (_FILE if is_file else _PLAIN).match(text, mark.start()):
                cuts.append(link.span())
            elif is_file:
                unmatched.append(mark.start())
    if unmatched:
        cuts = sorted([*cuts, *_unmatched(text, unmatched, files)])
    return without(text, ((start, end, GAP) for start, end in _merged(cuts))) if cuts else text


def linked_text(text: str, namespaces: Namespaces) -> str:
    """The text with each link replaced by what a reader sees of it.

    Files, categories and interlanguage links are cut, and so are links to other namespaces or projects that show only
    their address, and external links that show a number; each leaves a `GAP`. Double brackets without a partner in
    their line are cut too: together with the target of an unclosed link, or with everything after an unclosed file.
    """
    if "[" not in text and "]]" not in text:
        return text
    pieces = _LINK.split(text)  # text, then by turns a link's target, its text or None, and text
    links = zip(pieces[1::3], pieces[2::3], strict=True)
    pieces[2::3] = [
        # nearly all links with a text show it
        shown if shown and ":" not in target and target[:2] != "//" else shown_link(target, shown, namespaces)
        for target, shown in links
    ]
    del pieces[1::3]
    linked = "".join(pieces)
    if "[" not in linked and "]" not in linked:
        return linked
    lines = zip(text.split("\n"), linked.split("\n"), strict=True)
    return "\n".join(
        _with_brackets(line, shown, namespaces) if "[" in shown or "]" in shown else shown for line, shown in lines
    )


def _unmatched(text: str, places: Sequence[int], files: Set[int]) -> Iterator[tuple[int, int]]:
    """(start, end) of the files that begin at these places, which are in order, and of those in their captions.

    `files` are the places of all files. MediaWiki's rule: a link in a caption closes before the next one begins, or
    nothing around it is a file. The text is read once, because what is open ends there at the latest.
    """
    done = 0
    for first in places:
        if first < done:
            continue
        opened: list[int] = []  # places of double brackets: files, and at most one link in the last
        singles = 0
        for run in _BRACKETS.finditer(text, first):
            start, done = run.span()
            length = done - start
            if text[start] == "[":
                singles = length % 2 if length > 1 else singles + 1
                if length > 1 and opened and opened[-1] not in files:
                    done = start
                    break
                opened += range(start + length % 2, done - 1, 2)
            else:
                if length % 2 and singles:
                    start, singles = start + 1, singles - 1
                for end in range(start + 2, done + 1, 2):
                    if opened and (place := opened.pop()) in files:
                        yield place, end
            if not opened:
                break
        yield from _to_their_lines_ends(text, files & set(opened))


def _to_their_lines_ends(text: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    for place in places:
        if not _HALF_CLOSED.match(text, place):
            end = text.find("\n", place)
            yield place, len(text) if end < 0 else end


def _merged(cuts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cuts in order of their starts, those that overlap as one."""
    first = last = -1
    for start, end in cuts:
        if start >= last:
            if last >= 0:
                yield first, last
            first, last = start, end
        else:
            last = max(last, end)
    if last >= 0:
        yield first, last


def _with_brackets(line: str, text: str, namespaces: Namespaces) -> str:
    """What a reader sees of a line in which brackets are left.

    Args:
        line: as it is written.
        text: the same with its links as text.
        namespaces: of the wiki.
    """
    rest = _SINGLE.sub("", text)
    if "[" in rest or "]" in rest:
        text = _paired(_HALF_CLOSED.sub(r"\1]", line), namespaces)
        for _ in range(_DEEPEST + 1):
            text = _PAIR.sub(_as_text, _INNERMOST.sub(lambda link: shown_link(link[1], link[2], namespaces), text))
    if GAP in text:
        text = _FROM_TEMPLATE.sub(r"\1", text)
    return _EXTERNAL.sub(lambda link: link[1] or GAP, text).translate(_BRACKETS_AGAIN)


def _as_text(pair: re.Match[str]) -> str:
    """What a reader sees of single brackets; those that are text are set aside, so that a link around them is found."""
    external = _EXTERNAL.fullmatch(pair[0])
    return external[1] or GAP if external else f"{_OPEN}{pair[0][1:-1]}{_CLOSED}"


def shown_link(target: str, text: str | None, namespaces: Namespaces) -> str:
    """What a reader sees of a link to this target, with this text; None: it has none."""
    if ":" not in target and target[:2] != "//":
        return target.strip() if text is None else text or _trick(target.strip())
    title = target.strip()
    if _SCHEMES.match(title):  # an external link in one bracket too many
        return f"[{target}{'' if text is None else '|' + text}]"
    if title[0] == ":":
        title = title[1:].lstrip()
    else:
        prefix, _, name = title.partition(":")
        prefix = normal(prefix)
        if prefix in namespaces.category or prefix in LANGUAGES:
            return GAP
        if text is None and (prefix in namespaces.others or prefix in SISTER_PROJECTS):
            return GAP
        if _is_file(prefix, name, f"|{text or ''}", namespaces):
            return GAP
    return title if text is None else text or _trick(title)


def _is_file(prefix: str, name: str, rest: str, namespaces: Namespaces) -> bool:
    """Whether a link is a file: by its prefix; by name or words of pictures, where the prefix is none of the wiki's.

    Args:
        prefix: as `namespaces.normal` gives it.
        name: what follows the prefix.
        rest: what follows the name, from `|` on, or a part of it.
        namespaces: of the wiki.
    """
    if prefix in namespaces.media:
        return True
    if prefix in namespaces.others or prefix in namespaces.category or prefix in _OTHER_WIKIS:
        return False
    if _PICTURE.search(name):
        return True
    parts = rest.split("]]", 1)[0].split("[[", 1)[0].split("|")[1:]
    return len(parts) > 1 and any(_is_picture_word(part.strip().lower(), namespaces.words) for part in parts)


def _is_picture_word(part: str, words: Collection[str]) -> bool:
    """Whether a part of a link is a word of pictures, or a width such as 220px."""
    widths = (word[2:] for word in words if word.startswith("$1"))
    return part in words or any(part.endswith(unit) and _WIDTH.fullmatch(part[: -len(unit)]) for unit in widths)


def _trick(title: str) -> str:
    """What `[[title|]]` shows: no namespace, nothing in parentheses at the end, else nothing after a comma."""
    name = title.partition(":")[2].strip() or title
    short = re.sub(r" ?\([^()]*\)$", "", name)
    return short if short != name else name.partition(", ")[0]


def _paired(line: str, namespaces: Namespaces) -> str:
    """The line without the double brackets that have no partner, and with single ones without partner as text."""
    opened: list[tuple[int, int]] = []  # position and number of brackets, one or two
    lost: list[tuple[int, int]] = []
    for run in _BRACKETS.finditer(line):
        start, length = run.start(), len(run.group())
        if line[start] == "[":
            news = [(start, 1)] * (length % 2) + [(place, 2) for place in range(start + length % 2, start + length, 2)]
            lost += news[max(0, _DEEPEST - len(opened)) :]
            opened += news[: max(0, _DEEPEST - len(opened))]
        else:
            _close(line, opened, lost, start, length)
    return without(line, _mended(line, sorted(lost + opened), namespaces))


def _close(line: str, opened: list[tuple[int, int]], lost: list[tuple[int, int]], start: int, length: int) -> None:
    """Matches closing brackets with the open ones; a link's end wins over single brackets in it."""
    end = start + length
    if length == 2 and len(opened) == 1 and opened[0][1] == 1 and not _ADDRESS.match(line, opened[0][0]):
        lost.append((opened.pop()[0], 0))  # [a]]: the other bracket was forgotten
        return
    while opened and start < end:
        singles = next((n for n, bracket in enumerate(reversed(opened)) if bracket[1] == 2), None)
        if singles is None or end - start == 1 or (singles and end - start != 2):
            if opened[-1][1] == 2:
                return
            opened.pop()
            start += 1
        else:
            lost += opened[len(opened) - singles :]
            del opened[len(opened) - singles - 1 :]
            start += 2
    if end - start >= 2:
        lost.append((start, end - start))


def _mended(line: str, lost: list[tuple[int, int]], namespaces: Namespaces) -> Iterator[tuple[int, int, str]]:
    """What to cut for the brackets without a partner: with an open link its target, with an open file all the rest.

    A bracket of no length is one that was forgotten, and goes in.
    """
    position = 0
    for start, length in lost:
        if start < position:
            continue
        target = _TARGET.match(line, start)
        if length == 0:
            position, instead = start, "["
        elif target is None:
            instead = (_OPEN if line[start] == "[" else _CLOSED) if length == 1 else ""
            position = start + length
        elif normal(target[1].partition(":")[0]) in namespaces.media:
            position, instead = len(line), GAP
        else:
            position, instead = target.end() + 1 if line[target.end() : target.end() + 1] == "|" else start + 2, ""
        yield start, position, instead
