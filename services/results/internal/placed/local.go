package placed

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/services/results/internal/sqlstore"
)

// Local is the store of one of several databases, as what serves its accounts uses it. What Accounts has is done by Accounts: it concerns home
// too, or the account may be in another database. All else is done in the database itself.
type Local struct {
	sqlstore.Statements
	*Accounts // whose methods come before those of Statements, which are deeper
	Home      bool
}

var _ sqlstore.Store = Local{}

// SweepSessions implements members.SessionStore: each database sweeps its own keys, and home what else has expired.
func (l Local) SweepSessions(ctx context.Context, now time.Time) (swept int, err error) {
	if l.Home {
		swept, err = l.SweepHome(ctx, now)
	}
	keys, failed := l.SweepKeys(ctx, l.Statements, now)
	return swept + keys, errors.Join(err, failed)
}
