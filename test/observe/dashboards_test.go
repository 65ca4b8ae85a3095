package observe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// ours is the only data source that a dashboard may name: its variable.
var ours = datasource{Type: "prometheus", UID: "${datasource}"}

type dashboard struct {
	UID           string `json:"uid"`
	Title         string `json:"title"`
	Description   string `json:"description"`
	SchemaVersion int    `json:"schemaVersion"`
	Templating    struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Query      any    `json:"query"`
			Definition string `json:"definition"`
			IncludeAll bool   `json:"includeAll"`
			AllValue   string `json:"allValue"`
		} `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Targets     []struct {
		RefID        string `json:"refId"`
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
		Format       string `json:"format"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Panels []panel `json:"panels"`
}

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	all := map[string]dashboard{}
	for _, file := range files(t, "charts/prism/dashboards/*.json") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(content, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var raw any
		if err := json.Unmarshal(content, &raw); err != nil {
			t.Fatal(err)
		}
		hardCoded(t, filepath.Base(file), raw)
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = d
	}
	return all
}

// hardCoded looks for data sources that exist in one Grafana alone, wherever in a dashboard they are.
func hardCoded(t *testing.T, where string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			hardCoded(t, where, e)
		}
	case map[string]any:
		for name, e := range v {
			if d, ok := e.(map[string]any); name == "datasource" && (!ok || d["type"] != ours.Type || d["uid"] != ours.UID) {
				t.Errorf("%s names the data source %v", where, e)
			}
			hardCoded(t, where, e)
		}
	}
}

func TestDashboardsWorkInAnyGrafana(t *testing.T) {
	t.Parallel()
	for name, d := range dashboards(t) {
		if d.UID != name || d.Title == "" || d.Description == "" || d.SchemaVersion < 39 || d.SchemaVersion > 41 {
			t.Errorf("%s: uid %q, title %q, schema %d", name, d.UID, d.Title, d.SchemaVersion)
		}
		var variables []string
		for _, v := range d.Templating.List {
			variables = append(variables, v.Name)
			if v.Type == "query" && (!v.IncludeAll || v.AllValue != ".*") {
				t.Errorf("%s: outside of Kubernetes %s has no value, which only .* matches", name, v.Name)
			}
		}
		if !slices.Equal(variables, []string{"datasource", "namespace", "job"}) || d.Templating.List[0].Type != "datasource" || d.Templating.List[0].Query != "prometheus" {
			t.Errorf("%s has the variables %v", name, variables)
		}
		for _, p := range d.Panels {
			switch {
			case len(p.Panels) > 0:
				t.Errorf("%s: the row %q hides panels from these tests", name, p.Title)
			case p.Type == "row" && p.Title != "":
			case p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0:
				t.Errorf("%s: panel %d %q lacks a title, a description, a unit or a query", name, p.ID, p.Title)
			}
		}
	}
}

// grafana are the variables of Grafana as they may be when a panel is drawn.
var grafana = strings.NewReplacer("$__rate_interval", "5m", "$__interval", "1m", "$__range", "1h")

var legend = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

func TestPanelsNameOnlyWhatTheServicesExport(t *testing.T) {
	t.Parallel()
	c, _ := ruled(t)
	for name, d := range dashboards(t) {
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				inner := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`).FindStringSubmatch(v.Definition)
				if inner == nil {
					t.Fatalf("%s: %s is %q", name, v.Name, v.Definition)
				}
				if _, has := c.check(t, name, inner[1]); !has[inner[2]] {
					t.Errorf("%s: %s asks for %s", name, v.Name, inner[2])
				}
			}
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				where := name + ", " + p.Title
				e, has := c.check(t, where, grafana.Replace(target.Expr))
				if e == nil {
					continue
				}
				scoped(t, c, where, e)
				if target.LegendFormat == "" && target.Format != "table" {
					t.Errorf("%s: a query without a legend", where)
				}
				labelled := has
				if target.Format == "heatmap" {
					labelled = setOf("le")
				}
				for _, l := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
					if !labelled[l[1]] {
						t.Errorf("%s: the legend names %s, but there are only %v", where, l[1], keys(has))
					}
				}
			}
		}
	}
}

// scoped wants the dashboard's variables on every selector: a Prometheus may watch several Prisms, and much else that
// exports go_goroutines. Recorded series have no job.
func scoped(t *testing.T, c *checker, where string, e parser.Expr) {
	t.Helper()
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		v, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		want := []string{`namespace=~"$namespace"`, `job=~"$job"`}
		if _, recorded := c.recorded[v.Name]; recorded {
			want = want[:1]
		}
		var have []string
		for _, m := range v.LabelMatchers {
			if m.Name != model.MetricNameLabel {
				have = append(have, m.String())
			}
		}
		for _, w := range want {
			if !slices.Contains(have, w) {
				t.Errorf("%s: %s has no %s", where, v.Name, w)
			}
		}
		return nil
	})
}
