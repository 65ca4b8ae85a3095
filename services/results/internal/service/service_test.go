package service_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// world is a Service over an empty store, with one account and its key.
type world struct {
	facade
	store   *counting
	blobs   *contents
	account prism.AccountID
	key     contract.KeyDigest
	clock   atomic.Int64 // milliseconds
	ids     atomic.Uint32
	ended   atomic.Int64                  // leases
	digests map[string]contract.KeyDigest // of the keys that were made, by their text
}

// contents are those of files, whose keeper a test may change.
type contents struct{ blobs.Blobs }

// counting is a store that counts reads of versions.
type counting struct {
	sqlstore.Store
	versions atomic.Int64
	touched  chan map[prism.KeyID]time.Time
	archived func()           // after SetArchived; optional
	asked    int64            // the most active keys that CreateKey was asked to allow
	covered  *finding.Covered // what each search says that it covers; nil: what is true
	most     int64            // what CreateKey allows instead; 0: what it was asked
}

func (c *counting) CreateKey(
	ctx context.Context, a prism.AccountID, k keys.APIKey, digest contract.KeyDigest, most int64, by store.By,
) error {
	c.asked = most
	return c.Store.CreateKey(ctx, a, k, digest, cmp.Or(c.most, most), by)
}

func (c *counting) SetArchived(
	ctx context.Context, a prism.AccountID, id prism.PrismID, archived bool, by store.By,
) (*time.Time, error) {
	stored, err := c.Store.SetArchived(ctx, a, id, archived, by)
	if c.archived != nil {
		c.archived()
	}
	return stored, err
}

func (c *counting) Version(ctx context.Context, a prism.AccountID, id prism.PrismID, n int32) (prism.Version, error) {
	c.versions.Add(1)
	return c.Store.Version(ctx, a, id, n)
}

func (c *counting) Search(
	ctx context.Context, a prism.AccountID, f search.Filter, o finding.Order, after *search.Position, limit int,
) (search.Page, error) {
	page, err := c.Store.Search(ctx, a, f, o, after, limit)
	if c.covered != nil {
		page.Covered = *c.covered
	}
	return page, err
}

func (c *counting) TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error {
	if c.touched != nil {
		c.touched <- used
	}
	return c.Store.TouchKeys(ctx, used)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	s := sqlitetest.New(t)
	w := &world{store: &counting{Store: s}, blobs: &contents{blobs.InDatabase(s)}, key: contract.KeyDigest{1}, digests: map[string]contract.KeyDigest{}}
	w.clock.Store(1_800_000_000_000)
	w.Service = service.New(service.Deps{
		Store:      w.store,
		Now:        func() time.Time { return time.UnixMilli(w.clock.Add(1)) },
		NewID:      func() (prism.UUID, error) { return w.id(), nil },
		Blobs:      w.blobs,
		LeaseEnded: func() { w.ended.Add(1) },
		NewToken:   func() (string, error) { return fmt.Sprint("token", w.ids.Add(1)), nil },
		NewKey: func() (keys.Secret, error) {
			n := w.ids.Add(1)
			k := keys.Secret{Text: fmt.Sprint("key", n), Prefix: "key", Digest: contract.KeyDigest{9, byte(n >> 8), byte(n)}}
			w.digests[k.Text] = k.Digest
			return k, nil
		},
	})
	w.account = prism.AccountID{UUID: w.id()}
	if err := s.CreateAccount(t.Context(), w.account, "acme", w.by()); err != nil {
		t.Fatal(err)
	}
	k := keys.APIKey{ID: prism.KeyID{UUID: w.id()}, Name: "first", Prefix: "first", Role: prism.Owner, CreatedAt: time.UnixMilli(0)}
	if err := s.CreateKey(t.Context(), w.account, k, w.key, keys.MaxActiveKeys, w.by()); err != nil {
		t.Fatal(err)
	}
	return w
}

// by is a change by an operator, whose entry follows those before.
func (w *world) by() store.By {
	by := storetest.By()
	by.Entry = w.id()
	return by
}

func (w *world) id() prism.UUID {
	n := w.ids.Add(1)
	id := prism.FirstUUID(time.UnixMilli(1_800_000_000_000))
	id[13], id[14], id[15] = byte(n>>16), byte(n>>8), byte(n)
	return id
}

func definition(fields ...string) prism.Definition {
	d := prism.Definition{Questions: []prism.Question{{Key: "q", Type: prism.YesNo, Text: "Is it?"}}}
	for _, f := range fields {
		d.Fields = append(d.Fields, prism.Field{Key: f})
	}
	return d
}

// prism creates a prism and returns its id.
func (w *world) prism(t *testing.T, slug string) prism.PrismID {
	t.Helper()
	doc, err := w.CreatePrism(t.Context(), w.key, api.NewPrism{
		Slug: slug, NewVersion: api.NewVersion{Definition: definition("text")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		ID prism.PrismID `json:"id"`
	}
	decode(t, doc, &body)
	return body.ID
}

func decode(t *testing.T, doc contract.Response, into any) {
	t.Helper()
	if err := strictjson.Unmarshal(doc.Body, into); err != nil {
		t.Fatalf("%v: %s", err, doc.Body)
	}
}

func (w *world) save(id prism.PrismID) contract.Save {
	return contract.Save{
		Account: w.account, ID: prism.ResultID{UUID: w.id()}, Prism: id, Version: 1,
		Fields:  []prism.FieldValue{{Key: "text", Value: "hello"}},
		Outcome: contract.Outcome{Answers: []byte(`{"q":{"type":"yes_no","probability":0.75}}`), TookMS: 5},
		Format:  contract.JSON,
	}
}

func TestEveryCallWithAnUnknownKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	unknown := contract.KeyDigest{0xff}
	ref := prism.Ref{Slug: "a"}
	ctx := t.Context()
	calls := map[string]func() error{
		"Read": func() error { _, err := w.Read(ctx, unknown, prism.ResultID{}, contract.JSON); return err },
		"ListResults": func() error {
			_, err := w.ListResults(ctx, unknown, api.ListResultsRequest{PageRequest: api.PageRequest{Limit: 1}})
			return err
		},
		"Export":      func() error { _, err := w.Export(ctx, unknown, ref, api.ExportResultsRequest{}); return err },
		"CreatePrism": func() error { _, err := w.CreatePrism(ctx, unknown, api.NewPrism{}); return err },
		"ListPrisms":  func() error { _, err := w.ListPrisms(ctx, unknown, "", contract.Page{}); return err },
		"ListVersions": func() error {
			_, err := w.ListVersions(ctx, unknown, ref, contract.Page{Limit: 1})
			return err
		},
		"RenamePrism": func() error { _, err := w.RenamePrism(ctx, unknown, ref, ""); return err },
		"Prism":       func() error { _, err := w.Prism(ctx, unknown, ref); return err },
		"AddVersion":  func() error { _, err := w.AddVersion(ctx, unknown, ref, api.NewVersion{}); return err },
		"Version":     func() error { _, err := w.Version(ctx, unknown, ref, 1); return err },
		"PutLens":     func() error { _, err := w.PutLens(ctx, unknown, ref, prism.Lens{}); return err },
		"PreviewLens": func() error { _, err := w.PreviewLens(ctx, unknown, ref, api.LensPreview{}); return err },
		"TryFacts":    func() error { _, err := w.TryFacts(ctx, unknown); return err },
		"SetArchived": func() error { _, err := w.SetArchived(ctx, unknown, ref, true); return err },
		"CreateKey":   func() error { _, err := w.CreateKey(ctx, unknown, api.NewKey{Name: "k"}); return err },
		"ListKeys":    func() error { _, err := w.ListKeys(ctx, unknown, contract.Page{Limit: 1}); return err },
		"RevokeKey":   func() error { _, err := w.RevokeKey(ctx, unknown, prism.KeyID{}); return err },
		"ListAudit": func() error {
			_, err := w.ListAudit(ctx, unknown, api.ListAuditRequest{PageRequest: api.PageRequest{Limit: 1}})
			return err
		},
		"Record": func() error { _, err := w.Record(ctx, unknown, prism.ResultID{}); return err },
		"Usage":  func() error { _, err := w.Usage(ctx, unknown, api.ReadUsageRequest{By: api.ByDay}); return err },
		"CreateFacts": func() error {
			_, err := w.CreateFacts(ctx, contract.CreateQuery{Key: unknown, Prism: ref})
			return err
		},
		"RetryFacts": func() error { _, err := w.RetryFacts(ctx, unknown, prism.ResultID{}); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, apierr.InvalidAPIKey()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDefinitionsAreReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.save(w.prism(t, "a"))
	if _, err := w.Save(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		for _, f := range api.Formats() {
			if _, err := w.Read(t.Context(), w.key, s.ID, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := w.store.versions.Load(); n != 1 {
		t.Errorf("the definition was read %d times", n)
	}
}

func TestALensEditShowsInTheNextRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.save(w.prism(t, "a"))
	if _, err := w.Save(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	lens := prism.Lens{Columns: []prism.Column{{Name: "renamed", Question: "q", Show: prism.ShowProbability}}}
	if _, err := w.PutLens(t.Context(), w.key, prism.Ref{Slug: "a"}, lens); err != nil {
		t.Fatal(err)
	}
	doc, err := w.Read(t.Context(), w.key, s.ID, contract.JSON)
	if err != nil || !strings.Contains(string(doc.Body), `"answers":{"renamed":0.75}`) {
		t.Errorf("%s, %v", doc.Body, err)
	}
	unknown := prism.Lens{Columns: []prism.Column{{Name: "x", Question: "nope", Show: prism.ShowAnswer}}}
	_, err = w.PutLens(t.Context(), w.key, prism.Ref{Slug: "a"}, unknown)
	var public *apierr.Error
	if !errors.As(err, &public) || !strings.HasPrefix(public.Message, "Invalid request: columns.0.question: ") {
		t.Error(err)
	}
}

func TestVersionsAddedAtOnceAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	const n = 8
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := w.AddVersion(t.Context(), w.key, prism.Ref{Slug: "a"}, api.NewVersion{Definition: definition("text")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for number := int32(1); number <= n+1; number++ {
		if _, err := w.Version(t.Context(), w.key, prism.Ref{Slug: "a"}, number); err != nil {
			t.Errorf("version %d: %v", number, err)
		}
	}
	if _, err := w.Version(t.Context(), w.key, prism.Ref{Slug: "a"}, n+2); !errors.Is(err, apierr.VersionNotFound()) {
		t.Error(err)
	}
}

func TestAnArchivedPrismTakesNoVersionAndNoLens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "a")
	ref := prism.Ref{Slug: "a"}
	first, err := w.SetArchived(t.Context(), w.key, ref, true)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.SetArchived(t.Context(), w.key, ref, true); err != nil || string(again.Body) != string(first.Body) {
		t.Errorf("archiving twice: %s, %v, want %s", again.Body, err, first.Body)
	}
	if _, err := w.AddVersion(t.Context(), w.key, ref, api.NewVersion{Definition: definition("text")}); !errors.Is(err, apierr.ArchivedUnchangeable()) {
		t.Error(err)
	}
	if _, err := w.PutLens(t.Context(), w.key, ref, prism.Lens{}); !errors.Is(err, apierr.ArchivedUnchangeable()) {
		t.Error(err)
	}
}

// spec: archive-and-unarchive
func TestArchivingReturnsItsOwnStateWhateverComesBehindIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.prism(t, "a")
	for _, archived := range []bool{true, false} {
		w.store.archived = func() {
			if _, err := w.store.Store.SetArchived(t.Context(), w.account, id, !archived, storetest.By()); err != nil {
				t.Error(err)
			}
		}
		got, err := w.SetArchived(t.Context(), w.key, prism.Ref{Slug: "a"}, archived)
		if err != nil || strings.Contains(string(got.Body), `"archived_at":null`) == archived {
			t.Errorf("archived %v: got %s, %v", archived, got.Body, err)
		}
	}
}

// spec: last-used-at
func TestAUseShowsAtOnceAndIsWrittenLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.touched = make(chan map[prism.KeyID]time.Time, 1)
	for range 100 {
		if _, err := w.ListPrisms(t.Context(), w.key, "false", contract.Page{Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := w.ListKeys(t.Context(), w.key, contract.Page{Limit: 10})
	if err != nil || strings.Contains(string(doc.Body), `"last_used_at":null`) {
		t.Errorf("%s, %v", doc.Body, err)
	}
	if len(w.store.touched) != 0 {
		t.Error("a call cost a write")
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if used := <-w.store.touched; len(used) != 1 {
		t.Errorf("%d keys were written, want the one that was used", len(used))
	}
	keys, _, err := w.store.ListKeys(t.Context(), w.account, store.Page{Limit: 10})
	if err != nil || keys[0].LastUsedAt == nil {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestAKeyIsShownOnceAndRevokedForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc, err := w.CreateKey(t.Context(), w.key, api.NewKey{Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID  prism.KeyID `json:"id"`
		Key string      `json:"key"`
	}
	decode(t, doc, &made)
	if made.Key == "" {
		t.Fatalf("no key in %s", doc.Body)
	}
	list, err := w.ListKeys(t.Context(), w.key, contract.Page{Limit: 10})
	if err != nil || strings.Contains(string(list.Body), `"key":`) {
		t.Errorf("%s, %v", list.Body, err)
	}
	first, err := w.RevokeKey(t.Context(), w.key, made.ID)
	if err != nil || strings.Contains(string(first.Body), `"revoked_at":null`) {
		t.Errorf("%s, %v", first.Body, err)
	}
	if again, err := w.RevokeKey(t.Context(), w.key, made.ID); err != nil || string(again.Body) != string(first.Body) {
		t.Errorf("revoking twice: %s, %v", again.Body, err)
	}
	if _, err := w.RevokeKey(t.Context(), w.key, prism.KeyID{}); !errors.Is(err, apierr.KeyNotFound()) {
		t.Error(err)
	}
}
