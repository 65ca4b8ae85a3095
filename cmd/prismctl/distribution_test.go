package main

import (
	"strings"
	"testing"
)

// spec: distribution, distribution-searched
func TestDistribution(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	u.ok("call", "language", "--text", "bonjour")
	key := strings.TrimSpace(u.ok("prisms", "get", "language", "-o", "json", "--jq", ".version.questions[0].key"))
	of := []string{"prisms", "distribution", "language", "--question", key}
	if got := u.ok(append(of, "-o", "csv")...); !strings.HasPrefix(got, "at,answers,probability,labelled,right,values\n") || strings.Count(got, "\n") != 2 || !strings.Contains(got, ",1,") {
		t.Errorf("got %q", got)
	}
	if got := u.ok(append(of, "--by", "week", "--zone", "Europe/Berlin")...); !strings.HasPrefix(got, "AT ") || strings.Contains(got, "VALUES") {
		t.Errorf("got %q", got)
	}
	if got := u.ok(append(of, "--jq", ".data[0].answers")...); got != "1\n" {
		t.Errorf("got %q", got)
	}
	if got := u.ok(append(of, "--q", "bonjour", "--where", key+":unlabelled", "--jq", ".data[0].answers")...); got != "1\n" {
		t.Errorf("got %q", got)
	}
	if got := u.ok(append(of, "--q", "hello", "--jq", ".data | length")...); got != "0\n" {
		t.Errorf("got %q", got)
	}
	u.run(append(of, "--where", "a:is:b")...).want(exitInvalid, "where.0: Unknown question")
	u.run(append(of, "--zone", "Nowhere")...).want(exitInvalid, "zone: Unknown time zone")
	u.run("prisms", "distribution", "language").want(exitUsage, `required flag(s) "question" not set`)
}
