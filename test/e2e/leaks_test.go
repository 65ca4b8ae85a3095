package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/program"
)

var (
	// apiKeyPattern is the pattern of secret scanners (spec: api-key-form).
	apiKeyPattern = regexp.MustCompile(`prism_[0-9A-Za-z]{38}`)
	// slugPattern matches the slugs of the cases.
	slugPattern = regexp.MustCompile(`\bp-[a-z2-7]{26}\b`)
)

// mark is a text that no output may hold.
type mark struct{ what, text string }

// secrets are the texts that no output of a process may hold, except responses (spec: values-are-never-repeated).
func secrets() []mark {
	return []mark{
		{"a value sent", model.Mark},
		{"a body of the model", model.BodyMark},
		{"the token of results", launch.ResultsToken},
		{"the token of model-proxy", launch.ModelsToken},
		{"the key of the model", launch.ModelKey},
	}
}

// crashLines is how much of a crash is shown: enough for both stacks of a data race.
const crashLines = 40

// printed searches every line of the processes for a value, key, token or upstream body, a data race and a panic.
func printed(procs []*program.Process) (problems []string) {
	for _, p := range procs {
		seen := map[string]bool{}
		report := func(what, line string) {
			if !seen[what] {
				seen[what] = true
				problems = append(problems, fmt.Sprintf("%s printed %s: %s", p.Name, what, line))
			}
		}
		lines := launch.Lines(p)
		for i, line := range lines {
			for _, m := range secrets() {
				if strings.Contains(line, m.text) {
					report(m.what, line)
				}
			}
			for _, crash := range launch.Crashes {
				if strings.Contains(line, crash) {
					report(crash, strings.Join(lines[i:min(i+crashLines, len(lines))], "\n"))
				}
			}
			if apiKeyPattern.MatchString(line) && !mayShowKey(line) {
				report("an API key", line)
			}
		}
	}
	return problems
}

// mayShowKey tells whether a line is the key alone, as `key create` prints it.
func mayShowKey(line string) bool { return apiKeyPattern.FindString(line) == strings.TrimSpace(line) }

// exported searches the exported traces for a secret, a value, a key and a slug.
func exported(bodies [][]byte) (problems []string) {
	if len(bodies) == 0 {
		return []string{"no trace was exported, though the standard variables say where to"}
	}
	seen := map[string]bool{}
	for _, b := range bodies {
		text := string(b)
		found := map[string]bool{"an API key": apiKeyPattern.MatchString(text), "a slug": slugPattern.MatchString(text)}
		for _, m := range secrets() {
			found[m.what] = strings.Contains(text, m.text)
		}
		for what, is := range found {
			if is && !seen[what] {
				seen[what] = true
				problems = append(problems, "a trace holds "+what)
			}
		}
	}
	return problems
}

// TestTheScanFindsWhatMayNotBePrinted tests the scan at the end of the suite.
// spec: values-are-never-repeated, error-texts-hold-no-secrets
func TestTheScanFindsWhatMayNotBePrinted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, line string
		found      bool
	}{
		{"a value sent", `{"msg":"x ` + model.Mark + `-1"}`, true},
		{"the token of results", "token=" + launch.ResultsToken, true},
		{"a data race", "WARNING: DATA RACE", true},
		{"an API key in a log line", `{"key":"` + wellFormedKey() + `"}`, true},
		{"an API key alone", "  " + wellFormedKey(), false},
		{"an API key in a line to paste", "  curl -H 'Authorization: Bearer " + wellFormedKey() + "'", true},
		{"an ordinary line", `{"msg":"listening"}`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, err := program.Launch(program.Command{Path: "/bin/sh", Env: map[string]string{"LINE": row.line}, Args: []string{"-c", `printf "%s\n" "$LINE" >&2`}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if found := len(printed([]*program.Process{p})) > 0; found != row.found {
				t.Errorf("found is %v", found)
			}
		})
	}
	if len(exported(nil)) == 0 || len(exported([][]byte{[]byte("\x0a" + newSlug() + "\x12")})) == 0 || len(exported([][]byte{{1}})) != 0 {
		t.Error("traces are not searched")
	}
}
