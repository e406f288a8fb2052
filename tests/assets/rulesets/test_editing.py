"""Edits of rule set files: one value changes, every other character stays, and a look-alike is never taken for it."""

import tomllib
from pathlib import Path

import pytest

from assets.rulesets.editing import rule_set_id, successor, with_status
from assets.rulesets.loader import RuleSetError, parse

V1 = (Path(__file__).parents[3] / "assets" / "rulesets" / "v1.toml").read_text(encoding="utf-8")
TABLES = V1[V1.index("[comparison]") :]
HEAD = '# Rule set v1. Frozen.\n\nid = "v1"\nstatus = "active"\ntitle = "The first"\n\n'
V3 = V1.replace('id = "v1"', 'id = "v3"\npredecessor = "v1"')


def made(text: str, **given: str) -> str:
    return successor(text, "v1.toml", **{"predecessor": "v1", "id_": "v2", "title": "Fewer calls", **given})


def test_a_new_rule_set_is_its_predecessor_but_for_its_head() -> None:
    text = made(V1)
    assert text[text.index("[comparison]") :] == TABLES
    assert text[: text.index("[comparison]")] == (
        "# Rule set v2. Immutable once active: a change of any value is a new file that names this one as its "
        'predecessor.\n\nid = "v2"\npredecessor = "v1"\nstatus = "candidate"\ntitle = "Fewer calls"\n\n'
    )


def test_a_predecessor_that_is_named_is_replaced_in_its_place() -> None:
    text = made(V3, predecessor="v3", id_="v4")
    assert text == V3.replace('"v3"\npredecessor = "v1"', '"v4"\npredecessor = "v3"').replace(
        '"active"', '"candidate"'
    ).replace("The first published rules", "Fewer calls")


@pytest.mark.parametrize(
    ("comment", "renamed"),
    [
        ("# Rule set v1. Frozen.", "# Rule set v2. Frozen."),
        ("# The RULE SET v1, of ours", "# The RULE SET v2, of ours"),
        ("# v1", "# v2"),
        ("# v1: what we began with", "# v2: what we began with"),
        ("# Rule set v1.1 is another; so is rule set v1-a.", "# Rule set v1.1 is another; so is rule set v1-a."),
        ("# Calls as measured in v1 of the game", "# Calls as measured in v1 of the game"),
        ("", ""),
    ],
)
def test_the_leading_comment_speaks_of_the_new_one(comment: str, renamed: str) -> None:
    below = HEAD[HEAD.index("\nid") :] + "# Rule set v1 began so.\n" + TABLES
    assert made(comment + "\n" + below).startswith(renamed + '\n\nid = "v2"\n')
    assert "# Rule set v1 began so." in made(comment + "\n" + below)


def test_an_id_that_is_a_word_does_not_rewrite_prose() -> None:
    text = made(V1.replace("v1", "a"), predecessor="a")
    assert text.startswith("# Rule set v2. Immutable once active: a change of any value is a new file that")


@pytest.mark.parametrize(
    "title", ["", 'a "quoted" one', "back\\slash", "two\nlines", "\x1b[31m\x7f", "Märkte", "'''", "a # b"]
)
def test_any_title(title: str) -> None:
    assert tomllib.loads(made(V1, title=title))["title"] == title


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ('status = "active"', 'status = "retired"'),
        ("status = 'active'", 'status = "retired"'),
        ('status="active"# since May', 'status="retired"# since May'),
        ('\t"status"  =  "active"   # was "candidate"', '\t"status"  =  "retired"   # was "candidate"'),
        ('\'status\' = """active"""', "'status' = \"retired\""),
        ('status = "act\\u0069ve"', 'status = "retired"'),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_status_changes(line: str, edited: str, newline: str) -> None:
    text = V1.replace('status = "active"', line).replace("\n", newline)
    found = with_status(text, "v1.toml", "retired")
    assert found == text.replace(line, edited)
    assert parse(found, "").digest == parse(V1, "").digest


def test_a_file_without_a_last_newline_keeps_none() -> None:
    assert with_status(V1.rstrip("\n"), "", "retired").endswith("mde_z_power = 0.841621")
    assert made(V1.rstrip("\n")).endswith("mde_z_power = 0.841621")


def test_line_endings_are_kept_and_taken_over() -> None:
    text = made(V1.replace("\n", "\r\n"))
    assert text.count("\n") == text.count("\r\n") == V1.count("\n") + 1
    assert text.replace("\r\n", "\n") == made(V1)


LOOK_ALIKE = '"""\nstatus = "active"\nid = "v1"\ntitle = "x"\n[comparison]\n"""'


def test_a_look_alike_in_a_string_is_not_the_key() -> None:
    text = f'title = {LOOK_ALIKE}\nid = "v1"\nstatus = "active"\n{TABLES}'
    assert with_status(text, "", "retired") == f'title = {LOOK_ALIKE}\nid = "v1"\nstatus = "retired"\n{TABLES}'
    assert made(text).startswith('title = "Fewer calls"\nid = "v2"\npredecessor = "v1"\nstatus = "candidate"\n')


def test_a_look_alike_in_a_comment_or_a_table_is_not_the_key() -> None:
    text = V1.replace("id = ", '# status = "active"\nid = ', 1) + '\n[other]\nstatus = "active"\nid = "v1"\n'
    assert with_status(text, "", "retired") == text.replace('\nstatus = "active"', '\nstatus = "retired"', 1)


def test_a_key_written_otherwise_is_left_to_the_person() -> None:
    text = V1.replace('status = "active"', '"stat\\u0075s" = "active"')
    with pytest.raises(RuleSetError, match=r'v1\.toml: found no line to set status on; write it as status = "…"'):
        with_status(text, "v1.toml", "retired")


@pytest.mark.parametrize(
    "id_",
    [
        "",
        "V2",
        "v 2",
        "v2\n",
        "../v2",
        "/v2",
        "v2/",
        "-v2",
        "v2-",
        "v..2",
        "v2|",
        "v2\0",
        "\uff562",
        "v" * 41,
        "--help",
    ],
)
def test_what_is_no_id(id_: str) -> None:
    with pytest.raises(RuleSetError, match="is no rule set id: a-z and 0-9"):
        rule_set_id(id_)


@pytest.mark.parametrize("id_", ["v2", "2", "v2.1", "team_a-v2", "v2.toml", "v" * 40])
def test_what_is_an_id(id_: str) -> None:
    assert rule_set_id(id_) == id_
    assert parse(made(V1, id_=id_), "").id == id_
