"""The content of an upload."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import PurePath
from typing import BinaryIO, TypeAlias, cast, get_args

from prism_results.models import FileFormat

Content: TypeAlias = "str | os.PathLike[str] | bytes | BinaryIO"
"""A path, the content itself, or an open binary file that can seek."""


class Source:
    """Reads pieces of the content of a file, also for several callers at once."""

    def __init__(self, content: Content, name: str | None, format: FileFormat | None) -> None:
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._data = b""
        self._close = isinstance(content, str | os.PathLike)
        known = name
        if isinstance(content, str | os.PathLike):
            known = known or PurePath(content).name
        elif not isinstance(content, bytes):
            opened_as = getattr(content, "name", None)  # a number for a file without a path
            known = known or (PurePath(opened_as).name if isinstance(opened_as, str) else None)
        if not known:
            raise ValueError("the content of the file has no name: give name")
        self.name = known
        self.format = format or _format_of(known)
        if isinstance(content, bytes):
            self._data, self.size = content, len(content)
            return
        self._file = open(content, "rb") if isinstance(content, str | os.PathLike) else content  # noqa: SIM115 # closed by close
        self.size = self._file.seek(0, os.SEEK_END)

    def sha256(self) -> str:
        """The SHA-256 of the content, in hexadecimal."""
        total, step = hashlib.sha256(), 1 << 20
        for begin in range(0, self.size, step):
            total.update(self.read_at(begin, min(step, self.size - begin)))
        return total.hexdigest()

    def read_at(self, begin: int, size: int) -> bytes:
        """The bytes from begin on. Raises EOFError if the file became shorter."""
        if self._file is None:
            return self._data[begin : begin + size]
        with self._lock:
            self._file.seek(begin)
            data = self._file.read(size)
        if len(data) < size:
            raise EOFError(f"the file {self.name} became shorter while it was read")
        return data

    def close(self) -> None:
        """Close a file that was opened here."""
        if self._close and self._file is not None:
            self._file.close()


def _format_of(name: str) -> FileFormat:
    """The format that the extension of a file's name stands for, below that of a compression."""
    path = PurePath(name.lower())
    if path.suffix in (".gz", ".zst", ".zip"):
        path = path.with_suffix("")
    ending = {".ndjson": "jsonl", ".xlsm": "xlsx"}.get(path.suffix, path.suffix.removeprefix("."))
    if ending not in get_args(FileFormat):
        raise ValueError(f"{PurePath(name).name}: the extension is not {', '.join(get_args(FileFormat))}: give format")
    return cast(FileFormat, ending)
