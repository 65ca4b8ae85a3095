package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// CreateComment adds a comment to a result (spec: comment-create).
var CreateComment = Op[CreateCommentRequest, Comment]{Declaration{
	Name: "createComment", Method: http.MethodPost, Path: "/v1/results/{result_id}/comments", Tag: "Comments", Role: prism.Labeller, Class: Keyed,
	Status: http.StatusCreated, Errors: []*apierr.Error{apierr.ResultNotFound(), apierr.TooManyComments()},
}}

// MaxComments bounds the comments of a result (spec: comments-limit).
const MaxComments = 100

// CreateCommentRequest is the request of CreateComment.
type CreateCommentRequest struct {
	ResultRequest
	NewComment
}

// NewComment is a comment to add.
type NewComment struct {
	// What to say.
	Text string `json:"text" min:"1" max:"2000"`
}

// ListComments reads a page of the comments of a result, newest first (spec: comment-list).
var ListComments = Op[ListCommentsRequest, Page[Comment]]{Declaration{
	Name: "listComments", Method: http.MethodGet, Path: "/v1/results/{result_id}/comments", Tag: "Comments", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.ResultNotFound()},
}}

// ListCommentsRequest is the request of ListComments.
type ListCommentsRequest struct {
	ResultRequest
	PageRequest
	Cursor string `query:"cursor" list:"comments"`
}

// DeleteComment deletes a comment of the caller; an owner deletes any (spec: comment-delete).
var DeleteComment = Op[DeleteCommentRequest, None]{Declaration{
	Name: "deleteComment", Method: http.MethodDelete, Path: "/v1/results/{result_id}/comments/{comment_id}", Tag: "Comments",
	Role: prism.Labeller, Class: Keyed, Status: http.StatusNoContent, Errors: []*apierr.Error{apierr.CommentNotFound()},
}}

// DeleteCommentRequest is the request of DeleteComment.
type DeleteCommentRequest struct {
	ResultRequest
	// The id of the comment.
	Comment prism.CommentID `path:"comment_id" example:"0199f3d1-7e42-7c55-8a0b-2d9e4f6c1b38"`
}

// Comment is what somebody said of a result.
type Comment struct {
	// Deletes the comment.
	ID string `json:"id" form:"uuid"`
	// Who said it.
	Author Author `json:"author"`
	// What was said.
	Text string `json:"text"`
	// When it was said.
	CreatedAt Time `json:"created_at"`
}

// Author is the key or the member that wrote something.
type Author struct {
	// What the author is.
	Kind string `json:"kind" enum:"key,member"`
	// The id of the key or the member.
	ID string `json:"id" form:"uuid"`
	// The name that the key or the member has now.
	Name string `json:"name"`
}

// AssignResult assigns a result to a member, or to nobody (spec: assignee-put).
var AssignResult = Op[AssignResultRequest, Assignee]{Declaration{
	Name: "assignResult", Method: http.MethodPut, Path: "/v1/results/{result_id}/assignee", Tag: "Comments", Role: prism.Labeller, Class: Keyed,
	Errors: []*apierr.Error{apierr.ResultNotFound(), apierr.MemberNotFound()},
}}

// AssignResultRequest is the request of AssignResult.
type AssignResultRequest struct {
	ResultRequest
	NewAssignee
}

// NewAssignee is the member who is to look at a result.
type NewAssignee struct {
	// The id of the member, or null for nobody.
	Member *prism.MemberID `json:"member_id"`
}

// ReadAssignee reads the member whom a result is assigned to (spec: assignee-read).
var ReadAssignee = Op[ResultRequest, Assignee]{Declaration{
	Name: "readAssignee", Method: http.MethodGet, Path: "/v1/results/{result_id}/assignee", Tag: "Comments", Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.ResultNotFound()},
}}

// ListAssignees reads a page of the members whom results can be assigned to, newest first (spec: assignee-list). It has the names of
// members alone, because whoever assigns results is seldom an owner, who lists members.
var ListAssignees = Op[ListAssigneesRequest, Page[AssignedMember]]{Declaration{
	Name: "listAssignees", Method: http.MethodGet, Path: "/v1/assignees", Tag: "Comments", Role: prism.Labeller, Class: Listing,
}}

// ListAssigneesRequest is the request of ListAssignees.
type ListAssigneesRequest struct {
	PageRequest
	Cursor string `query:"cursor" list:"assignees"`
}

// Assignee is the member whom a result is assigned to, or nobody.
type Assignee struct {
	// The id of the result.
	ResultID string `json:"result_id" form:"uuid"`
	// The member, or null.
	Member *AssignedMember `json:"member"`
}

// AssignedMember is a member by its name.
type AssignedMember struct {
	// The id of the member.
	ID string `json:"id" form:"uuid"`
	// What people call the member.
	Name string `json:"name"`
}
