package placed_test

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/comments"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/labelqueue"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/usage"
	"github.com/prism-results/prism/services/results/internal/views"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

func (all suite) ActOnRun(ctx context.Context, account prism.AccountID, id prism.RunID, a store.Action, by store.By) (runs.Run, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (runs.Run, error) { return db.ActOnRun(ctx, account, id, a, by) })
}

func (all suite) AdHocFull(ctx context.Context, account prism.AccountID, limit int64) (bool, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (bool, error) { return db.AdHocFull(ctx, account, limit) })
}

func (all suite) AddCalibration(ctx context.Context, account prism.AccountID, c quality.Calibration, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.AddCalibration(ctx, account, c, by) })
}

func (all suite) AddDeletion(ctx context.Context, d deletion.Job, slug string, counted int64, by store.By) error {
	return do(ctx, all, d.Account, func(db sqlstore.Statements) error { return db.AddDeletion(ctx, d, slug, counted, by) })
}

func (all suite) AddDrift(ctx context.Context, was drift.Watch, step drift.Step) error {
	return do(ctx, all, was.Account, func(db sqlstore.Statements) error { return db.AddDrift(ctx, was, step) })
}

func (all suite) AddRetry(ctx context.Context, r runs.Retry, expected int64, by store.By) error {
	return do(ctx, all, r.Account, func(db sqlstore.Statements) error { return db.AddRetry(ctx, r, expected, by) })
}

func (all suite) AddVersion(ctx context.Context, account prism.AccountID, p prism.Prism, was *prism.Prism, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.AddVersion(ctx, account, p, was, by) })
}

func (all suite) Answers(ctx context.Context, account prism.AccountID, ids []prism.ResultID, read func(quality.Answered) error) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.Answers(ctx, account, ids, read) })
}

func (all suite) Assign(ctx context.Context, account prism.AccountID, of prism.ResultID, to *prism.MemberID) (*comments.Member, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (*comments.Member, error) { return db.Assign(ctx, account, of, to) })
}

func (all suite) AssignMany(ctx context.Context, a comments.Assigning, by store.By) ([]comments.Assignment, error) {
	return get(ctx, all, a.Account, func(db sqlstore.Statements) ([]comments.Assignment, error) { return db.AssignMany(ctx, a, by) })
}

func (all suite) Assignee(ctx context.Context, account prism.AccountID, of prism.ResultID) (*comments.Member, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (*comments.Member, error) { return db.Assignee(ctx, account, of) })
}

func (all suite) BeginCounting(ctx context.Context, account prism.AccountID) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.BeginCounting(ctx, account) })
}

func (all suite) Calibration(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, calibration prism.CalibrationID) (quality.Calibration, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (quality.Calibration, error) {
		return db.Calibration(ctx, account, id, version, calibration)
	})
}

func (all suite) Content(ctx context.Context, f store.FileOwner, name string, offset int64, bytes int64) ([]byte, error) {
	return get(ctx, all, f.Account, func(db sqlstore.Statements) ([]byte, error) { return db.Content(ctx, f, name, offset, bytes) })
}

func (all suite) Count(ctx context.Context, account prism.AccountID, limit int) (bool, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (bool, error) { return db.Count(ctx, account, limit) })
}

func (all suite) CountAnswered(ctx context.Context, account prism.AccountID, f store.Filter, limit int) (int, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (int, error) { return db.CountAnswered(ctx, account, f, limit) })
}

func (all suite) CountDeletion(ctx context.Context, d *deletion.Job) (int64, bool, error) {
	return getTwo(ctx, all, d.Account, func(db sqlstore.Statements) (int64, bool, error) { return db.CountDeletion(ctx, d) })
}

func (all suite) CountLabelled(ctx context.Context, account prism.AccountID, f store.Filter, question string) (int, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (int, error) { return db.CountLabelled(ctx, account, f, question) })
}

func (all suite) CountRetry(ctx context.Context, r runs.Retry) (int64, bool, error) {
	return getTwo(ctx, all, r.Account, func(db sqlstore.Statements) (int64, bool, error) { return db.CountRetry(ctx, r) })
}

func (all suite) CountUse(ctx context.Context, account prism.AccountID, u usage.Use) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.CountUse(ctx, account, u) })
}

func (all suite) Counts(ctx context.Context, account prism.AccountID, f search.Filter, by []finding.Subject) (search.Counts, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (search.Counts, error) { return db.Counts(ctx, account, f, by) })
}

func (all suite) CreateComment(ctx context.Context, account prism.AccountID, of prism.ResultID, c comments.Comment, most int64) (comments.Comment, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (comments.Comment, error) {
		return db.CreateComment(ctx, account, of, c, most)
	})
}

func (all suite) CreateFile(ctx context.Context, account prism.AccountID, f files.File) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.CreateFile(ctx, account, f) })
}

func (all suite) CreatePrism(ctx context.Context, account prism.AccountID, p prism.Prism, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.CreatePrism(ctx, account, p, by) })
}

func (all suite) CreateRun(ctx context.Context, account prism.AccountID, r runs.Run, by store.By) (runs.Run, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (runs.Run, error) { return db.CreateRun(ctx, account, r, by) })
}

func (all suite) CreateView(ctx context.Context, account prism.AccountID, v views.View, most int64, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.CreateView(ctx, account, v, most, by) })
}

func (all suite) CreateWebhook(ctx context.Context, account prism.AccountID, w webhooks.Webhook, secret []byte, behind events.Cursor, most int64, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.CreateWebhook(ctx, account, w, secret, behind, most, by) })
}

func (all suite) DeleteComment(ctx context.Context, account prism.AccountID, of prism.ResultID, id prism.CommentID, anybodys bool, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.DeleteComment(ctx, account, of, id, anybodys, by) })
}

func (all suite) DeleteContents(ctx context.Context, f store.FileOwner, prefix string) error {
	return do(ctx, all, f.Account, func(db sqlstore.Statements) error { return db.DeleteContents(ctx, f, prefix) })
}

func (all suite) DeleteFile(ctx context.Context, account prism.AccountID, id prism.FileID, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.DeleteFile(ctx, account, id, by) })
}

func (all suite) DeletePart(ctx context.Context, d *deletion.Job, until time.Time, by store.By) (int, bool, error) {
	return getTwo(ctx, all, d.Account, func(db sqlstore.Statements) (int, bool, error) { return db.DeletePart(ctx, d, until, by) })
}

func (all suite) DeleteResult(ctx context.Context, account prism.AccountID, id prism.ResultID, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.DeleteResult(ctx, account, id, by) })
}

func (all suite) DeleteView(ctx context.Context, account prism.AccountID, id prism.ViewID, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.DeleteView(ctx, account, id, by) })
}

func (all suite) DeleteWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.DeleteWebhook(ctx, account, id, by) })
}

func (all suite) DeletedParts(ctx context.Context, f store.FileOwner) ([]store.Part, error) {
	return get(ctx, all, f.Account, func(db sqlstore.Statements) ([]store.Part, error) { return db.DeletedParts(ctx, f) })
}

func (all suite) DriftAlarms(ctx context.Context, account prism.AccountID, id prism.PrismID) (drift.Alarms, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (drift.Alarms, error) { return db.DriftAlarms(ctx, account, id) })
}

func (all suite) DriftAnswers(ctx context.Context, account prism.AccountID, id prism.PrismID, after prism.UUID, last prism.UUID) ([]drift.Answer, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]drift.Answer, error) {
		return db.DriftAnswers(ctx, account, id, after, last)
	})
}

func (all suite) DriftCounts(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, span drift.Span, from time.Time, to time.Time) ([]drift.SpanCounts, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]drift.SpanCounts, error) {
		return db.DriftCounts(ctx, account, id, version, span, from, to)
	})
}

func (all suite) DriftVersion(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32) (drift.VersionReference, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (drift.VersionReference, error) {
		return db.DriftVersion(ctx, account, id, version)
	})
}

func (all suite) DriftWatch(ctx context.Context, account prism.AccountID, id prism.PrismID) (drift.Watch, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (drift.Watch, error) { return db.DriftWatch(ctx, account, id) })
}

func (all suite) EndDeliveries(ctx context.Context, s contract.SaveDeliveries, now time.Time, by func() (store.By, error)) (webhooks.Ended, error) {
	return get(ctx, all, s.Account, func(db sqlstore.Statements) (webhooks.Ended, error) { return db.EndDeliveries(ctx, s, now, by) })
}

func (all suite) EndReading(ctx context.Context, l files.Lease, f files.File) error {
	return do(ctx, all, l.Account, func(db sqlstore.Statements) error { return db.EndReading(ctx, l, f) })
}

func (all suite) ExportResults(ctx context.Context, account prism.AccountID, id prism.PrismID, f store.Filter, page store.Page) ([]prism.Result, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]prism.Result, error) {
		return db.ExportResults(ctx, account, id, f, page)
	})
}

func (all suite) FanOut(ctx context.Context, f webhooks.FanOut, by func() (store.By, error)) ([]prism.WebhookID, error) {
	return get(ctx, all, f.Account, func(db sqlstore.Statements) ([]prism.WebhookID, error) { return db.FanOut(ctx, f, by) })
}

func (all suite) File(ctx context.Context, account prism.AccountID, id prism.FileID) (files.File, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (files.File, error) { return db.File(ctx, account, id) })
}

func (all suite) FileChunk(ctx context.Context, account prism.AccountID, id prism.FileID, number int32) (store.FileChunk, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (store.FileChunk, error) { return db.FileChunk(ctx, account, id, number) })
}

func (all suite) FileChunkOf(ctx context.Context, account prism.AccountID, id prism.FileID, row int64) (store.FileChunk, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (store.FileChunk, error) { return db.FileChunkOf(ctx, account, id, row) })
}

func (all suite) FindResults(ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input) ([]prism.Result, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]prism.Result, error) { return db.FindResults(ctx, account, id, ids, in) })
}

func (all suite) ForgetFile(ctx context.Context, f store.FileOwner) error {
	return do(ctx, all, f.Account, func(db sqlstore.Statements) error { return db.ForgetFile(ctx, f) })
}

func (all suite) FindAmong(ctx context.Context, run sqldb.Run, account prism.AccountID, f search.Filter, ids []prism.ResultID) ([]*finding.Found, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]*finding.Found, error) { return db.FindAmong(ctx, run, account, f, ids) })
}

func (all suite) IndexChanges(ctx context.Context, account prism.AccountID, n int) (bool, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (bool, error) { return db.IndexChanges(ctx, account, n) })
}

func (all suite) IndexOld(ctx context.Context, account prism.AccountID, n int) (bool, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (bool, error) { return db.IndexOld(ctx, account, n) })
}

func (all suite) LabelTargets(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) ([]labels.Target, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]labels.Target, error) {
		return db.LabelTargets(ctx, account, prismID, ids)
	})
}

func (all suite) Labelled(ctx context.Context, account prism.AccountID, f store.Filter, question string, limit int) ([]quality.Label, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]quality.Label, error) {
		return db.Labelled(ctx, account, f, question, limit)
	})
}

func (all suite) LabelsOf(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) ([]labels.Label, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]labels.Label, error) { return db.LabelsOf(ctx, account, prismID, ids) })
}

func (all suite) LabelsState(ctx context.Context, account prism.AccountID, of prism.PrismID, version int32) (quality.LabelsState, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (quality.LabelsState, error) {
		return db.LabelsState(ctx, account, of, version)
	})
}

func (all suite) LatestEvents(ctx context.Context, account prism.AccountID) (events.Cursor, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (events.Cursor, error) { return db.LatestEvents(ctx, account) })
}

func (all suite) ListAssignees(ctx context.Context, account prism.AccountID, page store.Page) ([]comments.Member, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]comments.Member, bool, error) {
		return db.ListAssignees(ctx, account, page)
	})
}

func (all suite) ListAudit(ctx context.Context, account prism.AccountID, f audit.Filter, page store.Page) ([]audit.Entry, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]audit.Entry, bool, error) { return db.ListAudit(ctx, account, f, page) })
}

func (all suite) ListCalibrations(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, targets []string, page store.Page) ([]quality.Calibration, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]quality.Calibration, bool, error) {
		return db.ListCalibrations(ctx, account, id, version, targets, page)
	})
}

func (all suite) ListComments(ctx context.Context, account prism.AccountID, of prism.ResultID, page store.Page) ([]comments.Comment, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]comments.Comment, bool, error) {
		return db.ListComments(ctx, account, of, page)
	})
}

func (all suite) ListDeliveries(ctx context.Context, account prism.AccountID, id prism.WebhookID, status api.DeliveryStatus, page store.Page) ([]webhooks.Delivery, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]webhooks.Delivery, bool, error) {
		return db.ListDeliveries(ctx, account, id, status, page)
	})
}

func (all suite) ListFiles(ctx context.Context, account prism.AccountID, page store.Page) ([]files.File, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]files.File, bool, error) { return db.ListFiles(ctx, account, page) })
}

func (all suite) ListLabels(ctx context.Context, account prism.AccountID, f labels.Filter, page store.Page) ([]labels.Labelled, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]labels.Labelled, bool, error) {
		return db.ListLabels(ctx, account, f, page)
	})
}

func (all suite) ListPrisms(ctx context.Context, account prism.AccountID, which prisms.Which, page store.Page) ([]prism.Prism, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]prism.Prism, bool, error) {
		return db.ListPrisms(ctx, account, which, page)
	})
}

func (all suite) ListResults(ctx context.Context, account prism.AccountID, f store.Filter, in store.Input, page store.Page) ([]store.Saved, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]store.Saved, bool, error) {
		return db.ListResults(ctx, account, f, in, page)
	})
}

func (all suite) ListRuns(ctx context.Context, account prism.AccountID, f runs.Filter, page store.Page) ([]runs.Run, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]runs.Run, bool, error) { return db.ListRuns(ctx, account, f, page) })
}

func (all suite) ListVersions(ctx context.Context, account prism.AccountID, id prism.PrismID, below int32, limit int) ([]prism.Version, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]prism.Version, bool, error) {
		return db.ListVersions(ctx, account, id, below, limit)
	})
}

func (all suite) ListViews(ctx context.Context, account prism.AccountID, page store.Page) ([]views.View, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]views.View, bool, error) { return db.ListViews(ctx, account, page) })
}

func (all suite) ListWebhooks(ctx context.Context, account prism.AccountID, page store.Page) ([]webhooks.Webhook, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]webhooks.Webhook, bool, error) {
		return db.ListWebhooks(ctx, account, page)
	})
}

func (all suite) LookedAt(ctx context.Context, account prism.AccountID, f store.Filter, after prism.UUID, results int) (prism.UUID, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (prism.UUID, error) { return db.LookedAt(ctx, account, f, after, results) })
}

func (all suite) MissingResults(ctx context.Context, account prism.AccountID, ids []prism.UUID) ([]prism.UUID, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]prism.UUID, error) { return db.MissingResults(ctx, account, ids) })
}

func (all suite) NarrowDeliveries(ctx context.Context, l contract.WebhookLease, removed []prism.DeliveryID, replaced map[prism.DeliveryID]events.Event) error {
	return do(ctx, all, l.Account, func(db sqlstore.Statements) error { return db.NarrowDeliveries(ctx, l, removed, replaced) })
}

func (all suite) OldestLease(ctx context.Context, account prism.AccountID, id prism.PrismID) (time.Time, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (time.Time, error) { return db.OldestLease(ctx, account, id) })
}

func (all suite) Parts(ctx context.Context, account prism.AccountID, id prism.FileID, from int32, to int32) ([]store.Part, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]store.Part, error) { return db.Parts(ctx, account, id, from, to) })
}

func (all suite) PauseRun(ctx context.Context, account prism.AccountID, id prism.RunID, reason string, at time.Time) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.PauseRun(ctx, account, id, reason, at) })
}

func (all suite) PinCalibrations(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, changes []quality.Pin, pins prism.PinsID, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error {
		return db.PinCalibrations(ctx, account, id, version, changes, pins, by)
	})
}

func (all suite) Pinned(ctx context.Context, account prism.AccountID, id prism.PrismID, pins prism.PinsID, version int32) ([]quality.Calibration, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]quality.Calibration, error) {
		return db.Pinned(ctx, account, id, pins, version)
	})
}

func (all suite) Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (prism.Prism, error) { return db.Prism(ctx, account, ref) })
}

func (all suite) PutContent(ctx context.Context, f store.FileOwner, name string, content []byte) error {
	return do(ctx, all, f.Account, func(db sqlstore.Statements) error { return db.PutContent(ctx, f, name, content) })
}

func (all suite) PutLabels(ctx context.Context, account prism.AccountID, prismID prism.PrismID, labels []labels.Label) ([]prism.ResultID, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]prism.ResultID, error) {
		return db.PutLabels(ctx, account, prismID, labels)
	})
}

func (all suite) PutLens(ctx context.Context, account prism.AccountID, id prism.PrismID, latest int32, l prism.Lens, was *prism.Prism, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.PutLens(ctx, account, id, latest, l, was, by) })
}

func (all suite) PutOffRemoval(ctx context.Context, f store.FileOwner, at time.Time) error {
	return do(ctx, all, f.Account, func(db sqlstore.Statements) error { return db.PutOffRemoval(ctx, f, at) })
}

func (all suite) PutPart(ctx context.Context, account prism.AccountID, id prism.FileID, p store.Part) ([32]byte, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([32]byte, error) { return db.PutPart(ctx, account, id, p) })
}

func (all suite) Queued(ctx context.Context, account prism.AccountID, q labelqueue.Queue, ids []prism.ResultID) ([]labelqueue.Queued, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]labelqueue.Queued, error) { return db.Queued(ctx, account, q, ids) })
}

func (all suite) QueuedResults(ctx context.Context, account prism.AccountID, q labelqueue.Queue, ids []prism.ResultID) ([]prism.Result, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]prism.Result, error) { return db.QueuedResults(ctx, account, q, ids) })
}

func (all suite) RandomQueue(ctx context.Context, account prism.AccountID, q labelqueue.Queue, from prism.UUID, after prism.UUID, limit int) ([]labelqueue.Entry, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]labelqueue.Entry, error) {
		return db.RandomQueue(ctx, account, q, from, after, limit)
	})
}

func (all suite) ReadAgain(ctx context.Context, account prism.AccountID, id prism.FileID, layout []byte, at time.Time) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.ReadAgain(ctx, account, id, layout, at) })
}

func (all suite) ReadChanges(ctx context.Context, account prism.AccountID, f changes.Filter) (changes.Page, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (changes.Page, error) { return db.ReadChanges(ctx, account, f) })
}

func (all suite) ReadDistribution(ctx context.Context, account prism.AccountID, f distribution.Filter) (distribution.Found, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (distribution.Found, error) { return db.ReadDistribution(ctx, account, f) })
}

func (all suite) ReadEvents(ctx context.Context, account prism.AccountID, after events.Cursor, limit int, created bool) ([]events.Event, events.Cursor, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]events.Event, events.Cursor, error) {
		return db.ReadEvents(ctx, account, after, limit, created)
	})
}

func (all suite) ReadRun(ctx context.Context, account prism.AccountID, id prism.RunID) (runs.Run, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (runs.Run, error) { return db.ReadRun(ctx, account, id) })
}

func (all suite) ReadUsage(ctx context.Context, account prism.AccountID, f usage.Filter) ([]usage.Sum, bool, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]usage.Sum, bool, error) { return db.ReadUsage(ctx, account, f) })
}

func (all suite) Record(ctx context.Context, account prism.AccountID, id prism.ResultID) (store.Record, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (store.Record, error) { return db.Record(ctx, account, id) })
}

func (all suite) RefTargets(ctx context.Context, account prism.AccountID, prismID prism.PrismID, version int32, refs []string) ([]labels.Target, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]labels.Target, error) {
		return db.RefTargets(ctx, account, prismID, version, refs)
	})
}

func (all suite) Rename(ctx context.Context, account prism.AccountID, id prism.PrismID, name string, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.Rename(ctx, account, id, name, by) })
}

func (all suite) RenewReading(ctx context.Context, l files.Lease, until time.Time, chunks []store.FileChunk) error {
	return do(ctx, all, l.Account, func(db sqlstore.Statements) error { return db.RenewReading(ctx, l, until, chunks) })
}

func (all suite) ReplaceView(ctx context.Context, account prism.AccountID, v views.View, by store.By) (time.Time, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (time.Time, error) { return db.ReplaceView(ctx, account, v, by) })
}

func (all suite) ReplaceWebhook(ctx context.Context, account prism.AccountID, w webhooks.Webhook, behind events.Cursor, by store.By) (webhooks.Webhook, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (webhooks.Webhook, error) {
		return db.ReplaceWebhook(ctx, account, w, behind, by)
	})
}

func (all suite) ResendDelivery(ctx context.Context, account prism.AccountID, id prism.WebhookID, of prism.DeliveryID, by store.By) (webhooks.Delivery, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (webhooks.Delivery, error) {
		return db.ResendDelivery(ctx, account, id, of, by)
	})
}

func (all suite) ReturnDeletion(ctx context.Context, d deletion.Job, now time.Time) error {
	return do(ctx, all, d.Account, func(db sqlstore.Statements) error { return db.ReturnDeletion(ctx, d, now) })
}

func (all suite) ReturnReading(ctx context.Context, l files.Lease, at time.Time) error {
	return do(ctx, all, l.Account, func(db sqlstore.Statements) error { return db.ReturnReading(ctx, l, at) })
}

func (all suite) RotateWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, secret []byte, until time.Time, by store.By) (webhooks.Webhook, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (webhooks.Webhook, error) {
		return db.RotateWebhook(ctx, account, id, secret, until, by)
	})
}

func (all suite) RowsSince(ctx context.Context, account prism.AccountID, id prism.RunID, since time.Time) (int64, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (int64, error) { return db.RowsSince(ctx, account, id, since) })
}

func (all suite) RunChunks(ctx context.Context, account prism.AccountID, id prism.RunID, from int32, limit int) ([]runs.Chunk, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]runs.Chunk, error) { return db.RunChunks(ctx, account, id, from, limit) })
}

func (all suite) RunOfKey(ctx context.Context, account prism.AccountID, key string) (runs.Run, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (runs.Run, error) { return db.RunOfKey(ctx, account, key) })
}

func (all suite) RunResults(ctx context.Context, account prism.AccountID, id prism.RunID, first int64, limit int) ([]runs.RowResult, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) ([]runs.RowResult, error) {
		return db.RunResults(ctx, account, id, first, limit)
	})
}

func (all suite) SaveAdHoc(ctx context.Context, account prism.AccountID, p prism.Prism, limit int64, r prism.Result, by store.By) (store.Saved, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (store.Saved, error) { return db.SaveAdHoc(ctx, account, p, limit, r, by) })
}

func (all suite) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (store.Saved, error) { return db.SaveResult(ctx, account, r) })
}

func (all suite) SaveRetry(ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID) (store.Saved, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (store.Saved, error) { return db.SaveRetry(ctx, account, r, of) })
}

func (all suite) SaveRows(ctx context.Context, s contract.SaveRows, now time.Time) error {
	return do(ctx, all, s.Account, func(db sqlstore.Statements) error { return db.SaveRows(ctx, s, now) })
}

func (all suite) Search(ctx context.Context, account prism.AccountID, f search.Filter, o finding.Order, after *search.Position, limit int) (search.Page, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (search.Page, error) { return db.Search(ctx, account, f, o, after, limit) })
}

func (all suite) SetArchived(ctx context.Context, account prism.AccountID, id prism.PrismID, archived bool, by store.By) (*time.Time, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (*time.Time, error) {
		return db.SetArchived(ctx, account, id, archived, by)
	})
}

func (all suite) SetDrift(ctx context.Context, account prism.AccountID, id prism.PrismID, c drift.Change, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.SetDrift(ctx, account, id, c, by) })
}

func (all suite) SetDriftAlarms(ctx context.Context, was drift.Watch, alarms []drift.Alarm, at time.Time) error {
	return do(ctx, all, was.Account, func(db sqlstore.Statements) error { return db.SetDriftAlarms(ctx, was, alarms, at) })
}

func (all suite) SetHashed(ctx context.Context, account prism.AccountID, id prism.FileID, from int32, h files.Hashed) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.SetHashed(ctx, account, id, from, h) })
}

func (all suite) SetReading(ctx context.Context, account prism.AccountID, id prism.FileID, at time.Time) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.SetReading(ctx, account, id, at) })
}

func (all suite) SetRetention(ctx context.Context, account prism.AccountID, id prism.PrismID, days int32, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.SetRetention(ctx, account, id, days, by) })
}

func (all suite) SetRunLimits(ctx context.Context, account prism.AccountID, id prism.RunID, l api.RunLimits, by store.By) (runs.Run, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (runs.Run, error) { return db.SetRunLimits(ctx, account, id, l, by) })
}

func (all suite) SetSearchable(ctx context.Context, account prism.AccountID, id prism.PrismID, searchable bool, by store.By) error {
	return do(ctx, all, account, func(db sqlstore.Statements) error { return db.SetSearchable(ctx, account, id, searchable, by) })
}

func (all suite) Subjects(ctx context.Context, account prism.AccountID, prisms []prism.PrismID, runs []prism.RunID) (events.Subjects, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (events.Subjects, error) { return db.Subjects(ctx, account, prisms, runs) })
}

func (all suite) TakeReading(ctx context.Context, f store.FileOwner, token prism.UUID, now time.Time, until time.Time) (files.Lease, error) {
	return get(ctx, all, f.Account, func(db sqlstore.Statements) (files.Lease, error) { return db.TakeReading(ctx, f, token, now, until) })
}

func (all suite) TestWebhook(ctx context.Context, account prism.AccountID, id prism.WebhookID, least prism.UUID, by store.By) (webhooks.Delivery, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (webhooks.Delivery, error) {
		return db.TestWebhook(ctx, account, id, least, by)
	})
}

func (all suite) Unlabelled(ctx context.Context, account prism.AccountID, q labelqueue.Queue, page store.Page, entry func(labelqueue.Unlabelled) (*labelqueue.Entry, error)) ([]labelqueue.Entry, prism.UUID, error) {
	return getTwo(ctx, all, account, func(db sqlstore.Statements) ([]labelqueue.Entry, prism.UUID, error) {
		return db.Unlabelled(ctx, account, q, page, entry)
	})
}

func (all suite) Version(ctx context.Context, account prism.AccountID, id prism.PrismID, number int32) (prism.Version, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (prism.Version, error) { return db.Version(ctx, account, id, number) })
}

func (all suite) Visit(ctx context.Context, account prism.AccountID, f search.Filter, count func(*finding.Found)) (finding.Covered, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (finding.Covered, error) { return db.Visit(ctx, account, f, count) })
}

func (all suite) Webhook(ctx context.Context, account prism.AccountID, id prism.WebhookID) (webhooks.Webhook, error) {
	return get(ctx, all, account, func(db sqlstore.Statements) (webhooks.Webhook, error) { return db.Webhook(ctx, account, id) })
}
