"""HTTP servers that tests are."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from prism_results._core import MEDIA_TYPES

JSON = "application/json; charset=utf-8"


@dataclass
class Request:
    """A request, and how it is answered. A request that is not answered is cut."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    handler: BaseHTTPRequestHandler = field(repr=False)
    answered: bool = False
    chunked: bool = False

    def json(self) -> Any:
        return json.loads(self.body)

    def reply(self, status: int, content_type: str, text: str | bytes, **headers: str) -> None:
        """Answer with the whole body."""
        data = text.encode() if isinstance(text, str) else text
        self._begin(status, content_type, {"Content-Length": str(len(data)), **headers})
        self.handler.wfile.write(data)

    def value(self, status: int, value: Any, **headers: str) -> None:
        """Answer with JSON."""
        self.reply(status, JSON, json.dumps(value), **headers)

    def error(self, status: int, code: str, message: str = "no") -> None:
        """Answer with an error of Prism."""
        self.value(status, {"error": {"code": code, "message": message}})

    def stream(self, text: str | bytes, content_type: str = "") -> None:
        """Answer with a part of the body, of which end is the last. It is of the type of the format that was asked for."""
        if not self.answered:
            self.chunked = True
            content_type = content_type or MEDIA_TYPES[self.query.get("format", "csv")]
            self._begin(200, content_type, {"Transfer-Encoding": "chunked"})
        data = text.encode() if isinstance(text, str) else text
        if data:
            self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.handler.wfile.flush()

    def end(self) -> None:
        """End a body that was streamed. Without it, the body is cut."""
        self.handler.wfile.write(b"0\r\n\r\n")
        self.chunked = False

    def _begin(self, status: int, content_type: str, headers: dict[str, str]) -> None:
        self.answered = True
        self.handler.send_response_only(status)
        self.handler.send_header("X-Request-Id", "r-1")
        if status != 204:
            self.handler.send_header("Content-Type", content_type)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()


Handler = Callable[[Request], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    handle: Handler

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no error."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def handle_any(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        request = Request(self.command, parts.path, query, dict(self.headers.items()), body, self)
        self.server.handle(request)
        self.wfile.flush()
        if not request.answered or request.chunked:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def finish(self) -> None:
        """Closes both halves, also when the client has left and the flush of the one fails."""
        try:
            super().finish()
        finally:
            self.rfile.close()

    do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815 # named by http.server


@contextmanager
def serving(handle: Handler) -> Iterator[str]:
    """The address of a server that answers as handle does."""
    server = _Server(("127.0.0.1", 0), _Connection)
    server.handle = handle
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
