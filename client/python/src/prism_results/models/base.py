"""What all models have: they are read from JSON and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from prism_results import _json

M = TypeVar("M", bound="Model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """An object of the API."""

    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Members that this client does not know. A newer Prism may send them; to_dict writes them again."""

    @classmethod
    def from_dict(cls: type[M], data: Mapping[str, Any]) -> M:
        """Read the model from an object of JSON. Raises ValueError for another shape."""
        return _json.decode(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """The object of JSON, without members that are None."""
        members = {_json.member_of(f): getattr(self, f.name) for f in fields(self) if f.name not in _json.OWN}
        written = {name: _json.encode(value) for name, value in members.items() if value is not None}
        return {**written, **self.extra}


@dataclass(frozen=True, slots=True, kw_only=True)
class Received(Model):
    """An object that only Prism writes."""

    request_id: str = field(default="", repr=False, compare=False)
    """Names the request in the server's logs. Empty for an object inside another one."""


class Secret:
    """A text that only reveal() returns. Printing, logging and formatting show a placeholder."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        return "[redacted]"

    @classmethod
    def from_json(cls, value: Any) -> Secret:
        """Read a text of JSON."""
        return cls(_json.text(value))

    def to_json(self) -> str:
        """The placeholder."""
        return repr(self)
