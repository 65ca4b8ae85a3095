package filerun

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/internal/upstream"
)

// reported is what is reported of a finished run of three rows whose results have these refs.
func reported(refs ...string) *Report {
	r := &Report{Status: client.RunFinished, Rows: 3, OK: 2, Failed: 1}
	rows := newRows(3)
	for _, ref := range refs {
		rows.see(ref, r)
	}
	return r
}

func TestAReportFindsEveryKindOfWrong(t *testing.T) {
	t.Parallel()
	if err := reported("1", "2", "3").Right(3); err != nil {
		t.Error(err)
	}
	change := func(by func(*Report)) *Report {
		r := reported("1", "2", "3")
		by(r)
		return r
	}
	for want, r := range map[string]*Report{
		"has 2 results":                          reported("1", "3"),
		"has 4 results":                          reported("1", "2", "2", "3"),
		"1 results are of a row that had one":    reported("1", "2", "2"),
		"1 of no row":                            reported("1", "2", "4"),
		"1 of no row, 0 out of order":            reported("1", "2", ""),
		"0 of no row, 1 out of order":            reported("2", "1", "3"),
		"the run is paused":                      change(func(r *Report) { r.Status = client.RunPaused }),
		"2 rows are ok and 0 failed":             change(func(r *Report) { r.Failed = 0 }),
		"0 rows are invalid, 0 cancelled, 1 pen": change(func(r *Report) { r.Pending = 1 }),
		"the run has 2 rows":                     change(func(r *Report) { r.Rows = 2 }),
	} {
		if err := r.Right(3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestTheFileTellsTheModelWhatToDoWithEachRow(t *testing.T) {
	t.Parallel()
	got := string(Config{Rows: 2, Tag: upstream.Tag{FailPercent: 7}}.file())
	want := "number,text\r\n1,race 1 fail 7 slow 0 flaky 0\r\n2,race 2 fail 7 slow 0 flaky 0\r\n"
	if got != want {
		t.Errorf("got %q", got)
	}
}
