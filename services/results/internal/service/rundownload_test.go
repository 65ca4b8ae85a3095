package service_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

func (w *world) download(t *testing.T, f *runOfFile, format prism.RowsFormat, only prism.RowStatus) string {
	t.Helper()
	return w.downloadOf(t, f, api.ListRunRowsRequest{Format: format, Only: only})
}

func (w *world) downloadOf(t *testing.T, f *runOfFile, q api.ListRunRowsRequest) string {
	t.Helper()
	stream, err := w.RunRows(t.Context(), w.key, f.run.ID, q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(stream.Body)
	if err := errors.Join(err, stream.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// everyState is a run with rows in every state. The result of the last row was deleted.
func everyState(t *testing.T) (*world, *runOfFile) {
	t.Helper()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV,
		"text;n\r\n\"a;\"\"b\"\"\";1\r\nb,c;2\r\nc;3\r\nd;4\r\ne;5\r\n\"f\r\ng\";6\r\n", "ofipco")
	f.invalid = map[int64]string{3: "Missing fields: text"}
	f.answer(1, 0.75, "")
	f.answer(2, 0, "The model, it failed")
	f.answer(4, 0, "of the attempt before") // which is retried
	return w, f
}

// spec: run-rows-columns, run-rows-formats
func TestADownloadHasTheColumnsOfTheFileAndThoseOfTheRun(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	for format, want := range map[prism.RowsFormat]string{
		prism.RowsCSV: "text,n,prism_row,prism_result_id,prism_status,prism_error,q,q_probability\r\n" +
			"\"a;\"\"b\"\"\",1,1,00000000-0000-0000-0000-000000000001,ok,,Yes,0.75\r\n" +
			"\"b,c\",2,2,00000000-0000-0000-0000-000000000002,failed,\"The model, it failed\",,\r\n" +
			"c,3,3,,invalid,Missing fields: text,,\r\n" +
			"d,4,4,,pending,,,\r\n" +
			"e,5,5,,cancelled,,,\r\n" +
			"\"f\r\ng\",6,6,,ok,,,\r\n",
		prism.RowsTSV: "text\tn\tprism_row\tprism_result_id\tprism_status\tprism_error\tq\tq_probability\n" +
			"a;\"b\"\t1\t1\t00000000-0000-0000-0000-000000000001\tok\t\tYes\t0.75\n" +
			"b,c\t2\t2\t00000000-0000-0000-0000-000000000002\tfailed\tThe model, it failed\t\t\n" +
			"c\t3\t3\t\tinvalid\tMissing fields: text\t\t\n" +
			"d\t4\t4\t\tpending\t\t\t\n" +
			"e\t5\t5\t\tcancelled\t\t\t\n" +
			"f g\t6\t6\t\tok\t\t\t\n",
		prism.RowsJSONL: `{"text":"a;\"b\"","n":"1","prism_row":1,"prism_result_id":"00000000-0000-0000-0000-000000000001",` +
			`"prism_status":"ok","prism_error":null,"q":"yes","q_probability":0.75}` + "\n" +
			`{"text":"b,c","n":"2","prism_row":2,"prism_result_id":"00000000-0000-0000-0000-000000000002",` +
			`"prism_status":"failed","prism_error":"The model, it failed","q":null,"q_probability":null}` + "\n" +
			`{"text":"c","n":"3","prism_row":3,"prism_result_id":null,` +
			`"prism_status":"invalid","prism_error":"Missing fields: text","q":null,"q_probability":null}` + "\n" +
			`{"text":"d","n":"4","prism_row":4,"prism_result_id":null,` +
			`"prism_status":"pending","prism_error":null,"q":null,"q_probability":null}` + "\n" +
			`{"text":"e","n":"5","prism_row":5,"prism_result_id":null,` +
			`"prism_status":"cancelled","prism_error":null,"q":null,"q_probability":null}` + "\n" +
			`{"text":"f\r\ng","n":"6","prism_row":6,"prism_result_id":null,` +
			`"prism_status":"ok","prism_error":null,"q":null,"q_probability":null}` + "\n",
	} {
		if got := w.download(t, f, format, ""); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

// spec: run-rows-formats
func TestADownloadHasTheMediaTypeOfItsFormat(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	for format, want := range map[prism.RowsFormat]string{
		prism.RowsCSV:   "text/csv; charset=utf-8",
		prism.RowsTSV:   "text/tab-separated-values; charset=utf-8",
		prism.RowsJSONL: "application/jsonl; charset=utf-8",
		prism.RowsXLSX:  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	} {
		stream, err := w.RunRows(t.Context(), w.key, f.run.ID, api.ListRunRowsRequest{Format: format})
		if err != nil || stream.ContentType != want {
			t.Errorf("%s: %q, %v", format, stream.ContentType, err)
		}
	}
}

// spec: run-rows-formats
func TestADownloadHasTheFormatOfItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prism(t, "a")
	for format, content := range map[prism.FileFormat]string{
		prism.FileCSV: "text\na\n", prism.FileTSV: "text\na\n", prism.FileJSONL: `{"text":"a"}` + "\n",
	} {
		f := w.runOf(t, p, format, content, "p")
		if got := w.download(t, f, "", ""); got != w.download(t, f, prism.RowsFormat(format), "") {
			t.Errorf("%s: %s", format, got)
		}
	}
	for format, want := range map[prism.FileFormat]prism.RowsFormat{prism.FileXLSX: prism.RowsXLSX, prism.FileParquet: prism.RowsCSV} {
		if got := prism.RowsFormatOf(format); got != want {
			t.Errorf("%s comes back as %s", format, got)
		}
	}
}

// spec: run-rows-xlsx
func TestAWorkbookHasTheAnswersBehindTheColumnsOfTheFile(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	book, err := excelize.OpenReader(strings.NewReader(w.download(t, f, prism.RowsXLSX, "")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := book.GetRows("Rows 1")
	want := []string{
		"[text n Q Q probability Prism row Prism result ID Prism status Prism error]", //nolint:dupword // a heading and the next one
		`[a;"b" 1 Yes 75% 1 00000000-0000-0000-0000-000000000001 ok]`,
		"[b,c 2   2 00000000-0000-0000-0000-000000000002 failed The model, it failed]",
		"[c 3   3  invalid Missing fields: text]",
	}
	for i := range want {
		if err != nil || fmt.Sprint(got[i]) != want[i] {
			t.Errorf("got %v, want %s: %v", got[i], want[i], err)
		}
	}
}

// spec: rows-for-people
func TestADownloadForPeopleHasAMarkItsDelimiterAndNoFormula(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text,=n\n\"=1;2\",-3\n+49 30,-1+1\n", "pp")
	style := api.TextStyle{BOM: true, Delimiter: ";", Safe: true}
	want := "\ufefftext;'=n;prism_row;prism_result_id;prism_status;prism_error;q;q_probability\r\n" +
		"\"'=1;2\";-3;1;;pending;;;\r\n'+49 30;'-1+1;2;;pending;;;\r\n"
	if got := w.downloadOf(t, f, api.ListRunRowsRequest{TextStyle: style}); got != want {
		t.Errorf("got %q", got)
	}
	if got, want := w.downloadOf(t, f, api.ListRunRowsRequest{Format: prism.RowsJSONL, TextStyle: style}), w.download(t, f, prism.RowsJSONL, ""); got != want {
		t.Errorf("got %q", got)
	}
}

// Values of a file of jsonl stay what they were, in the order of the columns.
//
// spec: run-rows-formats
func TestADownloadOfJSONLHasTheValuesAsTheyCame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileJSONL, `{"text":"a","n":1.50}`+"\n"+`{"o":{"a": [1]},"n":null}`+"\n", "pp")
	want := `{"text":"a","n":1.50,"o":null,"prism_row":1,"prism_result_id":null,"prism_status":"pending","prism_error":null,` +
		`"q":null,"q_probability":null}` + "\n" +
		`{"text":null,"n":null,"o":{"a": [1]},"prism_row":2,"prism_result_id":null,"prism_status":"pending","prism_error":null,` +
		`"q":null,"q_probability":null}` + "\n"
	if got := w.download(t, f, prism.RowsJSONL, ""); got != want {
		t.Errorf("got\n%s", got)
	}
	want = "text,n,o,prism_row,prism_result_id,prism_status,prism_error,q,q_probability\r\n" +
		"a,1.50,,1,,pending,,,\r\n" + `,,"{""a"": [1]}",2,,pending,,,` + "\r\n"
	if got := w.download(t, f, prism.RowsCSV, ""); got != want {
		t.Errorf("got\n%s", got)
	}
}

// spec: run-rows-columns
func TestAddedColumnsThatCollideGetAPrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "q,prism_row,prism_q\n1,2,3\n", "p")
	want := "q,prism_row,prism_q,prism_prism_row,prism_result_id,prism_status,prism_error,prism_prism_q,q_probability\r\n" +
		"1,2,3,1,,pending,,,\r\n"
	if got := w.download(t, f, prism.RowsCSV, ""); got != want {
		t.Errorf("got %s", got)
	}
}

// spec: run-rows-only
func TestADownloadCanHaveTheRowsOfOneState(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	for only, want := range map[prism.RowStatus]string{
		prism.RowOK: "1 6", prism.RowFailed: "2", prism.RowInvalid: "3", prism.RowPending: "4", prism.RowCancelled: "5",
	} {
		var rows []string
		for line := range strings.Lines(w.download(t, f, prism.RowsJSONL, only)) {
			var row struct {
				Number int             `json:"prism_row"`
				Status prism.RowStatus `json:"prism_status"`
			}
			if err := strictjson.Unmarshal([]byte(line), &row); err != nil || row.Status != only {
				t.Errorf("%s: %v", line, err)
			}
			rows = append(rows, fmt.Sprint(row.Number))
		}
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%s: rows %s, want %s", only, got, want)
		}
	}
}

// A result that was retried by itself after the states were read is the newest of its row.
//
// spec: run-rows-columns
func TestADownloadShowsTheNewestResultOfARow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text\na\n", "f")
	f.answer(1, 0.75, "")
	if got := w.download(t, f, prism.RowsCSV, ""); !strings.Contains(got, "001,ok,,Yes,0.75") {
		t.Errorf("got %s", got)
	}
	if got := w.download(t, f, prism.RowsCSV, prism.RowFailed); strings.Count(got, "\n") != 1 {
		t.Errorf("got %s among the failed rows", got)
	}
}

// A row whose retry was cancelled has the result that it had before.
//
// spec: run-rows-columns
func TestADownloadShowsTheResultOfARowWhoseRetryWasCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text\na\nb\nc\n", "ccc")
	f.answer(1, 0, "The model failed")
	f.answer(3, 0.75, "") // retried by itself since the state was read
	want := "text,prism_row,prism_result_id,prism_status,prism_error,q,q_probability\r\n" +
		"a,1,00000000-0000-0000-0000-000000000001,cancelled,The model failed,,\r\n" +
		"b,2,,cancelled,,,\r\n" +
		"c,3,00000000-0000-0000-0000-000000000003,ok,,Yes,0.75\r\n"
	if got := w.download(t, f, prism.RowsCSV, ""); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := w.download(t, f, prism.RowsCSV, prism.RowCancelled); strings.Count(got, "\n") != 3 {
		t.Errorf("got %s among the cancelled rows", got)
	}
}

// spec: run-rows-columns, deletion-of-file-rows
func TestTheRowOfADeletedResultStaysInTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text\na\nb\n", "ok")
	f.answer(2, 0.75, "")
	if got, want := w.download(t, f, prism.RowsCSV, ""), "\na,1,,ok,,,\r\nb,2,"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

// spec: run-rows-every-state
func TestADownloadWorksInEveryStateOfARun(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	want := w.download(t, f, prism.RowsCSV, "")
	for _, status := range []prism.RunStatus{
		prism.RunQueued, prism.RunRunning, prism.RunPausing, prism.RunPaused,
		prism.RunCancelling, prism.RunCancelled, prism.RunFinished,
	} {
		f.run.Status = status
		if got := w.download(t, f, prism.RowsCSV, ""); got != want {
			t.Errorf("%s: %s", status, got)
		}
	}
}

// spec: run-rows-every-state
func TestADownloadNeedsItsRunAndItsFile(t *testing.T) {
	t.Parallel()
	w, f := everyState(t)
	q := api.ListRunRowsRequest{Format: prism.RowsCSV}
	if _, err := w.RunRows(t.Context(), contract.KeyDigest{7}, f.run.ID, q); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := w.RunRows(t.Context(), w.key, prism.RunID{}, q); !errors.Is(err, apierr.RunNotFound()) {
		t.Errorf("another run: %v", err)
	}
	f.file.ID = prism.FileID{}
	if _, err := w.RunRows(t.Context(), w.key, f.run.ID, q); !errors.Is(err, apierr.FileNotFound()) {
		t.Errorf("without the file: %v", err)
	}
}

// A chunk is fetched when the chunk before was read, and what is held is a chunk and its results, whatever nobody reads.
//
// spec: run-rows-streamed
func TestADownloadHoldsOneChunkAtATime(t *testing.T) {
	t.Parallel()
	for _, format := range []prism.RowsFormat{prism.RowsCSV, prism.RowsJSONL, prism.RowsXLSX} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			const rows = 1000
			const length = 2000
			noise := make([]byte, rows*length/4*3)
			rand.NewChaCha8([32]byte{}).Read(noise)
			text := base64.StdEncoding.EncodeToString(noise)
			var data strings.Builder
			data.WriteString("text")
			for row := range rows {
				data.WriteString("\n" + text[row*length:(row+1)*length])
			}
			f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, data.String(), strings.Repeat("o", rows))
			f.page = 150 // as large results make pages end early
			for row := range int64(rows) {
				f.answer(row+1, 0.5, "")
			}
			stream, err := w.RunRows(t.Context(), w.key, f.run.ID, api.ListRunRowsRequest{Format: format})
			if err != nil {
				t.Fatal(err)
			}
			most, total, first := 0, 0, 0
			for buffer := make([]byte, 1000); err == nil; {
				var n int
				n, err = stream.Body.Read(buffer)
				total += n
				most = max(most, stream.Body.(interface{ HeldBytes() int }).HeldBytes())
				if first == 0 {
					first = len(f.read)
				}
			}
			if !errors.Is(err, io.EOF) || format != prism.RowsXLSX && total < rows*length {
				t.Errorf("%d bytes: %v", total, err)
			}
			if most < 190*length || most > 2*contract.ChunkBytes {
				t.Errorf("%d bytes were held", most)
			}
			if first > 1 || len(f.read) != rows/200 {
				t.Errorf("the first byte came with %d chunks, all with %d", first, len(f.read))
			}
		})
	}
}

// The results of a chunk can be many times as large as its rows.
//
// spec: run-rows-streamed
func TestADownloadHoldsAFewLargeResultsAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rows, size = 400, 100 << 10
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text"+strings.Repeat("\nx", rows), strings.Repeat("o", rows))
	f.page = 3 // as large results make pages end early
	for row := range int64(rows) {
		f.answer(row+1, 0.5, "")
		f.results[row].Answers = []byte(`{"q":{"type":"yes_no","probability":0.5,"why":"` + strings.Repeat("x", size) + `"}}`)
	}
	stream, err := w.RunRows(t.Context(), w.key, f.run.ID, api.ListRunRowsRequest{Format: prism.RowsCSV})
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	var got bytes.Buffer
	for buffer := make([]byte, 1000); err == nil; {
		var n int
		n, err = stream.Body.Read(buffer)
		got.Write(buffer[:n])
		most = max(most, stream.Body.(interface{ HeldBytes() int }).HeldBytes())
	}
	if n := bytes.Count(got.Bytes(), []byte("Unsure,0.5")); !errors.Is(err, io.EOF) || n != rows {
		t.Errorf("%d rows have their answers: %v", n, err)
	}
	if most < size || most > contract.ChunkBytes {
		t.Errorf("%d bytes were held", most)
	}
}

// A chunk without a row in the wanted state is not read.
//
// spec: run-rows-only
func TestADownloadReadsTheChunksItNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	states := bytes.Repeat([]byte("o"), 5000)
	states[3210] = 'f'
	f := w.runOf(t, w.prism(t, "a"), prism.FileCSV, "text\n"+strings.Repeat("a\n", len(states)), string(states))
	f.answer(3211, 0, "no answer")
	got := w.download(t, f, prism.RowsTSV, prism.RowFailed)
	if _, rows, _ := strings.Cut(got, "\n"); !strings.HasPrefix(rows, "a\t3211\t") || strings.Count(rows, "\n") != 1 {
		t.Errorf("got %s", rows)
	}
	if fmt.Sprint(f.read) != "[16]" {
		t.Errorf("chunks %v were read", f.read)
	}
}
