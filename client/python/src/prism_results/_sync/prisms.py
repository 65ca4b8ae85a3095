# Written by generate.py; do not edit.
"""Prisms, their versions and their Lens, and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from prism_results._sync.base import Base, Pages
from prism_results._core import ANSWER_TIMEOUT, call, given, query
from prism_results.models import Definition, Lens, ModelList, PreviewedLens, Prism, Try, Version


class Prisms(Base):
    """The calls about prisms."""

    def create_prism(
        self, slug: str, definition: Definition, *, name: str | None = None, lens: Lens | None = None, dry_run: bool = False
    ) -> Prism:
        """Create a prism with its version 1. Without a Lens, it gets the one derived from the questions.

        A slug that the account has already is a ConflictError. dry_run makes every check, returns the prism as it would
        be, and creates nothing.
        """
        body = {**given(slug=slug, name=name, lens=lens), **definition.to_dict()}
        return self._fetch(Prism, call("createPrism", "POST", "prisms").of(body, 201, dry_run))

    def read_prism(self, prism: str) -> Prism:
        """Read a prism by its slug or id, an archived one too."""
        return self._fetch(Prism, call("readPrism", "GET", "prisms", prism))

    def list_prisms(self, *, archived: bool | Literal["all"] = False) -> Pages[Prism]:
        """List the account's prisms, newest first: those that are not archived, those that are, or all."""
        wanted = query(archived={True: "true", "all": "all"}.get(archived))
        return Pages(self, Prism, call("listPrisms", "GET", "prisms", query=wanted))

    def rename_prism(self, prism: str, name: str | None) -> Prism:
        """Replace the name of a prism. None or an empty text is none."""
        return self._fetch(Prism, call("renamePrism", "PUT", "prisms", prism, "name", body={"name": name}))

    def create_version(
        self,
        prism: str,
        definition: Definition,
        *,
        lens: Lens | None = None,
        if_latest: int | None = None,
        if_match: str | None = None,
        dry_run: bool = False,
    ) -> Version:
        """Add the next version of a prism, which answers calls from then on, and replace the Lens.

        Without a Lens, the prism gets the one derived from the questions. With another latest version than if_latest, or
        another ETag than if_match, which is the etag of a prism that was read, it is a ConflictError. dry_run makes
        every check, returns the version as it would be, and adds nothing.
        """
        body = {**given(lens=lens, if_latest=if_latest), **definition.to_dict()}
        one = call("createVersion", "POST", "prisms", prism, "versions", if_match=if_match)
        return self._fetch(Version, one.of(body, 201, dry_run))

    def read_version(self, prism: str, version: int) -> Version:
        """Read a version of a prism."""
        return self._fetch(Version, call("readVersion", "GET", "prisms", prism, "versions", version))

    def list_versions(self, prism: str) -> Pages[Version]:
        """List the versions of a prism, newest first."""
        return Pages(self, Version, call("listVersions", "GET", "prisms", prism, "versions"))

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

    def set_retention(self, prism: str, days: int | None) -> Prism:
        """Have the results of a prism deleted, within an hour, when they are older than this many days, 1 to 3650.

        None keeps them.
        """
        return self._fetch(Prism, call("setRetention", "PUT", "prisms", prism, "retention", body={"days": days}))

    def archive_prism(self, prism: str) -> Prism:
        """Archive a prism, which then takes no calls. Its results stay readable. The call is idempotent."""
        return self._fetch(Prism, call("archivePrism", "POST", "prisms", prism, "archive", repeatable=True))

    def unarchive_prism(self, prism: str) -> Prism:
        """Let an archived prism take calls again. The call is idempotent."""
        return self._fetch(Prism, call("unarchivePrism", "POST", "prisms", prism, "unarchive", repeatable=True))

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

    def list_models(self) -> ModelList:
        """List all configured models."""
        return self._fetch(ModelList, call("listModels", "GET", "models"))
