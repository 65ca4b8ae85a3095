package reading_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/reading"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// workbook is an xlsx whose rows all have one text of a megabyte.
func workbook(t *testing.T, rows int) string {
	t.Helper()
	const relation = `<Relationships><Relationship Id="a" Type="x/%s" Target="%s"/>%s</Relationships>`
	const header = `<row><c t="inlineStr"><is><t>a</t></is></c></row>`
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"_rels/.rels":     fmt.Sprintf(relation, "officeDocument", "xl/workbook.xml", ""),
		"xl/workbook.xml": `<workbook><sheets><sheet name="s" id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": fmt.Sprintf(relation, "worksheet", "s.xml",
			`<Relationship Id="t" Type="x/sharedStrings" Target="t.xml"/>`),
		"xl/t.xml": "<sst><si><t>" + strings.Repeat("x", 1_000_000) + "</t></si></sst>",
		"xl/s.xml": "<worksheet>" + header + strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, rows) + "</worksheet>",
	} {
		part, err := z.Create(name)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// contents are the names of what is kept of a file.
func (w *world) contents(t *testing.T, id prism.FileID) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.folder, w.account.String(), id.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// killed leaves a copy as a reader that is killed does.
func (w *world) killed(t *testing.T, id prism.FileID) {
	t.Helper()
	copied := blobs.NewWriter(t.Context(), w.blobs, w.owner(id), w.id())
	if _, err := copied.Write(make([]byte, 2*contract.PartBytes)); err != nil {
		t.Fatal(err)
	}
}

// ending looks at the contents before the end of each reading is stored.
type ending struct {
	reading.Store
	before func()
}

func (e ending) EndReading(ctx context.Context, l files.Lease, f files.File) error {
	e.before()
	return e.Store.EndReading(ctx, l, f)
}

// spec: file-growth, file-unusable
func TestOfAnUnusableFileNothingStaysButItsParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.format = prism.FileXLSX
	id := w.completed(t, workbook(t, 100)) // 100 MB
	w.killed(t, id)
	looked := 0
	w.worker(t, ending{w.Store, func() {
		looked++
		if got := w.contents(t, id); len(got) != 1 || !strings.HasPrefix(got[0], "part-") {
			t.Errorf("there is %v", got)
		}
	}}, w.blobs)
	w.works(t, true)
	f := w.file(t, id)
	want := fmt.Sprintf("The rows have more than %d bytes, the most for a file of %d bytes.", 100*f.Bytes+64<<20, f.Bytes)
	if f.Status != prism.FileUnusable || f.Error != want || looked != 1 {
		t.Errorf("the file is %s: %s; want %s", f.Status, f.Error, want)
	}
}

// spec: file-copies
func TestAReadyFileHasOneCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.format = prism.FileXLSX
	id := w.completed(t, workbook(t, 1))
	w.killed(t, id)
	w.works(t, true)
	f, got := w.file(t, id), w.contents(t, id)
	if f.Status != prism.FileReady || len(got) != 2 || !strings.HasPrefix(got[0], blobs.CopyOf(f.Copy.ID)) {
		t.Errorf("a file that is %s has %v", f.Status, got)
	}
}

// spec: stored-bytes
func TestAFileWhoseRowsAreMoreThanItsAccountMayStoreIsUnusable(t *testing.T) {
	t.Parallel()
	parquet, err := os.ReadFile("../tabular/testdata/pandas-pyarrow.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for format, content := range map[prism.FileFormat]string{prism.FileXLSX: workbook(t, 9), prism.FileParquet: string(parquet)} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.format = format
			most := int64(len(content) + len(csv(3)))
			if _, err := w.SetLimits(t.Context(), w.account, keys.LimitsChange{StoredBytes: &most}, storetest.By()); err != nil {
				t.Fatal(err)
			}
			id := w.completed(t, content)
			w.works(t, true)
			f, got := w.file(t, id), w.contents(t, id)
			want := fmt.Sprintf("The account may store %d bytes, and the rows are larger than what is left.", most)
			if f.Status != prism.FileUnusable || f.Error != want || len(got) != 1 {
				t.Errorf("the file is %s: %s, and has %v", f.Status, f.Error, got)
			}
			w.format = prism.FileCSV
			w.works(t, false)
			id = w.completed(t, csv(3))
			w.works(t, true)
			if f := w.file(t, id); f.Status != prism.FileReady { // it needs no copy
				t.Errorf("the file is %+v", f)
			}
		})
	}
}
