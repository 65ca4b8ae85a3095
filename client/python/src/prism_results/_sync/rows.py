# Written by generate.py; do not edit.
"""Downloads of the rows of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from prism_results import _core
from prism_results._sync.base import Stream, opened
from prism_results._sync.concurrency import sleep
from prism_results._rows import RowSplitter
from prism_results.errors import NoResponseError, PrismError
from prism_results.models import RowsFormat


class RunRows(Stream):
    """The rows of a run. One whose connection is lost continues behind the last row that was read. It gives whole rows.

    One of xlsx or parquet does not continue.
    """

    def __iter__(self) -> Iterator[bytes]:
        query = self._call.query
        kind = cast(RowsFormat, _core.row_format(self._open()))
        pieces, failures = self._pieces(), 0
        if kind in ("xlsx", "parquet"):
            for piece in pieces:
                yield piece
            return
        splitter = RowSplitter(kind, int(query.get("after", "0")), query.get("delimiter"))
        while True:
            try:
                rows = _take(pieces, splitter)
            except NoResponseError as err:
                failures += 1
                pieces = self._again(splitter, failures, err)
                continue
            if rows is None:
                return
            if rows:
                failures = 0
                yield rows

    def _again(self, splitter: RowSplitter, failures: int, err: PrismError) -> Iterator[bytes]:
        """Request the rows behind the last whole one."""
        client = self._client
        while True:
            pause = None
            if failures < _core.PATIENCE and _core.may_pass(err):
                pause = client._pause.after(failures, err, client._until)
            if pause is None:
                raise err
            sleep(pause)
            self._open().close()  # it is broken
            try:
                rest = _core.with_query(self._call, after=splitter.after() or None)
                self._response = client._repeat(rest, client._until, opened)
            except PrismError as again:
                err, failures = again, failures + 1
            else:
                splitter.begin()
                return self._pieces()


def _take(pieces: Iterator[bytes], splitter: RowSplitter) -> bytes | None:
    """The rows that the next piece completes. None behind the last one."""
    try:
        return splitter.take(pieces.__next__())
    except StopIteration:
        splitter.end()
        return None
