package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
)

// Data is a database with an account, a key, the prisms, and stored results of each. Systems run on copies of the
// database, so that all of them can read the same results.
type Data struct {
	stores  *Stores
	url     string
	name    string
	account string
	key     string
	columns []string   // of the table results
	ids     [][]string // of stored results, by prism
}

// Prepare fills a database through the programs in bin. Each prism gets the given number of results.
func (s *Stores) Prepare(ctx context.Context, bin, modelURL string, results int, prisms ...Prism) (*Data, error) {
	name, err := s.postgres.CreateDatabase(ctx, "")
	if err != nil {
		return nil, err
	}
	d := &Data{stores: s, url: s.postgres.URL(name), name: name}
	database := map[string]string{"PRISM_DATABASE_URL": d.url}
	if d.account, d.key, err = operate(ctx, filepath.Join(bin, "prism"), database); err != nil {
		return nil, err
	}
	writer, err := d.start(ctx, bin, d.url, modelURL)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	first := make([]string, len(prisms))
	for i, p := range prisms {
		if first[i], err = writer.define(ctx, p); err != nil {
			return nil, err
		}
	}
	writer.Close() // copying a database needs all connections closed
	list, err := SQL(ctx, d.url, `SELECT attname FROM pg_attribute
		WHERE attrelid = 'results'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`)
	if err != nil {
		return nil, err
	}
	d.columns = strings.Fields(list)
	for i, id := range first {
		if _, err := SQL(ctx, d.url, d.fill(i, id, results-1)); err != nil {
			return nil, err
		}
		d.ids = append(d.ids, storedIDs(i, results-1))
	}
	_, err = SQL(ctx, d.url, `VACUUM ANALYZE`, `CHECKPOINT`)
	return d, err
}

// define makes the prism and one result, and returns the id of the result.
func (s *System) define(ctx context.Context, p Prism) (id string, err error) {
	if _, err := s.Call(ctx, http.MethodPost, "/v1/prisms", p.Definition, http.StatusCreated); err != nil {
		return "", err
	}
	return s.Create(ctx, p)
}

// Create makes one result and returns its id.
func (s *System) Create(ctx context.Context, p Prism) (id string, err error) {
	b, err := s.Call(ctx, http.MethodPost, p.CreatePath(), p.Body(""), http.StatusOK)
	if err != nil {
		return "", err
	}
	var result struct{ ID string }
	return result.ID, json.Unmarshal(b, &result)
}

// The ids of stored results are UUIDv7: a time in milliseconds, the version, and the number of the prism.
const storedSince = 0x019000000000 // June 2024

func storedID(prism, n int) string {
	hex := fmt.Sprintf("%012x", storedSince+n)
	return fmt.Sprintf("%s-%s-7000-8000-%012d", hex[:8], hex[8:], prism)
}

// fill is the statement that stores copies of a result.
func (d *Data) fill(prism int, id string, copies int) string {
	values := slices.Clone(d.columns)
	for i, c := range values {
		switch c {
		case "id":
			values[i] = fmt.Sprintf(`(lpad(to_hex(%d + n), 12, '0') || '70008000%012d')::uuid`, storedSince, prism)
		case "created_at":
			values[i] = fmt.Sprintf(`to_timestamp((%d + n) / 1000.0)`, storedSince)
		}
	}
	return fmt.Sprintf(`INSERT INTO results (%s) SELECT %s FROM results, generate_series(1, %d) AS n WHERE id = '%s'`,
		strings.Join(d.columns, ", "), strings.Join(values, ", "), copies, id)
}

// storedIDs are the ids of copies, 100,000 at most, spread over all of them.
func storedIDs(prism, copies int) []string {
	const most = 100_000
	ids := make([]string, min(copies, most))
	for i := range ids {
		ids[i] = storedID(prism, 1+i*(copies/len(ids)))
	}
	return ids
}

// clone copies the database and returns the address of the copy.
func (d *Data) clone(ctx context.Context) (url string, err error) {
	name := fmt.Sprintf("bench_%d", d.stores.databases.Add(1))
	_, err = SQL(ctx, d.stores.postgres.URL("postgres"), fmt.Sprintf(`CREATE DATABASE %s TEMPLATE %s`, name, d.name))
	return d.stores.postgres.URL(name), err
}
