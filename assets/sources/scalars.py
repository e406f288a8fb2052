"""Values that sources share: identifiers, times, numbers. Not here: where they stand in a document."""

import datetime as dt
import math
import re
import unicodedata
from typing import Any, NamedTuple

MAX_IDENTIFIER = 200


def is_identifier(text: str) -> bool:
    """Whether the text may identify something."""
    if 0 < len(text) <= MAX_IDENTIFIER:
        return text.isprintable() or not any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in text)
    return False


class Instant(NamedTuple):
    """A recorded time: microseconds since 1970 in UTC, or the text where it has no offset."""

    microseconds: int | None
    text: str | None


NO_TIME = Instant(None, None)
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|(60))(?:\.\d+)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?",
    re.ASCII,
)
_PLAIN = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", re.ASCII).fullmatch
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


def instant(text: str | None) -> Instant:
    """The time that the text tells; digits beyond microseconds are dropped, a leap second is the second after.

    Raises:
        ValueError: it is not RFC 3339, or no such time exists.
    """
    if text is None:
        return NO_TIME
    if _PLAIN(text):
        return Instant(int(dt.datetime.fromisoformat(text).timestamp()) * 1_000_000, None)
    form = _RFC3339.fullmatch(text)
    if form is None:
        raise ValueError("not an RFC 3339 time")
    leap, offset = form.groups()
    aware = text if offset else f"{text}Z"
    try:
        moment = dt.datetime.fromisoformat((aware.replace(":60", ":59", 1) if leap else aware).upper())
        moment = moment.astimezone(dt.UTC)
        if leap:
            moment = moment.replace(microsecond=0) + dt.timedelta(seconds=1)
    except OverflowError:
        raise ValueError("no such year") from None
    if leap and offset and moment.time() != dt.time():
        raise ValueError("a leap second ends a UTC day")
    microseconds = (moment - _EPOCH) // _MICROSECOND
    return Instant(microseconds, None) if offset else Instant(None, text)


def as_number(value: Any) -> float | None:
    """The value as a double; null where it is no number or beyond a double."""
    if type(value) is float:
        return value
    if type(value) is not int:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
