package contracttest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// console returns what the test sets, and keeps the last call.
type console struct {
	heard   heard
	owner   contract.LinkOwner
	session contract.Session
	key     contract.SessionKey
	err     error
}

var _ contract.Console = (*console)(nil)

func (c *console) hear(method string, args ...any) (contract.Session, error) {
	c.heard = heard{method, args}
	return c.session, c.err
}

func (c *console) Link(_ context.Context, link contract.LinkDigest) (contract.LinkOwner, error) {
	_, err := c.hear("Link", link)
	return c.owner, err
}

func (c *console) SignIn(_ context.Context, s contract.SignIn) (contract.Session, error) {
	return c.hear("SignIn", s)
}

func (c *console) SignInAs(_ context.Context, s contract.SignInAs) (contract.Session, error) {
	return c.hear("SignInAs", s)
}

func (c *console) Session(_ context.Context, session contract.SessionDigest) (contract.Session, error) {
	return c.hear("Session", session)
}

func (c *console) SessionKey(
	_ context.Context, session contract.SessionDigest, account prism.AccountID,
) (contract.SessionKey, error) {
	_, err := c.hear("SessionKey", session, account)
	return c.key, err
}

func (c *console) Leave(_ context.Context, session contract.SessionDigest, account prism.AccountID) error {
	_, err := c.hear("Leave", session, account)
	return err
}

func (c *console) EndSession(_ context.Context, session contract.SessionDigest) error {
	_, err := c.hear("EndSession", session)
	return err
}

// Console runs the suite. connect returns a client of what it is given.
func Console(t *testing.T, connect func(*testing.T, contract.Console) contract.Console) {
	t.Helper()
	session, earlier, link := contract.SessionDigest{1, 31: 2}, contract.SessionDigest{3, 31: 4}, contract.LinkDigest{5, 31: 6}
	is := contract.SessionAccount{
		ID: account, Name: odd, Member: contract.SessionMember{ID: prism.MemberID{UUID: prism.UUID{0xab, 15: 6}}, Name: odd, Role: prism.Labeller},
	}
	identity := contract.Identity{
		Issuer: odd, Subject: odd, Name: odd, Email: odd, EmailVerified: true, Claims: map[string][]string{odd: {odd, ""}, "b": {"c"}},
	}
	far := &console{
		owner:   contract.LinkOwner{Account: is, ExpiresAt: at},
		session: contract.Session{Accounts: []contract.SessionAccount{is, {}}, Now: at, ExpiresAt: at, EndsAt: at.Add(time.Hour)},
		key:     contract.SessionKey{Key: "prism_x", ExpiresAt: at, Account: is},
	}
	near := connect(t, far)
	for _, call := range []called{
		{"Link", []any{link}},
		{"SignIn", []any{contract.SignIn{Link: link, Session: session}}},
		{"SignIn", []any{contract.SignIn{Link: link, Session: session, Earlier: &earlier}}},
		{"SignInAs", []any{contract.SignInAs{Identity: identity, Session: session, Link: &link, Earlier: &earlier}}},
		{"SignInAs", []any{contract.SignInAs{Identity: contract.Identity{Issuer: "i", Subject: "s"}, Session: session, Account: odd}}},
		{"Session", []any{session}},
		{"SessionKey", []any{session, account}},
		{"SessionKey", []any{session, prism.AccountID{}}},
		{"Leave", []any{session, account}},
		{"EndSession", []any{session}},
	} {
		for _, want := range []error{
			nil, apierr.LinkInvalid(), apierr.NotSignedIn(), apierr.NotAMember(), contract.ErrUnavailable,
			apierr.UnavailableFor(time.Minute),
		} {
			far.err = want
			out := reflect.ValueOf(near).MethodByName(call.method).Call(values(append([]any{patience(t)}, call.args...)))
			err, _ := out[len(out)-1].Interface().(error)
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", call.method, err, want)
			}
			if !reflect.DeepEqual(far.heard, heard(call)) {
				t.Errorf("heard %+v\nwant  %+v", far.heard, call)
			}
			if want != nil || len(out) == 1 {
				continue
			}
			if got := out[0].Interface(); !slices.ContainsFunc([]any{far.owner, far.session, far.key}, func(want any) bool {
				return reflect.DeepEqual(got, want)
			}) {
				t.Errorf("%s returned %+v", call.method, got)
			}
		}
	}
}

func values(args []any) (values []reflect.Value) {
	for _, a := range args {
		values = append(values, reflect.ValueOf(a))
	}
	return values
}
