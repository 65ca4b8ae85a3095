"""Calibrations, and measures of versions by labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from prism_results.models.base import Received
from prism_results.models.labels import LabelValue
from prism_results.models.prisms import QuestionType

CalibrationMethod: TypeAlias = Literal["temperature", "platt", "isotonic"]
"""temperature is of a choice or scale, the others of a yes_no."""
NewCalibrationMethod: TypeAlias = Literal["auto", "temperature", "platt", "isotonic"]
"""auto is the best one, if it is better than none."""


@dataclass(frozen=True, slots=True)
class Figure(Received):
    """An estimate with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration(Received):
    """Maps the probabilities of a question of a version. It never changes."""

    id: str
    version: int
    question: str
    method: CalibrationMethod
    temperature: float | None
    """T of p^(1/T), of the method temperature."""
    a: float | None
    """Of σ(a·logit p + b), of the method platt."""
    b: float | None
    points: Sequence[Sequence[float]] | None
    """Corners, each stored and calibrated, of the method isotonic. Between two it is linear."""
    labels: int
    """That it was fitted to."""
    log_loss_before: float
    """Of the stored probabilities."""
    log_loss_after: float
    """In a cross-validation."""
    gain: Figure
    """How much smaller the log loss becomes."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class PinnedCalibrations(Received):
    """What is pinned to a version."""

    version: int
    questions: Mapping[str, str | None]
    """By question, the id of its calibration."""


@dataclass(frozen=True, slots=True)
class QualityClass(Received):
    """How well one class is told from the others."""

    value: LabelValue
    n: int
    """Labels of the class."""
    precision: Figure | None
    """Of the answers with this value, the share that is right. None if there are none."""
    recall: Figure
    """Of the labels with this value, the share that is answered so."""
    f1: Figure


@dataclass(frozen=True, slots=True)
class Confusion(Received):
    """How often each label was answered by each value."""

    values: Sequence[LabelValue]
    counts: Sequence[Sequence[int]]
    """A row for each label, with a number for each answer."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin(Received):
    """Answers of similar probability."""

    n: int
    mean: float
    """Of the probability."""
    rate: float
    """How often it was so."""
    low: float
    """The lower end of the 95% interval of the rate."""
    high: float


@dataclass(frozen=True, slots=True)
class CoveragePoint(Received):
    """What is kept when answers below a probability are left to people."""

    at: float
    kept: float
    """The share of answers."""
    risk: float
    """The share of the kept ones that is wrong."""


@dataclass(frozen=True, slots=True)
class _Measures(Received):
    """The measures of a question. Those that its type does not have, or that need more labels, are None."""

    accuracy: Figure | None
    """The share of answers that are right."""
    log_loss: Figure | None
    brier: Figure | None
    """0 to 1 of a yes_no, 0 to 2 of others."""
    macro_f1: Figure | None
    classes: Sequence[QualityClass] | None
    """Those with 5 labels or more."""
    confusion: Confusion | None
    rps: Figure | None
    """The ranked probability score of a scale, 0 to 1."""
    mae: Figure | None
    """The mean distance of level and label, in positions."""
    kappa: Figure | None
    """Cohen's, with quadratic weights."""
    ece: Figure | None
    """The expected calibration error, debiased. From 100 labels on."""
    ece_plain: Figure | None
    bins: Sequence[ReliabilityBin] | None
    """From 100 labels on."""
    coverage: Sequence[CoveragePoint] | None


@dataclass(frozen=True, slots=True)
class QuestionQuality(_Measures):
    """The measures of a question of a version. Those that its type does not have, or that need more labels, are None."""

    question: str
    type: QuestionType
    labels: int
    """That were looked at."""
    counted: int
    """Those of the labels that count."""
    calibration: str | None
    """The id of the one whose probabilities were measured. None for the stored ones."""


@dataclass(frozen=True, slots=True)
class Quality(Received):
    """The measures of a version."""

    version: int
    questions: Sequence[QuestionQuality]


@dataclass(frozen=True, slots=True)
class Threshold(Received):
    """Two thresholds and what they do to the labels."""

    yes_at: float
    """Yes begins here."""
    no_at: float
    """No ends here."""
    yes: int
    no: int
    unsure: int
    false_yes: int
    """Of yes, those that should be no."""
    false_no: int
    total: float
    """The cost of all."""
    mean: float
    """The cost of one answer."""


@dataclass(frozen=True, slots=True)
class ThresholdCount(Received):
    """Labels on both sides of a probability."""

    at: float
    from_yes: int
    """Labels yes at or above it."""
    from_no: int
    to_yes: int
    """Labels yes at or below it."""
    to_no: int


@dataclass(frozen=True, slots=True)
class Thresholds(Received):
    """Thresholds of a yes_no question, by cost."""

    question: str
    type: QuestionType
    labels: int
    """That were looked at."""
    counted: int
    """Those of the labels that count."""
    calibration: str | None
    """The id of the one whose probabilities were measured. None for the stored ones."""
    false_yes: float
    """What a yes costs that should be no."""
    false_no: float
    unsure: float
    yes_at: float
    """By theory: yes begins here."""
    no_at: float
    """By theory: no ends here."""
    theory: Threshold
    """What those do to the labels."""
    empirical: Threshold
    """Those that cost the least on these labels. They look better than they will be on new answers."""
    counts: Sequence[ThresholdCount]
    """For each hundredth, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class LeftOut(Received):
    """Inputs that were not compared."""

    other_option: int
    """A label is an option that the other version lacks."""
    other_label: int
    """The results of the versions have different labels."""


@dataclass(frozen=True, slots=True)
class ComparedVersion(_Measures):
    """The measures of one of two versions."""

    version: int


@dataclass(frozen=True, slots=True)
class Differences(Received):
    """Version b minus version a. Below 0 is better of losses, above 0 of the others."""

    accuracy: Figure
    log_loss: Figure
    brier: Figure
    macro_f1: Figure | None
    rps: Figure | None
    mae: Figure | None
    kappa: Figure | None


@dataclass(frozen=True, slots=True)
class McNemar(Received):
    """McNemar's exact test of equal accuracy, two-sided."""

    only_a: int
    """Answers that only version a had right."""
    only_b: int
    p: float


@dataclass(frozen=True, slots=True)
class Comparison(Received):
    """Two versions on the same labelled inputs."""

    question: str
    type: QuestionType
    labels: int
    """Labelled inputs that were looked at."""
    counted: int
    """Inputs that were compared."""
    left_out: LeftOut
    a: ComparedVersion
    b: ComparedVersion
    differences: Differences
    mcnemar: McNemar
    verdict: str
    """better, worse, or not distinguishable with a number of labels: version b, compared with a."""
