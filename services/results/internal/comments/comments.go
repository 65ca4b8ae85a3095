// Package comments keeps what people say of results, and whom results are assigned to.
package comments

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Comment is a stored comment. Its author has the name that the key or member has when it is read.
type Comment struct {
	ID        prism.CommentID
	Author    store.Actor
	Text      string
	CreatedAt time.Time
}

// Member is a member by its name.
type Member struct {
	ID   prism.MemberID
	Name string
}

// Assigning is results of a prism that are assigned together: to a member, or with nil to nobody.
type Assigning struct {
	Account prism.AccountID
	Prism   prism.PrismID
	Slug    string
	Results []prism.ResultID // each once
	To      *prism.MemberID
}

// Assignment is whom a result is assigned to; zero: nobody.
type Assignment struct {
	Result prism.ResultID
	Member prism.MemberID
}

// Store keeps the comments and assignees of results. Both are deleted with their result.
type Store interface {
	// CreateComment stores a comment, whose author it names: ErrNotFound, ErrTooManyComments if the result has as many as limit,
	// *store.WaitError if the account is full.
	CreateComment(ctx context.Context, account prism.AccountID, of prism.ResultID, c Comment, limit int64) (Comment, error)
	// ListComments is a page of the comments of a result, newest first: ErrNotFound.
	ListComments(ctx context.Context, account prism.AccountID, of prism.ResultID, page store.Page) (found []Comment, more bool, err error)
	// DeleteComment deletes a comment of the actor, or with anybodys one of anybody: ErrNotFound, ErrNotAuthor.
	DeleteComment(ctx context.Context, account prism.AccountID, of prism.ResultID, id prism.CommentID, anybodys bool, by store.By) error
	// Assign assigns a result to a member, whom it returns, or with nil to nobody: ErrNotFound, ErrNoMember.
	Assign(ctx context.Context, account prism.AccountID, of prism.ResultID, to *prism.MemberID) (*Member, error)
	// AssignMany assigns results together, and returns whom those that change were assigned to before, oldest first: *store.MatchError if
	// not all of them are there, ErrNoMember.
	AssignMany(ctx context.Context, a Assigning, by store.By) ([]Assignment, error)
	// ListAssignees is a page of the members of an account, without rules, newest first.
	ListAssignees(ctx context.Context, account prism.AccountID, page store.Page) (found []Member, more bool, err error)
	// Assignee is the member whom a result is assigned to, or nil: ErrNotFound.
	Assignee(ctx context.Context, account prism.AccountID, of prism.ResultID) (*Member, error)
}
