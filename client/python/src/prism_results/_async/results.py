"""Results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from prism_results._async.base import AsyncBase, AsyncPages, AsyncStream
from prism_results._core import ANSWER_TIMEOUT, TIMEOUT, Call, call, given, new_idempotency_key, query, text_style, with_query
from prism_results.models import (
    Assigned,
    Change,
    Changes,
    Deleting,
    Delimiter,
    ExportFormat,
    Format,
    Record,
    Result,
    ResultCounts,
    ResultPage,
    ResultRow,
    ResultRowPage,
    Retrying,
    Status,
)


class AsyncFoundResults(AsyncPages[Result]):
    """A list of results."""

    async def page(self, *, limit: int | None = None, cursor: str | None = None) -> ResultPage:
        """One page, with what a search did not look at."""
        return await self._client._fetch(ResultPage, with_query(self._call, limit=limit, cursor=cursor))


class AsyncFoundRows(AsyncPages[ResultRow]):
    """A list of results with the columns of their Lens."""

    async def page(self, *, limit: int | None = None, cursor: str | None = None) -> ResultRowPage:
        """One page, with what a search did not look at."""
        return await self._client._fetch(ResultRowPage, with_query(self._call, limit=limit, cursor=cursor))


class AsyncResults(AsyncBase):
    """The calls about results."""

    async def list_changes(
        self, *, after: int | None = None, prism: str | None = None, limit: int | None = None, wait: int | None = None
    ) -> Changes:
        """Read the changes of results behind the number after, oldest first, of a prism if given: at most limit, or 100.

        With wait, a call without a change waits so many seconds for one, at most 30. Send next of the page as after to
        read what follows. Raises ConflictError if the changes are not kept any more.
        """
        wanted = query(after=after, prism=prism, limit=limit, wait=wait)
        return await self._fetch(Changes, call("listChanges", "GET", "changes", query=wanted, timeout=TIMEOUT + (wait or 0)))

    async def changes(self, *, after: int = 0, prism: str | None = None, wait: int = 0) -> AsyncIterator[Change]:
        """Iterate over the changes behind the number after, oldest first, of a prism if given.

        With wait it waits for further ones, and ends only with an error; else it ends behind the last one. Who stores the
        seq of the last change together with what it did about it, and goes on from there, misses nothing and does nothing
        twice.
        """
        while True:
            page = await self.list_changes(after=after, prism=prism, limit=1000, wait=wait)
            for change in page.data:
                yield change
            if page.next == after and not wait:
                return
            after = page.next

    async def create_result(
        self,
        prism: str,
        text: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        ref: str | None = None,
        context: str | None = None,
    ) -> Result:
        """Answer a text through a prism, given by its slug or id, and save the result.

        Send either text, the value of the version's only field, or fields, a value for each field. version pins a
        version; None is the latest. ref is your own name for the call, stored with the result. context is what the model
        should know beside the fields.

        The idempotency key makes repeats of the call safe, by you and by the client: a repeat with the same key returns
        the stored result, or retries it if it failed. None is a new key for this call, kept over its attempts. An empty
        text is no key, and such a call is not repeated when its response is lost.

        Raises FailedError with the saved result if the model gives no usable answer.
        """
        members = given(fields=fields, text=text, version=version, ref=ref, context=context)
        return await self._fetch(Result, _create(prism, members, idempotency_key, "raw"))

    async def create_result_json(
        self,
        prism: str,
        text: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        ref: str | None = None,
        context: str | None = None,
    ) -> ResultRow:
        """create_result with the columns of the prism's Lens in place of the answers."""
        members = given(fields=fields, text=text, version=version, ref=ref, context=context)
        return await self._fetch(ResultRow, _create(prism, members, idempotency_key, "json"))

    async def create_result_as(
        self,
        format: Format,
        prism: str,
        text: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        ref: str | None = None,
        context: str | None = None,
    ) -> bytes:
        """create_result in any format."""
        members = given(fields=fields, text=text, version=version, ref=ref, context=context)
        return await self._content(_create(prism, members, idempotency_key, format))

    async def read_result(self, result_id: str) -> Result:
        """Read a saved result, also a failed one. It does not call the model."""
        return await self._fetch(Result, _read(result_id, "raw"))

    async def read_result_json(self, result_id: str) -> ResultRow:
        """read_result with the columns of the prism's Lens in place of the answers."""
        return await self._fetch(ResultRow, _read(result_id, "json"))

    async def read_result_as(self, format: Format, result_id: str) -> bytes:
        """read_result in any format."""
        return await self._content(_read(result_id, format))

    async def retry_result(self, result_id: str) -> Result:
        """Send a failed result's fields to the model again and save a new result, to which the idempotency key moves.

        A result can be retried once: the second retry is a ConflictError. If the model fails again, FailedError has the
        new result, which can be retried in turn. A call whose response was lost is not repeated.
        """
        return await self._fetch(Result, _retry(result_id, "raw"))

    async def retry_result_json(self, result_id: str) -> ResultRow:
        """retry_result with the columns of the prism's Lens in place of the answers."""
        return await self._fetch(ResultRow, _retry(result_id, "json"))

    async def retry_result_as(self, format: Format, result_id: str) -> bytes:
        """retry_result in any format."""
        return await self._content(_retry(result_id, format))

    async def read_record(self, result_id: str) -> Record:
        """Read everything that is kept of the call that made a result."""
        return await self._fetch(Record, call("readRecord", "GET", "results", result_id, "record"))

    def list_results(
        self,
        *,
        prism: str | None = None,
        status: Status | None = None,
        ref: str | None = None,
        version: int | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        model: str | None = None,
        key_id: str | None = None,
        assignee: str | None = None,
        run: str | None = None,
        q: str | None = None,
        where: Sequence[str] = (),
        sort: str | None = None,
        fields: bool = False,
    ) -> AsyncFoundResults:
        """List the account's results that match: newest first, in the order of sort, or those of a run in the order of its rows.

        prism is a slug or id. An empty ref is that of results whose ref is the empty text. from_ is the first time, and
        to the end of the times. model is the name of a configured model, and key_id the id of the API key of the calls. q
        has words of texts, and where conditions on answers and labels, which all must hold. With fields, each result has its
        fields and context.
        """
        wanted = query(
            prism=prism,
            status=status,
            ref=ref,
            version=version,
            from_=from_,
            to=to,
            model=model,
            key_id=key_id,
            assignee=assignee,
            run=run,
            q=q,
            where=where,
            sort=sort,
            fields="true" if fields else None,
        )
        return AsyncFoundResults(self, Result, call("listResults", "GET", "results", query={**wanted, "format": "raw"}))

    def list_results_json(
        self,
        *,
        prism: str | None = None,
        status: Status | None = None,
        ref: str | None = None,
        version: int | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        model: str | None = None,
        key_id: str | None = None,
        assignee: str | None = None,
        run: str | None = None,
        q: str | None = None,
        where: Sequence[str] = (),
        sort: str | None = None,
        fields: bool = False,
    ) -> AsyncFoundRows:
        """list_results with the columns of the prism's Lens in place of the answers."""
        wanted = query(
            prism=prism,
            status=status,
            ref=ref,
            version=version,
            from_=from_,
            to=to,
            model=model,
            key_id=key_id,
            assignee=assignee,
            run=run,
            q=q,
            where=where,
            sort=sort,
            fields="true" if fields else None,
        )
        return AsyncFoundRows(self, ResultRow, call("listResults", "GET", "results", query={**wanted, "format": "json"}))

    async def count_results(
        self,
        by: Sequence[str] = (),
        *,
        prism: str | None = None,
        status: Status | None = None,
        ref: str | None = None,
        version: int | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        model: str | None = None,
        key_id: str | None = None,
        assignee: str | None = None,
        run: str | None = None,
        q: str | None = None,
        where: Sequence[str] = (),
    ) -> ResultCounts:
        """Count the results that match by keys of questions, @version, @model, @status and @labelled."""
        wanted = query(
            by=",".join(by) or None,
            prism=prism,
            status=status,
            ref=ref,
            version=version,
            from_=from_,
            to=to,
            model=model,
            key_id=key_id,
            assignee=assignee,
            run=run,
            q=q,
            where=where,
        )
        return await self._fetch(ResultCounts, call("countResults", "GET", "results", "counts", query=wanted))

    def export_results(
        self,
        prism: str,
        *,
        format: ExportFormat = "csv",
        status: Status | None = None,
        ref: str | None = None,
        version: int | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        model: str | None = None,
        key_id: str | None = None,
        assignee: str | None = None,
        run: str | None = None,
        q: str | None = None,
        where: Sequence[str] = (),
        after: str | None = None,
        bom: bool = False,
        delimiter: Delimiter | None = None,
        safe: bool = False,
        raw: bool = False,
    ) -> AsyncStream:
        """Stream the results of a prism, oldest first. csv and tsv begin with one header row.

        after is an id: only results whose id is greater, which are those behind it. bom, delimiter and safe write csv and
        tsv for spreadsheets: with a byte-order mark, with another delimiter and quotes, and with ' before texts that could be
        a formula. parquet takes no after; with raw it has a column of the stored answers, with every probability.
        """
        style = text_style(bom, delimiter, safe)
        filters = query(
            status=status,
            ref=ref,
            version=version,
            from_=from_,
            to=to,
            model=model,
            key_id=key_id,
            assignee=assignee,
            run=run,
            q=q,
            where=where,
        )
        wanted = query(format=format, after=after, raw="true" if raw else None, **style) | filters
        return AsyncStream(self, call("exportResults", "GET", "prisms", prism, "results", query=wanted))

    def export_selected(self, prism: str, ids: Sequence[str], *, format: ExportFormat = "csv") -> AsyncStream:
        """Stream the results of a prism that have some ids, at most 1,000, oldest first."""
        body = given(ids=ids, format=format)
        one = call("exportSelected", "POST", "prisms", prism, "results", "export", body=body, repeatable=True)
        return AsyncStream(self, one)

    async def delete_results(
        self,
        prism: str,
        *,
        ref: str | None = None,
        from_: datetime | None = None,
        before: datetime | None = None,
        status: Status | None = None,
        version: int | None = None,
        model: str | None = None,
        key_id: str | None = None,
        run: str | None = None,
        assignee: str | None = None,
        ids: Sequence[str] | None = None,
        q: str | None = None,
        where: Sequence[str] | None = None,
        expect: int | None = None,
        dry_run: bool = False,
    ) -> Deleting:
        """Delete the results of a prism that match every member that is given, in the background. One is needed.

        An empty ref finds results with an empty ref, not those without one. before is the end of the times of saving.
        With expect another number of results deletes none.
        dry_run counts the results and deletes none. A call whose response was lost is not repeated.
        """
        members = given(
            ref=ref,
            from_=from_,
            before=before,
            status=status,
            version=version,
            model=model,
            key_id=key_id,
            run=run,
            assignee=assignee,
            ids=ids,
            q=q,
            where=where,
        )
        if not members:
            raise ValueError("deleteResults: a deletion needs a filter")
        members |= given(expect=expect)
        one = call("deleteResults", "POST", "prisms", prism, "results", "delete")
        return await self._fetch(Deleting, one.of(members, 202, dry_run))

    async def retry_results(
        self,
        prism: str,
        expect: int | None = None,
        *,
        from_: datetime | None = None,
        to: datetime | None = None,
        q: str | None = None,
        where: Sequence[str] | None = None,
        dry_run: bool = False,
    ) -> Retrying:
        """Retry all results of a prism that failed and were not retried, in the background, if they are as many as expected.

        Another number is a ConflictError, also while results of the prism are being retried. dry_run counts the results,
        needs no number, and retries none. A call whose response was lost is not repeated.
        """
        if expect is None and not dry_run:
            raise ValueError("retryResults: a retry needs the number to expect, which a dry run counts")
        body = given(prism=prism, status="failed", from_=from_, to=to, q=q, where=where, expect=expect)
        return await self._fetch(Retrying, call("retryResults", "POST", "results", "retry").of(body, 202, dry_run))

    async def assign_results(
        self,
        prism: str,
        member_id: str | None,
        expect: int | None = None,
        *,
        ref: str | None = None,
        from_: datetime | None = None,
        to: datetime | None = None,
        status: Status | None = None,
        version: int | None = None,
        model: str | None = None,
        key_id: str | None = None,
        run: str | None = None,
        assignee: str | None = None,
        ids: Sequence[str] | None = None,
        q: str | None = None,
        where: Sequence[str] | None = None,
        dry_run: bool = False,
    ) -> Assigned:
        """Assign the results of a prism that match to a member, or with None to nobody, if they are as many as expected.

        Another number is a ConflictError, and so are more than 1,000. dry_run counts the results, needs no number, and assigns
        none. A call whose response was lost is not repeated.
        """
        if expect is None and not dry_run:
            raise ValueError("assignResults: assigning needs the number to expect, which a dry run counts")
        body = given(
            ref=ref,
            from_=from_,
            to=to,
            status=status,
            version=version,
            model=model,
            key_id=key_id,
            run=run,
            assignee=assignee,
            ids=ids,
            q=q,
            where=where,
            expect=expect,
        )
        one = call("assignResults", "POST", "prisms", prism, "results", "assign")
        return await self._fetch(Assigned, one.of({"member_id": member_id, **body}, 200, dry_run))


def _create(prism: str, members: dict[str, object], key: str | None, format: Format) -> Call:
    if key is None:
        key = new_idempotency_key()
    if key:
        members["idempotency_key"] = key
    return call(
        "createResult",
        "POST",
        "prisms",
        prism,
        "results",
        query={"format": format},
        body=members,
        timeout=ANSWER_TIMEOUT,
        repeatable=bool(key),
        answers=_answers(format),
    )


def _answers(format: Format) -> str:
    return "result" if format in ("json", "raw") else "rows"


def _read(result_id: str, format: Format) -> Call:
    return call("readResult", "GET", "results", result_id, query={"format": format})


def _retry(result_id: str, format: Format) -> Call:
    path = ("results", result_id, "retry")
    return call("retryResult", "POST", *path, query={"format": format}, timeout=ANSWER_TIMEOUT, answers=_answers(format))
