package modelsfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// The lines that the console shows for each host are a file of models.
//
// spec: console-models-page
func TestTheLinesOfTheConsoleAreFilesOfModels(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "web/src/pages/models/hosts.json"))
	if err != nil {
		t.Fatal(err)
	}
	var hosts []struct {
		ID    string
		Key   *string
		Entry string
	}
	if err := json.Unmarshal(data, &hosts); err != nil {
		t.Fatal(err)
	}
	if len(hosts) != 10 {
		t.Errorf("%d hosts", len(hosts))
	}
	for _, h := range hosts {
		path := filepath.Join(t.TempDir(), "models.yaml")
		text := "default: " + h.ID + "\nmodels:\n  - name: " + h.ID + "\n    " + strings.ReplaceAll(h.Entry, "\n", "\n    ") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		asked := ""
		cfg := config(path)
		cfg.Getenv = func(name string) string { asked = name; return "sk-1" }
		source, err := Open(cfg)
		if err != nil {
			t.Errorf("%s: %v", h.ID, err)
			continue
		}
		set := source.Acquire()
		if m := set.Default(); m.Name != h.ID || (h.Key == nil) != (asked == "") || h.Key != nil && asked != *h.Key {
			t.Errorf("%s: %s, whose key is %s", h.ID, m.Name, asked)
		}
		set.Release()
	}
}
