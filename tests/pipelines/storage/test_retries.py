"""How often something is tried: until it works, until it is enough, and no more than that."""

import asyncio
from collections.abc import Iterator

import pytest

from pipelines.storage import retries
from pipelines.storage.retries import ATTEMPTS, UNREACHABLE_ATTEMPTS, retrying, retrying_async

BUSY = OSError("503 Service Unavailable")
NOBODY = OSError("client error (Connect): tcp connect error: Connection refused")


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "LONGEST_WAIT_SECONDS", 0)


class Failing:
    """Fails so many times, then answers."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.times, self.calls = error, times, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return "done"


def test_a_transient_failure_is_tried_again() -> None:
    call = Failing(BUSY, ATTEMPTS - 1)

    async def coroutine() -> str:
        return call()

    assert retrying()(call) == "done"
    call.calls = 0
    assert asyncio.run(retrying_async()(coroutine)) == "done"


@pytest.mark.parametrize(
    ("error", "calls"),
    [(BUSY, ATTEMPTS), (NOBODY, UNREACHABLE_ATTEMPTS), (FileNotFoundError(2, "No such file"), 1), (ValueError("x"), 1)],
)
def test_it_ends(error: Exception, calls: int) -> None:
    call = Failing(error, 1000)

    with pytest.raises(type(error)) as caught:
        retrying()(call)

    assert caught.value is error
    assert call.calls == calls


def test_nothing_is_started_again_after_the_longest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock: Iterator[float] = iter(range(0, 10_000, 25))
    monkeypatch.setattr("tenacity.time.monotonic", lambda: next(clock))
    call = Failing(BUSY, 1000)

    with pytest.raises(OSError, match="503"):
        retrying()(call)

    assert 1 < call.calls < ATTEMPTS
