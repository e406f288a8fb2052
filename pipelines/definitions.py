"""The workspace's entry point: definitions from the settings of this process."""

from pipelines.build import build_definitions
from pipelines.settings import load

defs = build_definitions(load())
