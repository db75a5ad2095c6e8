"""Wikitext to clean sections: one small case per construct, broken markup, any input at all."""

import pickle
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from forks import forking_python
from hypothesis import given, settings
from hypothesis import strategies as st

import textcritic
from textcritic.corpora.articles import Section
from textcritic.corpora.layout import END
from textcritic.corpora.wikipedia.wikitext import (
    FROM_TEMPLATE,
    JOINED,
    Namespaces,
    Reading,
    is_disambiguation,
    paragraphs_of,
    sections_of,
)

ENGLISH = Namespaces(
    media=frozenset({"file", "image"}),
    category=frozenset({"category"}),
    others=frozenset(
        {"media", "talk", "user", "user talk", "wikipedia", "wp", "template", "portal", "help", "special"}
    ),
)
BULGARIAN = Namespaces(frozenset({"файл", "картинка", "file"}), frozenset({"категория"}), frozenset({"беседа"}))
RESIDUE = ("[[", "]]", "{{", "}}", "<ref", "{|", "|-", "\n\n", END, *map(chr, range(1, 9)))

CONSTRUCTS = {
    "comment": ("a<!-- b\n== c == -->d", "ad"),
    "comment on its own line": ("a\n<!-- b -->\nc", "a c"),
    "template": ("a total area of {{convert|5|km2}}, of which", "a total area of 5 km², of which"),
    "number in a template": ("It has {{convert|12|km|mi|abbr=on}} of track", "It has 12 km of track"),
    "numbers in templates": (
        "{{convert|5|to|10|ft|m}} or {{Convert|5|ft|10|in}}, {{formatnum:12345}}",
        "5 to 10 ft or 5 ft 10 in, 12345",
    ),
    "value with an error": ("is {{val|1.5|0.2|u=m/s}}.", "is 1.5 ± 0.2 m/s."),
    "words of another language": (
        "{{nihongo|Tower|塔|tō}} is {{lang|fr|[[a|tour]]}} ({{lang-de|Turm}})",
        "Tower (塔, tō) is tour (Turm)",
    ),
    "template in a template that is shown": ("{{nowrap|1=about {{cvt|5|km2}}}} large", "about 5 km² large"),
    "template without what it shows": ("a {{convert}} b {{lang|fr}} c", "a b c"),
    "switch with a line behind it": ("__INHALTSVERZEICHNIS_ERZWINGEN__ Mehr. __目次強制__", "Mehr."),
    "switch with underscores": ("__KEIN_INHALTSVERZEICHNIS__\nText.", "Text."),
    "no switch": (
        "the macro __FILE__ and the method __init__ of snake__case",
        "the macro __FILE__ and the method __init__ of snake__case",
    ),
    "template that is cut": ("a total area of {{area|5|km2}}, of which", "a total area of, of which"),
    "numbers": (
        "{{convert|12|km|mi|abbr=on}}, {{cvt|5|ft|6|in}}, {{convert|5|-|7|m|ft}}, {{convert|5|by|7|m}}, "
        "{{formatnum:1234567}}, {{formatnum:{{val|3}}|R}}, {{val|12.5|0.3|u=km}}, {{val|2|e=6|ul=m/s}}, {{val|9|u=%}}, "
        "{{circa|1500|1550}}, {{c.}} 1400, {{frac|1|2}}, {{Frac|3|1|2}}",
        "12 km, 5 ft 6 in, 5–7 m, 5 by 7 m, 1234567, 3, 12.5 ± 0.3 km, 2 × 10^6 m/s, 9 %, c. 1500 – c. 1550, c. 1400, "
        "1/2, 3 1/2",
    ),
    "words of other languages": (
        "{{nihongo|'''Tokyo'''|東京|Tōkyō}}, {{Nihongo||東京|Tōkyō}}, {{lang|fr|''[[P|Pari]]''}}, {{lang-de|Haus}}, "
        "{{langx|es|casa}}, {{transl|ja|Hepburn|ki}}, {{transl|ja|ki}}, {{lang|fr}}",
        "Tokyo (東京, Tōkyō), Tōkyō (東京), Pari, Haus, casa, ki, ki",
    ),
    "templates that show their arguments in others": (
        '{{nowrap|12 {{abbr|km|kilometre}}}} {{nowrap|1=<span style="a=b">c=d</span>}} {{nowrap|e<ref>f</ref>}} '
        "{{lang|fr|{{unknown|g}}}} {{infobox|h={{convert|1|km}}}} {{#if:i|{{lang|fr|j}}}} {{nowrap|[k] {l} {{{m}}}}}",
        "12 km c=d e [k] {l}",
    ),
    "template that is not shown": ("a <nowiki>{{nowrap|b}}</nowiki><!-- {{nowrap|c}} --> {{nowrap}}", "a nowrap|b"),
    "nested templates": ("a {{b|{{c|{{{d|}}}}}|e={{f}}}} g", "a g"),
    "argument": ("a {{{b}}} c {{{d|{{e}}}}}", "a c"),
    "braces too many": ("a {{{{b}}}} c", "a {} c"),
    "parser function": ("a {{#if:{{{x}}}|[[b]]|c}} d", "a d"),
    "template over lines": ("{{Infobox\n| a = {{b}}\n| c = [[d]]\n}}\n'''E''' is", "E is"),
    "space for a typographic template": ("8{{nbsp}}km, 1950{{snd}}60", "8 km, 1950 – 60"),
    "reference": ("a.<ref>b</ref> c<ref name=d/>, e<ref name='f' >{{g}}</ref>.", "a. c, e."),
    "reference between sentences": ("a.<ref>b</ref>C", "a. C"),
    "table opened by a template": ("a\n{{table|x}}\n|-\n! b\n| c\nd\n|}\ne\n{|\n| f\n|}\ng", "a\ne\ng"),
    "a row after a template, and no table": ("{{a}}\n| b\nc", "c"),
    "table": ("a\n{| class=x\n|-\n! b\n| c || d\n{|\n| e\n|}\n|}\nf", "a\nf"),
    "indented table": ("a\n::{|\n| b\n|}\nc", "a\nc"),
    "HTML table": ("a\n<table class=x><tr><td>b<table><tr><td>c</td></tr></table></td></tr></table>\nd", "a\nd"),
    "gallery": ("a\n<gallery>\nFile:b.jpg|c [[d]]\n</gallery>\ne", "a\ne"),
    "formula": ("where <math>x_{i}</math> is", "where is"),
    "chemistry": ("of <chem>H2O</chem> and <ce>CO2</ce>.", "of and."),
    "block of source": ("a\n<syntaxhighlight lang=c>\nint [[x]];\n</syntaxhighlight>\nb", "a\nb"),
    "source in the line": ('the <source lang="c" inline>a[[0]]</source> cell', "the a0 cell"),
    "code in the line": ("the <code>fork()</code> call", "the fork() call"),
    "block of code": ("a\n<code>\nb\nc\n</code>\nd", "a\nd"),
    "preformatted": ("a\n<pre>\n== b ==\n</pre>\nc", "a\nc"),
    "timeline, score, imagemap": ("a<timeline>b</timeline> <score>c</score> <imagemap>d</imagemap>e", "a e"),
    "not displayed": ('a <span style="display: none">b</span>c', "a c"),
    "magic words in other languages": (
        "__KEIN_INHALTSVERZEICHNIS__\nText\n\n__INHALTSVERZEICHNIS_ERZWINGEN__ Mehr __NO_TOC__ x "
        "__БЕЗ_ОГЛАВЛЕНИЯ__Текст 文字__无目录__文字 __अनुक्रमणिका_नहीं__ a\n\n__kein_inhaltsverzeichnis__",
        "Text\nMehr x Текст 文字文字 a",
    ),
    "words that look like magic words": (
        "snake__case a__B__c __init__ __FILE__ __my_name__ ___D___ __ e __ <code>__F__ <b>__G_H__</b></code> "
        "<nowiki>__NO_TOC__</nowiki>",
        "snake__case a__B__c __init__ __FILE__ __my_name__ ___D___ __ e __ __F__ __G_H__ __NO_TOC__",
    ),
    "magic words": ("__NOTOC__a __init__ b\n__БЕЗСЪДЪРЖАНИЕ__", "a __init__ b"),
    "link": ("[[a]]s and [[b|c]]", "as and c"),
    "link with a colon in its title": (
        "[[Star Wars: A New Hope]], [[Mission: Impossible]]",
        "Star Wars: A New Hope, Mission: Impossible",
    ),
    "pipe trick": ("[[Ada (river)|]], [[Boston, Massachusetts|]], [[Help:Contents|]]", "Ada, Boston, Contents"),
    "pipe trick, twice": ("[[A, B, C|]]; [[Help:A, B (c)|]]; [[A,B|]]", "A; A, B; A,B"),
    "link in a link's text": ("[[a|b ''c'' {{d}}e]]", "b c e"),
    "category shown": ("see [[:Category:X]] and [[:File:Y.jpg|y]]", "see Category:X and y"),
    "category": ("a\n[[Category:X| ]]\n[[category : Y]]", "a"),
    "file": ("[[File:a.jpg|thumb|b [[c|d]] ''e'' [http://f g] h]]\ni", "i"),
    "file of old": ("[[image:A_b.jpg]]c", "c"),
    "file over lines": (
        "a\n[[File:b.jpg|thumb\n|c [[d]]\n\ne [f]]]\n[[Image:g.png|h\n[[File:i.svg|j\nk]] l]]m\nn",
        "a\nm n",
    ),
    "file that nothing closes": ("a [[File:b.jpg|c [[d [[e]] f\ng [[h]]\n\n[[File:i.jpg|j [[k]]\nl", "a g h\nl"),
    "file after a link in a caption that nothing closes": (
        "[[File:a|b [[c [[File:d|[[File:e|f [[g]]]]\nh]]i\nj",
        "i j",
    ),
    "file half closed": ("[[File:b.jpg|20px] a [[c]]", "a c"),
    "file of an unknown prefix": ("[[Bild:A.JPG|b]]c [[Bild:a b|d]] [[Talk:e.png|f]]", "c d f"),
    "file with a table's caption": ("a\n[[File:b.jpg|thumb|c<br />d<ref>e</ref>]]\nf", "a\nf"),
    "media link": ("a ([[Media:b.ogg|listen]]) ([[Media:b.ogg]]) c", "a (listen) c"),
    "brackets in a link": ("[[a|b [c] d]] e", "b [c] d e"),
    "brackets at the end of a link": ("[[a|b [c]]] [[d|[e]]] f", "b [c] [e] f"),
    "brackets in brackets in a link": ("[[a|b [c [d] e] f]] [g [h] i]", "b [c [d] e] f [g [h] i]"),
    "brackets and a link in a link": ("[[a|b [c] [[d|e [f]]] g]] h", "b [c] e [f] g h"),
    "an address in a link": ("[[a|b [http://c d] [http://e] f]] g", "b d f g"),
    "brackets around a link": ("[see [[a|b [c] d]]] e", "[see b [c] d] e"),
    "soft hyphen": ("co\u00adop co&shy;op [[co\u00adop|co&#173;op]]", "coop coop coop"),
    "variants in a wiki without": ("a -{zh-cn:b;zh-tw:c}- d", "a -{zh-cn:b;zh-tw:c}- d"),
    "interlanguage link": ("a\n[[fr:B]]\n[[zh-min-nan:C]]\n[[simple:D|e]]", "a"),
    "sister project": ("an [[wikt:orange|orange]] [[s:Orange]]", "an orange"),
    "other namespace": ("by [[User:A|Ann]], see [[Wikipedia:B]].", "by Ann, see."),
    "external link": (
        "[http://a.org b ''c'' [d]] and [//e.org f], [http://g.org], http://h.org",
        "b c [d] and f, http://h.org",
    ),
    "external link by a template": ("[{{fullurl:x}}&y=z a [[b]]], [{{c}}] [d {{e}}]", "a b, [d]"),
    "external link in two brackets": ("[[http://a.org b]] c", "b c"),
    "italics and bold": ("''a'' '''b''' '''''c''''' d's e'", "a b c d's e'"),
    "apostrophe before bold": ("l''''abete''' e ''c'', ''''''d''''' ''''e", "l'abete e c, 'd 'e"),
    "apostrophe after the first word of one letter": ("il dell'''a'' e b'''c''' d", "il della e b'c d"),
    "apostrophe after the first longer word": ("il '''a'' dell'''b''' c", "il a dell'b c"),
    "apostrophe after a space, where there is no word": ("a '''b''", "a 'b"),
    "styles end with their line": ("l'''art\net ''la'' '''vie\n''b", "lart et la vie b"),
    "quotes in links": ("[[Lista d''e paise]] [[a|''b]] '''c ''[[d|e'']]", "Lista d''e paise b 'c e"),
    "template in a template's name": ("a {{{{b}} c}} d", "a d"),
    "files in files": ("a[[File:b|[[Image:c|d [[e]]]] f [g]]]h", "a h"),
    "quotes left open": ("l'''art'' et ''la'' vie", "l'art et la vie"),
    "style tags": ("<small>a</small> b<sub>2</sub> c<sup>2</sup> <u>d</u> <abbr title=e>f</abbr>", "a b2 c2 d f"),
    "blocks": ("a<blockquote>b</blockquote><div class=x>c</div>d", "a\nb\nc\nd"),
    "line break": ("a<br />b<BR>c", "a\nb\nc"),
    "poem": ("<poem>\na\n''b''\n</poem>\nc\nd", "a\nb\nc d"),
    "nowiki": ("<nowiki>[a] ''b'' *</nowiki> c<nowiki />d", "[a] ''b'' * cd"),
    "lists": ("* a\n** b\n# c\n; d\n: e\n*", "a\nb\nc\nd\ne"),
    "list item left empty": ("* {{a}}\n* b {{c}}\n* {{d}}, e", "b\ne"),
    "rule": ("a\n----\nb", "a\nb"),
    "paragraph over lines": ("a\nb\n\nc\n d", "a b\nc\nd"),
    "subsections": ("a\n\n=== ''b'' ===\nc\n======d======\n= e =\n", "a\nb\nc\nd\ne"),
    "entities": (
        "5&nbsp;km &amp;nbsp; &lt;i&gt; &#39;&#x27;&#39; &ndash; &nosuch; AT&T",
        "5 km &nbsp; <i> ''' – &nosuch; AT&T",
    ),
    "kinds of space": ("a\u00a0\u2009b\u200b\u00ad c\t d", "a b c d"),
    "emptied brackets": (
        "a ({{b}}) c ({{d}}; {{e}}, ) ({{f}}; born 1950) (1950; {{g}}) f()",
        "a c (born 1950) (1950) f()",
    ),
    "emptied brackets in brackets": ("a ({{b}}, ({{c}})) d", "a d"),
    "emptied quotes": ('a "{{b}}" c', "a c"),
    "gap between commas": ("a, {{b}}, c: {{d}}.", "a, c."),
    "gap before a dash": ("(born a; {{b}} – 1982)", "(born a; 1982)"),
    "gap after a quote": ('"a"{{snd}}b', '"a" – b'),
    "no gap, spaces stay": ("a , b ( c ) d [] e", "a , b ( c ) d [] e"),
    "sentence that goes on after a formula": (":<math>a</math>, where", "where"),
    "end marker": ("a<|endoftext|>b <|endof<!-- -->text|> c", "a b c"),
    "Windows line ends": ("a\r\n\r\nb\rc", "a\nb c"),
    "absolute value": ("is |-5| or {|x| > 1}", "is | -5| or { |x| > 1}"),
}

BROKEN = {
    "unclosed template": ("a {{convert|5|km b\n\nc", "a b\nc"),
    "unclosed infobox": ("{{Infobox person\n| name = A\n| born = {{b}}\n\n'''A''' was\n\nc", "A was\nc"),
    "stray closing braces": ("a }} b", "a b"),
    "template closed by one brace": ("a {{b}c d", "a d"),
    "unclosed link": ("a [[b c\n\nd [[e|f g [[h]]", "a b c\nd f g h"),
    "links in links": ("[[a|b [[c|d [[e|f [[g]] h]] i]] j]]", "b d f g h i j"),
    "brackets in a link, one not closed": ("[[a|b [c]] d", "b [c d"),
    "half-closed link": ("[[a] and [[b|c], [d]] and [e|f]]", "a and c, d and f"),
    "link over paragraphs": ("[[a\n\nb]]", "a\nb"),
    "unclosed file": ("a [[File:b.jpg|thumb|c\n\nd", "a\nd"),
    "unclosed external link": ("a [http://b c\nd", "a [http://b c d"),
    "unclosed table": ("a\n{| class=b\n! c\n|-\n| d || e\n\nf", "a\nf"),
    "rows without table": ("a\n|-\n| b\n|}\nc", "a c"),
    "unclosed reference": ("a<ref>b c\n\nd<ref name=e", "ab c\nd"),
    "unclosed tags": ("a <div class=b>c <gallery> d </span> e", "a\nc\nd e"),
    "unclosed comment": ("a <!-- b\n== c ==", "a"),
    "unclosed nowiki": ("a <nowiki>b [[c]]", "a b c"),
    "markup from entities": ("&#91;&#91;a&#93;&#93; &lt;ref>b &#123;&#123;c", "a b c"),
    "markup that shows when other markup goes": ("{<!-- -->{a}<!-- -->} [<b>[c]</b>]", "a c"),
}


@pytest.mark.parametrize(("wikitext", "text"), CONSTRUCTS.values(), ids=CONSTRUCTS)
def test_what_a_reader_sees_of_each_construct(wikitext, text):
    assert sections_of(wikitext, ENGLISH) == [Section("abstract", text)]


@pytest.mark.parametrize(("wikitext", "text"), BROKEN.values(), ids=BROKEN)
def test_broken_markup_is_mended_and_the_text_after_it_kept(wikitext, text):
    assert sections_of(wikitext, ENGLISH) == [Section("abstract", text)]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("== A ==", "A"),
        ("==A==", "A"),
        ("==A==  \t", "A"),
        ("== A == <!-- b -->", "A"),
        ("<!-- b -->== A ==", "A"),
        ("== ''A'' [[b|c]] & {{anchor|d}}<ref>e</ref> f<br>g ==", "A c & f g"),
        ("== A &ndash; B ==", "A – B"),
        ("== A = B ==", "A = B"),
        ("=== A ==", "= A"),
        ("== A ===", "A ="),
        ("=====", "="),
        ("=={{transl|ja|Ki}}==", "Ki"),
        ("== {{lang|ja|[[a|Ki]] ''b''|x=y}} ==\t", "Ki b"),
        ("== 2001: A ==", "2001: A"),
    ],
)
def test_a_level_2_heading_opens_a_section(line, title):
    assert sections_of(f"a\n{line}\nb", ENGLISH) == [Section("abstract", "a"), Section(title, "b")]


@pytest.mark.parametrize(
    "line",
    [
        "= A =",
        "=== A ===",
        "== A",
        " == A ==",
        "==",
        "====",
        "== A == b",
        "{{a}}== A ==",
        "== A ==<ref>b</ref>",
        "<nowiki>\n== A ==\n</nowiki>",
        "<pre>\n== A ==\n</pre>",
        "<ref>\n== A ==\n</ref>",
        "{{a|\n== A ==\n}}",
        "<!--\n== A ==\n-->",
    ],
)
def test_other_lines_with_equals_signs_open_none(line):
    assert [section.title for section in sections_of(f"a\n{line}\nb", ENGLISH)] == ["abstract"]


def test_a_heading_ends_an_unclosed_table_or_tag_and_stands_in_a_closed_one():
    sections = [Section("abstract", "a"), Section("B", "c"), Section("D", "")]
    assert sections_of("a\n{| class=x\n| y\n== B ==\nc\n==D==", ENGLISH) == sections
    assert sections_of("a\n{|\n|\n== B ==\nc\n|\n==D==\n|}", ENGLISH) == sections
    assert sections_of("a <div>\n== B ==\n<table>c\n==D==\n</table></div>", ENGLISH) == sections


def test_a_heading_that_is_a_template_has_its_argument_and_one_without_title_is_joined():
    text = (
        "a\n== B ==\nc\n=={{sources}}==\nd\n== ==\n==<ref>e</ref>==\n== {{f|g}} ==\nh\n==={{i|j}}===\n=={{k|l=m|}}==\nn"
    )
    mended = Counter()
    assert sections_of(text, ENGLISH, mended) == [
        Section("abstract", "a"),
        Section("B", "c\nd"),
        Section("g", "h\nj\nn"),
    ]
    assert mended == {FROM_TEMPLATE: 1, JOINED: 4}
    assert sections_of("=={{a}}==\nb", ENGLISH, mended) == [Section("abstract", "b")]


def chinese(wikitext, variant=""):
    return [(s.title, s.text) for s in sections_of(wikitext, ENGLISH, reading=Reading(language="zh", variant=variant))]


@pytest.mark.parametrize(
    ("wikitext", "variant", "text"),
    [
        ("a -{zh-cn:b;zh-tw:c}- d", "zh-cn", "a b d"),
        ("a -{zh-cn:b;zh-tw:c}- d", "zh-tw", "a c d"),
        ("a -{zh-cn:b;zh-tw:c}- d", "", "a b d"),
        ("a-{ zh-hans : b ; zh-hant : c ; }-d", "zh-hk", "acd"),
        ("a -{zh-cn:b;zh-hk:c}- d", "zh-sg", "a b d"),
        ("a -{zh-tw:b;zh-hk:c}- d", "zh-cn", "a b d"),
        ("a -{b; c}- d", "zh-cn", "a b; c d"),
        ("a -{zh-cn:&lt;b; c&gt;;zh-tw:d}- e", "zh-cn", "a <b; c> e"),
        ("a -{A|zh-cn:b;zh-tw:c}- -{R|zh-cn:d}- e", "zh-tw", "a c zh-cn:d e"),
        ("a -{H|zh-cn:b;zh-tw:c}--{T|zh-cn:b}- d", "zh-tw", "a d"),
        ("a -{H|b=>zh-cn:c}- -{b=>zh-cn:c; d=>zh-tw:e}- f", "zh-tw", "a e f"),
        ("a -{zh-cn;zh-tw|b}- -{b|c}- d", "zh-tw", "a b b|c d"),
        ("[[a|-{zh-cn:b;zh-tw:[[c|d]]}- e]] ''-{zh-cn:b;zh-tw:f}-''", "zh-tw", "d e f"),
        ("a -{zh-cn:b -{zh-cn:c;zh-tw:d}-;zh-tw:e -{zh-cn:f;zh-tw:g}-}- h", "zh-tw", "a e g h"),
        ("<nowiki>-{zh-cn:a}-</nowiki> -{{{b}} c -{d }- -{zh-tw:e{{f|g}}h}-", "zh-tw", "-{zh-cn:a}- -{ c d e h"),
        ("-{" * 12 + "zh-tw:a" + "}-" * 12, "zh-tw", "-{-{zh-tw:a}-}-"),
    ],
)
def test_of_words_in_several_variants_those_of_one_are_kept(wikitext, variant, text):
    (_, shown), *_ = chinese(wikitext, variant)
    assert shown == text


def test_variants_in_headings_and_paragraphs():
    text = "a\n== -{zh-cn:B;zh-tw:C}- ==\nd\n=== -{zh-cn:E;zh-tw:F}- ===\n* g\n\n-{zh-cn:h;zh-tw:i}-"
    assert chinese(text, "zh-tw") == [("abstract", "a"), ("C", "d\nF\ng\ni")]
    assert paragraphs_of(text, ENGLISH, Reading(language="zh", variant="zh-tw")) == ["a", "d", "i"]


def test_formulas_may_be_numbered():
    text = (
        "a <math>x</math> is {{b|<math>y</math>}} <math>y</math><ref><math>z</math></ref> <MATH>z</MATH>.\n"
        "== <math>x</math> ==\n:<math>w</math>\n<math>v</math>, <chem>c</chem> <math/> u"
    )
    assert sections_of(text, ENGLISH, reading=Reading(formulas=True)) == [
        Section("abstract", "a formula_1 is formula_2 formula_3."),
        Section("formula_1", "formula_5\nformula_6, u"),
    ]
    assert paragraphs_of(text, ENGLISH, Reading(formulas=True)) == [
        "a formula_1 is formula_2 formula_3.",
        "formula_6, u",
    ]
    assert paragraphs_of(text, ENGLISH) == ["a is.", "u"]


def test_empty_texts_are_kept():
    assert sections_of("", ENGLISH) == [Section("abstract", "")]
    assert sections_of("==A==\n\n== B ==\n{{reflist}}", ENGLISH) == [
        Section("abstract", ""),
        Section("A", ""),
        Section("B", ""),
    ]


def test_local_names_of_namespaces():
    text = "[[Файл:а.jpg|мини|б]]в [[Категория:Г]][[Беседа:Д]] [[category:е]]"
    assert sections_of(text, BULGARIAN)[0].text == "в category:е"


def test_namespaces_travel_to_other_processes():
    assert pickle.loads(pickle.dumps(ENGLISH)) == ENGLISH


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("a may be\n{{disambiguation}}", True),
        ("{{ Disambiguation |geo}}", True),
        ("{{Template:disambiguation\n|geo}}", True),
        ("{{Geo_dis}}", True),
        ("{{disambiguation needed}}", False),
        ("<!-- {{disambiguation}} --> a", False),
        ("<nowiki>{{disambiguation}}</nowiki> a", False),
        ("<nowiki><!--</nowiki> {{disambiguation}}", True),
        ("<!-- <nowiki> --> {{disambiguation}} </nowiki>", True),
        ("</nowiki> <nowiki> {{disambiguation}}", True),
        ("disambiguation", False),
    ],
)
def test_disambiguation_pages_are_told_by_their_template(wikitext, expected):
    assert is_disambiguation(wikitext, {"disambiguation", "geo dis"}) is expected


WORDS = (
    "{{ }} {{{ }}} {{a| [[ ]] [ ] | || |- |} {| ! == = === <ref> </ref> <ref/> <ref <nowiki> </nowiki> <!-- --> <div> "
    "</div> <div <br/> <table> </table> <code> </code> <poem> </poem> <gallery> </gallery> <math> </math> '' ''' ''''' "
    "' * # : ; ---- __TOC__ http://a [http://a [[File:a [[a|b]] {{a}} [[:Category: [[fr: & &amp; &#91; &lt; "
    "&#123; -{ }- -{zh-cn:a;zh-tw:b}- [a] ( ) , . <|endoftext|> <|endof text|> ~~~~ \x01 \x04 é ― 漢"
)
PIECES = st.sampled_from(WORDS.split())
MARKUP = st.lists(PIECES | st.sampled_from(["\n", " ", "\n\n", "a", "b "]) | st.text(max_size=3), max_size=60).map(
    "".join
)


@settings(max_examples=1500, deadline=None)
@given(MARKUP)
def test_any_input_gives_clean_sections(wikitext):
    sections = sections_of(wikitext, ENGLISH)
    assert sections[0].title == "abstract"
    for section in sections:
        assert not [mark for mark in RESIDUE if mark in f"{section.title}\f{section.text}".lower()]
        assert "\n" not in section.title
        assert all(line and line == line.strip() for line in section.text.split("\n") if section.text)
    assert sections_of(wikitext, ENGLISH) == sections
    chinese(wikitext, "zh-tw")
    assert is_disambiguation(wikitext, {"a"}) in (True, False)


UNITS = (
    "{{",
    "{{a|",
    "[[",
    "[[a|",
    "[[File:a|b ",
    "[http://a ",
    "<ref>",
    "<ref ",
    "<div ",
    "<table>",
    "<poem>",
    "<!--",
    "<nowiki>",
)
UNITS += (
    "[[File:a|[[b]] ",
    "[[File:a|[[File:b|c]] ",
    "[http://a''b",
    "[{{a}} b ",
    "{{a}}\n! b\n",
    "=={{a|b}}",
    "[[a''",
)
UNITS += (
    "'''a ",
    "{|\n|a\n",
    "==a\n",
    "({{a}}, ",
    "&",
    "((",
    "[[a|b [",
    "<code>\n",
    " ",
    "=",
    "\n= a =",
    "{{{",
    "}}",
)
UNITS += ("-{", "-{zh:a;", "-{zh:a; ", "-{a=>", "[[a|[b] ")


def last_text(wikitext):
    """Of the page that an expression gives, the last section's text, by a process that is ended after a minute.

    A quadratic step would take hours; the linear ones take seconds.
    """
    code = (
        "from textcritic.corpora.wikipedia.wikitext import *\n"
        "spaces = Namespaces(frozenset(['file']), frozenset(['category']), frozenset())\n"
        f"text = {wikitext}\n"
        "sections_of(text, spaces, reading=Reading(language='zh', variant='zh-tw'))\n"
        "is_disambiguation(text, ['x'])\n"
        "print(sections_of(text, spaces)[-1].text[-1000:])\n"
    )
    run = subprocess.run([forking_python(), "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return run.stdout.strip()


@pytest.mark.parametrize("unit", UNITS)
def test_a_megabyte_of_unclosed_markup_takes_seconds(unit):
    text = last_text(f"{unit!r} * {1_000_000 // len(unit)} + '\\n== B ==\\nc'")
    assert text.endswith("c") or unit == "<!--"


@pytest.mark.parametrize(
    ("opening", "closing"), [("{{a|", "}}"), ("[[a|", "]]"), ("{|\n", "\n|}\n"), ("<table>", "</table>")]
)
def test_a_megabyte_of_deep_nesting_takes_seconds(opening, closing):
    depth = 1_000_000 // len(opening + closing)
    text = last_text(f"'a\\n' + {opening!r} * {depth} + 'b' + {closing!r} * {depth} + '\\nc'")
    assert text.split() in (["a", "c"], ["a", "b", "c"])


def test_what_repeats_a_group_and_does_not_give_it_back_is_an_atomic_group():
    """Python before 3.11.5 matches `(...)*+` wrongly where the group backtracks (python/cpython#106052)."""
    sources = list(Path(textcritic.__file__).parent.rglob("*.py"))
    assert len(sources) > 100
    assert [path for path in sources if re.search(r"\)[*+?]\+", path.read_text(encoding="utf-8"))] == []
