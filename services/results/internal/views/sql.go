package views

import (
	"context"
	"reflect"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database. A change of views locks the account first, so that there is one default.
type SQL struct{ sqldb.Database }

const (
	viewColumns = `v.id, v.prism_id, v.name, v.shows, v.is_default, v.created_at, coalesce(p.slug, '')
FROM views v LEFT JOIN prisms p ON p.account_id = v.account_id AND p.id = v.prism_id WHERE v.account_id = $1`

	countViews = `-- name: CountViews :one
SELECT count(*) FROM (SELECT 1 FROM views WHERE account_id = $1 LIMIT $2) AS counted`
	insertView = `INSERT INTO views (account_id, id, prism_id, name, shows, is_default, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	listViews  = `-- name: ListViews :many
SELECT ` + viewColumns + ` AND v.id < $2 ORDER BY v.id DESC LIMIT $3`
	selectView  = `SELECT ` + viewColumns + ` AND v.id = $2`
	updateView  = `UPDATE views SET prism_id = $3, name = $4, shows = $5, is_default = $6 WHERE account_id = $1 AND id = $2`
	deleteView  = `DELETE FROM views WHERE account_id = $1 AND id = $2 RETURNING name`
	yieldOthers = `UPDATE views SET is_default = $4
WHERE account_id = $1 AND id <> $2 AND prism_id IS NOT DISTINCT FROM $3 AND is_default`
)

// shows is what is stored of a view that nothing looks for.
type shows struct {
	Filters api.ViewFilters `json:"filters"`
	Columns []string        `json:"columns,omitzero"`
}

// viewDetail is the detail of an entry. The filters may have texts of results, so they are not recorded.
type viewDetail struct {
	Default bool `json:"default"`
}

// CreateView implements Store.
func (s SQL) CreateView(ctx context.Context, account prism.AccountID, v View, most int64, by store.By) error {
	return s.Transaction(ctx, "create_view", func(run sqldb.Run) error {
		if err := keys.Room(ctx, run, account, countViews, most, store.ErrTooManyViews); err != nil {
			return err
		}
		args, err := v.args(account)
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: insertView, Args: append(args, v.CreatedAt)}, sqldb.NoRow); err != nil {
			return err
		}
		return stored(ctx, run, account, v, store.ViewCreate, by)
	})
}

// ListViews implements Store.
func (s SQL) ListViews(ctx context.Context, account prism.AccountID, page store.Page) (found []View, more bool, err error) {
	args := []any{account.UUID, page.Before(), int64(page.Limit) + 1}
	return sqldb.ReadPage(ctx, s.Database, sqldb.Query("list_views", listViews, args...), page.Limit, readView)
}

// ReplaceView implements Store.
func (s SQL) ReplaceView(ctx context.Context, account prism.AccountID, v View, by store.By) (createdAt time.Time, err error) {
	err = s.Transaction(ctx, "replace_view", func(run sqldb.Run) error {
		if err := run(ctx, sqldb.Statement{Text: keys.LockAccount, Args: []any{account.UUID}}, sqldb.SomeRow); err != nil {
			return err
		}
		var was View
		find := sqldb.Statement{Text: selectView, Args: []any{account.UUID, v.ID.UUID}}
		if err := run(ctx, find, sqldb.ReadRow(&was, readView)); err != nil {
			return err
		}
		v.CreatedAt, was.Filters.Prism, v.Filters.Prism = was.CreatedAt, "", ""
		if createdAt = was.CreatedAt; reflect.DeepEqual(was, v) {
			return nil
		}
		args, err := v.args(account)
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: updateView, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		return stored(ctx, run, account, v, store.ViewReplace, by)
	})
	return createdAt, err
}

// stored takes the default from the view that had it, and records what was done.
func stored(ctx context.Context, run sqldb.Run, account prism.AccountID, v View, action store.Action, by store.By) error {
	if v.Default {
		args := []any{account.UUID, v.ID.UUID, v.prism(), false}
		if err := run(ctx, sqldb.Statement{Text: yieldOthers, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
	}
	return record(ctx, run, account, v.ID, v.Name, action, viewDetail{v.Default}, by)
}

func record(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.ViewID, name string, action store.Action, detail any, by store.By,
) error {
	return sqldb.Record(ctx, run, account, by, action, store.Object{Kind: store.ViewObject, ID: id.UUID, Name: name}, detail)
}

// DeleteView implements Store.
func (s SQL) DeleteView(ctx context.Context, account prism.AccountID, id prism.ViewID, by store.By) error {
	return s.Transaction(ctx, "delete_view", func(run sqldb.Run) error {
		var name string
		find := sqldb.Statement{Text: deleteView, Args: []any{account.UUID, id.UUID}}
		if err := run(ctx, find, sqldb.ReadRow(&name, (*sqldb.Row).Text)); err != nil {
			return err
		}
		return record(ctx, run, account, id, name, store.ViewDelete, sqldb.NoDetail{}, by)
	})
}

func (v View) prism() *prism.UUID {
	if v.Prism.IsZero() {
		return nil
	}
	return &v.Prism.UUID
}

// args are those of insertView but the time, and of updateView.
func (v View) args(account prism.AccountID) ([]any, error) {
	v.Filters.Prism = "" // it may be renamed
	shown, err := sqldb.Encode(shows{v.Filters, v.Columns})
	return []any{account.UUID, v.ID.UUID, v.prism(), v.Name, shown, v.Default}, err
}

func readView(r *sqldb.Row) View {
	v := View{ID: prism.ViewID{UUID: r.UUID()}, Prism: prism.PrismID{UUID: r.UUID()}, Name: r.Text()}
	shown := sqldb.Decode[shows](r)
	v.Filters, v.Columns, v.Default, v.CreatedAt = shown.Filters, shown.Columns, r.Bool(), r.Time()
	v.Filters.Prism = r.Text()
	return v
}
