"""Results, their records, and pages of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Generic, Literal, TypeAlias, TypeVar

from prism_results.models.answers import Answers, Row
from prism_results.models.base import Received
from prism_results.models.labels import Label

T = TypeVar("T")

Format: TypeAlias = Literal["json", "raw", "csv", "tsv", "jsonl"]
ExportFormat: TypeAlias = Literal["csv", "tsv", "jsonl"]
Status: TypeAlias = Literal["ok", "failed"]
ErrorCode: TypeAlias = Literal[
    "timeout",
    "unreachable",
    "refused",
    "limited",
    "exhausted",
    "refused_key",
    "not_found",
    "content",
    "too_long",
    "parameter",
    "unreadable",
    "no_usable_answer",
    "label_mass_low",
    "no_log_probabilities",
    "model_not_configured",
]
EscalationErrorCode: TypeAlias = Literal[
    "timeout",
    "unreachable",
    "refused",
    "limited",
    "exhausted",
    "refused_key",
    "not_found",
    "content",
    "too_long",
    "parameter",
    "unreadable",
    "no_usable_answer",
    "label_mass_low",
    "no_log_probabilities",
    "model_not_configured",
    "skipped",
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
    """The saved answer to one call, with every probability."""

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
class ResultRow(Received):
    """A result in the format json: the columns of the prism's current Lens are in place of the answers."""

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
    row: Row = field(metadata={"member": "answers"})


@dataclass(frozen=True, slots=True)
class RecordModel(Received):
    """The configured model whose answers are the result, or that was asked last."""

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
class AnsweredModel(Received):
    """One of the models of an escalation."""

    name: str | None
    provider: str | None
    model: str | None
    """What its upstream calls it."""
    fell_back: bool
    answers: Answers
    """Empty if it gave none."""


@dataclass(frozen=True, slots=True)
class Escalation(Received):
    """Both models of a call whose first answers were doubtful."""

    questions: Sequence[str]
    """Those whose first answers were doubtful."""
    error_code: EscalationErrorCode | None
    """Why the first answers are the result. None if those of the second model are."""
    first: AnsweredModel
    second: AnsweredModel


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
    absent: Mapping[str, Sequence[str]] | None
    """By question, the options or levels, or yes or no, whose labels were not among the tokens that the model returned."""
    order_disagreement: Mapping[str, float] | None
    """By question, how far the orders of its labels disagreed, 0 to 1. None unless the model is asked in several."""
    escalation: Escalation | None
    """None if no second model was wanted."""
    labels: Mapping[str, Label]
    """What was right, by question."""


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
    """Of prisms, models and keys at most 1,000, those with the most results."""
    from_: date
    to: date
    """The day after the last."""
    more: bool = False
    """There are further ones, with fewer results."""
