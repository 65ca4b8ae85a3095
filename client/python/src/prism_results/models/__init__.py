# Written by make api; do not edit.
"""The shapes of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from prism_results.models.answers import (
    Answer,
    AnswerError,
    Answers,
    ChoiceAnswer,
    OtherAnswer,
    Row,
    ScaleAnswer,
    TagsAnswer,
    YesNo,
    YesNoAnswer,
)
from prism_results.models.base import Model, Page, QuestionMakers, Received, RunStates, Secret
from prism_results.models.options import KEEP, Delimiter, ExportFormat, Keep, RowsFormat, RowStatus, RunOptions

__all__ = [
    "KEEP",
    "APIKey",
    "Account",
    "AccountLimits",
    "AddedLabels",
    "Answer",
    "AnswerError",
    "AnsweredModel",
    "Answers",
    "Assigned",
    "AssignedBefore",
    "AssignedMember",
    "Assignee",
    "AuditAction",
    "AuditActor",
    "AuditEntry",
    "AuditObject",
    "Author",
    "Calibration",
    "CalibrationMethod",
    "Change",
    "ChangeType",
    "Changes",
    "CheckedPart",
    "ChoiceAnswer",
    "Claim",
    "Column",
    "Comment",
    "ComparedVersion",
    "Comparison",
    "ConditionOp",
    "ConfiguredModel",
    "Confusion",
    "CoveragePoint",
    "CreatedAPIKey",
    "CreatedWebhook",
    "Definition",
    "Deleting",
    "Delimiter",
    "Delivery",
    "DeliveryStatus",
    "DeliveryTry",
    "Differences",
    "DisabledReason",
    "Distribution",
    "DistributionRow",
    "DistributionValue",
    "Drift",
    "DriftIndex",
    "DriftKind",
    "DriftPeriod",
    "DriftReference",
    "DriftWindow",
    "DryRun",
    "Encoding",
    "ErrorCode",
    "Escalate",
    "Escalation",
    "EscalationErrorCode",
    "EventCondition",
    "EventData",
    "EventResult",
    "EventType",
    "Events",
    "Example",
    "ExamplesFromLabels",
    "ExportFormat",
    "Field",
    "Figure",
    "File",
    "FileColumn",
    "FileFormat",
    "FilePart",
    "FileRows",
    "FileStatus",
    "Format",
    "InvalidLabel",
    "InvalidRow",
    "InvitedMember",
    "Keep",
    "Label",
    "LabelOrigin",
    "LabelQueuePage",
    "LabelSample",
    "LabelValue",
    "LabelledResult",
    "LeftOut",
    "Lens",
    "Level",
    "ListedEvent",
    "McNemar",
    "MeasuresOfSeveral",
    "Member",
    "Model",
    "ModelCheck",
    "ModelFailure",
    "ModelList",
    "ModelPart",
    "ModelState",
    "ModelStateList",
    "NewCalibrationMethod",
    "NewLabel",
    "Option",
    "OptionOrder",
    "OtherAnswer",
    "Page",
    "PinnedCalibrations",
    "PreviewedLens",
    "PreviewedResult",
    "Price",
    "Prism",
    "ProbabilitySource",
    "Quality",
    "QualityClass",
    "Question",
    "QuestionDrift",
    "QuestionQuality",
    "QuestionType",
    "QueuedResult",
    "Received",
    "Record",
    "RecordModel",
    "RecordUsage",
    "ReliabilityBin",
    "Result",
    "ResultCounts",
    "ResultPage",
    "ResultRow",
    "ResultRowPage",
    "ResultsOfRun",
    "Retrieval",
    "Retrying",
    "Role",
    "Round",
    "Row",
    "RowStatus",
    "RowsFormat",
    "Run",
    "RunLabels",
    "RunOptions",
    "RunStatus",
    "RunUsage",
    "ScaleAnswer",
    "Secret",
    "Show",
    "SignedInBy",
    "Status",
    "TagsAnswer",
    "Threshold",
    "ThresholdCount",
    "Thresholds",
    "Try",
    "TryError",
    "Usage",
    "UsageBy",
    "UsageSum",
    "ValueCount",
    "Version",
    "View",
    "ViewFilters",
    "Webhook",
    "YesNo",
    "YesNoAnswer",
]

AuditAction: TypeAlias = Literal[
    "account.create",
    "account.limits",
    "account.claims",
    "key.create",
    "key.revoke",
    "prism.create",
    "prism.rename",
    "prism.archive",
    "prism.unarchive",
    "version.create",
    "version.empty",
    "lens.replace",
    "calibration.create",
    "calibration.pin",
    "result.delete",
    "results.delete",
    "results.retry",
    "results.assign",
    "prism.retention",
    "prism.drift",
    "prism.searchable",
    "file.delete",
    "run.create",
    "run.pause",
    "run.resume",
    "run.cancel",
    "run.retry",
    "run.limits",
    "comment.delete",
    "view.create",
    "view.replace",
    "view.delete",
    "webhook.create",
    "webhook.replace",
    "webhook.delete",
    "webhook.rotate",
    "webhook.test",
    "webhook.resend",
    "webhook.disable",
    "member.add",
    "member.change",
    "member.remove",
    "member.link",
    "member.sign_in",
    "member.key",
    "member.sign_out",
]
CalibrationMethod: TypeAlias = Literal["temperature", "platt", "isotonic"]
ChangeType: TypeAlias = Literal["created", "retried", "labelled", "deleted"]
ModelPart: TypeAlias = Literal[
    "reached",
    "key",
    "request",
    "json",
    "log_probabilities",
    "thinking",
    "label_mass",
    "answers",
    "order_bias",
    "tokens",
    "time",
]
Show: TypeAlias = Literal["answer", "probability", "average", "confidence", "count"]
DeliveryStatus: TypeAlias = Literal["waiting", "delivered", "failed"]
TryError: TypeAlias = Literal["forbidden_address", "unknown_host", "connection", "tls", "timeout", "status"]
DriftKind: TypeAlias = Literal["first", "set"]
EscalationErrorCode: TypeAlias = Literal[
    "timeout",
    "unreachable",
    "refused",
    "limited",
    "exhausted",
    "refused_key",
    "not_found",
    "content",
    "too_long",
    "parameter",
    "unreadable",
    "no_usable_answer",
    "label_mass_low",
    "no_log_probabilities",
    "model_not_configured",
    "skipped",
]
ConditionOp: TypeAlias = Literal["is", "not", "from", "to"]
Encoding: TypeAlias = Literal[
    "auto",
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
    "iso-8859-2",
    "iso-8859-5",
    "iso-8859-7",
    "iso-8859-15",
    "koi8-r",
    "macintosh",
    "ibm850",
    "ibm866",
    "shift_jis",
    "euc-jp",
    "gb18030",
    "big5",
    "euc-kr",
]
LabelOrigin: TypeAlias = Literal["call", "file"]
SignedInBy: TypeAlias = Literal["link", "openid"]
OptionOrder: TypeAlias = Literal["cyclic"]
NewCalibrationMethod: TypeAlias = Literal["auto", "temperature", "platt", "isotonic"]
EventType: TypeAlias = Literal[
    "result.created",
    "result.failed",
    "result.labelled",
    "run.started",
    "run.paused",
    "run.finished",
    "run.cancelled",
    "drift.alarm",
    "drift.ended",
    "prism.changed",
    "key.expiring",
]
QuestionType: TypeAlias = Literal["choice", "yes_no", "scale", "tags"]
ErrorCode: TypeAlias = Literal[
    "timeout",
    "unreachable",
    "refused",
    "limited",
    "exhausted",
    "refused_key",
    "not_found",
    "content",
    "too_long",
    "parameter",
    "unreadable",
    "no_usable_answer",
    "label_mass_low",
    "no_log_probabilities",
    "model_not_configured",
]
DisabledReason: TypeAlias = Literal["gone", "failing", "overflow"]
LabelValue: TypeAlias = str | bool | Sequence[str]
"""The key of an option or level, whether yes was right, or the keys of all options that are right."""
Format: TypeAlias = Literal["json", "raw", "csv", "tsv", "jsonl"]
Role: TypeAlias = Literal["owner", "editor", "caller", "labeller", "reader"]
Status: TypeAlias = Literal["ok", "failed"]
LabelSample: TypeAlias = Literal["random", "uncertain"]
ProbabilitySource: TypeAlias = Literal["native", "logprobs", "stated", "sampled", "simulated"]
UsageBy: TypeAlias = Literal["day", "prism", "model", "key"]
FileFormat: TypeAlias = Literal["csv", "tsv", "jsonl", "xlsx", "parquet"]
FileStatus: TypeAlias = Literal["uploading", "reading", "ready", "unusable"]
RunStatus: TypeAlias = Literal["queued", "running", "pausing", "paused", "cancelling", "cancelled", "finished"]


@dataclass(frozen=True, slots=True)
class Label(Received):
    """What was right for a question of a result."""

    value: LabelValue
    """What was right: the key of an option or level, true or false, or, of a tags, the keys of all options that are right."""
    sample: LabelSample | None
    """How the result was chosen. None if that was not said."""
    annotator: str | None
    """Who says so. None if that was not said."""
    origin: LabelOrigin
    """A call, or a column of the file of a run."""
    key_id: str
    """The API key or member that put it."""
    labelled_at: datetime
    """When it was put."""


@dataclass(frozen=True, slots=True)
class NewLabel(Model):
    """A label of a result, which is named by result_id or by ref."""

    question: str
    """The key of the question."""
    value: LabelValue
    """What was right: the key of an option or level, true or false, or, of a tags, the keys of all options that are right."""
    result_id: str | None = None
    """The id of the result."""
    ref: str | None = None
    """The ref of the result: of several, the newest that is ok."""


@dataclass(frozen=True, slots=True)
class QueuedResult(Received):
    """A result to label."""

    result_id: str
    """The id of the result."""
    ref: str | None
    """The ref sent with the call."""
    created_at: datetime
    """When the result was saved. ISO 8601 in UTC with milliseconds."""
    version: int
    """The version that answered."""
    context: str | None
    """The context sent with the call."""
    fields: Mapping[str, str]
    """The value of each field, in the order of the version."""
    answers: Answers
    """The answers by question, as in format raw."""


@dataclass(frozen=True, slots=True)
class AuditActor(Received):
    """A key, a member, the operator of the server, or the retention of a prism."""

    kind: Literal["key", "member", "operator", "retention", "webhooks"]
    """What the actor is."""
    id: str | None
    """The id of the key or the member, else None."""
    name: str
    """The name of the key, the member or the operator, or retention or webhooks."""


@dataclass(frozen=True, slots=True)
class AuditObject(Received):
    """An account, a key, a member, a prism, a result, a file, a run, a view or a webhook."""

    kind: Literal["account", "key", "member", "prism", "result", "file", "run", "view", "webhook"]
    """What the object is."""
    id: str
    """The id of the object."""
    name: str
    """The name of an account, a key, a member, a file, a run or a view, the origin of the URL of a webhook, or the slug of a
    prism. Empty for a result.
    """


@dataclass(frozen=True, slots=True)
class AuditEntry(Received):
    """Who changed what, and when. Later releases may add actions, kinds, and members of detail."""

    id: str
    """Orders the entries."""
    at: datetime
    """When the call was made. ISO 8601 in UTC with milliseconds."""
    actor: AuditActor
    """Who made the change."""
    action: AuditAction
    """What was done."""
    object: AuditObject
    """What it was done to."""
    detail: Mapping[str, Any]
    """More about the change. Its members depend on the action."""


@dataclass(frozen=True, slots=True)
class ResultRow(Received):
    """A result with its answers shaped by the prism's current Lens: editing the Lens changes what an old result shows."""

    id: str
    """Reads or retries the result."""
    ref: str | None
    """The ref sent with the call, or None."""
    prism: str
    """The prism's slug."""
    version: int
    """The prism version that answered."""
    status: Status
    error: str | None
    """Why the result failed, in words. None when the status is ok."""
    took_ms: int
    """How long the call to the model took, in milliseconds."""
    created_at: datetime
    """When the result was saved. ISO 8601 in UTC with milliseconds."""
    row: Row = field(metadata={"member": "answers"})
    """One member for each Lens column, in Lens order: a text, a number, or yes, no or unsure. None for a column whose question
    the answer does not have. None as a whole when the result failed.
    """
    fields: Mapping[str, str] | None = None
    """The value of each field, in the order of the version. Only in lists with fields=true."""
    context: str | None = None
    """The context sent with the call, or None. Only in lists with fields=true."""


@dataclass(frozen=True, slots=True)
class Result(Received):
    """A result with the stored answer to every question."""

    id: str
    """Reads or retries the result."""
    ref: str | None
    """The ref sent with the call, or None."""
    prism: str
    """The prism's slug."""
    version: int
    """The prism version that answered."""
    status: Status
    error: str | None
    """Why the result failed, in words. None when the status is ok."""
    took_ms: int
    """How long the call to the model took, in milliseconds."""
    created_at: datetime
    """When the result was saved. ISO 8601 in UTC with milliseconds."""
    answers: Answers
    """Question key to stored answer, in the version's order. None when the result failed. Editing the Lens never changes it."""
    fields: Mapping[str, str] | None = None
    """The value of each field, in the order of the version. Only in lists with fields=true."""
    context: str | None = None
    """The context sent with the call, or None. Only in lists with fields=true."""


@dataclass(frozen=True, slots=True)
class ResultRowPage(Page[ResultRow]):
    """A page of results in the format json."""

    data: Sequence[ResultRow]
    """The items of this page."""
    indexed_until: datetime | None = None
    """Results saved since this time are missing: they are not indexed yet. Absent if none is. ISO 8601 in UTC with
    milliseconds.
    """
    indexed_from: datetime | None = None
    """Results saved before this time are missing: old results are being indexed, newest first. Absent if none is. ISO 8601 in
    UTC with milliseconds.
    """
    sorted_newest: int | None = None
    """How many of the newest results that match were sorted, because more match. Absent if all were."""


@dataclass(frozen=True, slots=True)
class ResultPage(Page[Result]):
    """A page of results in the format raw."""

    data: Sequence[Result]
    """The items of this page."""
    indexed_until: datetime | None = None
    """Results saved since this time are missing: they are not indexed yet. Absent if none is. ISO 8601 in UTC with
    milliseconds.
    """
    indexed_from: datetime | None = None
    """Results saved before this time are missing: old results are being indexed, newest first. Absent if none is. ISO 8601 in
    UTC with milliseconds.
    """
    sorted_newest: int | None = None
    """How many of the newest results that match were sorted, because more match. Absent if all were."""


@dataclass(frozen=True, slots=True)
class ResultCounts(Received):
    """How many results match, and how many of them have each value."""

    total: int
    """How many results match."""
    exact: bool
    """Whether all of them were counted. If not, there are more: counting takes half a second at most, and counts what is
    indexed.
    """
    by: Mapping[str, Sequence[ValueCount]]
    """For each name of by, its values. Results without a value are in none of them."""


@dataclass(frozen=True, slots=True)
class ValueCount(Received):
    """How many results have a value."""

    value: str
    """The key of an option or level, 0.0 to 0.9 for the tenths of the probability of yes, a version, the name of a model, ok
    or failed, yes or no.
    """
    label: str
    """What people call it."""
    count: int
    """How many results have it."""


@dataclass(frozen=True, slots=True)
class Record(Received):
    """Everything that is kept of a call. A member that is not known is None."""

    id: str
    """The id of the result."""
    prism: str
    """The prism's slug."""
    version: int
    """The prism version that answered."""
    status: Status
    error: str | None
    """Why the result failed, in words. None when the status is ok."""
    error_code: ErrorCode | None
    """Why the result failed, for programs."""
    created_at: datetime
    """When the result was saved. ISO 8601 in UTC with milliseconds."""
    took_ms: int
    """How long the call to the model took, in milliseconds."""
    ref: str | None
    """The ref sent with the call."""
    context: str | None
    """The context sent with the call."""
    fields: Mapping[str, str]
    """The value of each field, in the order of the version."""
    idempotency_key: str | None
    """The idempotency key that the result holds. A retry takes it from the result that it retries."""
    retry_of: str | None
    """The result that this one retried."""
    retried_by: str | None
    """The result that retried this one."""
    key_id: str | None
    """The API key that made the call."""
    run_id: str | None
    """The file run that made the result."""
    run_row: int | None
    """The number of its row. The first is 1."""
    model: RecordModel | None
    """The model whose answers these are, or that was asked last if there are none."""
    usage: RecordUsage | None
    """What all tries took together, as far as upstreams said."""
    label_mass: Mapping[str, float] | None
    """By question, the part of the model's probability that its labels had. For models that return log-probabilities."""
    absent: Mapping[str, Sequence[str]] | None
    """By question, the options or levels, or yes or no, whose labels were not among the tokens that the model returned. None
    without any. For models that return log-probabilities.
    """
    order_disagreement: Mapping[str, float] | None
    """By question, how far the orders of its labels disagreed: the mean total variation distance of the orders from the
    answer, from 0 (all gave the same probabilities) to 1. For models that are asked in several orders.
    """
    rounds: Mapping[str, Sequence[Round]] | None
    """By question, how many groups of its options were asked in each round, and how many options they had together. For
    questions with more options than the model is asked at once.
    """
    escalation: Escalation | None
    """Both models, if an answer of the first one was doubtful. None if no second model was wanted."""
    labels: Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class RecordModel(Received):
    """The configured model whose answers these are, or that was asked last if there are none."""

    name: str | None
    """Its name."""
    provider: str | None
    """Its provider."""
    model: str | None
    """What its upstream calls it."""
    probabilities: ProbabilitySource | None
    """Where its probabilities came from."""
    tries: int
    """Calls of upstreams, for all questions and models."""
    fell_back: bool
    """Whether it is a fallback of the model that was asked first."""


@dataclass(frozen=True, slots=True)
class RecordUsage(Received):
    """Tokens and their cost."""

    input_tokens: int | None
    """Tokens that the model read."""
    output_tokens: int | None
    """Tokens that the model wrote."""
    cached_input_tokens: int | None
    """Those of input_tokens that the upstream read from a cache."""
    cost: Decimal | None
    """The exact price of the tokens, in currency, with at most 12 digits behind the point."""
    currency: str | None
    """The currency of the model's price."""


@dataclass(frozen=True, slots=True)
class Round(Received):
    """One round of calls about a question."""

    groups: int
    """How many groups of its options were asked, each by itself."""
    options: int
    """How many options they had together."""


@dataclass(frozen=True, slots=True)
class Escalation(Received):
    """Both models of a call whose first answers were doubtful."""

    questions: Sequence[str]
    """The questions whose first answers were doubtful, in the order of the version."""
    error_code: EscalationErrorCode | None
    """Why the first answers are the result. None if those of the second model are. skipped: its last calls failed, so it was
    not asked.
    """
    first: AnsweredModel
    """The model of the version, or its fallback."""
    second: AnsweredModel
    """The model that was escalated to, or its fallback."""


@dataclass(frozen=True, slots=True)
class AnsweredModel(Received):
    """A model of an escalation."""

    name: str | None
    """Its name."""
    provider: str | None
    """Its provider."""
    model: str | None
    """What its upstream calls it."""
    fell_back: bool
    """Whether it is a fallback of the model that was asked first, or of the one that was escalated to."""
    answers: Answers
    """Question key to answer, in the order of the version, as in format raw. None if it gave none."""


@dataclass(frozen=True, slots=True)
class Deleting(Received):
    """How many results match."""

    deleting: int
    """Counted up to 1,000,000 and for about a second. What was not counted is deleted too."""


@dataclass(frozen=True, slots=True)
class Retrying(Received):
    """How many results match."""

    retrying: int
    """The failed results that were not retried yet."""


@dataclass(frozen=True, slots=True)
class Changes(Received):
    """A page of changes."""

    data: Sequence[Change]
    """The changes, in the order of their numbers."""
    next: int
    """Send it as after to read what follows. It may be above the last seq of the page."""


@dataclass(frozen=True, slots=True)
class Change(Received):
    """A change of a result."""

    seq: int
    """Its number, above those of all changes of the account before it."""
    at: datetime
    """When it was made. ISO 8601 in UTC with milliseconds."""
    type: ChangeType
    """What happened."""
    result_id: str
    """The result."""
    prism: str
    """The slug of its prism."""


@dataclass(frozen=True, slots=True)
class Escalate(Model):
    """Has a second model answer all questions when an answer of the first model is doubtful. The second answers are the
    result, and the record has both.
    """

    to: str
    """The name of the configured model that answers then. A name that is not configured is a 400, and so is the version's own
    model.
    """
    below: float
    """An answer is doubtful if the probability of its most probable option or level, or of the likelier of yes and no, is
    below this; of a tags for any option, whether it is right or not.
    """
    questions: Sequence[str] | None = None
    """The keys of the questions whose answers can be doubtful. Without it, all."""


@dataclass(frozen=True, slots=True)
class Field(Model):
    """An input of a version."""

    key: str
    """Names the field in calls and in tabular rows. Not one of result_id, ref, version, status, error, created_at."""
    label: str | None = None
    """What people call it. None is the same as not sent."""


@dataclass(frozen=True, slots=True)
class Question(QuestionMakers, Model):
    """A typed question. Its members depend on the type."""

    key: str
    """Names the question in answers and in the Lens."""
    type: QuestionType
    text: str
    """The question, as the model reads it."""
    options: Sequence[Option] | None = None
    """2 to 255 options of a choice; the one that insufficient_information adds counts towards the 255. 1 to 100 options of a
    tags, of which any number can be right. Their keys are unique.
    """
    insufficient_information: bool | None = None
    """Adds the option insufficient_information, labelled Insufficient information, after the others."""
    levels: Sequence[Level] | None = None
    """2 to 10 levels in rising order. Their keys are unique."""


@dataclass(frozen=True, slots=True)
class Option(Model):
    """A possible answer of a choice question."""

    key: str
    """The answer's value."""
    label: str
    """What people and the model read."""
    description: str | None = None
    """When this option is the right one, for the model."""
    group: str | None = None
    """Options of one group are asked together when a question has more options than a model is asked at once. At most 32
    groups a question.
    """


@dataclass(frozen=True, slots=True)
class Level(Model):
    """A possible answer of a scale question."""

    key: str
    """The answer's level."""
    label: str
    """What people and the model read."""
    value: float | None = None
    """What the average weighs, each greater than the one before. 1, 2, 3 … in order when it is not given."""


@dataclass(frozen=True, slots=True)
class Example(Model):
    """An input whose right answers are known. A model sees the examples of a version before the input of each call."""

    fields: Mapping[str, str]
    """Field key to value, as a call sends them. Empty once the result of the example was deleted, as the answers then are."""
    answers: Mapping[str, LabelValue]
    """Question key to what was right, as a label says it. At least one."""
    result_id: str | None = None
    """The result that the example was taken from. When it is deleted, the example is emptied."""


@dataclass(frozen=True, slots=True)
class Lens(Model):
    """Turns stored answers into named columns. It belongs to the prism, not to a version, and is applied when a result is
    read.
    """

    columns: Sequence[Column]
    """1 to 200 columns in the order of the answers. Their names are unique, also among the field keys of the latest version."""


@dataclass(frozen=True, slots=True)
class Column(Model):
    """One column of a Lens."""

    name: str
    """1 to 64 letters, digits, underscores, spaces, dots and hyphens. Not one of result_id, ref, version, status, error,
    created_at.
    """
    question: str
    """The question of the latest version whose answer is shown."""
    show: Show = "answer"
    """answer: the option, the level, or yes, no or unsure; of a tags all options that are right, with ; between them.
    probability: of option, or else of the chosen option or level, or of yes. average: of a scale, its levels' values
    weighed by their probabilities. confidence: of a choice, 1 is certain and 0 a guess. count: of a tags, how many options
    are right.
    """
    option: str | None = None
    """The option or level key whose probability is shown. Only with probability; of a tags required."""
    yes_at: float | None = None
    """The answer of a yes_no question is yes from this probability on. Only with answer. An option of a tags question is right
    from this probability on, 0.5 if it is not sent. Only with answer and count.
    """
    no_at: float | None = None
    """The answer of a yes_no question is no up to this probability, and unsure in between. Only with answer."""
    calibrated: bool | None = None
    """Shows what the calibration that is pinned to the question of the version that answered makes of the stored
    probabilities, and None where none is pinned.
    """


@dataclass(frozen=True, slots=True)
class Prism(Received):
    """A named definition with its latest version."""

    id: str
    """Names the prism for good."""
    slug: str
    name: str | None
    """What people call it."""
    archived_at: datetime | None
    """When the prism was archived, or None. ISO 8601 in UTC with milliseconds."""
    created_at: datetime
    """When the prism was created. ISO 8601 in UTC with milliseconds."""
    latest_version: int
    """The number of the latest version."""
    lens: Lens
    version: Version
    """The latest version."""
    retention_days: int | None
    """How many days old results become before they are deleted. None: they are kept."""
    searchable: bool | None = None
    """false if searches leave the results out, else absent."""
    etag: str | None = field(default=None, repr=False, compare=False)
    """Names the prism as it is here, for if_match. Prisms of lists have none."""


@dataclass(frozen=True, slots=True)
class Version(Received):
    """A numbered definition. It never changes, but that an example is emptied when its result is deleted."""

    version: int
    """The number, counting from 1."""
    instructions: str | None
    """A text that is sent to the model with every question, or None."""
    model: str | None
    """The name of the configured model that answers the calls of the version. None: the default one at the time of the call."""
    escalate: Escalate | None
    """A second model for doubtful answers, or None."""
    fields: Sequence[Field]
    """The inputs of a call, 1 to 50. Their keys are unique."""
    questions: Sequence[Question]
    """What is asked about the input, 1 to 64 questions. Their keys are unique."""
    created_at: datetime
    """When the version was created. ISO 8601 in UTC with milliseconds."""
    examples: Sequence[Example] | None = None
    """Inputs with their right answers, which the model sees before each input. One whose result was deleted has no content.
    Absent without examples.
    """


@dataclass(frozen=True, slots=True)
class ExamplesFromLabels(Model):
    """A question, from whose labels the examples of a version are taken."""

    question: str
    """A question of the version. Its labels are taken in turn, so that each value is there as often as any other."""
    n: int
    """How many examples are taken. With fewer labels than that the response is a ConflictError."""
    seed: int | None = None
    """Which of the labels are taken: with one seed and the same labels always the same ones."""


@dataclass(frozen=True, slots=True)
class PreviewedLens(Received):
    """Results under a Lens that is not stored."""

    columns: Sequence[str]
    """The names of the columns, in Lens order."""
    data: Sequence[PreviewedResult]
    """The results, in the order of the ids that were sent."""


@dataclass(frozen=True, slots=True)
class PreviewedResult(Received):
    """A result under a Lens that is not stored."""

    result: ResultRow
    """The result as a read shows it, with these columns as its answers."""
    missing: Mapping[str, str]
    """By the name of each column that is None, why: the version that answered lacks what the column shows, or has no pinned
    calibration. Empty for a failed result, whose error says why.
    """


@dataclass(frozen=True, slots=True)
class Definition(Model):
    """What is asked."""

    fields: Sequence[Field]
    """The inputs of a call, 1 to 50. Their keys are unique."""
    questions: Sequence[Question]
    """What is asked about the input, 1 to 64 questions. Their keys are unique."""
    instructions: str | None = None
    """A text that is sent to the model with every question."""
    model: str | None = None
    """The name of the configured model that answers. Without it, the default model at the time of the call answers. A name
    that is not configured is a 400.
    """
    escalate: Escalate | None = None
    """A second model for doubtful answers. Without it none."""
    examples: Sequence[Example] | None = None
    """Inputs with their right answers, which the model sees before each input. At most 40, and 256 KiB of JSON together."""


@dataclass(frozen=True, slots=True)
class Try(Received):
    """What a definition answered. Nothing of it is saved."""

    status: Status
    error: str | None
    """Why the model gave no usable answer, in words. None when the status is ok."""
    error_code: ErrorCode | None
    """Why the model gave no usable answer, for programs."""
    took_ms: int
    """How long the call to the model took, in milliseconds."""
    answers: Answers = field(metadata={"member": "raw"})
    """Question key to answer, in the order of the definition: the answers of a result in format raw. None when the model
    failed.
    """
    row: Row = field(metadata={"member": "json"})
    """One member for each Lens column, in Lens order: the answers of a result in format json. None when the model failed."""
    model: RecordModel | None
    """The model whose answers these are, or that was asked last if there are none."""
    usage: RecordUsage | None
    """What all tries took together, as far as upstreams said."""
    label_mass: Mapping[str, float] | None
    """By question, the part of the model's probability that its labels had. For models that return log-probabilities."""
    absent: Mapping[str, Sequence[str]] | None
    """By question, the options or levels, or yes or no, whose labels were not among the tokens that the model returned. None
    without any. For models that return log-probabilities.
    """
    order_disagreement: Mapping[str, float] | None
    """By question, how far the orders of its labels disagreed: the mean total variation distance of the orders from the
    answer, from 0 (all gave the same probabilities) to 1. For models that are asked in several orders.
    """
    rounds: Mapping[str, Sequence[Round]] | None
    """By question, how many groups of its options were asked in each round, and how many options they had together. For
    questions with more options than the model is asked at once.
    """
    escalation: Escalation | None
    """Both models, if an answer of the first one was doubtful. None if no second model was wanted."""


@dataclass(frozen=True, slots=True)
class ModelList(Received):
    """All configured models."""

    data: Sequence[ConfiguredModel]
    """The models, in the order of the configuration."""


@dataclass(frozen=True, slots=True)
class ConfiguredModel(Received):
    """A configured model."""

    name: str
    """What versions call it."""
    provider: str
    """The API that it is asked through, such as openai-chat. Later releases may add providers."""
    model: str
    """What its upstream calls it."""
    default: bool
    """Whether it answers the calls of versions that name no model."""
    probabilities: ProbabilitySource
    price: Price | None
    """What its calls cost. None if no price is configured."""
    price_reported: bool
    """Whether its calls cost what its upstream says with each reply. Then there is no price."""
    fallback: Sequence[str]
    """The names of the models that are asked in its place when it fails, in this order."""
    order: OptionOrder | None
    """In which order the model reads options: in several cyclic orders (cyclic), whose probabilities are pooled, or in that of
    the definition (None).
    """
    samples: int | None
    """How many answers are drawn for each result. None unless probabilities is sampled."""


@dataclass(frozen=True, slots=True)
class Price(Received):
    """What a million tokens cost, and each call."""

    currency: str
    """The currency, such as USD."""
    input: Decimal
    """For a million tokens that are sent."""
    output: Decimal
    """For a million tokens that the model returns."""
    cached_input: float | None
    """For a million of the tokens that are sent which the upstream reads from a cache. None if they cost as much as others."""
    per_call: float | None
    """For each call of the upstream, beside its tokens. None if it costs nothing."""


@dataclass(frozen=True, slots=True)
class ModelStateList(Received):
    """The states of all configured models."""

    data: Sequence[ModelState]
    """The states, in the order of the configuration."""


@dataclass(frozen=True, slots=True)
class ModelState(Received):
    """How a configured model does, as the process that answers sees it."""

    name: str
    """What versions call the model."""
    state: Literal["asked", "on_trial", "skipped", "no_balance"]
    """Whether calls go to the model (asked), its circuit breaker skips it (skipped), one call shows whether it answers again
    (on_trial), or it is passed over for want of a balance (no_balance).
    """
    running: int
    """How many calls have a place, of all accounts."""
    max_in_flight: int | None
    """How many calls may have a place at once. None if there is no bound."""
    failures: Sequence[ModelFailure]
    """The last failures of the model since the start of the process, newest first. What says something of a text alone is left
    out.
    """


@dataclass(frozen=True, slots=True)
class ModelFailure(Received):
    """A call of a model that failed."""

    reason: Literal["unavailable", "limited", "exhausted", "refused_key", "not_found", "parameter", "unreadable"]
    """The class of the failure."""
    at: datetime
    """When the call ended. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class ModelCheck(Received):
    """What works of a model, as two known questions show."""

    name: str
    """What versions call the model."""
    ok: bool
    """Whether nothing failed."""
    took_ms: int
    """How long the check took, in milliseconds."""
    checks: Sequence[CheckedPart]
    """What was looked at, in this order. What a failure hides is left out."""


@dataclass(frozen=True, slots=True)
class CheckedPart(Received):
    """A part of a ModelCheck."""

    part: ModelPart
    """What was looked at."""
    status: Literal["ok", "doubt", "failed"]
    """Whether it works (ok), could work better (doubt), or keeps the model from answering (failed)."""
    text: str
    """What was found, in words."""
    write: str | None
    """What to write in the file of models. None if there is nothing to write."""


@dataclass(frozen=True, slots=True)
class Quality(Received):
    """The measures of a version."""

    version: int
    """The version."""
    questions: Sequence[QuestionQuality]
    """In the order of the version. A tags question is followed by its options, each with the measures of a yes_no."""


@dataclass(frozen=True, slots=True)
class QuestionQuality(Received):
    """The measures of a question. Those that its type does not have, or that need more labels, are None."""

    question: str
    """The question."""
    type: QuestionType
    """The type of the question."""
    labels: int
    """Labels that were looked at."""
    counted: int
    """Labels that count."""
    examples: int
    """Labels that are left out, as their inputs are examples of the version."""
    calibration: str | None
    """The calibration whose probabilities were measured; None for the stored ones."""
    accuracy: Figure | None
    """The share of answers that are right, with Wilson's interval."""
    log_loss: Figure | None
    """The mean of −ln p of the label."""
    brier: Figure | None
    """The mean of (p − y)² of a yes_no, 0 to 1, or of Σ(pₖ − yₖ)², 0 to 2."""
    macro_f1: Figure | None
    """The mean of F1 over classes. Of choice and yes_no."""
    classes: Sequence[QualityClass] | None
    """Each class with 5 labels or more. Of choice and yes_no."""
    confusion: Confusion | None
    """Answers by label. Of choice and yes_no."""
    rps: Figure | None
    """The ranked probability score, 0 to 1. Of scale."""
    mae: Figure | None
    """The mean distance of level and label, in positions. Of scale."""
    kappa: Figure | None
    """Cohen's kappa with quadratic weights. Of scale."""
    ece: Figure | None
    """The expected calibration error, debiased (Kumar 2019). From 100 labels on."""
    ece_plain: Figure | None
    """The expected calibration error, not debiased. From 100 labels on."""
    bins: Sequence[ReliabilityBin] | None
    """Reliability in bins of equal size. From 100 labels on."""
    coverage: Sequence[CoveragePoint] | None
    """What remains if the least certain answers are left to people."""
    option: str | None = None
    """The option of it that was measured; absent if it was measured as a whole."""
    tags: MeasuresOfSeveral | None = None
    """Of all options of a tags question together. Absent of other types, and of an option."""


@dataclass(frozen=True, slots=True)
class Figure(Received):
    """An estimate with its 95% interval."""

    value: float
    """The estimate."""
    low: float
    """The lower end."""
    high: float
    """The upper end."""


@dataclass(frozen=True, slots=True)
class QualityClass(Received):
    """How well one class is told from the others."""

    value: LabelValue
    """The key of an option, or whether the answer is yes."""
    n: int
    """Labels of the class."""
    precision: Figure | None
    """Of the answers with this value, the share that is right; None if there are none."""
    recall: Figure
    """Of the labels with this value, the share that is answered so."""
    f1: Figure
    """The harmonic mean of both."""


@dataclass(frozen=True, slots=True)
class Confusion(Received):
    """How often each label was answered by each value."""

    values: Sequence[LabelValue]
    """The values, in order."""
    counts: Sequence[Sequence[int]]
    """A row for each label, with a number for each answer."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin(Received):
    """Answers of similar probability."""

    n: int
    """Labels."""
    mean: float
    """The mean probability."""
    rate: float
    """How often it was so."""
    low: float
    """The lower end of the 95% interval of the rate."""
    high: float
    """The upper end."""


@dataclass(frozen=True, slots=True)
class CoveragePoint(Received):
    """What is kept when answers below a probability are left to people."""

    at: float
    """The least probability that is kept."""
    kept: float
    """The share of answers that is kept."""
    risk: float
    """The share of the kept ones that is wrong."""


@dataclass(frozen=True, slots=True)
class MeasuresOfSeveral(Received):
    """Estimates of answers with any number of right options, or differences between those of two versions."""

    exact_match: Figure
    """The share of answers with all options right. That of one version has Wilson's interval."""
    hamming_loss: Figure
    """The share of options, of all answers, that are wrong."""
    micro: Retrieval
    """Of all options of all answers together."""
    macro: Retrieval
    """The mean over the options that are a label or an answer at least once."""


@dataclass(frozen=True, slots=True)
class Retrieval(Received):
    """How much of what is answered is right, and how much of what is right is answered. A figure is None where neither labels
    nor answers have an option.
    """

    precision: Figure | None
    """Of the options that are answered, the share that is right."""
    recall: Figure | None
    """Of the options that are right, the share that is answered."""
    f1: Figure | None
    """The harmonic mean of both. Of the macro-average the mean of F1 over options."""


@dataclass(frozen=True, slots=True)
class Thresholds(Received):
    """Thresholds of a yes_no, by cost."""

    question: str
    """The question."""
    type: QuestionType
    """The type of the question."""
    labels: int
    """Labels that were looked at."""
    counted: int
    """Labels that count."""
    examples: int
    """Labels that are left out, as their inputs are examples of the version."""
    calibration: str | None
    """The calibration whose probabilities were measured; None for the stored ones."""
    false_yes: float
    """As sent."""
    false_no: float
    """As sent."""
    unsure: float
    """As sent."""
    yes_at: float
    """By theory: yes begins here."""
    no_at: float
    """By theory: no ends here."""
    theory: Threshold
    """What those do to the labels."""
    empirical: Threshold
    """The thresholds that cost the least on these labels. They look better than they will be on new answers."""
    counts: Sequence[ThresholdCount]
    """Labels on both sides of each hundredth, from 0 to 1."""
    option: str | None = None
    """The option of it that was measured; absent if it was measured as a whole."""


@dataclass(frozen=True, slots=True)
class Threshold(Received):
    """Two thresholds and what they do to the labels."""

    yes_at: float
    """Yes begins here."""
    no_at: float
    """No ends here."""
    yes: int
    """Answers that become yes."""
    no: int
    """Answers that become no."""
    unsure: int
    """Answers that are left unsure."""
    false_yes: int
    """Of yes, those that should be no."""
    false_no: int
    """Of no, those that should be yes."""
    total: float
    """The cost of all."""
    mean: float
    """The cost of one answer."""


@dataclass(frozen=True, slots=True)
class ThresholdCount(Received):
    """Labels on both sides of a probability."""

    at: float
    """The probability."""
    from_yes: int
    """Labels yes at or above it."""
    from_no: int
    """Labels no at or above it."""
    to_yes: int
    """Labels yes at or below it."""
    to_no: int
    """Labels no at or below it."""


@dataclass(frozen=True, slots=True)
class Comparison(Received):
    """Two versions on the same labelled inputs."""

    question: str
    """The question."""
    type: QuestionType
    """The type of the question."""
    labels: int
    """Labelled inputs that were looked at."""
    counted: int
    """Inputs that were compared."""
    left_out: LeftOut
    """Inputs that were not compared."""
    a: ComparedVersion
    """Version a."""
    b: ComparedVersion
    """Version b."""
    differences: Differences
    """b minus a."""
    mcnemar: McNemar
    """McNemar's exact test of equal accuracy."""
    verdict: str
    """better, worse, or not distinguishable with <n> labels: version b, compared with a."""
    option: str | None = None
    """The option of it that was compared; absent if it was compared as a whole."""


@dataclass(frozen=True, slots=True)
class LeftOut(Received):
    """Inputs that were not compared."""

    other_option: int
    """A label is an option that the other version lacks. Of a tags question options of only one version are not compared, and
    no label is left out.
    """
    other_label: int
    """The results of the versions have different labels."""
    examples: int
    """The input is an example of one of the versions."""


@dataclass(frozen=True, slots=True)
class ComparedVersion(Received):
    """The measures of one of two versions."""

    version: int
    """The version."""
    accuracy: Figure | None
    """The share of answers that are right, with Wilson's interval."""
    log_loss: Figure | None
    """The mean of −ln p of the label."""
    brier: Figure | None
    """The mean of (p − y)² of a yes_no, 0 to 1, or of Σ(pₖ − yₖ)², 0 to 2."""
    macro_f1: Figure | None
    """The mean of F1 over classes. Of choice and yes_no."""
    classes: Sequence[QualityClass] | None
    """Each class with 5 labels or more. Of choice and yes_no."""
    confusion: Confusion | None
    """Answers by label. Of choice and yes_no."""
    rps: Figure | None
    """The ranked probability score, 0 to 1. Of scale."""
    mae: Figure | None
    """The mean distance of level and label, in positions. Of scale."""
    kappa: Figure | None
    """Cohen's kappa with quadratic weights. Of scale."""
    ece: Figure | None
    """The expected calibration error, debiased (Kumar 2019). From 100 labels on."""
    ece_plain: Figure | None
    """The expected calibration error, not debiased. From 100 labels on."""
    bins: Sequence[ReliabilityBin] | None
    """Reliability in bins of equal size. From 100 labels on."""
    coverage: Sequence[CoveragePoint] | None
    """What remains if the least certain answers are left to people."""
    tags: MeasuresOfSeveral | None = None
    """Of all options of a tags question together. Absent of other types, and of an option."""


@dataclass(frozen=True, slots=True)
class Differences(Received):
    """Differences of measures, with paired intervals. Below 0 is better of losses, above 0 of the others."""

    accuracy: Figure | None
    """Of accuracy."""
    log_loss: Figure | None
    """Of log loss."""
    brier: Figure | None
    """Of the Brier score."""
    macro_f1: Figure | None
    """Of macro-F1."""
    rps: Figure | None
    """Of the ranked probability score."""
    mae: Figure | None
    """Of the mean distance."""
    kappa: Figure | None
    """Of kappa."""
    tags: MeasuresOfSeveral | None = None
    """Of all options of a tags question together, of which all other differences are None. Absent of other types, and of an
    option.
    """


@dataclass(frozen=True, slots=True)
class McNemar(Received):
    """McNemar's exact test of equal accuracy, two-sided. An answer with several right options is right if it has just those."""

    only_a: int
    """Answers that only version a had right."""
    only_b: int
    """Answers that only version b had right."""
    p: float
    """How likely counts as different as these are if neither is better."""


@dataclass(frozen=True, slots=True)
class Calibration(Received):
    """What maps the probabilities of a question of a version. It never changes."""

    id: str
    """Pins the calibration."""
    version: int
    """The version whose answers it was fitted to."""
    question: str
    """The question."""
    method: CalibrationMethod
    """How it maps probabilities."""
    temperature: float | None
    """T of pₖ^(1/T): above 1 answers become less certain, below 1 more. Of temperature alone."""
    a: float | None
    """a of σ(a·logit p + b). Of platt alone."""
    b: float | None
    """b of σ(a·logit p + b). Of platt alone."""
    points: Sequence[Sequence[float]] | None
    """The corners of a rising function, each as [stored, calibrated]. Between two corners it is linear, and constant outside.
    Of isotonic alone.
    """
    labels: int
    """How many labels it was fitted to."""
    log_loss_before: float
    """The mean log loss of the stored probabilities on these labels."""
    log_loss_after: float
    """The mean log loss of calibrated probabilities, each calibrated by a fit to labels of other inputs (5-fold
    cross-validation).
    """
    gain: Figure
    """How much smaller the log loss becomes, with its 95% interval."""
    created_at: datetime
    """When it was fitted. ISO 8601 in UTC with milliseconds."""
    option: str | None = None
    """The option of it; absent if it was calibrated as a whole."""


@dataclass(frozen=True, slots=True)
class PinnedCalibrations(Received):
    """What is pinned to a version."""

    version: int
    """The version."""
    questions: Mapping[str, str | None]
    """By the key of each question of the version, or both keys of each option of a tags question, the id of its calibration,
    or None.
    """


@dataclass(frozen=True, slots=True)
class Drift(Received):
    """How far the answers of a version are from its reference."""

    version: int
    """The version."""
    watched: bool
    """Whether the answers of the prism are counted."""
    counted_to: datetime | None
    """Results that began before are counted. None if the prism is not watched. ISO 8601 in UTC with milliseconds."""
    reference: DriftReference | None
    """What is compared with. None if the prism is not watched."""
    questions: Sequence[QuestionDrift]
    """The questions of the version, in its order. None if the prism is not watched. A tags question has an entry for each of
    its options, or for the 20 that are right the most often in the reference.
    """


@dataclass(frozen=True, slots=True)
class DriftReference(Received):
    """What answers are compared with."""

    kind: DriftKind
    """The first 2,000 results that are counted, or a period that was set."""
    from_: datetime | None
    """When the first result began, or the period begins. None while there is no result. ISO 8601 in UTC with milliseconds."""
    to: datetime | None
    """When the last result began, or the period ends. ISO 8601 in UTC with milliseconds."""
    results: int
    """How many results it has so far. Fewer than 500 are not compared with."""


@dataclass(frozen=True, slots=True)
class QuestionDrift(Received):
    """The drift of the answers to a question, or to an option of a tags question."""

    question: str
    """Its key."""
    index: int
    """Its number in the version, from 0, by which metrics name it."""
    type: QuestionType
    """Its type."""
    metrics: bool
    """Whether it has metrics, and so alerts. All accounts together have 39 questions with metrics, which they share."""
    hour: DriftWindow
    """The last hour."""
    day: DriftWindow
    """The last day."""
    hours: Sequence[DriftWindow]
    """The last 48 clock hours that have results, the oldest first."""
    days: Sequence[DriftWindow]
    """The last 30 days of UTC that have results, the oldest first."""
    option: str | None = None
    """The option, whose classes are no and yes; absent of a question of another type."""


@dataclass(frozen=True, slots=True)
class DriftWindow(Received):
    """A time that is compared with the reference."""

    from_: datetime
    """When it begins. ISO 8601 in UTC with milliseconds."""
    to: datetime
    """When it ends. ISO 8601 in UTC with milliseconds."""
    results: int
    """The results that began in it."""
    alarm: bool
    """Whether either index is above its limit."""
    probability: DriftIndex | None
    """Of the top probability, in ten bins. None for fewer than 100 results, or than 500 of the reference."""
    classes: DriftIndex | None
    """Of the shares of the answers. None likewise."""


@dataclass(frozen=True, slots=True)
class DriftIndex(Received):
    """A population stability index."""

    psi: float
    """The index: 0 if both are distributed alike."""
    limit: float
    """What an index without drift exceeds in at most 0.1 % of comparisons; 0.1 at least."""
    alarm: bool
    """Whether the index is above its limit."""


@dataclass(frozen=True, slots=True)
class DriftPeriod(Model):
    """A time of whole hours of the last 90 days."""

    from_: datetime
    """When the first hour begins."""
    to: datetime
    """When the last hour ends."""


@dataclass(frozen=True, slots=True)
class Distribution(Received):
    """The answers to a question by time."""

    question: str
    """The question."""
    type: QuestionType
    """Its type in the newest version that has it."""
    by: Literal["hour", "day", "week"]
    """How long a row is."""
    zone: str
    """The time zone."""
    from_: date
    """The first day, in the zone."""
    to: date
    """The day after the last."""
    exact: bool
    """Everything that was ever answered and labelled is counted; with q or where, every result that matches."""
    counted_from: datetime | None
    """Results whose ids have an earlier time are not all counted. None if all are. ISO 8601 in UTC with milliseconds."""
    counted_to: datetime | None
    """What happened since is not all counted. None if all is. ISO 8601 in UTC with milliseconds."""
    data: Sequence[DistributionRow]
    """A row for each hour, day or week with an answer, in the order of time."""


@dataclass(frozen=True, slots=True)
class DistributionRow(Received):
    """The answers of an hour, a day or a week."""

    at: datetime
    """When it begins. ISO 8601 in UTC with milliseconds."""
    answers: int
    """How many results answered."""
    values: Sequence[DistributionValue]
    """How many answered what: each value that a label can have."""
    probability: float
    """The mean probability of yes, or of what was answered."""
    labelled: int
    """How many of the answers have a label."""
    right: int
    """How many of those are as their label says."""
    bins: Sequence[int] | None
    """How many answers have a probability of yes of 0.00, 0.01, … 1.00, rounded. Of yes_no."""


@dataclass(frozen=True, slots=True)
class DistributionValue(Received):
    """How many results answered a value."""

    value: LabelValue
    """The key of an option or a level, or whether the answer is yes."""
    count: int
    """How many."""


@dataclass(frozen=True, slots=True)
class File(Received):
    """A file of rows. Members that do not apply are None."""

    id: str
    """Names the file."""
    name: str
    """What people call it."""
    format: FileFormat
    """How it is read."""
    bytes: int
    """Its size."""
    sha256: str | None
    """The SHA-256 that was sent, or None."""
    status: FileStatus
    """Its state."""
    part_bytes: int
    """The size of every part but the last, which is what remains."""
    parts: int
    """How many parts it has."""
    missing: Sequence[int] | None
    """The numbers of the first 1,000 parts that were not sent, while it is uploading; then None. The first part is 1."""
    rows: int | None
    """How many rows it has, once it is ready."""
    columns: Sequence[FileColumn] | None
    """Its columns in order, once it is ready."""
    delimiter: str | None
    """What separates the cells of a csv or tsv file that is ready."""
    encoding: str | None
    """The encoding in which a csv, tsv or jsonl file was read."""
    encoding_sure: bool | None
    """Whether the encoding is known: a guess that may be wrong has false."""
    header_row: int | None
    """The row of a csv, tsv or xlsx file that has the names of the columns."""
    proposed_header_row: int | None
    """The row that looks like the header, if that is another one, as when a title is above it."""
    sheet: str | None
    """The sheet of an xlsx file that was read."""
    bad_rows: int | None
    """How many rows cannot be read, once it is ready. They are invalid in runs."""
    notes: Sequence[str] | None
    """What was done to it when it was read, a sentence each."""
    error: str | None
    """Why it is unusable, or None."""
    created_at: datetime
    """When it was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime
    """When it is deleted, unless a run uses it. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class FileColumn(Received):
    """A column of a file."""

    name: str
    """Its name."""
    filled: int
    """How many of its cells are not empty."""
    longest: int
    """The characters of its longest cell."""


@dataclass(frozen=True, slots=True)
class FilePart(Received):
    """A part that is stored."""

    part: int
    """Its number."""
    bytes: int
    """Its size."""
    sha256: str
    """Its SHA-256 in hexadecimal."""


@dataclass(frozen=True, slots=True)
class FileRows(Received):
    """Rows of a file."""

    data: Sequence[Mapping[str, str | None]]
    """The rows, each an object in the order of the columns, with None for what a row of jsonl lacks."""


@dataclass(frozen=True, slots=True)
class ResultsOfRun(Model):
    """Results whose inputs a run answers: those for which every member holds. None is the same as not sent."""

    ids: Sequence[str] | None = None
    """Only results with these ids."""
    status: Status | None = None
    """Only results with this status."""
    version: int | None = None
    """Only results that this version answered."""
    from_: datetime | None = None
    """Only results saved at this time or later."""
    to: datetime | None = None
    """Only results saved before this time."""
    q: str | None = None
    """Only results with these words, as in the list of results."""
    where: Sequence[str] | None = None
    """Only results for which all these conditions hold, as in the list of results."""


@dataclass(frozen=True, slots=True)
class Run(RunStates, Received):
    """A run of a file. ok + failed + invalid + cancelled + pending = rows, always."""

    id: str
    """Names the run."""
    name: str | None
    """What people call it, or None."""
    prism: str
    """The slug of the prism."""
    version: int
    """The version that answers."""
    file_id: str
    """The file."""
    status: RunStatus
    """Its state."""
    reason: str | None
    """Why it paused by itself, or None."""
    rows: int
    """The rows of the file."""
    ok: int
    """Rows with an answer."""
    failed: int
    """Rows that the model gave no usable answer to."""
    invalid: int
    """Rows that a create call would refuse."""
    cancelled: int
    """Rows that are not sent any more."""
    pending: int
    """Rows that wait."""
    labels: RunLabels | None
    """How many labels of its rows are stored; None without label columns."""
    rows_per_second_now: float
    """How fast it goes."""
    eta_seconds: float | None
    """How long it still takes, or None if that is not known."""
    usage: RunUsage
    """What its results used."""
    created_at: datetime
    """When it was created. ISO 8601 in UTC with milliseconds."""
    started_at: datetime | None
    """When its first row began, or None. ISO 8601 in UTC with milliseconds."""
    finished_at: datetime | None
    """When it was over, or None. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class RunLabels(Received):
    """Labels of the rows of a run that are ok."""

    stored: int
    """Cells that are labels."""
    invalid: int
    """Cells that are no value of their question."""


@dataclass(frozen=True, slots=True)
class RunUsage(Received):
    """What the results of a run used."""

    input_tokens: int
    """Tokens that models read."""
    output_tokens: int
    """Tokens that models wrote."""
    cost: Decimal | None
    """What they cost, or None without a price."""
    currency: str | None
    """The currency of the cost, or None."""


@dataclass(frozen=True, slots=True)
class DryRun(Received):
    """What a run would do. Sums are estimates; what is not known is None."""

    rows: int
    """The rows of the file."""
    rows_checked: int
    """How many of the first rows were checked: all, unless that took longer than 20 seconds. The other numbers but invalid and
    invalid_total are for all rows, in proportion.
    """
    invalid: Sequence[InvalidRow]
    """The first 100 rows that a create call would refuse."""
    invalid_total: int
    """How many of the checked rows a create call would refuse."""
    invalid_labels: Sequence[InvalidRow]
    """The first 100 cells that are no label. The rows are answered."""
    invalid_labels_total: int
    """How many cells of the checked rows are no label."""
    tokens: int
    """About how many tokens models would read. Those that they write are not known before."""
    model_calls: int
    """How many calls of the model there would be. Failed calls are repeated, and so more."""
    seconds: float | None
    """How long the run takes at least by rows_per_second; None without it."""
    cost: Decimal | None
    """What tokens cost by the model's price; None without a price."""
    currency: str | None
    """The currency of the cost, or None."""


@dataclass(frozen=True, slots=True)
class InvalidRow(Received):
    """A row that a create call would refuse."""

    row: int
    """Its number; the first row is 1."""
    message: str
    """The message of the refusal."""


@dataclass(frozen=True, slots=True)
class LabelledResult(Received):
    """A result with its labels."""

    result_id: str
    """The id of the result."""
    ref: str | None
    """The ref sent with the call."""
    version: int
    """The version that answered."""
    labels: Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class AddedLabels(Received):
    """What became of labels."""

    labelled: int
    """How many were stored."""
    not_found: Sequence[int]
    """The positions in labels, from 0, of those whose result was not found."""
    invalid: Sequence[InvalidLabel]
    """The others that were not stored."""


@dataclass(frozen=True, slots=True)
class InvalidLabel(Received):
    """A label that was not stored."""

    index: int
    """Its position in labels, from 0."""
    message: str
    """Why not."""


@dataclass(frozen=True, slots=True)
class LabelQueuePage(Page[QueuedResult]):
    """A page of results to label."""

    data: Sequence[QueuedResult]
    """The results of this page."""
    sample: LabelSample
    """What to send as sample with their labels."""


@dataclass(frozen=True, slots=True)
class APIKey(Received):
    """An API key without its text."""

    id: str
    """Revokes the key."""
    name: str
    """What people call it."""
    prefix: str
    """The first characters of the key, to tell keys apart."""
    role: Role
    """What the key may do."""
    created_at: datetime
    """When the key was created. ISO 8601 in UTC with milliseconds."""
    expires_at: datetime | None
    """When the key ends, or None. ISO 8601 in UTC with milliseconds."""
    last_used_at: datetime | None
    """When the key was last used, right to the minute, or None. ISO 8601 in UTC with milliseconds."""
    revoked_at: datetime | None
    """When the key was revoked, or None. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class Claim(Model):
    """A claim of a provider of OpenID Connect, and a value that it has or that is one of its values."""

    name: str
    """The claim, such as groups."""
    value: str
    """The value."""


@dataclass(frozen=True, slots=True)
class Member(Received):
    """A person of an account who signs in to the console, or a rule that makes members."""

    id: str
    """The id."""
    name: str
    """What people call the member or rule."""
    email: str | None
    """The address of the invitation, for people."""
    role: Role
    """What the member may do."""
    claim: Claim | None
    """The claim of a rule. None for a member."""
    signed_in_by: SignedInBy | None
    """How the member signed in the last time. None if it never did."""
    created_at: datetime
    """When the member or rule was made. ISO 8601 in UTC with milliseconds."""
    last_seen_at: datetime | None
    """The last use of one of the member's sessions, right to the minute. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class Comment(Received):
    """What somebody said of a result."""

    id: str
    """Deletes the comment."""
    author: Author
    """Who said it."""
    text: str
    """What was said."""
    created_at: datetime
    """When it was said. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class Author(Received):
    """The key or the member that wrote something."""

    kind: Literal["key", "member"]
    """What the author is."""
    id: str
    """The id of the key or the member."""
    name: str
    """The name that the key or the member has now."""


@dataclass(frozen=True, slots=True)
class Assignee(Received):
    """The member whom a result is assigned to, or nobody."""

    result_id: str
    """The id of the result."""
    member: AssignedMember | None
    """The member, or None."""


@dataclass(frozen=True, slots=True)
class AssignedMember(Received):
    """A member by its name."""

    id: str
    """The id of the member."""
    name: str
    """What people call the member."""


@dataclass(frozen=True, slots=True)
class Assigned(Received):
    """How many results match, and whom they were assigned to before."""

    assigned: int
    """How many results match, at most 1,000. All of them have the assignee now, unless the call was a dry run."""
    before: Sequence[AssignedBefore]
    """The results that had another assignee, by the one that they had. Assigning each group to it again undoes the call. Empty
    of a dry run.
    """


@dataclass(frozen=True, slots=True)
class AssignedBefore(Received):
    """Results that had the same assignee."""

    member_id: str | None
    """The id of the member, or None for nobody."""
    ids: Sequence[str]
    """The ids of the results, oldest first."""


@dataclass(frozen=True, slots=True)
class ViewFilters(Model):
    """Which results a view shows, as the list of results has them."""

    prism: str | None = None
    """Only results of the prism with this slug or id. In a response it is the slug."""
    status: Status | None = None
    """Only results with this status."""
    ref: str | None = None
    """Only results with this ref. The empty text finds the empty ref."""
    version: int | None = None
    """Only results that this version answered."""
    from_: datetime | None = None
    """Only results saved at this time or later. ISO 8601 in UTC with milliseconds."""
    to: datetime | None = None
    """Only results saved before this time. ISO 8601 in UTC with milliseconds."""
    model: str | None = None
    """Only results of this model."""
    key_id: str | None = None
    """Only results of calls with the API key with this id, or of the member."""
    run: str | None = None
    """Only results of the run with this id."""
    assignee: str | None = None
    """Only results that are assigned to the member with this id, to whoever looks (me), or to nobody (none)."""
    q: str | None = None
    """Only results with these words."""
    where: Sequence[str] | None = None
    """Only results for which all these conditions hold. Needs a prism."""
    sort: str | None = None
    """The order."""


@dataclass(frozen=True, slots=True)
class View(Received):
    """A saved view of results."""

    id: str
    """Replaces and deletes the view."""
    name: str
    """What people call it."""
    filters: ViewFilters
    columns: Sequence[str] | None
    """The columns of the table, or None for those that a table has by itself."""
    default: bool
    """Whether the console begins with this view."""
    created_at: datetime
    """When the view was saved first. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class EventCondition(Model):
    """A condition on the Lens of the prism of a result."""

    column: str
    """The name of the column. Of results whose prism has none, nothing is sent."""
    op: ConditionOp
    """is and not compare the key of an option or level, yes, no or unsure, or a number; from and to a number."""
    value: str
    """What the cell is compared with."""


@dataclass(frozen=True, slots=True)
class Webhook(Received):
    """A URL to which events are sent."""

    id: str
    """Reads, replaces and deletes the webhook."""
    url: str
    """Where events are sent."""
    events: Sequence[EventType]
    """Which events are sent."""
    prisms: Sequence[str] | None
    """The slugs of the prisms whose events are sent, or None for all."""
    status: Status | None
    """The status of the results of result.created, or None for both."""
    condition: EventCondition | None
    """What holds of the results of result.created, or None."""
    answers: bool
    """Whether events of ok results have the columns of the Lens."""
    run_rows: bool
    """Whether result.created is sent of rows of runs too."""
    enabled: bool
    """Whether events are sent."""
    disabled_reason: DisabledReason | None
    """Why Prism has disabled the webhook: gone when its receiver answered 410, failing when the last try of an event failed,
    overflow when more than 1,000,000 events waited. None: it has not.
    """
    waiting: int
    """How many events wait to be sent."""
    previous_secret_until: datetime | None
    """Until when events are signed with the secret before the last rotation too, or None. ISO 8601 in UTC with milliseconds."""
    created_at: datetime
    """When the webhook was made. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class Delivery(Received):
    """An event for a webhook."""

    id: str
    """webhook-id of each try, by which receivers know an event again."""
    event: str
    """What happened; of a test webhook.test."""
    at: datetime
    """When it happened. ISO 8601 in UTC with milliseconds."""
    status: DeliveryStatus
    """Whether it has been delivered, has failed, or waits."""
    next_at: datetime | None
    """When it is tried next. None: it is not, or waits for its turn. ISO 8601 in UTC with milliseconds."""
    tries: Sequence[DeliveryTry]
    """How it was tried, oldest first; the newest 10."""


@dataclass(frozen=True, slots=True)
class DeliveryTry(Received):
    """One try to send an event."""

    at: datetime
    """When it began. ISO 8601 in UTC with milliseconds."""
    took_ms: int
    """How long it took, in milliseconds."""
    status: int | None
    """The HTTP status of the answer. None: there was none."""
    error: TryError | None
    """Why it failed without an answer that counts. None: it has not."""
    answer: str | None
    """The beginning of the answer, as text of at most 4 KiB. None: there was none, or it is from a network that the operator
    allows.
    """


@dataclass(frozen=True, slots=True)
class Events(Received):
    """A page of events."""

    data: Sequence[ListedEvent]
    """The events, in their order."""
    next: str
    """Send it as after to read what follows."""


@dataclass(frozen=True, slots=True)
class ListedEvent(Received):
    """An event with its place."""

    id: str
    """Send it as after to read what follows."""
    type: str
    """What happened."""
    timestamp: datetime
    """When it happened. ISO 8601 in UTC with milliseconds."""
    data: EventData
    """What it happened to."""


@dataclass(frozen=True, slots=True)
class EventData(Received):
    """What an event is about: ids, states and the columns of the Lens. It has no fields and no API key."""

    result_id: str | None = None
    """Of result.…: the result."""
    results: Sequence[EventResult] | None = None
    """Of result.created of rows of a run: its results, up to 100."""
    prism: str | None = None
    """The slug of the prism."""
    version: int | None = None
    """Of a result: the version that answered. Of drift.…: the version that is watched. Of prism.changed: the latest."""
    status: str | None = None
    """Of a result ok or failed, or deleted when it is there no more. Of a run: its state when the event is sent."""
    answers: Mapping[str, str | float | None] | None = None
    """The columns of the Lens, when the webhook asks for answers and the result is ok, unless they have more than 64 KiB."""
    run_id: str | None = None
    """Of run.…, and of results of a run: the run."""
    question: str | None = None
    """Of drift.…: the question whose answers drift."""
    option: str | None = None
    """Of drift.… of a tags question: the option."""
    change: str | None = None
    """Of prism.changed: what was done, such as version.create, as the audit names it."""
    key_id: str | None = None
    """Of key.expiring: the key."""
    expires_at: datetime | None = None
    """Of key.expiring: when the key ends. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class EventResult(Received):
    """A result of a run."""

    result_id: str
    """The result."""
    status: str
    """ok or failed, or deleted when it is there no more."""
    answers: Mapping[str, str | float | None] | None = None
    """The columns of the Lens, when the webhook asks for answers and the result is ok, unless they have more than 64 KiB."""


@dataclass(frozen=True, slots=True)
class Usage(Received):
    """Sums over the results of a period."""

    data: Sequence[UsageSum]
    """The sums: of prisms, models and keys at most 1,000."""
    more: bool
    """There are further prisms, models or keys, with fewer results."""
    from_: date
    """The first day, in UTC."""
    to: date
    """The day after the last."""


@dataclass(frozen=True, slots=True)
class UsageSum(Received):
    """The sum of the results of one day, prism, model or key whose costs have one currency. It has one of the members day,
    prism, model and key_id.
    """

    results: int
    """How many results were saved, and tries made."""
    failed: int
    """Those of them that failed."""
    input_tokens: int
    """Tokens that models read."""
    output_tokens: int
    """Tokens that models wrote."""
    cost: Decimal | None
    """The exact sum, in currency, with at most 12 digits behind the point. None without a currency."""
    currency: str | None
    """The currency of the models' prices. None if none has one."""
    day: date | None = None
    """The day in UTC, by day."""
    prism: str | None = None
    """The prism's slug, by prism. Archived prisms have sums too. None for what tries used."""
    model: str | None = None
    """The name of the configured model, by model. None if it is not known."""
    key_id: str | None = None
    """The API key, by key. None if it is not known."""


@dataclass(frozen=True, slots=True)
class Account(Received):
    """The account of the key, its limits, and what it has."""

    id: str
    """The id."""
    name: str
    """What the operator calls it."""
    created_at: datetime
    """When the account was made. ISO 8601 in UTC with milliseconds."""
    limits: AccountLimits
    """What the operator limits."""
    prisms: int
    """The prisms that are not archived."""
    keys: int
    """The API keys that are not revoked."""
    members: int
    """The members, without rules."""
    stored_bytes: int
    """What results and files have."""


@dataclass(frozen=True, slots=True)
class AccountLimits(Received):
    """The limits of an account. None is no limit."""

    requests_per_second: int | None
    """Requests a second."""
    concurrency: int | None
    """Requests in flight."""
    results_per_day: int | None
    """Results that a day of UTC may save."""
    stored_bytes: int | None
    """What results and files may have."""


@dataclass(frozen=True, slots=True)
class CreatedAPIKey(APIKey):
    """A new API key with its text, which is shown this once and not stored."""

    key: Secret
    """prism_, 32 random characters and 6 that check them."""


@dataclass(frozen=True, slots=True)
class InvitedMember(Member):
    """A member with its sign-in link. A rule has none."""

    link: Secret | None = None
    """The path of the sign-in link, behind the address of the console. It is shown only here, and used once."""
    expires_at: datetime | None = None
    """When the link expires. ISO 8601 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True)
class CreatedWebhook(Webhook):
    """A webhook with a new secret, which is shown this once."""

    secret: Secret
    """whsec_ and 32 random bytes in base64: what the signature of each event is made with (Standard Webhooks)."""
