package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// retain sets the retention of the prism of mine at a time.
func (f *fixture) retain(t *testing.T, days int32, at time.Time) {
	t.Helper()
	succeeds(t, f.SetRetention(t.Context(), f.mine.account, f.mine.prism.ID, days, f.by(at)))
}

func (f *fixture) retentionDays(t *testing.T) int32 {
	t.Helper()
	p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
	succeeds(t, err)
	return p.RetentionDays
}

// spec: retention-set
func retentionTests() []test {
	const day = 24 * time.Hour
	return []test{
		{"a prism has the retention that was set, until it is removed", func(t *testing.T, f *fixture) {
			same(t, f.retentionDays(t), 0)
			for _, days := range []int32{1, 1, 3650, 0, 0, 7} {
				f.retain(t, days, moment(0))
				same(t, f.retentionDays(t), days)
			}
			listed, _, err := f.ListPrisms(t.Context(), f.mine.account, prisms.Live, store.Page{Limit: 1})
			succeeds(t, err)
			same(t, listed[0].RetentionDays, 7)
			details := []string{}
			for _, e := range f.entriesOf(t, store.PrismRetention) {
				details = append(details, string(e.Detail))
			}
			same(t, details, []string{`{"days":7}`, `{"days":null}`, `{"days":3650}`, `{"days":1}`})
		}},
		{"a prism of another account, or none, has no retention", func(t *testing.T, f *fixture) {
			for _, id := range []prism.PrismID{f.theirs.prism.ID, {UUID: f.id()}} {
				failsWith(t, f.SetRetention(t.Context(), f.mine.account, id, 1, f.by(moment(0))), store.ErrNotFound)
			}
			_, ok := f.take(t, moment(0).Add(day))
			same(t, ok, false)
		}},
		{"passes delete what has become too old, each with one entry", func(t *testing.T, f *fixture) {
			var ids []prism.ResultID
			for hour := range 4 {
				at := moment(0).Add(time.Duration(hour) * time.Hour)
				r := f.ok(f.mine.prism)
				r.CreatedAt = at
				id, err := prism.NewUUID(at, zeros{})
				succeeds(t, err)
				r.ID.UUID = id
				ids = append(ids, f.save(t, r).Result.ID)
			}
			f.save(t, f.ok(f.addPrism(t, f.mine, "other")))
			now := moment(1).Add(day + time.Hour)
			f.retain(t, 1, now)
			pass := func(want int) {
				t.Helper()
				job, ok := f.take(t, now)
				if !ok {
					t.Fatal("no pass is due")
				}
				same(t, f.finish(t, job, now), want)
			}
			pass(2)
			same(t, f.stored(t, ids[0]), nil)
			same(t, f.stored(t, ids[1]), nil)
			_, ok := f.take(t, now.Add(deletion.RetentionPause-time.Millisecond))
			same(t, ok, false)
			for _, want := range []int{0, 0, 0, 1} {
				now = now.Add(deletion.RetentionPause)
				pass(want)
			}
			same(t, f.count(t), 2)
			entries := f.entriesOf(t, store.ResultsDelete)
			same(t, len(entries), 2)
			for _, e := range entries {
				same(t, e.Actor, store.Actor{Kind: store.RetentionActor, Name: "retention"})
				var detail struct{ Days, Deleted int }
				succeeds(t, json.Unmarshal(e.Detail, &detail))
				same(t, detail.Days, 1)
			}
			only, _, err := f.ListAudit(t.Context(), f.mine.account, audit.Filter{Kind: store.RetentionActor}, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(only), 2)
		}},
		{"after the retention is changed, a pass by the days before deletes nothing", func(t *testing.T, f *fixture) {
			f.save(t, f.ok(f.mine.prism))
			now := moment(0).Add(10 * day)
			for i, days := range []int32{0, 100} {
				f.retain(t, int32(i)+1, now)
				job, _ := f.take(t, now)
				f.retain(t, days, now.Add(time.Duration(i+1)*time.Millisecond))
				_, _, err := f.DeletePart(t.Context(), &job, now, f.by(now))
				failsWith(t, err, store.ErrNotFound)
				same(t, f.count(t), 1)
			}
		}},
		{"the entry of a change has what the pass that it ends has deleted", func(t *testing.T, f *fixture) {
			for range deletion.DeletePart + 1 {
				f.save(t, f.ok(f.mine.prism))
			}
			now := moment(0).Add(10 * day)
			f.retain(t, 1, now)
			job, _ := f.take(t, now)
			deleted, ended, err := f.DeletePart(t.Context(), &job, now, f.by(now))
			succeeds(t, err)
			same(t, deleted, deletion.DeletePart)
			same(t, ended, false)
			f.retain(t, 0, now)
			same(t, string(f.entriesOf(t, store.PrismRetention)[0].Detail), `{"days":null,"deleted":500}`)
			same(t, len(f.entriesOf(t, store.ResultsDelete)), 0)
		}},
		{"deletions and a change of the retention at the same time end", func(t *testing.T, f *fixture) {
			for range 20 {
				f.save(t, f.ok(f.mine.prism))
			}
			now := moment(0).Add(10 * day)
			f.retain(t, 1, now)
			job, _ := f.take(t, now)
			for _, err := range together(4, func(i int) error {
				switch i {
				case 0:
					return f.SetRetention(t.Context(), f.mine.account, f.mine.prism.ID, 0, f.by(now))
				case 1:
					d := job
					if _, _, err := f.DeletePart(t.Context(), &d, now, f.by(now)); !errors.Is(err, store.ErrNotFound) {
						return err
					}
				default:
					_, err := f.CreateFacts(t.Context(), contract.CreateQuery{Key: f.mine.digest, Prism: prism.Ref{Slug: "triage"}})
					return err
				}
				return nil
			}) {
				succeeds(t, err)
			}
			same(t, f.retentionDays(t), 0)
		}},
	}
}

// zeros is a source of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
