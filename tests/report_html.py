"""A strict reader of pages, for the tests of the report."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "use"}


class Page(HTMLParser):
    """Collects what the tests ask about and insists that tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.loads, self.ids, self.data = [], [], [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.append((tag, named))
        self.ids += [named["id"]] if "id" in named else []
        self.loads += [named[key] for key in ("src", "href", "xlink:href", "data", "poster", "action") if key in named]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.data[self.open[-1]] = self.data.get(self.open[-1], "") + data
