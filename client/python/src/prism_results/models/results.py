"""Results, their records, and pages of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Generic, Literal, TypeAlias, TypeVar

from prism_results.models.answers import Answers, RawAnswers
from prism_results.models.base import Received

T = TypeVar("T")

Format: TypeAlias = Literal["json", "raw", "csv", "tsv", "jsonl"]
Rows: TypeAlias = Literal["csv", "tsv", "jsonl"]
Status: TypeAlias = Literal["ok", "failed"]
ErrorCode: TypeAlias = Literal[
    "timeout", "unreachable", "refused", "no_usable_answer", "no_log_probabilities", "model_not_configured"
]
UsageBy: TypeAlias = Literal["day", "prism", "model", "key"]


@dataclass(frozen=True, slots=True)
class Page(Received, Generic[T]):
    """A part of a list."""

    data: Sequence[T]
    next_cursor: str | None
    """Reads the next page. None on the last one."""


@dataclass(frozen=True, slots=True)
class Result(Received):
    """The saved answer to one call, shaped by the prism's current Lens."""

    id: str
    ref: str | None
    prism: str
    """The slug."""
    version: int
    status: Status
    error: str | None
    """Why the result failed, in words."""
    took_ms: int
    created_at: datetime
    answers: Answers


@dataclass(frozen=True, slots=True)
class RawResult(Received):
    """A result with the stored answer to every question."""

    id: str
    ref: str | None
    prism: str
    """The slug."""
    version: int
    status: Status
    error: str | None
    """Why the result failed, in words."""
    took_ms: int
    created_at: datetime
    answers: RawAnswers


@dataclass(frozen=True, slots=True)
class RecordModel(Received):
    """The configured model that was asked last."""

    name: str | None
    provider: str | None
    model: str | None
    """What its upstream calls it."""
    tries: int
    """Calls of upstreams, for all questions and models."""
    fell_back: bool


@dataclass(frozen=True, slots=True)
class RecordUsage(Received):
    """Tokens and their cost."""

    input_tokens: int | None
    output_tokens: int | None
    cached_input_tokens: int | None
    cost: Decimal | None
    """Exact, in the currency."""
    currency: str | None


@dataclass(frozen=True, slots=True)
class Record(Received):
    """Everything that is kept of the call that made a result. What is not known is None."""

    id: str
    prism: str
    version: int
    status: Status
    error: str | None
    error_code: ErrorCode | None
    created_at: datetime
    took_ms: int
    ref: str | None
    context: str | None
    fields: Mapping[str, str]
    idempotency_key: str | None
    retry_of: str | None
    """The result that this one retried."""
    retried_by: str | None
    """The result that retried this one."""
    key_id: str | None
    """Of the API key that made the call."""
    run_id: str | None
    """Of the file run that made the result."""
    run_row: int | None
    """The number of its row. The first is 1."""
    model: RecordModel | None
    usage: RecordUsage | None
    label_mass: Mapping[str, float] | None
    """By question, the part of the model's probability that its labels had."""


@dataclass(frozen=True, slots=True)
class Deleting(Received):
    """How many results a deletion matches, counted up to a million and for about a second."""

    deleting: int


@dataclass(frozen=True, slots=True)
class Retrying(Received):
    """How many results a retry matches."""

    retrying: int


@dataclass(frozen=True, slots=True)
class UsageSum(Received):
    """The sum of the results of one day, prism, model or API key whose costs have one currency.

    It has one of day, prism, model and key_id. The last three are None too where it is not known.
    """

    results: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """Exact, in the currency."""
    currency: str | None
    day: date | None = None
    prism: str | None = None
    model: str | None = None
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage(Received):
    """Sums over the results of a period."""

    data: Sequence[UsageSum]
    from_: date
    to: date
    """The day after the last."""
