package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

func auditTests() []test {
	return []test{
		// spec: audit-actions, audit-entry-members, audit-holds-no-values
		{"each change has an entry with who, when and what", func(t *testing.T, f *fixture) { f.eachChange(t) }},
		// spec: audit-changes-only
		{"a change that is refused or changes nothing has no entry", func(t *testing.T, f *fixture) {
			at := moment(5)
			f.archive(t, f.mine.prism.ID, 5)
			second := f.addPrism(t, f.mine, "second")
			_, err := f.RevokeKey(t.Context(), f.mine.account, f.mine.keyID, at)
			succeeds(t, err)
			ctx, me, archivedID := t.Context(), f.mine.account, f.mine.prism.ID
			another := prism.AccountID{UUID: f.id()}
			before := f.audit(t, audit.Filter{})
			for _, c := range []struct{ err, want error }{
				{f.CreateAccount(ctx, another, "mine", at), store.ErrNameTaken},
				{f.CreatePrism(ctx, me, f.newPrism("triage")), store.ErrSlugTaken},
				{f.AddVersion(ctx, me, changed(archivedID, 2, lens("l"))), store.ErrArchived},
				{f.AddVersion(ctx, me, changed(second.ID, 9, lens("l"))), store.ErrStale},
				{f.AddVersion(ctx, me, changed(f.theirs.prism.ID, 2, lens("l"))), store.ErrNotFound},
				{f.PutLens(ctx, me, archivedID, 1, lens("l")), store.ErrArchived},
				{f.PutLens(ctx, me, second.ID, 2, lens("l")), store.ErrStale},
				{archived(f.SetArchived(ctx, me, archivedID, &at)), nil},
				{archived(f.SetArchived(ctx, me, second.ID, nil)), nil},
				{archived(f.SetArchived(ctx, me, f.theirs.prism.ID, &at)), store.ErrNotFound},
				{revoked(f.RevokeKey(ctx, me, f.mine.keyID, at)), nil},
				{revoked(f.RevokeAnyKey(ctx, f.mine.keyID, at)), nil},
				{revoked(f.RevokeKey(ctx, me, f.theirs.keyID, at)), store.ErrNotFound},
				{limited(f.SetLimits(ctx, me, keys.LimitsChange{Concurrency: new(int32(0))})), nil},
				{limited(f.SetLimits(ctx, another, keys.LimitsChange{Concurrency: new(int32(1))})), store.ErrNotFound},
			} {
				failsWith(t, c.err, c.want)
			}
			same(t, f.audit(t, audit.Filter{}), before)
			same(t, len(before), 6)
			none, _, err := f.ListAudit(ctx, another, audit.Filter{}, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(none), 0)
		}},
		{"creating, retrying and reading results has no entry", func(t *testing.T, f *fixture) {
			before := f.audit(t, audit.Filter{})
			old := f.save(t, keyed(f.failed(f.mine.prism), "a key")).Result
			f.retry(t, f.ok(f.mine.prism), old)
			succeeds(t, f.TouchKeys(t.Context(), map[prism.KeyID]time.Time{f.mine.keyID: moment(9)}))
			same(t, f.audit(t, audit.Filter{}), before)
		}},
		// spec: audit-in-the-transaction
		{"a change whose entry can't be written is not made", func(t *testing.T, f *fixture) { f.unrecordable(t) }},
		{"of changes at once that have one effect, one has an entry", func(t *testing.T, f *fixture) {
			ctx, me := t.Context(), f.mine.account
			before := len(f.audit(t, audit.Filter{}))
			for _, err := range together(racers, func(i int) error {
				at := moment(i)
				_, archiving := f.SetArchived(ctx, me, f.mine.prism.ID, &at)
				_, revoking := f.RevokeKey(ctx, me, f.mine.keyID, at)
				return errors.Join(archiving, revoking)
			}) {
				succeeds(t, err)
			}
			var actions []store.Action
			for _, e := range f.audit(t, audit.Filter{})[:2] {
				actions = append(actions, e.Action)
			}
			slices.Sort(actions)
			same(t, actions, []store.Action{store.KeyRevoke, store.PrismArchive})
			same(t, len(f.audit(t, audit.Filter{})), before+2)
		}},
		// spec: audit-list
		{"entries are listed newest first, page by page, narrowed by actor and time", func(t *testing.T, f *fixture) { f.narrowed(t) }},
		{"entries of another account are not listed", func(t *testing.T, f *fixture) {
			got, _, err := f.ListAudit(t.Context(), f.mine.account, audit.Filter{Key: &f.theirs.keyID}, store.Page{Limit: 9})
			succeeds(t, err)
			same(t, len(got), 0)
			for _, e := range f.audit(t, audit.Filter{}) {
				if e.Object.ID == f.theirs.account.UUID || e.Object.ID == f.theirs.keyID.UUID || e.Object.ID == f.theirs.prism.ID.UUID {
					t.Errorf("%+v is theirs", e)
				}
			}
		}},
	}
}

// audit is the audit of mine, read in pages.
func (f *fixture) audit(t *testing.T, filter audit.Filter) []audit.Entry {
	t.Helper()
	return pages(t, 2, func(p store.Page) ([]audit.Entry, bool, error) {
		return f.ListAudit(t.Context(), f.mine.account, filter, p)
	}, func(e audit.Entry) prism.UUID { return e.ID })
}

// limited is the error of SetLimits.
func limited(_ prism.Limits, err error) error { return err }

// revoked is the error of RevokeKey.
func revoked(_ keys.APIKey, err error) error { return err }

// eachChange makes every change once, in an account of its own.
func (f *fixture) eachChange(t *testing.T) {
	t.Helper()
	ctx, account, expires := t.Context(), prism.AccountID{UUID: f.id()}, moment(5000)
	owner := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "the “owner” 🙂", Role: prism.Owner, CreatedAt: moment(1)}
	short := keys.APIKey{
		ID: prism.KeyID{UUID: f.id()}, Name: "short", Role: prism.Reader, CreatedAt: moment(1), ExpiresAt: &expires,
	}
	p := f.newPrism("audited")
	var want []audit.Entry
	// by expects an entry of the change that it is given to.
	by := func(actor store.Actor, action store.Action, object store.Object, detail string) store.By {
		b := f.by(moment(100 + len(want)))
		b.Actor = actor
		if actor.Kind == store.KeyActor {
			actor.Name = owner.Name // as the store finds it
		}
		want = append(want, audit.Entry{ID: b.Entry, At: b.At, Actor: actor, Action: action, Object: object, Detail: []byte(detail)})
		return b
	}
	key := store.Actor{Kind: store.KeyActor, Key: owner.ID}
	anAccount := store.Object{Kind: store.AccountObject, ID: account.UUID, Name: "audited"}
	ownerKey := store.Object{Kind: store.KeyObject, ID: owner.ID.UUID, Name: owner.Name}
	shortKey := store.Object{Kind: store.KeyObject, ID: short.ID.UUID, Name: short.Name}
	aPrism := store.Object{Kind: store.PrismObject, ID: p.ID.UUID, Name: "audited"}

	succeeds(t, f.Store.CreateAccount(ctx, account, "audited", by(operator(), store.AccountCreate, anAccount, `{}`)))
	limits := func(c keys.LimitsChange, by store.By) error {
		_, err := f.Store.SetLimits(ctx, account, c, by)
		return err
	}
	some := keys.LimitsChange{RequestsPerSecond: new(int32(5)), ResultsPerDay: new(int32(9))}
	detail := `{"requests_per_second":5,"results_per_day":9}`
	succeeds(t, limits(some, by(operator(), store.AccountLimits, anAccount, detail)))
	some = keys.LimitsChange{RequestsPerSecond: new(int32(0)), ResultsPerDay: new(int32(0))}
	succeeds(t, limits(some, by(operator(), store.AccountLimits, anAccount, `{}`)))
	claim := prism.Claim{Name: "hd", Value: "example.com"}
	granted := by(operator(), store.AccountClaims, anAccount, `{"claim":"hd","granted":true}`)
	succeeds(t, f.GrantClaim(ctx, account, claim, true, granted))
	detail = `{"role":"owner"}`
	succeeds(t, f.Store.CreateKey(ctx, account, owner, contract.KeyDigest{8}, 9, by(operator(), store.KeyCreate, ownerKey, detail)))
	detail = `{"role":"reader","expires_at":"2026-03-29T01:00:04.999Z"}`
	succeeds(t, f.Store.CreateKey(ctx, account, short, contract.KeyDigest{9}, 9, by(key, store.KeyCreate, shortKey, detail)))
	succeeds(t, f.Store.CreatePrism(ctx, account, p, by(key, store.PrismCreate, aPrism, `{"version":1}`)))
	succeeds(t, f.Store.AddVersion(ctx, account, changed(p.ID, 2, lens("l")), nil, by(key, store.VersionCreate, aPrism, `{"version":2}`)))
	succeeds(t, f.Store.PutLens(ctx, account, p.ID, 2, lens("m"), nil, by(key, store.LensReplace, aPrism, `{"version":2}`)))
	succeeds(t, archived(f.Store.SetArchived(ctx, account, p.ID, true, by(key, store.PrismArchive, aPrism, `{}`))))
	succeeds(t, archived(f.Store.SetArchived(ctx, account, p.ID, false, by(key, store.PrismUnarchive, aPrism, `{}`))))
	succeeds(t, revoked(f.Store.RevokeKey(ctx, account, short.ID, by(key, store.KeyRevoke, shortKey, `{}`))))
	succeeds(t, revoked(f.Store.RevokeAnyKey(ctx, owner.ID, by(operator(), store.KeyRevoke, ownerKey, `{}`))))

	got, _, err := f.ListAudit(ctx, account, audit.Filter{}, store.Page{Limit: 100})
	succeeds(t, err)
	slices.Reverse(got)
	same(t, got, want)
}

// unrecordable makes each change with the id of an entry that is there: the entry can't be written.
func (f *fixture) unrecordable(t *testing.T) {
	t.Helper()
	ctx, me := t.Context(), f.mine.account
	archive := f.addPrism(t, f.mine, "to-archive")
	unarchive := f.addPrism(t, f.mine, "archived")
	f.archive(t, unarchive.ID, 5)
	before := f.audit(t, audit.Filter{})
	taken := store.By{Entry: before[0].ID, At: moment(7), Actor: operator()}
	k := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Role: prism.Caller, CreatedAt: moment(1)}
	fresh := f.newPrism("fresh")
	for change, err := range map[string]error{
		"creating a key":     f.Store.CreateKey(ctx, me, k, contract.KeyDigest{8}, 9, taken),
		"creating a prism":   f.Store.CreatePrism(ctx, me, fresh, taken),
		"adding a version":   f.Store.AddVersion(ctx, me, changed(f.mine.prism.ID, 2, lens("l")), nil, taken),
		"replacing the Lens": f.Store.PutLens(ctx, me, f.mine.prism.ID, 1, lens("l"), nil, taken),
		"limiting":           limited(f.Store.SetLimits(ctx, me, keys.LimitsChange{Concurrency: new(int32(1))}, taken)),
		"granting a claim":   f.GrantClaim(ctx, me, prism.Claim{Name: "hd", Value: "v"}, true, taken),
		"archiving":          archived(f.Store.SetArchived(ctx, me, archive.ID, true, taken)),
		"unarchiving":        archived(f.Store.SetArchived(ctx, me, unarchive.ID, false, taken)),
		"revoking":           revoked(f.Store.RevokeKey(ctx, me, f.mine.keyID, taken)),
		"revoking any":       revoked(f.Store.RevokeAnyKey(ctx, f.mine.keyID, taken)),
	} {
		if err == nil {
			t.Errorf("%s succeeded", change)
		}
	}
	f.unchanged(t)
	f.limitsAre(t, nil)
	claims, err := f.ListClaims(ctx, me)
	succeeds(t, err)
	same(t, len(claims), 0)
	for id, isArchived := range map[prism.PrismID]bool{archive.ID: false, unarchive.ID: true} {
		p, err := f.Prism(ctx, me, prism.Ref{ID: id})
		succeeds(t, err)
		same(t, p.ArchivedAt != nil, isArchived)
	}
	_, err = f.Prism(ctx, me, prism.Ref{Slug: "fresh"})
	failsWith(t, err, store.ErrNotFound)
	listed, _, err := f.ListKeys(ctx, me, store.Page{Limit: 10})
	succeeds(t, err)
	same(t, listed, []keys.APIKey{f.firstKey()})
	same(t, f.audit(t, audit.Filter{}), before)

	// The first entry of an account has no other to meet, so this one lacks what the table demands.
	account := prism.AccountID{UUID: f.id()}
	broken := store.By{Entry: f.id(), At: moment(7), Actor: store.Actor{Kind: store.KeyActor}}
	if err := f.Store.CreateAccount(ctx, account, "broken", broken); err == nil {
		t.Error("creating an account succeeded")
	}
	_, err = f.AccountByName(ctx, "broken")
	failsWith(t, err, store.ErrNotFound)
}

// narrowed compares every filter with what it should find among entries of two keys and an operator. The times have
// another order than the ids.
func (f *fixture) narrowed(t *testing.T) {
	t.Helper()
	other := keys.APIKey{ID: prism.KeyID{UUID: f.id()}, Name: "other", Role: prism.Editor, CreatedAt: moment(1)}
	succeeds(t, f.CreateKey(t.Context(), f.mine.account, other, contract.KeyDigest{8}))
	first, second := f.mine.keyID, other.ID
	actors := []store.Actor{{Kind: store.KeyActor, Key: first}, {Kind: store.KeyActor, Key: second}, operator()}
	for i := range 9 {
		by := f.by(moment(100 + i*7%5))
		by.Actor = actors[i%len(actors)]
		succeeds(t, f.Store.PutLens(t.Context(), f.mine.account, f.mine.prism.ID, 1, lens("l"), nil, by))
	}
	late := f.by(moment(0).Add(store.MaxIDAge)) // written long after its id was chosen
	succeeds(t, f.Store.PutLens(t.Context(), f.mine.account, f.mine.prism.ID, 1, lens("l"), nil, late))
	all := f.audit(t, audit.Filter{})
	same(t, len(all), 14)
	if !slices.IsSortedFunc(all, func(a, b audit.Entry) int { return slices.Compare(b.ID[:], a.ID[:]) }) {
		t.Error("the entries are not in the order of their ids")
	}
	unknown := prism.KeyID{UUID: f.id()}
	for _, filter := range []audit.Filter{
		{}, {Key: &first}, {Key: &second}, {Key: &unknown}, {Key: &prism.KeyID{}}, {Kind: store.OperatorActor},
	} {
		for _, between := range [][2]time.Time{
			{}, {moment(102)}, {{}, moment(103)}, {moment(102), moment(103)}, {late.At, late.At.Add(time.Millisecond)},
		} {
			filter.From, filter.To = between[0], between[1]
			var want []audit.Entry
			for _, e := range all {
				if (filter.Key == nil || e.Actor.Kind == store.KeyActor && e.Actor.Key == *filter.Key) &&
					(filter.Kind == "" || e.Actor.Kind == filter.Kind) &&
					!e.At.Before(filter.From) && (filter.To.IsZero() || e.At.Before(filter.To)) {
					want = append(want, e)
				}
			}
			same(t, f.audit(t, filter), want)
		}
	}
}
