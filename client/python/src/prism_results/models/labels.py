"""Labels: what was right for results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from prism_results.models.base import Model, Received

LabelSample: TypeAlias = Literal["random", "uncertain"]
"""How the results were chosen that are labelled. Labels of an uncertain sample enter no measure."""
LabelOrigin: TypeAlias = Literal["call", "file"]
LabelValue: TypeAlias = str | bool
"""The key of an option or level, or whether yes was right."""


@dataclass(frozen=True, slots=True)
class Label(Received):
    """What was right for a question of a result."""

    value: LabelValue
    sample: LabelSample | None
    """None if it was not said."""
    annotator: str | None
    """Who says so. None if it was not said."""
    origin: LabelOrigin
    """A call, or a column of the file of a run."""
    key_id: str
    """The API key or member that put it."""
    labelled_at: datetime


@dataclass(frozen=True, slots=True)
class LabelledResult(Received):
    """A result with its labels."""

    result_id: str
    ref: str | None
    version: int
    labels: Mapping[str, Label]
    """By question."""


@dataclass(frozen=True, slots=True)
class NewLabel(Model):
    """A label of a result, which result_id or ref names: a ref stands for the newest ok result that has it."""

    question: str
    value: LabelValue
    """A label of an option or level will do too, if no other has it."""
    result_id: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class InvalidLabel(Received):
    """A label that was not stored."""

    index: int
    """Among the labels that were sent. The first is 0."""
    message: str


@dataclass(frozen=True, slots=True)
class AddedLabels(Received):
    """What became of many labels."""

    labelled: int
    """How many were stored."""
    not_found: Sequence[int]
    """The labels whose result was not found. The first is 0."""
    invalid: Sequence[InvalidLabel]


@dataclass(frozen=True, slots=True)
class RunLabels(Received):
    """Labels of the rows of a run that are ok."""

    stored: int
    invalid: int
    """Cells that are no value of their question."""
