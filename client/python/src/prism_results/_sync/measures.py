# Written by generate.py; do not edit.
"""Calibrations, measures of versions by labels, and drift."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prism_results._sync.base import Base, Pages
from prism_results._core import Call, call, given, query
from prism_results.models import (
    Calibration,
    Comparison,
    Drift,
    DriftPeriod,
    NewCalibrationMethod,
    PinnedCalibrations,
    Quality,
    Thresholds,
)


class Measures(Base):
    """The calls about calibrations, quality and drift."""

    def create_calibration(
        self, prism: str, version: int, question: str, method: NewCalibrationMethod = "auto"
    ) -> Calibration:
        """Fit a calibration to the labels of a question of a version. It counts for nothing until it is pinned.

        Too few labels are a ConflictError, and so is auto where no method is better than none.
        """
        body = {"question": question, "method": method}
        one = _of("createCalibration", "POST", prism, version, "calibrations", body=body, want=201)
        return self._fetch(Calibration, one)

    def list_calibrations(self, prism: str, version: int, *, question: str | None = None) -> Pages[Calibration]:
        """List the calibrations of a version, newest first, or those of one question of it."""
        wanted = query(question=question)
        return Pages(self, Calibration, _of("listCalibrations", "GET", prism, version, "calibrations", query=wanted))

    def read_calibration(self, prism: str, version: int, calibration_id: str) -> Calibration:
        """Read a calibration of a version."""
        return self._fetch(Calibration, _of("readCalibration", "GET", prism, version, "calibrations", calibration_id))

    def pin_calibrations(self, prism: str, version: int, questions: Mapping[str, str | None]) -> PinnedCalibrations:
        """Pin calibrations to questions of a version, by their ids, and return what is pinned then.

        None unpins. Questions that are not named keep theirs.
        """
        one = _of("pinCalibrations", "PUT", prism, version, "calibration", body={"questions": questions})
        return self._fetch(PinnedCalibrations, one)

    def read_pinned_calibrations(self, prism: str, version: int) -> PinnedCalibrations:
        """Read what is pinned to a version."""
        return self._fetch(PinnedCalibrations, _of("readPinnedCalibrations", "GET", prism, version, "calibration"))

    def read_quality(
        self, prism: str, version: int, *, question: str | None = None, model: str | None = None, calibrated: bool = False
    ) -> Quality:
        """Measure the answers of a version by the labels that count, or those to one question, or of one model.

        calibrated measures what the pinned calibrations make of the stored probabilities. A question with fewer than 30
        labels that count has None for its measures. If all have, it is a ConflictError.
        """
        wanted = query(question=question, model=model, calibrated="true" if calibrated else None)
        return self._fetch(Quality, _of("readQuality", "GET", prism, version, "quality", query=wanted))

    def read_thresholds(
        self,
        prism: str,
        version: int,
        question: str,
        *,
        false_yes: float,
        false_no: float,
        unsure: float,
        model: str | None = None,
        calibrated: bool = False,
    ) -> Thresholds:
        """Choose where yes of a yes_no question should begin and no end, from what mistakes and unsure answers cost.

        The costs have any unit. Fewer than 30 labels that count are a ConflictError.
        """
        wanted = query(
            question=question,
            false_yes=false_yes,
            false_no=false_no,
            unsure=unsure,
            model=model,
            calibrated="true" if calibrated else None,
        )
        return self._fetch(Thresholds, _of("readThresholds", "GET", prism, version, "quality", "thresholds", query=wanted))

    def compare_versions(self, prism: str, a: int, b: int, question: str) -> Comparison:
        """Compare version b with version a by a question, on the labelled inputs that both answered."""
        wanted = query(a=a, b=b, question=question)
        return self._fetch(Comparison, call("compareVersions", "GET", "prisms", prism, "compare", query=wanted))

    def read_drift(self, prism: str, *, version: int | None = None) -> Drift:
        """Compare the answers of a version in the last hour and day with its reference. None is the latest version."""
        return self._fetch(Drift, call("readDrift", "GET", "prisms", prism, "drift", query=query(version=version)))

    def set_drift(
        self, prism: str, watched: bool, *, version: int | None = None, reference: DriftPeriod | None = None
    ) -> Drift:
        """Watch a prism, or stop it, which forgets what was counted.

        reference is that of a version, or of the latest; None is its first 2,000 results.
        """
        body = given(watched=watched, version=version, reference=reference)
        return self._fetch(Drift, call("setDrift", "PUT", "prisms", prism, "drift", body=body))


def _of(operation: str, method: str, prism: str, version: int, *more: str, **rest: Any) -> Call:
    return call(operation, method, "prisms", prism, "versions", version, *more, **rest)
