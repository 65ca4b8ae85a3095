package prisms

import (
	"context"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// ofResults begins the actions on results of a prism, which change nothing of the prism.
const ofResults = "results."

// Record records what was done to a prism, and tells it if it changed the prism (spec: event-types).
func Record(
	ctx context.Context, run sqldb.Run, account prism.AccountID, by store.By, action store.Action,
	id prism.PrismID, slug string, detail any,
) error {
	if !strings.HasPrefix(string(action), ofResults) {
		changed := store.NewEvent{Type: api.PrismChanged, At: by.At, Prism: id, Detail: store.EventDetail{Change: string(action)}}
		if err := sqldb.Tell(ctx, run, account, changed); err != nil {
			return err
		}
	}
	return sqldb.Record(ctx, run, account, by, action, store.Object{Kind: store.PrismObject, ID: id.UUID, Name: slug}, detail)
}
