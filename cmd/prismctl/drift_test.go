package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client/prismtest"
	"github.com/prism-results/prism/pkg/api"
)

// described is what the commands have to do with in the OpenAPI document.
type described struct {
	Paths map[string]map[string]struct {
		OperationID string
		Parameters  []struct {
			Name   string
			Schema struct{ Enum []string }
		}
	}
	Components struct {
		Schemas map[string]struct {
			Enum       []string
			Properties map[string]struct{ Enum []string }
		}
		Examples map[string]struct{ Value json.RawMessage }
	}
}

func openAPI(t *testing.T) (d described) {
	t.Helper()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, documentPath))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFlagsOfferWhatTheDocumentTakes compares what a shell completes with the values that the API takes.
func TestFlagsOfferWhatTheDocumentTakes(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	var tabular []string
	for _, p := range d.Paths["/v1/prisms/{prism}/results"]["get"].Parameters {
		if p.Name == "format" {
			tabular = p.Schema.Enum
		}
	}
	rows := map[string][]string{}
	for _, p := range d.Paths["/v1/runs/{run_id}/rows"]["get"].Parameters {
		rows[p.Name] = p.Schema.Enum
	}
	var buckets []string
	for _, p := range d.Paths["/v1/prisms/{prism}/distribution"]["get"].Parameters {
		if p.Name == "by" {
			buckets = p.Schema.Enum
		}
	}
	// A table and YAML are prismctl's own.
	formats := slices.Insert(append([]string{"table"}, d.Components.Schemas["Format"].Enum...), 3, "yaml")
	statuses := d.Components.Schemas["Status"].Enum
	for _, c := range []struct {
		command, flag string
		want          []string
	}{
		{"call", "output", formats},
		{"results get", "output", formats},
		{"retry", "output", formats},
		{"results list", "status", statuses},
		{"results export", "status", statuses},
		{"usage", "by", d.Components.Schemas["UsageBy"].Enum},
		{"prisms distribution", "by", buckets},
		{"results delete", "status", statuses},
		{"results export", "output", tabular},
		{"runs create", "format", d.Components.Schemas["FileFormat"].Enum},
		{"files upload", "format", d.Components.Schemas["FileFormat"].Enum},
		{"runs list", "status", d.Components.Schemas["RunStatus"].Enum},
		{"runs download", "output", rows["format"]},
		{"runs download", "only", rows["only"]},
		{"calibrate fit", "method", d.Components.Schemas["NewCalibration"].Properties["method"].Enum},
		{"labels set", "sample", d.Components.Schemas["LabelSample"].Enum},
		{"labels import", "sample", d.Components.Schemas["LabelSample"].Enum},
		{"labels queue", "order", d.Components.Schemas["LabelSample"].Enum},
		{"members invite", "role", d.Components.Schemas["Role"].Enum},
		{"keys create", "role", d.Components.Schemas["Role"].Enum},
	} {
		cmd, _, err := newApp().root().Find(strings.Fields(c.command))
		if err != nil {
			t.Fatal(err)
		}
		complete, ok := cmd.GetFlagCompletionFunc(c.flag)
		if !ok {
			t.Errorf("%s has no choice of --%s", c.command, c.flag)
			continue
		}
		got, _ := complete(&cobra.Command{}, nil, "")
		if len(c.want) == 0 || !slices.Equal(got, c.want) {
			t.Errorf("%s --%s offers %v, the document %v", c.command, c.flag, got, c.want)
		}
	}
}

// TestACommandUsesEveryOperation looks for a call of each operation's method of the client, or of one that is made of it, or for it as a value.
func TestACommandUsesEveryOperation(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		sources.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{
		"listResults": "Results", "listPrisms": "Prisms", "listKeys": "Keys", "listMembers": "Members", "listAudit": "Audit", "listChanges": "Changes", "listVersions": "Versions",
		"listFiles": "Files", "createFile": "UploadFile", "putPart": "UploadFile", "completeFile": "UploadFile",
		"listRuns": "Runs", "followRun": "WatchRun", "listLabels": "Labels", "listLabelQueue": "LabelQueue", "listCalibrations": "Calibrations", "listComments": "Comments", "listAssignees": "Assignees",
	}
	for _, methods := range openAPI(t).Paths {
		for _, o := range methods {
			if op, _ := api.Find(o.OperationID); op.Declared().Foreign {
				continue // clients of others call it
			}
			method := strings.ToUpper(o.OperationID[:1]) + o.OperationID[1:] + "(As|Raw|Of)?"
			if all := pages[o.OperationID]; all != "" {
				method = all
			}
			if !regexp.MustCompile(`\.` + method + `[()]`).MatchString(sources.String()) {
				t.Errorf("no command uses %s", o.OperationID)
			}
		}
	}
}
