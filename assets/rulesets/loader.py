"""Rule sets as typed, frozen objects with a digest of their content.

Here: the shape of a rule set, reading the files, and which of several is current. Not here: what the constants do; that
is in the kernels, which take a rule set as an argument.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Positive = Annotated[float, Meta(gt=0)]
NonNegative = Annotated[float, Meta(ge=0)]
Probability = Annotated[float, Meta(ge=0, le=1)]
# A rule set id is a partition value and a path segment everywhere: plain ASCII, short.
RuleSetId = Annotated[str, Meta(pattern=r"^[a-z0-9]+([._-][a-z0-9]+)*\Z", max_length=40)]

Status = Literal["candidate", "active", "retired"]
Level = Literal["family", "company", "task", "scenario", "attempt"]


class RuleSetError(ValueError):
    """A rule set file is malformed, shadows another, or the set of them contradicts itself."""


class Comparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How computed doubles meet a limit."""

    slack: NonNegative


class Gameplay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The standard gameplay budget; equal passes."""

    accepted_decisions: Annotated[int, Meta(ge=0)]
    player_calls: Annotated[int, Meta(ge=0)]
    elapsed_seconds: NonNegative
    token_budget: bool


class Assessment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Constants of the assessment scores."""

    probability_sum_tolerance: NonNegative
    brier_factor: Positive


class Primary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One primary metric: the unit of its value and the scale of the reward transform, in that unit."""

    unit: str
    scale: Positive


class PrimaryMetrics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every primary metric that a task can declare."""

    net_cash: Primary
    net_assets: Primary
    operating_margin: Primary
    active_paying_accounts: Primary
    retained_accounts: Primary
    recovery: Primary

    def items(self) -> list[tuple[str, Primary]]:
        """(metric, its unit and scale), in the order of the file."""
        return [(name, getattr(self, name)) for name in self.__struct_fields__]


class Reward(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Harbor utility: center + spread * x / (scale + |x|) for an eligible attempt."""

    kind: str
    transform_version: int
    center: float
    spread: float
    ineligible: float


class Staged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The staged reward of work-environment packs."""

    kind: str
    recorded_kind: str
    decimals: Annotated[int, Meta(ge=0, le=12)]
    weight_sum_tolerance: NonNegative
    pass_threshold: Probability


class Benchmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Constants of the benchmark metrics."""

    pass_k_powers_of: Annotated[int, Meta(ge=2)]
    pass_k_multiples_of: Annotated[int, Meta(ge=1)]
    unavailable_warning: Probability


class Harbor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Harbor trials: the exception types that void a reward."""

    kind: str
    voiding_exceptions: tuple[str, ...]


class Reconciliation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a recorded and a recomputed figure agree."""

    relative_tolerance: NonNegative
    staged_reward_decimals: Annotated[int, Meta(ge=0, le=12)]


class Campaign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Constants of the campaign comparisons."""

    resampled_levels: tuple[Level, ...]
    resamples: Annotated[int, Meta(ge=1)]
    confidence: Annotated[float, Meta(gt=0, lt=1)]
    require_t_interval: bool
    minimum_companies: Annotated[int, Meta(ge=1)]
    mde_z_alpha: Positive
    mde_z_power: Positive


class RuleSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """Every constant of the rules, under one id.

    `digest` is the SHA-256 of the content without `status`: activating or retiring a rule set changes no result.
    """

    id: RuleSetId
    status: Status
    title: str
    predecessor: RuleSetId | None = None
    comparison: Comparison
    gameplay: Gameplay
    assessment: Assessment
    primary: PrimaryMetrics
    reward: Reward
    staged: Staged
    benchmark: Benchmark
    harbor: Harbor
    reconciliation: Reconciliation
    campaign: Campaign

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of everything but `status`."""
        content = {name: value for name, value in msgspec.to_builtins(self).items() if name != "status"}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


def parse(text: str, origin: str) -> RuleSet:
    """One rule set from the text of its file.

    Raises:
        RuleSetError: not TOML, an unknown or missing key, or a value of the wrong type or range; names `origin`.
    """
    try:
        rules = msgspec.convert(tomllib.loads(text), RuleSet)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise RuleSetError(f"{origin}: {error}") from error
    for name, value in as_table(rules):
        if isinstance(value, float) and not math.isfinite(value):
            raise RuleSetError(f"{origin}: {name} = {value} is not a finite number")
    return rules


def load_all(directory: Path | None = None) -> dict[str, RuleSet]:
    """The project's own rule sets and those of a team's directory, by id, in order of id.

    Raises:
        RuleSetError: a file is unreadable or malformed, its name is not its id, an id stands twice, or a predecessor is
            unknown.
    """
    loaded: dict[str, RuleSet] = {}
    for folder in (files(__package__), directory):
        if folder is None:
            continue
        for file in _rule_files(folder):
            rules = parse(_text(file), str(file))
            if file.name != f"{rules.id}.toml":
                raise RuleSetError(f"{file}: the file's name must be its id, {rules.id}.toml")
            if rules.id in loaded:
                raise RuleSetError(f"{file}: rule set {rules.id} exists already; give this one another id")
            loaded[rules.id] = rules
    for rules in loaded.values():
        if rules.predecessor is not None and rules.predecessor not in loaded:
            raise RuleSetError(f"rule set {rules.id}: its predecessor {rules.predecessor} does not exist")
    return dict(sorted(loaded.items()))


def _text(file: Traversable | Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise RuleSetError(f"{file}: cannot be read: {error.strerror or type(error).__name__}") from None
    except UnicodeDecodeError as error:
        raise RuleSetError(f"{file}: not UTF-8 at byte {error.start}") from None


def _rule_files(folder: Traversable | Path) -> list[Traversable | Path]:
    if not folder.is_dir():
        raise RuleSetError(f"{folder}: no such directory of rule sets")
    return sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)


def active(rulesets: Mapping[str, RuleSet]) -> list[str]:
    """The ids of the active rule sets, in order."""
    return [rules.id for rules in rulesets.values() if rules.status == "active"]


def current(rulesets: Mapping[str, RuleSet]) -> RuleSet:
    """The active rule set that is no active one's predecessor, directly or through others.

    Raises:
        RuleSetError: there is none, or more than one.
    """
    superseded: set[str] = set()
    for start in active(rulesets):
        seen = {start}
        ancestor = rulesets[start].predecessor
        while ancestor is not None:
            if ancestor in seen:
                raise RuleSetError(f"rule set {start}: its predecessors form a circle through {ancestor}")
            seen.add(ancestor)
            superseded.add(ancestor)
            ancestor = rulesets[ancestor].predecessor
    candidates = [id_ for id_ in active(rulesets) if id_ not in superseded]
    if len(candidates) != 1:
        raise RuleSetError(f"exactly one rule set must be current, found {', '.join(candidates) or 'none'}")
    return rulesets[candidates[0]]


def select(rulesets: Mapping[str, RuleSet], ids: Iterable[str]) -> list[RuleSet]:
    """The named rule sets, in the given order.

    Raises:
        RuleSetError: an id is unknown; the message lists the known ones.
    """
    chosen = []
    for id_ in ids:
        if id_ not in rulesets:
            raise RuleSetError(f"no rule set {id_!r}; there are {', '.join(rulesets) or 'none'}")
        chosen.append(rulesets[id_])
    return chosen


def after_predecessors(rule_sets: Iterable[RuleSet]) -> list[RuleSet]:
    """The rule sets, each once and after its predecessor where that is among them; else in the given order."""
    waiting = {rules.id: rules for rules in rule_sets}
    ordered: list[RuleSet] = []

    def take(id_: str | None) -> None:
        if id_ in waiting:
            rules = waiting.pop(id_)
            take(rules.predecessor)
            ordered.append(rules)

    for id_ in list(waiting):
        take(id_)
    return ordered


def as_table(rules: RuleSet) -> list[tuple[str, Any]]:
    """Every constant as (dotted name, value), in the order of the file."""

    def walk(prefix: str, value: Any) -> Iterable[tuple[str, Any]]:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from walk(f"{prefix}.{name}" if prefix else name, inner)
        else:
            yield prefix, value

    return list(walk("", msgspec.to_builtins(rules)))
