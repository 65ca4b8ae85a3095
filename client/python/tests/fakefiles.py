"""A Prism that keeps files in parts of a few bytes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Any

from tests.samples import file
from tests.serving import Handler, Request


class FakeFiles:
    """Its handle is the server's. Its files are the newest first."""

    def __init__(self, part_bytes: int = 8, most_named: int = 1000) -> None:
        self.part_bytes, self.most_named = part_bytes, most_named
        self.files: list[dict[str, Any]] = []
        self.parts: dict[str, dict[int, bytes]] = {}
        self.puts = 0
        self.before: Callable[[Request], bool] = lambda request: True
        """Is called before each request. If it returns False, the request was taken care of."""
        self.then: Handler = lambda request: request.error(404, "not_found")
        """Handles other paths."""
        self._lock = threading.Lock()

    def handle(self, request: Request) -> None:
        if not self.before(request):
            return
        if not request.path.startswith("/v1/files"):
            self.then(request)
            return
        with self._lock:
            self._handle(request, request.path.removeprefix("/v1/files").strip("/").split("/"))

    def _handle(self, request: Request, segments: list[str]) -> None:
        one = next((one for one in self.files if one["id"] == segments[0]), None)
        if segments == [""] and request.method == "POST":
            self._create(request)
        elif segments == [""]:
            at = int(request.query.get("cursor", 0))  # one file a page, as of large ones
            request.value(
                200, {"data": self.files[at : at + 1], "next_cursor": str(at + 1) if at + 1 < len(self.files) else None}
            )
        elif one is None:
            request.error(404, "not_found", "File not found")
        elif request.method == "GET":
            shown = dict(one)
            if one["status"] == "reading":
                one["status"] = "ready"
            request.value(200, shown)
        elif request.method == "PUT":
            self._put(request, one, int(segments[2]))
        else:
            self._complete(request, one)

    def _create(self, request: Request) -> None:
        new = request.json()
        parts = -(-new["bytes"] // self.part_bytes)
        one = file(**new, id=f"file-{len(self.files) + 1}", status="uploading", part_bytes=self.part_bytes, parts=parts)
        self.files.insert(0, one)
        self.parts[one["id"]] = {}
        self._missing(one)
        request.value(201, one)

    def _put(self, request: Request, one: dict[str, Any], number: int) -> None:
        parts = self.parts[one["id"]]
        want = min(self.part_bytes, one["bytes"] - (number - 1) * self.part_bytes)
        if not 1 <= number <= one["parts"] or len(request.body) != want:
            request.error(400, "validation_failed", "a part of another length")
        elif parts.get(number, request.body) != request.body:
            request.error(409, "conflict", "Part was already sent with other content.")
        else:
            parts[number] = request.body
            self.puts += 1
            self._missing(one)
            request.value(200, {"part": number, "bytes": want, "sha256": hashlib.sha256(request.body).hexdigest()})

    def _complete(self, request: Request, one: dict[str, Any]) -> None:
        if one["missing"]:
            request.error(409, "conflict", "Parts are missing: 1.")
        elif hashlib.sha256(self.content(one)).hexdigest() != one["sha256"]:
            request.error(409, "conflict", "The file's content differs from its sha256.")
        else:
            if one["status"] == "uploading":
                one["status"], one["missing"] = "reading", None
            request.value(202, one)

    def _missing(self, one: dict[str, Any]) -> None:
        numbers = [n for n in range(1, one["parts"] + 1) if n not in self.parts[one["id"]]]
        one["missing"] = numbers[: self.most_named]

    def content(self, one: dict[str, Any]) -> bytes:
        return b"".join(data for _, data in sorted(self.parts[one["id"]].items()))

    def has(self, content: bytes) -> None:
        """Check that the newest file is whole."""
        assert (self.files[0]["status"], self.content(self.files[0])) == ("ready", content)
