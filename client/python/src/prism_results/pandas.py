"""Answers the rows of a pandas DataFrame."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

try:
    import pandas as pd
except ModuleNotFoundError as err:
    raise ModuleNotFoundError("pandas is not installed: pip install 'prism-results[pandas]'") from err

from prism_results import BadRequestError, Client, FailedError, ResultRow, ValidationError
from prism_results._core import new_idempotency_key
from prism_results._sync.concurrency import each

OUTCOME = ("prism_result_id", "prism_status", "prism_error")
"""The columns of the outcome, which are before those of the answers."""


def answer_frame(
    client: Client,
    prism: str,
    frame: pd.DataFrame,
    *,
    text: str | None = None,
    fields: Mapping[str, str] | None = None,
    ref: str | None = None,
    context: str | None = None,
    version: int | None = None,
    key: str | None = None,
    prefix: str = "",
    concurrency: int = 8,
    progress: bool | Callable[[int, int], object] = True,
) -> pd.DataFrame:
    """Answer each row of a frame through a prism, and return the frame with the answers beside it.

    The result has the columns of the frame, then prism_result_id, prism_status and prism_error, then those of the prism's
    Lens, whose names begin with prefix. The status is "ok", "failed" if the model gave no usable answer, or "invalid" if
    Prism refused the row; prism_error says why.

    text is the column with the value of the prism's only field; fields has the column of each field by its key. Cells are
    sent as texts, and missing ones as empty texts. ref and context are columns too, where a missing cell is none. version
    pins a version of the prism.

    key makes the call safe to repeat: with the same key, a row of the same index label is not answered twice, so a call
    that ended early continues where it ended. The labels of the index have to be unique then.

    concurrency rows are answered at once. progress is told how many rows are done, and how many there are; True shows a
    line on the standard error. Any other error than that of a row ends the call once the rows under way have ended.
    """
    known = client.read_prism(prism)
    asked = known.version if version is None else client.read_version(prism, version)
    columns = _columns([field.key for field in asked.fields], text, fields)
    names = {column.name: prefix + column.name for column in known.lens.columns}
    _check(frame, [*columns.values(), *(one for one in (ref, context) if one is not None)], [*OUTCOME, *names.values()])
    if key is not None and not frame.index.is_unique:
        raise ValueError("key: the labels of the frame's index are not unique")

    texts = {field: [_text(cell) or "" for cell in frame[column]] for field, column in columns.items()}
    refs, contexts = ([None if c is None else _text(x) for x in frame[c]] if c is not None else None for c in (ref, context))
    labels = list(frame.index)
    rows: list[dict[str, Any]] = [{} for _ in labels]
    shown = _Progress(len(labels), progress)

    def answer(at: int) -> None:
        row_key = new_idempotency_key() if key is None else f"{key}-{labels[at]}"

        def call() -> ResultRow:
            return client.create_result_json(
                prism,
                fields={field: values[at] for field, values in texts.items()},
                version=version,
                idempotency_key=row_key,
                ref=refs[at] if refs else None,
                context=contexts[at] if contexts else None,
            )

        cells: Mapping[str, Any] = {}
        outcome: tuple[str | None, str, str | None]
        try:
            result = client._patiently(call)
            outcome, cells = (result.id, result.status, result.error), result.row
        except FailedError as err:
            failed = err.result
            outcome = (failed.id if failed else None, "failed", failed.error if failed else str(err))
        except (ValidationError, BadRequestError) as err:
            outcome = (None, "invalid", err.message)
        rows[at] = dict(zip(OUTCOME, outcome, strict=True)) | {prefix + name: value for name, value in cells.items()}
        shown.advance()

    try:
        each(range(len(rows)), max(1, min(concurrency, len(rows))), answer)
    finally:
        shown.end()
    answered = pd.DataFrame(rows, index=frame.index, columns=list(dict.fromkeys([*OUTCOME, *names.values(), *_names(rows)])))
    return pd.concat([frame, answered], axis=1)


def _columns(keys: list[str], text: str | None, fields: Mapping[str, str] | None) -> Mapping[str, str]:
    """The column of each field."""
    if (text is None) == (fields is None):
        raise ValueError(f"give either text or fields; the fields of the prism are {', '.join(keys)}")
    if fields is not None:
        if set(fields) != set(keys):
            raise ValueError(f"fields: the fields of the prism are {', '.join(keys)}, not {', '.join(fields)}")
        return fields
    if len(keys) != 1 or text is None:
        raise ValueError(f"text: the prism has several fields: {', '.join(keys)}; give fields")
    return {keys[0]: text}


def _check(frame: pd.DataFrame, needed: list[str], added: list[str]) -> None:
    """Check the columns of the frame."""
    there = list(frame.columns)
    for column in needed:
        if there.count(column) != 1:
            raise ValueError(f"the frame has {there.count(column)} columns {column}, not one")
    for column in added:
        if column in there:
            raise ValueError(f"the frame has a column {column} already: rename it, or give prefix for those of the Lens")


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """The names of all cells, of a Lens too that was replaced meanwhile."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _text(cell: Any) -> str | None:
    """The text of a cell. None for a missing one."""
    return None if pd.api.types.is_scalar(cell) and pd.isna(cell) else str(cell)


class _Progress:
    """Counts rows, and tells how many are done."""

    def __init__(self, total: int, told: bool | Callable[[int, int], object]) -> None:
        self._lock = threading.Lock()
        self._done, self._total = 0, total
        self._tell = told if callable(told) else (self._line if told else None)
        self._next = 0.0

    def advance(self) -> None:
        """Count a row."""
        with self._lock:
            self._done += 1
            if self._tell:
                self._tell(self._done, self._total)

    def _line(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next or done == total:
            self._next = now + 0.1
            sys.stderr.write(f"\r{done:,} of {total:,} rows")
            sys.stderr.flush()

    def end(self) -> None:
        """End the line."""
        if self._tell == self._line and self._done:
            sys.stderr.write("\n")
