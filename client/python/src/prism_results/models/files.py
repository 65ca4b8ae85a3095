"""Uploaded files of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from prism_results.models.base import Received

FileFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "xlsx", "parquet"]
FileStatus: TypeAlias = Literal["uploading", "reading", "ready", "unusable"]


@dataclass(frozen=True, slots=True)
class FileColumn(Received):
    """A column of a file."""

    name: str
    filled: int
    """The cells that are not empty."""
    longest: int
    """The characters of the longest cell."""


@dataclass(frozen=True, slots=True)
class File(Received):
    """An uploaded file, or one that is being uploaded."""

    id: str
    name: str
    format: FileFormat
    bytes: int
    sha256: str | None
    """None if it was not sent."""
    status: FileStatus
    error: str | None
    """Why the file is unusable."""
    part_bytes: int
    """The size of every part but the last, which is what remains."""
    parts: int
    missing: Sequence[int] | None
    """The first 1,000 numbers of parts that were not sent. The first part is 1. None behind uploading."""
    rows: int | None
    """None until the file is ready."""
    columns: Sequence[FileColumn] | None
    """None until the file is ready."""
    delimiter: str | None
    created_at: datetime
    expires_at: datetime
    """When it is deleted, unless a run uses it."""


@dataclass(frozen=True, slots=True)
class FilePart(Received):
    """A part of a file that Prism has."""

    part: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class FileRows(Received):
    """Rows of a file."""

    data: Sequence[Mapping[str, str | None]]
    """The cells of each row by their columns, in column order. None is what the row of a jsonl file lacks."""
