// Package storetest is the suite that every sqlstore.Store passes.
package storetest

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// test is one behaviour; its name is a sentence.
type test struct {
	name string
	run  func(t *testing.T, f *fixture)
}

// Run runs the suite. open returns an empty, migrated store, and closes it when the test ends.
func Run(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	t.Helper()
	groups := []struct {
		name  string
		tests []test
	}{
		{"Facts", factsTests()},
		{"Saving", savingTests()},
		{"Retrying", retryingTests()},
		{"Races", raceTests()},
		{"Definitions", definitionTests()},
		{"Lists", listTests()},
		{"Pages", pageTests()},
		{"Conditions", conditionTests()},
		{"Listing", listingTests()},
		{"Keys", keyTests()},
		{"Declared", declaredTests()},
		{"Members", memberTests()},
		{"Views", viewTests()},
		{"Comments", commentTests()},
		{"Webhooks", webhookTests()},
		{"Deliveries", deliveryTests()},
		{"FanOut", fanOutTests()},
		{"Sessions", sessionTests()},
		{"Identities", identityTests()},
		{"Claims", claimTests()},
		{"Audit", auditTests()},
		{"Limits", limitTests()},
		{"Records", recordTests()},
		{"Usage", usageTests()},
		{"Changes", changesTests()},
		{"Events", eventTests()},
		{"Deletions", deletionTests()},
		{"AdHoc", adHocTests()},
		{"Examples", exampleTests()},
		{"Retention", retentionTests()},
		{"Runs", runTests()},
		{"RunRows", runRowTests()},
		{"RunLeases", runLeaseTests()},
		{"RetriesOfMany", manyRetryTests()},
		{"Calibrations", calibrationTests()},
		{"Drift", driftTests()},
		{"Files", fileTests()},
		{"Storage", storageTests()},
		{"Reading", readingTests()},
		{"FileDeletion", fileDeletionTests()},
		{"Labels", labelTests()},
		{"Clocks", clockTests()},
		{"Steps", stepTests()},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range g.tests {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(t, newFixture(t, open(t)))
				})
			}
		})
	}
	models := map[string]func(*testing.T, func(*testing.T) sqlstore.Store){
		"RunsModel": checkRunsAgainstModel, "RetriesOfManyModel": checkRetriesAgainstModel, "Model": checkAgainstModel,
		"UsageModel": checkUsageAgainstModel, "ChangesModel": checkChangesAgainstModel, "SearchModel": checkSearchAgainstModel,
		"DistributionModel": checkDistributionAgainstModel, "DefinitionsModel": checkDefinitionsAgainstModel,
	}
	for name, check := range models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open)
		})
	}
}

// tenant is an account with a key and a prism.
type tenant struct {
	account prism.AccountID
	keyID   prism.KeyID
	digest  contract.KeyDigest
	prism   prism.Prism
}

// fixture is a store with two tenants that differ only in their ids.
type fixture struct {
	sqlstore.Store
	mine, theirs tenant
	ctx          context.Context // of the test, for properties

	mu           sync.Mutex
	ids, entries int
	far          bool // many results of mine are saved, so that webhooks are behind
}

func newFixture(t *testing.T, s sqlstore.Store) *fixture {
	t.Helper()
	f := &fixture{Store: s}
	f.mine, f.theirs = f.tenant(t, "mine"), f.tenant(t, "theirs")
	return f
}

// Placing is a store with accounts in several databases. Between databases no work has an order: each leases its own.
type Placing interface {
	// PlaceTogether has all accounts that are made from now on be in one database.
	PlaceTogether()
}

// takeTurns has the tenants be in one database, for a test of the order of what is leased to accounts.
func (f *fixture) takeTurns(t *testing.T) {
	t.Helper()
	if s, several := f.Store.(Placing); several {
		s.PlaceTogether()
		f.mine, f.theirs = f.tenant(t, "near"), f.tenant(t, "others")
	}
}

func (f *fixture) tenant(t *testing.T, name string) tenant {
	t.Helper()
	n := tenant{
		account: prism.AccountID{UUID: f.id()},
		keyID:   prism.KeyID{UUID: f.id()},
		digest:  contract.KeyDigest{1: name[0], 31: 1},
		prism:   f.newPrism("triage"),
	}
	succeeds(t, f.CreateAccount(t.Context(), n.account, name, moment(0)))
	key := keys.APIKey{ID: n.keyID, Name: "the key", Prefix: "prism_abc", Role: prism.Editor, CreatedAt: moment(0)}
	succeeds(t, f.CreateKey(t.Context(), n.account, key, n.digest))
	succeeds(t, f.CreatePrism(t.Context(), n.account, n.prism))
	return n
}

// id is a new id, greater than all before.
func (f *fixture) id() prism.UUID {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	return NumberedID(f.ids)
}

// NumberedID is the nth id that a test of the suite creates. Its time is that of the fixture's account.
func NumberedID(n int) prism.UUID {
	id := prism.FirstUUID(moment(0))
	id[14], id[15] = byte(n>>8), byte(n)
	return id
}

func (f *fixture) resultID() prism.ResultID { return prism.ResultID{UUID: f.id()} }

// moment is a time as precise as results store it.
func moment(ms int) time.Time {
	return time.Date(2026, time.March, 29, 0, 59, 59, int(999*time.Millisecond), time.UTC).
		Add(time.Duration(ms) * time.Millisecond)
}

func (f *fixture) newPrism(slug string) prism.Prism {
	return prism.Prism{
		ID: prism.PrismID{UUID: f.id()}, Slug: slug, Name: "Customer “triage” 🙂", CreatedAt: moment(1),
		Lens: lens("urgent"), Latest: version(1), VersionsHash: math.MaxInt64,
	}
}

// changed is a prism as AddVersion stores it.
func changed(id prism.PrismID, number int32, l prism.Lens) prism.Prism {
	return prism.Prism{ID: id, Latest: version(number), Lens: l, VersionsHash: math.MinInt64 + int64(number)}
}

func (f *fixture) addPrism(t *testing.T, of tenant, slug string) prism.Prism {
	t.Helper()
	p := f.newPrism(slug)
	succeeds(t, f.CreatePrism(t.Context(), of.account, p))
	return p
}

func lens(name string) prism.Lens {
	yes := 0.75
	return prism.Lens{Columns: []prism.Column{
		{Name: name, Question: "urgent", Show: prism.ShowAnswer, YesAt: &yes},
		{Name: name + "_probability", Question: "urgent", Show: prism.ShowProbability},
	}}
}

func version(number int32) prism.Version {
	return prism.Version{
		Number: number, CreatedAt: moment(int(number)),
		Definition: prism.Definition{
			Instructions: "Read \"everything\" <twice> & answer\r\n",
			Model:        "fast",
			Fields:       []prism.Field{{Key: "zulu", Label: "Z"}, {Key: "alpha"}},
			Questions: []prism.Question{
				{Key: "urgent", Type: prism.YesNo, Text: "Is it urgent? 急"},
				{
					Key: "topic", Type: prism.Choice, Text: "Which?", InsufficientInformation: true,
					Options: []prism.Option{{Key: "b", Label: "B, “quoted”", Description: "d"}, {Key: "a", Label: "A"}},
				},
				{
					Key: "mood", Type: prism.Scale, Text: "How?",
					Levels: []prism.Level{{Key: "low", Label: "Low", Value: new(-1.5)}, {Key: "up", Label: "Up", Value: new(2.0)}},
				},
			},
		},
	}
}

// tagged is version 1 with a question of which any number of options can be right. One of them has the key of an option of a choice.
func tagged() prism.Version {
	v := version(1)
	v.Questions = append(v.Questions, prism.Question{
		Key: "tags", Type: prism.Tags, Text: "What applies?", Options: []prism.Option{{Key: "vip", Label: "VIP"}, {Key: "a", Label: "A"}},
	})
	return v
}

// ok is a new result of a prism's version 1 that succeeded.
func (f *fixture) ok(of prism.Prism) prism.Result {
	return prism.Result{
		ID: f.resultID(), Prism: of.ID, Version: 1, Context: "a call",
		Fields: []prism.FieldValue{{Key: "zulu", Value: "help!"}, {Key: "alpha", Value: ""}},
		Status: prism.OK, TookMS: 1234, CreatedAt: moment(10),
		Answers: []byte(`{"urgent":{"type":"yes_no","probability":0.9}}`),
	}
}

// failed is a new result of a prism's version 1 that failed.
func (f *fixture) failed(of prism.Prism) prism.Result {
	r := f.ok(of)
	r.Status, r.Answers, r.Error = prism.Failed, nil, "The model did not answer within 15 seconds."
	return r
}

func keyed(r prism.Result, key string) prism.Result {
	r.IdempotencyKey = key
	return r
}

// save saves the result of a first call of mine.
func (f *fixture) save(t *testing.T, r prism.Result) store.Saved {
	t.Helper()
	saved, err := f.SaveResult(t.Context(), f.mine.account, r)
	succeeds(t, err)
	return saved
}

func (f *fixture) retry(t *testing.T, r, of prism.Result) store.Saved {
	t.Helper()
	saved, err := f.SaveRetry(t.Context(), f.mine.account, r, of.ID)
	succeeds(t, err)
	return saved
}

// stored reads a result of mine back; nil if there is none.
func (f *fixture) stored(t *testing.T, id prism.ResultID) *prism.Result {
	t.Helper()
	facts, err := f.ResultFacts(t.Context(), f.mine.digest, id, store.WithInput)
	succeeds(t, err)
	return facts.Result
}

// holder is the result of mine that holds the idempotency key.
func (f *fixture) holder(t *testing.T, key string) *prism.Result {
	t.Helper()
	facts, err := f.CreateFacts(t.Context(), contract.CreateQuery{
		Key: f.mine.digest, Prism: prism.Ref{ID: f.mine.prism.ID}, IdempotencyKey: key,
	})
	succeeds(t, err)
	return facts.Stored
}

// holds fails the test unless the result holds the key.
func (f *fixture) holds(t *testing.T, key string, id prism.ResultID) {
	t.Helper()
	if r := f.holder(t, key); r == nil || r.ID != id {
		t.Errorf("the key is held by %v, want %s", r, id)
	}
}

// count is the number of results of mine.
func (f *fixture) count(t *testing.T) int {
	t.Helper()
	all, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{}, store.WithoutInput, store.Page{Limit: 1000})
	succeeds(t, err)
	return len(all)
}

func state(p prism.Prism) store.PrismState {
	return store.PrismState{
		ID: p.ID, Slug: p.Slug, Archived: p.ArchivedAt != nil, Latest: p.Latest.Number, Lens: stored(p.Lens),
		VersionsHash: p.VersionsHash, Pins: p.Pins,
	}
}

// stored is the JSON of a Lens.
func stored(l prism.Lens) string {
	b, err := strictjson.Marshal(l)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func failsWith(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", short(got), short(want))
	}
}

// together calls fn n times concurrently and returns the errors.
func together(n int, fn func(i int) error) []error {
	var (
		begin = make(chan struct{})
		group sync.WaitGroup
		errs  = make([]error, n)
	)
	for i := range n {
		group.Go(func() {
			<-begin
			errs[i] = fn(i)
		})
	}
	close(begin)
	group.Wait()
	return errs
}

// winner is the index of the only call that succeeded; lostRace must accept the errors of the others.
func winner(t *testing.T, errs []error, lostRace func(error) bool) int {
	t.Helper()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Fatalf("calls %d and %d both won", won, i)
		case err == nil:
			won = i
		case !lostRace(err):
			t.Fatalf("call %d failed with %v", i, err)
		}
	}
	if won < 0 {
		t.Fatal("no call won")
	}
	return won
}

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

// long is a value of the greatest length that the gateway accepts, with characters of every length in UTF-8.
func long() string { return strings.Repeat("aé急🙂", 25_000) }

func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
