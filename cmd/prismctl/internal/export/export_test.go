package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
)

// result is a row that the fake Prism has.
type result struct {
	id   string
	at   time.Time
	text string
}

// prism is a fake Prism with one prism, which cuts the connections of exports.
type prism struct {
	mu      sync.Mutex
	rows    []result
	version int
	// cuts are how many bytes each export gets before its connection is lost; behind the last, all.
	cuts []int
	// cutAt loses the connection of each longer export behind so many bytes; 0 loses none.
	cutAt int
	// busy are the seconds of Retry-After with which each export is refused; behind the last, none is.
	busy []int
	// between is called before each export but the first.
	between func(*prism)
	exports int
	froms   []time.Time
}

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func (p *prism) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !strings.HasSuffix(r.URL.Path, "/results") {
		_ = json.NewEncoder(w).Encode(client.Prism{ID: "1", Slug: "a", LatestVersion: p.version})
		return
	}
	w.Header().Set("Content-Type", map[string]string{"csv": "text/csv", "tsv": "text/tab-separated-values", "jsonl": "application/jsonl"}[r.URL.Query().Get("format")])
	if p.exports++; p.exports > 1 && p.between != nil {
		p.between(p)
	}
	if len(p.busy) > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(p.busy[0]))
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`)
		p.busy = p.busy[1:]
		return
	}
	q := r.URL.Query()
	from, _ := time.Parse(time.RFC3339Nano, q.Get("from"))
	p.froms = append(p.froms, from)
	body := p.exportAfter(client.Format(q.Get("format")), from, q.Get("after"))
	if p.cutAt != 0 && len(body) > p.cutAt {
		p.cuts = []int{p.cutAt}
	}
	if len(p.cuts) == 0 {
		_, _ = io.WriteString(w, body)
		return
	}
	cut := p.cuts[0]
	p.cuts = p.cuts[1:]
	_, _ = io.WriteString(w, body[:min(cut, len(body))])
	_ = http.NewResponseController(w).Flush()
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func (p *prism) export(f client.Format, from time.Time) string { return p.exportAfter(f, from, "") }

// exportAfter is an export in the order of the ids (spec: export).
func (p *prism) exportAfter(f client.Format, from time.Time, after string) string {
	sorted := slices.Clone(p.rows)
	slices.SortFunc(sorted, func(a, b result) int { return strings.Compare(a.id, b.id) })
	var b strings.Builder
	separator, end := map[client.Format]string{client.CSV: ",", client.TSV: "\t"}[f], map[client.Format]string{client.CSV: "\r\n", client.TSV: "\n"}[f]
	if f != client.JSONL {
		b.WriteString(strings.Join([]string{"result_id", "ref", "version", "status", "error", "created_at", "text"}, separator) + end)
	}
	for _, r := range sorted {
		if r.at.Before(from) || r.id <= after {
			continue
		}
		at := r.at.Format("2006-01-02T15:04:05.000Z")
		switch f {
		case client.JSONL:
			fmt.Fprintf(&b, "{\"result_id\":%q,\"created_at\":%q,\"text\":%q}\n", r.id, at, r.text)
		case client.TSV:
			b.WriteString(strings.Join([]string{r.id, "", "1", "ok", "", at, strings.NewReplacer("\n", " ", "\r", " ").Replace(r.text)}, separator) + end)
		default:
			text := r.text
			if strings.ContainsAny(text, "\",\r\n") {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			b.WriteString(strings.Join([]string{r.id, "", "1", "ok", "", at, text}, separator) + end)
		}
	}
	return b.String()
}

// some are rows of which several share a millisecond, with every text that could be taken for a row's end.
func some() []result {
	return []result{
		{"b", start, "plain"},
		{"a", start, "two\r\nlines"},
		{"c", start, `a "quoted" word`},
		{"d", start.Add(time.Millisecond), "\r\n\r\n\"\r\n"},
		{"f", start.Add(time.Hour), ""},
		{"e", start.Add(time.Hour), `"`},
		{"g", start.Add(time.Hour), "é,\n"},
	}
}

func (p *prism) start(t *testing.T, f client.Format) Export {
	t.Helper()
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	c, err := client.New(client.Config{URL: s.URL, Key: "k", Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Export{
		Client: c, Prism: "a", Options: client.Export{Format: f}, Retries: 3,
		Pause: func(ctx context.Context, _ int, _ time.Duration) bool { return ctx.Err() == nil },
	}
}

func formats(t *testing.T, run func(t *testing.T, f client.Format)) {
	t.Helper()
	for _, f := range []client.Format{client.CSV, client.TSV, client.JSONL} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			run(t, f)
		})
	}
}

// TestACutAtAnyByteLosesAndDoublesNothing cuts the connection after each byte of the export, and the next connection too.
func TestACutAtAnyByteLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	formats(t, func(t *testing.T, f client.Format) {
		p := &prism{rows: some()}
		e := p.start(t, f)
		whole := p.export(f, time.Time{})
		for cut := range len(whole) {
			p.cuts, p.exports = []int{cut, cut / 2}, 0
			var got bytes.Buffer
			done, err := e.To(t.Context(), &got)
			if err != nil || got.String() != whole || len(p.cuts) != 0 || p.exports > 5 || done.Rows != 7 || done.Bytes != int64(len(whole)) {
				t.Fatalf("cut behind %d: %d exports, %+v, %v; got\n%s", cut, p.exports, done, err, got.String())
			}
		}
	})
}

// TestAnUnfinishedFileIsContinued stops after each byte, as a killed process does, and starts again.
func TestAnUnfinishedFileIsContinued(t *testing.T) {
	t.Parallel()
	formats(t, func(t *testing.T, f client.Format) {
		p := &prism{rows: some()}
		e := p.start(t, f)
		e.Retries = 0
		whole := p.export(f, time.Time{})
		dir := t.TempDir()
		for cut := range len(whole) {
			name := filepath.Join(dir, fmt.Sprint("out", cut))
			p.cuts = []int{cut}
			var lost *client.ConnectionError
			if _, err := e.ToFile(t.Context(), "h", name, false); !errors.As(err, &lost) {
				t.Fatalf("cut behind %d: %v", cut, err)
			}
			if _, err := os.Stat(name); err == nil {
				t.Fatal("a part has the name of the whole")
			}
			// Half a row, as a crash leaves it.
			appendTo(t, name+".part", `x,"half`+strings.Repeat("x", len(whole)))
			done, err := e.ToFile(t.Context(), "h", name, false)
			if err != nil || done.Rows != 7 {
				t.Fatalf("cut behind %d: %+v, %v", cut, done, err)
			}
			if got := read(t, name); got != whole {
				t.Fatalf("cut behind %d: got\n%s", cut, got)
			}
		}
		left, err := filepath.Glob(filepath.Join(dir, "*.part*"))
		if err != nil || left != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRowsThatAppearLateAreNotLost saves results after the connection was lost: in the millisecond of the last row with a
// smaller id, and with an earlier created_at, as a slower replica does.
func TestRowsThatAppearLateAreNotLost(t *testing.T) {
	t.Parallel()
	formats(t, func(t *testing.T, f client.Format) {
		p := &prism{rows: some()}
		p.cuts = []int{len(p.export(f, time.Time{})), 0} // the second connection carries nothing
		late := []result{{"0", start.Add(time.Hour), "same millisecond"}, {"1", start.Add(time.Hour - 5*time.Second), "earlier"}, {"z", start.Add(2 * time.Hour), "later"}}
		p.between = func(p *prism) { p.rows, p.between = append(p.rows, late...), nil }
		e := p.start(t, f)
		var got bytes.Buffer
		if _, err := e.To(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		r := bufio.NewReader(&got)
		for row, err := next(r, client.Export{Format: f}); err == nil; row, err = next(r, client.Export{Format: f}) {
			if id, _, err := key(row, client.Export{Format: f}); err == nil {
				seen[id]++
			}
		}
		for _, one := range p.rows {
			if seen[one.id] != 1 {
				t.Errorf("row %s is there %d times", one.id, seen[one.id])
			}
		}
		if want := []time.Time{{}, start.Add(time.Hour - overlap), start.Add(time.Hour - overlap)}; !slices.EqualFunc(p.froms, want, time.Time.Equal) {
			t.Errorf("the requests began at %s, want %s", p.froms, want)
		}
	})
}

func TestColumnsThatChange(t *testing.T) {
	t.Parallel()
	t.Run("end an export that was cut", func(t *testing.T) {
		t.Parallel()
		p := &prism{rows: some(), cuts: []int{200}}
		e := p.start(t, client.JSONL)
		e.Pause = func(context.Context, int, time.Duration) bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.version++
			return true
		}
		if _, err := e.To(t.Context(), io.Discard); !errors.Is(err, ErrColumnsChanged) {
			t.Error(err)
		}
	})
	t.Run("end one that goes on with a file, until it begins anew", func(t *testing.T) {
		t.Parallel()
		p := &prism{rows: some(), cuts: []int{200}}
		e := p.start(t, client.CSV)
		e.Retries = 0
		name := filepath.Join(t.TempDir(), "out.csv")
		if _, err := e.ToFile(t.Context(), "h", name, false); err == nil {
			t.Fatal("it was not cut")
		}
		p.version++
		if _, err := e.ToFile(t.Context(), "h", name, false); !errors.Is(err, ErrColumnsChanged) {
			t.Fatal(err)
		}
		if _, err := e.ToFile(t.Context(), "h", name, true); err != nil {
			t.Fatal(err)
		}
		if got := read(t, name); got != p.export(client.CSV, time.Time{}) {
			t.Errorf("got\n%s", got)
		}
	})
}

func TestAPartOfAnotherExportIsNotContinued(t *testing.T) {
	t.Parallel()
	p := &prism{rows: some(), cuts: []int{100}}
	e := p.start(t, client.CSV)
	e.Retries = 0
	dir := t.TempDir()
	name := filepath.Join(dir, "out.csv")
	if _, err := e.ToFile(t.Context(), "h", name, false); err == nil {
		t.Fatal("it was not cut")
	}
	other := map[string]func() (Progress, error){
		"another host": func() (Progress, error) { return e.ToFile(t.Context(), "other", name, false) },
		"another status": func() (Progress, error) {
			e := e
			e.Options.Status = client.Failed
			return e.ToFile(t.Context(), "h", name, false)
		},
		"a bound": func() (Progress, error) {
			e := e
			e.Options.From = start
			return e.ToFile(t.Context(), "h", name, false)
		},
		"a file that is no part": func() (Progress, error) {
			stranger := filepath.Join(dir, "stranger.csv")
			if err := os.WriteFile(part(stranger), []byte("mine"), 0o600); err != nil {
				return Progress{}, err
			}
			return e.ToFile(t.Context(), "h", stranger, false)
		},
	}
	for what, call := range other {
		var refused *OtherExportError
		if _, err := call(); !errors.As(err, &refused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := e.ToFile(t.Context(), "h", name, false); err != nil {
		t.Error(err)
	}
}

func TestAnExportGivesUpWhenNothingComes(t *testing.T) {
	t.Parallel()
	p := &prism{rows: some(), cuts: slices.Repeat([]int{0}, 20)}
	e := p.start(t, client.CSV)
	if _, err := e.To(t.Context(), io.Discard); err == nil || p.exports != 4 {
		t.Errorf("%d exports: %v", p.exports, err)
	}
}

// TestAProxyThatCutsEachConnectionIsNoStall exports more rows of one minute than a connection carries, and rows of many
// minutes.
func TestAProxyThatCutsEachConnectionIsNoStall(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"one minute": 10 * time.Millisecond, "many minutes": 10 * time.Second} {
		for _, f := range []client.Format{client.CSV, client.TSV, client.JSONL} {
			t.Run(name+", "+string(f), func(t *testing.T) {
				t.Parallel()
				p := &prism{}
				for i := range 203 {
					p.rows = append(p.rows, result{fmt.Sprintf("%036d", i), start.Add(time.Duration(i) * apart), "some \"text\"\r\n"})
				}
				e := p.start(t, f)
				whole := p.export(f, time.Time{})
				p.cutAt = len(whole) / 8
				var got bytes.Buffer
				if _, err := e.To(t.Context(), &got); err != nil || got.String() != whole || p.exports > 40 {
					t.Errorf("%d exports, %v, %d of %d bytes", p.exports, err, got.Len(), len(whole))
				}
			})
		}
	}
}

func TestAnExportForgetsWhatIsFarBehindAndNothingElse(t *testing.T) {
	t.Parallel()
	s := sink{Export: Export{Options: client.Export{Format: client.TSV}}}
	for i := range 1000 {
		at := start.Add(time.Duration(i) * time.Second)
		if isNew, err := s.add(fmt.Appendf(nil, "%d\t\t\t\t\t%s\n", i, at.Format(time.RFC3339))); !isNew || err != nil {
			t.Fatalf("a new row was known, or %v", err)
		}
		if len(s.recent)+len(s.earlier) > 200 || s.done.Rows != int64(i+1) {
			t.Fatalf("it remembers %d of %d rows", len(s.recent)+len(s.earlier), s.done.Rows)
		}
		for j := i; j >= 0 && !start.Add(time.Duration(j)*time.Second).Before(s.last.Add(-overlap)); j-- {
			if id := fmt.Sprint(j); !s.recent[id] && !s.earlier[id] {
				t.Fatalf("behind row %d row %d was forgotten", i, j)
			}
		}
	}
}
