package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-results/prism/test/lab/bench/internal/system"
	"github.com/prism-results/prism/test/lab/internal/chart"
	"github.com/prism-results/prism/test/lab/internal/page"
)

// headlineSystems are the systems of the picture and of the first table.
var headlineSystems = []string{system.NodePeer, system.OneProcess, system.ThreeProcesses, system.BareChain}

// write writes bench.json and the pictures into a folder, the tables into a page, and the table of the attacks into the page
// on reliability beside it.
func (r *report) write(dir, file string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "bench.json"), append(b, '\n'), 0o644); err != nil {
		return err
	}
	if len(r.Cells) > 0 {
		for _, p := range system.Prisms() {
			if err := os.WriteFile(filepath.Join(dir, "requests-"+p.Slug+".svg"), r.picture(p).SVG(), 0o644); err != nil {
				return err
			}
		}
	}
	if file == "" {
		return nil
	}
	if len(r.Attacks) > 0 {
		beside := filepath.Join(filepath.Dir(file), "reliability.md")
		if err := page.ReplaceIn(beside, map[string]string{"bench: attacks": r.attacksTable()}); err != nil {
			return err
		}
	}
	if len(r.Figures) == 0 && len(r.Cells) == 0 {
		return nil
	}
	return page.ReplaceIn(file, r.sections())
}

// sections are the tables of the page that this run has figures for.
func (r *report) sections() map[string]string {
	sections := map[string]string{"bench: figures": r.figuresTable()}
	if len(r.Cells) > 0 {
		for _, p := range system.Prisms() {
			sections["bench: requests-"+p.Slug] = r.requestsTable(p)
		}
		sections["bench: processor"] = r.processorTable()
		sections["bench: parts"] = r.partsTable()
	}
	return sections
}

// perSecond is the rate of a call to a system, 0 when it was not measured.
func (r *report) perSecond(p system.Prism, call, name string) float64 {
	return median(r.Cells.at(p.Name, call, name).of(rate))
}

func (r *report) picture(p system.Prism) chart.Bars {
	t := chart.Bars{
		Title: "Requests per second",
		Note: fmt.Sprintf("A prism with %s. Load generator, databases and servers share %d processors. Longer is better.",
			p.Name, r.CPUs),
	}
	for _, call := range callNames {
		t.Columns = append(t.Columns, plural(call.name))
	}
	for _, name := range headlineSystems {
		row := chart.Row{Name: name, Kind: chart.Subject}
		switch name {
		case system.NodePeer:
			row.Kind = chart.Competitor
		case system.BareChain:
			row.Kind = chart.Limit
		}
		for _, call := range callNames {
			row.Values = append(row.Values, r.perSecond(p, call.name, name))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func plural(call string) string {
	first, after, _ := strings.Cut(strings.ToUpper(call[:1])+call[1:], " ")
	return strings.TrimSpace(first + "s " + after)
}

// requestsTable has calls per second, and their ratio to those of the peer.
func (r *report) requestsTable(p system.Prism) string {
	t := table{head: []string{"requests per second"}}
	for _, call := range callNames {
		t.head = append(t.head, strings.ToLower(plural(call.name)))
	}
	for _, name := range headlineSystems {
		line := []string{name}
		for _, call := range callNames {
			cell := chart.Thousands(r.perSecond(p, call.name, name))
			mine, peers := r.Cells.at(p.Name, call.name, name).of(rate), r.Cells.at(p.Name, call.name, system.NodePeer).of(rate)
			if name != system.NodePeer && len(mine) > 0 && len(peers) > 0 {
				cell += fmt.Sprintf(" (%.1f ×)", median(ratios(mine, peers)))
			}
			line = append(line, cell)
		}
		t.add(line...)
	}
	return t.String()
}

// processorTable has the processor time of one call in all processes.
func (r *report) processorTable() string {
	systems := append(headlineSystems[:len(headlineSystems):len(headlineSystems)], system.OnSQLite)
	t := table{head: append([]string{"µs of processor time per call"}, systems...)}
	for _, p := range system.Prisms() {
		for _, call := range callNames {
			line := []string{p.Name + ", " + call.name}
			for _, name := range systems {
				line = append(line, chart.Thousands(median(r.Cells.at(p.Name, call.name, name).of(sample.total))))
			}
			t.add(line...)
		}
	}
	return t.String()
}

// partsTable has the processor time of one call in each of the three processes, Postgres and Redis.
func (r *report) partsTable() string {
	parts := []string{"gateway", "results", "model-proxy", system.Postgres, system.Redis, system.LoadAndModel}
	t := table{head: append([]string{"µs of processor time per call, three processes"}, parts...)}
	for _, p := range system.Prisms() {
		for _, call := range callNames {
			line := []string{p.Name + ", " + call.name}
			cell := r.Cells.at(p.Name, call.name, system.ThreeProcesses)
			for _, part := range parts {
				line = append(line, chart.Thousands(median(cell.of(func(s sample) float64 { return s.CPU[part] }))))
			}
			t.add(line...)
		}
	}
	return t.String()
}

func (r *report) figuresTable() string {
	t := table{head: []string{"figure", "measured", "compared with", "ratio", "rounds", "target", ""}}
	for _, f := range r.Figures {
		yardstick, ratio := "", ""
		if f.Yardstick != 0 {
			yardstick, ratio = number(f.Yardstick), fmt.Sprintf("%.2f", f.Ratio)
		}
		verdict := f.verdict()
		if verdict == "missed" {
			verdict = "**missed**"
		}
		t.add(f.What, number(f.Value)+" "+f.Unit, yardstick, ratio, f.span(), f.Target, verdict)
	}
	return t.String()
}

// table is a table in Markdown: the first column to the left, the others to the right.
type table struct {
	head  []string
	lines [][]string
}

func (t *table) add(cells ...string) { t.lines = append(t.lines, cells) }

func (t *table) String() string {
	var b strings.Builder
	write := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	write(t.head)
	b.WriteString("|---|" + strings.Repeat("---:|", len(t.head)-1) + "\n")
	for _, line := range t.lines {
		write(line)
	}
	return b.String()
}
