package tabular_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

func BenchmarkWriter(b *testing.B) {
	const rows = 1_000_000
	columns := []tabular.Column{
		{Name: "id", Kind: tabular.Number}, {Name: "text"}, {Name: "day", Kind: tabular.Date}, {Name: "amount", Kind: tabular.Number},
	}
	added := []tabular.Column{
		{Name: "prism_row"}, {Name: "prism_result_id"}, {Name: "prism_status"}, {Name: "prism_error"}, {Name: "q"}, {Name: "p"},
	}
	row := tabular.Row{Cells: []string{"4711", "Where, I ask \"you\", is my card? I ordered it two weeks ago.", "2026-02-28", "1234.5"}}
	cells := []prism.Cell{
		{Kind: prism.NumberCell, Number: 1},
		{Kind: prism.TextCell, Label: "00000000-0000-0000-0000-000000000001"},
		{Kind: prism.TextCell, Label: "ok"},
		{},
		{Kind: prism.TextCell, Label: "Yes"},
		{Kind: prism.NumberCell, Number: 0.8125},
	}
	for _, f := range []prism.RowsFormat{prism.RowsCSV, prism.RowsXLSX} {
		b.Run(string(f), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				w, err := tabular.NewWriter(f, api.TextStyle{}, io.Discard, columns, added)
				if err != nil {
					b.Fatal(err)
				}
				for i := range rows {
					cells[0].Number = float64(i + 1)
					if err := w.Row(row, cells); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/rows, "B/row")
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
