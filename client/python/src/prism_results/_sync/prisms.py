# Written by generate.py; do not edit.
"""Prisms, their versions and their Lens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from prism_results._sync.base import Base, Pages
from prism_results._core import ANSWER_TIMEOUT, call, given, query
from prism_results.models import Definition, ExamplesFromLabels, Lens, PreviewedLens, Prism, Try, Version


class Prisms(Base):
    """The calls about prisms."""

    def create_prism(
        self,
        slug: str,
        definition: Definition,
        *,
        name: str | None = None,
        lens: Lens | None = None,
        searchable: bool | None = None,
        dry_run: bool = False,
    ) -> Prism:
        """Create a prism with its version 1. Without a Lens, it gets the one derived from the questions.

        With searchable=False searches leave its results out. A slug that the account has already is a ConflictError.
        dry_run makes every check, returns the prism as it would be, and creates nothing.
        """
        body = {**given(slug=slug, name=name, lens=lens, searchable=searchable), **definition.to_dict()}
        return self._fetch(Prism, call("createPrism", "POST", "prisms").of(body, 201, dry_run))

    def list_prisms(
        self,
        *,
        archived: bool | Literal["all"] = False,
        kind: Literal["usual", "adhoc"] = "usual",
    ) -> Pages[Prism]:
        """List prisms, newest first: those that are not archived, those that are, or all; the ad-hoc ones by their kind alone."""
        wanted = query(archived={True: "true", "all": "all"}.get(archived), kind="adhoc" if kind == "adhoc" else None)
        return Pages(self, Prism, call("listPrisms", "GET", "prisms", query=wanted))

    def create_version(
        self,
        prism: str,
        definition: Definition,
        *,
        lens: Lens | None = None,
        examples_from_labels: ExamplesFromLabels | None = None,
        if_latest: int | None = None,
        if_match: str | None = None,
        dry_run: bool = False,
    ) -> Version:
        """Add the next version of a prism, which answers calls from then on, and replace the Lens.

        Without a Lens, the prism gets the one derived from the questions. With another latest version than if_latest, or
        another ETag than if_match, which is the etag of a prism that was read, it is a ConflictError. dry_run makes
        every check, returns the version as it would be, and adds nothing. examples_from_labels takes the examples from
        labels, in place of those of the definition.
        """
        body = {**given(lens=lens, if_latest=if_latest, examples_from_labels=examples_from_labels), **definition.to_dict()}
        one = call("createVersion", "POST", "prisms", prism, "versions", if_match=if_match)
        return self._fetch(Version, one.of(body, 201, dry_run))

    def replace_lens(self, prism: str, lens: Lens, *, if_match: str | None = None, dry_run: bool = False) -> Prism:
        """Replace the Lens of a prism, for old results too.

        With another ETag than if_match, which is the etag of a prism that was read, it is a ConflictError. dry_run makes
        every check, returns the prism as it would be, and edits nothing.
        """
        one = call("replaceLens", "PUT", "prisms", prism, "lens", if_match=if_match)
        return self._fetch(Prism, one.of(lens.to_dict(), 200, dry_run))

    def preview_lens(self, prism: str, lens: Lens, result_ids: Sequence[str] = ()) -> PreviewedLens:
        """Show results of a prism, at most 50, as a read with another Lens would. It stores nothing.

        An id that no result of the prism has is left out.
        """
        body = {**lens.to_dict(), "result_ids": list(result_ids)}
        one = call("previewLens", "POST", "prisms", prism, "lens", "preview", body=body, repeatable=True)
        return self._fetch(PreviewedLens, one)

    def try_definition(
        self,
        definition: Definition,
        text: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
        lens: Lens | None = None,
        context: str | None = None,
    ) -> Try:
        """Ask the model the questions of a definition, about either a text or fields.

        Neither the definition nor a result is saved, but the use counts, so a call whose response was lost is not
        repeated. Raises FailedError with the try if the model gives no usable answer.
        """
        body = given(definition=definition, lens=lens, fields=fields, text=text, context=context)
        return self._fetch(Try, call("tryDefinition", "POST", "try", body=body, timeout=ANSWER_TIMEOUT, answers="try"))
