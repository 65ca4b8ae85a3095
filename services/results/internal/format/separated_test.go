package format

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

func TestACellIsQuotedInCSVOnlyWhenItMust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"plain", `a`, `a`},
		{"empty", ``, ``},
		{"comma", `a,b`, `"a,b"`},
		{"quote is doubled", `a"b`, `"a""b"`},
		{"only a quote", `"`, `""""`},
		{"quotes at both ends", `"a"`, `"""a"""`},
		{"LF stays", "a\nb", "\"a\nb\""},
		{"CR stays", "a\rb", "\"a\rb\""},
		{"CRLF stays", "a\r\nb", "\"a\r\nb\""},
		{"LFCR stays", "\n\r", "\"\n\r\""},
		{"tab", "a\tb", "a\tb"},
		{"leading space", " a", " a"},
		{"trailing space", "a ", "a "},
		{"formula", `=1+1`, `=1+1`},
		{"formula with a comma", `=SUM(1,2)`, `"=SUM(1,2)"`},
		{"backslash and dot", `\.`, `\.`},
		{"semicolon", `a;b`, `a;b`},
		{"emoji", `👩‍🚀`, `👩‍🚀`},
	} {
		if got := string(AppendCSV([]byte("x"), c.text)); got != "x"+c.want {
			t.Errorf("%s: %q, want %q", c.name, got, "x"+c.want)
		}
	}
}

// spec: tsv-cells
func TestTabsAndLineBreaksBecomeOneSpaceEachInTSV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a", "a"},
		{"empty", "", ""},
		{"tab", "a\tb", "a b"},
		{"LF", "a\nb", "a b"},
		{"CR", "a\rb", "a b"},
		{"CRLF is one", "a\r\nb", "a b"},
		{"LFCR is two", "a\n\rb", "a  b"},
		{"two CRLF are two", "a\r\n\r\nb", "a  b"},
		{"CRCRLF is two", "a\r\r\nb", "a  b"},
		{"at the ends", "\ta\r", " a "},
		{"quotes and commas stay", `"a",b`, `"a",b`},
		{"spaces stay", "  a  ", "  a  "},
	} {
		if got := string(AppendTSV([]byte("x"), c.text)); got != "x"+c.want {
			t.Errorf("%s: %q, want %q", c.name, got, "x"+c.want)
		}
	}
}

// readCSV reads RFC 4180 character by character. encoding/csv would turn CRLF inside a cell into LF.
func readCSV(t *testing.T, text string) [][]string {
	t.Helper()
	var rows [][]string
	var row []string
	var cell strings.Builder
	endCell := func() { row = append(row, cell.String()); cell.Reset() }
	for i := 0; i < len(text); {
		switch {
		case text[i] == '"':
			for i++; ; i++ {
				if i >= len(text) {
					t.Fatalf("open quotes in %q", text)
				}
				if text[i] == '"' {
					if i++; i >= len(text) || text[i] != '"' {
						break
					}
				}
				cell.WriteByte(text[i])
			}
			if !strings.HasPrefix(text[i:], ",") && !strings.HasPrefix(text[i:], "\r\n") {
				t.Fatalf("text behind quotes at byte %d of %q", i, text)
			}
		case text[i] == ',':
			endCell()
			i++
		case strings.HasPrefix(text[i:], "\r\n"):
			endCell()
			rows, row = append(rows, row), nil
			i += 2
		case text[i] == '\r', text[i] == '\n':
			t.Fatalf("bare line break at byte %d of %q", i, text)
		default:
			cell.WriteByte(text[i])
			i++
		}
	}
	if row != nil || cell.Len() > 0 {
		t.Fatalf("no line end at the end of %q", text)
	}
	return rows
}

func readTSV(t *testing.T, text string) [][]string {
	t.Helper()
	body, ended := strings.CutSuffix(text, "\n")
	if !ended {
		t.Fatalf("no line end at the end of %q", text)
	}
	var rows [][]string
	for _, line := range strings.Split(body, "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// fuzzTable is a table with arbitrary text wherever text is allowed, and the cells of its only row.
func fuzzTable(t *testing.T, ref, value, label string) (Table, answeredRow, []string) {
	t.Helper()
	d := prism.Definition{
		Fields:    []prism.Field{{Key: "first"}, {Key: "second"}},
		Questions: []prism.Question{{Key: "q", Type: prism.Choice, Options: []prism.Option{{Key: "o", Label: label}}}},
	}
	r := okRow(t)
	r.Answered = d
	r.Result.Ref = &ref
	r.Result.Fields = []prism.FieldValue{{Key: "first", Value: value}, {Key: "second", Value: label}}
	r.Result.Answers = answerjson.Append(nil, prism.Answers{{
		Question: "q", Type: prism.Choice, Chosen: "o", Probabilities: []prism.KeyProbability{{Key: "o", Probability: 1}}, Confidence: 1,
	}})
	if label == "" {
		label = "o" // a label missing there is its key
	}
	cells := []string{r.Result.ID.String(), ref, "3", "ok", "", "2026-11-21T09:13:05.070Z", value, r.Result.Fields[1].Value, label, "1"}
	return Table{Slug: "s", Lens: lens.Derive(d), Latest: d}, r, cells
}

func addTexts(f *testing.F) {
	f.Helper()
	for i := range awkward {
		f.Add(awkward[i].text, awkward[(i+1)%len(awkward)].text, awkward[(i+5)%len(awkward)].text)
	}
	f.Add("\r", "\n", "\"\"\r\n,")
	f.Add("\"", "\",\"", "a\"\r")
}

// checkCells writes two rows, reads them back, and compares.
func checkCells(t *testing.T, f contract.Format, read func(*testing.T, string) [][]string, holds func(string) string,
	ref, value, label string,
) {
	t.Helper()
	for _, s := range []string{ref, value, label} {
		if !utf8.ValidString(s) {
			return // refused at the door
		}
	}
	table, row, want := fuzzTable(t, ref, value, label)
	for i := range want {
		want[i] = holds(want[i])
	}
	rows := read(t, string(encode(t, f, table, []answeredRow{row, row})))
	if len(rows) != 3 {
		t.Fatalf("%d rows, want a header and 2: %q", len(rows), rows)
	}
	for _, got := range rows[1:] {
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
	if len(rows[0]) != len(want) {
		t.Fatalf("header %q is not as long as the rows", rows[0])
	}
}

func FuzzCSV(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, ref, value, label string) {
		checkCells(t, contract.CSV, readCSV, func(s string) string { return s }, ref, value, label)
	})
}

func FuzzTSV(f *testing.F) {
	addTexts(f)
	spaces := strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ", "\t", " ")
	f.Fuzz(func(t *testing.T, ref, value, label string) {
		checkCells(t, contract.TSV, readTSV, spaces.Replace, ref, value, label)
	})
}

// spec: rows-for-people
func TestANumberIsDigitsAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-12.5", "007", ".5", "5.", "1e9", "-1.5E-7", "2e+3"} {
		if !IsNumber(text) {
			t.Errorf("%q is a number", text)
		}
	}
	for _, text := range []string{"", "-", "+1", "--1", "1-1", ".", "e5", "1e", "1e+", "1.2.3", "1 000", "0x1", "inf", "NaN", "1_0", "-1+1|a", "٣"} {
		if IsNumber(text) {
			t.Errorf("%q is no number", text)
		}
	}
}

// spec: rows-for-people
func TestSafeTextsBeginNoFormula(t *testing.T) {
	t.Parallel()
	safe := NewSeparated(contract.CSV, api.TextStyle{Safe: true})
	for text, want := range map[string]string{
		"": "", "plain": "plain", "=1+1": "'=1+1", "+49 30 1234": "'+49 30 1234", "+49301234": "'+49301234", "@SUM(A1)": "'@SUM(A1)",
		"-": "'-", "-2+3": "'-2+3", "\ta": "'\ta", "\ra": "\"'\ra\"", "=HYPERLINK(\"a\",1)": `"'=HYPERLINK(""a"",1)"`,
		"-12.5": "-12.5", "-1e9": "-1e9", "a=1": "a=1", " =1": " =1", "'=1": "'=1",
	} {
		if got := string(safe.Text(nil, text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := string(safe.Cell(nil, &prism.Cell{Kind: prism.NumberCell, Number: -0.5})); got != "-0.5" {
		t.Errorf("a number is %q", got)
	}
	tsv := NewSeparated(contract.TSV, api.TextStyle{Safe: true})
	if got := string(tsv.Text(nil, "\t=1")); got != "' =1" {
		t.Errorf("in tsv a tab is %q", got)
	}
}

// encoding/csv reads the cells that were written, with every delimiter, with and without a byte-order mark.
//
// spec: rows-for-people, csv-cells
func TestAnIndependentReaderReadsTheCellsThatWereWritten(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.SampledFrom([]rune("a0-+=@,;|\t\"'\r\n é漢👩\ufeff")))
	rapid.Check(t, func(t *rapid.T) {
		style := api.TextStyle{
			BOM: rapid.Bool().Draw(t, "bom"), Safe: rapid.Bool().Draw(t, "safe"),
			Delimiter: api.Delimiter(rapid.SampledFrom(append(api.Delimiter("").Values(), "")).Draw(t, "delimiter")),
		}
		f := rapid.SampledFrom([]contract.Format{contract.CSV, contract.TSV}).Draw(t, "format")
		if style.Delimiter == "" && f == contract.TSV {
			style.Delimiter = "\t" // without one, cells of tsv lose their tabs and line breaks
		}
		cells := rapid.SliceOfN(text, 2, 5).Draw(t, "cells")
		s := NewSeparated(f, style)
		b := s.Begin(nil)
		for i, cell := range cells {
			if i > 0 {
				b = s.Next(b)
			}
			b = s.Text(b, cell)
		}
		b = s.End(b)
		written := b
		if style.BOM {
			rest, marked := bytes.CutPrefix(b, []byte("\ufeff"))
			if !marked {
				t.Fatal("no byte-order mark")
			}
			written = rest
		}
		r := csv.NewReader(bytes.NewReader(written))
		if r.Comma = ','; style.Delimiter != "" {
			r.Comma = rune(style.Delimiter[0])
		}
		rows, err := r.ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != len(cells) {
			t.Fatalf("%q: %q: %v", b, rows, err)
		}
		for i, cell := range cells {
			if style.Safe && cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) && !IsNumber(cell) {
				cell = "'" + cell
			}
			if want := strings.ReplaceAll(cell, "\r\n", "\n"); rows[0][i] != want { // encoding/csv reads CRLF as LF
				t.Fatalf("%q is read as %q", cell, rows[0][i])
			}
		}
	})
}
