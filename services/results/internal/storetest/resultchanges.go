package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: changes
func changesTests() []test {
	const day = 24 * time.Hour
	return []test{
		{"an account without results has no changes", func(t *testing.T, f *fixture) {
			same(t, f.changes(t, changes.Filter{}), changes.Page{})
		}},
		{"saves, retries, labels and deletions are told, each once", func(t *testing.T, f *fixture) {
			old, r := f.failed(f.mine.prism), f.ok(f.mine.prism)
			for range 2 { // a repeat changes nothing
				f.save(t, old)
			}
			for range 2 {
				f.retry(t, r, old)
			}
			_, err := f.SaveRetry(t.Context(), f.mine.account, f.ok(f.mine.prism), old.ID)
			retriedBy(t, err, r.ID)
			_, err = f.SaveResult(t.Context(), f.mine.account, f.ok(f.theirs.prism))
			failsWith(t, err, store.ErrNotFound)
			f.putLabels(t, f.label(r, "urgent", "true"), f.label(r, "topic", "b"))
			f.putLabels(t, f.label(r, "topic", "a"))
			f.putLabels(t, f.label(r, "topic", ""))
			f.putLabels(t, f.label(r, "topic", "")) // there is none any more
			succeeds(t, f.delete(t, r.ID))
			failsWith(t, f.delete(t, r.ID), store.ErrNotFound)
			succeeds(t, f.ProbeWrite(t.Context()))
			page := f.changes(t, changes.Filter{})
			told := f.told(page.Changes, old.ID, r.ID)
			slices.Sort(told[1:3]) // a retry tells of both results at once
			same(t, told, []string{
				"1 created triage", "1 retried triage", "2 created triage", "2 labelled triage", "2 labelled triage", "2 labelled triage",
				"2 labelled triage", "2 deleted triage",
			})
			same(t, page.Next, 8)
			same(t, page.Changes[0].At, old.CreatedAt)
			same(t, page.Changes[3].At, moment(20))
		}},
		{"the rows of a run are told with their labels and retries", func(t *testing.T, f *fixture) {
			f.run(t, f.mine, moment(5), 2)
			l := f.leased(t, moment(10))
			rows := outcomes(l, "of")
			rows.Rows[0].Labels = []contract.RowLabel{{Question: "urgent", Value: "true"}}
			for range 2 {
				succeeds(t, f.SaveRows(t.Context(), rows, moment(11)))
			}
			ok, failed := rows.Rows[0].Save.ID, rows.Rows[1].Save.ID
			r := f.ok(f.mine.prism)
			_, err := f.SaveRetry(t.Context(), f.mine.account, r, failed)
			succeeds(t, err)
			told := f.told(f.changes(t, changes.Filter{}).Changes, ok, failed, r.ID)
			slices.Sort(told)
			same(t, told, []string{
				"1 created triage", "1 labelled triage", "2 created triage", "2 retried triage", "3 created triage",
			})
		}},
		// spec: changes-next
		{"a page begins behind a change, and tells where the next one begins", func(t *testing.T, f *fixture) {
			other := f.addPrism(t, f.mine, "other")
			var ids []prism.ResultID
			for n := range 6 {
				of := f.mine.prism
				if n%3 == 2 {
					of = other
				}
				ids = append(ids, f.save(t, f.ok(of)).Result.ID)
			}
			_, err := f.SaveResult(t.Context(), f.theirs.account, f.ok(f.theirs.prism))
			succeeds(t, err)
			for _, c := range []struct {
				after int64
				limit int
				prism prism.PrismID
				want  []string
				next  int64
			}{
				{0, 2, prism.PrismID{}, []string{"1 created triage", "2 created triage"}, 2},
				{2, 2, prism.PrismID{}, []string{"3 created other", "4 created triage"}, 4},
				{4, 2, prism.PrismID{}, []string{"5 created triage", "6 created other"}, 6},
				{6, 2, prism.PrismID{}, nil, 6},
				{0, 9, other.ID, []string{"3 created other", "6 created other"}, 6},
				{0, 1, other.ID, []string{"3 created other"}, 3},
				{3, 9, f.mine.prism.ID, []string{"4 created triage", "5 created triage"}, 6},
				{0, 9, f.theirs.prism.ID, nil, 6},
			} {
				page := f.changes(t, changes.Filter{After: c.after, Limit: c.limit, Prism: c.prism})
				same(t, f.told(page.Changes, ids...), c.want)
				same(t, page.Next, c.next)
			}
			_, err = f.ReadChanges(t.Context(), f.mine.account, changes.Filter{After: 7, Limit: 1})
			failsWith(t, err, store.ErrNoSuchChange)
		}},
		// spec: deletion-age
		{"results that a job deletes are told as deleted, and nothing else of them", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result
			f.putLabels(t, f.label(r, "urgent", "true"))
			before := f.changes(t, changes.Filter{}).Next
			f.retain(t, 1, moment(0).Add(2*day))
			d, ok := f.take(t, moment(0).Add(2*day))
			same(t, ok, true)
			same(t, f.finish(t, d, moment(0).Add(2*day)), 1)
			page := f.changes(t, changes.Filter{After: before})
			same(t, f.told(page.Changes, r.ID), []string{"1 deleted triage"})
		}},
		// spec: changes-kept
		{"changes from before a time are removed, and who has not read them is told", func(t *testing.T, f *fixture) {
			var ids []prism.ResultID
			for n := range 5 {
				r := f.ok(f.mine.prism)
				r.CreatedAt = moment(0).Add(time.Duration(n) * day)
				ids = append(ids, f.save(t, r).Result.ID)
			}
			succeeds(t, f.Fold(t.Context()))
			f.removeChanges(t, moment(0))
			same(t, len(f.changes(t, changes.Filter{}).Changes), 5)
			f.removeChanges(t, moment(0).Add(2*day))
			same(t, f.told(f.changes(t, changes.Filter{}).Changes, ids...), []string{"3 created triage", "4 created triage", "5 created triage"})
			_, err := f.ReadChanges(t.Context(), f.mine.account, changes.Filter{After: 1, Limit: 9})
			failsWith(t, err, store.ErrChangesRemoved)
			same(t, len(f.changes(t, changes.Filter{After: 2}).Changes), 3)
			f.removeChanges(t, moment(0).Add(9*day))
			same(t, f.told(f.changes(t, changes.Filter{}).Changes, ids...), []string{"5 created triage"}) // the last one stays
			f.save(t, f.ok(f.mine.prism))
			same(t, f.changes(t, changes.Filter{After: 5}).Next, 6)
		}},
		{"a fold that has nothing to do does nothing, and several at once number each change once", func(t *testing.T, f *fixture) {
			const saves = 20
			for range saves {
				f.save(t, f.ok(f.mine.prism))
			}
			for _, err := range together(4, func(int) error { return f.Fold(t.Context()) }) {
				succeeds(t, err)
			}
			page := f.changes(t, changes.Filter{})
			same(t, page.Next, saves)
			same(t, f.changes(t, changes.Filter{}), page)
		}},
	}
}

// changes folds, and reads a page of mine: of all if the filter has no limit.
func (f *fixture) changes(t *testing.T, filter changes.Filter) changes.Page {
	t.Helper()
	succeeds(t, f.Fold(t.Context()))
	if filter.Limit == 0 {
		filter.Limit = 1000
	}
	page, err := f.ReadChanges(t.Context(), f.mine.account, filter)
	succeeds(t, err)
	return page
}

// told are changes as the position of the result from 1, the type and the prism.
func (f *fixture) told(all []changes.Change, ids ...prism.ResultID) (told []string) {
	names := map[changes.Type]string{
		changes.Created: "created", changes.Retried: "retried", changes.Labelled: "labelled", changes.Deleted: "deleted",
	}
	for _, c := range all {
		told = append(told, fmt.Sprint(1+slices.Index(ids, c.Result), " ", names[c.Type], " ", c.Prism))
	}
	return told
}

func (f *fixture) removeChanges(t *testing.T, before time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = f.RemoveChanges(t.Context(), before)
		succeeds(t, err)
	}
}
