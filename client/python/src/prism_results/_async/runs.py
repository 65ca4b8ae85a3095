"""Runs of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from prism_results._async.base import AsyncPages, AsyncStream
from prism_results._async.files import AsyncFiles
from prism_results._async.rows import AsyncRunRows
from prism_results._core import PLAN_TIMEOUT, call, checked_options, events, given, new_idempotency_key, query, text_style
from prism_results._json import MalformedError, decode, loads
from prism_results._source import Content
from prism_results.errors import NoResponseError, PrismError
from prism_results.models import (
    KEEP,
    Delimiter,
    DryRun,
    FileFormat,
    Keep,
    RowsFormat,
    RowStatus,
    Run,
    RunOptions,
    RunStatus,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncRuns(AsyncFiles):
    """The calls about runs."""

    async def create_run(
        self,
        prism: str,
        file_id: str | None = None,
        fields: Mapping[str, str] | None = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Start a run of a ready file through a prism, given by its slug or id. fields has the column of each field.

        With from_labels_of in place of both, it is a run of the labelled inputs of a version, and with from_results of the
        inputs of results.

        The idempotency key makes repeats of the call safe: the same key is the same run. None is a new key for this
        call, kept over its attempts. An empty text is no key, and such a call is not repeated when its response is lost.
        """
        checked_options(options, RunOptions.__annotations__)
        key = new_idempotency_key() if idempotency_key is None else idempotency_key
        body = given(file_id=file_id, fields=fields, **options, idempotency_key=key or None)
        one = call("createRun", "POST", "prisms", prism, "runs", body=body, want=201, repeatable=bool(key))
        return await self._fetch(Run, one)

    async def check_run(
        self, prism: str, file_id: str | None = None, fields: Mapping[str, str] | None = None, **options: Unpack[RunOptions]
    ) -> DryRun:
        """Make every check of create_run and those of the rows, and say what the run would do. It makes and sends nothing."""
        checked_options(options, RunOptions.__annotations__)
        body = given(file_id=file_id, fields=fields, **options)
        one = call("createRun", "POST", "prisms", prism, "runs", timeout=PLAN_TIMEOUT).of(body, 200, dry_run=True)
        return await self._fetch(DryRun, one)

    def list_runs(self, *, prism: str | None = None, status: RunStatus | None = None) -> AsyncPages[Run]:
        """List the account's runs, newest first, of a prism or a status if given."""
        return AsyncPages(self, Run, call("listRuns", "GET", "runs", query=query(prism=prism, status=status)))

    async def read_run(self, run_id: str) -> Run:
        """Read a run."""
        return await self._fetch(Run, call("readRun", "GET", "runs", run_id))

    async def pause_run(self, run_id: str) -> Run:
        """Begin no further row of a run. Those under way end within 16 s. The call is idempotent."""
        return await self._fetch(Run, call("pauseRun", "POST", "runs", run_id, "pause", repeatable=True))

    async def resume_run(self, run_id: str) -> Run:
        """Continue a paused run. The call is idempotent."""
        return await self._fetch(Run, call("resumeRun", "POST", "runs", run_id, "resume", repeatable=True))

    async def cancel_run(self, run_id: str) -> Run:
        """End a run for good. Answers that are there stay. The call is idempotent."""
        return await self._fetch(Run, call("cancelRun", "POST", "runs", run_id, "cancel", repeatable=True))

    async def retry_run(self, run_id: str) -> Run:
        """Send the failed rows of a run to the model again. It is a ConflictError if there are none."""
        return await self._fetch(Run, call("retryRun", "POST", "runs", run_id, "retry"))

    async def set_run_limits(
        self, run_id: str, *, rows_per_second: float | Keep | None = KEEP, concurrency: int | Keep | None = KEEP
    ) -> Run:
        """Change how fast a run goes. None removes a limit."""
        limits = {"rows_per_second": rows_per_second, "concurrency": concurrency}
        body = {name: limit for name, limit in limits.items() if limit is not KEEP}
        return await self._fetch(Run, call("setRunLimits", "PUT", "runs", run_id, "limits", body=body))

    def list_run_rows(
        self,
        run_id: str,
        *,
        format: RowsFormat | None = None,
        only: RowStatus | None = None,
        after: int | None = None,
        bom: bool = False,
        delimiter: Delimiter | None = None,
        safe: bool = False,
        raw: bool = False,
    ) -> AsyncStream:
        """Stream the rows of a run in the order of its file: the columns of the file, then the outcome, then the answers.

        It works in every state of the run. Without a format they have that of the file, or csv if it is one of Parquet. only
        selects rows by their outcome, and after those behind the one with this number. A stream of csv, tsv or jsonl whose
        connection is lost continues behind the last row that was read. bom, delimiter, safe
        and raw are those of export_results.
        """
        wanted = query(format=format, only=only, after=after, raw="true" if raw else None, **text_style(bom, delimiter, safe))
        return AsyncRunRows(self, call("listRunRows", "GET", "runs", run_id, "rows", query=wanted))

    def follow_run(self, run_id: str) -> AsyncStream:
        """Stream a run as server-sent events, at most two a second, until it is over. watch_run reads them."""
        return AsyncStream(self, call("followRun", "GET", "runs", run_id, "events"))

    async def watch_run(self, run_id: str, progress: Callable[[Run], object] | None = None) -> Run:
        """Follow a run until it is finished, cancelled or paused, and return it.

        It reads the run's events, or where those do not arrive, such as behind a proxy that holds them back, asks every
        2 s. progress is told the run whenever it is read, not concurrently. The run goes on if watching ends.
        """
        client = self._bounded()
        seen = progress or _unseen
        n, by_events = 0, True
        while True:
            n += 1
            if by_events:
                last = await client._last_event(run_id, seen)
                by_events = last is not None
                if last is not None and last.settled:
                    return last
            run = await client._patiently(lambda: client.read_run(run_id))
            seen(run)
            if run.settled:
                return run
            await client._wait("watchRun", n)

    async def _last_event(self, run_id: str, seen: Callable[[Run], object]) -> Run | None:
        """Pass the events of a run to seen, until it is settled or the stream ends. Returns the last, or None without one."""
        last: Run | None = None
        stream = self.follow_run(run_id)
        try:
            await stream.__aenter__()
        except PrismError:
            return None
        try:
            lines = stream.lines()
            while True:
                try:
                    data = events(await lines.__anext__())
                    run = None if data is None else decode(Run, loads(data))
                except MalformedError:
                    continue
                except (StopAsyncIteration, NoResponseError):
                    return last
                if run is not None:
                    last = run
                    seen(run)
                    if run.settled:
                        return last
        finally:
            await stream.__aexit__(None, None, None)

    async def run_file(
        self,
        prism: str,
        content: Content,
        fields: Mapping[str, str],
        *,
        filename: str | None = None,
        format: FileFormat | None = None,
        progress: Callable[[Run], object] | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Upload a file as upload_file does, run it through a prism, and follow the run as watch_run does.

        fields has the column of each field. The run is returned when it is finished, cancelled or paused; it goes on if
        following it ends. list_run_rows has its rows with their answers.
        """
        checked_options(options, RunOptions.__annotations__)
        client = self._bounded()
        file = await client.upload_file(content, name=filename, format=format)
        key = new_idempotency_key() if idempotency_key is None else idempotency_key

        async def make() -> Run:
            return await client.create_run(prism, file.id, fields, idempotency_key=key, **options)

        run = await client._patiently(make) if key else await make()
        return await client.watch_run(run.id, progress)


def _unseen(run: Run) -> None:
    """The progress that nobody looks at."""
