// Package sqlstore implements Store, which has everything that Prism stores, by statements that Postgres and SQLite share.
package sqlstore

import (
	"context"

	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/comments"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/labelqueue"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/results"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
	"github.com/prism-results/prism/services/results/internal/views"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// Statements is a Store in a Database.
type Statements struct {
	sqldb.Database
	auditSQL
	changesSQL
	distributionSQL
	keySQL
	memberSQL
	prismSQL
	searchSQL
	usageSQL
	driftSQL
	eventSQL
	qualitySQL
	viewSQL
	commentSQL
	webhookSQL
	labelSQL
	queueSQL
	fileSQL
	runSQL
	deletionSQL
	resultSQL
}

type (
	auditSQL        = audit.SQL
	changesSQL      = changes.SQL
	keySQL          = keys.SQL
	memberSQL       = members.SQL
	prismSQL        = prisms.SQL
	searchSQL       = search.SQL
	usageSQL        = usage.SQL
	driftSQL        = drift.SQL
	eventSQL        = events.SQL
	qualitySQL      = quality.SQL
	distributionSQL = distribution.SQL
	viewSQL         = views.SQL
	commentSQL      = comments.SQL
	webhookSQL      = webhooks.SQL
	labelSQL        = labels.SQL
	queueSQL        = labelqueue.SQL
	fileSQL         = files.SQL
	runSQL          = runs.SQL
	deletionSQL     = deletion.SQL
	resultSQL       = results.SQL
)

// New is the Store in a database.
func New(db sqldb.Database) Statements {
	return Statements{
		Database: db, auditSQL: auditSQL{Database: db}, changesSQL: changesSQL{Database: db}, distributionSQL: distributionSQL{Database: db}, keySQL: keySQL{Database: db}, memberSQL: memberSQL{Database: db},
		prismSQL: prismSQL{Database: db}, searchSQL: searchSQL{Database: db}, usageSQL: usageSQL{Database: db},
		driftSQL: driftSQL{Database: db}, eventSQL: eventSQL{Database: db}, qualitySQL: qualitySQL{Database: db}, viewSQL: viewSQL{Database: db}, commentSQL: commentSQL{Database: db}, labelSQL: labelSQL{Database: db}, queueSQL: queueSQL{Database: db},
		fileSQL: fileSQL{Database: db}, runSQL: runSQL{Database: db}, webhookSQL: webhookSQL{Database: db}, deletionSQL: deletionSQL{Database: db}, resultSQL: resultSQL{Database: db},
	}
}

var _ Store = Statements{}

// Store keeps everything that Prism stores. Looking up an API key that is unknown or revoked is no error: the Caller is then
// the zero value.
type Store interface {
	results.Store
	prisms.Store
	keys.Store
	audit.Store
	keys.LimitStore
	keys.DeclaredStore
	usage.Store
	changes.Store
	search.Store
	distribution.Store
	deletion.Store
	files.Store
	blobs.Contents
	runs.Store
	members.Store
	members.SessionStore
	runs.RetryStore
	labels.Store
	labelqueue.Store
	quality.Store
	quality.LabelStore
	drift.Store
	events.Store
	views.Store
	comments.Store
	webhooks.Store
	store.Clocks

	// Ping checks that the database answers.
	Ping(ctx context.Context) error
	// Full tells whether the disk is known to be full, so that little more than deletions is written: other changes are ErrFull.
	Full() bool
	// ProbeWrite checks that the database can save a result: it writes one, takes it back and commits. It returns an error
	// if a save would fail too.
	ProbeWrite(ctx context.Context) error
	// Close releases the connections. The store must not be used afterwards.
	Close()
}
