//go:build sdk

package acceptance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// A key of a reader plans what it can read, and applies nothing. A provider may have a key that is made by the same apply.
//
// spec: terraform-plan
func (w *world) roles(t *testing.T) {
	made, err := w.client.CreateKey(t.Context(), client.NewKey{Name: "plans", Role: "reader"})
	if err != nil {
		t.Fatal(err)
	}
	reader := &world{root: w.root, tofu: w.tofu, config: w.config, url: w.url, key: made.Key.Reveal()}
	f := reader.folder(t, prismOf("readers", wantRefund, ""))
	if c := f.plan(t)["prism_prism.p"]; !c.does("create") {
		t.Errorf("a reader's plan is %+v", c)
	}
	if says := f.refused(t, "apply", "-input=false", "plan"); !strings.Contains(says, "Your role does not allow this.") {
		t.Error(says)
	}
	stranger := &world{root: w.root, tofu: w.tofu, config: w.config, url: w.url, key: "prism_stranger"}
	if says := stranger.folder(t, prismOf("strangers", wantRefund, "")).refused(t, "plan", "-input=false"); !strings.Contains(says, "Invalid API key") {
		t.Error(says)
	}
	f = w.folder(t, `
resource "prism_key" "editor" {
  name = "edits"
  role = "editor"
}
provider "prism" {
  alias   = "editor"
  api_key = prism_key.editor.key
}
resource "prism_prism" "p" {
  provider  = prism.editor
  slug      = "edited"
  fields    = [{ key = "text" }]
  questions = [{ key = "refund", type = "yes_no", text = "Refund?" }]
}
`)
	f.apply(t)
	f.wantEmpty(t)
}

// The lines of the guide do what it says, as they stand there. Those that import begin without a state.
//
// spec: terraform-resources, terraform-import
func TestTheLinesOfTheGuide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page, err := os.ReadFile(filepath.Join(w.root, "docs/terraform.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		w.tofu: filepath.Join(bin, "tofu"), filepath.Join(w.root, "terraform-provider-prism"): filepath.Join(dir, "terraform-provider-prism"),
	}
	for _, name := range []string{launch.Prism, "cmd/prismctl"} {
		built, err := program.Binary(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		links[built] = filepath.Join(bin, filepath.Base(name))
	}
	for from, to := range links {
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	script := "set -eu\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		lines := strings.ReplaceAll(block[1], "http://127.0.0.1:8080", w.url)
		lines = strings.ReplaceAll(lines, "(cd terraform-provider-prism && go build -o ../bin/ .)", "(cd -P terraform-provider-prism && go build -trimpath -o "+bin+"/ .)")
		if strings.Contains(lines, "tofu import") {
			script += "mv terraform.tfstate ../made.tfstate\n"
		}
		script += lines
	}
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(
		os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "PRISM_DATA_DIR="+w.folderOfData, "CGO_ENABLED=0", "TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_apply=-auto-approve",
	)
	output, err := cmd.CombinedOutput()
	text := string(output)
	for _, want := range []string{"7 added, 0 changed, 0 destroyed", "No changes.", "prism_"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if imported := strings.Count(text, "Import successful!"); err != nil || imported != 3 {
		t.Errorf("%v, %d imports: %s", err, imported, text)
	}
}
