package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/client/prismtest"
)

// TestTheProgramOfTheReadmeRuns builds the program as a module of its own, as a new user does.
func TestTheProgramOfTheReadmeRuns(t *testing.T) {
	t.Parallel()
	root, err := prismtest.Root()
	check(t, err)
	readme, err := os.ReadFile("README.md")
	check(t, err)
	_, program, _ := strings.Cut(string(readme), "```go\npackage main\n")
	program, _, found := strings.Cut(program, "```\n")
	if !found {
		t.Fatal("the README has no program")
	}
	dir := t.TempDir()
	module := "module first\n\ngo 1.26.0\n\nrequire github.com/prism-results/prism v0.0.0\n\nreplace github.com/prism-results/prism => " + root + "\n"
	check(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n"+program), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", "-trimpath", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput() // TestMain has set PRISM_URL and PRISM_API_KEY
	if err != nil || !strings.Contains(string(out), "topic ") || !strings.Contains(string(out), "urgency ") {
		t.Errorf("%v\n%s", err, out)
	}
}
