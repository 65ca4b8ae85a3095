package comments

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of comments and assignees.
type Handlers struct {
	store    handlerStore
	access   *access.Access
	searches *search.Handlers
}

// handlerStore finds prisms too.
type handlerStore interface {
	Store
	prisms.Store
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s handlerStore, a *access.Access, searches *search.Handlers) *Handlers {
	return &Handlers{s, a, searches}
}

// Operations are the operations of comments and assignees.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Change(h.access, api.CreateComment, h.createComment),
		access.Encoded(api.ListComments, h.listComments),
		access.Handle(api.DeleteComment, h.deleteComment),
		access.Handle(api.AssignResult, func(ctx context.Context, c store.Caller, in api.AssignResultRequest) (api.Assignee, error) {
			m, err := h.store.Assign(ctx, c.Account, in.Result, in.Member)
			return newAssigneeBody(in.Result, m), err
		}),
		access.Handle(api.ReadAssignee, func(ctx context.Context, c store.Caller, in api.ResultRequest) (api.Assignee, error) {
			m, err := h.store.Assignee(ctx, c.Account, in.Result)
			return newAssigneeBody(in.Result, m), err
		}),
		access.Encoded(api.ListAssignees, h.listAssignees),
		access.Handle(api.AssignResults, h.assignResults),
	}
}

func newCommentBody(c Comment) api.Comment {
	author := api.Author{Kind: string(c.Author.Kind), ID: c.Author.Key.String(), Name: c.Author.Name}
	return api.Comment{ID: c.ID.String(), Author: author, Text: c.Text, CreatedAt: api.Time{Time: c.CreatedAt}}
}

func newAssigneeBody(of prism.ResultID, m *Member) api.Assignee {
	b := api.Assignee{ResultID: of.String()}
	if m != nil {
		b.Member = new(newMemberBody(*m))
	}
	return b
}

func newMemberBody(m Member) api.AssignedMember {
	return api.AssignedMember{ID: m.ID.String(), Name: m.Name}
}

func (h *Handlers) createComment(ctx context.Context, account prism.AccountID, by store.By, in api.CreateCommentRequest) (api.Comment, error) {
	c := Comment{ID: prism.CommentID{UUID: by.Entry}, Author: by.Actor, Text: in.Text, CreatedAt: by.At}
	c, err := h.store.CreateComment(ctx, account, in.Result, c, api.MaxComments)
	return newCommentBody(c), err
}

func (h *Handlers) listComments(ctx context.Context, caller store.Caller, in api.ListCommentsRequest) ([]byte, error) {
	return bodies.List(contract.ListOfComments, in.Limit, in.Cursor,
		func(page store.Page) ([]Comment, bool, error) {
			return h.store.ListComments(ctx, caller.Account, in.Result, page)
		},
		func(c Comment) (api.Comment, error) { return newCommentBody(c), nil },
		func(c Comment) prism.UUID { return c.ID.UUID })
}

func (h *Handlers) listAssignees(ctx context.Context, c store.Caller, in api.ListAssigneesRequest) ([]byte, error) {
	return bodies.List(contract.ListOfAssignees, in.Limit, in.Cursor,
		func(page store.Page) ([]Member, bool, error) { return h.store.ListAssignees(ctx, c.Account, page) },
		func(m Member) (api.AssignedMember, error) { return newMemberBody(m), nil },
		func(m Member) prism.UUID { return m.ID.UUID })
}

func (h *Handlers) deleteComment(ctx context.Context, c store.Caller, in api.DeleteCommentRequest) (api.None, error) {
	by, err := h.access.By(c.Actor())
	if err != nil {
		return api.None{}, err
	}
	return api.None{}, h.store.DeleteComment(ctx, c.Account, in.Result, in.Comment, c.Role == prism.Owner, by)
}
