package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of members.
const (
	pathAddMember    = "/internal/add-member"
	pathListMembers  = "/internal/list-members"
	pathChangeMember = "/internal/change-member"
	pathRemoveMember = "/internal/remove-member"
	pathLinkMember   = "/internal/link-member"
)

// The arguments of the methods of members.
type (
	argsNewMember struct {
		Key    contract.KeyDigest
		Member contract.NewMember
	}
	argsMember struct {
		Key    contract.KeyDigest
		ID     prism.MemberID
		Change contract.MemberChange `json:",omitzero"` // ChangeMember
	}
)

func (r *results) AddMember(ctx context.Context, key contract.KeyDigest, n contract.NewMember) (contract.Response, error) {
	return r.call(ctx, pathAddMember, argsNewMember{key, n})
}

func (r *results) ListMembers(ctx context.Context, key contract.KeyDigest, p contract.Page) (contract.Response, error) {
	return r.lookUp(ctx, pathListMembers, argsQuery[contract.Page]{key, p})
}

func (r *results) ChangeMember(
	ctx context.Context, key contract.KeyDigest, id prism.MemberID, c contract.MemberChange,
) (contract.Response, error) {
	return r.call(ctx, pathChangeMember, argsMember{key, id, c})
}

func (r *results) RemoveMember(ctx context.Context, key contract.KeyDigest, id prism.MemberID) (contract.Response, error) {
	return r.call(ctx, pathRemoveMember, argsMember{Key: key, ID: id})
}

func (r *results) LinkMember(ctx context.Context, key contract.KeyDigest, id prism.MemberID) (contract.Response, error) {
	return r.call(ctx, pathLinkMember, argsMember{Key: key, ID: id})
}

func mountMembers(app *fiber.App, m contract.Members, log *slog.Logger) {
	post(app, log, pathAddMember, func(ctx context.Context, a argsNewMember) (contract.Response, error) {
		return m.AddMember(ctx, a.Key, a.Member)
	})
	find(app, log, pathListMembers, func(ctx context.Context, a argsQuery[contract.Page]) (contract.Response, error) {
		return m.ListMembers(ctx, a.Key, a.Query)
	})
	post(app, log, pathChangeMember, func(ctx context.Context, a argsMember) (contract.Response, error) {
		return m.ChangeMember(ctx, a.Key, a.ID, a.Change)
	})
	post(app, log, pathRemoveMember, func(ctx context.Context, a argsMember) (contract.Response, error) {
		return m.RemoveMember(ctx, a.Key, a.ID)
	})
	post(app, log, pathLinkMember, func(ctx context.Context, a argsMember) (contract.Response, error) {
		return m.LinkMember(ctx, a.Key, a.ID)
	})
}
