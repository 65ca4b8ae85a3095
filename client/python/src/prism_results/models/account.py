"""API keys, members and the audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from prism_results.models.base import Model, Received, Secret

Role: TypeAlias = Literal["owner", "editor", "caller", "labeller", "reader"]
SignedInBy: TypeAlias = Literal["link", "openid"]
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
    "lens.replace",
    "calibration.create",
    "calibration.pin",
    "result.delete",
    "results.delete",
    "results.retry",
    "prism.retention",
    "prism.drift",
    "file.delete",
    "run.create",
    "run.pause",
    "run.resume",
    "run.cancel",
    "run.retry",
    "run.limits",
    "member.add",
    "member.change",
    "member.remove",
    "member.link",
    "member.sign_in",
    "member.key",
    "member.sign_out",
]


@dataclass(frozen=True, slots=True)
class APIKey(Received):
    """A key without its text."""

    id: str
    name: str
    prefix: str
    """The first characters, to tell keys apart."""
    role: Role
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    """Right to the minute."""
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class CreatedAPIKey(APIKey):
    """A new key. Its text is shown only here."""

    key: Secret


@dataclass(frozen=True, slots=True)
class Claim(Model):
    """A claim of a provider of OpenID Connect, and a value that it has or that is one of its values."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Member(Received):
    """A person of an account who signs in to the console, or a rule that makes members."""

    id: str
    name: str
    email: str | None
    role: Role
    claim: Claim | None
    """Of a rule."""
    signed_in_by: SignedInBy | None
    """The last time. None: never."""
    created_at: datetime
    last_seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class InvitedMember(Member):
    """A member with its sign-in link. A rule has none."""

    link: Secret | None = None
    """The path of the sign-in link, behind the address of the console. It is shown only here, and used once."""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditActor(Received):
    """Who made a change."""

    kind: Literal["key", "member", "operator", "retention"]
    id: str | None
    """Of the key or member."""
    name: str


@dataclass(frozen=True, slots=True)
class AuditObject(Received):
    """What was changed."""

    kind: Literal["account", "key", "member", "prism", "result", "file", "run"]
    id: str
    name: str
    """The slug of a prism. Empty for a result."""


@dataclass(frozen=True, slots=True)
class AuditEntry(Received):
    """Who changed what, and when."""

    id: str
    at: datetime
    actor: AuditActor
    action: AuditAction
    object: AuditObject
    detail: Mapping[str, Any]
    """The members depend on the action."""
