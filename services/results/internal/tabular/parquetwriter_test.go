package tabular_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// openParquet opens a table, and checks the size of its row groups.
func openParquet(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, content []byte,
) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i, g := range f.Metadata().RowGroups {
		if g.TotalByteSize > 8<<20 || g.NumRows == 0 {
			t.Fatalf("row group %d has %d rows and %d bytes", i, g.NumRows, g.TotalByteSize)
		}
		for _, c := range g.Columns {
			if c.MetaData.Codec.String() != "ZSTD" {
				t.Fatalf("%v is compressed by %v", c.MetaData.PathInSchema, c.MetaData.Codec)
			}
		}
	}
	return f
}

var parquetTypes = []tabular.ParquetType{
	tabular.ParquetText, tabular.ParquetDouble, tabular.ParquetBoolean, tabular.ParquetUTC, tabular.ParquetLocal, tabular.ParquetKey,
}

// A row of any cells and answers is read back by the library as it was written, however the row groups end.
//
// spec: parquet-columns, parquet-raw, parquet-row-groups
func TestRowsOfParquetAreReadBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var columns []tabular.ParquetColumn
		for i, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé][a-z0-9_ ,.]{0,5}`), 1, 6, rapid.ID).Draw(t, "names") {
			columns = append(columns, tabular.ParquetColumn{Name: name + "!", Type: parquetTypes[(i+len(name))%len(parquetTypes)]})
		}
		var b bytes.Buffer
		p, err := tabular.NewParquet(&b, columns, "raw", func(int) bool { return rapid.Bool().Draw(t, "room") })
		if err != nil {
			t.Fatal(err)
		}
		var want []map[string]any
		var raws []prism.Answers
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			cells, row := make([]prism.Cell, len(columns)), map[string]any{}
			for i, c := range columns {
				row[c.Name] = nil
				if rapid.Bool().Draw(t, "null") {
					continue
				}
				cells[i] = prism.Cell{Kind: prism.NumberCell}
				switch c.Type {
				case tabular.ParquetText, tabular.ParquetKey:
					text := rapid.String().Draw(t, "text")
					cells[i], row[c.Name] = prism.Cell{Kind: prism.TextCell, Key: text, Label: "no label"}, text
				case tabular.ParquetDouble:
					cells[i].Number = rapid.Float64().Draw(t, "number")
					row[c.Name] = cells[i].Number
				case tabular.ParquetBoolean:
					yes := rapid.Bool().Draw(t, "yes")
					if row[c.Name] = yes; yes {
						cells[i].Number = 1
					}
				default:
					at := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "time")
					cells[i].Number, row[c.Name] = float64(at), at
				}
			}
			var raw *prism.Answers
			if rapid.Bool().Draw(t, "answered") {
				answers := anyParquetAnswers(t)
				raw = &answers
			}
			if err := p.Row(cells, raw); err != nil {
				t.Fatal(err)
			}
			want, raws = append(want, row), append(raws, nil)
			if raw != nil {
				raws[len(raws)-1] = append(prism.Answers{}, *raw...)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		f := openParquet(t, b.Bytes())
		if f.NumRows() != int64(len(want)) {
			t.Fatalf("%d rows, want %d", f.NumRows(), len(want))
		}
		for i, c := range f.Root().Columns()[:len(columns)] {
			if c.Name() != columns[i].Name {
				t.Fatalf("column %d is %q, want %q", i, c.Name(), columns[i].Name)
			}
		}
		for i, got := range topCells(t, f, len(columns)) {
			if !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("row %d is %#v, want %#v", i, got, want[i])
			}
		}
		for i, got := range rawOf(t, b.Bytes()) {
			if answers := rawWanted(raws[i]); !reflect.DeepEqual(got, answers) {
				t.Fatalf("row %d has the answers %+v, want %+v", i, got, answers)
			}
		}
	})
}

// topCells are the cells of the first columns.
func topCells(t *rapid.T, f *parquet.File, columns int) (all []map[string]any) {
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buffer := make([]parquet.Row, 16)
		n, err := rows.ReadRows(buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		for _, row := range buffer[:n] {
			cells := map[string]any{}
			for _, v := range row {
				if v.Column() >= columns {
					continue
				}
				c := f.Root().Columns()[v.Column()]
				switch {
				case v.IsNull():
					cells[c.Name()] = nil
				case v.Kind() == parquet.ByteArray:
					cells[c.Name()] = string(v.ByteArray())
				case v.Kind() == parquet.Double:
					cells[c.Name()] = v.Double()
				case v.Kind() == parquet.Boolean:
					cells[c.Name()] = v.Boolean()
				default:
					cells[c.Name()] = v.Int64()
				}
			}
			all = append(all, cells)
		}
		_ = rows.Close()
	}
	return all
}

// rawAnswer is an answer as a reader of Parquet sees it.
type rawAnswer struct {
	Type          string             `parquet:"type"`
	Value         *string            `parquet:"value,optional"`
	Values        []string           `parquet:"values,list"`
	Level         *string            `parquet:"level,optional"`
	Probability   *float64           `parquet:"probability,optional"`
	Confidence    *float64           `parquet:"confidence,optional"`
	Probabilities map[string]float64 `parquet:"probabilities,optional"`
}

func rawOf(t *rapid.T, content []byte) (all []map[string]rawAnswer) {
	rows, err := parquet.Read[struct {
		Raw map[string]rawAnswer `parquet:"raw,optional"`
	}](bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if len(r.Raw) == 0 {
			r.Raw = nil
		}
		for key, a := range r.Raw {
			if len(a.Values) == 0 {
				a.Values = nil
			}
			if len(a.Probabilities) == 0 {
				a.Probabilities = nil
			}
			r.Raw[key] = a
		}
		all = append(all, r.Raw)
	}
	return all
}

func rawWanted(answers prism.Answers) map[string]rawAnswer {
	if len(answers) == 0 {
		return nil
	}
	want := map[string]rawAnswer{}
	for _, a := range answers {
		r := rawAnswer{Type: string(a.Type)}
		switch a.Type {
		case prism.Choice:
			r.Value, r.Confidence = &a.Chosen, &a.Confidence
		case prism.Scale:
			r.Level = &a.Chosen
		case prism.YesNo:
			r.Probability = &a.Probability
		case prism.Tags:
			r.Values = a.Replies()
		}
		for _, p := range a.Probabilities {
			if r.Probabilities == nil {
				r.Probabilities = map[string]float64{}
			}
			r.Probabilities[p.Key] = p.Probability
		}
		if len(r.Values) == 0 {
			r.Values = nil
		}
		want[a.Question] = r
	}
	return want
}

func anyParquetAnswers(t *rapid.T) (answers prism.Answers) {
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 4, rapid.ID).Draw(t, "questions")
	for _, key := range keys {
		a := prism.Answer{Question: key, Type: rapid.SampledFrom([]prism.QuestionType{prism.Choice, prism.Scale, prism.YesNo, prism.Tags}).Draw(t, "type")}
		if a.Type == prism.YesNo {
			a.Probability = rapid.Float64Range(0, 1).Draw(t, "probability")
			answers = append(answers, a)
			continue
		}
		for _, option := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 1, 4, rapid.ID).Draw(t, "options") {
			p := rapid.Float64Range(0, 1).Draw(t, "probability")
			a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: option, Probability: p})
		}
		if a.Type != prism.Tags {
			a.Chosen = a.Probabilities[0].Key
		}
		if a.Type == prism.Choice {
			a.Confidence = rapid.Float64Range(0, 1).Draw(t, "confidence")
		}
		answers = append(answers, a)
	}
	return answers
}

// heapMeter is where a table is written. It measures the heap whenever something is, and forgets it.
type heapMeter struct {
	buffer []byte
	before uint64
	over   int64 // by how much the heap was larger than what is counted
	held   int
}

func (m *heapMeter) Grow(n int) { m.buffer = make([]byte, 0, n) }

func (m *heapMeter) Write(b []byte) (int, error) {
	m.buffer = append(m.buffer, b...)
	return len(b), nil
}

func (m *heapMeter) measure(held int) {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	m.over = max(m.over, int64(now.HeapAlloc)-int64(m.before)-int64(held+cap(m.buffer)))
	m.held = max(m.held, held+cap(m.buffer))
}

// spec: parquet-row-groups
func TestTheFattestRowsOfParquetTakeNoMoreMemoryThanIsCounted(t *testing.T) { // not parallel: it measures the heap
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = ' ' + byte(random.IntN(95))
		}
		return string(b)
	}
	options := func(n int) (answers prism.Answers) {
		for q := range 8 {
			a := prism.Answer{Question: fmt.Sprint("q", q), Type: prism.Choice, Chosen: "x"}
			for i := range 250 {
				key := fmt.Sprintf("o%d_%d_", n%3, i)
				p := prism.KeyProbability{Key: key + strings.Repeat("x", 64-len(key)), Probability: random.Float64()}
				a.Probabilities = append(a.Probabilities, p)
			}
			answers = append(answers, a)
		}
		return answers
	}
	for name, c := range map[string]struct {
		columns, rows int
		text          func(column int) string
		raw           func(row int) prism.Answers
	}{
		"ten fields of 100,000 characters":    {10, 40, func(int) string { return noise(100_000) }, nil},
		"one of many fields has much":         {100, 300, func(c int) string { return noise(1 + 100_000*(c%100/99)) }, nil},
		"a thousand columns of a file":        {1200, 400, func(int) string { return noise(40) }, nil},
		"the most options":                    {10, 150, func(int) string { return noise(100) }, options},
		"the most options beside long fields": {10, 40, func(int) string { return noise(50_000) }, options},
	} {
		t.Run(name, func(t *testing.T) {
			var columns []tabular.ParquetColumn
			for i := range c.columns {
				columns = append(columns, tabular.ParquetColumn{Name: fmt.Sprint("c", i)})
			}
			raw := ""
			if c.raw != nil {
				raw = "raw"
			}
			m := &heapMeter{}
			var start runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&start)
			m.before = start.HeapAlloc
			largest, footers := 0, 256<<10
			p, err := tabular.NewParquet(m, columns, raw, func(held int) bool { largest = max(largest, held); return true })
			if err != nil {
				t.Fatal(err)
			}
			cells := make([]prism.Cell, c.columns)
			for i := range c.rows {
				for j := range cells {
					cells[j] = prism.Cell{Kind: prism.TextCell, Key: c.text((i + j) % c.columns)}
				}
				var answers *prism.Answers
				if c.raw != nil {
					a := c.raw(i)
					answers = &a
				}
				if err := p.Row(cells, answers); err != nil {
					t.Fatal(err)
				}
				clear(cells)
				if i%8 == 0 || len(m.buffer) > 0 {
					m.measure(p.HeldBytes())
				}
				m.buffer = nil
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			t.Logf("held %d, asked for %d, over %d", m.held, largest, m.over)
			if m.over > 1<<20 {
				t.Errorf("the heap has %d bytes that are not counted", m.over)
			}
			if largest > 9<<20+256<<10+20<<10*(c.columns+9)+footers { // a step, the encoder, and what each column takes
				t.Errorf("a row group asks for %d bytes", largest)
			}
		})
	}
}
