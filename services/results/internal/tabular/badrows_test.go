package tabular_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// spec: file-bad-rows
func TestARowThatCannotBeReadIsInvalidAndTheNextOneIsRead(t *testing.T) {
	t.Parallel()
	const other = "3,\"4\"\n"
	for _, c := range []struct{ name, rows, cells, invalid string }{
		{"a cell too few", "1\n", "1|", "Line 2: 1 cell, but the header has 2."},
		{"a cell too many, which the last one keeps", "1,a, b\n", "1|a, b", "Line 2: 3 cells, but the header has 2."},
		{"surplus cells in quotes", "1,\"a\",\"b\"\n", "1|\"a\",\"b\"", "Line 2: 3 cells, but the header has 2."},
		{"a byte that is not UTF-8, in the second line", "1,\"a\nb\xff\"\n", "1|a\nb\ufffd", "Line 3: not UTF-8."},
		{"text behind a quote", "1,\"a\" b\n", "1|\"a\" b", "Line 2: text follows the closing quote of a cell."},
		{"a quote that is not closed", "1,\"a\n", "1|\"a", "Line 2: a quoted cell is not closed."},
		{"a quote that is not closed, and lines that are no rows", "1,\"a\nb\n\nc\n", "1|\"a\nb\n\nc", "Line 2: a quoted cell is not closed."},
		{"a quote that another one closes", "1,\"a\nb,c \"d\" e\n", "1|\"a", "Line 2: a quoted cell is not closed."},
		{"a quote that one of a later row closes", "\"a,1\nb,2\nc,\",\"\n", "\"a,1|", "Line 2: a quoted cell is not closed."},
		{"a quote that one of a later row closes, behind a cell", "1,\"a\nb,2\nc,\",\"\n", "1|\"a", "Line 2: a quoted cell is not closed."},
		{"a quote in the first cell", "\"a,1\n", "\"a,1|", "Line 2: a quoted cell is not closed."},
	} {
		data := "x,y\n" + c.rows + other
		r, err := readAllBy(t, tabular.Read, prism.FileCSV, tabular.Options{Encoding: prism.UTF8}, []byte(data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(r.rows[0].Cells, "|"); got != c.cells || r.rows[0].Invalid != c.invalid {
			t.Errorf("%s: %q, %s", c.name, got, r.rows[0].Invalid)
		}
		if last := r.rows[len(r.rows)-1]; last.Invalid != "" || last.Cells[0] != "3" || last.Cells[1] != "4" || r.layout.BadRows != 1 {
			t.Errorf("%s: the last row is %+v", c.name, last)
		}
	}
}

// spec: file-bad-rows
func TestTooManyBadRowsMakeAFileUnusable(t *testing.T) {
	t.Parallel()
	good, bad := "1,2\n", "3\n"
	for _, c := range []struct {
		name, data string
		refuse     bool
		want       string // "": it can be used
	}{
		{name: "half of 98", data: strings.Repeat(good+bad, 49)},
		{name: "eleven of a hundred", data: strings.Repeat(good, 89) + strings.Repeat(bad, 11), want: "More than a tenth of the first 100 rows is bad. Line 91: 1 cell, but the header has 2. Line 92: "},
		{name: "ten of a hundred", data: strings.Repeat(good, 90) + strings.Repeat(bad, 10)},
		{name: "a thousand of many", data: strings.Repeat(good, 9000) + strings.Repeat(bad, 1000)},
		{name: "a thousand and one of many", data: strings.Repeat(good, 10000) + strings.Repeat(bad, 1001), want: "More than 1000 rows are bad. Line 10002: "},
		{name: "more than a tenth behind the first 10,000", data: strings.Repeat(good, 9500) + strings.Repeat(bad, 500) + strings.Repeat(bad, 500)},
		{name: "one that is refused", data: good + bad, refuse: true, want: "Line 3: 1 cell, but the header has 2."},
	} {
		var o tabular.Options
		if c.refuse {
			o.OnBadRow = prism.RefuseBadRow
		}
		_, err := readAllBy(t, tabular.Read, prism.FileCSV, o, []byte("x,y\n"+c.data))
		var unusable *tabular.UnusableError
		if errors.As(err, &unusable) != (c.want != "") || c.want != "" && !strings.HasPrefix(unusable.Text, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A larger file has as many bad rows at most.
//
// spec: file-bad-rows, file-memory
func TestManyRowsWithSomeBadOnesTakeLittleMemoryAndHaveTheirLines(t *testing.T) { // not parallel: it measures the heap
	const lines, every = 100_000, 111 // 900 are bad
	var b strings.Builder
	b.WriteString("id,text,n\n")
	want := map[int]string{} // by row
	for i, line := 0, 2; i < lines; i, line = i+1, line+1 {
		switch {
		case i%every != every-1:
			fmt.Fprintf(&b, "%d,\"plain text\nas long as a ticket may be\",%d\n", i, i%7)
			line++
		case i%2 == 0:
			fmt.Fprintf(&b, "%d,\"not closed,%d\n", i, i%7)
			want[i] = fmt.Sprintf("Line %d: a quoted cell is not closed.", line)
		default:
			fmt.Fprintf(&b, "%d,short\n", i)
			want[i] = fmt.Sprintf("Line %d: 2 cells, but the header has 3.", line)
		}
	}
	data := b.String()
	src := section([]byte(data))
	chunks := make([]store.FileChunk, 0, lines/100)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	layout, rows, err := tabular.Read(t.Context(), prism.FileCSV, tabular.Options{}, src, io.Discard, func(c store.FileChunk) error {
		chunks = append(chunks, c)
		return nil
	})
	runtime.ReadMemStats(&now)
	if err != nil || rows != lines || layout.BadRows != 900 || len(want) != 900 {
		t.Fatalf("%d rows, %d bad: %v", rows, layout.BadRows, err)
	}
	if allocated := now.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
		t.Errorf("%d KiB were allocated", allocated>>10)
	}
	for _, c := range chunks {
		parsed, err := layout.Rows(prism.FileCSV, c, []byte(data[c.Offset:c.Offset+c.Bytes]))
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range parsed {
			if at := int(c.FirstRow) - 1 + i; row.Invalid != want[at] || row.Cells[0] != strconv.Itoa(at) {
				t.Fatalf("row %d is %+v, want %q", at+1, row, want[at])
			}
		}
	}
}

// spec: file-bad-rows
func TestAQuoteThatIsNeverClosedIsLookedBehindForAMiB(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("1,2,3\n", 1<<20) // 6 MiB, none of which is a row of two cells
	r, err := readAll(t, prism.FileCSV, []byte("a,b\n1,\"x\n"+lines[:4<<20/6*6]))
	var unusable *tabular.UnusableError
	if !errors.As(err, &unusable) || !strings.HasPrefix(unusable.Text, "More than 1000 rows are bad. Line 2: a quoted cell is not closed.") {
		t.Errorf("%d rows, %v", len(r.rows), err)
	}
}

// spec: file-encoding, file-read-again
func TestTextsOfOtherEncodingsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, encoding, option, data, want string }{
		{"Shift-JIS", "shift_jis", "", "a,b\n1,\x92\x8d\x95\xb6\x82\xaa\x93\xf1\x8fd\x82\xc9\x90\xbf\x8b\x81\x82\xb3\x82\xea\x82\xdc\x82\xb5\x82\xbd\n", "注文が二重に請求されました"},
		{"GB18030", "gb18030", "", "a,b\n1,\xce\xd2\xb5\xc4\xb6\xa9\xb5\xa5\xb1\xbb\xca\xd5\xc8\xa1\xc1\xcb\xc1\xbd\xb4\xce\n", "我的订单被收取了两次"},
		{"EUC-KR", "euc-kr", "", "a,b\n1,\xc1\xd6\xb9\xae\xc0\xcc \xb5\xce \xb9\xf8 \xc3\xbb\xb1\xb8\xb5\xc7\xbe\xfa\xbd\xc0\xb4\xcf\xb4\xd9\n", "주문이 두 번 청구되었습니다"},
		{"Shift-JIS of which the detector is in doubt", "shift_jis", "", "a,b\n1,\x92\x8d\x95\xb6\x82\xaa\x93\xf1\x8fd\x82\xc9\x90\xbf\x8b\x81\x82\xb3\x82\xea\x82\xdc\x82\xb5\x82\xbd\x81B\x95\xd4\x8b\xe0\x82\xb5\x82\xc4\x82\xad\x82\xbe\x82\xb3\x82\xa2\n1,\x89\xd7\x95\xa8\x82\xcd\x82\xc7\x82\xb1\x82\xc5\x82\xb7\x82\xa9\n1,\x90V\x82\xb5\x82\xa2\x82\xe2\x82\xa9\x82\xf1\x82\xa9\x82\xe7\x90\x85\x82\xaa\x98R\x82\xea\x82\xdc\x82\xb7\n1,\x8c\xae\x82\xaa\x8d\x87\x82\xa2\x82\xdc\x82\xb9\x82\xf1\n1,\x90v\x91\xac\x82\xc8\x82\xb2\x89\xf1\x93\x9a\x82\xa0\x82\xe8\x82\xaa\x82\xc6\x82\xa4\x82\xb2\x82\xb4\x82\xa2\x82\xdc\x82\xb7\n1,\x91\xe3\x8b\xe0\x82\xcd\x93\xf1\x90\xe7\x8c\xdc\x95S\x89~\x82\xc5\x82\xb7\n", "注文が二重に請求されました"},
		{"Windows-1250, of which Windows-1252 lacks a byte", "windows-1250", "", "a,b\n1,P\xf8\xedli\x9a \x9elu\x9dou\xe8k\xfd k\xf9\xf2\n", "Příliš žluťoučký kůň"},
		{"what DOS has in Germany", "ibm850", "", "a,b\n1,Der Schl\x81ssel schlie\xe1t nicht, Gr\x94\xe1e\n", "Der Schlüssel schließt nicht"},
		{"Windows-1251 that is said", "windows-1251", "windows-1251", "a,b\n1,\xec\xe8\xf0\n", "мир"},
		{"UTF-16 with a mark", "utf-16le", "", "\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\xac\x20\n\x00", "€"},
		{"UTF-16 from the other end without a mark", "utf-16be", "", "\x00a\x00,\x00b\x00\n\x001\x00,\x00c\x00\n", "c"},
		{"UTF-16 whose half of a pair is bad", "utf-16le", "", "\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\x00\xd8\n\x00", "\ufffd"},
		{"UTF-8 with a NUL at the end of a line", "utf-8", "", "a,b\n12,c\x00\n", "c"},
		{"what Shift-JIS lacks", "shift_jis", "shift_jis", "a,b\n1,\xfd\n", "\ufffd"},
	} {
		r, err := readAllBy(t, tabular.Read, prism.FileCSV, tabular.Options{Encoding: c.option}, []byte(c.data))
		if err != nil || r.layout.Encoding != c.encoding || !strings.Contains(r.rows[0].Cells[1], c.want) {
			t.Errorf("%s: %+v, %v", c.name, r, err)
			continue
		}
		if bad := c.want == "\ufffd"; bad != (r.rows[0].Invalid == "Line 2: a byte that is not "+c.encoding+".") {
			t.Errorf("%s: %q", c.name, r.rows[0].Invalid)
		}
	}
}
