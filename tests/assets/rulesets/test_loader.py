"""Rule sets: digests are pinned, malformed files are refused, and exactly one rule set is current."""

from pathlib import Path

import pytest

from assets.rulesets.loader import RuleSetError, active, after_predecessors, as_table, current, load_all, parse, select

# A released rule set never changes: a bump is a new file. Never edit a digest here, add one.
RELEASED = {"v1": "6584a228851b839b20edce4aaba1d6a1cbe493e060ca11bbd89160f65b098a29"}

V1 = (Path(__file__).parents[3] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")


def v1_with(**changes: str) -> str:
    text = V1
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def team(folder: Path, *names: str, predecessor: str = "v1") -> Path:
    for name in names:
        head = f'id = "{name}"\npredecessor = "{predecessor}"'
        (folder / f"{name}.toml").write_text(V1.replace('id = "v1"', head), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("id_", "digest"), RELEASED.items())
def test_a_released_rule_set_never_changes(id_: str, digest: str) -> None:
    assert load_all()[id_].digest == digest


def test_every_rule_set_of_the_project_is_pinned() -> None:
    assert {rules.id for rules in load_all().values() if rules.status != "candidate"} == set(RELEASED)


def test_the_digest_ignores_the_status_and_nothing_else() -> None:
    original = parse(V1, "v1")
    assert parse(V1.replace('"active"', '"retired"'), "v1").digest == original.digest
    assert parse(V1.replace("player_calls = 1024", "player_calls = 1023"), "v1").digest != original.digest


def test_a_file_that_is_not_utf8_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "v2.toml").write_bytes(b"id = '\xff'")
    with pytest.raises(RuleSetError, match=r"v2\.toml: not UTF-8 at byte 6"):
        load_all(tmp_path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v2.toml").mkdir()
    with pytest.raises(RuleSetError, match=r"v2\.toml: cannot be read: Is a directory"):
        load_all(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("player_calls = 1024", "player_calls = 1024.5", r"gameplay.player_calls"),
        ("player_calls = 1024", "player_cals = 1024", r"player_cals"),
        ("player_calls = 1024\n", "", r"player_calls"),
        ('status = "active"', 'status = "live"', r"status"),
        ('id = "v1"', 'id = "V 1|"', r"\$\.id"),
        ('id = "v1"', 'id = "v1\\n"', r"\$\.id"),
        ("scale = 100.0", "scale = 0.0", r"scale"),
        (
            "scale = 100.0",
            "scale = inf",
            r"v1\.toml: primary.\w+.scale = inf is not a finite number",
        ),
        ("center = 1.0", "center = nan", r"reward.center = nan is not a finite number"),
        ("id =", "id = =", r"v1\.toml"),
    ],
)
def test_a_malformed_rule_set_is_refused_with_its_place(old: str, new: str, message: str) -> None:
    with pytest.raises(RuleSetError, match=message):
        parse(V1.replace(old, new), "v1.toml")


def test_a_teams_rule_sets_stand_beside_the_projects_own(tmp_path: Path) -> None:
    loaded = load_all(team(tmp_path, "v2-team"))
    assert list(loaded) == ["v1", "v2-team"]
    assert active(loaded) == ["v1", "v2-team"]
    assert current(loaded).id == "v2-team"


def test_a_chain_of_predecessors_leaves_the_last_one_current(tmp_path: Path) -> None:
    team(tmp_path, "v2")
    team(tmp_path, "v3", predecessor="v2")
    assert current(load_all(tmp_path)).id == "v3"


def test_two_heads_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match="v2, v3"):
        current(load_all(team(tmp_path, "v2", "v3")))


def test_a_team_cannot_shadow_a_rule_set(tmp_path: Path) -> None:
    (tmp_path / "v1.toml").write_text(V1, encoding="utf-8")
    with pytest.raises(RuleSetError, match="v1 exists already"):
        load_all(tmp_path)


def test_the_file_is_named_by_its_id(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(V1.replace('id = "v1"', 'id = "v9"'), encoding="utf-8")
    with pytest.raises(RuleSetError, match=r"v9\.toml"):
        load_all(tmp_path)


def test_a_predecessor_must_exist(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match="v0 does not exist"):
        load_all(team(tmp_path, "v2", predecessor="v0"))


def test_a_directory_of_rule_sets_must_exist(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match="no such directory"):
        load_all(tmp_path / "nowhere")


def test_an_unknown_rule_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RuleSetError, match="no rule set 'v9'; there are v1"):
        select(load_all(), ["v9"])


def test_each_comes_once_and_after_its_predecessor(tmp_path: Path) -> None:
    team(tmp_path, "v10", predecessor="v9")
    team(tmp_path, "v9", predecessor="v1")
    known = load_all(team(tmp_path, "v2-rc.1", predecessor="v1"))
    for given, expected in [
        (["v10", "v9", "v1"], ["v1", "v9", "v10"]),
        (["v2-rc.1", "v10", "v1", "v10"], ["v1", "v2-rc.1", "v10"]),
        (["v10", "v2-rc.1"], ["v10", "v2-rc.1"]),
        ([], []),
    ]:
        assert [rules.id for rules in after_predecessors(select(known, given))] == expected


def test_predecessors_in_a_circle_end(tmp_path: Path) -> None:
    team(tmp_path, "v3", predecessor="v2")
    known = load_all(team(tmp_path, "v2", predecessor="v3"))
    assert [rules.id for rules in after_predecessors(known.values())] == ["v1", "v3", "v2"]


def test_every_constant_is_listed() -> None:
    constants = dict(as_table(load_all()["v1"]))
    assert constants["gameplay.player_calls"] == 1024
    assert constants["primary.recovery.scale"] == 100.0
    assert len(constants) == 47
