package browser

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"regexp"
	"testing"

	"github.com/prism-results/prism/web"
)

// The most JavaScript that a page loads at first, compressed, and the most bytes of typefaces for Latin letters beside it.
const (
	mostScript = 200 << 10
	mostType   = 100 << 10
)

var (
	scripts = regexp.MustCompile(`(?:src|href)="/(?:console|docs)/(assets/[^"]+\.js)"`)
	static  = regexp.MustCompile(`(?:from|import)\s*["']\./([^"']+\.js)["']`)
	dynamic = regexp.MustCompile(`import\(\s*["'\x60]\./([^"'\x60]+\.js)["'\x60]\s*\)`)

	sheets   = regexp.MustCompile(`href="/(?:console|docs)/(assets/[^"]+\.css)"`)
	preloads = regexp.MustCompile(`<link rel="preload"[^>]* href="/(?:console|docs)/(assets/[^"]+\.woff2)"[^>]*>`)
	faces    = regexp.MustCompile(`@font-face\s*{[^}]*}`)
	typeface = regexp.MustCompile(`url\(["']?\./([^"')]+\.woff2)["']?\)`)
	basic    = regexp.MustCompile(`(?i)U\+(0+-0*FF|\?\?)[,;}]`) // the range that has the letters of English
)

// TestTypefacesAreFewAndNeverHideText adds up the typefaces that a page of Latin letters loads. Other letters have files of their
// own, and the typeface of text is asked for beside the scripts.
// spec: docs-page, console-files
func TestTypefacesAreFewAndNeverHideText(t *testing.T) {
	t.Parallel()
	dist := web.Dist()
	for _, page := range []string{"index.html", "docs.html"} {
		document, err := fs.ReadFile(dist, page)
		if err != nil {
			t.Fatal(err)
		}
		latin, others := map[string]int{}, 0
		for _, sheet := range sheets.FindAllSubmatch(document, -1) {
			style, err := fs.ReadFile(dist, string(sheet[1]))
			if err != nil {
				t.Fatal(err)
			}
			for _, face := range faces.FindAll(style, -1) {
				file := typeface.FindSubmatch(face)
				if file == nil {
					continue // a face of this machine
				}
				name := path.Join("assets", string(file[1]))
				body, err := fs.ReadFile(dist, name)
				if err != nil || !bytes.Contains(face, []byte("font-display:swap")) || !bytes.HasPrefix(body, []byte("wOF2")) {
					t.Errorf("%s, %s: %v", face, name, err)
				}
				if basic.Match(face) {
					latin[name] = len(body)
				} else if others++; !bytes.Contains(face, []byte("unicode-range:")) {
					t.Errorf("%s is loaded for every letter", face)
				}
			}
		}
		ahead := preloads.FindSubmatch(document)
		if ahead == nil || latin[string(ahead[1])] == 0 || !bytes.Contains(ahead[0], []byte("crossorigin")) {
			t.Errorf("%s asks for no typeface ahead of its styles", page)
		}
		t.Logf("%s: %d bytes of typefaces in %d files, and %d for other letters", page, sum(latin), len(latin), others)
		if total := sum(latin); len(latin) != 2 || total > mostType {
			t.Errorf("%s has %d bytes of typefaces in %d files", page, total, len(latin))
		}
	}
}

// TestTheFirstLoadIsSmall adds up what a page needs: its script, what that imports, and one page that is loaded when it is shown.
// spec: docs-page
func TestTheFirstLoadIsSmall(t *testing.T) {
	t.Parallel()
	dist := web.Dist()
	for _, page := range []string{"index.html", "docs.html"} {
		document, err := fs.ReadFile(dist, page)
		if err != nil {
			t.Fatal(err)
		}
		first := map[string]int{}
		var lazy []string
		for _, m := range scripts.FindAllSubmatch(document, -1) {
			addScript(t, dist, string(m[1]), first, &lazy)
		}
		if len(first) == 0 {
			t.Errorf("%s loads no script", page)
		}
		total := sum(first)
		most := total
		for _, name := range lazy {
			more := map[string]int{}
			for known, size := range first {
				more[known] = size
			}
			var later []string
			addScript(t, dist, name, more, &later)
			most = max(most, sum(more))
			if n := sum(more); n > mostScript {
				t.Errorf("%s with %s is %d bytes", page, name, n)
			}
		}
		t.Logf("%s: %d bytes, %d with the largest of %d pages", page, total, most, len(lazy))
		if total > mostScript {
			t.Errorf("%s is %d bytes", page, total)
		}
	}
}

// addScript adds a script and what it imports to sizes, and what it may import later to lazy.
func addScript(t *testing.T, dist fs.FS, name string, sizes map[string]int, lazy *[]string) {
	t.Helper()
	if _, known := sizes[name]; known {
		return
	}
	source, err := fs.ReadFile(dist, name)
	if err != nil {
		t.Fatal(err)
	}
	sizes[name] = zipped(t, source)
	for _, m := range static.FindAllSubmatch(source, -1) {
		addScript(t, dist, path.Join(path.Dir(name), string(m[1])), sizes, lazy)
	}
	for _, m := range dynamic.FindAllSubmatch(source, -1) {
		*lazy = append(*lazy, path.Join(path.Dir(name), string(m[1])))
	}
}

func zipped(t *testing.T, source []byte) int {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(source); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

func sum(sizes map[string]int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}
