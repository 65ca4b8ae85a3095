package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: comment-create, comment-list, comment-delete, assignee-put, assignee-list, assignee-filter
func TestComments(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	id := decode[client.Result](t, u.ok("call", "language", "--text", "Guten Tag", "-o", "json")).ID
	comment := strings.TrimSpace(u.ok("results", "comment", id, "That is German."))
	comments := decode[[]client.Comment](t, u.ok("results", "comments", id, "-o", "json"))
	if len(comments) != 1 || comments[0].ID != comment || comments[0].Text != "That is German." || comments[0].Author.Kind != "key" {
		t.Errorf("got %+v", comments)
	}
	if got := u.ok("results", "comments", id); !strings.Contains(got, "That is German.") {
		t.Errorf("got %s", got)
	}
	u.run("results", "uncomment", id, comment).want(exitOK, "is deleted.")
	u.run("results", "uncomment", id, comment).want(exitNotFound, "Comment not found")
	u.run("results", "comment", id, "").want(exitInvalid, "text: ")

	u.ok("members", "invite", "Ada", "--role", "labeller")
	ada := decode[[]client.Member](t, u.ok("members", "list", "-o", "json"))[0].ID
	if all := decode[[]client.AssignedMember](t, u.ok("results", "assignees", "-o", "json")); len(all) != 1 || all[0].ID != ada || all[0].Name != "Ada" {
		t.Errorf("got %+v", all)
	}
	u.run("results", "assign", id, ada).want(exitOK, id+" is assigned to Ada.")
	if to := decode[client.Assignee](t, u.ok("results", "assignee", id)); to.Member == nil || to.Member.ID != ada {
		t.Errorf("got %+v", to)
	}
	assigned := func(to string) int {
		return len(decode[[]client.Result](t, u.ok("results", "list", "--assignee", to, "-o", "json")))
	}
	if assigned(ada) != 1 || assigned("none") != 0 || assigned("me") != 0 {
		t.Error("the result is not assigned to Ada")
	}
	// spec: assignees-put
	if n := u.ok("results", "assign", "--prism", "language", "--assignee", ada, "--dry-run"); n != "1\n" {
		t.Errorf("%q match", n)
	}
	u.run("results", "assign", "--prism", "language", "--expect", "2").want(exitConflict, "1 results match now.")
	u.run("results", "assign", "--prism", "language", "--status", "ok", ada).want(exitOK, "1 result assigned, 0 of them not so before.")
	u.run("results", "assign", "--prism", "language").want(exitOK, "1 result assigned, 1 of them not so before.")
	u.run("results", "assign", "--status", "ok", id).want(exitUsage, "name a result by its id, or results by --prism")
	u.run("results", "assign", "--prism", "language", id, ada).want(exitUsage, "with --prism name the member alone")
	u.run("results", "assign", "--prism", "language", "ada").want(exitInvalid, "member_id: Invalid uuid")
	u.run("results", "assign", id).want(exitOK, id+" is assigned to nobody.")
	if assigned(ada) != 0 || assigned("none") != 1 {
		t.Error("the result is assigned to somebody")
	}
	u.run("results", "list", "--assignee", "you").want(exitInvalid, "assignee: Expected 'me', 'none' or the id of a member")
}
