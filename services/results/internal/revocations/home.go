// Package revocations keeps, in the home of several databases, which API keys were revoked in the others, so that a database which is
// restored to an earlier time revives none (spec: revocations).
//
//	account's database   BEGIN · UPDATE api_keys SET revoked_at ··········· COMMIT
//	home                                                 record, COMMIT
//	every minute         apply what home has behind the mark of the database, and move the mark
//
// A revocation is in home before its commit, so none is lost. What home has and the database does not, because it was restored or because the
// commit failed, is applied again.
package revocations

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// Retention is how long home keeps a revocation, unless its key ends earlier: older backups of a database may revive keys.
const Retention = 90 * 24 * time.Hour

// Home keeps revocations.
type Home struct{ sqldb.Database }

// revocation is an API key that was revoked.
type revocation struct {
	mark
	key     prism.KeyID
	at      time.Time
	expires *time.Time
}

// mark is the place of a revocation among those of its database. The id tells it from another with its number, which a home gives that was
// restored. The zero value comes before all.
type mark struct {
	seq int64
	id  prism.UUID
}

const (
	// nextNumber locks the row of the database until the commit, so that revocations of a database become visible in the order of their
	// numbers: whoever reads one has seen all with lower ones, and a mark skips none that commits late.
	nextNumber = `INSERT INTO revocation_numbers (database, seq) VALUES ($1, 1)
ON CONFLICT (database) DO UPDATE SET seq = revocation_numbers.seq + 1 RETURNING seq`
	addRevocation = `INSERT INTO revocations (database, seq, id, key_id, revoked_at, kept_until) VALUES ($1, $2, $3, $4, $5, $6)`
	// listRevocations begins with the one of the mark itself, if home has it.
	listRevocations = `SELECT seq, id, key_id, revoked_at FROM revocations WHERE database = $1 AND seq >= $2 ORDER BY seq LIMIT $3`
	// endRevocations leaves those that the database may not have yet, and the one of its mark.
	endRevocations = `DELETE FROM revocations WHERE database = $1 AND seq IN (
	SELECT seq FROM revocations WHERE database = $1 AND kept_until <= $2 AND seq < $3 ORDER BY kept_until LIMIT $4) RETURNING seq`
)

// record stores revocations in a database that has a name.
func (h Home) record(ctx context.Context, database string, revoked []revocation) error {
	return h.Transaction(ctx, "record_revocations", func(run sqldb.Run) error {
		for _, r := range revoked {
			var seq int64
			err := run(ctx, sqldb.Statement{Text: nextNumber, Args: []any{database}}, sqldb.ReadRow(&seq, (*sqldb.Row).Int))
			if err != nil {
				return err
			}
			id, err := prism.NewUUID(r.at, rand.Reader)
			if err != nil {
				return err
			}
			args := []any{database, seq, id, r.key.UUID, r.at, r.keptUntil()}
			if err := run(ctx, sqldb.Statement{Text: addRevocation, Args: args}, sqldb.NoRow); err != nil {
				return err
			}
		}
		return nil
	})
}

// keptUntil is when no database can revive the key any more.
func (r revocation) keptUntil() time.Time {
	until := r.at.Add(Retention)
	if r.expires != nil && r.expires.Before(until) {
		return *r.expires
	}
	return until
}

// behind lists the first revocations behind a mark of a database. If home has no revocation of the mark, because home was restored or the mark
// is older than what is kept, known is false, and the list begins with the first that home has.
func (h Home) behind(ctx context.Context, database string, m mark, limit int) (revoked []revocation, known bool, err error) {
	list := sqldb.Query("list_revocations", listRevocations, database, m.seq, int64(limit)+1)
	if err := h.Run(ctx, list, sqldb.ReadRows(&revoked, readRevocation)); err != nil {
		return nil, false, err
	}
	switch {
	case m == mark{}:
		return revoked, true, nil
	case len(revoked) > 0 && revoked[0].mark == m:
		return revoked[1:], true, nil
	}
	revoked, _, err = h.behind(ctx, database, mark{}, limit)
	return revoked, false, err
}

func readRevocation(r *sqldb.Row) revocation {
	return revocation{mark: mark{r.Int(), r.UUID()}, key: prism.KeyID{UUID: r.UUID()}, at: r.Time()}
}

// end deletes revocations that need not be kept and that come before the mark of the database.
func (h Home) end(ctx context.Context, database string, now time.Time, before mark, limit int) (deleted int, err error) {
	err = h.Run(ctx, sqldb.Change("end_revocations", endRevocations, database, now, before.seq, int64(limit)), sqldb.CountRows(&deleted))
	return deleted, err
}
