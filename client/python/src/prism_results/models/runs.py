"""Runs of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Literal, TypeAlias, TypedDict

from prism_results.models.base import Received
from prism_results.models.labels import RunLabels

RunStatus: TypeAlias = Literal["queued", "running", "pausing", "paused", "cancelling", "cancelled", "finished"]
RowsFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "xlsx"]
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


class Keep(Enum):
    """KEEP leaves a limit as it is."""

    KEEP = "keep"


KEEP = Keep.KEEP


@dataclass(frozen=True, slots=True)
class RunUsage(Received):
    """The tokens of a run and their cost."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """Exact, in the currency."""
    currency: str | None


@dataclass(frozen=True, slots=True)
class Run(Received):
    """A run of a file. The rows that are ok, failed, invalid, cancelled and pending add up to rows."""

    id: str
    name: str | None
    prism: str
    version: int
    file_id: str
    status: RunStatus
    reason: str | None
    """Why the run paused by itself."""
    rows: int
    ok: int
    failed: int
    """The model gave no usable answer. retry_run sends them again."""
    invalid: int
    """A call would refuse them. They have no result."""
    cancelled: int
    """They had no answer when the run was cancelled."""
    pending: int
    rows_per_second_now: float
    eta_seconds: float | None
    """None if it is not known."""
    usage: RunUsage
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    labels: RunLabels | None
    """Those of its rows that are stored. None without columns of labels."""

    @property
    def done(self) -> int:
        """The number of rows that have their outcome."""
        return self.rows - self.pending

    @property
    def settled(self) -> bool:
        """Whether the run changes no more unless somebody resumes or retries it."""
        return self.status in ("finished", "cancelled", "paused")


@dataclass(frozen=True, slots=True)
class InvalidRow(Received):
    """A row that a call would refuse."""

    row: int
    """The first is 1."""
    message: str


@dataclass(frozen=True, slots=True)
class DryRun(Received):
    """What a run would do. Sums are estimates. What is not known is None."""

    rows: int
    rows_checked: int
    """Fewer than rows for a file that takes longer than 20 s to check."""
    invalid: Sequence[InvalidRow]
    """The first 100."""
    invalid_total: int
    invalid_labels: Sequence[InvalidRow]
    """The first 100 cells that are no label. Their rows are answered."""
    invalid_labels_total: int
    tokens: int
    model_calls: int
    seconds: float | None
    cost: Decimal | None
    currency: str | None
