"""What upstream recorded in a worldseq document, read leniently: figures in long form, nonsense as `unreadable`.

Here: verifications, rewards beside them, and a summary's totals. Not here: whether they agree with anything.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from assets.sources.json_text import shown
from assets.sources.json_types import as_number
from assets.vocabulary import PRIMARY_METRICS

ERRORS = ("groupBrier", "normalizedSquaredError")


class Figure(NamedTuple):
    """One recorded figure: a row of `recorded_values` but for the document."""

    field: str
    value: float | None
    value_type: str
    text: str | None


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
        return Recorded(None, None, None, None, [_unreadable("verification", value)])
    figures = [
        *_present(value, ("eligible", "verified"), _boolean),
        *_named(value, {"primaryValue": "primary_value"}, _number),
        *_named(value, {"primaryMetric": "primary_metric"}, _metric),
    ]
    gist = {figure.field: figure for figure in figures}
    figures += _constraints(value.get("constraints"))
    figures += _business(value.get("business"))
    figures += _assessments(value.get("assessments"))
    return Recorded(
        _truth(gist.get("verified")),
        _truth(gist.get("eligible")),
        gist["primary_value"].value if "primary_value" in gist else None,
        gist["primary_metric"].text
        if "primary_metric" in gist and gist["primary_metric"].value_type == "text"
        else None,
        figures,
    )


def harbor(value: dict[str, Any]) -> Recorded:
    """A Harbor result: its verification at the top level, and the reward beside it."""
    recorded = verification(value)
    recorded.figures.extend(_present(value, ("reward",), _number))
    return recorded


def side_file(value: dict[str, Any]) -> list[Figure]:
    """The figures of a `reward.json`, where flags are 0 or 1."""
    return _present(value, ("reward", "eligible", "verified", "primary_value", "reward_transform_version"), _flag)


def totals(value: dict[str, Any]) -> list[Figure]:
    """The totals of a summary: `summary:completed`, `summary:failed`, and `summary:usage.<path>` per leaf."""
    figures = _named(value, {"completed": "summary:completed", "failed": "summary:failed"}, _number)
    return [*figures, *_leaves("summary:usage", value.get("usage"))]


def _leaves(field: str, value: Any) -> Iterable[Figure]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(f"{field}.{name}", member)
    elif value is not None:
        yield _flag(field, value)


def _constraints(value: Any) -> Iterable[Figure]:
    for name, row in _rows("constraints", "constraint:", value, "id"):
        yield from _named(row, {"satisfied": name}, _boolean) if isinstance(row, dict) else [_unreadable(name, row)]


def _business(value: Any) -> Iterable[Figure]:
    if value is None:
        return
    if not isinstance(value, dict):
        yield _unreadable("business", value)
        return
    for name, row in _rows("objectives", "objective:", value.get("objectives"), "id"):
        if isinstance(row, dict):
            yield from _named(row, {"satisfied": name}, _boolean)
            yield from _named(row, {"worstValue": name.replace("objective:", "objective_worst:", 1)}, _number)
        else:
            yield _unreadable(name, row)
    metrics = value.get("metrics")
    if isinstance(metrics, dict):
        yield from _named(metrics, {"netAssetsCents": "net_assets_closing"}, _number)
    elif metrics is not None:
        yield _unreadable("net_assets_closing", metrics)


def _assessments(value: Any) -> Iterable[Figure]:
    for name, row in _rows("assessments", "score:", value, "questionId"):
        if not isinstance(row, dict):
            yield _unreadable(name, row)
            continue
        yield from _named(row, {"score": name}, _number)
        recorded = [kind for kind in ERRORS if kind in row]
        given = [kind for kind in recorded if row[kind] is not None]
        if recorded:
            yield _number(name.replace("score:", "error:", 1), row[(given or recorded)[0]])


def _rows(part: str, prefix: str, value: Any, key: str) -> Iterable[tuple[str, Any]]:
    """Rows with the name of their figure; a list that is none is one unreadable row under the part's own name."""
    if isinstance(value, list):
        for position, row in enumerate(value):
            identifier = row.get(key) if isinstance(row, dict) else None
            yield f"{prefix}{identifier}" if isinstance(identifier, str) else f"{prefix}[{position}]", row
    elif value is not None:
        yield part, value


def _present(value: dict[str, Any], names: Iterable[str], figure: Any) -> list[Figure]:
    return [figure(name, value[name]) for name in names if name in value]


def _named(value: dict[str, Any], fields: dict[str, str], figure: Any) -> list[Figure]:
    return [figure(field, value[name]) for name, field in fields.items() if name in value]


def _boolean(field: str, value: Any) -> Figure:
    if isinstance(value, bool):
        return Figure(field, float(value), "boolean", None)
    return _null(field) if value is None else _unreadable(field, value)


def _number(field: str, value: Any) -> Figure:
    number = as_number(value)
    if number is not None:
        return Figure(field, number, "number", None)
    return _null(field) if value is None else _unreadable(field, value)


def _flag(field: str, value: Any) -> Figure:
    return _boolean(field, value) if isinstance(value, bool) else _number(field, value)


def _metric(field: str, value: Any) -> Figure:
    if isinstance(value, str) and value in PRIMARY_METRICS:
        return Figure(field, None, "text", value)
    return _null(field) if value is None else _unreadable(field, value)


def _null(field: str) -> Figure:
    return Figure(field, None, "null", None)


def _unreadable(field: str, value: Any) -> Figure:
    return Figure(field, None, "unreadable", shown(value))


def _truth(figure: Figure | None) -> bool | None:
    return None if figure is None or figure.value is None else bool(figure.value)
