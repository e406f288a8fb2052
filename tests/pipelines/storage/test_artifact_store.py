"""The artifact store on a local disk and in memory."""

import datetime as dt
import os
from pathlib import Path

import fsspec
import pytest

from pipelines.storage import local_objects
from pipelines.storage.artifact_store import ArtifactStore, Fetched, Level, ObjectInfo
from pipelines.storage.errors import StoreConfigurationError
from pipelines.storage.objects import microseconds

MODIFIED_NS = 1_795_910_400_123_456_789  # 2026-11-29 00:00:00.123456789 UTC


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "artifacts"
    folder.mkdir()
    return folder


@pytest.fixture
def store(root: Path) -> ArtifactStore:
    return ArtifactStore(str(root))


def put(root: Path, key: str, content: bytes = b"{}") -> Path:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_objects_are_listed_with_what_the_disk_knows(root: Path, store: ArtifactStore) -> None:
    path = put(root, "worldseq/2026-11-29/ü #%.json", b"12345")
    os.utime(path, ns=(MODIFIED_NS, MODIFIED_NS))

    (found,) = store.list_objects()

    assert found == ObjectInfo(
        uri=f"file://{root}/worldseq/2026-11-29/ü #%.json",
        key="worldseq/2026-11-29/ü #%.json",
        etag=f"{MODIFIED_NS:x}-5-{path.stat().st_ino:x}",
        size_bytes=5,
        modified_us=MODIFIED_NS // 1000,
        utf8=True,
    )


def test_the_listing_is_sorted_and_bounded_by_folders(root: Path, store: ArtifactStore) -> None:
    keys = ["worldseq/b/2.json", "worldseq/a.json", "worldseq/b/1.json", "worldseq2/c.json", "top.json"]
    for key in keys:
        put(root, key)

    assert [info.key for info in store.list_objects()] == sorted(keys)
    below = ["worldseq/a.json", "worldseq/b/1.json", "worldseq/b/2.json"]
    assert [info.key for info in store.list_objects("worldseq")] == below
    assert store.list_objects("worldseq") == store.list_objects("worldseq/")
    assert ArtifactStore(f"file://{root}").list_objects() == store.list_objects()


def test_one_level(root: Path, store: ArtifactStore) -> None:
    for key in ("worldseq/2026-11-30/a.json", "worldseq/2026-11-29/a.json", "worldseq/z.json", "worldseq/y.json"):
        put(root, key)

    level = store.list_level("worldseq/")

    assert level.folders == ["2026-11-29", "2026-11-30"]
    assert [info.key for info in level.objects] == ["worldseq/y.json", "worldseq/z.json"]
    assert store.list_level("absent") == Level([], [])
    assert store.list_level().folders == ["worldseq"]


@pytest.mark.parametrize("prefix", ["absent", "absent/deeper", "file.json", "../artifacts", ".", "worldseq//x"])
def test_what_is_no_folder_below_the_root_is_empty(root: Path, store: ArtifactStore, prefix: str) -> None:
    put(root, "file.json")
    put(root, "worldseq/x/a.json")

    assert store.list_objects(prefix) == []


def test_links_are_not_followed(root: Path, store: ArtifactStore, tmp_path: Path) -> None:
    outside = put(tmp_path, "outside/secret.json")
    put(root, "worldseq/real.json")
    (root / "worldseq/file.json").symlink_to(outside)
    (root / "worldseq/folder").symlink_to(outside.parent)
    (root / "linked").symlink_to(root / "worldseq")
    (root / "worldseq/dangling.json").symlink_to(root / "nowhere")
    (root / "worldseq/loop").symlink_to(root)

    assert [info.key for info in store.list_objects()] == ["worldseq/real.json"]
    assert store.list_objects("worldseq/folder") == []
    assert store.list_objects("linked") == []
    assert store.list_level() == Level(["worldseq"], [])


def test_a_root_that_is_a_link_is_what_it_points_to(root: Path, tmp_path: Path) -> None:
    put(root, "a.json")
    (tmp_path / "link").symlink_to(root)

    assert [info.key for info in ArtifactStore(str(tmp_path / "link")).list_objects()] == ["a.json"]


def test_pipes_and_sockets_are_no_objects(root: Path, store: ArtifactStore) -> None:
    os.mkfifo(root / "pipe.json")

    assert store.list_objects() == []


def test_names_that_are_not_utf8_are_shown_escaped(root: Path, store: ArtifactStore) -> None:
    (root / os.fsdecode(b"fol\xffder")).mkdir()
    for name in (b"a\xfe.json", b"fol\xffder/\xc3\xbc.json"):
        (root / os.fsdecode(name)).touch()

    found = store.list_objects()

    assert [(info.key, info.utf8) for info in found] == [("a\\xfe.json", False), ("fol\\xffder/ü.json", False)]
    assert found[0].uri == f"file://{root}/./a\\xfe.json"
    (odd,) = store.list_level().folders
    assert [info.key for info in store.list_objects(odd)] == ["fol\\xffder/ü.json"]


def test_no_two_names_share_a_uri(root: Path, store: ArtifactStore) -> None:
    names = (b"a\xff.json", rb"a\xff.json", b"\xff\\xff.json", b"\xff\xff.json", rb"\xff\xff.json")
    for name in names:
        (root / os.fsdecode(name)).touch()

    found = store.list_objects()

    assert len({info.uri for info in found}) == len(names)
    assert sum(info.utf8 for info in found) == len([name for name in names if name.isascii()])


@pytest.mark.parametrize(
    ("nanoseconds", "year"), [(-(10**30), 1), (-(2**62), 1823), (0, 1970), (MODIFIED_NS, 2026), (10**30, 9999)]
)
def test_any_time_that_a_disk_gives_is_a_time(nanoseconds: int, year: int) -> None:
    modified = ObjectInfo("uri", "key", "etag", 0, microseconds(nanoseconds)).last_modified
    assert (modified.year, modified.tzinfo) == (year, dt.UTC)


def test_the_etag_follows_the_content(root: Path, store: ArtifactStore) -> None:
    path = put(root, "a.json", b"1")
    before = store.list_objects()
    assert store.list_objects() == before

    replacement = put(root, "b.json", b"2")
    os.utime(replacement, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns))
    replacement.rename(path)

    assert store.list_objects()[0].etag != before[0].etag


@pytest.mark.parametrize("url", ["", "file://"])
def test_a_missing_root_is_an_error(tmp_path: Path, url: str) -> None:
    store = ArtifactStore(f"{url}{tmp_path}/nowhere")
    for look in (store.check, store.list_objects, store.list_level, lambda: store.list_objects("worldseq")):
        with pytest.raises(StoreConfigurationError, match=r"nowhere: cannot list: No such file or directory; check"):
            look()


def test_a_root_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreConfigurationError, match="cannot list: Not a directory"):
        ArtifactStore(str(put(tmp_path, "file"))).list_objects()


def test_a_folder_that_cannot_be_listed_is_an_error(
    root: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "worldseq/closed/a.json")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if "closed" in path:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(local_objects.os, "scandir", refusing)
    with pytest.raises(StoreConfigurationError, match="Permission denied"):
        store.list_objects()


def test_a_folder_that_goes_while_it_is_listed_is_gone(
    root: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "worldseq/going/a.json")
    put(root, "worldseq/b.json")
    scandir = os.scandir

    def vanishing(path: str) -> object:
        if "going" in path:
            raise FileNotFoundError(2, "No such file or directory", path)
        return scandir(path)

    monkeypatch.setattr(local_objects.os, "scandir", vanishing)
    assert [info.key for info in store.list_objects()] == ["worldseq/b.json"]


def test_bytes_are_fetched_in_the_order_asked_for(root: Path, store: ArtifactStore) -> None:
    contents = {"a": b"", "b": bytes(range(256)) * 10_000, "c": b"\xef\xbb\xbf{}"}
    for key, content in contents.items():
        put(root, key, content)

    found = store.list_objects()[::-1]

    assert store.fetch(found) == [Fetched(info.uri, contents[info.key]) for info in found]
    assert store.fetch([]) == []


def test_what_happens_to_one_file_does_not_stop_the_others(root: Path, store: ArtifactStore, tmp_path: Path) -> None:
    for key in ("folder", "gone", "grown", "grown-large", "link", "shrunk", "stays"):
        put(root, key, b"12345")
    found = store.list_objects()
    for key in ("folder", "gone", "link"):
        (root / key).unlink()
    (root / "folder").mkdir()
    (root / "link").symlink_to(put(tmp_path, "outside"))
    put(root, "grown", b"1234567")
    put(root, "grown-large", b"123456789")
    put(root, "shrunk", b"1")

    outcomes = {info.key: outcome for info, outcome in zip(found, store.fetch(found, limit_bytes=8), strict=True)}

    assert {key: outcome.content for key, outcome in outcomes.items() if outcome.content is not None} == {
        "grown": b"1234567",
        "shrunk": b"1",
        "stays": b"12345",
    }
    assert {key: outcome.reason for key, outcome in outcomes.items() if outcome.reason} == {
        "folder": "unreadable",
        "gone": "vanished",
        "grown-large": "too_large",
        "link": "unreadable",
    }
    assert outcomes["gone"].detail == "No such file or directory"


def test_a_forbidden_file(root: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "a.json")
    found = store.list_objects()

    def refusing(path: str, _flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(local_objects.os, "open", refusing)
    assert store.fetch(found) == [Fetched(found[0].uri, None, "forbidden", "Permission denied")]


@pytest.mark.parametrize(("size", "reason"), [(8, None), (9, "too_large")])
def test_exactly_the_limit_is_read(root: Path, store: ArtifactStore, size: int, reason: str | None) -> None:
    put(root, "a.json", bytes(size))

    (outcome,) = store.fetch(store.list_objects(), limit_bytes=8)

    assert outcome.reason == reason
    assert (outcome.content is None) == (reason is not None)


def test_a_root_that_went_is_not_a_store_of_vanished_objects(root: Path, store: ArtifactStore) -> None:
    path = put(root, "a.json")
    found = store.list_objects()
    path.unlink()
    root.rmdir()

    with pytest.raises(StoreConfigurationError, match="cannot fetch: No such file or directory"):
        store.fetch(found)


def test_in_memory() -> None:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    store = ArtifactStore("memory://artifacts")
    with pytest.raises(StoreConfigurationError, match="memory://artifacts: cannot list: No such folder"):
        store.list_objects()
    memory.pipe_file("/artifacts/worldseq/2026-11-29/a.json", b"12345")
    memory.pipe_file("/artifacts/worldseq/b.json", b"1")
    memory.pipe_file("/artifactsx/c.json", b"1")

    found = store.list_objects("worldseq")

    assert [(info.uri, info.key, info.size_bytes) for info in found] == [
        ("memory://artifacts/worldseq/2026-11-29/a.json", "worldseq/2026-11-29/a.json", 5),
        ("memory://artifacts/worldseq/b.json", "worldseq/b.json", 1),
    ]
    assert found[0].last_modified.tzinfo is dt.UTC
    assert store.list_level("worldseq") == Level(["2026-11-29"], [found[1]])
    assert store.list_objects("absent") == []
    memory.rm_file("/artifacts/worldseq/b.json")
    assert [(outcome.content, outcome.reason) for outcome in store.fetch(found)] == [
        (b"12345", None),
        (None, "vanished"),
    ]
    assert store.fetch(found[:1], limit_bytes=4)[0].reason == "too_large"
    assert store.list_objects("worldseq")[0].etag == found[0].etag
    memory.pipe_file("/artifacts/worldseq/2026-11-29/a.json", b"12345")
    assert store.list_objects("worldseq")[0].etag != found[0].etag
