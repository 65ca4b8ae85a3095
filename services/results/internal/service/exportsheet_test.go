package service_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// workbook is an export of a prism whose fields and columns have names as programs and as people write them.
func workbook(t *testing.T) (w *world, saved time.Time, content []byte) {
	t.Helper()
	w = newWorld(t)
	created, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{Slug: "a", NewVersion: api.NewVersion{Definition: prism.Definition{
		Fields:    []prism.Field{{Key: "text", Label: "What was written"}, {Key: "order_no"}, {Key: "status"}},
		Questions: []prism.Question{{Key: "wants_refund", Type: prism.YesNo, Text: "A refund?"}},
	}, Lens: &api.Lens{Columns: []prism.Column{
		{Name: "wants_refund", Question: "wants_refund", Show: prism.ShowAnswer},
		{Name: "Sure-ness", Question: "wants_refund", Show: prism.ShowProbability},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		ID prism.PrismID `json:"id"`
	}
	decode(t, created, &body)
	s := w.save(body.ID)
	s.Fields = []prism.FieldValue{{Key: "text", Value: "hello"}, {Key: "order_no", Value: "007"}, {Key: "status", Value: "new"}}
	s.Outcome.Answers = []byte(`{"wants_refund":{"type":"yes_no","probability":0.75}}`)
	w.saved(t, s)
	stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, api.ExportResultsRequest{Format: api.XLSX})
	if err != nil {
		t.Fatal(err)
	}
	if content, err = io.ReadAll(stream.Body); err != nil {
		t.Fatal(err)
	}
	response, err := w.ListResults(t.Context(), w.key, api.ListResultsRequest{PageRequest: api.PageRequest{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Data []struct {
			CreatedAt time.Time `json:"created_at"`
		} `json:"data"`
	}
	decode(t, response, &list)
	return w, list.Data[0].CreatedAt, content
}

var headings = []string{
	"What was written", "Order no", "Status", "Wants refund", "Sure-ness", "Result ID", "Reference", "Version", "Status (2)", "Error", "Created at (UTC)",
}

// spec: export-xlsx, xlsx-headings
func TestAWorkbookOfResultsIsHeadedForPeopleAndHasDatesAndNumbers(t *testing.T) {
	t.Parallel()
	_, saved, content := workbook(t)
	book, err := excelize.OpenReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := book.GetRows("Rows 1")
	if err != nil || !slices.Equal(rows[0], headings) {
		t.Fatalf("got %q: %v", rows, err)
	}
	if got, want := rows[1][10], saved.Format(time.DateTime); got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	for cell, want := range map[string]excelize.CellType{
		"B2": excelize.CellTypeInlineString, "E2": excelize.CellTypeUnset, "H2": excelize.CellTypeUnset, "K2": excelize.CellTypeUnset,
	} {
		if got, err := book.GetCellType("Rows 1", cell); got != want || err != nil {
			t.Errorf("%s has the type %v: %v", cell, got, err)
		}
	}
	if rows[1][1] != "007" || rows[1][4] != "75%" || rows[1][7] != "1" {
		t.Errorf("got %q", rows[1])
	}
}

// spec: export-xlsx, file-xlsx
func TestAWorkbookOfResultsIsReadWithItsTimes(t *testing.T) {
	t.Parallel()
	w, saved, content := workbook(t)
	f := w.fileOf(t)(w.CreateFile(t.Context(), w.key, api.NewFile{Name: "n", Format: prism.FileXLSX, Bytes: int64(len(content))}))
	w.put(t, part(f.ID, content, 1))
	if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
		t.Fatal(err)
	}
	w.read(t)
	r, err := w.FileRows(t.Context(), w.key, f.ID, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"Created at (UTC)":"` + saved.Format("2006-01-02T15:04:05"); !strings.Contains(string(r.Body), want) {
		t.Errorf("got %s, want %s", r.Body, want)
	}
}
