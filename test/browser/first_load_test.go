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

// The most JavaScript that a page loads at first, compressed.
const mostScript = 200 << 10

var (
	scripts = regexp.MustCompile(`(?:src|href)="/(?:console|docs)/(assets/[^"]+\.js)"`)
	static  = regexp.MustCompile(`(?:from|import)\s*["']\./([^"']+\.js)["']`)
	dynamic = regexp.MustCompile(`import\(\s*["'\x60]\./([^"'\x60]+\.js)["'\x60]\s*\)`)
)

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
