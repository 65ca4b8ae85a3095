package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/anishathalye/porcupine"
)

// String is the shortest history, for people.
func (v Violation) String() string {
	var b strings.Builder
	if v.Undecided {
		fmt.Fprintf(&b, "%s: no order found or excluded within %s:\n", v.Race.Name, searchBudget)
	} else {
		fmt.Fprintf(&b, "%s: no order explains these %d of its %d calls:\n", v.Race.Name, len(v.Shortest), len(v.Race.Calls))
	}
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for i := range v.Shortest {
		c := &v.Shortest[i]
		until := stamp(c.Ended)
		if c.Response.Meaning == Unknown {
			until = "…"
		}
		fmt.Fprintf(w, "  %s\t%s\tclient %d\t%s\t→ %s\n", stamp(c.Began), until, c.Client, c, c.Response)
	}
	_ = w.Flush()
	return b.String()
}

func stamp(d time.Duration) string { return fmt.Sprintf("%.6f s", d.Seconds()) }

// Picture writes porcupine's page of the whole race into dir and returns its path.
func (v Violation) Picture(dir string) (string, error) {
	m := model(orderOf(v.Race.Calls))
	_, info := porcupine.CheckOperationsVerbose(m, operations(v.Race.Calls), searchBudget)
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, v.Race.Name)
	path := filepath.Join(dir, name+".html")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	if err := porcupine.Visualize(m, info, f); err != nil {
		_ = f.Close()
		return "", err
	}
	return path, f.Close()
}
