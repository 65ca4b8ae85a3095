# Written by generate.py; do not edit.
# Written by make api; do not edit.
"""The calls that are what the API declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Literal

from prism_results._sync.base import Base, Pages
from prism_results._core import call, given, query
from prism_results.models import (
    Account,
    AddedLabels,
    APIKey,
    AssignedMember,
    Assignee,
    AuditEntry,
    Calibration,
    Claim,
    Comment,
    Comparison,
    CreatedAPIKey,
    CreatedWebhook,
    Delivery,
    DeliveryStatus,
    Distribution,
    Drift,
    DriftPeriod,
    Encoding,
    EventCondition,
    Events,
    EventType,
    File,
    FileFormat,
    FileRows,
    InvitedMember,
    LabelledResult,
    LabelSample,
    LabelValue,
    Member,
    ModelCheck,
    ModelList,
    ModelStateList,
    NewLabel,
    PinnedCalibrations,
    Prism,
    Quality,
    Role,
    Status,
    Thresholds,
    Usage,
    UsageBy,
    Version,
    View,
    ViewFilters,
    Webhook,
)


class Operations(Base):
    """The calls that need no more than their request."""

    def delete_result(self, result_id: str) -> None:
        """Delete a result.

        Deletes a result for good: its fields, context, ref and answers. Its idempotency key is free again. A result that it
        retried stays retried by it, and cannot be retried again. Needs a key of an editor. Deleting again is a
        NotFoundError.
        """
        self._content(call("deleteResult", "DELETE", "results", result_id, want=204))

    def read_prism(self, prism: str) -> Prism:
        """Read a prism.

        The prism with its Lens and its latest version, also when it is archived.
        """
        return self._fetch(Prism, call("readPrism", "GET", "prisms", prism))

    def list_versions(self, prism: str) -> Pages[Version]:
        """List versions.

        Versions of a prism, newest first, a page at a time, also of an archived one.
        """
        return Pages(self, Version, call("listVersions", "GET", "prisms", prism, "versions"))

    def rename_prism(self, prism: str, name: str | None) -> Prism:
        """Rename a prism.

        Replaces the name of a prism, which is for people. The slug stays.
        """
        body = {"name": name}
        return self._fetch(Prism, call("renamePrism", "PUT", "prisms", prism, "name", body=body))

    def read_version(self, prism: str, version: int) -> Version:
        """Read a version.

        One version of a prism, also of an archived one.
        """
        return self._fetch(Version, call("readVersion", "GET", "prisms", prism, "versions", version))

    def list_calibrations(
        self, prism: str, version: int, *, question: str | None = None, option: str | None = None
    ) -> Pages[Calibration]:
        """List calibrations.

        The calibrations of this version, newest first.
        """
        wanted = query(question=question, option=option)
        return Pages(
            self, Calibration, call("listCalibrations", "GET", "prisms", prism, "versions", version, "calibrations", query=wanted)
        )

    def read_calibration(self, prism: str, version: int, calibration_id: str) -> Calibration:
        """Read a calibration.

        One calibration of this version.
        """
        return self._fetch(
            Calibration, call("readCalibration", "GET", "prisms", prism, "versions", version, "calibrations", calibration_id)
        )

    def pin_calibrations(self, prism: str, version: int, questions: Mapping[str, str | None]) -> PinnedCalibrations:
        """Pin calibrations.

        Pins a calibration to each question that the body names, in place of the one it had; None unpins. Other questions
        keep theirs. Columns of the Lens with calibrated show what the pinned calibration of the version that answered makes
        of the stored probabilities, from the next read on. Stored answers and the format raw never change. Needs a key of
        an editor.
        """
        body = given(questions=questions)
        return self._fetch(
            PinnedCalibrations, call("pinCalibrations", "PUT", "prisms", prism, "versions", version, "calibration", body=body)
        )

    def read_pinned_calibrations(self, prism: str, version: int) -> PinnedCalibrations:
        """Read what is pinned.

        Which calibration each question of this version has.
        """
        return self._fetch(
            PinnedCalibrations, call("readPinnedCalibrations", "GET", "prisms", prism, "versions", version, "calibration")
        )

    def read_quality(
        self,
        prism: str,
        version: int,
        *,
        question: str | None = None,
        option: str | None = None,
        model: str | None = None,
        calibrated: bool = False,
    ) -> Quality:
        """Measure a version by labels.

        How good the answers of this version are, and what their probabilities are worth, measured by the labels that count:
        those of a random sample, of a file's whole column, or without a sample if every result has one. Each figure has its
        95% interval. A question with fewer than 30 such labels has None for its measures.
        """
        wanted = query(question=question, option=option, model=model, calibrated="true" if calibrated else None)
        return self._fetch(
            Quality, call("readQuality", "GET", "prisms", prism, "versions", version, "quality", query=wanted)
        )

    def read_thresholds(
        self,
        prism: str,
        version: int,
        question: str,
        false_yes: float,
        false_no: float,
        unsure: float,
        *,
        option: str | None = None,
        model: str | None = None,
        calibrated: bool = False,
    ) -> Thresholds:
        """Choose thresholds by cost.

        Where yes should begin and no end, from what mistakes and unsure answers cost: by theory, for calibrated
        probabilities, and as the labels have it. The thresholds go into a column of the Lens as yes_at and no_at.
        """
        wanted = query(
            question=question,
            option=option,
            model=model,
            calibrated="true" if calibrated else None,
            false_yes=false_yes,
            false_no=false_no,
            unsure=unsure,
        )
        return self._fetch(
            Thresholds, call("readThresholds", "GET", "prisms", prism, "versions", version, "quality", "thresholds", query=wanted)
        )

    def compare_versions(self, prism: str, a: int, b: int, question: str, *, option: str | None = None) -> Comparison:
        """Compare two versions.

        How version b is, compared with version a, on the labelled inputs that both answered: the measures of both, their
        differences, McNemar's exact test, and a verdict.
        """
        wanted = query(a=a, b=b, question=question, option=option)
        return self._fetch(Comparison, call("compareVersions", "GET", "prisms", prism, "compare", query=wanted))

    def set_retention(self, prism: str, days: int | None) -> Prism:
        """Set how long results are kept.

        Results of the prism are deleted for good, in small parts and within an hour, when they are older than this many
        days of 24 hours; with None they are kept. It counts at once for all results of the prism, which may be archived.
        When the call has returned, nothing is deleted by the days before. Needs a key of an editor.
        """
        body = {"days": days}
        return self._fetch(Prism, call("setRetention", "PUT", "prisms", prism, "retention", body=body))

    def set_searchable(self, prism: str, searchable: bool) -> Prism:
        """Set whether results are searchable.

        With false the results of the prism, which may be archived, are not indexed, those that were are taken out of the
        index piece by piece, and q, where, sort and counts of the prism are a ConflictError. Searches and counts of all
        prisms leave its results out from now on. Lists without these, and results by their ids, stay as they are. With true
        the results are indexed, the newest first; until then pages say from when on with indexed_from. Needs a key of an
        editor.
        """
        body = given(searchable=searchable)
        return self._fetch(Prism, call("setSearchable", "PUT", "prisms", prism, "searchable", body=body))

    def read_drift(self, prism: str, *, version: int | None = None) -> Drift:
        """See whether answers change.

        Compares the answers of a version in the last hour and the last day with those of its reference, and shows the hours
        and days before. Answers of a prism are counted while it is watched; of another one there is nothing. Counting is
        two minutes behind the calls.
        """
        wanted = query(version=version)
        return self._fetch(Drift, call("readDrift", "GET", "prisms", prism, "drift", query=wanted))

    def set_drift(
        self, prism: str, watched: bool, *, version: int | None = None, reference: DriftPeriod | None = None
    ) -> Drift:
        """Watch whether answers change.

        Watches a prism, or stops it and forgets what was counted. A prism that was not watched is counted from its results
        of the last 90 days on, in the background. The reference of each version is its first 2,000 results that are
        counted, unless a period is set for it. Needs a key of an editor.
        """
        body = given(watched=watched, version=version, reference=reference)
        return self._fetch(Drift, call("setDrift", "PUT", "prisms", prism, "drift", body=body))

    def read_distribution(
        self,
        prism: str,
        question: str,
        *,
        by: Literal["hour", "day", "week"] | None = None,
        zone: str | None = None,
        from_: date | None = None,
        to: date | None = None,
        version: int | None = None,
        q: str | None = None,
        where: Sequence[str] | None = None,
    ) -> Distribution:
        """Count answers by time.

        How many answers to a question said what, by hour, day or week of a time zone, with their mean probability and how
        many of them have a label, and the right one. The counts are exact: those of all results that were ever saved, up to
        the moment of the call; deleting a result does not change them, and a label counts where its result was created.
        exact is false while results of before an upgrade are still counted in the background. Of a yes_no the answers are
        also counted by hundredths of the probability of yes, so that thresholds can be chosen later. Rows without an answer
        are left out. A call can ask for 10,000 rows.

        With q or where the answers of the results that match and are still there are counted, the newest first, for half a
        second at most: exact is false if there are more, and counted_from says how far it got.
        """
        wanted = query(question=question, by=by, zone=zone, from_=from_, to=to, version=version, q=q, where=where)
        return self._fetch(Distribution, call("readDistribution", "GET", "prisms", prism, "distribution", query=wanted))

    def archive_prism(self, prism: str) -> Prism:
        """Archive a prism.

        An archived prism answers nothing and takes no edits. Its results stay readable. Archiving twice is archiving once.
        """
        return self._fetch(Prism, call("archivePrism", "POST", "prisms", prism, "archive", repeatable=True))

    def unarchive_prism(self, prism: str) -> Prism:
        """Unarchive a prism.

        The prism answers again. Doing it twice is doing it once.
        """
        return self._fetch(Prism, call("unarchivePrism", "POST", "prisms", prism, "unarchive", repeatable=True))

    def list_models(self) -> ModelList:
        """List models.

        Every model that the operator has configured, in the order of the configuration. Exactly one is the default, which
        answers the calls of versions that name no model. Every role may list models. Addresses, keys and headers of
        upstreams are never shown.
        """
        return self._fetch(ModelList, call("listModels", "GET", "models"))

    def list_model_states(self) -> ModelStateList:
        """See how models do.

        Whether each configured model is asked, how many calls it answers at the moment, and how its last calls failed, as
        the process that answers knows since its start. Failures that say something of a text alone are left out. Needs a
        key of an owner.
        """
        return self._fetch(ModelStateList, call("listModelStates", "GET", "models", "states"))

    def check_model(self, name: str) -> ModelCheck:
        """Check a model.

        Asks a model two known questions, and says what works and what the operator writes in the file of models for what
        does not. The model is asked alone, without fallbacks and further tries, for at most 15 seconds, and once at a time:
        another check gets a 503. What the check used is counted as a try is. Needs a key of an owner. Addresses, and what
        hosts say, are never shown.
        """
        return self._fetch(ModelCheck, call("checkModel", "POST", "models", name, "check"))

    def create_key(self, name: str, *, role: Role | None = None, expires_at: datetime | None = None) -> CreatedAPIKey:
        """Create a key.

        Makes a key for the account of the key that asks, which is an owner's. Its text is in this response and nowhere
        else: only its SHA-256 is stored.
        """
        body = given(name=name, role=role, expires_at=expires_at)
        return self._fetch(CreatedAPIKey, call("createKey", "POST", "keys", body=body, want=201))

    def list_keys(self) -> Pages[APIKey]:
        """List keys.

        Keys of the account, newest first, revoked ones too, without their texts, a page at a time.
        """
        return Pages(self, APIKey, call("listKeys", "GET", "keys"))

    def revoke_key(self, key_id: str) -> APIKey:
        """Revoke a key.

        Every request that arrives after this call was answered is refused with the revoked key. A call that is being
        answered still gets its result. Revoking twice is revoking once.
        """
        return self._fetch(APIKey, call("revokeKey", "POST", "keys", key_id, "revoke", repeatable=True))

    def put_labels(
        self,
        result_id: str,
        labels: Mapping[str, LabelValue | None],
        *,
        sample: LabelSample | None = None,
        annotator: str | None = None,
    ) -> LabelledResult:
        """Label a result.

        Says what was right for questions of a result. A label takes the place of the one that the question has, and None
        removes it; questions that are not sent keep theirs. A value is the key of an option or level, true or false, or a
        label that only one option or level has. Send the sample that the label queue says. Needs a key of a labeller.
        """
        body = given(labels=labels, sample=sample, annotator=annotator)
        return self._fetch(LabelledResult, call("putLabels", "PUT", "results", result_id, "labels", body=body))

    def read_labels(self, result_id: str) -> LabelledResult:
        """Read the labels of a result.

        What was right for a result, by question. Questions without a label are left out.
        """
        return self._fetch(LabelledResult, call("readLabels", "GET", "results", result_id, "labels"))

    def add_labels(
        self,
        prism: str,
        labels: Sequence[NewLabel],
        *,
        sample: LabelSample | None = None,
        annotator: str | None = None,
        version: int | None = None,
    ) -> AddedLabels:
        """Label many results.

        Says what was right for up to 1,000 results, each named by its id or by its ref. A ref stands for the newest ok
        result of the prism that has it. What can be stored is stored; the response says where the others are in labels. The
        call can be repeated. Needs a key of a labeller.
        """
        body = given(labels=labels, sample=sample, annotator=annotator, version=version)
        return self._fetch(AddedLabels, call("addLabels", "POST", "prisms", prism, "labels", body=body, repeatable=True))

    def list_labels(self, prism: str, *, version: int | None = None, question: str | None = None) -> Pages[LabelledResult]:
        """List labels.

        The labelled results of a prism, newest first, each with its labels.
        """
        wanted = query(version=version, question=question)
        return Pages(self, LabelledResult, call("listLabels", "GET", "prisms", prism, "labels", query=wanted))

    def add_member(self, name: str, role: Role, *, email: str | None = None, claim: Claim | None = None) -> InvitedMember:
        """Invite a member.

        Makes a member with a sign-in link, which is shown only here, valid for 7 days and used once: send it to whom you
        invite. With claim it makes a rule instead, which has no link: whoever signs in by OpenID Connect with that claim
        becomes a member with the role, if the operator has granted the claim to the account, or if the person signs in to
        the account by name and agrees. Needs a key of an owner.
        """
        body = given(name=name, email=email, role=role, claim=claim)
        return self._fetch(InvitedMember, call("addMember", "POST", "members", body=body, want=201))

    def list_members(self) -> Pages[Member]:
        """List members.

        The account's members and rules, newest first. Needs a key of an owner.
        """
        return Pages(self, Member, call("listMembers", "GET", "members"))

    def change_member(self, member_id: str, *, name: str | None = None, role: Role | None = None) -> Member:
        """Change a member.

        Replaces the name or the role of a member or rule. A new role counts at once: the member's session keys are revoked
        and made anew. The last owner keeps its role. Needs a key of an owner.
        """
        body = given(name=name, role=role)
        return self._fetch(Member, call("changeMember", "PUT", "members", member_id, body=body))

    def remove_member(self, member_id: str) -> None:
        """Remove a member.

        Removes a member or rule. The member's sign-in links and sessions end at once for this account, and its session keys
        are revoked. The last owner cannot be removed. Needs a key of an owner.
        """
        self._content(call("removeMember", "DELETE", "members", member_id, want=204))

    def link_member(self, member_id: str) -> InvitedMember:
        """Make a new sign-in link.

        Makes a new sign-in link of a member, valid for 7 days and used once, in place of earlier ones. A rule has none.
        Needs a key of an owner.
        """
        return self._fetch(InvitedMember, call("linkMember", "POST", "members", member_id, "link"))

    def list_audit(
        self, *, from_: datetime | None = None, to: datetime | None = None, actor: str | None = None
    ) -> Pages[AuditEntry]:
        """List who changed what.

        Entries of the account's audit, newest first, a page at a time: who changed prisms and keys, or deleted results, and
        when. An entry is stored together with its change, and never changed. It holds no key, no value and nothing of a
        definition. Calls that create, retry, read or export results have no entries. Needs a key of an owner.
        """
        wanted = query(from_=from_, to=to, actor=actor)
        return Pages(self, AuditEntry, call("listAudit", "GET", "audit", query=wanted))

    def read_usage(
        self,
        *,
        from_: date | None = None,
        to: date | None = None,
        by: UsageBy | None = None,
        prism: str | None = None,
        model: str | None = None,
        key_id: str | None = None,
    ) -> Usage:
        """Add up what calls used.

        Results, tokens and cost of a period, by day, prism, model or key. The sums are exact: those of all results that
        were ever saved, up to the moment of the call; deleting a result does not change them. Costs of different currencies
        are not added up: each currency has a sum of its own, and results without a price are in the first of a group. Days
        rise; prisms, models and keys come in the order of their results, the most first, and of them there are at most
        1,000 sums: more tells that there are further ones, which a filter finds.
        """
        wanted = query(from_=from_, to=to, by=by, prism=prism, model=model, key_id=key_id)
        return self._fetch(Usage, call("readUsage", "GET", "usage", query=wanted))

    def create_file(self, name: str, format: FileFormat, bytes: int, *, sha256: str | None = None) -> File:
        """Begin an upload.

        Makes a file whose parts are sent next. An upload that is not completed within 24 hours is deleted. An account has
        at most 20 open uploads, and stores 50 GiB of results and files if its operator sets no other limit. Needs a key of
        a caller.
        """
        body = given(name=name, format=format, bytes=bytes, sha256=sha256)
        return self._fetch(File, call("createFile", "POST", "files", body=body, want=201))

    def list_files(self) -> Pages[File]:
        """List files.

        The account's files, newest first, a page at a time.
        """
        return Pages(self, File, call("listFiles", "GET", "files"))

    def read_file(self, file_id: str) -> File:
        """Read a file.

        What is known of a file, whatever its state.
        """
        return self._fetch(File, call("readFile", "GET", "files", file_id))

    def delete_file(self, file_id: str) -> None:
        """Delete a file.

        Deletes a file and its content for good. Results of its runs stay. Needs a key of a caller.
        """
        self._content(call("deleteFile", "DELETE", "files", file_id, want=204))

    def complete_file(self, file_id: str) -> File:
        """Complete an upload.

        Has the file read, once all its parts are there. Completing twice is completing once. Needs a key of a caller.
        """
        return self._fetch(File, call("completeFile", "POST", "files", file_id, "complete", want=202, repeatable=True))

    def read_file_again(
        self,
        file_id: str,
        *,
        encoding: Encoding | None = None,
        header_row: int | None = None,
        sheet: str | None = None,
        delimiter: Literal[",", ";", "	", "|", ":"] | None = None,
        on_bad_row: Literal["invalid", "refuse"] | None = None,
    ) -> File:
        """Read a file in another way.

        Has a file that was uploaded read anew: in another encoding, with the header in another row, another sheet, another
        delimiter, or refusing rows that cannot be read. What is not sent is found out. No run may have the file, as its
        rows would become others. Needs a key of a caller.
        """
        body = given(encoding=encoding, header_row=header_row, sheet=sheet, delimiter=delimiter, on_bad_row=on_bad_row)
        return self._fetch(
            File, call("readFileAgain", "POST", "files", file_id, "read", body=body, want=202, repeatable=True)
        )

    def list_file_rows(self, file_id: str, *, offset: int | None = None, limit: int | None = None) -> FileRows:
        """Preview rows.

        Rows of a file that is ready.
        """
        wanted = query(offset=offset, limit=limit)
        return self._fetch(FileRows, call("listFileRows", "GET", "files", file_id, "rows", query=wanted))

    def create_comment(self, result_id: str, text: str) -> Comment:
        """Comment on a result.

        Adds a comment to a result, with the key or the member as its author. It is deleted with the result, and its bytes
        count in what the account stores.
        """
        body = given(text=text)
        return self._fetch(Comment, call("createComment", "POST", "results", result_id, "comments", body=body, want=201))

    def list_comments(self, result_id: str) -> Pages[Comment]:
        """List comments.

        The comments of a result, newest first.
        """
        return Pages(self, Comment, call("listComments", "GET", "results", result_id, "comments"))

    def delete_comment(self, result_id: str, comment_id: str) -> None:
        """Delete a comment.

        Deletes a comment of the key or the member of the call. An owner deletes those of others too.
        """
        self._content(call("deleteComment", "DELETE", "results", result_id, "comments", comment_id, want=204))

    def assign_result(self, result_id: str, member_id: str | None) -> Assignee:
        """Assign a result.

        Assigns a result to a member of the account, in place of the one before, or with None to nobody. A member who leaves
        has no results any more.
        """
        body = {"member_id": member_id}
        return self._fetch(Assignee, call("assignResult", "PUT", "results", result_id, "assignee", body=body))

    def read_assignee(self, result_id: str) -> Assignee:
        """Read whom a result is assigned to.

        The member whom a result is assigned to. None: nobody.
        """
        return self._fetch(Assignee, call("readAssignee", "GET", "results", result_id, "assignee"))

    def list_assignees(self) -> Pages[AssignedMember]:
        """List whom results can be assigned to.

        The members of the account by id and name, newest first. Owners also list what else is known of members.
        """
        return Pages(self, AssignedMember, call("listAssignees", "GET", "assignees"))

    def create_view(
        self, name: str, filters: ViewFilters, *, columns: Sequence[str] | None = None, default: bool = False
    ) -> View:
        """Save a view.

        Saves which results a table shows, in which order and with which columns. Views belong to the account: everybody
        sees them, and whoever has a key of a labeller or editor changes them. A prism has one default view at most, and so
        have all results: a new one takes its place. Filters that no list of results could have are refused.
        """
        body = given(name=name, filters=filters, columns=columns, default=default or None)
        return self._fetch(View, call("createView", "POST", "views", body=body, want=201))

    def list_views(self) -> Pages[View]:
        """List views.

        The views of the account, newest first.
        """
        return Pages(self, View, call("listViews", "GET", "views"))

    def replace_view(
        self, view_id: str, name: str, filters: ViewFilters, *, columns: Sequence[str] | None = None, default: bool = False
    ) -> View:
        """Replace a view.

        Replaces all of a view but its id. What is not sent is not kept.
        """
        body = given(name=name, filters=filters, columns=columns, default=default or None)
        return self._fetch(View, call("replaceView", "PUT", "views", view_id, body=body))

    def delete_view(self, view_id: str) -> None:
        """Delete a view.

        Deletes a view for everybody of the account. Results stay.
        """
        self._content(call("deleteView", "DELETE", "views", view_id, want=204))

    def create_webhook(
        self,
        url: str,
        events: Sequence[EventType],
        *,
        prisms: Sequence[str] | None = None,
        status: Status | None = None,
        condition: EventCondition | None = None,
        answers: bool = False,
        run_rows: bool = False,
        enabled: bool | None = None,
    ) -> CreatedWebhook:
        """Create a webhook.

        Has events sent to a URL from now on, each as a POST of JSON that is signed as [Standard
        Webhooks](https://www.standardwebhooks.com) says. The secret of the signature is in this response and nowhere else;
        another one is made with rotate. The receiver answers with any 2xx within 15 seconds; what it does not is sent
        again, up to ten times in three days. The same event may arrive twice: webhook-id tells. No event has a field of a
        result or an API key.
        """
        body = given(
            url=url,
            events=events,
            prisms=prisms,
            status=status,
            condition=condition,
            answers=answers or None,
            run_rows=run_rows or None,
            enabled=enabled,
        )
        return self._fetch(CreatedWebhook, call("createWebhook", "POST", "webhooks", body=body, want=201))

    def list_webhooks(self) -> Pages[Webhook]:
        """List webhooks.

        The webhooks of the account, newest first, without their secrets.
        """
        return Pages(self, Webhook, call("listWebhooks", "GET", "webhooks"))

    def read_webhook(self, webhook_id: str) -> Webhook:
        """Read a webhook.

        Returns a webhook without its secret: what it sends, whether it is enabled, and how much waits.
        """
        return self._fetch(Webhook, call("readWebhook", "GET", "webhooks", webhook_id))

    def replace_webhook(
        self,
        webhook_id: str,
        url: str,
        events: Sequence[EventType],
        *,
        prisms: Sequence[str] | None = None,
        status: Status | None = None,
        condition: EventCondition | None = None,
        answers: bool = False,
        run_rows: bool = False,
        enabled: bool | None = None,
    ) -> Webhook:
        """Replace a webhook.

        Replaces all of a webhook but its id, its secret and what waits. What is not sent is not kept. enabled with false
        disables it: what waits is not sent any more, and what happens meanwhile is not sent later. true, or no enabled,
        enables it again, also after Prism has disabled it; it then begins with what happens from now on.
        """
        body = given(
            url=url,
            events=events,
            prisms=prisms,
            status=status,
            condition=condition,
            answers=answers or None,
            run_rows=run_rows or None,
            enabled=enabled,
        )
        return self._fetch(Webhook, call("replaceWebhook", "PUT", "webhooks", webhook_id, body=body))

    def delete_webhook(self, webhook_id: str) -> None:
        """Delete a webhook.

        Deletes a webhook with what waits and the log of its deliveries.
        """
        self._content(call("deleteWebhook", "DELETE", "webhooks", webhook_id, want=204))

    def test_webhook(self, webhook_id: str) -> Delivery:
        """Send a test.

        Sends an event webhook.test, signed as others, at once and beside what waits. It is tried once, and its failure
        disables nothing. The response comes before the try: list the deliveries to see what became of it.
        """
        return self._fetch(Delivery, call("testWebhook", "POST", "webhooks", webhook_id, "test"))

    def rotate_webhook(self, webhook_id: str) -> CreatedWebhook:
        """Make a new secret.

        Makes a new secret, which is in this response and nowhere else. For 24 hours events are signed with both, so that
        receivers can be changed without losing one; a secret before these two ends at once.
        """
        return self._fetch(CreatedWebhook, call("rotateWebhook", "POST", "webhooks", webhook_id, "rotate"))

    def list_deliveries(self, webhook_id: str, *, status: DeliveryStatus | None = None) -> Pages[Delivery]:
        """List the deliveries of a webhook.

        The events for a webhook, newest first, with what it was tried and what the receiver answered. Delivered ones are
        kept for 3 days, failed ones for 30.
        """
        wanted = query(status=status)
        return Pages(self, Delivery, call("listDeliveries", "GET", "webhooks", webhook_id, "deliveries", query=wanted))

    def resend_delivery(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Send an event again.

        Sends an event that was delivered or has failed again, at once and beside what waits, under the same webhook-id. Its
        body is made anew: a result that was deleted since has no answers.
        """
        return self._fetch(
            Delivery, call("resendDelivery", "POST", "webhooks", webhook_id, "deliveries", delivery_id, "resend")
        )

    def list_events(
        self,
        *,
        event: Sequence[EventType] | None = None,
        prism: str | None = None,
        answers: bool = False,
        run_rows: bool = False,
        after: str | None = None,
        limit: int | None = None,
    ) -> Events:
        """List what happened.

        What happened in the account, oldest first, in the bodies that webhooks are sent. It is a way to take events without
        an address that Prism can reach: store next together with what a page says, and send it as after. Events are kept
        for 30 days.
        """
        wanted = query(
            event=event,
            prism=prism,
            answers="true" if answers else None,
            run_rows="true" if run_rows else None,
            after=after,
            limit=limit,
        )
        return self._fetch(Events, call("listEvents", "GET", "events", query=wanted))

    def read_account(self) -> Account:
        """Read the account.

        The account of the key, the limits that its operator set, and what it has. None is no limit. The counts and bytes
        are those of the moment.
        """
        return self._fetch(Account, call("readAccount", "GET", "account"))
