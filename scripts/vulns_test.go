// Package scripts_test runs scripts of this folder with programs that only pretend.
package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVulnerabilitiesAreToldFromNoAnswer holds that `make verify` passes only when both databases answered that nothing is known.
func TestVulnerabilitiesAreToldFromNoAnswer(t *testing.T) {
	t.Parallel()
	const (
		none  = `echo '{"auditReportVersion": 2, "vulnerabilities": {}}'`
		some  = `echo '{"auditReportVersion": 2, "vulnerabilities": {"a": {}}}'; exit 1`
		away  = `echo '{"error": {"summary": "405 Method Not Allowed"}}'; exit 1`
		empty = `exit 0`
	)
	for _, c := range []struct{ name, govulncheck, npm, want string }{
		{"nothing is known", "exit 0", none, ""},
		{"a vulnerability that Go code reaches", "exit 3", none, "vulns: the code of Prism reaches the vulnerabilities above\n"},
		{"no database for Go", "exit 1", none, "vulns: UNKNOWN for Go: govulncheck has no answer from file:///no/such/database."},
		{"a package of npm that only tests use", "exit 0", some, "vulns: test/lab/portkey has packages with vulnerabilities"},
		{"npm does not answer", "exit 0", away, `vulns: UNKNOWN for scripts/spectral: npm audit has no answer from the registry of npm: {"error": {"summary": "405`},
		{"npm says nothing", "exit 0", empty, "vulns: UNKNOWN for test/lab/bench/peer: npm audit has no answer"},
		{"neither answers", "exit 1", away, "vulns: UNKNOWN for test/lab/bench/peer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			for name, script := range map[string]string{"govulncheck": c.govulncheck, "npm": c.npm} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "./vulns.sh")
			cmd.Env = []string{
				"PATH=" + bin + ":" + os.Getenv("PATH"), "GOVULNCHECK=" + filepath.Join(bin, "govulncheck"), "VULNDB=file:///no/such/database",
			}
			out, err := cmd.CombinedOutput()
			if (err == nil) != (c.want == "") || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, printed\n%s\nwant %q", err, out, c.want)
			}
		})
	}
}
