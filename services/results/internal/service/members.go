package service

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// memberBody is the body of a member or rule (spec: member-members).
type memberBody struct {
	ID         prism.MemberID    `json:"id"`
	Name       string            `json:"name"`
	Email      *string           `json:"email"`
	Role       prism.Role        `json:"role"`
	Claim      *contract.Claim   `json:"claim"`
	SignedInBy *store.SignedInBy `json:"signed_in_by"`
	CreatedAt  string            `json:"created_at"`
	LastSeenAt *string           `json:"last_seen_at"`
	// Only in the response that made the link.
	Link      string `json:"link,omitzero"`
	ExpiresAt string `json:"expires_at,omitzero"`
}

func newMemberBody(m store.Member) memberBody {
	body := memberBody{
		ID: m.ID, Name: m.Name, Email: optional(m.Email), Role: m.Role, Claim: m.Claim,
		CreatedAt: prism.FormatTime(m.CreatedAt), LastSeenAt: optionalTime(m.LastSeenAt),
	}
	if m.SignedInBy != "" {
		body.SignedInBy = &m.SignedInBy
	}
	return body
}

func newLinkedBody(m store.Member, path string, l store.Link) memberBody {
	body := newMemberBody(m)
	body.Link, body.ExpiresAt = path, prism.FormatTime(l.ExpiresAt)
	return body
}

// signInPath is where a sign-in link leads to, up to its token, which is in the fragment, so that no log has it
// (spec: sign-in-link).
const signInPath = "/console/sign-in#"

// newLink makes a sign-in link, and its path with the token, which is not stored.
func (s *Service) newLink(at time.Time, valid time.Duration) (l store.Link, path string, err error) {
	token, err := s.NewToken()
	return store.Link{Digest: sha256.Sum256([]byte(token)), ExpiresAt: at.Add(valid)}, signInPath + token, err
}

// AddMember implements contract.Members.
func (s *Service) AddMember(ctx context.Context, key contract.KeyDigest, n contract.NewMember) (contract.Response, error) {
	return s.alter(ctx, key, addMember, nil, func(account prism.AccountID, by store.By) (any, error) {
		id, err := s.NewID()
		if err != nil {
			return nil, err
		}
		m := store.Member{
			ID: prism.MemberID{UUID: id}, Name: n.Name, Email: n.Email, Role: n.Role, Claim: n.Claim, CreatedAt: by.At,
		}
		if n.Claim != nil {
			return newMemberBody(m), s.Store.AddMember(ctx, account, m, nil, by)
		}
		l, path, err := s.newLink(by.At, store.InvitationTime)
		if err != nil {
			return nil, err
		}
		return newLinkedBody(m, path, l), s.Store.AddMember(ctx, account, m, &l, by)
	})
}

// ListMembers implements contract.Members.
func (s *Service) ListMembers(ctx context.Context, key contract.KeyDigest, p contract.Page) (contract.Response, error) {
	return s.manage(ctx, key, listMembers, nil, func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfMembers, p.Limit, p.Cursor)
		if err != nil {
			return nil, err
		}
		members, more, err := s.Store.ListMembers(ctx, account, page)
		if err != nil {
			return nil, err
		}
		return newListBody(contract.ListOfMembers, members, more,
			func(m store.Member) (strictjson.Value, error) { return strictjson.Marshal(newMemberBody(m)) },
			func(m store.Member) prism.UUID { return m.ID.UUID })
	})
}

// ChangeMember implements contract.Members.
func (s *Service) ChangeMember(
	ctx context.Context, key contract.KeyDigest, id prism.MemberID, c contract.MemberChange,
) (contract.Response, error) {
	return s.alter(ctx, key, changeMember, apierr.MemberNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		m, err := s.Store.ChangeMember(ctx, account, id, c, by)
		return newMemberBody(m), err
	})
}

// RemoveMember implements contract.Members.
func (s *Service) RemoveMember(ctx context.Context, key contract.KeyDigest, id prism.MemberID) (contract.Response, error) {
	_, err := s.alter(ctx, key, removeMember, apierr.MemberNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		return nil, s.Store.RemoveMember(ctx, account, id, by)
	})
	return contract.Response{}, err
}

// LinkMember implements contract.Members.
func (s *Service) LinkMember(ctx context.Context, key contract.KeyDigest, id prism.MemberID) (contract.Response, error) {
	return s.alter(ctx, key, linkMember, apierr.MemberNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		l, path, err := s.newLink(by.At, store.InvitationTime)
		if err != nil {
			return nil, err
		}
		m, err := s.Store.LinkMember(ctx, account, id, l, by)
		return newLinkedBody(m, path, l), err
	})
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
