"""Who is told that a run failed: one POST to the webhook of the settings.

Here: the message, its delivery, and the sensor that does the same for Dagster's own runs. Not here: what counts as a
failed run on the command line (`cli.work`). The URL may hold a token: nothing here repeats it, nor what a library says
of an error, which could.
"""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import NamedTuple

import aiohttp
import dagster as dg

from pipelines.jobs import partitions_of
from pipelines.settings import Settings, redacted

TIMEOUT_SECONDS = 5.0
"""For each attempt, whatever it waits for."""
PAUSES_SECONDS = (0.5, 2.0)
"""Before the second attempt and the last one."""
LONGEST_ERROR = 2000  # characters
TRY_AGAIN = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
SLACK_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # `<!channel>` of an artifact alarms nobody


class Failure(NamedTuple):
    """A run that failed: a verb of the command line, or a job of Dagster."""

    kind: str  # verb or job
    name: str
    run_id: str
    partitions: str | None
    error: str  # the one clear line, without credentials


def message(failure: Failure, at: dt.datetime) -> dict[str, str | None]:
    """What is posted: `text` for people, in the form that Slack and its like show, and the same as fields."""
    error = " ".join(failure.error.split())
    error = error if len(error) <= LONGEST_ERROR else f"{error[:LONGEST_ERROR]}…"
    of = f" ({failure.partitions})" if failure.partitions else ""
    return {
        "text": f"scorehouse {failure.name}{of} failed: {error}".translate(SLACK_ESCAPES),
        "status": "failed",
        failure.kind: failure.name,
        "run_id": failure.run_id,
        "partitions": failure.partitions,
        "error": error,
        "at": at.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
    }


def tell(webhook: str, failure: Failure) -> str | None:
    """Post the failure; why it could not be delivered, or None. It never raises."""
    try:
        return asyncio.run(_deliver(webhook, message(failure, dt.datetime.now(dt.UTC))))
    except Exception as error:  # noqa: BLE001 - the failure that is told of matters more than the telling
        return type(error).__name__


async def _deliver(webhook: str, told: Mapping[str, str | None]) -> str | None:
    why = None
    for pause in (*PAUSES_SECONDS, None):
        why, again = await _post(webhook, told)
        if not again or pause is None:
            break
        await asyncio.sleep(pause)
    return why


async def _post(webhook: str, told: Mapping[str, str | None]) -> tuple[str | None, bool]:
    """Why one attempt failed, and whether another one may help."""
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
            session.post(webhook, json=told, allow_redirects=False) as answer,
        ):
            status = answer.status
    except TimeoutError:
        return f"no answer within {TIMEOUT_SECONDS:g} s", True
    except (aiohttp.ClientError, OSError) as error:
        return f"it cannot be reached ({type(error).__name__})", True
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return None, False
    if status < HTTPStatus.BAD_REQUEST:
        return f"it answered {status}, a redirect, which is not followed", False
    return f"it answered {status}", status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in TRY_AGAIN


def failures_told(webhook: str, settings: Settings) -> dg.SensorDefinition:
    """A sensor that tells of every run of Dagster's that failed; those of the command line tell themselves."""

    @dg.run_failure_sensor(
        name="failures_told",
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts every failed run to the webhook of the settings.",
    )
    def sensor(context: dg.RunFailureSensorContext) -> dg.SkipReason | None:
        run, events = context.dagster_run, [*context.get_step_failure_events(), context.failure_event]
        line = redacted(clear_line(events), settings)
        failure = Failure("job", run.job_name, run.run_id, partitions_of(run.tags), line)
        why = tell(webhook, failure)
        return dg.SkipReason(f"the webhook could not be told of {run.run_id}: {why}") if why else None

    return sensor


def clear_line(events: Sequence[dg.DagsterEvent]) -> str:
    """What the first of these failures came from, without what wraps it; ours say all themselves."""
    for event in events:
        error = getattr(event.event_specific_data, "error", None)
        while error is not None and error.cause is not None:
            error = error.cause
        if error is not None:
            text = str(error.message).strip()
            ours = text.startswith(("pipelines.", "assets."))
            return text.partition(": ")[2] if ours else text
    return events[-1].message or "the run failed"
