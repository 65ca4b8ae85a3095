package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/test/bench/internal/system"
)

// settings are what a run may be told.
type settings struct {
	Rows    string        `json:"rows"`
	Rounds  int           `json:"rounds"`
	Length  time.Duration `json:"length"`
	Conns   int           `json:"conns"`
	Waiting int           `json:"waiting"`
	Export  int           `json:"export"`
	Many    int           `json:"many"`
	Few     int           `json:"few"`
	Env     string        `json:"env,omitzero"`
	Out     string        `json:"-"`
	Profile string        `json:"-"`
}

// parse reads the flags; a smoke run makes all sizes small.
func parse(args []string, out io.Writer) (settings, error) {
	var s settings
	var smoke bool
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(out)
	f.BoolVar(&smoke, "smoke", false, "run everything for a moment; its figures say nothing")
	f.StringVar(&s.Rows, "rows", "all", "which rows: "+strings.Join(rowNames(), ","))
	f.IntVar(&s.Rounds, "rounds", 3, "how often each figure and its yardstick are measured, in turn")
	f.DurationVar(&s.Length, "length", 5*time.Second, "how long one measurement takes")
	f.IntVar(&s.Conns, "conns", 32, "connections of the closed loops, and clients of pgbench")
	f.IntVar(&s.Waiting, "waiting", 5000, "calls that wait for the model at once")
	f.IntVar(&s.Export, "export", 1_000_000, "results that are exported")
	f.IntVar(&s.Many, "many", 10_000_000, "stored results that reads and creates are slowed by")
	f.IntVar(&s.Few, "few", 10_000, "stored results otherwise")
	f.StringVar(&s.Env, "env", "", "further variables of every process, such as GOGC=50,PRISM_LOG_LEVEL=debug")
	f.StringVar(&s.Out, "out", "", "folder for bench.json and the plots")
	f.StringVar(&s.Profile, "profile", "", "folder for CPU and heap profiles of each process under load")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if smoke {
		s.Rounds, s.Length, s.Conns, s.Waiting, s.Export, s.Many, s.Few = 1, 200*time.Millisecond, 4, 20, 2000, 2000, 200
	}
	if s.Rounds < 1 || s.Conns < 1 || s.Waiting < 1 || s.Few < 2 || s.Many < s.Few || s.Export < 2 {
		return s, fmt.Errorf("every size is at least 1, and many at least few")
	}
	return s, nil
}

// bench is a run.
type bench struct {
	settings
	out    io.Writer
	bin    string
	dir    string
	stores system.Stores
	report *report
}

// row measures one or some lines of the table.
type row struct {
	name string
	run  func(*bench, context.Context) error
}

func rows() []row {
	return []row{
		{"read", (*bench).read},
		{"standalone", (*bench).standalone},
		{"create", (*bench).create},
		{"added", (*bench).added},
		{"waiting", (*bench).waiting},
		{"export", (*bench).export},
		{"many", (*bench).many},
		{"start", (*bench).start},
	}
}

func rowNames() (names []string) {
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (err error) {
	if len(args) > 0 && args[0] == "bare" {
		return bare(ctx, stdin, stdout)
	}
	s, err := parse(args, stdout)
	if err != nil {
		return err
	}
	b := &bench{settings: s, out: stdout, report: newReport(s)}
	if b.dir, err = os.MkdirTemp("", "prism-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.bin = filepath.Join(b.dir, "bin")
	for _, dir := range []string{b.bin, s.Profile} {
		if dir != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
	}
	if err := system.Build(ctx, b.bin, s.Profile != ""); err != nil {
		return err
	}
	if b.stores, err = system.Open(ctx); err != nil {
		return err
	}
	defer func() { _ = b.stores.Close() }() // nothing of it is kept
	if s.Env != "" {
		b.stores.Env = strings.Split(s.Env, ",")
	}
	wanted := strings.Split(s.Rows, ",")
	for _, r := range rows() {
		if s.Rows != "all" && !slices.Contains(wanted, r.name) {
			continue
		}
		fmt.Fprintln(stdout, r.name)
		if err := r.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if s.Out == "" {
			continue
		}
		if err := b.report.write(s.Out); err != nil { // each row, for a run is long
			return err
		}
	}
	return b.report.table(stdout)
}
