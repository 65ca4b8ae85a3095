# Written by generate.py; do not edit.
"""Files of rows, and how they are uploaded."""

from __future__ import annotations

from collections.abc import Callable

from prism_results._sync.concurrency import Lock, blocking, each
from prism_results._sync.operations import Operations
from prism_results._core import PART_TIMEOUT, call
from prism_results._source import Content, Source
from prism_results.errors import ConflictError, UnusableFileError
from prism_results.models import File, FileFormat, FilePart

PARTS_AT_ONCE = 4
"""How many parts are sent at once. One connection does not fill a long line."""
NEWEST = 100
"""Among how many files of the account an upload looks for its own."""
MOST_MISSING = 1000
"""How many missing parts a response names at most."""


class Files(Operations):
    """The calls about files."""

    def put_part(self, file_id: str, number: int, data: bytes) -> FilePart:
        """Send a part of a file. The first has the number 1.

        Sending a part again has no other effect, and other content for it is a ConflictError.
        """
        one = call("putPart", "PUT", "files", file_id, "parts", number, octets=data, timeout=PART_TIMEOUT)
        return self._fetch(FilePart, one)

    def upload_file(
        self,
        content: Content,
        *,
        name: str | None = None,
        format: FileFormat | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> File:
        """Upload a file and return it when Prism has read it.

        content is a path, bytes, or an open binary file that can seek. name and format are those of the path if not
        given. progress is told how many bytes Prism has at least, and how many there are; it is not called concurrently.

        The missing parts are sent several at a time, and asked for again when a connection is lost. A file of the same
        name, format and content that is among the account's newest hundred, whole or in part, is continued and not sent
        again: so an upload that ended with its program is continued by the same call.

        Raises UnusableFileError for a file that Prism cannot read.
        """
        source = Source(content, name, format)
        try:
            upload = Upload(self._bounded(), source, blocking(source.sha256), progress)
            return upload.finish()
        finally:
            source.close()


class Upload:
    """An upload under way."""

    def __init__(self, client: Files, source: Source, sha256: str, progress: Callable[[int, int], object] | None) -> None:
        self._client = client
        self._source = source
        self._sha256 = sha256
        self._progress = progress
        self._file: File | None = None
        self._anew = False  # what was found could not be continued
        self._sent = 0
        self._shown = Lock()

    def finish(self) -> File:
        """Do the upload, and wait until Prism has read the file."""
        file = self._client._patiently(self._advance, lambda: self._sent)
        file_id = file.id
        n = 0
        while file.status == "reading":
            n += 1
            self._client._wait("readFile", n)
            file = self._client._patiently(lambda: self._client.read_file(file_id))
        if file.status == "unusable":
            raise UnusableFileError(file)
        return file

    def _advance(self) -> File:
        """Do all that is left of the upload."""
        found = False
        if self._file is not None:
            file = self._client.read_file(self._file.id)
        else:
            known = None if self._anew else self._find()
            found = known is not None
            file = known or self._client.create_file(
                self._source.name, self._source.format, self._source.size, sha256=self._sha256
            )
        try:
            while True:
                self._file = file
                if file.status != "uploading":
                    return file
                if file.missing:
                    self._send_missing(file)
                    file = self._client.read_file(file.id)
                else:
                    file = self._client.complete_file(file.id)
        except ConflictError:
            if not found:
                raise
            # A part was sent with other content, by another program or before a change of the file.
        self._anew, self._file = True, None
        return self._advance()

    def _find(self) -> File | None:
        """The file among those of the account."""
        mine = (self._source.name, self._source.format, self._source.size, self._sha256)
        left = NEWEST
        for one in self._client.list_files():
            if one.status != "unusable" and (one.name, one.format, one.bytes, one.sha256) == mine:
                self._file = one
                return self._client.read_file(one.id)  # a list may tell less of it
            left -= 1
            if left == 0:
                break
        return None

    def _send_missing(self, file: File) -> None:
        """Send the parts that are known to be missing."""
        missing = file.missing or ()
        # Of the parts behind the last one that is named, nothing is known if the list is full.
        there = missing[-1] - MOST_MISSING if len(missing) == MOST_MISSING else file.parts - len(missing)
        self._sent = there * file.part_bytes

        def send(number: int) -> None:
            begin = (number - 1) * file.part_bytes
            data = blocking(self._source.read_at, begin, min(file.part_bytes, self._source.size - begin))
            self._client.put_part(file.id, number, data)
            with self._shown:
                self._sent += len(data)
                if self._progress:
                    self._progress(min(self._sent, self._source.size), self._source.size)

        each(missing, min(PARTS_AT_ONCE, len(missing)), send)
