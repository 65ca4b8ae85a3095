package service_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// auditPage is a page of the audit as it is sent.
type auditPage struct {
	Data []struct {
		ID     string `json:"id"`
		Action string `json:"action"`
	} `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

func (w *world) audit(t *testing.T, q api.ListAuditRequest) (auditPage, string) {
	t.Helper()
	response, err := w.ListAudit(t.Context(), w.key, q)
	if err != nil {
		t.Fatal(err)
	}
	var page auditPage
	decode(t, response, &page)
	return page, string(response.Body)
}

// spec: audit-actions, audit-changes-only, audit-holds-no-values
func TestTheAuditHasWhatWasDoneAndNoDryRun(t *testing.T) {
	t.Parallel()
	w, ctx, ref := newWorld(t), t.Context(), prism.Ref{Slug: "a"}
	secret := api.NewVersion{Definition: definition("text")}
	secret.Instructions, secret.Questions[0].Text = "the instructions", "the question"
	dry, of := api.Dry{DryRun: true}, api.PrismRequest{Prism: ref}
	lens := prism.Lens{Columns: []prism.Column{{Name: "the_column", Question: "q", Show: prism.ShowAnswer}}}
	do := func(_ contract.Response, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	created := api.NewPrism{Slug: "a", Name: "the name", NewVersion: secret}
	do(contract.Do(ctx, w, w.key, api.CreatePrism, api.CreatePrismRequest{NewPrism: created, Dry: dry}))
	do(w.CreatePrism(ctx, w.key, created))
	do(contract.Do(ctx, w, w.key, api.CreateVersion, api.CreateVersionRequest{PrismRequest: of, NewVersion: secret, Dry: dry}))
	do(w.AddVersion(ctx, w.key, ref, secret))
	do(contract.Do(ctx, w, w.key, api.ReplaceLens, api.ReplaceLensRequest{PrismRequest: of, NewLens: api.NewLens{Lens: lens}, Dry: dry}))
	do(w.PutLens(ctx, w.key, ref, lens))
	for range 2 {
		do(w.SetArchived(ctx, w.key, ref, true))
	}
	for range 2 {
		do(w.SetArchived(ctx, w.key, ref, false))
	}
	response, err := w.CreateKey(ctx, w.key, api.NewKey{Name: "second", Role: prism.Reader})
	do(response, err)
	var made struct {
		ID  prism.KeyID `json:"id"`
		Key string      `json:"key"`
	}
	decode(t, response, &made)
	for range 2 {
		do(w.RevokeKey(ctx, w.key, made.ID))
	}
	page, body := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 100}})
	var actions []string
	for _, e := range page.Data {
		actions = append(actions, e.Action)
	}
	slices.Reverse(actions)
	want := []string{
		"account.create", "key.create", "prism.create", "version.create", "lens.replace", "prism.archive", "prism.unarchive",
		"key.create", "key.revoke",
	}
	if !slices.Equal(actions, want) || page.NextCursor != nil {
		t.Errorf("got  %v\nwant %v", actions, want)
	}
	for _, hidden := range []string{made.Key, "the instructions", "the question", "the_column", "the name", `"text"`} {
		if strings.Contains(body, hidden) {
			t.Errorf("the audit shows %q: %s", hidden, body)
		}
	}
}

// spec: audit-entry-members
func TestAnEntryHasTheseMembersInThisOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	_, body := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 1}})
	const id, at = `"[0-9a-f-]{36}"`, `"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`
	want := `^\{"data":\[\{"id":` + id + `,"at":` + at + `,"actor":\{"kind":"key","id":` + id + `,"name":"first"\},` +
		`"action":"prism.create","object":\{"kind":"prism","id":` + id + `,"name":"a"\},"detail":\{"version":1\}\}\],` +
		`"next_cursor":"[^"]+"\}$`
	if !regexp.MustCompile(want).MatchString(body) {
		t.Errorf("got %s", body)
	}
	_, body = w.audit(t, api.ListAuditRequest{Actor: "operator", PageRequest: api.PageRequest{Limit: 1}})
	if !strings.Contains(body, `"actor":{"kind":"operator","id":null,"name":`) {
		t.Errorf("got %s", body)
	}
}

// spec: audit-list
func TestTheAuditIsReadAPageAtATimeAndNarrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, slug := range []string{"a", "b", "c"} {
		w.prism(t, slug)
	}
	all, _ := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 100}})
	var seen []string
	for q := (api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 2}}); ; {
		page, _ := w.audit(t, q)
		for _, e := range page.Data {
			seen = append(seen, e.ID)
		}
		if page.NextCursor == nil {
			break
		}
		q.Cursor = *page.NextCursor
	}
	if len(seen) != 5 || len(all.Data) != 5 || !slices.IsSortedFunc(seen, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("read %v", seen)
	}
	keys, _, err := w.store.ListKeys(t.Context(), w.account, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	entry, _, err := w.store.ListAudit(t.Context(), w.account, audit.Filter{}, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	last := entry[0].At
	for want, q := range map[int]api.ListAuditRequest{
		3: {Actor: keys[0].ID.String()}, 2: {Actor: "operator"}, 1: {From: last.Add(-1)}, 4: {To: last.Add(-1)}, 0: {From: last.Add(1)},
	} {
		q.Limit = 100
		if page, _ := w.audit(t, q); len(page.Data) != want {
			t.Errorf("%+v finds %d entries, want %d", q, len(page.Data), want)
		}
	}
	for _, actor := range []string{"retention", "webhooks"} { // which have done nothing
		if page, _ := w.audit(t, api.ListAuditRequest{Actor: actor, PageRequest: api.PageRequest{Limit: 100}}); len(page.Data) != 0 {
			t.Errorf("%s did %+v", actor, page.Data)
		}
	}
}

// A later release may add members to the detail of an entry and new actions: they are passed on.
func TestAnEntryOfALaterReleaseIsPassedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.Store = later{w.store.Store}
	_, body := w.audit(t, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 1}})
	for _, want := range []string{`"action":"of.later","object":{"kind":"later",`, `"detail":{"of":[1,"later"]}`} {
		if !strings.Contains(body, want) {
			t.Errorf("got %s, want %s", body, want)
		}
	}
}

type later struct{ sqlstore.Store }

func (later) ListAudit(context.Context, prism.AccountID, audit.Filter, store.Page) ([]audit.Entry, bool, error) {
	return []audit.Entry{{
		ID: storetest.NumberedID(1), Action: "of.later", Object: store.Object{Kind: "later"}, Detail: []byte(`{"of":[1,"later"]}`),
	}}, false, nil
}
