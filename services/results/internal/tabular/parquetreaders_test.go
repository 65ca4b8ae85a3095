//go:build sdk

package tabular_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// pyarrow, DuckDB and pandas find the values, types and raw answers of a table of many row groups.
//
// spec: parquet-columns, parquet-raw, parquet-row-groups
func TestIndependentReadersReadATableOfParquet(t *testing.T) {
	t.Parallel()
	python := os.Getenv("PRISM_READERS")
	if python == "" {
		t.Fatal("PRISM_READERS names no Python: use make compat")
	}
	columns := []tabular.ParquetColumn{
		{Name: "text"},
		{Name: "number", Type: tabular.ParquetDouble},
		{Name: "flag", Type: tabular.ParquetBoolean},
		{Name: "created_at", Type: tabular.ParquetUTC},
		{Name: "day", Type: tabular.ParquetLocal},
		{Name: "key, of few", Type: tabular.ParquetKey},
	}
	var table bytes.Buffer
	rows := 0
	p, err := tabular.NewParquet(&table, columns, "raw", func(int) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.NewBufferString("[")
	texts := []string{"", "Grüße 🙂", "two\nlines, \"quoted\"", "=1+1", "NULL", "\u0000"}
	for ; rows < 30; rows++ {
		n := float64(rows)
		at := 1_790_000_000_123 + n*86_400_001
		cells := []prism.Cell{
			{Kind: prism.TextCell, Key: texts[rows%len(texts)]},
			{Kind: prism.NumberCell, Number: n / 3},
			{Kind: prism.NumberCell, Number: float64(rows % 2)},
			{Kind: prism.NumberCell, Number: at},
			{Kind: prism.NumberCell, Number: at - 1e12},
			{Kind: prism.TextCell, Key: []string{"yes", "no"}[rows%2]},
		}
		values := []any{cells[0].Key, cells[1].Number, rows%2 == 1, at, at - 1e12, cells[5].Key}
		if i := rows % 7; i < len(cells) && i != 3 {
			cells[i], values[i] = prism.Cell{}, nil
		}
		stored := []byte("null")
		var raw *prism.Answers
		if rows%4 != 0 {
			options := []prism.KeyProbability{{Key: "a", Probability: 1 / (n + 1)}, {Key: "b", Probability: n / 31}}
			raw = &prism.Answers{
				{Question: "topic", Type: prism.Choice, Chosen: "a", Probabilities: options, Confidence: n / 37},
				{Question: "refund", Type: prism.YesNo, Probability: n / 41},
				{Question: "mood", Type: prism.Scale, Chosen: "b", Probabilities: options},
				{Question: "about", Type: prism.Tags, Probabilities: options},
			}
			stored = answerjson.Append(nil, *raw)
		}
		if err := p.Row(cells, raw); err != nil {
			t.Fatal(err)
		}
		for i, c := range columns {
			name, _ := json.Marshal(c.Name)
			value, err := json.Marshal(values[i])
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + string(name) + ":" + string(value))
		}
		all.WriteString(`,"raw":` + string(stored) + "},")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "table")
	for file, content := range map[string][]byte{name + ".parquet": table.Bytes(), name + ".json": append(bytes.TrimSuffix(all.Bytes(), []byte(",")), ']')} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), python, "testdata/readers/parquetwritten.py", name+".parquet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
