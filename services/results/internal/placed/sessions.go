package placed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// DefaultPatience is how long a call that is of accounts in several databases waits for each of them. It is below what its callers wait.
const DefaultPatience = time.Second

// Link implements members.SessionStore.
func (a *Accounts) Link(ctx context.Context, digest contract.LinkDigest, at time.Time) (owner contract.LinkOwner, err error) {
	link, err := a.people().FindLink(ctx, digest, at)
	if err != nil {
		return owner, err
	}
	ctx, db, err := a.StoreOf(ctx, link.Account)
	if err != nil {
		return owner, err
	}
	seat, err := db.Seat(ctx, link.Membership)
	if errors.Is(err, store.ErrNotFound) {
		err = store.ErrLinkInvalid
	}
	return contract.LinkOwner{Account: seat.SessionAccount, ExpiresAt: link.ExpiresAt}, err
}

// Session implements members.SessionStore. Accounts whose database is away are left out: store.ErrUnavailable if no other is left.
func (a *Accounts) Session(ctx context.Context, digest contract.SessionDigest, now time.Time) (contract.Session, error) {
	found, err := a.people().Session(ctx, digest, now)
	if err != nil {
		return contract.Session{}, err
	}
	return a.seen(ctx, found, now, nil)
}

// seen reads the accounts of a session, unless they are in databases that are known to be away, and extends it to the minute.
func (a *Accounts) seen(
	ctx context.Context, session members.HomeSession, now time.Time, away map[string]bool,
) (contract.Session, error) {
	see := session.ToSee(now)
	seats, err := a.seats(ctx, session, away, func(ctx context.Context, db sqlstore.Statements, m members.Membership) (members.Seat, error) {
		seat, err := db.Seat(ctx, m)
		if err == nil && see {
			_ = db.SeeMember(ctx, m, now) // a database that can be read only keeps nobody out
		}
		return seat, err
	})
	if err == nil && see {
		err = a.people().See(ctx, &session, now)
	}
	if err != nil {
		return contract.Session{}, err
	}
	return contract.Session{Accounts: seats, Now: now, ExpiresAt: session.ExpiresAt, EndsAt: session.EndsAt}, nil
}

// seats asks the databases of a session's members for their seats, at the same time, and returns their accounts in the order of the rule
// session-accounts.
func (a *Accounts) seats(
	ctx context.Context, session members.HomeSession, away map[string]bool,
	ask func(context.Context, sqlstore.Statements, members.Membership) (members.Seat, error),
) (accounts []contract.SessionAccount, err error) {
	err = a.Moves.Follow(ctx, func() (err error) {
		accounts, err = a.seatsOnce(ctx, session, away, ask)
		return err
	})
	return accounts, err
}

// seatsOnce is seats: a store.MoveError if an account has moved meanwhile.
func (a *Accounts) seatsOnce(
	ctx context.Context, session members.HomeSession, away map[string]bool,
	ask func(context.Context, sqlstore.Statements, members.Membership) (members.Seat, error),
) ([]contract.SessionAccount, error) {
	type seat struct {
		members.Part
		members.Seat
	}
	parts := map[string][]members.Part{}
	for _, p := range session.Parts {
		place, err := a.Directory.OfAccount(ctx, p.Account)
		if err != nil {
			return nil, err
		}
		parts[place.Database] = append(parts[place.Database], p)
	}
	var (
		mu      sync.Mutex
		seats   []seat
		failed  []error
		waiting sync.WaitGroup
	)
	for name, parts := range parts {
		waiting.Go(func() {
			var ofDatabase []seat
			err := errAway
			if !away[name] {
				err = a.ask(ctx, name, func(ctx context.Context, db sqlstore.Statements) error {
					for _, p := range parts {
						s, err := ask(a.Moves.Bind(ctx, p.Account), db, p.Membership)
						if errors.Is(err, store.ErrNotFound) {
							if err := a.Moves.Left(ctx, name, p.Account); err != nil {
								return err
							}
							continue
						}
						if err != nil {
							return err
						}
						ofDatabase = append(ofDatabase, seat{p, s})
					}
					return nil
				})
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return
			}
			seats = append(seats, ofDatabase...)
		})
	}
	waiting.Wait()
	for _, err := range failed {
		if isMove(err) || !errors.Is(err, store.ErrUnavailable) || len(seats) == 0 {
			return nil, err
		}
	}
	if len(seats) == 0 {
		return nil, store.ErrNotFound
	}
	slices.SortFunc(seats, func(a, b seat) int {
		if a.First != b.First && a.Since.Equal(b.Since) {
			return map[bool]int{true: -1, false: 1}[a.First]
		}
		return cmp.Or(b.Since.Compare(a.Since), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	accounts := make([]contract.SessionAccount, len(seats))
	for i, s := range seats {
		accounts[i] = s.SessionAccount
	}
	return accounts, nil
}

// CreateSessionKey implements members.SessionStore. Home is asked again when the key is there: an end of the session that home knew before
// then has not revoked the key, perhaps, which so is returned to nobody; an end that comes later revokes it.
func (a *Accounts) CreateSessionKey(
	ctx context.Context, digest contract.SessionDigest, k members.NewSessionKey,
) (key contract.SessionKey, err error) {
	session, err := a.people().Session(ctx, digest, k.At)
	if err != nil {
		return key, err
	}
	if k.Account.IsZero() {
		accounts, err := a.seats(ctx, session, nil, func(ctx context.Context, db sqlstore.Statements, m members.Membership) (members.Seat, error) {
			return db.Seat(ctx, m)
		})
		if err != nil {
			return key, err
		}
		k.Account = accounts[0].ID
	}
	index := slices.IndexFunc(session.Parts, func(p members.Part) bool { return p.Account == k.Account })
	if index < 0 {
		return key, store.ErrNotFound
	}
	ctx, db, err := a.addKey(ctx, k.Account, k.Digest)
	if err != nil {
		return key, err
	}
	if key, err = db.PlaceKey(ctx, session, session.Parts[index].Membership, k); err != nil {
		return contract.SessionKey{}, err
	}
	if err := a.people().See(ctx, &session, k.At); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = errors.Join(err, db.RevokePlacedKey(ctx, k))
		}
		return contract.SessionKey{}, err
	}
	return key, nil
}

// EndSession implements members.SessionStore. Home has the session make no more keys; then those that it has end in the databases of its
// accounts. While one of those is away: store.ErrUnavailable, and a repeat goes on, as SweepHome does.
func (a *Accounts) EndSession(ctx context.Context, digest contract.SessionDigest, newID members.NewID, at time.Time) error {
	left, err := a.people().End(ctx, digest, newID, at)
	if err != nil {
		return err
	}
	_, err = a.finish(ctx, left)
	return err
}

// finish does what is left to do of ends of sessions, and returns how much was done. A database that is away leaves the others' undone by
// nothing.
func (a *Accounts) finish(ctx context.Context, left []members.Ending) (done int, err error) {
	var failed error
	away := map[string]bool{}
	for _, e := range left {
		place, err := a.Directory.OfAccount(ctx, e.Account)
		if err != nil {
			return done, err
		}
		if away[place.Database] {
			continue
		}
		err = a.ask(a.Moves.Bind(ctx, e.Account), place.Database, func(ctx context.Context, db sqlstore.Statements) error {
			return db.EndIn(ctx, e)
		})
		if err != nil {
			away[place.Database], failed = true, err
			continue
		}
		if err := a.people().Ended(ctx, e); err != nil {
			return done, err
		}
		done++
	}
	return done, failed
}

// SweepHome deletes links and sessions that have expired, and does what is left to do of ends of sessions. It returns how many there were.
func (a *Accounts) SweepHome(ctx context.Context, now time.Time) (int, error) {
	swept, err := a.people().Sweep(ctx, now)
	if err != nil {
		return swept, err
	}
	left, err := a.people().Endings(ctx)
	if err != nil {
		return swept, err
	}
	done, err := a.finish(ctx, left)
	return swept + done, err
}

// SweepKeys deletes keys of sessions that expired more than an hour ago from a database, after the directory forgot them, and returns how many.
func (a *Accounts) SweepKeys(ctx context.Context, db sqlstore.Statements, now time.Time) (int, error) {
	old, err := db.OldSessionKeys(ctx, now)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	if err := a.Directory.RemoveKeys(ctx, old); err != nil {
		return 0, err
	}
	return db.SweepSessionKeys(ctx, now)
}
