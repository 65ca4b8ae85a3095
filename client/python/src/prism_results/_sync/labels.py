# Written by generate.py; do not edit.
"""Labels to give, and calibrations by labels."""

from __future__ import annotations

from collections.abc import Sequence

from prism_results._sync.base import Base, Pages
from prism_results._core import call, query, with_query
from prism_results.models import Calibration, LabelQueuePage, LabelSample, NewCalibrationMethod, QueuedResult


class LabelQueue(Pages[QueuedResult]):
    """A list of results to label."""

    def page(self, *, limit: int | None = None, cursor: str | None = None) -> LabelQueuePage:
        """One page, with the sample to send with the labels of its results. It may be empty before the last one."""
        return self._client._fetch(LabelQueuePage, with_query(self._call, limit=limit, cursor=cursor))


class Labels(Base):
    """The calls about labels whose methods are not the plain ones."""

    def list_label_queue(
        self,
        prism: str,
        question: str,
        *,
        order: LabelSample | None = None,
        version: int | None = None,
        assignee: str | None = None,
        q: str | None = None,
        where: Sequence[str] = (),
    ) -> LabelQueue:
        """List results of a prism that have no label for a question.

        The order is random, or begins with the answers of which the model was least sure. Send the labels with the sample
        of the page, which is that order. q and where are those of list_results.
        """
        wanted = query(question=question, order=order, version=version, assignee=assignee, q=q, where=where)
        return LabelQueue(self, QueuedResult, call("listLabelQueue", "GET", "prisms", prism, "label-queue", query=wanted))

    def create_calibration(
        self,
        prism: str,
        version: int,
        question: str,
        method: NewCalibrationMethod = "auto",
        *,
        option: str | None = None,
    ) -> Calibration:
        """Fit a calibration to the labels of a question of a version. It counts for nothing until it is pinned.

        Of a tags question it is that of one of its options. Too few labels are a ConflictError, and so is auto where no
        method is better than none.
        """
        path = ("prisms", prism, "versions", version, "calibrations")
        body = {"question": question, "method": method} | ({} if option is None else {"option": option})
        return self._fetch(Calibration, call("createCalibration", "POST", *path, body=body, want=201))
