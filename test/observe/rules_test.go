package observe

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/prism-results/prism/pkg/testkit/program"
)

const runbooks = "https://github.com/prism-results/prism/blob/main/docs/runbooks/"

// rule is one of a rule file. promtool, which reads the same files, checks what is not looked at here.
type rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// rules are those of the chart, in the order of their files and in them.
func rules(t *testing.T) (all []rule) {
	t.Helper()
	for _, file := range files(t, "charts/prism/rules/*.yaml") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Groups []struct {
				Name     string `yaml:"name"`
				Interval string `yaml:"interval"`
				Rules    []rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		strict := yaml.NewDecoder(bytes.NewReader(content))
		strict.KnownFields(true)
		if err := strict.Decode(&f); err != nil {
			t.Fatalf("%s: %v", filepath.Base(file), err)
		}
		for _, g := range f.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files are those that match the pattern below the root; there is at least one.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing matches %s: %v", pattern, err)
	}
	return found
}

// ruled is a checker that knows the recording rules, and the labels of the alerts' series by the rule's place.
func ruled(t *testing.T) (*checker, map[int]set) {
	t.Helper()
	c, has := newChecker(metrics(t)), map[int]set{}
	for i, r := range rules(t) {
		_, has[i] = c.check(t, r.Record+r.Alert, r.Expr)
		for name := range r.Labels {
			has[i] = has[i].with(name)
		}
		if r.Record != "" {
			if known, again := c.recorded[r.Record]; again && !slices.Equal(keys(known), keys(has[i])) {
				t.Errorf("%s is recorded with %v and with %v", r.Record, keys(known), keys(has[i]))
			}
			c.recorded[r.Record] = has[i]
		}
	}
	return c, has
}

func TestRulesNameOnlyWhatTheServicesExport(t *testing.T) {
	t.Parallel()
	c, _ := ruled(t)
	if len(c.recorded) == 0 || len(c.used) < 10 {
		t.Errorf("only %d metrics are used by rules", len(c.used))
	}
}

var templated = regexp.MustCompile(`\$labels\.(\w+)`)

func TestAlertsSayWhatHappensHowBadItIsAndWhereToRead(t *testing.T) {
	t.Parallel()
	_, has := ruled(t)
	for i, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s is of severity %q", r.Alert, s)
		}
		for _, name := range []string{"summary", "description"} {
			if r.Annotations[name] == "" {
				t.Errorf("%s has no %s", r.Alert, name)
			}
		}
		if want := runbooks + r.Alert + ".md"; r.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %q, want %q", r.Alert, r.Annotations["runbook_url"], want)
		}
		for name, text := range r.Annotations {
			for _, label := range templated.FindAllStringSubmatch(text, -1) {
				if !has[i][label[1]] {
					t.Errorf("%s: %s names the label %s, but there are only %v", r.Alert, name, label[1], keys(has[i]))
				}
			}
		}
	}
}

var (
	// sections are what a runbook answers, in this order.
	sections = []string{"## Meaning", "## Impact", "## Check", "## Fix"}
	query    = regexp.MustCompile("(?s)```promql\n(.*?)```")
)

func TestEachAlertHasARunbookAndEachRunbookAnAlert(t *testing.T) {
	t.Parallel()
	c, _ := ruled(t)
	var alerts []string
	for _, r := range rules(t) {
		if r.Alert != "" && !slices.Contains(alerts, r.Alert) {
			alerts = append(alerts, r.Alert)
		}
	}
	var pages []string
	var index string
	for _, file := range files(t, "docs/runbooks/*.md") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, text := strings.TrimSuffix(filepath.Base(file), ".md"), string(content)
		if page == "README" {
			index = text
			continue
		}
		pages = append(pages, page)
		if !strings.HasPrefix(text, "# "+page+"\n") {
			t.Errorf("%s does not begin with its name", page)
		}
		rest := text
		for _, s := range sections {
			_, after, ok := strings.Cut(rest, "\n"+s+"\n\n")
			if !ok || after == "" {
				t.Errorf("%s has no %q where it belongs", page, s)
				break
			}
			rest = after
		}
		queries := query.FindAllStringSubmatch(text, -1)
		if len(queries) == 0 {
			t.Errorf("%s has no query to check with", page)
		}
		for _, q := range queries {
			for one := range strings.SplitSeq(strings.TrimSpace(q[1]), "\n\n") {
				c.check(t, page, one)
			}
		}
	}
	slices.Sort(alerts)
	slices.Sort(pages)
	if !slices.Equal(alerts, pages) {
		t.Errorf("the alerts are\n%v\nand the pages\n%v", alerts, pages)
	}
	for _, a := range alerts {
		if !strings.Contains(index, "]("+a+".md)") {
			t.Errorf("README.md has no link to %s", a)
		}
	}
}
