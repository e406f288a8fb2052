"""A small reader of the report's HTML, for tests: elements with their parents, and the text that people read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Self

UNREAD = {"style", "svg"}
VOID = {"meta", "link", "br", "img", "input", "rect", "line", "path", "circle"}


@dataclass
class Element:
    """An element with its parts in order: elements and text."""

    tag: str
    attributes: dict[str, str]
    parent: Self | None = None
    parts: list[Self | str] = field(default_factory=list)

    def elements(self, *tags: str) -> Iterator[Self]:
        """The elements below, in order of the document; of these tags, where some are named."""
        for part in self.parts:
            if not isinstance(part, str):
                if not tags or part.tag in tags:
                    yield part
                yield from part.elements(*tags)

    def text(self) -> str:
        """The text below without that of pictures, spaces and line breaks as one space."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, str):
                yield part
            elif part.tag not in UNREAD:
                yield from part._texts()

    def within(self, *tags: str) -> bool:
        """Whether the element is one of these, or below one."""
        return self.tag in tags or (self.parent is not None and self.parent.within(*tags))

    def by_id(self, name: str) -> Self:
        """The one element of that id."""
        (found,) = [element for element in self.elements() if element.attributes.get("id") == name]
        return found

    def rows(self) -> list[list[str]]:
        """The text of a table's cells."""
        return [[cell.text() for cell in row.elements("th", "td")] for row in self.elements("tr")]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.place = Element("#document", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.place)
        self.place.parts.append(element)
        if tag not in VOID:
            self.place = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.place.tag == tag, f"<{self.place.tag}> ends as </{tag}>"
        assert self.place.parent is not None
        self.place = self.place.parent

    def handle_data(self, data: str) -> None:
        self.place.parts.append(data)


def read(html: str) -> Element:
    """The document; every element must end in its place."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.place is reader.root, f"<{reader.place.tag}> does not end"
    return reader.root
