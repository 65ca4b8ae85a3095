package main

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	said := u.run("members", "invite", "Ada", "--role", "editor", "--email", "ada@example.com").want(exitOK, "(Ada) can sign in once, until ")
	link, ok := strings.CutPrefix(said.out, u.env["PRISM_URL"]+"/console/sign-in#")
	if !ok || len(strings.TrimSuffix(link, "\n")) != 32 {
		t.Errorf("got %s", said.out)
	}
	u.run("members", "invite", "Desk", "--role", "caller", "--claim", "groups=desk").want(exitOK, "groups=desk becomes a member, if the operator has granted the claim or the person agrees.")
	list := decode[[]client.Member](t, u.ok("members", "list", "-o", "json"))
	if len(list) != 2 || list[0].Claim == nil || *list[0].Claim != (client.Claim{Name: "groups", Value: "desk"}) || list[1].Name != "Ada" {
		t.Fatalf("got %+v", list)
	}
	rows := u.ok("members", "list", "-o", "csv")
	for _, want := range []string{
		"id,name,role,email,claim,signed_in_by,created_at,last_seen_at\n", ",Desk,caller,,groups=desk,,", ",Ada,editor,ada@example.com,,,",
	} {
		if !strings.Contains(rows, want) {
			t.Errorf("%q is missing of %s", want, rows)
		}
	}
	ada := list[1].ID
	if again := u.ok("members", "link", ada); !strings.HasPrefix(again, u.env["PRISM_URL"]+"/console/sign-in#") || again == said.out {
		t.Errorf("another link is %s", again)
	}
	u.run("members", "set-role", ada, "labeller").want(exitOK, "(labeller)")
	u.run("members", "rename", ada, "Ada L.").want(exitOK, "is Ada L. (labeller)")
	u.run("members", "remove", ada).want(exitOK, "is removed")
	u.run("members", "remove", ada).want(exitNotFound, "Member not found")
	u.run("members", "set-role", ada, "admin").want(exitInvalid, "role: Expected 'owner'")
	u.run("members", "rename", ada, "").want(exitUsage, "empty")
	u.run("members", "invite", "x").want(exitUsage, "--role is missing")
	u.run("members", "invite", "x", "--role", "reader", "--claim", "x").want(exitUsage, "NAME=VALUE")
}
