package deploy

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// root is the top of the repository. It is a link, so that to Go what is read is in this module: else a test that has
// passed would be remembered as passed when the file that it reads has changed.
const root = "testdata/root"

// images are the names of all images with their packages (spec: binaries).
func images() map[string]string {
	return map[string]string{
		"prism":             "cmd/prism",
		"prism-gateway":     "services/gateway/cmd/prism-gateway",
		"prism-results":     "services/results/cmd/prism-results",
		"prism-model-proxy": "services/model-proxy/cmd/prism-model-proxy",
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

// parse reads YAML into what it has to be; a field that is not known, or is there twice, fails.
func parse[T any](t *testing.T, b []byte) T {
	t.Helper()
	var v T
	if err := yaml.UnmarshalStrict(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// files below a folder of the repository with the given end.
func files(t *testing.T, folder, end string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, end) {
			path, err = filepath.Rel(root, path)
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("nothing in %s ends in %s", folder, end)
	}
	return found
}

// documents of a file of YAML.
func documents(b []byte) [][]byte {
	var all [][]byte
	for _, d := range bytes.Split(append([]byte("\n"), b...), []byte("\n---\n")) {
		if len(bytes.TrimSpace(d)) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// command runs in the repository's top folder; output is what it printed of both kinds.
func command(t *testing.T, env []string, name string, args ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	b, err := cmd.CombinedOutput()
	return string(b), err
}
