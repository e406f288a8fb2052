"""Settings: the only reader of the environment and of `scorehouse.toml`.

Here: which keys there are, their defaults, where a value comes from (environment before file before default) and what
is accepted. Not here: what any setting does. Nothing is read at import; `load` is called once, by whoever starts a
process.
"""

import difflib
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assets.vocabulary import FOLDERS

FILE_NAME = "scorehouse.toml"
PREFIX = "SCOREHOUSE_"
CONFIG = f"{PREFIX}CONFIG"
DATE_PLACEHOLDER = "{date}"
LOG_FORMATS = ("text", "json")
WEBHOOK = "webhook"

MIB = 1024 * 1024
SHORTEST_RETENTION = 7  # days: no reader or writer takes so long
_CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", f"{PREFIX}{WEBHOOK.upper()}")


class SettingsError(ValueError):
    """A setting is unknown or has a wrong value; the message is one line: which, where, and what is accepted."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be configured. Local paths are absolute; what may hold a credential stays out of the repr."""

    artifacts: str  # artifact store: absolute path or fsspec URL
    tables: str  # root of the Delta tables: absolute path or fsspec URL
    dagster_home: Path
    rulesets: Path | None = None  # directory of further rule sets
    max_object_bytes: int = 64 * MIB  # an object of exactly this size is still read
    max_depth: int = 64  # nesting of a JSON document
    fetch_concurrency: int = 64  # requests to the artifact store under way at once
    batch_bytes: int = 32 * MIB  # artifact bytes held in memory per batch
    look_back_days: int = 7  # days before yesterday that the nightly run lands again
    log_format: str = "text"  # or json: a line on stderr for everything that happens in a run
    webhook: str | None = field(default=None, repr=False)  # URL that is told of failed runs; it may hold a token
    retention_days: int = 30  # how long every table can be read as it was
    patterns: Mapping[str, str] = field(default_factory=dict)  # source -> path pattern, for other layouts
    aws: Mapping[str, str] = field(default_factory=dict, repr=False)  # the AWS_* variables as they stand


def load(environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Settings:
    """The settings of this process.

    Args:
        environ: the environment; default `os.environ`.
        cwd: folder that relative paths and the defaults refer to; default the working directory. Relative paths in
            `scorehouse.toml` refer to the file's own folder.

    Raises:
        SettingsError: an unknown key or variable, a wrong value, or an unreadable file.
    """
    environ = os.environ if environ is None else environ
    cwd = (Path.cwd() if cwd is None else cwd).absolute()
    home = cwd / ".scorehouse"
    values: dict[str, Any] = {
        "artifacts": str(home / "artifacts"),
        "tables": str(home / "tables"),
        "dagster_home": home / "dagster",
        **_from_file(environ, cwd),
        **_from_environment(environ, cwd),
    }
    if environ.get("DAGSTER_HOME"):
        values["dagster_home"] = _directory(environ["DAGSTER_HOME"], cwd)
    patterns = {source: values.pop(key) for source, key in _PATTERN_KEYS.items() if key in values}
    aws = {name: value for name, value in environ.items() if name.startswith("AWS_")}
    return Settings(**values, patterns=patterns, aws=aws)


class _Rejected(Exception):  # noqa: N818 - internal: becomes a SettingsError that says where the value stands
    """A value is not accepted; the message says what is. A secret value is not shown."""

    def __init__(self, accepted: str, *, secret: bool = False) -> None:
        super().__init__(accepted)
        self.secret = secret


def _location(value: Any, base: Path) -> str:
    if not isinstance(value, str) or not value:
        raise _Rejected("a path or an fsspec URL such as s3://bucket/prefix")
    scheme, separator, rest = value.partition("://")
    if separator:
        if "@" in rest.partition("/")[0]:
            raise _Rejected("an fsspec URL without credentials: those are AWS_* variables", secret=True)
        return f"{scheme}://{rest.rstrip('/') or rest}"
    return str(_directory(value, base))


def _directory(value: Any, base: Path) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise _Rejected("the path of a directory")
    return Path(os.path.normpath(base / Path(value).expanduser()))


def _whole(low: int, high: int) -> Callable[[Any, Path], int]:
    def parse(value: Any, _: Path) -> int:
        accepted = f"a whole number from {low} to {high}"
        if isinstance(value, str):
            text = value.strip().replace("_", "")
            value = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(high)) else None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _Rejected(accepted)
        return value

    return parse


def _one_of(*accepted: str) -> Callable[[Any, Path], str]:
    def parse(value: Any, _: Path) -> str:
        if not isinstance(value, str) or value not in accepted:
            raise _Rejected(" or ".join(accepted))
        return value

    return parse


def _web_address(value: Any, _: Path) -> str:
    try:
        parts = urlsplit(value) if isinstance(value, str) and value.isprintable() and " " not in value else None
        named = parts is not None and parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        named = False
    if not named:
        raise _Rejected("an http:// or https:// URL", secret=True)
    return str(value)


def _pattern(value: Any, _: Path) -> str:
    if not isinstance(value, str) or not value or value.startswith("/"):
        raise _Rejected("a path below the artifact store")
    if value.strip("/").split("/").count(DATE_PLACEHOLDER) != value.count(DATE_PLACEHOLDER):
        raise _Rejected(f"a path with {DATE_PLACEHOLDER} as a segment of its own")
    if value.count(DATE_PLACEHOLDER) > 1:
        raise _Rejected(f"a path with {DATE_PLACEHOLDER} at most once")
    return value


_PATTERN_KEYS = {folder: f"patterns.{folder}" for folder in FOLDERS}
_KEYS: dict[str, Callable[[Any, Path], Any]] = {
    "artifacts": _location,
    "tables": _location,
    "dagster_home": _directory,
    "rulesets": _directory,
    "max_object_bytes": _whole(1, 2**40),
    "max_depth": _whole(1, 500),
    "fetch_concurrency": _whole(1, 10_000),
    "batch_bytes": _whole(1, 2**40),
    "look_back_days": _whole(0, 10_000),
    "log_format": _one_of(*LOG_FORMATS),
    WEBHOOK: _web_address,
    "retention_days": _whole(SHORTEST_RETENTION, 36_500),
    **dict.fromkeys(_PATTERN_KEYS.values(), _pattern),
}
_VARIABLES = {PREFIX + key.translate(str.maketrans(".-", "__")).upper(): key for key in _KEYS}


def _from_file(environ: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    named = environ.get(CONFIG)
    path = cwd / named if named else cwd / FILE_NAME
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named:
            raise SettingsError(f"{CONFIG}: there is no file {path}") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not TOML: {error}") from error
    values = {}
    for key, value in _flatten(content):
        if key not in _KEYS:
            raise SettingsError(f"{path}: unknown key {key!r}{_nearest(key, _KEYS)}")
        values[key] = _parse(key, value, path.parent, f"{path}: {key}")
    return values


def _flatten(content: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for key, value in content.items():
        if key == "patterns" and isinstance(value, dict):
            yield from ((f"{key}.{source}", pattern) for source, pattern in value.items())
        else:
            yield key, value


def _from_environment(environ: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    values = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name == CONFIG or not environ[name]:
            continue  # an empty variable counts as unset, as container tools pass them
        if name not in _VARIABLES:
            raise SettingsError(f"unknown environment variable {name}{_nearest(name, [*_VARIABLES, CONFIG])}")
        values[_VARIABLES[name]] = _parse(_VARIABLES[name], environ[name], cwd, name)
    return values


def _parse(key: str, value: Any, base: Path, where: str) -> Any:
    try:
        return _KEYS[key](value, base)
    except _Rejected as error:
        shown = "***" if error.secret else repr(value)
        raise SettingsError(f"{where} = {shown} is not accepted: it must be {error}") from None


def _nearest(name: str, known: Iterable[str]) -> str:
    by_folded = {candidate.casefold(): candidate for candidate in known}
    nearest = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.0)[0]
    return f"; did you mean {by_folded[nearest]}?"


def describe(settings: Settings) -> dict[str, Any]:
    """Every setting but the credentials, for logs and `--json`."""
    return {item.name: getattr(settings, item.name) for item in fields(settings) if item.repr}


def secrets(environ: Mapping[str, str] | None = None, settings: Settings | None = None) -> tuple[str, ...]:
    """The credentials of the environment and the settings, to be struck out of what is printed; the longest first."""
    environ = os.environ if environ is None else environ
    found = {value for name, value in environ.items() if name in _CREDENTIALS and value}
    if settings and settings.webhook:
        found.add(settings.webhook)
    return tuple(sorted(found, key=len, reverse=True))


def redacted(text: str, settings: Settings | None = None) -> str:
    """The text without the credentials of the environment and the settings."""
    for secret in secrets(settings=settings):
        text = text.replace(secret, "***")
    return text


def child_environment(settings: Settings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a process that must come to the same settings, Dagster included."""
    return {**(os.environ if environ is None else environ), "DAGSTER_HOME": str(settings.dagster_home)}
