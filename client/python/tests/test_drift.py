"""The client is what the OpenAPI document says."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

import httpx
import pytest

import prism_results
from prism_results import (
    AnswerError,
    AsyncClient,
    Client,
    Pages,
    RunOptions,
    Stream,
    UnexpectedResponseError,
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
    if "Formats of others" not in operation["tags"]  # those are called by clients of others
}

NAMES = {
    "Result": "ResultRow",
    "RawResult": "Result",
    "ApiKey": "APIKey",
    "CreatedApiKey": "CreatedAPIKey",
    "Model": "ConfiguredModel",
    "LabelQueue": "LabelQueuePage",
    "ResultPage": "ResultRowPage",
    "RawResultPage": "ResultPage",
}
"""The models of the schemas that have another name."""

LISTS = {"LabelQueuePage": "LabelQueue", "ResultPage": "FoundResults"}
"""The lists whose pages have more than items."""


def returned_kind(schema: str) -> str:
    """What a method returns whose response has a schema."""
    name = NAMES.get(schema, schema)
    properties = SCHEMAS[schema]["properties"]
    if set(properties) == {"data", "next_cursor"}:
        return f"Pages[{returned_kind(base(properties['data']['items']['$ref']))}]"
    return LISTS.get(name, name)


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
    assert returned == returned_kind(base(schema.get("anyOf", [schema])[-1]["$ref"]))  # raw is behind json, the default


def test_the_options_of_a_run_are_those_of_the_document() -> None:
    assert set(RunOptions.__annotations__) == set(SCHEMAS["NewRun"]["properties"]) - {
        "file_id", "fields", "idempotency_key", "dry_run",
    }  # fmt: skip


ROWS = {p["name"]: p["schema"] for p in DOCUMENT["paths"]["/v1/runs/{run_id}/rows"]["get"]["parameters"] if "schema" in p}
LITERALS: dict[str, list[Any]] = {
    "ExportFormat": [one for one in SCHEMAS["Selection"]["properties"]["format"]["enum"] if one],
    "RowsFormat": ROWS["format"]["enum"],
    "RowStatus": [one for one in ROWS["only"]["enum"] if one != "all"],
}
"""The values of the types that are written by hand."""


def test_the_values_of_types_are_those_of_the_document() -> None:
    assert {name: list(get_args(getattr(models, name))) for name in LITERALS} == LITERALS
    assert set(CODES) - {"unavailable", "unexpected"} == set(
        SCHEMAS["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    )


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
