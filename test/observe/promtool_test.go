package observe

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// cases is a file of promtool's, as far as this package looks at it.
type cases struct {
	Tests []struct {
		Name        string `yaml:"name"`
		InputSeries []struct {
			Series string `yaml:"series"`
		} `yaml:"input_series"`
		AlertRuleTest []struct {
			EvalTime  string `yaml:"eval_time"`
			Alertname string `yaml:"alertname"`
			ExpAlerts []struct {
				Labels map[string]string `yaml:"exp_labels"`
			} `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	} `yaml:"tests"`
}

const caseFiles = "test/observe/testdata/rules/*_test.yaml"

func promtool(t *testing.T) string {
	t.Helper()
	path, err := program.Find("promtool")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAlertsFireAndRest(t *testing.T) {
	t.Parallel()
	tool := promtool(t)
	if out, err := exec.CommandContext(t.Context(), tool, append([]string{"check", "rules"}, files(t, "charts/prism/rules/*.yaml")...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, file := range files(t, caseFiles) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if out, err := exec.CommandContext(ctx, tool, "test", "rules", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// An alert that no case sees firing may never fire, and one that no case sees resting, with the metrics it looks at, may
// never rest.
func TestEachAlertHasACaseInWhichItFiresAndOneInWhichItRests(t *testing.T) {
	t.Parallel()
	var tests []cases
	for _, file := range files(t, caseFiles) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c cases
		if err := yaml.Unmarshal(content, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		tests = append(tests, c)
	}
	all := rules(t)
	for _, r := range all {
		if r.Alert == "" {
			continue
		}
		looksAt := sources(t, all, r.Expr)
		var fires, rests bool
		for _, file := range tests {
			for _, test := range file.Tests {
				fed := slices.ContainsFunc(looksAt, func(metric string) bool {
					for _, in := range test.InputSeries {
						if name, _, _ := strings.Cut(in.Series, "{"); name == metric {
							return true
						}
					}
					return false
				})
				for _, c := range test.AlertRuleTest {
					if c.Alertname != r.Alert {
						continue
					}
					rests = rests || fed && len(c.ExpAlerts) == 0
					for _, a := range c.ExpAlerts {
						fires = fires || covers(a.Labels, r.Labels)
					}
				}
			}
		}
		if !fires {
			t.Errorf("no case sees %s %v firing", r.Alert, r.Labels)
		}
		if !rests {
			t.Errorf("no case sees %s resting", r.Alert)
		}
	}
}

func covers(labels, want map[string]string) bool {
	for name, value := range want {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// sources are the metrics of the services that an expression looks at, itself or through recording rules.
func sources(t *testing.T, all []rule, expr string) (names []string) {
	t.Helper()
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Fatal(err)
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, v.Name)
			for _, r := range all {
				if r.Record == v.Name {
					names = append(names, sources(t, all, r.Expr)...)
				}
			}
		}
		return nil
	})
	return names
}

// Seven windows of each objective are written out; what was changed in one of them alone would alert on something else.
func TestWindowsOfAnObjectiveDifferInNothingElse(t *testing.T) {
	t.Parallel()
	window, ratio := regexp.MustCompile(`\[(\w+)\]`), regexp.MustCompile(`^(prism:\w+_misses:ratio_rate)(\w+)$`)
	shapes := map[string]string{}
	count := 0
	for _, r := range rules(t) {
		m := ratio.FindStringSubmatch(r.Record)
		if m == nil {
			continue
		}
		count++
		for _, w := range window.FindAllStringSubmatch(r.Expr, -1) {
			if w[1] != m[2] {
				t.Errorf("%s looks back %s", r.Record, w[1])
			}
		}
		shape := window.ReplaceAllString(r.Expr, "[w]")
		if first, ok := shapes[m[1]]; ok && shape != first {
			t.Errorf("%s is\n%s\nbut the first was\n%s", r.Record, shape, first)
		}
		shapes[m[1]] = shape
	}
	if count != 14 || len(shapes) != 2 {
		t.Errorf("%d recordings of %d objectives", count, len(shapes))
	}
}
