package members

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Bounds of what a provider of OpenID Connect says of somebody.
const (
	maxIdentity = 500 // bytes of an issuer, a subject or a claim
	maxShown    = 200 // characters of a name or an address
	maxClaims   = 200 // texts of claims
)

// Link implements contract.Console.
func (s *Handlers) Link(ctx context.Context, link contract.LinkDigest) (contract.LinkOwner, error) {
	owner, err := s.store.Link(ctx, link, prism.Now(s.now))
	return owner, access.Translate(err, nil)
}

// SignIn implements contract.Console.
func (s *Handlers) SignIn(ctx context.Context, in contract.SignIn) (contract.Session, error) {
	return s.signIn(ctx, SignIn{Session: in.Session, Earlier: in.Earlier, Link: &in.Link})
}

// SignInAs implements contract.Console.
func (s *Handlers) SignInAs(ctx context.Context, in contract.SignInAs) (contract.Session, error) {
	i, ok := bounded(in.Identity)
	if !ok || in.Account != "" && !storable(in.Account) {
		return contract.Session{}, apierr.NotAMember()
	}
	return s.signIn(ctx, SignIn{Session: in.Session, Earlier: in.Earlier, Link: in.Link, Identity: &i, Account: in.Account})
}

func (s *Handlers) signIn(ctx context.Context, in SignIn) (contract.Session, error) {
	id, err := s.newID()
	if err != nil {
		return contract.Session{}, err
	}
	in.ID, in.NewID, in.At = id, s.newID, prism.Now(s.now)
	begun, err := s.store.SignIn(ctx, in)
	return begun, access.Translate(err, apierr.NotAMember())
}

// bounded is an identity as it can be stored. One without an issuer and a subject of bounded length is nobody's.
func bounded(i contract.Identity) (contract.Identity, bool) {
	if !storable(i.Issuer) || !storable(i.Subject) {
		return i, false
	}
	i.Name, i.Email = shown(i.Name), shown(i.Email)
	claims, room := map[string][]string{}, maxClaims
	for _, name := range slices.Sorted(maps.Keys(i.Claims)) {
		texts := slices.DeleteFunc(slices.Clone(i.Claims[name]), func(text string) bool { return !storable(text) })
		texts = texts[:min(len(texts), room)]
		if storable(name) && len(texts) > 0 {
			claims[name] = texts
			room -= len(texts)
		}
	}
	i.Claims = claims
	return i, true
}

// storable tells whether a text can be that of a stored identity or claim.
func storable(text string) bool {
	return text != "" && len(text) <= maxIdentity && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// shown is a name as a person gives one: without control characters, and no longer than names may be.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown])
	}
	return text
}

// Session implements contract.Console.
func (s *Handlers) Session(ctx context.Context, session contract.SessionDigest) (contract.Session, error) {
	found, err := s.store.Session(ctx, session, prism.Now(s.now))
	return found, access.Translate(err, apierr.NotSignedIn())
}

// SessionKey implements contract.Console.
func (s *Handlers) SessionKey(
	ctx context.Context, session contract.SessionDigest, account prism.AccountID,
) (contract.SessionKey, error) {
	id, err := s.newID()
	if err != nil {
		return contract.SessionKey{}, err
	}
	entry, err := s.newID()
	if err != nil {
		return contract.SessionKey{}, err
	}
	key, err := s.newKey()
	if err != nil {
		return contract.SessionKey{}, err
	}
	made, err := s.store.CreateSessionKey(ctx, session, NewSessionKey{
		Account: account, ID: prism.KeyID{UUID: id}, Digest: key.Digest, Prefix: key.Prefix, Entry: entry, At: prism.Now(s.now),
	})
	if err != nil {
		return contract.SessionKey{}, access.Translate(err, apierr.NotSignedIn())
	}
	made.Key = key.Text
	return made, nil
}

// Leave implements contract.Console.
func (s *Handlers) Leave(ctx context.Context, session contract.SessionDigest, account prism.AccountID) error {
	current, err := s.Session(ctx, session)
	if err != nil {
		return err
	}
	is := slices.IndexFunc(current.Accounts, func(a contract.SessionAccount) bool { return a.ID == account })
	if is < 0 {
		return apierr.NotSignedIn()
	}
	m := current.Accounts[is].Member.ID
	by, err := s.access.By(store.Actor{Kind: store.MemberActor, Key: prism.KeyID(m)})
	if err != nil {
		return err
	}
	return access.Translate(s.store.RemoveMember(ctx, account, m, by), apierr.NotSignedIn())
}

// EndSession implements contract.Console.
func (s *Handlers) EndSession(ctx context.Context, session contract.SessionDigest) error {
	return access.Translate(s.store.EndSession(ctx, session, s.newID, prism.Now(s.now)), nil)
}

// sweepEvery is how often a process deletes what has expired.
const sweepEvery = time.Minute

// SweepSessions deletes links, sessions and keys of sessions that have expired, until ctx ends. What a failed attempt leaves, the
// next one deletes.
func (s *Handlers) SweepSessions(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for {
				swept, err := s.store.SweepSessions(ctx, prism.Now(s.now)) // the store's metrics have the error
				if err != nil || swept == 0 {
					break
				}
			}
		case <-ctx.Done():
			return
		}
	}
}
