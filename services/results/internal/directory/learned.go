package directory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// Source is a database whose accounts the directory has.
type Source struct {
	Name string
	sqldb.Database
}

// Finding is what of an account is not in the directory as in its database, and is not mended.
type Finding struct {
	Problem  Problem
	Account  prism.AccountID
	Name     string // of the account; "" if a key is found
	Database string // where it was found, or is missing
	Other    string // the database that has it according to the directory; "" if that is the same one
}

// Problem is a kind of finding.
type Problem string

// The problems. An operator decides what to do about each (spec: directory-repair).
const (
	NameTwice    Problem = "two accounts have the name"
	AccountTwice Problem = "another database has the account"
	KeyTwice     Problem = "another account has a key of it"
	Missing      Problem = "the database lacks the account"
)

// Learned is what the directory learned of a database.
type Learned struct {
	Accounts, Keys, Identities int
	Findings                   []Finding
}

// page is how many rows of a database are looked up at once.
const page = 500

const (
	namedColumns   = `SELECT a.id, a.name, d.object FROM accounts a LEFT JOIN declared_accounts d ON d.account_id = a.id`
	accountsBehind = namedColumns + ` WHERE a.id > $1 AND a.id` + sqldb.StaysHere + ` ORDER BY a.id LIMIT $2`
	keysBehind     = `SELECT id, digest, account_id FROM api_keys WHERE id > $1 AND account_id` + sqldb.StaysHere + ` ORDER BY id LIMIT $2`
	membersBehind  = `SELECT account_id, id, issuer, subject FROM members
WHERE (account_id, id) > ($1, $2) AND issuer IS NOT NULL AND removed_at IS NULL
	AND account_id` + sqldb.StaysHere + ` ORDER BY account_id, id LIMIT $3`
	movedBehind    = `SELECT account_id, database, epoch FROM moved_accounts WHERE account_id > $1 ORDER BY account_id LIMIT $2`
	newestAccounts = namedColumns + ` WHERE a.id` + sqldb.StaysHere + ` ORDER BY a.id DESC LIMIT $1`
	newestKeys     = `SELECT id, digest, account_id FROM api_keys WHERE account_id` + sqldb.StaysHere + ` ORDER BY id DESC LIMIT $1`
	accountsFrom   = namedColumns + ` WHERE a.id >= $1 AND a.id <= $2 AND a.id` + sqldb.StaysHere
	placesBehind   = `SELECT account_id, name, object FROM directory_accounts
WHERE database = $1 AND account_id > $2 AND made ORDER BY account_id LIMIT $3`

	placesOfAccounts = `SELECT account_id, name, database FROM directory_accounts WHERE account_id IN (`
	placesOfNames    = `SELECT account_id, name, database FROM directory_accounts WHERE name IN (`
	accountsOfKeys   = `SELECT digest, account_id FROM directory_keys WHERE digest IN (`
	learnAccounts    = `INSERT INTO directory_accounts (account_id, name, database, made, object) VALUES `
	learnKeys        = `INSERT INTO directory_keys (digest, account_id) VALUES `
	learnIdentities  = `INSERT INTO directory_identities (issuer, subject, account_id) VALUES `
	unlessThere      = ` ON CONFLICT DO NOTHING`
)

type namedAccount struct {
	id     prism.AccountID
	name   string
	object prism.UUID // that declared it; zero: none did
}

type keyOf struct {
	id      prism.UUID
	digest  contract.KeyDigest
	account prism.AccountID
}

type memberOf struct {
	account prism.AccountID
	id      prism.UUID
	issuer  string
	subject string
}

// Learn tells the directory of the accounts, keys and identities of a database that it does not know, and of moves from it, as when home was
// restored, or when the database was the only one. It changes nothing else that the directory knows. What it learned before an error, it has learned. Accounts come last, in the
// order of their ids, so that the directory knows all of a database if it knows the newest ones (see Knows).
func (s SQL) Learn(ctx context.Context, from Source) (l Learned, err error) {
	var first prism.UUID
	err = pages(ctx, from, movedBehind, []any{first}, ReadPlace, func(p Place) []any { return []any{p.Account.UUID} },
		func(moved []Place) error {
			for _, p := range moved {
				if err := s.SetMoved(ctx, p); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return l, fmt.Errorf("learning the moves from %q: %w", from.Name, err)
	}
	err = pages(ctx, from, membersBehind, []any{first, first}, readMember, func(m memberOf) []any { return []any{m.account.UUID, m.id} },
		func(members []memberOf) error { return s.learnIdentities(ctx, members, &l) })
	if err != nil {
		return l, fmt.Errorf("learning the identities of %q: %w", from.Name, err)
	}
	err = pages(ctx, from, keysBehind, []any{first}, readKey, func(k keyOf) []any { return []any{k.id} },
		func(keys []keyOf) error { return s.learnKeys(ctx, from, keys, &l) })
	if err != nil {
		return l, fmt.Errorf("learning the keys of %q: %w", from.Name, err)
	}
	err = pages(ctx, from, accountsBehind, []any{first}, readNamed, func(a namedAccount) []any { return []any{a.id.UUID} },
		func(accounts []namedAccount) error { return s.learnAccounts(ctx, from, accounts, &l) })
	if err != nil {
		return l, fmt.Errorf("learning the accounts of %q: %w", from.Name, err)
	}
	return l, nil
}

// pages calls fn with all rows of a table, some at a time. list takes the place behind which they are, and how many.
func pages[T any](
	ctx context.Context, from Source, list string, place []any, read func(*sqldb.Row) T, placeOf func(T) []any, fn func([]T) error,
) error {
	for {
		var rows []T
		args := append(slices.Clone(place), int64(page))
		if err := from.Run(ctx, sqldb.Query("list_to_learn", list, args...), sqldb.ReadRows(&rows, read)); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		place = placeOf(rows[len(rows)-1])
		if err := fn(rows); err != nil {
			return err
		}
	}
}

func readNamed(r *sqldb.Row) namedAccount {
	return namedAccount{prism.AccountID{UUID: r.UUID()}, r.Text(), r.UUID()}
}

func readKey(r *sqldb.Row) keyOf {
	return keyOf{r.UUID(), contract.KeyDigest(r.Bytes()), prism.AccountID{UUID: r.UUID()}}
}

func readMember(r *sqldb.Row) memberOf {
	return memberOf{prism.AccountID{UUID: r.UUID()}, r.UUID(), r.Text(), r.Text()}
}

func (s SQL) learnIdentities(ctx context.Context, members []memberOf, l *Learned) error {
	var args []any
	for _, m := range members {
		args = append(args, m.issuer, m.subject, m.account.UUID)
	}
	n, err := s.insert(ctx, learnIdentities, args, 3)
	l.Identities += n
	return err
}

func (s SQL) learnKeys(ctx context.Context, from Source, keys []keyOf, l *Learned) error {
	known, err := s.accountsOf(ctx, keys)
	if err != nil {
		return err
	}
	var args []any
	for _, k := range keys {
		account, found := known[k.digest]
		switch {
		case !found:
			args = append(args, bytes.Clone(k.digest[:]), k.account.UUID)
		case account != k.account:
			l.Findings = append(l.Findings, Finding{Problem: KeyTwice, Account: k.account, Database: from.Name})
		}
	}
	n, err := s.insert(ctx, learnKeys, args, 2)
	l.Keys += n
	return err
}

// accountsOf are the accounts of keys, as far as the directory knows them.
func (s SQL) accountsOf(ctx context.Context, keys []keyOf) (map[contract.KeyDigest]prism.AccountID, error) {
	digests := make([]any, 0, len(keys))
	for _, k := range keys {
		digests = append(digests, bytes.Clone(k.digest[:]))
	}
	known := map[contract.KeyDigest]prism.AccountID{}
	var rows []keyOf
	l := sqldb.NewList("accounts_of_keys")
	l.In(accountsOfKeys, digests)
	err := s.Run(ctx, l.Complete(), sqldb.ReadRows(&rows, func(r *sqldb.Row) keyOf {
		return keyOf{digest: contract.KeyDigest(r.Bytes()), account: prism.AccountID{UUID: r.UUID()}}
	}))
	for _, k := range rows {
		known[k.digest] = k.account
	}
	return known, err
}

func (s SQL) learnAccounts(ctx context.Context, from Source, accounts []namedAccount, l *Learned) error {
	unknown, err := s.unplaced(ctx, from, accounts, l)
	if err != nil || len(unknown) == 0 {
		return err
	}
	var args []any
	for _, a := range unknown {
		var object any
		if !a.object.IsZero() {
			object = a.object
		}
		args = append(args, a.id.UUID, a.name, from.Name, true, object)
	}
	n, err := s.insert(ctx, learnAccounts, args, 5)
	l.Accounts += n
	if err != nil || n == len(unknown) {
		return err
	}
	if unknown, err = s.unplaced(ctx, from, unknown, &Learned{}); err != nil {
		return err
	}
	for _, a := range unknown {
		other, err := s.places(ctx, placesOfNames, []any{a.name})
		if err != nil {
			return err
		}
		f := Finding{Problem: NameTwice, Account: a.id, Name: a.name, Database: from.Name}
		for _, p := range other {
			f.Other = p.Database
		}
		l.Findings = append(l.Findings, f)
	}
	return nil
}

// unplaced are the accounts that the directory does not know. Those that it has in another database are findings.
func (s SQL) unplaced(ctx context.Context, from Source, accounts []namedAccount, l *Learned) (unknown []namedAccount, err error) {
	ids := make([]any, 0, len(accounts))
	for _, a := range accounts {
		ids = append(ids, a.id.UUID)
	}
	known, err := s.places(ctx, placesOfAccounts, ids)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		place, found := known[a.id]
		switch {
		case !found:
			unknown = append(unknown, a)
		case place.Database != from.Name:
			l.Findings = append(l.Findings, Finding{AccountTwice, a.id, a.name, from.Name, place.Database})
		}
	}
	return unknown, nil
}

func (s SQL) places(ctx context.Context, query string, values []any) (map[prism.AccountID]Place, error) {
	placed := map[prism.AccountID]Place{}
	var rows []Place
	l := sqldb.NewList("places_known")
	l.In(query, values)
	err := s.Run(ctx, l.Complete(), sqldb.ReadRows(&rows, func(r *sqldb.Row) Place {
		id := prism.AccountID{UUID: r.UUID()}
		_ = r.Text()
		return Place{Account: id, Database: r.Text()}
	}))
	for _, p := range rows {
		placed[p.Account] = p
	}
	return placed, err
}

// insert inserts rows of so many columns that are not there, and returns how many.
func (s SQL) insert(ctx context.Context, statement string, args []any, columns int) (inserted int, err error) {
	if len(args) == 0 {
		return 0, nil
	}
	l := sqldb.List{Statement: sqldb.Change("learn", "")}
	before := statement + "("
	for row := range slices.Chunk(args, columns) {
		l.In(before, row)
		before = ", ("
	}
	l.Write(unlessThere + " RETURNING account_id")
	err = s.Run(ctx, l.Complete(), sqldb.CountRows(&inserted))
	return inserted, err
}

// Missing finds the accounts that a database does not have though the directory has them there, as when the database was restored.
func (s SQL) Missing(ctx context.Context, from Source) (findings []Finding, err error) {
	var last prism.UUID
	for {
		var known, there []namedAccount
		places := sqldb.Query("places_of_database", placesBehind, from.Name, last, int64(page))
		if err := s.Run(ctx, places, sqldb.ReadRows(&known, readNamed)); err != nil {
			return nil, err
		}
		if len(known) == 0 {
			return findings, nil
		}
		last = known[len(known)-1].id.UUID
		found := sqldb.Query("accounts_of_places", accountsFrom, known[0].id.UUID, last)
		if err := from.Run(ctx, found, sqldb.ReadRows(&there, readNamed)); err != nil {
			return nil, err
		}
		has := map[prism.AccountID]bool{}
		for _, a := range there {
			has[a.id] = true
		}
		for _, a := range known {
			if !has[a.id] {
				findings = append(findings, Finding{Problem: Missing, Account: a.id, Name: a.name, Database: from.Name})
			}
		}
	}
}

// Knows reports whether the directory has the newest accounts and keys of a database. If home was restored, or has never known the database, it
// does not have them.
func (s SQL) Knows(ctx context.Context, from Source) (bool, error) {
	var (
		accounts []namedAccount
		keys     []keyOf
	)
	newest := sqldb.Query("newest_accounts", newestAccounts, int64(page))
	if err := from.Run(ctx, newest, sqldb.ReadRows(&accounts, readNamed)); err != nil || len(accounts) == 0 {
		return err == nil, err
	}
	unknown, err := s.unplaced(ctx, from, accounts, &Learned{})
	if err != nil || len(unknown) > 0 {
		return false, err
	}
	newest = sqldb.Query("newest_keys", newestKeys, int64(page))
	if err := from.Run(ctx, newest, sqldb.ReadRows(&keys, readKey)); err != nil || len(keys) == 0 {
		return err == nil, err
	}
	known, err := s.accountsOf(ctx, keys)
	for _, k := range keys {
		if _, found := known[k.digest]; !found {
			return false, err
		}
	}
	return err == nil, err
}
