package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// spec: examples-from-labels
func TestExamplesAreTakenFromLabelsAndShownBeforeTheyAreApplied(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	file := u.file("one.yaml", oneYAML)
	taking := []string{"prisms", "apply", "-f", file, "--examples-from-labels", "good"}
	u.run(taking...).want(exitInvalid, "one.yaml:1: there is no prism one yet, whose labels could be taken")
	u.ok("prisms", "apply", "-f", file, "--yes")
	for i := range 6 {
		r, err := u.client().CreateResult(t.Context(), "one", client.NewResult{Text: fmt.Sprint("text ", i)})
		if err != nil {
			t.Fatal(err)
		}
		u.ok("labels", "set", r.ID, fmt.Sprintf("good=%v", i < 5))
	}
	taking = append(taking, "--examples", "4", "--examples-seed", "7")
	plan := u.ok(append(taking, "--dry-run")...)
	if !strings.HasPrefix(plan, "one: add version 2\n") || strings.Count(plan, "text: text ") != 4 || strings.Count(plan, "good: false") != 1 ||
		strings.Count(plan, "result_id: ") != 4 {
		t.Errorf("the plan is %s", plan)
	}
	if p, err := u.client().ReadPrism(t.Context(), "one"); err != nil || p.LatestVersion != 1 {
		t.Fatalf("after a dry run %+v, %v", p, err)
	}
	did := u.ok(append(taking, "--yes")...)
	if shown := strings.TrimSuffix(did, "one: add version 2: done\n"); shown != plan {
		t.Errorf("applied %s, planned %s", did, plan)
	}
	if again := u.ok(taking...); again != "one: unchanged\n" {
		t.Errorf("again %s", again)
	}
	full := u.file("full.yaml", u.ok("prisms", "get", "one"))
	if again := u.ok("prisms", "apply", "-f", full); again != "one: unchanged\n" {
		t.Errorf("the prism as a file %s", again)
	}
	with := func(args ...string) []string { return append([]string{"prisms", "apply", "--yes", "-f"}, args...) }
	u.run(with(full, "--examples-from-labels", "good")...).want(exitInvalid, "the file has examples already")
	u.run(with(file, "--examples-from-labels", "bad")...).want(exitInvalid, "one.yaml:1: examples_from_labels.question: Unknown question")
	u.run(with(file, "--examples-from-labels", "good", "--examples", "41")...).want(exitInvalid, "examples_from_labels.n: ")
	u.run(with(file, "--examples-from-labels", "good", "--examples", "9")...).want(exitConflict, "Too few labels: 6 of 9.")
	u.run(with(file, "--examples", "9")...).want(exitUsage, "go with --examples-from-labels")
	two := u.file("two.yaml", oneYAML+"---\n"+strings.ReplaceAll(oneYAML, "one", "two"))
	u.run(with(two, "--examples-from-labels", "good")...).want(exitUsage, "goes with a file of one prism")
}
