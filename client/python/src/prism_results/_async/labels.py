"""Labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prism_results._async.base import AsyncBase, AsyncPages
from prism_results._core import call, given, query, with_query
from prism_results.models import (
    AddedLabels,
    LabelledResult,
    LabelQueuePage,
    LabelSample,
    LabelValue,
    NewLabel,
    QueuedResult,
)


class AsyncLabelQueue(AsyncPages[QueuedResult]):
    """A list of results to label."""

    async def page(self, *, limit: int | None = None, cursor: str | None = None) -> LabelQueuePage:
        """One page, with the sample to send with the labels of its results. It may be empty before the last one."""
        return await self._client._fetch(LabelQueuePage, with_query(self._call, limit=limit, cursor=cursor))


class AsyncLabels(AsyncBase):
    """The calls about labels."""

    async def put_labels(
        self,
        result_id: str,
        labels: Mapping[str, LabelValue | None],
        *,
        sample: LabelSample | None = None,
        annotator: str | None = None,
    ) -> LabelledResult:
        """Say what was right for questions of a result, and return all labels that it has then.

        A label takes the place of the one that the question has, and None removes it. sample is that of the label queue,
        and annotator who says so. A failed result is a ConflictError.
        """
        body = given(labels=labels, sample=sample, annotator=annotator)
        return await self._fetch(LabelledResult, call("putLabels", "PUT", "results", result_id, "labels", body=body))

    async def read_labels(self, result_id: str) -> LabelledResult:
        """Read the labels of a result."""
        return await self._fetch(LabelledResult, call("readLabels", "GET", "results", result_id, "labels"))

    async def add_labels(
        self,
        prism: str,
        labels: Sequence[NewLabel],
        *,
        sample: LabelSample | None = None,
        annotator: str | None = None,
        version: int | None = None,
    ) -> AddedLabels:
        """Label up to 1,000 results of a prism. What can be stored is; the response says which were not.

        version is that of the results; None is any. The call is idempotent.
        """
        body = given(labels=labels, sample=sample, annotator=annotator, version=version)
        one = call("addLabels", "POST", "prisms", prism, "labels", body=body, repeatable=True)
        return await self._fetch(AddedLabels, one)

    def list_labels(self, prism: str, *, version: int | None = None, question: str | None = None) -> AsyncPages[LabelledResult]:
        """List the labelled results of a prism, newest first: of one version, or with the labels of one question alone."""
        wanted = query(version=version, question=question)
        return AsyncPages(self, LabelledResult, call("listLabels", "GET", "prisms", prism, "labels", query=wanted))

    def list_label_queue(
        self, prism: str, question: str, *, order: LabelSample | None = None, version: int | None = None
    ) -> AsyncLabelQueue:
        """List results of a prism that have no label for a question.

        The order is random, or begins with the answers of which the model was least sure. Send the labels with the sample
        of the page, which is that order.
        """
        wanted = query(question=question, order=order, version=version)
        return AsyncLabelQueue(self, QueuedResult, call("listLabelQueue", "GET", "prisms", prism, "label-queue", query=wanted))
