package store_test

import (
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/labelqueue"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// The suite of the stores uses the constants, whatever they are.
//
// spec: session, session-key, session-key-limit, member-invite, operator-link, file-expiry, changes-kept, deliveries-kept, webhook-rotate
func TestTimesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string][2]time.Duration{
		"session": {members.SessionTime, 7 * day}, "session without use": {members.SessionIdleTime, 12 * time.Hour},
		"key of a session": {members.SessionKeyTime, 15 * time.Minute}, "invitation": {members.InvitationTime, 7 * day},
		"link of an operator": {members.OperatorLinkTime, 10 * time.Minute}, "upload": {files.UploadTime, day}, "changes": {changes.Kept, 30 * day}, "file": {files.KeepTime, 30 * day},
		"secret before": {webhooks.PreviousSecret, day}, "delivered": {webhooks.DeliveredKept, 3 * day}, "failed": {webhooks.FailedKept, 30 * day},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}

// spec: page-bytes, export-is-streamed, active-keys-limit, session-key-limit, open-uploads, deletion-goes-on, usage-most, changes-next, views-limit, comments-limit, webhooks-limit, delivery-tries
func TestBoundsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]int64{
		"page": {store.ListBytes, 4 << 20}, "export": {store.PageBytes, 256 << 10}, "keys": {keys.MaxActiveKeys, 1000},
		"keys of a session": {members.MaxSessionKeys, 100}, "uploads": {store.MaxUploads, 20}, "runs": {runs.MaxRuns, 500},
		"deletions": {deletion.MaxDeletions, 1000}, "results of a deletion": {deletion.DeletePart, 500}, "sums": {usage.MaxSums, 1000}, "changes looked through": {changes.Scanned, 10_000},
		"results of the label queue": {labelqueue.MaxResults, 1_000_000}, "views": {api.MaxViews, 200}, "comments": {api.MaxComments, 100},
		"webhooks": {api.MaxWebhooks, 20}, "waiting events": {webhooks.Most, 1_000_000}, "tries of an event": {int64(len(webhooks.Pauses)) + 1, 10},
		"tries that block": {webhooks.BlockingTries, 3},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}
