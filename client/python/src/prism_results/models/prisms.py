"""Prisms, their versions and their Lens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal, TypeAlias

from prism_results.models.answers import Answers, Row
from prism_results.models.base import Model, Received
from prism_results.models.results import ErrorCode, Escalation, RecordModel, RecordUsage, ResultRow, Status

QuestionType: TypeAlias = Literal["choice", "yes_no", "scale"]
Show: TypeAlias = Literal["answer", "probability", "average", "confidence"]
ProbabilitySource: TypeAlias = Literal["native", "logprobs", "stated", "simulated"]
OptionOrder: TypeAlias = Literal["cyclic"]
"""In which order a model reads options: in several cyclic orders, whose probabilities are pooled."""


@dataclass(frozen=True, slots=True)
class Field(Model):
    """An input of a version."""

    key: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Option(Model):
    """A possible answer of a choice question."""

    key: str
    label: str
    description: str | None = None
    """When this option is the right one, for the model."""


@dataclass(frozen=True, slots=True)
class Level(Model):
    """A possible answer of a scale question."""

    key: str
    label: str
    value: float | None = None
    """The level's number in an average. None is 1, 2, 3 … in order."""


@dataclass(frozen=True, slots=True)
class Question(Model):
    """A typed question. Question.choice, Question.yes_no and Question.scale make one with the members of its type."""

    key: str
    type: QuestionType
    text: str
    options: Sequence[Option] | None = None
    """Of a choice, 2 to 26."""
    insufficient_information: bool | None = None
    """Whether a choice has the further option insufficient_information."""
    levels: Sequence[Level] | None = None
    """Of a scale, 2 to 10 in rising order."""

    @classmethod
    def choice(cls, key: str, text: str, options: Sequence[Option], *, insufficient_information: bool = False) -> Question:
        """A question that chooses one of several options."""
        return cls(key, "choice", text, options, insufficient_information)

    @classmethod
    def yes_no(cls, key: str, text: str) -> Question:
        """A question for the probability of yes."""
        return cls(key, "yes_no", text)

    @classmethod
    def scale(cls, key: str, text: str, levels: Sequence[Level]) -> Question:
        """A question that chooses a level on a rising scale."""
        return cls(key, "scale", text, levels=levels)


@dataclass(frozen=True, slots=True)
class Column(Model):
    """One column of a Lens."""

    name: str
    question: str
    show: Show = "answer"
    option: str | None = None
    """The option or level whose probability is shown. Only with the probability."""
    yes_at: float | None = None
    """From this probability on, the answer is yes. None is 0.6."""
    no_at: float | None = None
    """Up to this probability, the answer is no. None is 0.4."""
    calibrated: bool | None = None
    """Shows calibrated probabilities, and nothing where no calibration is pinned."""


@dataclass(frozen=True, slots=True)
class Lens(Model):
    """Turns stored answers into named columns."""

    columns: Sequence[Column]


@dataclass(frozen=True, slots=True)
class Escalate(Model):
    """Has a second model answer when an answer of the first one is doubtful."""

    to: str
    """The name of a configured model."""
    below: float
    """The probability, above 0 and at most 1, below which an answer is doubtful: of its most probable option or level, or of
    the likelier of yes and no."""
    questions: Sequence[str] | None = None
    """Whose answers can be doubtful. None is all."""


@dataclass(frozen=True, slots=True)
class Definition(Model):
    """What is asked: a version to be, without its Lens."""

    fields: Sequence[Field]
    questions: Sequence[Question]
    instructions: str | None = None
    model: str | None = None
    """The name of a configured model. None is the default one."""
    escalate: Escalate | None = None


@dataclass(frozen=True, slots=True)
class Version(Received):
    """A numbered definition. It never changes."""

    version: int
    instructions: str | None
    model: str | None
    """The name of a configured model. None is the default one."""
    escalate: Escalate | None
    fields: Sequence[Field]
    questions: Sequence[Question]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Prism(Received):
    """A named definition with its latest version."""

    id: str
    slug: str
    name: str | None
    archived_at: datetime | None
    created_at: datetime
    latest_version: int
    lens: Lens
    version: Version
    retention_days: int | None
    """How many days old results become before they are deleted. None: they are kept."""
    etag: str | None = field(default=None, repr=False, compare=False)
    """Names the prism as it is here, for if_match. Prisms of lists have none."""


@dataclass(frozen=True, slots=True)
class PreviewedResult(Received):
    """A result under a Lens that is not stored."""

    result: ResultRow
    missing: Mapping[str, str]
    """Why a column is None, by its name."""


@dataclass(frozen=True, slots=True)
class PreviewedLens(Received):
    """Results under a Lens that is not stored."""

    columns: Sequence[str]
    data: Sequence[PreviewedResult]


@dataclass(frozen=True, slots=True)
class Try(Received):
    """What a definition answered. Nothing of it is saved."""

    status: Status
    error: str | None
    """Why the model gave no usable answer, in words."""
    error_code: ErrorCode | None
    took_ms: int
    answers: Answers = field(metadata={"member": "raw"})
    row: Row = field(metadata={"member": "json"})
    """The columns of the Lens."""
    model: RecordModel | None
    usage: RecordUsage | None
    label_mass: Mapping[str, float] | None
    """By question, the part of the model's probability that its labels had."""
    absent: Mapping[str, Sequence[str]] | None
    """As in a record."""
    order_disagreement: Mapping[str, float] | None
    """As in a record."""
    escalation: Escalation | None
    """As in a record."""


@dataclass(frozen=True, slots=True)
class Price(Received):
    """What a million tokens cost."""

    currency: str
    input: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True)
class ConfiguredModel(Received):
    """A configured model, which a version can name."""

    name: str
    provider: str
    """The API that the model is asked through."""
    model: str
    """What its upstream calls the model."""
    default: bool
    """Whether it answers the calls of versions that name no model."""
    probabilities: ProbabilitySource
    price: Price | None
    fallback: Sequence[str]
    """The models that are asked in its place when it fails, in this order."""
    order: OptionOrder | None
    """None is that of the definition."""


@dataclass(frozen=True, slots=True)
class ModelList(Received):
    """All configured models, in the order of the configuration. Exactly one is the default."""

    data: Sequence[ConfiguredModel]
