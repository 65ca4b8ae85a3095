package e2e

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"strings"
	"testing"
)

// workbook is an xlsx with the XML of shared texts and of a sheet. The sheet is repeated as a zip file allows at next to no cost.
func workbook(t *testing.T, texts, start, repeated string, times int) string {
	t.Helper()
	const relations = `<Relationships><Relationship Id="a" Type="x/%s" Target="%s"/>%s</Relationships>`
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"_rels/.rels":     fmt.Sprintf(relations, "officeDocument", "xl/workbook.xml", ""),
		"xl/workbook.xml": `<workbook><sheets><sheet name="s" id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": fmt.Sprintf(relations, "worksheet", "s.xml",
			`<Relationship Id="t" Type="x/sharedStrings" Target="t.xml"/>`),
		"xl/t.xml": "<sst>" + texts + "</sst>",
	} {
		part, err := z.Create(name)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	deflated := func(text string) []byte {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	sheet := append(deflated("<worksheet>"+start), bytes.Repeat(deflated(repeated), times)...)
	part, err := z.CreateRaw(&zip.FileHeader{
		Name: "xl/s.xml", Method: zip.Deflate, CompressedSize64: uint64(len(sheet)), UncompressedSize64: uint64(times * len(repeated)),
	})
	if err == nil {
		_, err = part.Write(sheet)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// completed uploads a file that waits to be read.
func (c *client) completed(t *testing.T, format, content string) file {
	t.Helper()
	const partBytes = 1 << 20
	f := c.newFile(t, format, len(content))
	for n := 0; n*partBytes < len(content); n++ {
		c.part(t, f.ID, n+1, content[n*partBytes:min(len(content), (n+1)*partBytes)]).wantStatus(t, 200)
	}
	return c.post(t, "/v1/files/"+f.ID+"/complete", "").file(t, 202)
}

// TestHostileFiles holds what files of some KiB can do to the others.
func TestHostileFiles(t *testing.T) {
	onEach(t, func(t *testing.T, shared *stack) {
		// spec: file-growth
		t.Run("a file cannot become a thousand times as large", func(t *testing.T) {
			t.Parallel()
			const header, row = `<row><c t="inlineStr"><is><t>a</t></is></c></row>`, `<row><c t="s"><v>0</v></c></row>`
			content := workbook(t, "<si><t>"+strings.Repeat("x", 1_000_000)+"</t></si>", header, row, 2000)
			f := shared.ownAccount(t).upload(t, "xlsx", content)
			want := fmt.Sprintf("The rows have more than %d bytes, the most for a file of %d bytes.", 100*len(content)+64<<20, len(content))
			if f.Status != "unusable" || *f.Error != want {
				t.Errorf("%s, %q; want %s", f.Status, *f.Error, want)
			}
		})
		// spec: file-turns
		t.Run("two accounts with slow files do not keep a third one from having a file read", func(t *testing.T) {
			t.Parallel()
			s := shared.private(t, map[string]string{"GOMEMLIMIT": "500MiB"}) // so that there are two readers
			slow := workbook(t, "", "", strings.Repeat("<row/>", 4<<20), 250) // 6 GiB of XML
			var files []file
			hostile := []*client{s.ownAccount(t), s.ownAccount(t)}
			for range 2 {
				for _, h := range hostile {
					files = append(files, h.completed(t, "xlsx", slow))
				}
			}
			if f := s.main.upload(t, "csv", "a\n1\n"); f.Status != "ready" {
				t.Errorf("got %+v", f)
			}
			for i, f := range files {
				if f = hostile[i%2].get(t, "/v1/files/"+f.ID).file(t, 200); f.Status != "reading" {
					t.Errorf("a slow file is %s", f.Status)
				}
			}
		})
	})
}
