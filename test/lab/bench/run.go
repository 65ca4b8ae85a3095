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

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/bench/internal/bare"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// settings are the flags of a run.
type settings struct {
	Rows      string        `json:"rows"`
	Rounds    int           `json:"rounds"`
	Length    time.Duration `json:"length"`
	Conns     int           `json:"conns"`
	Waiting   int           `json:"waiting"`
	Export    int           `json:"export"`
	Many      int           `json:"many"`
	Few       int           `json:"few"`
	Attackers int           `json:"attackers"`
	File      int           `json:"file"`
	Stored    int           `json:"stored"`
	Labels    int           `json:"labels"`
	Events    int           `json:"events"`
	Large     int           `json:"large"`
	Bad       int           `json:"bad,omitzero"`
	Env       string        `json:"env,omitzero"`
	Systems   string        `json:"systems"`
	Calls     string        `json:"calls"`
	Prisms    string        `json:"prisms"`
	Bin       string        `json:"-"`
	Against   string        `json:"-"`
	Peer      string        `json:"-"`
	Out       string        `json:"-"`
	Page      string        `json:"-"`
	Profile   string        `json:"-"`
}

// parse reads the flags. A smoke run makes all sizes small.
func parse(args []string, out io.Writer) (settings, error) {
	var s settings
	var smoke bool
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(out)
	f.BoolVar(&smoke, "smoke", false, "run everything for a moment; the figures mean nothing")
	f.StringVar(&s.Rows, "rows", "all", "which rows: "+strings.Join(rowNames(), ",")+"; all are those but finding, gateways, webhooks, webhooks-beside and large")
	f.StringVar(&s.Systems, "systems", "all", "which systems are compared: one,three,sqlite,peer,chain; of the rows large and webhooks: three,sqlite")
	f.StringVar(&s.Calls, "calls", "all", "which calls are compared: read,create,keyed")
	f.StringVar(&s.Prisms, "prisms", "all", "which prisms are compared: small,large")
	f.IntVar(&s.Rounds, "rounds", 3, "how often everything is measured, in turn")
	f.DurationVar(&s.Length, "length", 5*time.Second, "how long one measurement takes")
	f.IntVar(&s.Conns, "conns", 32, "connections of the load generator")
	f.IntVar(&s.Waiting, "waiting", 5000, "calls that wait for the model at once")
	f.IntVar(&s.Export, "export", 1_000_000, "results that are exported")
	f.IntVar(&s.Many, "many", 10_000_000, "stored results in the large database of the row many")
	f.IntVar(&s.Few, "few", 10_000, "stored results of each prism otherwise")
	f.IntVar(&s.Attackers, "attackers", 1850, "connections of an attack, at most")
	f.IntVar(&s.File, "file", 50_000, "rows of the file that is run")
	f.IntVar(&s.Stored, "stored", 1_000_000, "stored results of the account in the rows quality, console and finding")
	f.IntVar(&s.Labels, "labels", 10_000, "labelled results that are measured")
	f.IntVar(&s.Events, "events", 10_000, "events that wait for webhooks in the row webhooks")
	f.IntVar(&s.Large, "large", 5_000_000, "rows of 1 KiB of the file of the row large")
	f.IntVar(&s.Bad, "bad", 0, "of these, bad ones: 1000 at most")
	f.StringVar(&s.Env, "env", "", "further variables of every Prism process, such as GOGC=50,PRISM_LOG_LEVEL=debug")
	f.StringVar(&s.Bin, "bin", "", "folder with the binaries of make build; built from this checkout when empty")
	f.StringVar(&s.Against, "against", "", "compare with the binaries in this folder, in interleaved rounds, and measure nothing else")
	f.StringVar(&s.Peer, "peer", "", "folder in which the packages of test/lab/bench/peer are installed (default .tools/peer)")
	f.StringVar(&s.Out, "out", "", "folder for bench.json and the pictures")
	f.StringVar(&s.Page, "page", "", "page in Markdown whose tables are replaced; needs -out")
	f.StringVar(&s.Profile, "profile", "", "folder for CPU and allocation profiles of each Prism process under load")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if smoke {
		s.Rounds, s.Length, s.Conns, s.Waiting, s.Export, s.Many, s.Few = 1, 200*time.Millisecond, 4, 20, 2000, 2000, 200
		s.Attackers, s.File, s.Large, s.Stored, s.Labels, s.Events = 20, 500, 2000, 6000, 600, 100
		if s.Rows == "all" {
			s.Rows = strings.Join(rowNames(), ",")
		}
	}
	sizes := min(s.Rounds, s.Conns, s.Waiting, s.Attackers, s.File, s.Large, s.Events/atOnce)
	if sizes < 1 || s.Stored < 100 || s.Labels < 300 || s.Few < 2 || s.Many < s.Few || s.Export < 2 {
		return s, fmt.Errorf("every size is at least 1, events at least 10, many at least few, stored at least 100, and labels at least 300")
	}
	return s, nil
}

// bench is a run.
type bench struct {
	settings
	out     io.Writer
	bin     string
	dir     string
	stores  *system.Stores
	few     *system.Data
	report  *report
	folders int // of SQLite
}

// wants tells whether a flag that lists words contains one.
func (b *bench) wants(list, word string) bool {
	return list == "all" || slices.Contains(strings.Split(list, ","), word)
}

// row measures some figures.
type row struct {
	name string
	run  func(*bench, context.Context) error
	long bool // measured only when it is named
}

func rows() []row {
	return []row{
		{name: "compare", run: (*bench).compare},
		{name: "added", run: (*bench).added},
		{name: "waiting", run: (*bench).waiting},
		{name: "export", run: (*bench).export},
		{name: "many", run: (*bench).many},
		{name: "start", run: (*bench).start},
		{name: "attacks", run: (*bench).attacks},
		{name: "runs", run: (*bench).runs},
		{name: "runs-beside", run: (*bench).besideRun},
		{name: "runs-shared", run: (*bench).sharedRuns},
		{name: "runs-places", run: (*bench).placesOfRuns},
		{name: "quality", run: (*bench).quality},
		{name: "console", run: (*bench).console},
		{name: "hosts", run: (*bench).hosts},
		{name: "databases", run: (*bench).databases},
		{name: "finding", run: (*bench).finding, long: true},
		{name: "gateways", run: (*bench).gateways, long: true},
		{name: "webhooks", run: (*bench).webhooks, long: true},
		{name: "webhooks-beside", run: (*bench).besideWebhooks, long: true},
		{name: "large", run: (*bench).large, long: true},
	}
}

func rowNames() (names []string) {
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

func scripts() (all []model.Script) {
	for _, p := range system.Prisms() {
		all = append(all, p.Script)
	}
	return all
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (err error) {
	if len(args) == 2 && args[0] == "bare" {
		return bare.Run(ctx, args[1], stdin)
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
	if err := b.build(ctx); err != nil {
		return err
	}
	if b.stores, err = system.Open(ctx); err != nil {
		return err
	}
	defer func() { _ = b.stores.Close() }() // nothing in them is kept
	if s.Env != "" {
		b.stores.Env = strings.Split(s.Env, ",")
	}
	if s.Against != "" {
		return b.against(ctx)
	}
	return b.rows(ctx)
}

// build makes the binaries and the folders.
func (b *bench) build(ctx context.Context) error {
	if b.Peer == "" {
		root, err := program.Root()
		if err != nil {
			return err
		}
		b.Peer = filepath.Join(root, ".tools", "peer")
	}
	if b.Profile != "" {
		if err := os.MkdirAll(b.Profile, 0o755); err != nil {
			return err
		}
	}
	if b.bin = b.Bin; b.bin != "" {
		return nil
	}
	var err error
	b.bin, err = system.Build(ctx, b.Profile != "")
	return err
}

func (b *bench) rows(ctx context.Context) error {
	for _, r := range rows() {
		if !b.wants(b.Rows, r.name) || r.long && b.Rows == "all" {
			continue
		}
		fmt.Fprintln(b.out, r.name)
		if err := r.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if b.Out == "" {
			continue
		}
		if err := b.report.write(b.Out, b.Page); err != nil { // after each row, because a run takes long
			return err
		}
	}
	return b.report.table(b.out)
}
