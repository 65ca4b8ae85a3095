"""What all models have: they are read from JSON and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from prism_results import _json

if TYPE_CHECKING:
    from prism_results.models import Level, Option, Question, Run

T = TypeVar("T")
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


@dataclass(frozen=True, slots=True)
class Page(Received, Generic[T]):
    """A part of a list."""

    data: Sequence[T]
    next_cursor: str | None
    """Reads the next page. None on the last one."""


class QuestionMakers:
    """What Question has beside its members."""

    __slots__ = ()

    @staticmethod
    def choice(key: str, text: str, options: Sequence[Option], *, insufficient_information: bool = False) -> Question:
        """A question that chooses one of several options."""
        return _question(key, "choice", text, options, insufficient_information)

    @staticmethod
    def yes_no(key: str, text: str) -> Question:
        """A question for the probability of yes."""
        return _question(key, "yes_no", text)

    @staticmethod
    def scale(key: str, text: str, levels: Sequence[Level]) -> Question:
        """A question that chooses a level on a rising scale."""
        return _question(key, "scale", text, levels=levels)

    @staticmethod
    def tags(key: str, text: str, options: Sequence[Option]) -> Question:
        """A question that any number of several options answers, each with a probability of its own."""
        return _question(key, "tags", text, options)


def _question(*members: Any, **named: Any) -> Question:
    from prism_results.models import Question  # which is made of these methods

    return Question(*members, **named)


class RunStates:
    """What Run has beside its members."""

    __slots__ = ()

    @property
    def done(self) -> int:
        """The number of rows that have their outcome."""
        run = cast("Run", self)
        return run.rows - run.pending

    @property
    def settled(self) -> bool:
        """Whether the run changes no more unless somebody resumes or retries it."""
        return cast("Run", self).status in ("finished", "cancelled", "paused")


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
