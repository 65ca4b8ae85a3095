# Written by generate.py; do not edit.
"""API keys, members and the audit."""

from __future__ import annotations

from datetime import datetime

from prism_results._sync.base import Base, Pages
from prism_results._core import call, given, query
from prism_results.models import APIKey, AuditEntry, Claim, CreatedAPIKey, InvitedMember, Member, Role


class Account(Base):
    """The calls about the account."""

    def create_key(self, name: str, *, role: Role | None = None, expires_at: datetime | None = None) -> CreatedAPIKey:
        """Create an API key for the account, of an owner that never expires if not told otherwise.

        Only this response has the new key's text. An account with 1,000 active keys is a ConflictError.
        """
        body = given(name=name, role=role, expires_at=expires_at)
        return self._fetch(CreatedAPIKey, call("createKey", "POST", "keys", body=body, want=201))

    def list_keys(self) -> Pages[APIKey]:
        """List the account's keys, newest first, also revoked ones, without their texts."""
        return Pages(self, APIKey, call("listKeys", "GET", "keys"))

    def revoke_key(self, key_id: str) -> APIKey:
        """Revoke a key at once. The call is idempotent."""
        return self._fetch(APIKey, call("revokeKey", "POST", "keys", key_id, "revoke", repeatable=True))

    def add_member(self, name: str, role: Role, *, email: str | None = None, claim: Claim | None = None) -> InvitedMember:
        """Invite a member, or with a claim make a rule: whoever signs in with the claim may become a member with the role."""
        body = given(name=name, role=role, email=email, claim=claim)
        return self._fetch(InvitedMember, call("addMember", "POST", "members", body=body, want=201))

    def list_members(self) -> Pages[Member]:
        """List the account's members and rules, newest first."""
        return Pages(self, Member, call("listMembers", "GET", "members"))

    def change_member(self, member_id: str, *, name: str | None = None, role: Role | None = None) -> Member:
        """Replace the name or the role of a member or rule. Another role for the last owner is a ConflictError."""
        return self._fetch(Member, call("changeMember", "PUT", "members", member_id, body=given(name=name, role=role)))

    def remove_member(self, member_id: str) -> None:
        """Remove a member or rule. To remove the last owner is a ConflictError."""
        self._content(call("removeMember", "DELETE", "members", member_id, want=204))

    def link_member(self, member_id: str) -> InvitedMember:
        """Make a new sign-in link of a member, in place of earlier ones."""
        return self._fetch(InvitedMember, call("linkMember", "POST", "members", member_id, "link"))

    def list_audit(
        self, *, from_: datetime | None = None, to: datetime | None = None, actor: str | None = None
    ) -> Pages[AuditEntry]:
        """List who changed what in the account, newest first, from a time on and before another one.

        actor is the id of a key or member, "operator" or "retention". It needs a key with the role owner.
        """
        return Pages(self, AuditEntry, call("listAudit", "GET", "audit", query=query(from_=from_, to=to, actor=actor)))
