package comments

import (
	"context"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Each names sqldb.PartSize results at a time.
var (
	lockAssigned = `SELECT r.id FROM results r WHERE r.account_id = $1 AND r.id IN (` + sqldb.Parameters(2, sqldb.PartSize) + `) ORDER BY r.id`
	selectBefore = `SELECT a.result_id, a.member_id FROM assignments a
WHERE a.account_id = $1 AND a.result_id IN (` + sqldb.Parameters(2, sqldb.PartSize) + `)`
	assignPart = `INSERT INTO assignments (account_id, result_id, member_id)
SELECT r.account_id, r.id, $2 FROM results r WHERE r.account_id = $1 AND r.id IN (` + sqldb.Parameters(3, sqldb.PartSize) + `)
ON CONFLICT (account_id, result_id) DO UPDATE SET member_id = excluded.member_id`
	unassignPart = `DELETE FROM assignments WHERE account_id = $1 AND result_id IN (` + sqldb.Parameters(2, sqldb.PartSize) + `)`
)

// assignDetail is the detail of an audit entry.
type assignDetail struct {
	Assigned int         `json:"assigned"`
	Member   *prism.UUID `json:"member_id"`
}

// AssignMany implements Store.
func (s SQL) AssignMany(ctx context.Context, a Assigning, by store.By) (changed []Assignment, err error) {
	ids := sqldb.SortedIDs(a.Results)
	err = s.Transaction(ctx, "assign_many", func(run sqldb.Run) error {
		changed = nil
		before, err := s.lockAssigned(ctx, run, a.Account, ids)
		if err != nil {
			return err
		}
		var to prism.MemberID // zero: nobody
		detail, change, args := assignDetail{}, unassignPart, []any{a.Account.UUID}
		if a.To != nil {
			if _, err := s.lockMember(ctx, run, a.Account, *a.To); err != nil {
				return err
			}
			to, detail.Member, change, args = *a.To, &a.To.UUID, assignPart, append(args, a.To.UUID)
		}
		var changing []prism.UUID
		for _, id := range ids {
			if was := before[id]; was != to {
				changed, changing = append(changed, Assignment{prism.ResultID{UUID: id}, was}), append(changing, id)
			}
		}
		if len(changed) == 0 { // spec: audit-changes-only
			return nil
		}
		err = sqldb.EachPart(changing, func(part []any) error {
			return run(ctx, sqldb.Statement{Text: change, Args: slices.Concat(args, part)}, sqldb.NoRow)
		})
		if err != nil {
			return err
		}
		detail.Assigned = len(changed)
		return prisms.Record(ctx, run, a.Account, by, store.ResultsAssign, a.Prism, a.Slug, detail)
	})
	return changed, err
}

// lockAssigned locks results, the oldest first, and returns whom they are assigned to: *store.MatchError if not all are there.
func (s SQL) lockAssigned(
	ctx context.Context, run sqldb.Run, account prism.AccountID, ids []prism.UUID,
) (before map[prism.UUID]prism.MemberID, err error) {
	lock := sqldb.Statement{Text: lockAssigned + s.Locking(false), Args: []any{account.UUID}}
	locked, err := sqldb.ReadParts(ctx, run, lock, ids, (*sqldb.Row).UUID)
	if err != nil {
		return nil, err
	}
	if len(locked) != len(ids) { // some were deleted since they were found
		return nil, &store.MatchError{Matches: int64(len(locked))}
	}
	assigned, err := sqldb.ReadParts(ctx, run, sqldb.Statement{Text: selectBefore, Args: lock.Args}, ids, readAssignment)
	before = map[prism.UUID]prism.MemberID{}
	for _, a := range assigned {
		before[a.Result.UUID] = a.Member
	}
	return before, err
}

func readAssignment(r *sqldb.Row) Assignment {
	return Assignment{prism.ResultID{UUID: r.UUID()}, prism.MemberID{UUID: r.UUID()}}
}
