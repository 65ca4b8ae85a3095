package service_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// rowsOfParquet are the rows of a table as jsonl would have them.
func rowsOfParquet(t *testing.T, content []byte) []map[string]any {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]any, f.NumRows())
	for i := range rows {
		rows[i] = map[string]any{}
	}
	r := parquet.NewGenericReader[map[string]any](f, f.Schema())
	for read := 0; read < len(rows); {
		n, err := r.Read(rows[read:])
		if read += n; err != nil && read < len(rows) {
			t.Fatal(err)
		}
	}
	for _, row := range rows {
		if at, ok := row["created_at"].(int64); ok {
			row["created_at"] = time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return rows
}

func linesOf(t *testing.T, content []byte) (rows []map[string]any) {
	t.Helper()
	for line := range strings.Lines(string(content)) {
		row := map[string]any{}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func (w *world) exported(t *testing.T, q api.ExportResultsRequest) []byte {
	t.Helper()
	stream, err := w.Export(t.Context(), w.key, prism.Ref{Slug: "a"}, q)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(stream.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return content
}

// anyAnswersTo are random answers to questions.
func anyAnswersTo(random *rand.Rand, questions []prism.Question) (answers prism.Answers) {
	for _, q := range questions {
		a := prism.Answer{Question: q.Key, Type: q.Type, Probability: random.Float64()}
		for _, o := range q.Members() {
			a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: o.Key, Probability: random.Float64()})
		}
		if q.Type == prism.Choice || q.Type == prism.Scale {
			a.Chosen, a.Confidence = a.Probabilities[random.IntN(len(a.Probabilities))].Key, random.Float64()
		}
		answers = append(answers, a)
	}
	return answers
}

// The rows of random results are those of jsonl, value for value, and their raw answers those of a read as raw.
//
// spec: export-parquet, parquet-columns, parquet-raw
func TestAnExportAsParquetHasTheValuesOfOneAsJSONL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	two := []prism.Option{{Key: "x", Label: "The X"}, {Key: "raw", Label: "Raw"}}
	questions := []prism.Question{
		{Key: "raw", Type: prism.Choice, Text: "?", Options: two},
		{Key: "sure", Type: prism.YesNo, Text: "?"},
		{Key: "level", Type: prism.Scale, Text: "?", Levels: []prism.Level{{Key: "lo", Label: "Lo"}, {Key: "hi", Label: "Hi"}}},
		{Key: "about", Type: prism.Tags, Text: "?", Options: two},
	}
	of := w.questions(t, "a", questions...)
	random := rand.New(rand.NewPCG(3, 4))
	var ids []prism.ResultID
	for i := range 60 {
		s := w.save(of)
		s.Fields = []prism.FieldValue{{Key: "text", Value: strings.Repeat("é\n\"", i)}}
		if i%7 == 0 {
			s.Fields = nil
		}
		s.Outcome.Answers = answerjson.Append(nil, anyAnswersTo(random, questions[:1+random.IntN(len(questions))]))
		if i%5 == 0 {
			s.Outcome.Answers, s.Outcome.Error = nil, "The model, it failed"
		}
		if ref := strings.Repeat("r", i%3); i%4 != 0 {
			s.Ref = &ref
		}
		w.saved(t, s)
		ids = append(ids, s.ID)
	}
	got, want := rowsOfParquet(t, w.exported(t, api.ExportResultsRequest{Format: api.Parquet})), linesOf(t, w.exported(t, api.ExportResultsRequest{Format: api.JSONL}))
	if len(got) != len(ids) || len(want) != len(ids) {
		t.Fatalf("%d and %d rows of %d", len(got), len(want), len(ids))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("row %d is %v, want %v", i, got[i], want[i])
		}
	}

	content := w.exported(t, api.ExportResultsRequest{Format: api.Parquet, RawAnswers: api.RawAnswers{Raw: true}})
	type answer struct {
		Type          string             `json:"type" parquet:"type"`
		Value         *string            `json:"value" parquet:"value,optional"`
		Values        []string           `json:"values" parquet:"values,list"`
		Level         *string            `json:"level" parquet:"level,optional"`
		Probability   *float64           `json:"probability" parquet:"probability,optional"`
		Confidence    *float64           `json:"confidence" parquet:"confidence,optional"`
		Probabilities map[string]float64 `json:"probabilities" parquet:"probabilities,optional"`
	}
	type row struct {
		ID  string            `parquet:"result_id,optional"`
		Raw map[string]answer `parquet:"prism_raw,optional"` // the Lens has a column raw
	}
	rows, err := parquet.Read[row](bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		id, err := prism.ParseUUID(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		read, err := w.Read(t.Context(), w.key, prism.ResultID{UUID: id}, api.Raw)
		if err != nil {
			t.Fatal(err)
		}
		var stored struct {
			Answers map[string]answer `json:"answers"`
		}
		decode(t, read, &stored)
		for key, a := range r.Raw {
			if len(a.Values) == 0 {
				a.Values = nil
			}
			if len(a.Probabilities) == 0 {
				a.Probabilities = nil
			}
			if b := stored.Answers[key]; len(b.Values) == 0 {
				b.Values = nil
				stored.Answers[key] = b
			}
			r.Raw[key] = a
		}
		if len(r.Raw) != len(stored.Answers) || len(r.Raw) > 0 && !reflect.DeepEqual(r.Raw, stored.Answers) {
			t.Errorf("result %s has %+v, want %+v", r.ID, r.Raw, stored.Answers)
		}
	}
}

// spec: parquet-rows, run-rows-formats
func TestADownloadAsParquetKeepsTheTypesOfAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileJSONL,
		`{"text":"a","n":1.5,"yes":true,"mixed":"x"}`+"\n"+`{"text":"b","n":null,"yes":false,"mixed":2}`+"\n"+`{"text":"","n":-7}`+"\n", "ofi")
	f.invalid = map[int64]string{3: "Missing fields: text"}
	f.answer(1, 0.75, "")
	f.answer(2, 0, "The model, it failed")
	got := rowsOfParquet(t, []byte(w.downloadOf(t, f, api.ListRunRowsRequest{Format: prism.RowsParquet})))
	want := []map[string]any{
		{
			"text": "a", "n": 1.5, "yes": true, "mixed": "x", "prism_row": 1., "prism_result_id": "00000000-0000-0000-0000-000000000001",
			"prism_status": "ok", "prism_error": nil, "q": "yes", "q_probability": 0.75,
		},
		{
			"text": "b", "n": nil, "yes": false, "mixed": "2", "prism_row": 2., "prism_result_id": "00000000-0000-0000-0000-000000000002",
			"prism_status": "failed", "prism_error": "The model, it failed", "q": nil, "q_probability": nil,
		},
		{
			"text": "", "n": -7., "yes": nil, "mixed": nil, "prism_row": 3., "prism_result_id": nil,
			"prism_status": "invalid", "prism_error": "Missing fields: text", "q": nil, "q_probability": nil,
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	raw := rowsOfParquet(t, []byte(w.downloadOf(t, f, api.ListRunRowsRequest{Format: prism.RowsParquet, RawAnswers: api.RawAnswers{Raw: true}})))
	if answers, ok := raw[0]["raw"].(map[string]any); !ok || len(answers) != 1 || raw[1]["raw"] != nil {
		t.Errorf("the raw answers are %v and %v", raw[0]["raw"], raw[1]["raw"])
	}
}
