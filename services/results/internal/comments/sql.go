package comments

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database. What is added to a result locks the result first: triggers on results delete it with its result.
type SQL struct{ sqldb.Database }

const (
	selectResult = `SELECT r.id FROM results r WHERE r.account_id = $1 AND r.id = $2`

	countComments = `-- name: CountComments :one
SELECT count(*) FROM (SELECT 1 FROM comments WHERE account_id = $1 AND result_id = $2 LIMIT $3) AS counted`
	insertComment = `INSERT INTO comments (account_id, result_id, id, author_kind, author_id, text, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	commentName   = `coalesce((SELECT k.name FROM api_keys k WHERE k.id = c.author_id),
	(SELECT m.name FROM members m WHERE m.account_id = c.account_id AND m.id = c.author_id), '')`
	selectName   = `SELECT ` + commentName + ` FROM comments c WHERE c.account_id = $1 AND c.result_id = $2 AND c.id = $3`
	listComments = `-- name: ListComments :many
SELECT c.id, c.author_kind, c.author_id, ` + commentName + `, c.text, c.created_at
FROM comments c WHERE c.account_id = $1 AND c.result_id = $2 AND c.id < $3 ORDER BY c.id DESC LIMIT $4`
	selectAuthor  = `SELECT c.author_id FROM comments c WHERE c.account_id = $1 AND c.result_id = $2 AND c.id = $3`
	deleteComment = `DELETE FROM comments WHERE account_id = $1 AND result_id = $2 AND id = $3 RETURNING id`

	selectMember  = `SELECT name FROM members WHERE account_id = $1 AND id = $2 AND removed_at IS NULL AND claim_name IS NULL`
	listAssignees = `-- name: ListAssignees :many
SELECT id, name FROM members
WHERE account_id = $1 AND id < $2 AND removed_at IS NULL AND claim_name IS NULL ORDER BY id DESC LIMIT $3`
	assign = `INSERT INTO assignments (account_id, result_id, member_id) VALUES ($1, $2, $3)
ON CONFLICT (account_id, result_id) DO UPDATE SET member_id = excluded.member_id`
	unassign       = `DELETE FROM assignments WHERE account_id = $1 AND result_id = $2`
	selectAssignee = `SELECT a.member_id, coalesce(m.name, '') FROM results r
LEFT JOIN assignments a ON a.account_id = r.account_id AND a.result_id = r.id
LEFT JOIN members m ON m.account_id = a.account_id AND m.id = a.member_id
WHERE r.account_id = $1 AND r.id = $2`
)

// fullWait is when a comment of a full account may be sent again (spec: full-account).
const fullWait = time.Minute

// change calls fn in a transaction that holds the lock of the result.
func (s SQL) change(
	ctx context.Context, operation string, account prism.AccountID, of prism.ResultID, fn func(run sqldb.Run, args []any) error,
) error {
	return s.Transaction(ctx, operation, func(run sqldb.Run) error {
		args := []any{account.UUID, of.UUID}
		if err := run(ctx, sqldb.Statement{Text: selectResult + s.Locking(false), Args: args}, sqldb.SomeRow); err != nil {
			return err
		}
		return fn(run, args)
	})
}

// CreateComment implements Store.
func (s SQL) CreateComment(ctx context.Context, account prism.AccountID, of prism.ResultID, c Comment, limit int64) (Comment, error) {
	err := s.change(ctx, "create_comment", account, of, func(run sqldb.Run, args []any) error {
		var stored store.Storage
		if err := run(ctx, sqldb.Statement{Text: keys.SelectStorage, Args: args[:1]}, sqldb.ReadRow(&stored, keys.ReadStorage)); err != nil {
			return err
		}
		if stored.Bytes >= stored.Limit {
			return &store.WaitError{Wait: fullWait}
		}
		var found int64
		count := sqldb.Statement{Text: countComments, Args: append(args[:2:2], limit)}
		if err := run(ctx, count, sqldb.ReadRow(&found, (*sqldb.Row).Int)); err != nil {
			return err
		}
		if found == limit {
			return store.ErrTooManyComments
		}
		args = append(args[:2:2], c.ID.UUID)
		insert := slices.Concat(args, []any{string(c.Author.Kind), c.Author.Key.UUID, c.Text, c.CreatedAt})
		if err := run(ctx, sqldb.Statement{Text: insertComment, Args: insert}, sqldb.NoRow); err != nil {
			return err
		}
		return run(ctx, sqldb.Statement{Text: selectName, Args: args}, sqldb.ReadRow(&c.Author.Name, (*sqldb.Row).Text))
	})
	return c, err
}

// ListComments implements Store.
func (s SQL) ListComments(
	ctx context.Context, account prism.AccountID, of prism.ResultID, page store.Page,
) (comments []Comment, more bool, err error) {
	args := []any{account.UUID, of.UUID, page.Before(), int64(page.Limit) + 1}
	comments, more, err = sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_comments", listComments, args...), page.Limit, readComment)
	if err == nil && len(comments) == 0 {
		err = s.Run(ctx, sqldb.Query("list_comments", selectResult, args[:2]...), sqldb.SomeRow)
	}
	return comments, more, err
}

// DeleteComment implements Store.
func (s SQL) DeleteComment(
	ctx context.Context, account prism.AccountID, result prism.ResultID, id prism.CommentID, anybodys bool, by store.By,
) error {
	return s.Transaction(ctx, "delete_comment", func(run sqldb.Run) error {
		args := []any{account.UUID, result.UUID, id.UUID}
		var author prism.UUID
		if err := run(ctx, sqldb.Statement{Text: selectAuthor, Args: args}, sqldb.ReadRow(&author, (*sqldb.Row).UUID)); err != nil {
			return err
		}
		if author != by.Actor.Key.UUID && !anybodys {
			return store.ErrNotAuthor
		}
		if err := run(ctx, sqldb.Statement{Text: deleteComment, Args: args}, sqldb.SomeRow); err != nil {
			return err
		}
		return sqldb.Record(ctx, run, account, by, store.CommentDelete, store.Object{Kind: store.ResultObject, ID: result.UUID}, sqldb.NoDetail{})
	})
}

// Assign implements Store.
func (s SQL) Assign(ctx context.Context, account prism.AccountID, of prism.ResultID, to *prism.MemberID) (assigned *Member, err error) {
	err = s.change(ctx, "assign_result", account, of, func(run sqldb.Run, args []any) error {
		assigned = nil
		if to == nil {
			return run(ctx, sqldb.Statement{Text: unassign, Args: args}, sqldb.NoRow)
		}
		name, err := s.lockMember(ctx, run, account, *to)
		if err != nil {
			return err
		}
		assigned = &Member{*to, name}
		return run(ctx, sqldb.Statement{Text: assign, Args: append(args, to.UUID)}, sqldb.NoRow)
	})
	return assigned, err
}

// lockMember locks a member until the transaction of run ends, and returns the name: store.ErrNoMember. Results are locked before their
// member, so that no two transactions wait for each other.
func (s SQL) lockMember(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.MemberID) (name string, err error) {
	lock := sqldb.Statement{Text: selectMember + s.Locking(false), Args: []any{account.UUID, id.UUID}}
	err = run(ctx, lock, sqldb.ReadRow(&name, (*sqldb.Row).Text))
	if errors.Is(err, store.ErrNotFound) {
		err = store.ErrNoMember
	}
	return name, err
}

// ListAssignees implements Store.
func (s SQL) ListAssignees(ctx context.Context, account prism.AccountID, page store.Page) (found []Member, more bool, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit) + 1}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_assignees", listAssignees, args...), page.Limit, readMember)
}

// Assignee implements Store.
func (s SQL) Assignee(ctx context.Context, account prism.AccountID, of prism.ResultID) (*Member, error) {
	var m Member
	err := s.Run(ctx, sqldb.Query("assignee", selectAssignee, account.UUID, of.UUID), sqldb.ReadRow(&m, readMember))
	if err != nil || m.ID.IsZero() {
		return nil, err
	}
	return &m, nil
}

func readMember(r *sqldb.Row) Member { return Member{prism.MemberID{UUID: r.UUID()}, r.Text()} }

func readComment(r *sqldb.Row) Comment {
	return Comment{
		ID: prism.CommentID{UUID: r.UUID()}, Author: store.Actor{Kind: store.ActorKind(r.Text()), Key: prism.KeyID{UUID: r.UUID()}, Name: r.Text()},
		Text: r.Text(), CreatedAt: r.Time(),
	}
}
