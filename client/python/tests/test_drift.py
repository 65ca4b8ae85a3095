"""The client is what the OpenAPI document says."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import httpx
import pytest

import prism_results
from prism_results import (
    AnswerError,
    Answers,
    AsyncClient,
    Client,
    Model,
    Page,
    Pages,
    Received,
    Row,
    RunOptions,
    Secret,
    Stream,
    UnexpectedResponseError,
    _json,
    models,
)
from prism_results.errors import CODES
from tests.conftest import REPOSITORY, Prism
from tests.samples import DRY_RUNS, EVERYTHING
from tests.serving import JSON, Handler, Request

DOCUMENT = json.loads((REPOSITORY / "services/gateway/internal/apidoc/openapi.json").read_text())
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]

OPERATIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}

SHAPES: dict[str, Any] = {
    "Result": models.ResultRow,
    "RawResult": models.Result,
    "ChoiceAnswer": models.ChoiceAnswer,
    "YesNoAnswer": models.YesNoAnswer,
    "ScaleAnswer": models.ScaleAnswer,
    "ResultPage": Page[models.ResultRow],
    "RawResultPage": Page[models.Result],
    "LabelPage": Page[models.LabelledResult],
    "LabelQueue": models.LabelQueuePage,
    "DriftOfQuestion": models.QuestionDrift,
    "CalibrationPage": Page[models.Calibration],
    "PrismPage": Page[models.Prism],
    "VersionPage": Page[models.Version],
    "ApiKeyList": Page[models.APIKey],
    "MemberPage": Page[models.Member],
    "AuditPage": Page[models.AuditEntry],
    "FilePage": Page[models.File],
    "RunPage": Page[models.Run],
    "ChoiceQuestion": models.Question,
    "YesNoQuestion": models.Question,
    "ScaleQuestion": models.Question,
    "NewLens": models.Lens,
    "ApiKey": models.APIKey,
    "CreatedApiKey": models.CreatedAPIKey,
    "MemberClaim": models.Claim,
    "Model": models.ConfiguredModel,
}
"""The models of the schemas that have another name."""

SENT = {
    "CreateResult": "createResult",
    "NewPrism": "createPrism",
    "NewVersion": "createVersion",
    "NewName": "renamePrism",
    "NewKey": "createKey",
    "LensPreview": "previewLens",
    "NewTry": "tryDefinition",
    "NewLabels": "putLabels",
    "ManyLabels": "addLabels",
    "NewCalibration": "createCalibration",
    "CalibrationPins": "pinCalibrations",
    "DriftChange": "setDrift",
    "NewMember": "addMember",
    "MemberChange": "changeMember",
    "Retention": "setRetention",
    "ResultDeletion": "deleteResults",
    "ResultRetry": "retryResults",
    "NewFile": "createFile",
    "NewRun": "createRun",
    "RunLimits": "setRunLimits",
}
"""The bodies that are parameters of methods. The test of the operation sends all their members."""

ERRORS = {"Error", "Unavailable"}
LISTS = {"LabelQueuePage": "LabelQueue"}
"""The lists whose pages have more than items."""


def shape(name: str) -> Any:
    """The model of a schema."""
    return SHAPES.get(name) or getattr(models, name, None)


def base(ref: str) -> str:
    return ref.rsplit("/", 1)[-1]


def snake(operation: str) -> str:
    return re.sub("([A-Z])", lambda m: "_" + m[1].lower(), operation)


def parameters(operation: dict[str, Any]) -> list[str]:
    """The names of the parameters in the query."""
    every = [DOCUMENT["components"]["parameters"][base(p["$ref"])] if "$ref" in p else p for p in operation.get("parameters", [])]
    return sorted(p["name"] for p in every if p["in"] == "query")


class Recorder(httpx.BaseTransport):
    """Keeps the request and answers with something else than Prism."""

    request: httpx.Request

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.request = request
        return httpx.Response(418, text="recorded")


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_the_client_sends_everything_of_each_operation(name: str) -> None:
    method, path, operation = OPERATIONS[name]
    assert name in EVERYTHING, "add the operation to tests/samples.py"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    members = set(SCHEMAS[base(body["$ref"])]["properties"]) if body else set()
    recorder = Recorder()
    with Client("http://prism.test", "k", transport=recorder) as client:
        assert hasattr(client, snake(name)), f"the client has no {snake(name)}"
        for act, dry in [(EVERYTHING[name], False)] + ([(DRY_RUNS[name], True)] if "dry_run" in members else []):
            with pytest.raises(UnexpectedResponseError):
                act(client)
            request = recorder.request
            wanted = re.sub(r"\{(\w+)\}", lambda m: "1" if m[1] in ("n", "version") else "a", path)
            assert (request.method, request.url.path) == (method, wanted)
            assert sorted(request.url.params.keys()) == parameters(operation)
            if body:
                sent = json.loads(request.content)
                assert sorted(sent) == sorted(members if dry else members - {"dry_run"}) or name == "createRun"
                if name == "createRun":  # a check makes no run, so it has no key
                    assert set(sent) == members - ({"idempotency_key"} if dry else {"dry_run"})
            conditions = {p.get("$ref") for p in operation.get("parameters", [])} & {"#/components/parameters/IfMatch"}
            assert ("If-Match" in request.headers) == (bool(conditions) and not dry)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_answer_of_any_server_is_none_of_prism(serve: Callable[[Handler], Client], name: str) -> None:
    statuses = [int(status) for status in OPERATIONS[name][2]["responses"] if status in ("201", "202")]
    for act, status in [(EVERYTHING[name], max(statuses, default=200)), (DRY_RUNS.get(name), 200)]:

        def handle(request: Request, status: int = status) -> None:
            request.reply(status, JSON, "{}")

        if act:
            with pytest.raises(UnexpectedResponseError, match=r": http://127\.0\.0\.1:\d+ sent a response "):
                act(serve(handle))


def test_no_sample_is_of_another_operation() -> None:
    assert set(EVERYTHING) == set(OPERATIONS)
    assert {name for name in OPERATIONS if "dry_run" in str(body_of(name))} == set(DRY_RUNS)


def body_of(name: str) -> dict[str, Any]:
    schema = OPERATIONS[name][2].get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return dict(SCHEMAS[base(schema["$ref"])].get("properties", {})) if schema else {}


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_methods_return_what_the_document_says(name: str) -> None:
    operation = OPERATIONS[name][2]
    returned = inspect.signature(getattr(Client, snake(name)), eval_str=False).return_annotation
    responses = operation["responses"]
    success = next(responses[status] for status in ("201", "202", "204", "200") if status in responses)
    schema = success.get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        assert returned == ("None" if "204" in responses else "Stream")
        return
    kind = shape(base(schema.get("anyOf", [schema])[-1]["$ref"]))  # raw is behind json, and the client's default
    item = get_args(kind)
    assert returned == (f"Pages[{item[0].__name__}]" if item else LISTS.get(kind.__name__, kind.__name__))


def kind_of(schema: dict[str, Any]) -> tuple[str, bool]:
    """The JSON types that a schema describes, and whether null is another."""
    if "$ref" in schema:
        return kind_of(SCHEMAS[base(schema["$ref"])])
    own = schema.get("type", [])
    kinds = own if isinstance(own, list) else [own]
    kinds = kinds + [kind_of(one)[0] for one in [*schema.get("anyOf", []), *schema.get("oneOf", [])]]
    some = [kind for kind in kinds if kind != "null"]
    return " ".join(sorted({*(some or kinds)})), "null" in kinds


KINDS = {str: "string", int: "integer", float: "number", Decimal: "number", bool: "boolean", datetime: "string", date: "string"}


def kind_of_type(kind: Any) -> tuple[str, bool]:
    """The JSON types of a type of the client, and whether null is another."""
    if get_origin(kind) in (Union, types.UnionType):
        some = {one for one in get_args(kind) if one is not type(None)}
        return " ".join(sorted(kind_of_type(one)[0] for one in some)), type(None) in get_args(kind)
    if kind in KINDS:
        return KINDS[kind], False
    if get_origin(kind) is Literal or kind is Secret:
        return "string", False
    if kind in (Answers, Row):
        return "object", True
    return ("array", False) if get_origin(kind) is Sequence else ("object", False)


def inner(kind: Any) -> Any:
    """The type of items, or of what may be None."""
    while get_args(kind) and get_origin(kind) in (Union, types.UnionType, Sequence):
        kind = get_args(kind)[0]
    return kind


def described() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in SCHEMAS.items():
        if "properties" in schema and name not in ERRORS and name not in SENT:
            yield name, schema


@pytest.mark.parametrize(("name", "schema"), [pytest.param(*one, id=one[0]) for one in described()])
def test_models_have_the_members_of_the_document(name: str, schema: dict[str, Any]) -> None:
    kind = shape(name)
    assert kind is not None, f"there is no model of {name}"
    model = get_origin(kind) or kind
    hinted = get_type_hints(model)
    hints = {_json.member_of(field): hinted[field.name] for field in dataclasses.fields(model)}
    if model is Page:
        hints["data"] = hints["data"][get_args(kind)]
    for member, one in schema["properties"].items():
        if member == "dry_run":
            continue
        hint = hints[member]
        got, can_be_none = kind_of_type(hint)
        want, null = kind_of(one)
        assert got == want, f"{name}.{member} is {hint}"
        if issubclass(model, Received):
            assert can_be_none == (null or member not in schema["required"]) or hint is Answers, f"{name}.{member} is {hint}"
        ref = next((part["$ref"] for part in [one, one.get("items", {}), *one.get("anyOf", [])] if "$ref" in part), None)
        known = shape(base(ref)) if ref else None
        if inspect.isclass(known) and issubclass(known, Model):
            assert inner(hint) == known, f"{name}.{member}"


def test_models_have_no_other_members() -> None:
    members: dict[Any, set[str]] = {}
    for name, schema in described():
        model = get_origin(shape(name)) or shape(name)
        members.setdefault(model, set()).update(schema["properties"])
    for model, known in members.items():
        own = {_json.member_of(f) for f in dataclasses.fields(model)} - {"extra", "request_id", "etag"}
        assert own == known - {"dry_run"}, model


def test_every_model_is_of_a_schema() -> None:
    of_schemas = {get_origin(shape(name)) or shape(name) for name, _ in described()}
    every = {one for one in vars(models).values() if inspect.isclass(one) and dataclasses.is_dataclass(one)}
    assert every - of_schemas == {Model, Received, models.OtherAnswer}
    assert set(RunOptions.__annotations__) == set(SCHEMAS["NewRun"]["properties"]) - {
        "file_id", "fields", "idempotency_key", "dry_run",
    }  # fmt: skip


ROWS = {p["name"]: p["schema"] for p in DOCUMENT["paths"]["/v1/runs/{run_id}/rows"]["get"]["parameters"] if "schema" in p}
LITERALS: dict[str, list[Any]] = {
    "Format": SCHEMAS["Format"]["enum"],
    "ExportFormat": [one for one in SCHEMAS["Format"]["enum"] if one not in ("json", "raw")],
    "Status": SCHEMAS["Status"]["enum"],
    "Role": SCHEMAS["Role"]["enum"],
    "Show": SCHEMAS["Column"]["properties"]["show"]["enum"],
    "ProbabilitySource": SCHEMAS["Probabilities"]["enum"],
    "QuestionType": [SCHEMAS[base(one["$ref"])]["properties"]["type"]["const"] for one in SCHEMAS["Question"]["oneOf"]],
    "AuditAction": SCHEMAS["AuditEntry"]["properties"]["action"]["enum"],
    "UsageBy": SCHEMAS["UsageBy"]["enum"],
    "FileFormat": SCHEMAS["FileFormat"]["enum"],
    "FileStatus": SCHEMAS["FileStatus"]["enum"],
    "RunStatus": SCHEMAS["RunStatus"]["enum"],
    "RowsFormat": ROWS["format"]["enum"],
    "RowStatus": [one for one in ROWS["only"]["enum"] if one != "all"],
    "ErrorCode": [one for one in SCHEMAS["Record"]["properties"]["error_code"]["enum"] if one],
    "EscalationErrorCode": [one for one in SCHEMAS["Escalation"]["properties"]["error_code"]["enum"] if one],
    "OptionOrder": [one for one in SCHEMAS["Model"]["properties"]["order"]["enum"] if one],
    "LabelSample": SCHEMAS["LabelSample"]["enum"],
    "LabelOrigin": SCHEMAS["Label"]["properties"]["origin"]["enum"],
    "CalibrationMethod": SCHEMAS["Calibration"]["properties"]["method"]["enum"],
    "NewCalibrationMethod": SCHEMAS["NewCalibration"]["properties"]["method"]["enum"],
    "DriftKind": SCHEMAS["DriftReference"]["properties"]["kind"]["enum"],
    "SignedInBy": [one for one in SCHEMAS["Member"]["properties"]["signed_in_by"]["enum"] if one],
    "YesNo": ["yes", "no", "unsure"],
}


def test_the_values_of_types_are_those_of_the_document() -> None:
    ours = {name: list(get_args(one)) for name, one in vars(models).items() if get_origin(one) is Literal}
    assert {name: sorted(values) for name, values in ours.items()} == {name: sorted(v) for name, v in LITERALS.items()}
    assert set(CODES) - {"unavailable", "unexpected"} == set(
        SCHEMAS["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    )
    for name, kind in ("AuditActor", models.AuditActor), ("AuditObject", models.AuditObject):
        assert set(get_args(get_type_hints(kind)["kind"])) == set(SCHEMAS[name]["properties"]["kind"]["enum"])


def test_every_error_of_the_document_has_its_class() -> None:
    seen = set()
    for example in DOCUMENT["components"]["examples"].values():
        error = example["value"].get("error") if isinstance(example["value"], Mapping) else None
        if not isinstance(error, Mapping):
            continue
        seen.add(error["code"])
        answer = httpx.MockTransport(lambda _, value=example["value"]: httpx.Response(400, json=value))
        with Client("http://prism.test", "k", transport=answer) as client, pytest.raises(CODES[error["code"]]) as err:
            client.read_result("a")
        assert (err.value.code, err.value.message) == (error["code"], error["message"])
    assert seen == set(CODES) - {"unavailable", "unexpected"}


def test_the_asynchronous_client_has_the_same_methods() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(AsyncClient) == public(Client) - {"close"} | {"aclose"}
    assert public(prism_results.AsyncStream) == public(Stream)
    assert public(prism_results.AsyncPages) == public(Pages)
    assert issubclass(AnswerError, LookupError)


def test_the_served_document_is_the_one_of_these_tests(prism: Prism) -> None:
    assert httpx.get(prism.url + "/openapi.json").json() == DOCUMENT
