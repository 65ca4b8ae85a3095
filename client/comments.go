package client

import (
	"context"
	"iter"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

type (
	// Comment is what somebody said of a result.
	Comment = api.Comment
	// Author is the key or the member that wrote a comment.
	Author = api.Author
	// Assignee is the member whom a result is assigned to, or nobody.
	Assignee = api.Assignee
	// AssignedMember is a member by its name.
	AssignedMember = api.AssignedMember
)

// CreateComment adds a comment to a result. A result with 100 comments is ErrConflict.
func (c *Client) CreateComment(ctx context.Context, result, text string, options ...CallOption) (Comment, error) {
	return fetch[Comment](ctx, c, declared(api.CreateComment, result).sending(api.NewComment{Text: text}), options)
}

// ListComments returns one page of the comments of a result, newest first.
func (c *Client) ListComments(ctx context.Context, result string, o PageOptions, options ...CallOption) (Page[Comment], error) {
	return fetch[Page[Comment]](ctx, c, declared(api.ListComments, result).where(o.query()), options)
}

// Comments iterates over the comments of a result, newest first, and reads a page at a time. An error ends the iteration.
func (c *Client) Comments(ctx context.Context, result string, options ...CallOption) iter.Seq2[Comment, error] {
	return pages(func(cursor string) (Page[Comment], error) {
		return c.ListComments(ctx, result, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// DeleteComment deletes a comment of the client's key. An owner's key deletes any.
func (c *Client) DeleteComment(ctx context.Context, result, comment string, options ...CallOption) error {
	return c.remove(ctx, declared(api.DeleteComment, result, comment), options)
}

// AssignResult assigns a result to a member, or with "" to nobody.
func (c *Client) AssignResult(ctx context.Context, result, member string, options ...CallOption) (Assignee, error) {
	return fetch[Assignee](ctx, c, declared(api.AssignResult, result).sending(map[string]*string{"member_id": optionalText(member)}), options)
}

// ResultAssignment selects results of a prism, those that match every member that is not nil or empty, and has the id of the member to
// assign them to, or nil for nobody.
type ResultAssignment struct {
	Member   *string    `json:"member_id"`
	Ref      *string    `json:"ref,omitzero"` // the empty text finds an empty ref
	From     *time.Time `json:"from,omitzero"`
	To       *time.Time `json:"to,omitzero"` // exclusive
	Status   Status     `json:"status,omitzero"`
	Version  int32      `json:"version,omitzero"`
	Model    string     `json:"model,omitzero"`
	Key      string     `json:"key_id,omitzero"`
	Run      string     `json:"run,omitzero"`
	Assignee string     `json:"assignee,omitzero"` // the id of a member, "me" or "none"
	IDs      []string   `json:"ids,omitzero"`      // 1,000 at most
	SearchMembers
}

// Assigned is how many results match, and whom those that change were assigned to before.
type Assigned = api.Assigned

// AssignedBefore are results that had the same assignee.
type AssignedBefore = api.AssignedBefore

// AssignResults assigns results of a prism together. It is ErrConflict if another number than expect matches, or more than 1,000. A dry run
// ignores expect and counts the matches. A call whose response was lost is not repeated.
func (c *Client) AssignResults(ctx context.Context, prism string, a ResultAssignment, expect int, options ...CallOption) (Assigned, error) {
	k := declared(api.AssignResults, prism).with(options)
	sent := struct {
		ResultAssignment
		Expect *int `json:"expect,omitzero"`
	}{ResultAssignment: a}
	if !k.dryRun {
		sent.Expect = &expect
	}
	return fetch[Assigned](ctx, c, k.sending(sent), nil)
}

// ListAssignees returns one page of the members whom results can be assigned to, newest first.
func (c *Client) ListAssignees(ctx context.Context, o PageOptions, options ...CallOption) (Page[AssignedMember], error) {
	return fetch[Page[AssignedMember]](ctx, c, declared(api.ListAssignees).where(o.query()), options)
}

// Assignees iterates over the members whom results can be assigned to, newest first, and reads a page at a time. An error ends the
// iteration.
func (c *Client) Assignees(ctx context.Context, options ...CallOption) iter.Seq2[AssignedMember, error] {
	return pages(func(cursor string) (Page[AssignedMember], error) {
		return c.ListAssignees(ctx, PageOptions{Limit: maxLimit, Cursor: cursor}, options...)
	})
}

// optionalText is a text, or null for the empty one.
func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
