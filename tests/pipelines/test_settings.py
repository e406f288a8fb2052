"""Where a setting comes from, and what a wrong one says."""

from pathlib import Path

import pytest

from pipelines.settings import Settings, SettingsError, child_environment, describe, load, secrets


def write(folder: Path, text: str, name: str = "scorehouse.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_defaults_are_embedded_and_absolute(tmp_path: Path) -> None:
    assert load({}, tmp_path) == Settings(
        artifacts=str(tmp_path / ".scorehouse/artifacts"),
        tables=str(tmp_path / ".scorehouse/tables"),
        dagster_home=tmp_path / ".scorehouse/dagster",
    )


def test_a_relative_working_directory_gives_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path(load({}, Path()).tables).is_absolute()


def test_environment_wins_over_file_wins_over_default(tmp_path: Path) -> None:
    write(tmp_path, 'artifacts = "s3://bucket/a/"\nmax_depth = 32\nbatch_bytes = 1000\n')
    settings = load({"SCOREHOUSE_MAX_DEPTH": "16"}, tmp_path)
    assert settings.artifacts == "s3://bucket/a"
    assert (settings.max_depth, settings.batch_bytes, settings.fetch_concurrency) == (16, 1000, 64)


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    assert load({"SCOREHOUSE_MAX_DEPTH": "", "SCOREHOUSE_CONFIG": ""}, tmp_path) == load({}, tmp_path)


def test_relative_paths_refer_to_the_file_or_to_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    write(tmp_path / "etc", 'tables = "tables"\nrulesets = "../rules"\n', "my.toml")
    settings = load({"SCOREHOUSE_CONFIG": "etc/my.toml", "SCOREHOUSE_ARTIFACTS": "./in"}, tmp_path)
    assert settings.tables == str(tmp_path / "etc/tables")
    assert settings.rulesets == tmp_path / "rules"
    assert settings.artifacts == str(tmp_path / "in")


def test_dagster_home_of_the_environment_wins(tmp_path: Path) -> None:
    settings = load({"DAGSTER_HOME": "/srv/dagster", "SCOREHOUSE_DAGSTER_HOME": "/elsewhere"}, tmp_path)
    assert settings.dagster_home == Path("/srv/dagster")


def test_patterns_come_from_the_file_and_the_environment(tmp_path: Path) -> None:
    write(tmp_path, '[patterns]\nworldseq = "ws/{date}/x"\nharbor = "jobs/{date}"\n')
    settings = load({"SCOREHOUSE_PATTERNS_HARBOR": "h/{date}"}, tmp_path)
    assert settings.patterns == {"worldseq": "ws/{date}/x", "harbor": "h/{date}"}


def test_aws_variables_are_kept_and_never_shown(tmp_path: Path) -> None:
    settings = load({"AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "x", "OTHER": "y"}, tmp_path)
    assert settings.aws == {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "x"}
    assert "hush" not in repr(settings)
    assert "aws" not in describe(settings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('artefacts = "x"', "unknown key 'artefacts'; did you mean artifacts?"),
        ("MAX_DEPTH = 3", "did you mean max_depth?"),
        ('[patterns]\nworldsec = "x"', "did you mean patterns.worldseq?"),
        ("max_depth = 1.5", "max_depth = 1.5 is not accepted: it must be a whole number from 1 to 500"),
        ("max_depth = true", "a whole number"),
        ("max_object_bytes = 0", "a whole number"),
        ("artifacts = 3", "a path or an fsspec URL"),
        ('patterns = "x"', "unknown key 'patterns'"),
        ('[patterns]\nworldseq = "{date}/{date}"', "at most once"),
        ('[patterns]\nworldseq = "x-{date}/y"', "as a segment of its own"),
        ('[patterns]\nworldseq = "/x"', "a path below the artifact store"),
        ("max_depth = ", "not TOML"),
        ('log_format = "JSON"', "log_format = 'JSON' is not accepted: it must be text or json"),
        ("log_format = true", "it must be text or json"),
        ('webhok = "x"', "unknown key 'webhok'; did you mean webhook?"),
    ],
)
def test_a_wrong_file_names_the_file_and_the_key(tmp_path: Path, text: str, expected: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load({}, tmp_path)
    assert str(path) in str(caught.value)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("SCOREHOUSE_TABELS", "x", "unknown environment variable SCOREHOUSE_TABELS; did you mean SCOREHOUSE_TABLES?"),
        ("SCOREHOUSE_CONFIGS", "x", "did you mean SCOREHOUSE_CONFIG?"),
        ("SCOREHOUSE_MAX_DEPTH", "-1", "SCOREHOUSE_MAX_DEPTH = '-1' is not accepted"),
        ("SCOREHOUSE_MAX_DEPTH", "٣", "is not accepted"),
        ("SCOREHOUSE_CONFIG", "absent.toml", "there is no file"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, name: str, value: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({name: value}, tmp_path)
    assert expected in str(caught.value)


def test_credentials_in_a_url_are_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="without credentials") as caught:
        load({"SCOREHOUSE_TABLES": "s3://key:hush@bucket/x"}, tmp_path)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["hush", "ftp://h/hush", "https:///hush", "https://h:port/hush", "https://[::1/hush", "https://h/hush it", "", 3],
)
def test_a_wrong_webhook_is_refused_and_not_repeated(tmp_path: Path, address: object) -> None:
    write(tmp_path, f"webhook = {address!r}")
    with pytest.raises(SettingsError, match=r"webhook = \*{3} is not accepted: it must be an http://") as caught:
        load({}, tmp_path)
    assert "hush" not in str(caught.value)


def test_the_webhook_is_never_shown(tmp_path: Path) -> None:
    write(tmp_path, 'webhook = "https://hooks.example/hush"')
    settings = load({}, tmp_path)
    assert settings.webhook == "https://hooks.example/hush"
    assert "hush" not in repr(settings)
    assert "webhook" not in describe(settings)
    assert secrets({}, settings) == ("https://hooks.example/hush",)
    assert secrets({"SCOREHOUSE_WEBHOOK": "https://other/hush"}) == ("https://other/hush",)


def test_a_file_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "scorehouse.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="cannot be read"):
        load({}, tmp_path)


def test_secrets_are_the_credentials_longest_first() -> None:
    environ = {
        "AWS_ACCESS_KEY_ID": "abc",
        "AWS_SECRET_ACCESS_KEY": "abcdef",
        "AWS_SESSION_TOKEN": "",
        "AWS_REGION": "x",
    }
    assert secrets(environ) == ("abcdef", "abc")


def test_a_child_comes_to_the_same_settings(tmp_path: Path) -> None:
    settings = load({"SCOREHOUSE_DAGSTER_HOME": "d", "X": "y"}, tmp_path)
    environ = child_environment(settings, {"SCOREHOUSE_DAGSTER_HOME": "d", "X": "y"})
    assert environ == {"SCOREHOUSE_DAGSTER_HOME": "d", "X": "y", "DAGSTER_HOME": str(tmp_path / "d")}
    assert load(environ, tmp_path) == settings
