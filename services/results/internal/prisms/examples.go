package prisms

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// An example that was taken from a result is emptied in the transaction that deletes the result (spec: emptied-examples). So that the
// deletion finds the version without reading definitions, example_results has a row for each such example. A version is stored with the
// rows of its results locked, so that a deletion comes before, and the version is refused, or after, and finds the row:
//
//	store a version: share the rows of its results ──▶ lock the prism ──▶ insert the version and example_results
//	delete results:  lock the rows of the results ──▶ read example_results ──▶ lock the prism ──▶ empty the examples
//
// Both lock results before prisms, and each in the order of the ids.

const (
	selectExamples = `-- name: SharedResults :many
SELECT r.id FROM results r WHERE r.account_id = $1 AND r.id IN (`

	insertExample = `INSERT INTO example_results (account_id, result_id, prism_id, version) VALUES ($1, $2, $3, $4)`

	versionsOfExamples = `-- name: VersionsOfExamples :many
SELECT DISTINCT prism_id, version FROM example_results WHERE account_id = $1 AND result_id IN (`

	lockVersions    = `UPDATE prisms SET versions_hash = versions_hash WHERE account_id = $1 AND id = $2 RETURNING slug, versions_hash`
	replaceVersion  = `UPDATE versions SET definition = $4 WHERE account_id = $1 AND prism_id = $2 AND number = $3`
	setVersionsHash = `UPDATE prisms SET versions_hash = $3 WHERE account_id = $1 AND id = $2`
)

var (
	ofExamples     = sqldb.Parameters(2, prism.MaxExamples) + `)`
	ofDeleted      = sqldb.Parameters(2, sqldb.PartSize) + `)`
	deleteExamples = `DELETE FROM example_results WHERE account_id = $1 AND result_id IN (` + ofDeleted
)

// emptiedDetail is the detail of the entry of a version whose examples were emptied.
type emptiedDetail struct {
	Version int32 `json:"version"`
	Emptied int   `json:"emptied"`
}

// resultsOf are the results that examples were taken from, each once, in the order of their ids.
func resultsOf(examples []prism.Example) (ids []prism.UUID) {
	for _, e := range examples {
		if !e.Result.IsZero() && !slices.Contains(ids, e.Result.UUID) {
			ids = append(ids, e.Result.UUID)
		}
	}
	slices.SortFunc(ids, func(a, b prism.UUID) int { return slices.Compare(a[:], b[:]) })
	return ids
}

// MissingResults implements Store.
func (s SQL) MissingResults(ctx context.Context, account prism.AccountID, ids []prism.UUID) ([]prism.UUID, error) {
	return s.missing(ctx, account, ids, "", func(ctx context.Context, st sqldb.Statement, read sqldb.Reader) error {
		st.Operation, st.ReadOnly = "missing_results", true
		return s.Run(ctx, st, read)
	})
}

// missing are those of ids that the account has no result with. locking locks the rows of the others.
func (s SQL) missing(
	ctx context.Context, account prism.AccountID, ids []prism.UUID, locking string, run sqldb.Run,
) ([]prism.UUID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []prism.UUID
	args := append([]any{account.UUID}, sqldb.Padded(ids, prism.MaxExamples)...)
	err := run(ctx, sqldb.Statement{Text: selectExamples + ofExamples + " ORDER BY r.id" + locking, Args: args},
		sqldb.ReadRows(&found, (*sqldb.Row).UUID))
	return slices.DeleteFunc(slices.Clone(ids), func(id prism.UUID) bool { return slices.Contains(found, id) }), err
}

// shareResults keeps the results of examples from being deleted until the transaction ends: store.ErrStale if one is gone.
func (s SQL) shareResults(ctx context.Context, run sqldb.Run, account prism.AccountID, examples []prism.Example) error {
	missing, err := s.missing(ctx, account, resultsOf(examples), s.Sharing(), run)
	if err == nil && len(missing) > 0 {
		err = store.ErrStale
	}
	return err
}

func insertExamples(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, v prism.Version) error {
	for _, result := range resultsOf(v.Examples) {
		args := []any{account.UUID, result, id.UUID, v.Number}
		if err := run(ctx, sqldb.Statement{Text: insertExample, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return nil
}

type versionKey struct {
	prism   prism.UUID
	version int32
}

// EmptyExamples empties the examples that were taken from results, in the transaction that deletes these, whose rows it has locked. Each
// version that changes is an entry of the audit, and changes the hash of the versions of its prism: every cache of definitions has the hash in
// its key, so no call that begins after the transaction gets the former one.
func (s SQL) EmptyExamples(ctx context.Context, run sqldb.Run, account prism.AccountID, ids []prism.UUID, by store.By) error {
	results := make([]prism.ResultID, len(ids))
	for i, id := range ids {
		results[i] = prism.ResultID{UUID: id}
	}
	find := sqldb.Statement{Text: versionsOfExamples + ofDeleted, Args: []any{account.UUID}}
	versions, err := sqldb.ReadParts(ctx, run, find, ids, func(r *sqldb.Row) versionKey { return versionKey{r.UUID(), r.Int32()} })
	if err != nil || len(versions) == 0 {
		return err
	}
	slices.SortFunc(versions, func(a, b versionKey) int {
		return cmp.Or(slices.Compare(a.prism[:], b.prism[:]), int(a.version)-int(b.version))
	})
	for _, v := range slices.Compact(versions) {
		if err := s.emptyVersion(ctx, run, account, v, results, by); err != nil {
			return err
		}
	}
	return sqldb.EachPart(ids, func(part []any) error {
		return run(ctx, sqldb.Statement{Text: deleteExamples, Args: append([]any{account.UUID}, part...)}, sqldb.NoRow)
	})
}

func (s SQL) emptyVersion(
	ctx context.Context, run sqldb.Run, account prism.AccountID, key versionKey, results []prism.ResultID, by store.By,
) error {
	var p prism.Prism
	id := prism.PrismID{UUID: key.prism}
	args := []any{account.UUID, key.prism}
	err := run(ctx, sqldb.Statement{Text: lockVersions, Args: args}, sqldb.ReadRow(&p, func(r *sqldb.Row) prism.Prism {
		return prism.Prism{Slug: r.Text(), VersionsHash: r.Int()}
	}))
	if err != nil {
		return err
	}
	var v prism.Version
	err = run(ctx, sqldb.Statement{Text: selectVersion, Args: append(args, key.version)}, sqldb.ReadRow(&v, readVersion))
	if err != nil {
		return err
	}
	emptied := v.EmptyExamples(results)
	definition, err := sqldb.Encode(v.Definition)
	if err != nil {
		return err
	}
	if err := run(ctx, sqldb.Statement{Text: replaceVersion, Args: append(args, key.version, definition)}, sqldb.NoRow); err != nil {
		return err
	}
	hash := HashVersions(p.VersionsHash, v)
	if err := run(ctx, sqldb.Statement{Text: setVersionsHash, Args: append(args, hash)}, sqldb.NoRow); err != nil {
		return err
	}
	return Record(ctx, run, account, entryFor(by, key), store.VersionEmpty, id, p.Slug, emptiedDetail{key.version, emptied})
}

// entryFor is by with an id of its own for the entry of a version: a deletion is an entry too, and may empty examples of several versions.
func entryFor(by store.By, of versionKey) store.By {
	key := binary.BigEndian.AppendUint32(slices.Concat(by.Entry[:], of.prism[:]), uint32(of.version)) //nolint:gosec // its bits
	sum := sha256.Sum256(key)
	copy(by.Entry[8:], sum[:8]) // the time stays
	by.Entry[8] = by.Entry[8]&0x3f | 0x80
	return by
}

// noResult is the problem of an example whose result is not there.
const noResult = "Result not found"

// resultsExist checks that the results of examples are there: apierr.Invalid with the paths of those that are not.
func (s *Handlers) resultsExist(ctx context.Context, account prism.AccountID, examples []prism.Example) error {
	missing, err := s.store.MissingResults(ctx, account, resultsOf(examples))
	if err != nil || len(missing) == 0 {
		return err
	}
	var problems []apierr.Problem
	for i, e := range examples {
		if slices.Contains(missing, e.Result.UUID) {
			problems = append(problems, apierr.Problem{Path: fmt.Sprintf("examples.%d.result_id", i), Text: noResult})
		}
	}
	return apierr.Invalid(problems...)
}
