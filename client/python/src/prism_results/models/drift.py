"""Drift of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from prism_results.models.base import Model, Received
from prism_results.models.prisms import QuestionType

DriftKind: TypeAlias = Literal["first", "set"]


@dataclass(frozen=True, slots=True)
class DriftPeriod(Model):
    """A time of whole hours of the last 90 days."""

    from_: datetime
    to: datetime


@dataclass(frozen=True, slots=True)
class DriftReference(Received):
    """What answers are compared with."""

    kind: DriftKind
    """The first 2,000 results that are counted, or a period that was set."""
    from_: datetime | None
    """None while there is no result."""
    to: datetime | None
    results: int
    """Fewer than 500 are not compared with."""


@dataclass(frozen=True, slots=True)
class DriftIndex(Received):
    """A population stability index."""

    psi: float
    limit: float
    alarm: bool
    """Whether the index is above its limit."""


@dataclass(frozen=True, slots=True)
class DriftWindow(Received):
    """A time that is compared with the reference. Its indices are None if there are too few results."""

    from_: datetime
    to: datetime
    results: int
    alarm: bool
    """Whether either index is above its limit."""
    probability: DriftIndex | None
    """Of the top probability."""
    classes: DriftIndex | None
    """Of the shares of the answers."""


@dataclass(frozen=True, slots=True)
class QuestionDrift(Received):
    """The drift of the answers to a question."""

    question: str
    index: int
    """In the version. The first is 0. Metrics name the question by it."""
    type: QuestionType
    metrics: bool
    """Whether it has metrics, and so alerts."""
    hour: DriftWindow
    """The last one."""
    day: DriftWindow
    """The last one."""
    hours: Sequence[DriftWindow]
    """Those of the last 48 that have results, the oldest first."""
    days: Sequence[DriftWindow]
    """Those of the last 30 that have results, the oldest first."""


@dataclass(frozen=True, slots=True)
class Drift(Received):
    """How far the answers of a version are from its reference. Of a prism that is not watched there is nothing."""

    version: int
    watched: bool
    counted_to: datetime | None
    """Results that began before are counted."""
    reference: DriftReference | None
    questions: Sequence[QuestionDrift]
    """Those of the version, in its order."""
