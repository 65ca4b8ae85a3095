package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// BenchmarkSaveRows saves the rows of leased chunks of 200, of a run of 50,000 chunks, in one transaction for each chunk.
func BenchmarkSaveRows(b *testing.B, s sqlstore.Store) {
	f := &fixture{Store: s}
	f.mine = tenant{account: prism.AccountID{UUID: f.id()}, keyID: prism.KeyID{UUID: f.id()}, prism: f.newPrism("triage")}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(f.CreateAccount(b.Context(), f.mine.account, "mine", moment(0)))
	must(f.CreatePrism(b.Context(), f.mine.account, f.mine.prism))
	for range 4 {
		f.run(b, f.mine, moment(5), slices.Repeat([]int32{contract.ChunkRows}, 50_000)...)
	}
	rows := 0
	for b.Loop() {
		l, err := f.LeaseChunk(b.Context(), By().Entry, moment(10), moment(10).Add(contract.LeaseTime))
		must(err)
		save := outcomes(l, strings.Repeat("o", contract.ChunkRows))
		save.Done = true
		must(f.SaveRows(b.Context(), save, moment(11)))
		rows += len(save.Rows)
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
