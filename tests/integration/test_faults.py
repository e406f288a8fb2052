"""Faults between Scorehouse and a real S3 server: some change nothing, too many are one line and no change."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assets.contract import column
from assets.tables import TABLES
from pipelines.build import table_store
from pipelines.settings import Settings
from pipelines.storage import retries
from pipelines.storage import tables as tables_module
from pipelines.storage.artifact_store import ArtifactStore
from pipelines.storage.errors import StoreError, StoreUnavailableError
from pipelines.storage.options import StoreOptions, store_options
from pipelines.storage.reports import Reports
from pipelines.storage.tables import Tables
from tests.faulty_proxy import KINDS, LETHAL, REFUSING, Faults, FaultyProxy, running_proxy
from tests.integration.hostile import full, text
from tests.integration.test_run_on_s3 import scorehouse
from tests.integration.warehouses import VOLATILE, differing, everything, ran, rows, settings, write
from tests.pipelines.storage.storage_contracts import NEXT_DAY, Attempts, day
from tests.pipelines.storage.storage_contracts import rows as rows_of
from tests.pipelines.storage.storage_races import ROUNDS, Place, Writer, overwrite
from tests.s3 import S3Server

TENTH = 0.1
ARTIFACT, TABLE_FILES = r"GET /[^?]*/store/", r"[/=]tables(/|%2F)"
LOG, LISTING = r"PUT .*/_delta_log/", r"GET .*list-type=2"
OF_READING = ("500 before", "503", "429", "reset before", "cut")  # a request that is lost changes nothing
MOMENTS = (12, 16)  # commits of a run that pass before everything fails


def store() -> dict[str, bytes]:
    """A day of a small artifact store."""
    good = {f"worldseq/2026-11-28/{number}.json": text(full(f"a{number}")) for number in range(12)}
    return good | {"worldseq/2026-11-28/broken.json": b"{"}


@pytest.fixture(scope="module")
def proxy(s3_server: S3Server) -> Iterator[FaultyProxy]:
    with running_proxy(s3_server.endpoint) as running:
        yield running


@pytest.fixture(autouse=True)
def no_faults_yet(proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy.inject(Faults())
    monkeypatch.setattr(retries, "LONGEST_WAIT_SECONDS", 0.05)  # what a person would not want to wait for here


class Warehouse(NamedTuple):
    """A warehouse in a bucket, through the proxy and without it."""

    through: Settings
    beside: Settings


def warehouse(folder: Path, server: S3Server, proxy: FaultyProxy, bucket: str) -> Warehouse:
    server.client.create_bucket(Bucket=bucket)
    for key, content in store().items():
        server.put(bucket, f"store/{key}", content)
    places = {"artifacts": f"s3://{bucket}/store", "tables": f"s3://{bucket}/tables"}
    through = settings(folder, **places, aws={**server.variables(), "AWS_ENDPOINT_URL": proxy.endpoint})
    return Warehouse(through, settings(folder, **places, aws=server.variables()))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    """The tables of a run without faults."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write(folder, store())
    ran(settings(folder))
    return everything(settings(folder))


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory, s3_server: S3Server, proxy: FaultyProxy) -> Warehouse:
    """A warehouse that was run twice while a tenth of the requests met a fault."""
    found = warehouse(tmp_path_factory.mktemp("spoilt"), s3_server, proxy, "spoilt")
    proxy.inject(Faults(TENTH))
    assert ran(found.through).fetched == len(store())
    once = proxy.counts()
    assert once.hit("GET") == set(KINDS)
    assert once.hit("PUT")
    assert ran(found.through).fetched == 0
    assert proxy.counts().injected.total() > once.injected.total()
    return found


def state(where: Settings) -> dict[str, tuple[int, pl.DataFrame]]:
    """The version and the rows of every table."""
    tables = table_store(where)
    return {name: (tables.version(contract), rows(where, name)) for name, contract in TABLES.items()}


@pytest.mark.slow
def test_a_run_with_a_fault_in_every_tenth_request_gives_the_same_tables(
    spoilt: Warehouse, expected: dict[str, pl.DataFrame]
) -> None:
    assert differing(expected, everything(spoilt.beside)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("", "scorehouse: s3://spoilt/"),
        (ARTIFACT, "s3://spoilt/store: cannot fetch: "),
        (TABLE_FILES, "cannot read"),
    ],
    ids=["everything", "artifacts", "tables"],
)
def test_where_every_request_fails_a_run_is_one_clear_line_and_changes_nothing(
    where: str, told: str, spoilt: Warehouse, proxy: FaultyProxy, s3_server: S3Server, tmp_path: Path
) -> None:
    s3_server.put("spoilt", "store/worldseq/2026-11-28/late.json", text(full("late")))
    before = state(spoilt.beside)
    proxy.inject(Faults(1, LETHAL, where))
    environment = {
        **spoilt.through.aws,
        "SCOREHOUSE_ARTIFACTS": spoilt.through.artifacts,
        "SCOREHOUSE_TABLES": spoilt.through.tables,
    }

    result = scorehouse(environment, tmp_path, "run")

    assert result.returncode == 1
    *progress, line = result.stderr.splitlines()
    assert [told for told in progress if not told.startswith("landing")] == []
    assert line.startswith("scorehouse: ")
    assert told in line
    assert "try again later" in line
    assert len(line) < 400
    proxy.inject(Faults())
    after = state(spoilt.beside)
    assert {name: version for name, (version, _) in after.items()} == {name: of for name, (of, _) in before.items()}
    assert [name for name in TABLES if not after[name][1].equals(before[name][1])] == []


@pytest.mark.slow
def test_a_run_that_loses_the_store_midway_leaves_whole_commits_and_the_next_completes_it(
    tmp_path: Path, s3_server: S3Server, proxy: FaultyProxy, expected: dict[str, pl.DataFrame]
) -> None:
    found = warehouse(tmp_path, s3_server, proxy, "midway")
    tables = table_store(found.beside)
    filled = []
    for moment in MOMENTS:
        proxy.inject(Faults(1, LETHAL, LOG, after=moment, onward=True))
        with pytest.raises(Exception) as caught:  # noqa: PT011 - Dagster wraps what the store raised
            ran(found.through)
        assert any(isinstance(cause, (StoreError, OSError)) for cause in causes(caught.value))
        there = [name for name, contract in TABLES.items() if tables.exists(contract)]
        found_rows = {name: rows(found.beside, name, drop=VOLATILE) for name in there}
        filled.append(len([name for name, frame in found_rows.items() if frame.height]))
        assert [name for name, frame in found_rows.items() if frame.height and not frame.equals(expected[name])] == []
    assert filled[0] < filled[1] < len([name for name, frame in expected.items() if frame.height])
    proxy.inject(Faults())
    ran(found.through)
    assert differing(expected, everything(found.beside)) == []


def causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = getattr(error, "user_exception", None) or error.__cause__


class Bucket(NamedTuple):
    """A bucket with a table of two days, five artifacts and a report, through the proxy and without it."""

    url: str
    through: StoreOptions
    beside: StoreOptions

    @property
    def tables(self) -> Tables:
        return Tables(f"{self.url}/tables", self.through)

    @property
    def unspoilt(self) -> Tables:
        return Tables(f"{self.url}/tables", self.beside)

    @property
    def artifacts(self) -> ArtifactStore:
        return ArtifactStore(f"{self.url}/store", self.through)

    @property
    def reports(self) -> Reports:
        return Reports(f"{self.url}/tables", self.through)

    def stored(self) -> tuple[int, list[str]]:
        """The table's version, and whom its rows are of."""
        return self.unspoilt.version(Attempts), self.unspoilt.scan(Attempts).collect()["attempt_id"].to_list()

    def write(self, who: str) -> object:
        """Replace the rows of the first day."""
        return self.tables.replace(Attempts, rows_of(Attempts, day(), [who]), [day()])


@pytest.fixture
def bucket(s3_server: S3Server, s3_bucket: str, proxy: FaultyProxy) -> Bucket:
    url, variables = f"s3://{s3_bucket}", s3_server.variables()
    through = store_options(url, {**variables, "AWS_ENDPOINT_URL": proxy.endpoint})
    found = Bucket(url, through, store_options(url, variables))
    for number in range(5):
        s3_server.put(s3_bucket, f"store/worldseq/{number}.json", b"content" * 1000)
    both = pl.concat([rows_of(Attempts, day(), ["a"]), rows_of(Attempts, day(NEXT_DAY), ["b"])])
    found.unspoilt.replace(Attempts, both, [day(), day(NEXT_DAY)])
    found.reports.write("key", "v1", "report")
    return found


def reading(bucket: Bucket) -> dict[str, tuple[Callable[[], object], object]]:
    """Every way in which a store is read, and what is found there."""
    store, tables = bucket.artifacts, bucket.tables
    listed = store.list_objects()
    scanned = tables.scan(Attempts)
    absent = Tables(f"{bucket.url}/nothing", bucket.through)
    return {
        "check": (store.check, None),
        "list": (lambda: len(store.list_objects()), 5),
        "level": (lambda: store.list_level().folders, ["worldseq"]),
        "fetch": (lambda: {outcome.content for outcome in store.fetch(listed)}, {b"content" * 1000}),
        "report": (lambda: bucket.reports.read("key", "v1"), "report"),
        "exists": (lambda: tables.exists(Attempts), True),
        "absent": (lambda: absent.exists(Attempts), False),
        "version": (lambda: tables.version(Attempts), 1),
        "notes": (lambda: len(list(tables.notes(Attempts))), 2),
        "scan": (lambda: tables.scan(Attempts).collect().height, 2),
        "collect": (lambda: scanned.collect().height, 2),
    }


@pytest.mark.parametrize("kind", OF_READING)
def test_reading_gets_over_each_kind_of_fault(kind: str, bucket: Bucket, proxy: FaultyProxy) -> None:
    for name, (read, found) in reading(bucket).items():
        proxy.inject(Faults(1, [kind], most=2))
        assert read() == found, name
        assert proxy.counts().injected.total() == 2, name


@pytest.mark.parametrize("kind", OF_READING)
def test_what_cannot_be_read_is_never_absent_or_empty(
    kind: str, bucket: Bucket, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "LOOK_ATTEMPTS", 1)
    reads = reading(bucket)
    del reads["collect"], reads["scan"]  # Polars waits as long as it likes
    for name, (read, _) in reads.items():
        proxy.inject(Faults(1, [kind]))
        with pytest.raises(StoreUnavailableError):
            pytest.fail(f"{name}: {read()}")


@pytest.mark.parametrize("kind", OF_READING)
def test_listings_and_log_are_not_given_up_for_one_request(kind: str, bucket: Bucket, proxy: FaultyProxy) -> None:
    for pattern in (LISTING, r"GET .*/_last_checkpoint", r"GET .*/\d+\.json"):
        proxy.inject(Faults(1, [kind], pattern, most=2))
        assert len(list(bucket.tables.notes(Attempts))) == 2
        proxy.inject(Faults(1, [kind], LISTING, after=1, most=1))  # the listing of the history
        assert len(list(bucket.tables.notes(Attempts))) == 2


def test_each_page_of_a_listing_is_tried_again_by_itself(
    s3_server: S3Server, s3_bucket: str, bucket: Bucket, proxy: FaultyProxy
) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: s3_server.put(s3_bucket, f"store/pages/{number}.json"), range(1001)))
    proxy.inject(Faults(1, LETHAL, after=1, most=3))

    assert len(bucket.artifacts.list_objects("pages")) == 1001
    assert len([request for request in proxy.counts().requests if "continuation-token" not in request.target]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_that_meets_a_fault_happens_once(kind: str, bucket: Bucket, proxy: FaultyProxy) -> None:
    for where in (LOG, r"PUT .*\.parquet", LISTING):
        version, _ = bucket.stored()
        proxy.inject(Faults(1, [kind], where, most=1))
        bucket.write(where)
        assert proxy.counts().injected.total() == 1
        assert bucket.stored() == (version + 1, [where, "b"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_created_and_migrated_in_spite_of_a_fault(kind: str, bucket: Bucket, proxy: FaultyProxy) -> None:
    class Grown(Attempts):
        """With a column more."""

        remark: str = column("What is to be said", nullable=True)

        class Config(Attempts.Config):
            """As before."""

    made = Tables(f"{bucket.url}/made", bucket.through)
    for contract, version in ((Attempts, 0), (Grown, 1)):
        proxy.inject(Faults(1, [kind], LOG, most=1))
        made.ensure([contract])
        assert proxy.counts().injected.total() == 1
        assert made.version(contract) == version


@pytest.mark.parametrize("kind", LETHAL)
def test_commits_that_never_get_an_answer(
    kind: str, bucket: Bucket, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were applied are seen in the next snapshot; the others end in the store's failure."""
    monkeypatch.setattr(tables_module, "ATTEMPTS", 2)
    proxy.inject(Faults(1, [kind], LOG))
    if kind in REFUSING:
        with pytest.raises(StoreUnavailableError, match="cannot commit: the store failed"):
            bucket.write("new")
        assert bucket.stored() == (1, ["a", "b"])
    else:
        bucket.write("new")
        assert bucket.stored() == (2, ["new", "b"])


def test_a_store_that_fails_after_the_commit_has_published_a_whole_one(bucket: Bucket, proxy: FaultyProxy) -> None:
    """Everything fails from the commit on: its writer cannot know of it, but every reader sees all of it."""
    proxy.inject(Faults(1, ["500 after"], LOG, onward=True))

    with pytest.raises(StoreUnavailableError, match="cannot read the table"):
        bucket.write("new")

    assert bucket.stored() == (2, ["new", "b"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_written_in_spite_of_faults(kind: str, bucket: Bucket, proxy: FaultyProxy) -> None:
    proxy.inject(Faults(1, [kind], most=2))
    bucket.reports.write("key", "v2", f"report {kind}")
    assert bucket.reports.read("key", "v2") == f"report {kind}"


def test_writers_at_the_same_time_publish_whole_commits(
    bucket: Bucket, s3_server: S3Server, proxy: FaultyProxy
) -> None:
    """Three writers of one day and three of days of their own, with a fault in every fifth request."""
    variables: Mapping[str, str] = {**s3_server.variables(), "AWS_ENDPOINT_URL": proxy.endpoint}
    place = Place(f"{bucket.url}/raced", variables)
    shared = [Writer(f"shared-{number}", NEXT_DAY) for number in range(3)]
    alone = [Writer(f"alone-{number}", NEXT_DAY.replace(day=number)) for number in (1, 2, 3)]
    proxy.inject(Faults(2 * TENTH))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda writer: overwrite(place, writer, 0), [*shared, *alone]))

    assert proxy.counts().hit("PUT")
    raced = Tables(place.url, bucket.beside)
    written = {writer.name: [writer.rows(turn) for turn in range(ROUNDS)] for writer in (*shared, *alone)}
    for version in range(1, raced.version(Attempts) + 1):
        frame = raced.scan(Attempts, version=version).collect()
        for part in frame.partition_by("landed_on"):
            name = part["attempt_id"][0].rsplit("-", 1)[0]
            assert any(part.equals(one) for one in written[name])
    for writer in alone:
        assert_frame_equal(raced.scan(Attempts, [day(writer.when)]).collect(), written[writer.name][-1])
    assert any(raced.scan(Attempts, [day(NEXT_DAY)]).collect().equals(written[one.name][-1]) for one in shared)
