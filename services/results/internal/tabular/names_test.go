package tabular_test

import (
	"strings"
	"testing"

	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// spec: file-jsonl, row-invalid
func TestStringsOfLinesMayHaveWhatACallRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, text, value, json string }{
		{"an escaped NUL", `{"a":"x\u0000"}`, "x\x00", "x\x00", `"x\u0000"`},
		{"a NUL byte", "{\"a\":\"x\x00\"}", "x\x00", "x\x00", `"x\u0000"`},
		{"half a surrogate pair", `{"a":"\ud800x"}`, "\ufffdx", "\x00x", `"\ud800x"`},
		{"the other half", `{"a":"\udc00"}`, "\ufffd", "\x00", `"\udc00"`},
		{"a whole pair", `{"a":"\ud83d\ude00"}`, "😀", "😀", `"\ud83d\ude00"`},
		{"the character that stands for others", `{"a":"\ufffd"}`, "\ufffd", "\ufffd", `"\ufffd"`},
		{"a surrogate in a nested value, which is text", `{"a":["\ud800"]}`, `["\ud800"]`, `["\ud800"]`, `["\ud800"]`},
		{"a member twice in a nested object", `{"a":{"b":1,"b":2}}`, `{"b":1,"b":2}`, `{"b":1,"b":2}`, `{"b":1,"b":2}`},
	} {
		r, err := readAll(t, prism.FileJSONL, []byte(`{"a":1}`+"\n"+c.line+"\n"+`{"a":3}`))
		if err != nil || len(r.rows) != 3 {
			t.Errorf("%s: %d rows, %v", c.name, len(r.rows), err)
			continue
		}
		row := r.rows[1]
		if row.Cells[0] != c.text || row.Value(0) != c.value || string(row.JSON[0]) != c.json {
			t.Errorf("%s: %q, %q, %s", c.name, row.Cells[0], row.Value(0), row.JSON[0])
		}
	}
}

// spec: file-columns
func TestNamesThatNoRunCanNameAreRefusedWithTheirColumn(t *testing.T) {
	t.Parallel()
	type row struct {
		A string `parquet:"a"`
		B string "parquet:\"b\x00\""
	}
	invalid := newParquet(t, pageOf(1, parquetformat.Plain, []byte("\x01\x00\x00\x00x")))
	invalid.metadata.Schema[1].Name = "\xff"
	long := strings.Repeat("é", 100_001)
	const (
		nul      = "the name of column 2 has a NUL character. Remove it, and save the file as UTF-8."
		noText   = "the name of column 2 is no Unicode text. Rename it."
		tooLong  = "the name of column 2 has more than 100000 characters. Shorten it."
		noString = "a NUL character that is in no string. Remove it."
	)
	inCells := func(name string) string {
		return `<row><c t="str"><v>a</v></c><c t="str"><v>` + name + `</v></c></row>`
	}
	for _, c := range []struct {
		name, format string
		data         []byte
		want         string
	}{
		{"csv", "csv", []byte("a,b\x00\n1,2\n"), "Line 1: " + nul},
		{"csv, at the beginning", "csv", []byte("a,\x00b\n1,2\n"), "Line 1: " + nul},
		{"jsonl", "jsonl", []byte("{\"a\":1}\n{\"b\\u0000\":1}"), "Line 2: " + nul},
		{"jsonl with the byte", "jsonl", []byte("{\"a\":1}\n{\"b\x00\":1}"), "Line 2: " + nul},
		{"jsonl with half a surrogate pair", "jsonl", []byte("{\"a\":1}\n{\"\\ud800\":1}"), "Line 2: " + noText},
		{"xlsx", "xlsx", workbookOf(t, inCells("b_x0000_")), "Row 1: " + nul},
		{"parquet", "parquet", parquetOf(t, nil, row{}), "Columns: " + nul},
		{"parquet that is not UTF-8", "parquet", invalid.bytes(t), "Columns: the name of column 1" + noText[len("the name of column 2"):]},
		{"csv with a long name", "csv", []byte("a," + long + "\n1,2\n"), "Line 1: " + tooLong},
		{"jsonl with a long name", "jsonl", []byte(`{"a":1,"` + long + `":1}`), "Line 1: " + tooLong},
		{"a NUL between members", "jsonl", []byte("{\"a\":1}\n{\"a\":2,\x00}"), "Line 2: " + noString},
		{"a NUL behind a backslash", "jsonl", []byte("{\"a\":1}\n{\"a\":\"\\\x00\"}"), "Line 2: " + noString},
		{"a line of NUL", "jsonl", []byte("{\"a\":1}\n\x00\x00\x00\x00"), "Line 2: " + noString},
	} {
		if _, err := readAllBy(t, tabular.Read, prism.FileFormat(c.format), tabular.Options{OnBadRow: prism.RefuseBadRow}, c.data); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := readAll(t, prism.FileCSV, []byte("a,"+long[2:]+"\n1,2\n")); err != nil {
		t.Errorf("a name of 100,000 characters: %v", err)
	}
}
