"""Reports are whole for whoever reads them, also while several write the same one."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pipelines.storage.options import StoreOptions
from pipelines.storage.reports import Reports

TEXTS = [letter * 100_000 for letter in "ab"]


def test_two_writers_of_one_report_and_a_reader(tmp_path: Path) -> None:
    reports = Reports(str(tmp_path), StoreOptions())
    reports.write("c", "v1", TEXTS[0])

    def write(text: str) -> None:
        for _ in range(100):
            reports.write("c", "v1", text)

    with ThreadPoolExecutor(len(TEXTS)) as pool:
        writers = [pool.submit(write, text) for text in TEXTS]
        while not all(one.done() for one in writers):
            assert reports.read("c", "v1") in TEXTS
    assert [one.result() for one in writers] == [None, None]
    assert [path.name for path in (tmp_path / "reports" / "c").iterdir()] == ["v1.html"]
