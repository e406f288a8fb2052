"""Reports beside the tables: one file per campaign and rule set.

Here: where they are and how they are written. Not here: what stands in them (`assets.campaigns.report`).
"""

from dataclasses import dataclass
from pathlib import Path

from pipelines.storage import whole_files
from pipelines.storage.errors import StoreUnavailableError
from pipelines.storage.failures import explaining
from pipelines.storage.options import StoreOptions, scheme
from pipelines.storage.s3_objects import get_object, put_object

FOLDER = "reports"


@dataclass(frozen=True)
class Reports:
    """Reports in the folder `reports` of the table store."""

    root: str
    options: StoreOptions

    def uri(self, campaign_key: str, rules: str) -> str:
        """Where the report of a campaign under a rule set is."""
        below = f"{FOLDER}/{campaign_key}/{rules}.html"
        return f"{self.root.rstrip('/')}/{below}" if "://" in self.root else str(Path(self.root).absolute() / below)

    def write(self, campaign_key: str, rules: str, text: str) -> str:
        """Keep the report, whole or not at all, and say where it is.

        Raises:
            StoreError: it cannot be written.
        """
        uri = self.uri(campaign_key, rules)
        with explaining(f"{uri}: cannot write the report", self.options):
            if scheme(uri) == "s3":
                put_object(uri, text.encode(), self.options)
            else:
                path = _path(uri)
                path.parent.mkdir(parents=True, exist_ok=True)
                whole_files.replace(path, text.encode())
        return uri

    def read(self, campaign_key: str, rules: str) -> str:
        """The report as it was last written.

        Raises:
            StoreError: there is none, or it cannot be read.
        """
        uri = self.uri(campaign_key, rules)
        with explaining(f"{uri}: cannot read the report", self.options):
            try:
                content = get_object(uri, self.options) if scheme(uri) == "s3" else _path(uri).read_bytes()
            except FileNotFoundError:
                raise StoreUnavailableError(f"{uri}: there is no such report; `scorehouse compare` makes it") from None
        return content.decode()


def _path(uri: str) -> Path:
    return Path(uri.removeprefix("file://"))
