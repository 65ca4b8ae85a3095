package format

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
)

// The cost of one row of an export, and of one result as a response.
func BenchmarkRow(b *testing.B) {
	for _, f := range api.Formats() {
		b.Run(string(f), func(b *testing.B) {
			e, err := NewEncoder(f, api.TextStyle{}, ticketTable())
			if err != nil {
				b.Fatal(err)
			}
			row := okRow(b).under(ticketTable())
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = e.Row(buf[:0], row); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkOne(b *testing.B) {
	for _, f := range api.Formats() {
		b.Run(string(f), func(b *testing.B) {
			table, row := ticketTable(), okRow(b).under(ticketTable())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Single(f, table, row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
