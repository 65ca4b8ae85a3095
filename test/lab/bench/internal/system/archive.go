package system

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Archive is what many stored results of the small prism are like.
type Archive struct {
	Results int
	// Failed is the distance between failed results: 1 if all failed, 0 if none did.
	Failed int
	// Indexed has Prism index them for searches, as after an update.
	Indexed bool
}

const (
	// archiveDays is how long ago the oldest result was saved.
	archiveDays = 28
	// ArchiveLag is how long ago the newest one was saved: drift counts results that are older than 2 minutes.
	ArchiveLag = 5 * time.Minute
	// patterns is how many results are made by calls, to be copied.
	patterns = 100

	// RareModel is the model of few results of an archive, RareRef the ref of one of them.
	RareModel, RareRef = "rare", "order-1"
)

// Archived starts Prism as one process with the offline model over a store of its own, in which an account has many results that
// were saved in the last 28 days. Without a folder the store is in Postgres. key is the id of an API key that made few of the results,
// spread over all of them, as RareModel answered few.
func (s *Stores) Archived(ctx context.Context, bin, dir string, a Archive) (system *System, key string, err error) {
	system = &System{Name: OnSQLite, stores: s}
	env := modelSettings("")
	env["PRISM_MAX_IN_FLIGHT"] = maxInFlight
	if dir == "" {
		name, err := s.postgres.CreateDatabase(ctx, "")
		if err != nil {
			return nil, "", err
		}
		system.Name, system.URL = OneProcess, s.postgres.URL(name)
		env["PRISM_DATABASE_URL"] = system.URL
	} else {
		env["PRISM_DATA_DIR"], system.file = dir, filepath.Join(dir, "prism.db")
	}
	if _, system.Key, err = operate(ctx, filepath.Join(bin, "prism"), env); err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			system.Close()
		}
	}()
	restart := func() error {
		system.Close()
		p, err := startPrism(ctx, filepath.Join(bin, "prism"), env, s.Env)
		if err == nil {
			system.Processes, system.Addr = []*Process{p}, p.Addr
		}
		return err
	}
	if err := restart(); err != nil {
		return nil, "", err
	}
	if _, err := system.Call(ctx, http.MethodPost, "/v1/prisms", Small.Definition, http.StatusCreated); err != nil {
		return nil, "", err
	}
	for n := range patterns {
		body := fmt.Sprintf(`{"fields":{"message":"My card number %d was stolen, and somebody pays with it. Please block it now."}}`, n)
		if _, err := system.Call(ctx, http.MethodPost, Small.CreatePath(), body, http.StatusOK); err != nil {
			return nil, "", err
		}
	}
	made, err := system.Call(ctx, http.MethodPost, "/v1/keys", `{"name":"rare"}`, http.StatusCreated)
	if err != nil {
		return nil, "", err
	}
	var rare struct{ ID string }
	if err := json.Unmarshal(made, &rare); err != nil {
		return nil, "", err
	}
	fill := a.fillPostgres
	if dir != "" {
		fill = a.fillSQLite
		if err := system.stop(ctx); err != nil { // the file has one writer
			return nil, "", err
		}
	}
	if err := fill(ctx, system.URL, dir, rare.ID); err != nil {
		return nil, "", err
	}
	return system, rare.ID, restart()
}

// stop ends the processes in order.
func (s *System) stop(ctx context.Context) error {
	for _, p := range s.Processes {
		if code, err := p.Stop(ctx); err != nil || code != 0 {
			return fmt.Errorf("%s stopped with %d: %w", p.Name, code, err)
		}
	}
	return nil
}

// columns are the values of a copy of the pattern r with the number n, by the column. id and at are the id and the time of the
// copy, key the id of an API key, in the language of the database.
func (a Archive) columns(names []string, id, at, key string) (values []string) {
	rare := max(a.Results/10, 2)
	failed := "false"
	if a.Failed > 0 {
		failed = fmt.Sprintf("n %% %d = 0", a.Failed)
	}
	changes := map[string]string{
		"id": id, "created_at": at, "ref": "'order-' || n",
		"status":  "CASE WHEN " + failed + " THEN 'failed' ELSE r.status END",
		"error":   "CASE WHEN " + failed + " THEN 'The model failed.' ELSE r.error END",
		"answers": "CASE WHEN " + failed + " THEN NULL ELSE r.answers END",
		"model":   fmt.Sprintf("CASE WHEN n %% %d = 1 THEN '%s' ELSE r.model END", rare, RareModel),
		"key_id":  fmt.Sprintf("CASE WHEN n %% %d = 1 THEN %s ELSE r.key_id END", rare, key),
	}
	for _, name := range names {
		value, changed := changes[name]
		if !changed {
			value = "r." + name
		}
		values = append(values, value)
	}
	return values
}

// times are when the oldest result was saved, and the time between two results, in ms.
func (a Archive) times() (from int64, step float64) {
	to := time.Now().Add(-ArchiveLag)
	first := to.AddDate(0, 0, -archiveDays)
	return first.UnixMilli(), float64(to.Sub(first).Milliseconds()) / float64(a.Results)
}

func (a Archive) fillPostgres(ctx context.Context, url, _, key string) error {
	list, err := SQL(ctx, url, `SELECT attname FROM pg_attribute
		WHERE attrelid = 'results'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`)
	if err != nil {
		return err
	}
	names := strings.Fields(list)
	from, step := a.times()
	at := fmt.Sprintf("(%d + floor(n * %f)::bigint)", from, step)
	values := a.columns(names,
		"(lpad(to_hex("+at+"), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid", "to_timestamp("+at+" / 1000.0)", "'"+key+"'::uuid")
	statements := []string{
		fmt.Sprintf(`INSERT INTO results (%s) SELECT %s FROM generate_series(1, %d) AS n
			JOIN (SELECT row_number() OVER (ORDER BY id) - 1 AS number, * FROM results) r ON r.number = n %% %d`,
			strings.Join(names, ", "), strings.Join(values, ", "), a.Results, patterns),
	}
	if a.Indexed {
		statements = append(statements, fmt.Sprintf(indexAll, "'ffffffff-ffff-ffff-ffff-ffffffffffff'"))
	}
	_, err = SQL(ctx, url, append(statements, "VACUUM ANALYZE", "CHECKPOINT")...)
	return err
}

// indexAll has Prism index results that no change tells of: those with ids below another one.
const indexAll = `INSERT INTO index_cursors (account_id, seq, old) SELECT id, 0, %s FROM accounts WHERE true
ON CONFLICT (account_id) DO UPDATE SET old = excluded.old`

// fillSQLite writes the ids as literals: the sqlite3 of some systems cannot make a blob of a text.
func (a Archive) fillSQLite(ctx context.Context, _, dir, key string) error {
	file := filepath.Join(dir, "prism.db")
	list, err := sqlite(ctx, file, "SELECT name FROM pragma_table_info('results')")
	if err != nil {
		return err
	}
	names := strings.Fields(list)
	from, step := a.times()
	ids := exec.CommandContext(ctx, "sqlite3", "-bail", file)
	in, err := ids.StdinPipe()
	if err != nil {
		return err
	}
	var failure strings.Builder
	ids.Stderr = &failure
	if err := ids.Start(); err != nil {
		return err
	}
	w := bufio.NewWriterSize(in, 1<<20)
	fmt.Fprintf(w, `PRAGMA synchronous = OFF;
CREATE TEMP TABLE patterns AS SELECT row_number() OVER (ORDER BY id) - 1 AS number, * FROM results;
CREATE UNIQUE INDEX temp.by_number ON patterns (number);
CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY, id BLOB, at INTEGER);
BEGIN;
`)
	const together = 1000
	for n := 1; n <= a.Results; n++ {
		at := from + int64(float64(n)*step)
		before := ",\n"
		if n%together == 1 {
			before = ";\nINSERT INTO copies VALUES "
		}
		fmt.Fprintf(w, "%s(%d, X'%012x70008000%012x', %d)", before, n, at, n, at)
	}
	values := a.columns(names, "c.id", "c.at", "X'"+strings.ReplaceAll(key, "-", "")+"'")
	fmt.Fprintf(w, ";\nINSERT INTO results (%s) SELECT %s FROM copies c CROSS JOIN patterns r ON r.number = c.n %% %d ORDER BY c.n;\n",
		strings.Join(names, ", "), strings.Join(values, ", "), patterns)
	if a.Indexed {
		fmt.Fprintf(w, indexAll+";\n", "X'ffffffffffffffffffffffffffffffff'")
	}
	fmt.Fprintln(w, "COMMIT;")
	if err := errors.Join(w.Flush(), in.Close(), ids.Wait()); err != nil {
		return fmt.Errorf("sqlite3: %w: %s", err, failure.String())
	}
	return nil
}

// sqlite runs a statement with sqlite3 and returns its output.
func sqlite(ctx context.Context, file, statement string) (string, error) {
	out, err := exec.CommandContext(ctx, "sqlite3", file, statement).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("sqlite3: %w: %s", err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// IndexSize is the size of the index of results, of that of the results with their own indexes. Postgres vacuums the index first, as it does
// by itself later.
func (s *System) IndexSize(ctx context.Context) (float64, error) {
	var text string
	var err error
	if s.URL != "" {
		text, err = SQL(ctx, s.URL, "VACUUM ANALYZE result_index", "SELECT pg_total_relation_size('result_index')::float / pg_total_relation_size('results')")
	} else {
		text, err = sqlite(ctx, s.file, `SELECT sum(pgsize) FILTER (WHERE name LIKE '%result_index%' OR name LIKE 'term_index%') * 1.0
			/ sum(pgsize) FILTER (WHERE name = 'results' OR name LIKE 'results_%' OR name LIKE '%autoindex_results%') FROM dbstat`)
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(text), 64)
}
