package service_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/reading"
)

// fileBody is the JSON of a file.
type fileBody struct {
	ID        prism.FileID `json:"id"`
	Name      string       `json:"name"`
	Status    string       `json:"status"`
	SHA256    *string      `json:"sha256"`
	PartBytes int64        `json:"part_bytes"`
	Parts     int32        `json:"parts"`
	Missing   []int32      `json:"missing"`
	Rows      *int64       `json:"rows"`
	Error     *string      `json:"error"`
	ExpiresAt time.Time    `json:"expires_at"`
}

// upload begins the upload of a file of csv.
func (w *world) upload(t *testing.T, n int64, digest *[32]byte) fileBody {
	t.Helper()
	return w.fileOf(t)(w.CreateFile(t.Context(), w.key, api.NewFile{
		Name: "tickets.csv", Format: prism.FileCSV, Bytes: n, SHA256: (*api.SHA256)(digest),
	}))
}

func (w *world) fileOf(t *testing.T) func(contract.Response, error) fileBody {
	return func(r contract.Response, err error) (body fileBody) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		decode(t, r, &body)
		return body
	}
}

// part is a part of content as a client cuts it.
func part(id prism.FileID, content []byte, number int32) contract.FilePart {
	from := int(number-1) * contract.PartBytes
	return contract.FilePart{File: id, Number: number, Data: content[from:min(from+contract.PartBytes, len(content))]}
}

func (w *world) put(t *testing.T, p contract.FilePart) {
	t.Helper()
	r, err := w.PutPart(t.Context(), w.key, p)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(p.Data)
	if want := fmt.Sprintf(`{"part":%d,"bytes":%d,"sha256":"%x"}`, p.Number, len(p.Data), digest); string(r.Body) != want {
		t.Errorf("got %s, want %s", r.Body, want)
	}
}

// read reads the files that wait.
func (w *world) read(t *testing.T) {
	t.Helper()
	reader := reading.New(reading.Deps{
		Store: w.store, Blobs: w.Blobs, Now: w.Now, NewID: w.NewID, By: w.By, Log: slog.New(slog.DiscardHandler),
	})
	for worked := true; worked; {
		var err error
		if worked, err = reader.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// table is a csv of so many bytes, with two columns.
func table(n int) []byte {
	const header, row, last = "id,text\r\n", "1,some text of a ticket\r\n", "9,%s\n"
	b := append([]byte(header), strings.Repeat(row, (n-len(header))/len(row)-1)...)
	return fmt.Appendf(b, last, strings.Repeat("x", n-len(b)-len("9,\n")))
}

// ready uploads a file and has it read.
func (w *world) ready(t *testing.T, content []byte) fileBody {
	t.Helper()
	f := w.upload(t, int64(len(content)), nil)
	for n := range f.Parts {
		w.put(t, part(f.ID, content, n+1))
	}
	if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
		t.Fatal(err)
	}
	w.read(t)
	return w.fileOf(t)(w.File(t.Context(), w.key, f.ID))
}

// spec: file-states, file-upload, file-members, file-complete, file-expiry
func TestAFileIsUploadedReadAndShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := []byte("id;text\n1;hello\n2;\n3;\"a \"\"b\"\"\nc\"\n")
	digest := sha256.Sum256(content)
	f := w.upload(t, int64(len(content)), &digest)
	if f.Status != "uploading" || !slices.Equal(f.Missing, []int32{1}) || f.Parts != 1 || f.PartBytes != 1<<20 ||
		*f.SHA256 != hex.EncodeToString(digest[:]) {
		t.Errorf("a new file: %+v", f)
	}
	begun := time.UnixMilli(w.clock.Load())
	if left := f.ExpiresAt.Sub(begun).Round(time.Hour); left != 24*time.Hour {
		t.Errorf("an upload expires after %s", left)
	}
	w.put(t, part(f.ID, content, 1))
	if f = w.fileOf(t)(w.File(t.Context(), w.key, f.ID)); f.Missing == nil || len(f.Missing) != 0 {
		t.Errorf("missing are %v", f.Missing)
	}
	for range 2 { // completing twice is completing once
		f = w.fileOf(t)(w.CompleteFile(t.Context(), w.key, f.ID))
		if f.Status != "reading" || f.Missing != nil || f.Rows != nil {
			t.Errorf("completed: %+v", f)
		}
	}
	if left := f.ExpiresAt.Sub(begun).Round(time.Hour); left != 30*24*time.Hour {
		t.Errorf("a file expires after %s", left)
	}
	w.read(t)
	shown, err := w.File(t.Context(), w.key, f.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := string(shown.Body)
	for _, want := range []string{
		`"name":"tickets.csv","format":"csv","bytes":33,"sha256":"`, `"status":"ready","part_bytes":1048576,"parts":1,"missing":null,"rows":3,` +
			`"columns":[{"name":"id","filled":3,"longest":1},{"name":"text","filled":2,"longest":7}],"delimiter":";",` +
			`"encoding":"utf-8","encoding_sure":true,"header_row":1,"proposed_header_row":null,"sheet":null,"bad_rows":0,"notes":[],"error":null,"created_at":"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %s", got, want)
		}
	}
	listed, err := w.ListFiles(t.Context(), w.key, contract.Page{Limit: 9})
	if err != nil || string(listed.Body) != `{"data":[`+got+`],"next_cursor":null}` {
		t.Errorf("the list is %s, %v", listed.Body, err)
	}
	if again := w.fileOf(t)(w.CompleteFile(t.Context(), w.key, f.ID)); again.Status != "ready" {
		t.Errorf("a ready file that is completed is %s", again.Status)
	}
}

// spec: file-states, file-preview
func TestAFileThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.ready(t, []byte("id,\x00\n1,a\n"))
	const want = "Line 1: the name of column 2 has a NUL character. Remove it, and save the file as UTF-8."
	if f.Status != "unusable" || f.Error == nil || *f.Error != want || f.Rows != nil {
		t.Errorf("%+v", f)
	}
	_, err := w.FileRows(t.Context(), w.key, f.ID, 0, 9)
	if !errors.Is(err, apierr.FileNotReady()) {
		t.Errorf("its rows: %v", err)
	}
}

// spec: file-read-again, file-bad-rows
func TestAFileIsReadInAnotherWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	f := w.ready(t, []byte("Report Q3,,\ntext,ref,note\na,b,c\nd\n"))
	again := func(o api.FileOptions) fileBody {
		t.Helper()
		if f := w.fileOf(t)(w.ReadFileAgain(t.Context(), w.key, f.ID, o)); f.Status != "reading" || f.Rows != nil {
			t.Errorf("it is %+v", f)
		}
		w.read(t)
		return w.fileOf(t)(w.File(t.Context(), w.key, f.ID))
	}
	if got := again(api.FileOptions{HeaderRow: 2, OnBadRow: prism.RefuseBadRow}); got.Status != "unusable" || *got.Error != "Line 4: 1 cell, but the header has 3." {
		t.Errorf("it is %+v", got)
	}
	if got := again(api.FileOptions{HeaderRow: 2}); got.Status != "ready" || *got.Rows != 2 {
		t.Errorf("it is %+v", got)
	}
	want := apierr.Invalid(apierr.Problem{Path: "sheet", Text: "Not an option of csv"})
	if _, err := w.ReadFileAgain(t.Context(), w.key, f.ID, api.FileOptions{Sheet: "1"}); !errors.Is(err, want) {
		t.Errorf("a sheet of csv: %v", err)
	}
	n := newRun(f.ID)
	if _, err := w.CreateRun(t.Context(), w.key, prism.Ref{Slug: "a"}, n); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ReadFileAgain(t.Context(), w.key, f.ID, api.FileOptions{}); !errors.Is(err, apierr.FileUsed()) {
		t.Errorf("while a run has it: %v", err)
	}
	rows := w.leased(t).Rows
	if len(rows) != 2 || rows[0].Invalid != "" || rows[1].Invalid != "Line 4: 1 cell, but the header has 3." || rows[1].Ref != nil {
		t.Errorf("the rows are %+v", rows)
	}
	planned, err := w.PlanRows(t.Context(), w.key, contract.PlanRows{Prism: prism.Ref{Slug: "a"}, Run: n})
	if err != nil || planned[1].Invalid != rows[1].Invalid {
		t.Errorf("planned: %+v, %v", planned, err)
	}
}

// spec: file-parts
func TestAPartHasItsNumberItsLengthAndOneContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := table(contract.PartBytes + 10)
	f := w.upload(t, int64(len(content)), nil)
	for _, c := range []struct {
		number int32
		bytes  int
		want   error
	}{
		{0, 1, apierr.Invalid(apierr.Problem{Path: "n", Text: "Number must be greater than or equal to 1"})},
		{3, 1, apierr.Invalid(apierr.Problem{Path: "n", Text: "Number must be less than or equal to 2"})},
		{1, contract.PartBytes - 1, apierr.Invalid(apierr.Problem{Path: "body", Text: "Part 1 must have 1048576 byte(s)"})},
		{2, 11, apierr.Invalid(apierr.Problem{Path: "body", Text: "Part 2 must have 10 byte(s)"})},
		{2, 0, apierr.Invalid(apierr.Problem{Path: "body", Text: "Part 2 must have 10 byte(s)"})},
	} {
		_, err := w.PutPart(t.Context(), w.key, contract.FilePart{File: f.ID, Number: c.number, Data: make([]byte, c.bytes)})
		if !errors.Is(err, c.want) {
			t.Errorf("part %d with %d bytes: got %v, want %v", c.number, c.bytes, err, c.want)
		}
	}
	w.put(t, part(f.ID, content, 2))
	w.put(t, part(f.ID, content, 2))
	other := part(f.ID, content, 2)
	other.Data = []byte("0123456789")
	conflicts := func() {
		t.Helper()
		if _, err := w.PutPart(t.Context(), w.key, other); !errors.Is(err, apierr.PartConflict(2)) {
			t.Errorf("another content: %v", err)
		}
	}
	conflicts()
	w.put(t, part(f.ID, content, 1))
	if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
		t.Fatal(err)
	}
	w.put(t, part(f.ID, content, 2)) // the response of the first was lost
	conflicts()
	w.read(t)
	if f = w.fileOf(t)(w.File(t.Context(), w.key, f.ID)); f.Status != "ready" {
		t.Errorf("the file is %+v", f)
	}
}

// spec: file-parts
func TestOfRacingContentsOfAPartTheOneThatIsConfirmedIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		f := w.upload(t, 8, nil)
		contents := []string{"h\naaaaa\n", "h\nbbbbb\n", "h\nccccc\n"}
		errs := make([]error, len(contents))
		var group sync.WaitGroup
		for i, content := range contents {
			group.Go(func() {
				_, errs[i] = w.PutPart(t.Context(), w.key, contract.FilePart{File: f.ID, Number: 1, Data: []byte(content)})
			})
		}
		group.Wait()
		won := slices.Index(errs, nil)
		for i, err := range errs {
			if i != won && !errors.Is(err, apierr.PartConflict(1)) {
				t.Fatalf("a loser: %v", err)
			}
		}
		if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
			t.Fatal(err)
		}
		w.read(t)
		rows, err := w.FileRows(t.Context(), w.key, f.ID, 0, 9)
		if want := `{"data":[{"h":"` + contents[won][2:7] + `"}]}`; err != nil || string(rows.Body) != want {
			t.Errorf("got %s, %v; want %s", rows.Body, err, want)
		}
	}
}

// spec: file-complete
func TestAFileIsCompletedOnlyWithAllPartsAndItsDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := table(9*contract.PartBytes - 5)
	digest := sha256.Sum256(content)
	wrong := digest
	wrong[31]++
	for name, c := range map[string]struct {
		digest *[32]byte
		order  func(numbers []int32)
		want   error
	}{
		"in order":                    {&digest, func([]int32) {}, nil},
		"backwards":                   {&digest, slices.Reverse[[]int32], nil},
		"several at a time":           {&digest, func(n []int32) { slices.Reverse(n[:4]); slices.Reverse(n[4:8]) }, nil},
		"another digest":              {&wrong, func([]int32) {}, apierr.FileDiffers()},
		"another digest of backwards": {&wrong, slices.Reverse[[]int32], apierr.FileDiffers()},
		"no digest":                   {nil, slices.Reverse[[]int32], nil},
	} {
		f := w.upload(t, int64(len(content)), c.digest)
		var numbers []int32
		for n := range f.Parts {
			numbers = append(numbers, n+1)
		}
		c.order(numbers)
		for i, n := range numbers {
			if i == 3 {
				missing := slices.Sorted(slices.Values(numbers[3:]))
				_, err := w.CompleteFile(t.Context(), w.key, f.ID)
				if want := apierr.PartsMissing(missing, len(missing)); !errors.Is(err, want) {
					t.Fatalf("%s: %v, want %v", name, err, want)
				}
			}
			w.put(t, part(f.ID, content, n))
		}
		_, err := w.CompleteFile(t.Context(), w.key, f.ID)
		for errors.Is(err, contract.ErrUnavailable) { // on a slow machine
			_, err = w.CompleteFile(t.Context(), w.key, f.ID)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		want := "reading"
		if c.want != nil {
			want = "uploading"
		}
		if f = w.fileOf(t)(w.File(t.Context(), w.key, f.ID)); f.Status != want {
			t.Errorf("%s: the file is %s", name, f.Status)
		}
	}
}

// An upload that is cut at any byte goes on with the parts that are missing.
// spec: file-upload
func TestAnUploadThatWasCutAtAnyByteGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := table(contract.PartBytes + 60)
	digest := sha256.Sum256(content)
	// Bytes of the first part, and every byte from its end on.
	cuts := []int{0, 1, 700_000, contract.PartBytes - 1}
	for cut := contract.PartBytes; cut <= len(content); cut++ {
		cuts = append(cuts, cut)
	}
	for _, cut := range cuts {
		f := w.upload(t, int64(len(content)), &digest)
		for n := int32(1); int(n)*contract.PartBytes <= cut || cut == len(content) && n <= f.Parts; n++ {
			w.put(t, part(f.ID, content, n))
		}
		if rest := cut % contract.PartBytes; rest > 0 && cut < len(content) { // the part under way arrives in part, or not at all
			half := contract.FilePart{File: f.ID, Number: int32(cut/contract.PartBytes) + 1, Data: content[cut-rest : cut]}
			if _, err := w.PutPart(t.Context(), w.key, half); err == nil {
				t.Fatalf("cut at %d: half of a part was taken", cut)
			}
		}
		f = w.fileOf(t)(w.File(t.Context(), w.key, f.ID))
		if whole := min(int32(cut/contract.PartBytes), f.Parts); cut < len(content) && len(f.Missing) != int(f.Parts-whole) {
			t.Errorf("cut at %d: missing are %v", cut, f.Missing)
		}
		for _, n := range f.Missing {
			w.put(t, part(f.ID, content, n))
		}
		if _, err := w.CompleteFile(t.Context(), w.key, f.ID); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if _, err := w.DeleteFile(t.Context(), w.key, f.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// spec: file-upload
func TestTheFirstThousandMissingPartsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.upload(t, prism.MaxFileBytes, nil)
	if f.Parts != 5120 || len(f.Missing) != 1000 || f.Missing[999] != 1000 {
		t.Errorf("%d parts, %d missing", f.Parts, len(f.Missing))
	}
	_, err := w.CompleteFile(t.Context(), w.key, f.ID)
	if err == nil || !strings.HasSuffix(err.Error(), "Parts are missing: 1, 2 and 5118 more.") {
		t.Errorf("got %v", err)
	}
}

// spec: file-delete, file-states
func TestADeletedFileIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := w.ready(t, []byte("a\n1\n"))
	if r, err := w.DeleteFile(t.Context(), w.key, f.ID); err != nil || len(r.Body) > 0 {
		t.Fatal(r, err)
	}
	ctx := t.Context()
	for name, err := range map[string]error{
		"get":      second(w.File(ctx, w.key, f.ID)),
		"rows":     second(w.FileRows(ctx, w.key, f.ID, 0, 1)),
		"part":     second(w.PutPart(ctx, w.key, contract.FilePart{File: f.ID, Number: 1, Data: []byte("a\n1\n")})),
		"complete": second(w.CompleteFile(ctx, w.key, f.ID)),
		"delete":   second(w.DeleteFile(ctx, w.key, f.ID)),
	} {
		if !errors.Is(err, apierr.FileNotFound()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
