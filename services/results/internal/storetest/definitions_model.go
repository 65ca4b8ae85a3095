package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// definitionsModel is a simple model of prisms, versions, archiving, API keys, and the audit of all these.
type definitionsModel struct {
	store   sqlstore.Store
	ctx     context.Context // of the test that owns the model
	account prism.AccountID
	prisms  []prism.Prism
	keys    []keys.APIKey
	digests []contract.KeyDigest // of keys, in the same order
	entries []audit.Entry        // in the order of the changes
	ids     *int
}

func checkDefinitionsAgainstModel(t *testing.T, open func(t *testing.T) sqlstore.Store) {
	s := open(t)
	ids := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := &definitionsModel{store: s, ctx: t.Context(), ids: &ids}
		m.account = prism.AccountID{UUID: m.id()}
		name, by := fmt.Sprintf("account %d", ids), m.by(moment(0))
		must(rt, s.CreateAccount(m.ctx, m.account, name, by))
		m.record(by, store.AccountCreate, store.Object{Kind: store.AccountObject, ID: m.account.UUID, Name: name}, `{}`)
		steps := []func(*rapid.T){
			m.create, m.create, m.addVersion, m.addVersion, m.putLens, m.rename, m.setSearchable, m.archive, m.archive, m.createKey, m.revokeKey,
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		m.agrees(rt)
	})
}

func (m *definitionsModel) id() prism.UUID {
	*m.ids++
	return NumberedID(*m.ids)
}

func (m *definitionsModel) by(at time.Time) store.By {
	return store.By{Entry: m.id(), At: at, Actor: operator()}
}

// record expects an entry.
func (m *definitionsModel) record(by store.By, action store.Action, object store.Object, detail string) {
	m.entries = append(m.entries, audit.Entry{
		ID: by.Entry, At: by.At, Actor: by.Actor, Action: action, Object: object, Detail: []byte(detail),
	})
}

func (m *definitionsModel) recordPrism(by store.By, action store.Action, p prism.Prism, detail string) {
	m.record(by, action, store.Object{Kind: store.PrismObject, ID: p.ID.UUID, Name: p.Slug}, detail)
}

// pick is the index of an existing item, or -1.
func pick[T any](t *rapid.T, of []T) int {
	if len(of) == 0 {
		return -1
	}
	return rapid.IntRange(0, len(of)-1).Draw(t, "which")
}

func (m *definitionsModel) create(t *rapid.T) {
	p := prism.Prism{
		ID: prism.PrismID{UUID: m.id()}, Slug: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "slug"),
		CreatedAt: moment(rapid.IntRange(1, 3).Draw(t, "at")), Lens: lens("first"), Latest: version(1),
		Unsearchable: rapid.Bool().Draw(t, "unsearchable"),
	}
	by := m.by(p.CreatedAt)
	err := m.store.CreatePrism(m.ctx, m.account, p, by)
	if slices.ContainsFunc(m.prisms, func(other prism.Prism) bool { return other.Slug == p.Slug }) {
		fails(t, err, store.ErrSlugTaken)
		return
	}
	must(t, err)
	m.prisms = append(m.prisms, p)
	m.recordPrism(by, store.PrismCreate, p, `{"version":1}`)
}

func (m *definitionsModel) addVersion(t *rapid.T) {
	i := pick(t, m.prisms)
	if i < 0 {
		return
	}
	p := &m.prisms[i]
	next, by := *p, m.by(moment(1))
	next.Latest, next.Lens = version(p.Latest.Number+rapid.Int32Range(0, 1).Draw(t, "above")), lens("added")
	next.VersionsHash = rapid.Int64().Draw(t, "hash")
	was, same := m.was(t, *p)
	err := m.store.AddVersion(m.ctx, m.account, next, was, by)
	if m.refused(t, err, p, same && next.Latest.Number == p.Latest.Number+1) {
		return
	}
	*p = next
	m.recordPrism(by, store.VersionCreate, *p, fmt.Sprintf(`{"version":%d}`, p.Latest.Number))
}

func (m *definitionsModel) setSearchable(t *rapid.T) {
	nobody := prism.PrismID{UUID: m.id()}
	fails(t, m.store.SetSearchable(m.ctx, m.account, nobody, false, m.by(moment(1))), store.ErrNotFound)
	i := pick(t, m.prisms)
	if i < 0 {
		return
	}
	p, by, searchable := &m.prisms[i], m.by(moment(1)), rapid.Bool().Draw(t, "searchable")
	must(t, m.store.SetSearchable(m.ctx, m.account, p.ID, searchable, by))
	if p.Unsearchable == searchable {
		p.Unsearchable = !searchable
		m.recordPrism(by, store.PrismSearch, *p, fmt.Sprintf(`{"searchable":%t}`, searchable))
	}
}

func (m *definitionsModel) putLens(t *rapid.T) {
	i := pick(t, m.prisms)
	if i < 0 {
		return
	}
	p := &m.prisms[i]
	against := max(1, p.Latest.Number-rapid.Int32Range(0, 1).Draw(t, "behind"))
	l := lens(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "lens"))
	by := m.by(moment(1))
	was, same := m.was(t, *p)
	err := m.store.PutLens(m.ctx, m.account, p.ID, against, l, was, by)
	if m.refused(t, err, p, same && against == p.Latest.Number) {
		return
	}
	p.Lens = l
	m.recordPrism(by, store.LensReplace, *p, fmt.Sprintf(`{"version":%d}`, against))
}

// was is a condition of a change, and whether the prism meets it.
func (m *definitionsModel) was(t *rapid.T, p prism.Prism) (*prism.Prism, bool) {
	at := moment(100)
	switch rapid.SampledFrom([]string{"", "", "same", "name", "lens", "archived", "version"}).Draw(t, "was") {
	case "":
		return nil, true
	case "name":
		p.Name += "x"
	case "lens":
		p.Lens = lens("seen")
	case "archived":
		p.ArchivedAt = &at
	case "version":
		p.Latest.Number++
	default:
		return &p, true
	}
	return &p, false
}

func (m *definitionsModel) rename(t *rapid.T) {
	i := pick(t, m.prisms)
	if i < 0 {
		return
	}
	p, by := &m.prisms[i], m.by(moment(1))
	name := rapid.SampledFrom([]string{"", "one", "“two”"}).Draw(t, "name")
	if m.refused(t, m.store.Rename(m.ctx, m.account, p.ID, name, by), p, true) || p.Name == name {
		return
	}
	p.Name = name
	m.recordPrism(by, store.PrismRename, *p, `{}`)
}

// refused checks the errors of changes to an archived prism, or based on an older version.
func (m *definitionsModel) refused(t *rapid.T, err error, p *prism.Prism, fresh bool) bool {
	switch {
	case p.ArchivedAt != nil && !fresh: // both are true
		if !errors.Is(err, store.ErrArchived) && !errors.Is(err, store.ErrStale) {
			t.Fatalf("got error %v, want %v or %v", err, store.ErrArchived, store.ErrStale)
		}
	case p.ArchivedAt != nil:
		fails(t, err, store.ErrArchived)
	case !fresh:
		fails(t, err, store.ErrStale)
	default:
		must(t, err)
		return false
	}
	return true
}

func (m *definitionsModel) archive(t *rapid.T) {
	i := pick(t, m.prisms)
	if i < 0 {
		return
	}
	p := &m.prisms[i]
	by := m.by(moment(rapid.IntRange(4, 9).Draw(t, "at")))
	if rapid.Bool().Draw(t, "unarchive") {
		stored, err := m.store.SetArchived(m.ctx, m.account, p.ID, false, by)
		must(t, err)
		if p.ArchivedAt != nil {
			m.recordPrism(by, store.PrismUnarchive, *p, `{}`)
		}
		p.ArchivedAt = nil
		if stored != nil {
			t.Fatalf("stored %v", stored)
		}
		return
	}
	stored, err := m.store.SetArchived(m.ctx, m.account, p.ID, true, by)
	must(t, err)
	if p.ArchivedAt == nil { // a second archiving keeps the first time
		p.ArchivedAt = &by.At
		m.recordPrism(by, store.PrismArchive, *p, `{}`)
	}
	if !reflect.DeepEqual(stored, p.ArchivedAt) {
		t.Fatalf("stored %v, want %v", stored, p.ArchivedAt)
	}
}

func (m *definitionsModel) createKey(t *rapid.T) {
	k := keys.APIKey{
		ID: prism.KeyID{UUID: m.id()}, Name: "n", Prefix: "prism_x", CreatedAt: moment(rapid.IntRange(1, 3).Draw(t, "at")),
		Role: rapid.SampledFrom(prism.Roles()).Draw(t, "role"),
	}
	detail := fmt.Sprintf(`{"role":%q}`, k.Role)
	if rapid.Bool().Draw(t, "expires") {
		at := moment(rapid.IntRange(4, 9).Draw(t, "expires_at"))
		k.ExpiresAt = &at
		detail = fmt.Sprintf(`{"role":%q,"expires_at":%q}`, k.Role, prism.FormatTime(at))
	}
	digest := contract.KeyDigest{1, 30: byte(*m.ids >> 8), 31: byte(*m.ids)}
	by := m.by(k.CreatedAt)
	must(t, m.store.CreateKey(m.ctx, m.account, k, digest, keys.MaxActiveKeys, by))
	m.record(by, store.KeyCreate, store.Object{Kind: store.KeyObject, ID: k.ID.UUID, Name: k.Name}, detail)
	m.keys, m.digests = append(m.keys, k), append(m.digests, digest)
}

func (m *definitionsModel) revokeKey(t *rapid.T) {
	i := pick(t, m.keys)
	if i < 0 {
		return
	}
	by := m.by(moment(rapid.IntRange(4, 9).Draw(t, "at")))
	got, err := m.store.RevokeKey(m.ctx, m.account, m.keys[i].ID, by)
	must(t, err)
	if m.keys[i].RevokedAt == nil {
		m.keys[i].RevokedAt = &by.At
		m.record(by, store.KeyRevoke, store.Object{Kind: store.KeyObject, ID: got.ID.UUID, Name: got.Name}, `{}`)
	}
	alike(t, got, m.keys[i])
}

func (m *definitionsModel) agrees(t *rapid.T) {
	var live, archived []prism.Prism
	for _, p := range m.prisms {
		for _, ref := range []prism.Ref{{ID: p.ID}, {Slug: p.Slug}} {
			got, err := m.store.Prism(m.ctx, m.account, ref)
			must(t, err)
			alike(t, got, p)
		}
		var versions []prism.Version
		for n := p.Latest.Number; n >= 1; n-- {
			v, err := m.store.Version(m.ctx, m.account, p.ID, n)
			must(t, err)
			alike(t, v, version(n))
			versions = append(versions, v)
		}
		below := rapid.Int32Range(1, p.Latest.Number+1).Draw(t, "below")
		limit := rapid.IntRange(1, 3).Draw(t, "limit")
		listed, more, err := m.store.ListVersions(m.ctx, m.account, p.ID, below, limit)
		must(t, err)
		behind := versions[p.Latest.Number+1-below:]
		if more != (len(behind) > limit) || len(listed) != min(limit, len(behind)) {
			t.Fatalf("%d versions below %d, more %v", len(listed), below, more)
		}
		for i, v := range listed {
			alike(t, v, behind[i])
		}
		_, err = m.store.Version(m.ctx, m.account, p.ID, p.Latest.Number+1)
		fails(t, err, store.ErrNotFound)
		if p.ArchivedAt != nil {
			archived = append(archived, p)
		} else {
			live = append(live, p)
		}
	}
	for which, want := range map[prisms.Which][]prism.Prism{
		prisms.Live: live, prisms.Archived: archived, prisms.All: slices.Concat(live, archived),
	} {
		got, _, err := m.store.ListPrisms(m.ctx, m.account, which, store.Page{Limit: 100})
		must(t, err)
		slices.SortFunc(want, func(a, b prism.Prism) int { return bytes.Compare(b.ID.UUID[:], a.ID.UUID[:]) })
		if len(got) != 0 || len(want) != 0 {
			alike(t, got, want)
		}
	}
	for i, k := range m.keys {
		facts, err := m.store.Authenticate(m.ctx, m.digests[i])
		must(t, err)
		want := store.Caller{Account: m.account, Key: k.ID, Role: k.Role, ExpiresAt: k.ExpiresAt}
		if k.RevokedAt != nil {
			want = store.Caller{}
		}
		alike(t, facts, want)
	}
	keys := slices.SortedFunc(slices.Values(m.keys), func(a, b keys.APIKey) int {
		return bytes.Compare(b.ID.UUID[:], a.ID.UUID[:])
	})
	got, _, err := m.store.ListKeys(m.ctx, m.account, store.Page{Limit: 1000})
	must(t, err)
	if len(got) != 0 || len(keys) != 0 {
		alike(t, got, keys)
	}
	entries, _, err := m.store.ListAudit(m.ctx, m.account, audit.Filter{}, store.Page{Limit: 1000})
	must(t, err)
	slices.Reverse(entries)
	alike(t, entries, m.entries)
}

func fails(t *rapid.T, err, want error) {
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func alike(t *rapid.T, got, want any) {
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %s\nwant %s", short(got), short(want))
	}
}
