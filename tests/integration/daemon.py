"""Dagster's daemon in one process: a test says when sensors are evaluated, and when what they ask for is run."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import dagster as dg

from pipelines.build import build_definitions, intake
from pipelines.requests import PARTITION, STATE
from pipelines.settings import Settings


class Daemon:
    """Evaluates one sensor after another, keeping cursors and runs."""

    def __init__(self, where: Settings, now: dt.datetime) -> None:
        self.where, self.cursors = where, dict[str, str | None]()
        self.instance = dg.DagsterInstance.ephemeral()
        self.definitions = build_definitions(where, intake=intake(where, clock=lambda: now))

    def tick(self, name: str) -> Any:
        """The sensor's answer; its cursor is kept, as the daemon keeps that of a tick that did not fail."""
        repository = self.definitions.get_repository_def()
        with (
            dg.partition_loading_context(dynamic_partitions_store=self.instance),
            dg.build_sensor_context(
                instance=self.instance,
                cursor=self.cursors.get(name),
                repository_def=repository,
                resources=self.definitions.resources,
            ) as context,
        ):
            told = repository.get_sensor_def(name).evaluate_tick(context)
        self.cursors[name] = told.cursor
        return told

    def execute(self, job: str, key: str, only: Sequence[str] | None = None) -> None:
        """Run a job, or some of its tables, on one partition."""
        chosen = None if only is None else [dg.AssetKey(name) for name in only]
        self.definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance, partition_key=key, asset_selection=chosen
        )

    def ended(self, job: str, told: Any, status: dg.DagsterRunStatus = dg.DagsterRunStatus.FAILURE) -> None:
        """Note a run of each request."""
        for one in told.run_requests:
            tags = {STATE: one.tags[STATE], PARTITION: str(one.partition_key)}
            self.instance.add_run(dg.DagsterRun(job_name=job, tags=tags, status=status))


def asked(told: Any) -> list[str]:
    return [str(one.partition_key) for one in told.run_requests]
