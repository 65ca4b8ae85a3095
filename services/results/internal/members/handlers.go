package members

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of members, and contract.Console.
type Handlers struct {
	store interface {
		Store
		SessionStore
	}
	access   *access.Access
	now      func() time.Time
	newID    func() (prism.UUID, error)
	newKey   func() (keys.Secret, error)
	newToken func() (string, error)
}

var _ contract.Console = (*Handlers)(nil)

// NewHandlers makes Handlers over a store. newToken creates the random text of a sign-in link.
func NewHandlers(s interface {
	Store
	SessionStore
}, a *access.Access, now func() time.Time, newID func() (prism.UUID, error), newKey func() (keys.Secret, error),
	newToken func() (string, error),
) *Handlers {
	return &Handlers{store: s, access: a, now: now, newID: newID, newKey: newKey, newToken: newToken}
}

// Operations are the operations of members.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(s.access, api.AddMember, s.addMember),
		access.Encoded(api.ListMembers, s.listMembers),
		access.Change(s.access, api.ChangeMember, s.changeMember),
		access.Change(s.access, api.RemoveMember, s.removeMember),
		access.Change(s.access, api.LinkMember, s.linkMember),
	}
}

func newMemberBody(m Member) api.Member {
	body := api.Member{
		ID: m.ID.String(), Name: m.Name, Email: bodies.Optional(m.Email), Role: m.Role, Claim: m.Claim, CreatedAt: api.Time{Time: m.CreatedAt},
	}
	if m.SignedInBy != "" {
		body.SignedInBy = &m.SignedInBy
	}
	if m.LastSeenAt != nil {
		body.LastSeenAt = &api.Time{Time: *m.LastSeenAt}
	}
	return body
}

func newLinkedBody(m Member, path string, l Link) api.InvitedMember {
	return api.InvitedMember{Member: newMemberBody(m), Link: path, ExpiresAt: api.Time{Time: l.ExpiresAt}}
}

// signInPath is where a sign-in link leads to, up to its token, which is in the fragment, so that no log has it
// (spec: sign-in-link).
const signInPath = "/console/sign-in#"

// newLink makes a sign-in link, and its path with the token, which is not stored.
func (s *Handlers) newLink(at time.Time, valid time.Duration) (l Link, path string, err error) {
	token, err := s.newToken()
	return Link{Digest: sha256.Sum256([]byte(token)), ExpiresAt: at.Add(valid)}, signInPath + token, err
}

func (s *Handlers) addMember(ctx context.Context, account prism.AccountID, by store.By, in api.AddMemberRequest) (api.InvitedMember, error) {
	id, err := s.newID()
	if err != nil {
		return api.InvitedMember{}, err
	}
	m := Member{
		ID: prism.MemberID{UUID: id}, Name: in.Name, Email: in.Email, Role: in.Role, Claim: in.Claim, CreatedAt: by.At,
	}
	if in.Claim != nil {
		return api.InvitedMember{Member: newMemberBody(m)}, s.store.AddMember(ctx, account, m, nil, by)
	}
	l, path, err := s.newLink(by.At, InvitationTime)
	if err != nil {
		return api.InvitedMember{}, err
	}
	return newLinkedBody(m, path, l), s.store.AddMember(ctx, account, m, &l, by)
}

func (s *Handlers) listMembers(ctx context.Context, c store.Caller, in api.ListMembersRequest) ([]byte, error) {
	return bodies.List(contract.ListOfMembers, in.Limit, in.Cursor,
		func(page store.Page) ([]Member, bool, error) { return s.store.ListMembers(ctx, c.Account, page) },
		func(m Member) (api.Member, error) { return newMemberBody(m), nil },
		func(m Member) prism.UUID { return m.ID.UUID })
}

func (s *Handlers) changeMember(ctx context.Context, account prism.AccountID, by store.By, in api.ChangeMemberRequest) (api.Member, error) {
	m, err := s.store.ChangeMember(ctx, account, in.Member, in.MemberChange, by)
	return newMemberBody(m), err
}

func (s *Handlers) removeMember(ctx context.Context, account prism.AccountID, by store.By, in api.MemberRequest) (api.None, error) {
	return api.None{}, s.store.RemoveMember(ctx, account, in.Member, by)
}

func (s *Handlers) linkMember(ctx context.Context, account prism.AccountID, by store.By, in api.MemberRequest) (api.InvitedMember, error) {
	l, path, err := s.newLink(by.At, InvitationTime)
	if err != nil {
		return api.InvitedMember{}, err
	}
	m, err := s.store.LinkMember(ctx, account, in.Member, l, by)
	return newLinkedBody(m, path, l), err
}

// LinkOperator makes a sign-in link of an account's operator, and returns its path.
func (s *Handlers) LinkOperator(ctx context.Context, account prism.AccountID, by store.By) (path string, err error) {
	id, err := s.newID()
	if err != nil {
		return "", err
	}
	l, path, err := s.newLink(by.At, OperatorLinkTime)
	if err != nil {
		return "", err
	}
	m := Member{ID: prism.MemberID{UUID: id}, Name: "Operator", Role: prism.Owner, CreatedAt: by.At}
	return path, s.store.LinkOperator(ctx, account, m, l, s.newID, by)
}
