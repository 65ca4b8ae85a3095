package placed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// signingIn is a sign-in over several databases. In each, one transaction finds and adds members; the session begins last, in home. So what a
// crash cuts off signs nobody in, and a repeat completes it:
//   - Of two uses of a link without an identity, one deletes it in the transaction that begins its session. An identity takes the link in home before it
//     is given to the member; nobody else can use the link then, and the identity can again.
//   - Two sign-ins of an identity lock the account before they look for a member, and one adds it.
//   - Home knows that an identity may be a member of an account before it becomes one.
type signingIn struct {
	*Accounts
	in              members.SignIn
	link            *members.HomeLink // nil: the sign-in has none
	named, invited  prism.AccountID
	takes           bool                         // the identity needs the link
	known, joinable map[string][]prism.AccountID // by database
	away            map[string]bool              // databases that did not answer
}

// SignIn implements members.SessionStore. An account whose database is away is not in the session: store.ErrUnavailable if no other is, or if it is
// the one that the sign-in names or to which its link invites.
func (a *Accounts) SignIn(ctx context.Context, in members.SignIn) (begun contract.Session, err error) {
	err = a.Moves.Follow(ctx, func() (err error) {
		begun, err = a.signIn(ctx, in)
		return err
	})
	return begun, err
}

// signIn is SignIn: a store.MoveError if an account moves meanwhile.
func (a *Accounts) signIn(ctx context.Context, in members.SignIn) (begun contract.Session, err error) {
	s := &signingIn{Accounts: a, in: in, known: map[string][]prism.AccountID{}, joinable: map[string][]prism.AccountID{}, away: map[string]bool{}}
	if err := s.findLink(ctx); err != nil {
		return begun, err
	}
	var come []members.Membership
	if in.Identity == nil {
		come, err = s.admitLink(ctx)
	} else {
		come, err = s.admitIdentity(ctx)
	}
	if err != nil {
		return begun, err
	}
	first := cmp.Or(s.named, s.invited)
	earlier, err := a.people().Begin(ctx, in, come, first, s.takes)
	if err != nil {
		return begun, err
	}
	// Keys of the earlier session in a database that is away work nowhere until SweepSessions revokes them.
	_, _ = a.finish(ctx, earlier)
	found, err := a.people().Session(ctx, in.Session, in.At)
	if err != nil {
		return begun, err
	}
	return a.seen(ctx, found, in.At, s.away)
}

// findLink finds the sign-in's link, if it has one, which has to be free.
func (s *signingIn) findLink(ctx context.Context) error {
	if s.in.Link == nil {
		if s.in.Identity == nil {
			return store.ErrLinkInvalid
		}
		return nil
	}
	link, err := s.people().FindLink(ctx, *s.in.Link, s.in.At)
	if err == nil && !link.Free(s.in.Identity) {
		err = store.ErrLinkInvalid
	}
	s.link = &link
	return err
}

// admitLink has the member of the link come.
func (s *signingIn) admitLink(ctx context.Context) ([]members.Membership, error) {
	ctx, at, err := s.StoreOf(ctx, s.link.Account)
	if err != nil {
		return nil, err
	}
	s.takes = true
	come, err := at.Admit(ctx, members.Admission{SignIn: s.in, Link: &s.link.Membership})
	if errors.Is(err, store.ErrNotFound) {
		err = store.ErrLinkInvalid
	}
	return come, err
}

// admitIdentity has the members of the identity come in each database that answers, first in those whose refusal is one of the sign-in.
func (s *signingIn) admitIdentity(ctx context.Context) (come []members.Membership, err error) {
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	needed, err := s.needed(ctx)
	if err != nil {
		return nil, err
	}
	for i, name := range s.inOrder(needed) {
		admission := members.Admission{SignIn: s.in}
		if i < len(needed) {
			if err := s.address(ctx, name, &admission); err != nil {
				return nil, err
			}
		}
		var admitted []members.Membership
		err := s.ask(ctx, name, func(ctx context.Context, db sqlstore.Statements) (err error) {
			if admitted, err = db.Admit(ctx, admission); err != nil {
				return err
			}
			return s.leftFrom(ctx, name, admitted)
		})
		switch {
		case err == nil:
			come = append(come, admitted...)
		case !isMove(err) && errors.Is(err, store.ErrUnavailable) && i >= len(needed):
			s.away[name] = true
		default:
			return nil, err
		}
	}
	if len(come) > 0 {
		return come, nil
	}
	return nil, s.nobody()
}

// leftFrom returns a store.MoveError if an account of the identity has no member in a database because it has left the database.
func (s *signingIn) leftFrom(ctx context.Context, name string, admitted []members.Membership) error {
	for _, account := range s.known[name] {
		if !slices.ContainsFunc(admitted, func(m members.Membership) bool { return m.Account == account }) {
			if err := s.Moves.Left(ctx, name, account); err != nil {
				return err
			}
		}
	}
	return nil
}

// nobody is the error of an identity that no database which answers knows.
func (s *signingIn) nobody() error {
	if len(s.away) > 0 {
		return errAway
	}
	return store.ErrNotFound
}

// find finds the accounts that the sign-in may be of.
func (s *signingIn) find(ctx context.Context) (err error) {
	if s.in.Account != "" {
		if s.named, err = s.AccountByName(ctx, s.in.Account); err != nil {
			return err
		}
	}
	if s.link != nil {
		s.invited = s.link.Account
	}
	accounts, err := s.people().AccountsOf(ctx, s.in.Identity)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		place, err := s.Directory.OfAccount(ctx, account)
		if err != nil {
			return err
		}
		s.known[place.Database] = append(s.known[place.Database], account)
	}
	var (
		mu    sync.Mutex
		asked sync.WaitGroup
		other []error
	)
	for _, db := range s.Databases {
		asked.Go(func() {
			var accounts []prism.AccountID
			err := s.ask(ctx, db.Name, func(ctx context.Context, db sqlstore.Statements) (err error) {
				accounts, err = db.Joinable(ctx, s.in, s.named)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, store.ErrUnavailable):
				s.away[db.Name] = true
			case err != nil:
				other = append(other, err)
			case len(accounts) > 0:
				s.joinable[db.Name] = accounts
			}
		})
	}
	asked.Wait()
	return errors.Join(other...)
}

// prepare has home know of what the identity may become a member, and takes the link if the identity is not a member already.
func (s *signingIn) prepare(ctx context.Context) error {
	known, joinable := values(s.known), values(s.joinable)
	if !s.named.IsZero() && s.named != s.invited && !slices.Contains(known, s.named) && !slices.Contains(joinable, s.named) {
		if place, err := s.Directory.OfAccount(ctx, s.named); err != nil || s.away[place.Database] {
			return cmp.Or(err, errAway)
		}
		return store.ErrNotFound
	}
	if !s.invited.IsZero() {
		place, err := s.Directory.OfAccount(ctx, s.invited)
		if err != nil {
			return err
		}
		err = s.ask(ctx, place.Database, func(ctx context.Context, db sqlstore.Statements) error {
			is, err := db.HasIdentity(ctx, s.invited, s.in.Identity)
			s.takes = !is
			return err
		})
		if err != nil {
			return err
		}
		if s.takes {
			if err := s.people().TakeLink(ctx, *s.in.Link, s.in.Identity, s.in.At); err != nil {
				return err
			}
			joinable = append(joinable, s.invited)
		}
	}
	for _, account := range joinable {
		if slices.Contains(known, account) {
			continue
		}
		if err := s.people().AddIdentity(ctx, s.in.Identity, account); err != nil {
			return err
		}
	}
	return nil
}

// needed are the databases without which the sign-in fails: of the account that it names, and then of the one to which its link invites.
func (s *signingIn) needed(ctx context.Context) (names []string, err error) {
	for _, account := range []prism.AccountID{s.named, s.invited} {
		if account.IsZero() {
			continue
		}
		place, err := s.Directory.OfAccount(ctx, account)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, place.Database) {
			names = append(names, place.Database)
		}
	}
	return names, nil
}

// inOrder are the needed databases, and then the others that answer and have accounts which the sign-in may be of.
func (s *signingIn) inOrder(needed []string) []string {
	names := slices.Clone(needed)
	for _, db := range s.Databases {
		if of := len(s.known[db.Name]) + len(s.joinable[db.Name]); of > 0 && !s.away[db.Name] && !slices.Contains(names, db.Name) {
			names = append(names, db.Name)
		}
	}
	return names
}

// address tells a database which of its accounts the sign-in names and its link invites to.
func (s *signingIn) address(ctx context.Context, name string, a *members.Admission) error {
	for _, account := range []struct{ from, to *prism.AccountID }{{&s.named, &a.Named}, {&s.invited, &a.Invited}} {
		if account.from.IsZero() {
			continue
		}
		place, err := s.Directory.OfAccount(ctx, *account.from)
		if err != nil {
			return err
		}
		if place.Database == name {
			*account.to = *account.from
		}
	}
	if s.takes && !a.Invited.IsZero() {
		a.Link = &s.link.Membership
	}
	return nil
}

func values(m map[string][]prism.AccountID) (all []prism.AccountID) {
	for _, accounts := range m {
		all = append(all, accounts...)
	}
	return all
}
