"""What methods take that is no schema of the API."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from . import ResultsOfRun

ExportFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "xlsx", "parquet"]
RowsFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "xlsx", "parquet"]
Delimiter: TypeAlias = Literal[",", ";", "|", "\t"]
RowStatus: TypeAlias = Literal["ok", "failed", "invalid", "pending"]


class RunOptions(TypedDict, total=False):
    """What a run may have beside a file and the columns of its fields."""

    ref: str | None
    """The column with your own names of the rows."""
    context: str | None
    """A column if the file has one of this name, else a text for every row."""
    version: int | None
    """Pins a version. None is the latest."""
    name: str | None
    """What people call the run."""
    rows_per_second: float | None
    """At most 100,000. None is no limit."""
    concurrency: int | None
    """Rows at the model at once, at most 10,000. None is no limit."""
    pause_at_failures: float | None
    """The part of the last 200 rows above which failures pause the run. None is 0.5."""
    labels: Mapping[str, str] | None
    """By question, the column whose cells are its labels."""
    from_labels_of: int | None
    """In place of a file and its columns: a version whose labelled inputs are answered, and labelled alike."""
    from_results: ResultsOfRun | None
    """In place of a file and its columns: which results of the prism are answered anew."""


class Keep(Enum):
    """KEEP leaves a limit as it is."""

    KEEP = "keep"


KEEP = Keep.KEEP
