"""Results to label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from prism_results.models.answers import Answers
from prism_results.models.base import Received
from prism_results.models.labels import LabelSample
from prism_results.models.results import Page


@dataclass(frozen=True, slots=True)
class QueuedResult(Received):
    """A result to label."""

    result_id: str
    ref: str | None
    created_at: datetime
    version: int
    context: str | None
    fields: Mapping[str, str]
    answers: Answers


@dataclass(frozen=True, slots=True)
class LabelQueuePage(Page[QueuedResult]):
    """A page of results to label. Send their labels with its sample."""

    data: Sequence[QueuedResult]
    sample: LabelSample
