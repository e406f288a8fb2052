"""What upstream recorded in a worldseq document, read leniently: figures in long form, nonsense as `unreadable`.

Here: verifications, rewards beside them, and a summary's totals. Not here: whether they agree with anything. A figure
that is absent makes no row; one that is null makes a row that says so.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from assets.sources.json_text import shown
from assets.sources.scalars import as_number
from assets.vocabulary import PRIMARY_METRICS

Reading = tuple[float | None, str, str | None]
"""`value`, `value_type` and `text` of a row of `recorded_values`."""
Figure = tuple[str, float | None, str, str | None]
"""`field`, and its reading. Plain tuples: there are a dozen per attempt."""

_NULL: Reading = (None, "null", None)
_TRUE: Reading = (1.0, "boolean", None)
_FALSE: Reading = (0.0, "boolean", None)
_ABSENT = object()


class Recorded(NamedTuple):
    """A recorded verification: its gist, null where it is absent or unreadable, and every figure."""

    verified: bool | None
    eligible: bool | None
    primary_value: float | None
    primary_metric: str | None
    figures: list[Figure]


NOTHING = Recorded(None, None, None, None, [])


def verification(value: Any) -> Recorded:
    """The verification of a document; absent or null records nothing."""
    if value is None:
        return NOTHING
    if not isinstance(value, dict):
        return Recorded(None, None, None, None, [("verification", *_unreadable(value))])
    figures: list[Figure] = []
    verified = _add(figures, "verified", value.get("verified", _ABSENT), _boolean)
    eligible = _add(figures, "eligible", value.get("eligible", _ABSENT), _boolean)
    primary_value = _add(figures, "primary_value", value.get("primaryValue", _ABSENT), _number)
    primary_metric = _add(figures, "primary_metric", value.get("primaryMetric", _ABSENT), _metric)
    business = _objects(figures, "business", value.get("business"))
    metrics = _objects(figures, "net_assets_closing", business.get("metrics"))
    _add(figures, "net_assets_closing", metrics.get("netAssetsCents", _ABSENT), _number)
    _add_rows(figures, "constraints", value.get("constraints"), "id", _CONSTRAINT)
    _add_rows(figures, "objectives", business.get("objectives"), "id", _OBJECTIVE)
    _add_rows(figures, "assessments", value.get("assessments"), "questionId", _ASSESSMENT)
    return Recorded(
        None if verified[0] is None else bool(verified[0]),
        None if eligible[0] is None else bool(eligible[0]),
        primary_value[0],
        primary_metric[2] if primary_metric[1] == "text" else None,
        figures,
    )


def harbor(value: dict[str, Any]) -> Recorded:
    """A Harbor result: its verification at the top level, and the reward beside it."""
    recorded = verification(value)
    _add(recorded.figures, "reward", value["reward"], _number)
    return recorded


def side_file(value: dict[str, Any]) -> list[Figure]:
    """The figures of a `reward.json`, where flags are 0 or 1."""
    figures: list[Figure] = []
    for field in ("reward", "eligible", "verified", "primary_value", "reward_transform_version"):
        _add(figures, field, value.get(field, _ABSENT), _flag)
    return figures


def totals(value: dict[str, Any]) -> list[Figure]:
    """The totals of a summary: `summary:completed`, `summary:failed`, and `summary:usage.<path>` per leaf."""
    figures: list[Figure] = []
    _add(figures, "summary:completed", value.get("completed", _ABSENT), _number)
    _add(figures, "summary:failed", value.get("failed", _ABSENT), _number)
    if value.get("usage") is not None:
        _add_leaves(figures, "summary:usage", value["usage"])
    return figures


def _add(figures: list[Figure], field: str, value: Any, reading: Callable[[Any], Reading]) -> Reading:
    if value is _ABSENT:
        return _NULL
    read = reading(value)
    figures.append((field, *read))
    return read


def _add_leaves(figures: list[Figure], field: str, value: Any) -> None:
    if isinstance(value, dict):
        for name, member in value.items():
            _add_leaves(figures, f"{field}.{name}", member)
    else:
        _add(figures, field, value, _flag)


def _objects(figures: list[Figure], field: str, value: Any) -> dict[str, Any]:
    """The object, or an empty one; nonsense in its place is a figure of its own."""
    if isinstance(value, dict):
        return value
    if value is not None:
        figures.append((field, *_unreadable(value)))
    return {}


class _Column(NamedTuple):
    """A figure of each row of a list: its prefix, the members that may hold it, and its reading."""

    prefix: str
    members: tuple[str, ...]
    reading: Callable[[Any], Reading]


def _add_rows(figures: list[Figure], part: str, rows: Any, key: str, columns: Sequence[_Column]) -> None:
    """The figures of a list's rows, named by their key; a row without a readable one is nonsense at its position."""
    if not isinstance(rows, list):
        if rows is not None:
            figures.append((part, *_unreadable(rows)))
        return
    for position, row in enumerate(rows):
        name = row.get(key) if isinstance(row, dict) else None
        if not isinstance(name, str):
            figures.append((f"{columns[0].prefix}[{position}]", *_unreadable(row)))
            continue
        for prefix, members, reading in columns:
            value = _first(row, members)
            if value is not _ABSENT:
                figures.append((f"{prefix}{name}", *reading(value)))


def _first(row: dict[str, Any], members: tuple[str, ...]) -> Any:
    found = _ABSENT
    for member in members:
        value = row.get(member, _ABSENT)
        if value is not _ABSENT:
            if value is not None:
                return value
            found = None
    return found


def _boolean(value: Any) -> Reading:
    if value is True:
        return _TRUE
    if value is False:
        return _FALSE
    return _NULL if value is None else _unreadable(value)


def _number(value: Any) -> Reading:
    if value is None:
        return _NULL
    number = as_number(value)
    return _unreadable(value) if number is None else (number, "number", None)


def _flag(value: Any) -> Reading:
    return _boolean(value) if isinstance(value, bool) else _number(value)


def _metric(value: Any) -> Reading:
    if isinstance(value, str) and value in PRIMARY_METRICS:
        return None, "text", value
    return _NULL if value is None else _unreadable(value)


def _unreadable(value: Any) -> Reading:
    return None, "unreadable", shown(value)


_CONSTRAINT = (_Column("constraint:", ("satisfied",), _boolean),)
_OBJECTIVE = (
    _Column("objective:", ("satisfied",), _boolean),
    _Column("objective_worst:", ("worstValue",), _number),
)
_ASSESSMENT = (
    _Column("score:", ("score",), _number),
    _Column("error:", ("groupBrier", "normalizedSquaredError"), _number),
)
