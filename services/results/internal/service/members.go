package service

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

func newMemberBody(m store.Member) api.Member {
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

func newLinkedBody(m store.Member, path string, l store.Link) api.InvitedMember {
	return api.InvitedMember{Member: newMemberBody(m), Link: path, ExpiresAt: api.Time{Time: l.ExpiresAt}}
}

// signInPath is where a sign-in link leads to, up to its token, which is in the fragment, so that no log has it
// (spec: sign-in-link).
const signInPath = "/console/sign-in#"

// newLink makes a sign-in link, and its path with the token, which is not stored.
func (s *Service) newLink(at time.Time, valid time.Duration) (l store.Link, path string, err error) {
	token, err := s.NewToken()
	return store.Link{Digest: sha256.Sum256([]byte(token)), ExpiresAt: at.Add(valid)}, signInPath + token, err
}

func (s *Service) addMember(ctx context.Context, account prism.AccountID, by store.By, in api.AddMemberRequest) (api.InvitedMember, error) {
	id, err := s.NewID()
	if err != nil {
		return api.InvitedMember{}, err
	}
	m := store.Member{
		ID: prism.MemberID{UUID: id}, Name: in.Name, Email: in.Email, Role: in.Role, Claim: in.Claim, CreatedAt: by.At,
	}
	if in.Claim != nil {
		return api.InvitedMember{Member: newMemberBody(m)}, s.Store.AddMember(ctx, account, m, nil, by)
	}
	l, path, err := s.newLink(by.At, store.InvitationTime)
	if err != nil {
		return api.InvitedMember{}, err
	}
	return newLinkedBody(m, path, l), s.Store.AddMember(ctx, account, m, &l, by)
}

func (s *Service) listMembers(ctx context.Context, c store.Caller, in api.ListMembersRequest) ([]byte, error) {
	page, err := bodies.StorePage(contract.ListOfMembers, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	members, more, err := s.Store.ListMembers(ctx, c.Account, page)
	if err != nil {
		return nil, err
	}
	return bodies.NewList(contract.ListOfMembers, members, more,
		func(m store.Member) (strictjson.Value, error) { return strictjson.Marshal(newMemberBody(m)) },
		func(m store.Member) prism.UUID { return m.ID.UUID })
}

func (s *Service) changeMember(ctx context.Context, account prism.AccountID, by store.By, in api.ChangeMemberRequest) (api.Member, error) {
	m, err := s.Store.ChangeMember(ctx, account, in.Member, in.MemberChange, by)
	return newMemberBody(m), err
}

func (s *Service) removeMember(ctx context.Context, account prism.AccountID, by store.By, in api.MemberRequest) (api.None, error) {
	return api.None{}, s.Store.RemoveMember(ctx, account, in.Member, by)
}

func (s *Service) linkMember(ctx context.Context, account prism.AccountID, by store.By, in api.MemberRequest) (api.InvitedMember, error) {
	l, path, err := s.newLink(by.At, store.InvitationTime)
	if err != nil {
		return api.InvitedMember{}, err
	}
	m, err := s.Store.LinkMember(ctx, account, in.Member, l, by)
	return newLinkedBody(m, path, l), err
}

// LinkOperator makes a sign-in link of an account's operator, and returns its path.
func (s *Service) LinkOperator(ctx context.Context, account prism.AccountID, by store.By) (path string, err error) {
	id, err := s.NewID()
	if err != nil {
		return "", err
	}
	l, path, err := s.newLink(by.At, store.OperatorLinkTime)
	if err != nil {
		return "", err
	}
	m := store.Member{ID: prism.MemberID{UUID: id}, Name: "Operator", Role: prism.Owner, CreatedAt: by.At}
	return path, s.Store.LinkOperator(ctx, account, m, l, s.NewID, by)
}
