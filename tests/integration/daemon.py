"""Dagster's daemon in one process: a test says when a sensor is evaluated, and when the runs are made that follow."""

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import dagster as dg

from assets.tables import TABLES, layer
from pipelines.build import build_definitions, intake
from pipelines.instance import instance_in
from pipelines.jobs import PARTITION
from pipelines.logs import RUN_CONFIG
from pipelines.partitions import day_and_rules
from pipelines.requests import STATE
from pipelines.settings import Settings


class Daemon:
    """Evaluates one sensor after another, keeping cursors and runs."""

    def __init__(self, where: Settings, now: dt.datetime, folder: Path) -> None:
        self.where, self.now, self.cursors = where, now, dict[str, str | None]()
        self._conditions: Any = None
        # Not in memory: only what can be opened again knows its partitions while a tick is evaluated.
        self._opened = ExitStack()
        self.instance = self._opened.enter_context(instance_in(folder))
        self.definitions = build_definitions(where, intake=intake(where, clock=lambda: now))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def tick(self, name: str) -> Any:
        """The sensor's answer; its cursor is kept, as the daemon keeps that of a tick that did not fail."""
        repository = self.definitions.get_repository_def()
        with (
            dg.partition_loading_context(dynamic_partitions_store=self.instance),
            dg.build_sensor_context(
                instance_ref=self.instance.get_ref(),
                cursor=self.cursors.get(name),
                repository_def=repository,
                resources=self.definitions.resources,
            ) as context,
        ):
            told = repository.get_sensor_def(name).evaluate_tick(context)
        self.cursors[name] = told.cursor
        for change in told.dynamic_partitions_requests or ():
            if isinstance(change, dg.AddDynamicPartitionsRequest):
                self.instance.add_dynamic_partitions(change.partitions_def_name, change.partition_keys)
            else:
                for key in change.partition_keys:
                    self.instance.delete_dynamic_partition(change.partitions_def_name, key)
        return told

    def execute(
        self, job: str, key: str, only: Sequence[str] | None = None, tags: Mapping[str, str] | None = None
    ) -> dg.ExecuteInProcessResult:
        """Run a job, or some of its tables, on one partition."""
        chosen = None if only is None else [dg.AssetKey(name) for name in only]
        return self.definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance, partition_key=key, asset_selection=chosen, run_config=RUN_CONFIG, tags=tags
        )

    def follow(self, job: str, told: Any) -> list[str]:
        """Run what a sensor or schedule asked for, and say which partitions that was."""
        for one in told.run_requests:
            assert self.execute(job, one.partition_key, tags=one.tags).success
        return asked(told)

    def night(self) -> Any:
        """What the nightly schedule asks for."""
        schedule = self.definitions.get_repository_def().get_schedule_def("nightly")
        return schedule.evaluate_tick(
            dg.build_schedule_context(
                self.instance, scheduled_execution_time=self.now, repository_def=self.definitions.get_repository_def()
            )
        )

    def results_due(self) -> list[str]:
        """What `results_follow` asks for since it was last evaluated: every table of these partitions."""
        found = dg.evaluate_automation_conditions(self.definitions, self.instance, cursor=self._conditions)
        self._conditions = found.cursor
        per_table = {
            table: {str(key) for key in found.get_requested_partitions(dg.AssetKey(table))}
            for table in TABLES
            if layer(table) == "results"
        }
        assert len({frozenset(keys) for keys in per_table.values()}) == 1, per_table
        return sorted(per_table["verifications"])

    def score(self) -> list[str]:
        """Run the results that are due, and say which partitions that was."""
        due = self.results_due()
        for key in due:
            day, rules = key.split("|")
            assert self.execute("results", day_and_rules(day, rules)).success
        return due

    def ended(self, job: str, told: Any, status: dg.DagsterRunStatus = dg.DagsterRunStatus.FAILURE) -> None:
        """Note a run of each request."""
        for one in told.run_requests:
            tags = {STATE: one.tags[STATE], PARTITION: str(one.partition_key)}
            self.instance.add_run(dg.DagsterRun(job_name=job, tags=tags, status=status))


def asked(told: Any) -> list[str]:
    return [str(one.partition_key) for one in told.run_requests]
