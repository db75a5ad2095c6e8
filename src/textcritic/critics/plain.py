"""Two measures of any text that need no fit: runs of words that are said again, and texts that end in the middle."""

from textcritic.measures.own import left_out, measure


@measure(title="Repeated 4-grams", unit="%", statistic="ratio", means="runs of 4 words that the document had before")
def repeated(document):
    words = document.text.lower().split()
    if len(words) < 5:
        return left_out("fewer than 5 words")
    runs = [tuple(words[i : i + 4]) for i in range(len(words) - 3)]
    return (len(runs) - len(set(runs)), len(runs))


@measure(title="Unfinished", unit="%", means="documents that do not end with a sentence mark")
def unfinished(document):
    text = document.text.rstrip().rstrip("\"')”’]")
    return left_out("empty") if not text else 100.0 * (text[-1] not in ".!?…。！？")
