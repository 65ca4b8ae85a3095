import { type CallOptions, limits } from "./call.js";
import type { List } from "./lists.js";
import { type StoreOptions, storing } from "./prisms.js";
import type {
  ApiKey, Assigned, Assignee, AuditEntry, Change, Changes, Comment, CreatedApiKey, InvitedMember, Member, MemberChange, NewKey,
  NewMember, NewView, ResultAssignment, Schemas, Selection, Usage, View,
} from "./types.js";
import { Webhooks } from "./webhooks.js";

/** The account: its keys, members, audit and usage. */
export class Account extends Webhooks {
  /** Creates an API key for the account of the client's key. Only this response has the new key's text. */
  createKey(key: NewKey, options?: CallOptions): Promise<CreatedApiKey> {
    return this.caller.json({ operation: "createKey", method: "POST", path: ["keys"], body: key, want: 201 }, options);
  }

  /** Lists keys, newest first, also revoked ones, without their texts. */
  listKeys(selection?: Selection<"listKeys">, options?: CallOptions): List<ApiKey> {
    return this.list("listKeys", ["keys"], selection, options);
  }

  /** Asks a model two known questions, and says what works. It counts, so a call without a response is not repeated. */
  checkModel(name: string, options?: CallOptions): Promise<Schemas["ModelCheck"]> {
    return this.caller.json(
      { operation: "checkModel", method: "POST", path: ["models", name, "check"], limit: limits.answer }, options,
    );
  }

  /** Revokes a key at once. */
  revokeKey(id: string, options?: CallOptions): Promise<ApiKey> {
    return this.caller.json({ operation: "revokeKey", method: "POST", path: ["keys", id, "revoke"], repeatable: true }, options);
  }

  /** Adds a comment to a result. */
  createComment(result: string, text: string, options?: CallOptions): Promise<Comment> {
    const path = ["results", result, "comments"];
    return this.caller.json({ operation: "createComment", method: "POST", path, body: { text }, want: 201 }, options);
  }

  /** Lists the comments of a result, newest first. */
  listComments(result: string, selection?: Selection<"listComments">, options?: CallOptions): List<Comment> {
    return this.list("listComments", ["results", result, "comments"], selection, options);
  }

  /** Deletes a comment of the client's key. An owner's key deletes any. */
  deleteComment(result: string, comment: string, options?: CallOptions): Promise<void> {
    const path = ["results", result, "comments", comment];
    return this.caller.nothing({ operation: "deleteComment", method: "DELETE", path }, options);
  }

  /** Assigns a result to a member, or with null to nobody. */
  assignResult(result: string, member: string | null, options?: CallOptions): Promise<Assignee> {
    const path = ["results", result, "assignee"];
    return this.caller.json({ operation: "assignResult", method: "PUT", path, body: { member_id: member } }, options);
  }

  /**
   * Assigns the results of a prism that match to a member, or with null to nobody, if they are as many as `expect`; else it is a
   * conflict. A dry run counts them, up to 1,000.
   */
  assignResults(prism: string, assignment: ResultAssignment, options?: StoreOptions): Promise<Assigned> {
    const call = { operation: "assignResults", method: "POST", path: ["prisms", prism, "results", "assign"] } as const;
    return this.caller.json({ ...call, ...storing(assignment, 200, options) }, options);
  }

  /** Lists the members whom results can be assigned to, newest first. */
  listAssignees(selection?: Selection<"listAssignees">, options?: CallOptions): List<Schemas["AssignedMember"]> {
    return this.list("listAssignees", ["assignees"], selection, options);
  }

  /** Saves a view of results, which the account shares. */
  createView(view: NewView, options?: CallOptions): Promise<View> {
    return this.caller.json({ operation: "createView", method: "POST", path: ["views"], body: view, want: 201 }, options);
  }

  /** Lists views, newest first. */
  listViews(selection?: Selection<"listViews">, options?: CallOptions): List<View> {
    return this.list("listViews", ["views"], selection, options);
  }

  /** Replaces all of a view but its id. */
  replaceView(id: string, view: NewView, options?: CallOptions): Promise<View> {
    return this.caller.json({ operation: "replaceView", method: "PUT", path: ["views", id], body: view }, options);
  }

  /** Deletes a view. */
  deleteView(id: string, options?: CallOptions): Promise<void> {
    return this.caller.nothing({ operation: "deleteView", method: "DELETE", path: ["views", id] }, options);
  }

  /** Invites a member, or with a `claim` makes a rule: whoever signs in by OpenID Connect with it may become a member. */
  addMember(member: NewMember, options?: CallOptions): Promise<InvitedMember> {
    return this.caller.json({ operation: "addMember", method: "POST", path: ["members"], body: member, want: 201 }, options);
  }

  /** Lists members and rules, newest first. */
  listMembers(selection?: Selection<"listMembers">, options?: CallOptions): List<Member> {
    return this.list("listMembers", ["members"], selection, options);
  }

  /** Replaces the name or the role of a member or rule. Another role for the last owner is a conflict. */
  changeMember(id: string, change: MemberChange, options?: CallOptions): Promise<Member> {
    return this.caller.json({ operation: "changeMember", method: "PUT", path: ["members", id], body: change }, options);
  }

  /** Removes a member or rule. To remove the last owner is a conflict. */
  removeMember(id: string, options?: CallOptions): Promise<void> {
    return this.caller.nothing({ operation: "removeMember", method: "DELETE", path: ["members", id] }, options);
  }

  /** Makes a new sign-in link of a member, in place of earlier ones. */
  linkMember(id: string, options?: CallOptions): Promise<InvitedMember> {
    return this.caller.json({ operation: "linkMember", method: "POST", path: ["members", id, "link"] }, options);
  }

  /** Lists who changed what, newest first. It needs a key with the role `owner`. */
  listAudit(selection?: Selection<"listAudit">, options?: CallOptions): List<AuditEntry> {
    return this.list("listAudit", ["audit"], selection, options);
  }

  /**
   * Reads the changes of results behind the number `after`, oldest first. With `wait`, a call without a change waits so many
   * seconds for one.
   */
  listChanges(selection: Selection<"listChanges"> = {}, options?: CallOptions): Promise<Changes> {
    const limit = limits.other + (selection.wait ?? 0) * 1000;
    return this.caller.json({ operation: "listChanges", method: "GET", path: ["changes"], query: selection, limit }, options);
  }

  /**
   * Iterates over the changes behind `after`, oldest first. With `wait` it waits for further ones, and ends only with an error;
   * else it ends behind the last one. Who stores the `seq` of the last change together with what it did about it, and goes on
   * from there, misses nothing and does nothing twice.
   */
  async *changes(selection: Selection<"listChanges"> = {}, options?: CallOptions): AsyncGenerator<Change, void, undefined> {
    let after = selection.after ?? 0;
    for (;;) {
      const page = await this.listChanges({ limit: 1000, ...selection, after }, options);
      yield* page.data;
      if (page.next === after && !selection.wait) return;
      after = page.next;
    }
  }

  /** Adds up what the account's calls used: 30 days, by day, unless the selection says otherwise. */
  readUsage(selection?: Selection<"readUsage">, options?: CallOptions): Promise<Usage> {
    return this.caller.json({ operation: "readUsage", method: "GET", path: ["usage"], query: selection }, options);
  }
}
