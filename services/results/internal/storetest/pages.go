package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/comments"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/views"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// pagedList is a list of mine. add adds an entry in front of the others, which is stored with a text of so many bytes, and returns
// its position.
type pagedList struct {
	method string // of the store
	name   string
	add    func(t *testing.T, f *fixture, bytes int) prism.UUID
	list   func(ctx context.Context, f *fixture, page store.Page) (positions []prism.UUID, more bool, err error)
}

// pagedLists has every list of a store.
func pagedLists() []pagedList {
	mine := func(f *fixture) (prism.AccountID, prism.PrismID) { return f.mine.account, f.mine.prism.ID }
	text := func(bytes int) string { return strings.Repeat("x", bytes) }
	return []pagedList{
		{"ListPrisms", "prisms", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			p := f.newPrism("large-" + f.id().String())
			p.Latest.Instructions = text(bytes)
			succeeds(t, f.CreatePrism(t.Context(), f.mine.account, p))
			return p.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListPrisms(ctx, f.mine.account, prisms.Live, page)
			return positions(found, func(p prism.Prism) prism.UUID { return p.ID.UUID }), more, err
		}},
		{"ListVersions", "versions", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
			succeeds(t, err)
			next := changed(p.ID, p.Latest.Number+1, lens("l"))
			next.Latest.Instructions = text(bytes)
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, next))
			return contract.VersionRow(next.Latest.Number)
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			account, of := mine(f)
			found, more, err := f.ListVersions(ctx, account, of, contract.VersionAt(page.After), page.Limit)
			return positions(found, func(v prism.Version) prism.UUID { return contract.VersionRow(v.Number) }), more, err
		}},
		{"ListResults", "results", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			r := f.ok(f.mine.prism)
			r.Answers = []byte(`{"urgent":"` + text(bytes) + `"}`)
			return f.save(t, r).Result.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListResults(ctx, f.mine.account, store.Filter{Prism: f.mine.prism.ID}, store.WithoutInput, page)
			return positions(found, savedID), more, err
		}},
		{"ListResults", "results with their input", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			r := f.ok(f.mine.prism)
			r.Context, r.Fields[0].Value = text(bytes/2), text(bytes-bytes/2)
			return f.save(t, r).Result.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListResults(ctx, f.mine.account, store.Filter{Prism: f.mine.prism.ID}, store.WithInput, page)
			return positions(found, savedID), more, err
		}},
		{"ListKeys", "keys", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: text(bytes), CreatedAt: moment(1)}
			succeeds(t, f.CreateKey(t.Context(), f.mine.account, k, contract.KeyDigest(append(k.ID.UUID[:], make([]byte, 16)...))))
			return k.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListKeys(ctx, f.mine.account, page)
			return positions(found, func(k keys.APIKey) prism.UUID { return k.ID.UUID }), more, err
		}},
		{"ListMembers", "members", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			m, _ := f.invited(t, f.mine, prism.Reader)
			_, err := f.change(t, m.ID, api.MemberChange{Name: text(bytes)})
			succeeds(t, err)
			return m.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListMembers(ctx, f.mine.account, page)
			return positions(found, func(m members.Member) prism.UUID { return m.ID.UUID }), more, err
		}},
		{"ListViews", "views", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			v := f.newView(prism.PrismID{}, false)
			v.Filters.Q = text(bytes)
			succeeds(t, f.CreateView(t.Context(), f.mine.account, v, api.MaxViews, f.by(moment(1))))
			return v.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListViews(ctx, f.mine.account, page)
			return positions(found, func(v views.View) prism.UUID { return v.ID.UUID }), more, err
		}},
		{"ListComments", "comments", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			result, err := f.onlyResult(t.Context())
			if errors.Is(err, store.ErrNotFound) {
				result = f.saved(t)
			}
			c := f.newComment(f.keyActor())
			c.Text = text(bytes)
			_, err = f.CreateComment(t.Context(), f.mine.account, result, c, api.MaxComments)
			succeeds(t, err)
			return c.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			of, err := f.onlyResult(ctx)
			if err != nil {
				return nil, false, err
			}
			found, more, err := f.ListComments(ctx, f.mine.account, of, page)
			return positions(found, func(c comments.Comment) prism.UUID { return c.ID.UUID }), more, err
		}},
		{"ListAssignees", "members", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			m, _ := f.invited(t, f.mine, prism.Reader)
			_, err := f.change(t, m.ID, api.MemberChange{Name: text(bytes)})
			succeeds(t, err)
			return m.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListAssignees(ctx, f.mine.account, page)
			return positions(found, func(m comments.Member) prism.UUID { return m.ID.UUID }), more, err
		}},
		{"ListAudit", "the audit", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			by := f.by(moment(1))
			k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: text(bytes), CreatedAt: moment(1)}
			digest := contract.KeyDigest(append(k.ID.UUID[:], make([]byte, 16)...))
			succeeds(t, f.Store.CreateKey(t.Context(), f.mine.account, k, digest, keys.MaxActiveKeys, by))
			return by.Entry
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListAudit(ctx, f.mine.account, audit.Filter{}, page)
			return positions(found, func(e audit.Entry) prism.UUID { return e.ID }), more, err
		}},
		{"ListFiles", "files", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			l := f.reading(t)
			l.File.Status, l.File.Layout = prism.FileReady, []byte(`{"columns":["`+text(bytes)+`"]}`)
			succeeds(t, f.EndReading(t.Context(), l, l.File))
			return l.File.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListFiles(ctx, f.mine.account, page)
			return positions(found, func(file files.File) prism.UUID { return file.ID.UUID }), more, err
		}},
		{"ListRuns", "runs", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			r := f.newRun(f.mine, f.fileOf(t, f.mine.account, 1).ID)
			r.Mapping = []byte(`{"ref":"` + text(bytes) + `"}`)
			_, err := f.CreateRun(t.Context(), f.mine.account, r, f.by(moment(5)))
			succeeds(t, err)
			return r.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListRuns(ctx, f.mine.account, runs.Filter{}, page)
			return positions(found, func(r runs.Run) prism.UUID { return r.ID.UUID }), more, err
		}},
		{"ListWebhooks", "webhooks", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			w := f.newWebhook()
			w.URL = text(bytes)
			succeeds(t, f.CreateWebhook(t.Context(), f.mine.account, w, []byte("s"), events.Cursor{}, api.MaxWebhooks, f.by(moment(1))))
			return w.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListWebhooks(ctx, f.mine.account, page)
			return positions(found, func(w webhooks.Webhook) prism.UUID { return w.ID.UUID }), more, err
		}},
		{"ListDeliveries", "deliveries", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			all, _, err := f.ListWebhooks(t.Context(), f.mine.account, store.Page{Limit: 1})
			succeeds(t, err)
			if len(all) == 0 {
				all = []webhooks.Webhook{f.webhook(t)}
			}
			f.happens(t, all[0], 1)
			l := f.takes(t, moment(20))
			s := tried(l)
			s.Tries[0].Answer = new(text(bytes))
			succeeds(t, second(f.EndDeliveries(t.Context(), s, moment(20), f.prismBy)))
			return l.Deliveries[0].ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			all, _, err := f.ListWebhooks(ctx, f.mine.account, store.Page{Limit: 1})
			if err != nil {
				return nil, false, err
			}
			found, more, err := f.ListDeliveries(ctx, f.mine.account, all[0].ID, "", page)
			return positions(found, func(d webhooks.Delivery) prism.UUID { return d.ID.UUID }), more, err
		}},
		{"ListCalibrations", "calibrations", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			c := quality.Calibration{
				ID: prism.CalibrationID{UUID: f.id()}, Prism: f.mine.prism.ID, Version: 1, Target: "urgent",
				Fit: []byte(`{}`), Measures: []byte(`{"x":"` + text(bytes) + `"}`), CreatedAt: moment(20),
			}
			succeeds(t, f.AddCalibration(t.Context(), f.mine.account, c, f.by(moment(20))))
			return c.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			account, of := mine(f)
			found, more, err := f.ListCalibrations(ctx, account, of, 1, nil, page)
			return positions(found, func(c quality.Calibration) prism.UUID { return c.ID.UUID }), more, err
		}},
		{"ListLabels", "labels", func(t *testing.T, f *fixture, bytes int) prism.UUID {
			r := f.save(t, f.ok(f.mine.prism)).Result
			large := f.label(r, "mood", "up")
			large.Annotator = text(bytes)
			f.putLabels(t, f.label(r, "topic", "a"), large)
			return r.ID.UUID
		}, func(ctx context.Context, f *fixture, page store.Page) ([]prism.UUID, bool, error) {
			found, more, err := f.ListLabels(ctx, f.mine.account, labels.Filter{Prism: f.mine.prism.ID}, page)
			return positions(found, func(r labels.Labelled) prism.UUID { return r.Result.UUID }), more, err
		}},
	}
}

// onlyResult is the one result of mine: store.ErrNotFound if there is none.
func (f *fixture) onlyResult(ctx context.Context) (prism.ResultID, error) {
	results, _, err := f.ListResults(ctx, f.mine.account, store.Filter{}, store.WithoutInput, store.Page{Limit: 1})
	if err == nil && len(results) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return prism.ResultID{}, err
	}
	return results[0].Result.ID, nil
}

func positions[T any](rows []T, position func(T) prism.UUID) (all []prism.UUID) {
	for _, r := range rows {
		all = append(all, position(r))
	}
	return all
}

// spec: page-bytes
func pageTests() []test {
	tests := []test{
		{"every list ends its pages by their bytes", func(t *testing.T, _ *fixture) {
			tested := pagedLists()
			for m := range reflect.TypeFor[sqlstore.Store]().Methods() {
				isTested := slices.ContainsFunc(tested, func(l pagedList) bool { return l.method == m.Name })
				if strings.HasPrefix(m.Name, "List") && m.Type.NumOut() == 3 && m.Type.Out(1).Kind() == reflect.Bool && !isTested {
					t.Errorf("%s has no test", m.Name)
				}
			}
		}},
		{"a page of the results of a run ends before the row that would be too much", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 5)
			s := outcomes(f.leased(t, moment(10)), "ooooo")
			for i, bytes := range fatRows {
				s.Rows[i].Save.Outcome.Answers = []byte(`{"urgent":"` + strings.Repeat("x", bytes) + `"}`)
			}
			succeeds(t, f.SaveRows(t.Context(), s, moment(11)))
			var pages [][]int64
			for page, more := (store.Page{Limit: 9}), true; more; {
				var found []store.Saved
				var err error
				found, more, err = f.ListResults(t.Context(), f.mine.account, store.Filter{Run: &r.ID}, store.WithoutInput, page)
				succeeds(t, err)
				var rows []int64
				for _, saved := range found {
					rows = append(rows, saved.RunRow)
					page.After = contract.RowPosition(saved.RunRow, saved.Result.ID)
				}
				pages = append(pages, rows)
			}
			same(t, pages, [][]int64{{1, 2}, {3}, {4}, {5}})
		}},
	}
	for _, l := range pagedLists() {
		tests = append(tests, test{"a page of " + l.name + " ends before the row that would be too much, and has one at least", l.endsEarly})
	}
	return tests
}

// fatRows are the bytes of rows: of the first three, two fit on a page, and the fourth is more than a page.
var fatRows = []int{store.ListBytes/3 + 1, store.ListBytes/3 + 1, store.ListBytes/3 + 1, store.ListBytes + 1, 1}

// endsEarly reads the rows page by page: from the newest, the small one, the largest alone, two of the first three, and the rest.
func (l pagedList) endsEarly(t *testing.T, f *fixture) {
	var added []prism.UUID
	for _, bytes := range fatRows {
		added = append(added, l.add(t, f, bytes))
	}
	slices.Reverse(added)
	for limit, want := range map[int][]int{100: {1, 1, 2, 1}, 1: {1, 1, 1, 1, 1}} {
		rest := added
		for page, more := (store.Page{Limit: limit}), true; more; {
			var ids []prism.UUID
			var err error
			ids, more, err = l.list(t.Context(), f, page)
			succeeds(t, err)
			if len(ids) == 0 || len(ids) > limit {
				t.Fatalf("a page of %d has %d rows", limit, len(ids))
			}
			page.After = ids[len(ids)-1]
			ids = slices.DeleteFunc(ids, func(id prism.UUID) bool { return !slices.Contains(added, id) }) // of the fixture
			if len(rest) == 0 {
				same(t, len(ids), 0)
				continue
			}
			same(t, ids, rest[:want[0]])
			rest, want = rest[want[0]:], want[1:]
		}
		same(t, len(rest), 0)
	}
}
