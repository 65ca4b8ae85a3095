"""The answers to questions, and the columns of a Lens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

from prism_results import _json
from prism_results.models.base import Model

YesNo: TypeAlias = Literal["yes", "no", "unsure"]
A = TypeVar("A", bound=Model)


class AnswerError(LookupError):
    """There is no answer of this name and type."""


@dataclass(frozen=True, slots=True)
class ChoiceAnswer(Model):
    """The answer to a choice question."""

    value: str
    """The key of the chosen option: the most probable one."""
    probabilities: Mapping[str, float]
    """By option, in definition order. They sum to 1."""
    confidence: float
    """1 when the choice is certain and 0 when it is a guess."""
    type: Literal["choice"] = "choice"

    @property
    def probability(self) -> float:
        """The probability of the chosen option."""
        return self.probabilities[self.value]


@dataclass(frozen=True, slots=True)
class YesNoAnswer(Model):
    """The answer to a yes_no question."""

    probability: float
    """The probability of yes."""
    type: Literal["yes_no"] = "yes_no"


@dataclass(frozen=True, slots=True)
class ScaleAnswer(Model):
    """The answer to a scale question."""

    level: str
    """The key of the chosen level: the most probable one."""
    probabilities: Mapping[str, float]
    """By level, in definition order. They sum to 1."""
    type: Literal["scale"] = "scale"

    @property
    def probability(self) -> float:
        """The probability of the chosen level."""
        return self.probabilities[self.level]


@dataclass(frozen=True, slots=True)
class TagsAnswer(Model):
    """The answer to a tags question."""

    values: Sequence[str]
    """The keys of the options with a probability of 0.5 or more, the most probable one first."""
    probabilities: Mapping[str, float]
    """By option, in definition order. Each is by itself: they need not sum to 1."""
    type: Literal["tags"] = "tags"


@dataclass(frozen=True, slots=True)
class OtherAnswer(Model):
    """The answer to a question of a type that this client does not know. Its members are extra."""

    type: str


Answer: TypeAlias = "ChoiceAnswer | YesNoAnswer | ScaleAnswer | TagsAnswer | OtherAnswer"

_TYPES: dict[str, type[Model]] = {
    "choice": ChoiceAnswer,
    "yes_no": YesNoAnswer,
    "scale": ScaleAnswer,
    "tags": TagsAnswer,
}


class Answers(Mapping[str, "Answer"]):
    """The answers to the questions of a version, by their keys and in its order. Those of a failed result are empty.

    The methods return the answer to a question with its type, and raise AnswerError if it has another one or is absent.
    """

    __slots__ = ("_answers",)

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = dict(answers)

    def choice(self, question: str) -> ChoiceAnswer:
        """The answer to a choice question."""
        return self._of(question, "choice", ChoiceAnswer)

    def yes_no(self, question: str) -> YesNoAnswer:
        """The answer to a yes_no question."""
        return self._of(question, "yes_no", YesNoAnswer)

    def scale(self, question: str) -> ScaleAnswer:
        """The answer to a scale question."""
        return self._of(question, "scale", ScaleAnswer)

    def tags(self, question: str) -> TagsAnswer:
        """The answer to a tags question."""
        return self._of(question, "tags", TagsAnswer)

    def _of(self, question: str, name: str, kind: type[A]) -> A:
        answer = self._answers.get(question)
        if answer is None:
            raise AnswerError(_absent("question", question, self._answers))
        if not isinstance(answer, kind):
            raise AnswerError(f"the question {question} is of the type {answer.type}, not {name}")
        return answer

    def __getitem__(self, question: str) -> Answer:
        return self._answers[question]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def __repr__(self) -> str:
        return f"Answers({self._answers})"

    @classmethod
    def from_json(cls, value: Any) -> Answers:
        """Read an object of JSON, or null for a failed result."""
        members = {} if value is None else _json.objects(value)
        return cls(_json.each(_answer, members.items()))

    def to_json(self) -> dict[str, Any] | None:
        """The object of JSON, or None without answers."""
        return {name: one.to_dict() for name, one in self._answers.items()} or None


def _answer(value: Any) -> Any:
    kind = _json.objects(value).get("type")
    if kind is None:
        raise _json.LackingError(["type"])
    return _json.decode(_TYPES.get(_json.text(kind), OtherAnswer), value)


class Row(Mapping[str, "str | float | None"]):
    """A result as the columns of a Lens, in their order. That of a failed result is empty.

    It is a mapping of column names to texts, numbers, and None where the stored answers have no value for the column.
    The methods return the value of a column with its type, and raise AnswerError if the column has another one or is absent.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, str | float | None]) -> None:
        self._columns = dict(columns)

    def text(self, column: str) -> str:
        """The key of the chosen option or level, or those of several options with "; " between them."""
        value = self._value(column)
        if not isinstance(value, str):
            raise AnswerError(f"the column {column} is a number")
        return value

    def yes_no(self, column: str) -> YesNo:
        """The text yes, no or unsure, of a column that shows the answer of a yes_no question."""
        value = self._value(column)
        if value not in get_args(YesNo):
            raise AnswerError(f"the column {column} is no answer to a yes_no question")
        return cast(YesNo, value)

    def tags(self, column: str) -> list[str]:
        """The keys of the options in the answer of a tags question, the most probable first; none in an empty text."""
        return [key for key in self.text(column).split("; ") if key]

    def number(self, column: str) -> float:
        """The number of a column that shows a probability, an average, a confidence or a count."""
        value = self._value(column)
        if isinstance(value, str):
            raise AnswerError(f"the column {column} is a text")
        return value

    def _value(self, column: str) -> str | float:
        value = self._columns.get(column)
        if value is not None:
            return value
        if column in self._columns:
            raise AnswerError(f"the stored answers have no value for the column {column}")
        raise AnswerError(_absent("column", column, self._columns))

    def __getitem__(self, column: str) -> str | float | None:
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"Row({self._columns})"

    @classmethod
    def from_json(cls, value: Any) -> Row:
        """Read an object of JSON, or null for a failed result."""
        return cls({} if value is None else {name: _cell(one) for name, one in _json.objects(value).items()})

    def to_json(self) -> dict[str, str | float | None] | None:
        """The object of JSON, or None without answers."""
        return dict(self._columns) or None


def _cell(value: Any) -> str | float | None:
    return value if value is None or isinstance(value, str) else _json.number(value)


def _absent(what: str, name: str, there: Mapping[str, Any]) -> str:
    return f"there is no {what} {name}; there are " + (", ".join(there) or "none, as the result failed")
