"""Rows of a download that can be cut at any byte, and how it continues behind the last whole row."""

from __future__ import annotations

import csv
import io
import re

from prism_results import _json
from prism_results.errors import ColumnsChangedError, NoResponseError
from prism_results.models import RowsFormat

OPERATION = "listRunRows"
OWN_COLUMNS = ("prism_row", "prism_result_id", "prism_status", "prism_error")


class RowSplitter:
    """Splits the pieces of downloads into whole rows, and knows the last one."""

    def __init__(self, format: RowsFormat, after: int, delimiter: str | None = None) -> None:
        self._format = format
        # What is between cells that may be quoted: those of csv, and of tsv with a delimiter of its own.
        self._between = None if format == "jsonl" else delimiter or ("," if format == "csv" else None)
        self._after = after
        self._header: bytes | None = None
        self._last: bytes | None = None
        self.begin()

    def begin(self) -> None:
        """A connection begins, with the header if the format has one."""
        self._rest = b""
        self._scanned = 0  # how much of the rest holds no row's end
        self._quoted = False  # whether the scanned part ends inside a csv cell
        self._header_due = self._format != "jsonl"

    def take(self, piece: bytes) -> bytes:
        """The whole rows that a piece completes, without the header of a download that continues."""
        data = self._rest + piece
        at, scanned = 0, self._scanned
        rows: list[bytes] = []
        while (end := data.find(b"\n", scanned)) >= 0:
            # Quotes inside a csv cell are doubled, so an odd number of them is a line break inside a cell.
            if self._between and data.count(b'"', scanned, end) % 2:
                self._quoted = not self._quoted
            scanned = end + 1
            if not self._quoted:
                rows.append(data[at:scanned])
                at = scanned
        self._rest, self._scanned = data[at:], scanned - at
        if rows and self._header_due:
            self._header_due = False
            if self._header is None:
                self._header = rows[0]
                self._last = rows[-1] if len(rows) > 1 else self._last
                return b"".join(rows)
            if rows.pop(0) != self._header:
                raise ColumnsChangedError("the Lens of the prism changed during the download")
        if rows:
            self._last = rows[-1]
        return b"".join(rows)

    def end(self) -> None:
        """The connection ends. A row that is incomplete is a lost connection."""
        if self._rest:
            raise NoResponseError(OPERATION, "the last row is incomplete", sent=True)

    def after(self) -> int:
        """The number of the last whole row."""
        if self._last is None:
            return self._after
        names, cells = self._cells(self._last)
        # The names have prefixes if the file has such names too. The file's columns come first, so the last four names in
        # a row are Prism's.
        for at in range(len(names) - len(OWN_COLUMNS), -1, -1):
            if all(re.fullmatch(f"(prism_)*{own}", name) for own, name in zip(OWN_COLUMNS, names[at:], strict=False)):
                return int(cells[at])
        raise ValueError("a row without its number")

    def _cells(self, row: bytes) -> tuple[list[str], list[str]]:
        """The names of the columns and the cells of a row. In tsv, quotes are text."""
        if self._format == "jsonl":
            members = _json.objects(_json.loads(row))
            return list(members), [str(value) for value in members.values()]
        texts = (self._header or b"").decode("utf-8-sig"), row.decode()
        if not self._between:
            names, cells = (text.rstrip("\r\n").split("\t") for text in texts)
        else:
            names, cells = (next(csv.reader(io.StringIO(text, newline=""), delimiter=self._between)) for text in texts)
        return names, cells
