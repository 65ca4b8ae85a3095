package request_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// spec: comment-create, assignee-put, assignee-filter
func TestACommentAndAnAssigneeAreRead(t *testing.T) {
	t.Parallel()
	said, err := parsedBody(api.CreateComment, `{"text":"“é”"}`, "result_id", anID)
	if err != nil || said.Text != "“é”" || said.Result.String() != anID {
		t.Errorf("got %+v, %v", said, err)
	}
	for body, want := range map[string]string{
		`{}`: "text: Required", `{"text":""}`: "text: String must contain at least 1 character(s)",
		`{"text":"` + strings.Repeat("é", 2001) + `"}`: "text: String must contain at most 2000 character(s)",
	} {
		_, err := parsedBody(api.CreateComment, body, "result_id", anID)
		wantProblems(t, err, want)
	}
	to, err := parsedBody(api.AssignResult, `{"member_id":"`+anID+`"}`, "result_id", anID)
	if err != nil || to.Member.String() != anID {
		t.Errorf("got %+v, %v", to, err)
	}
	if nobody, err := parsedBody(api.AssignResult, `{"member_id":null}`, "result_id", anID); err != nil || nobody.Member != nil {
		t.Errorf("got %+v, %v", nobody, err)
	}
	many, err := parsedBody(api.AssignResults, `{"member_id":"`+anID+`","assignee":"none","from":null,"expect":3}`, "prism", "tickets")
	if err != nil || many.Member.String() != anID || many.Assignee != "none" || many.From != nil || *many.Expect != 3 {
		t.Errorf("got %+v %v", many, err)
	}
	for body, want := range map[string]string{
		`{"expect":1}`:                           "member_id: Required",
		`{"member_id":null}`:                     "expect: Required",
		`{"member_id":null,"expect":1001}`:       "expect: Number must be less than or equal to 1000",
		`{"member_id":null,"dry_run":true}`:      "",
		`{"member_id":null,"ids":[],"expect":1}`: "ids: Array must contain at least 1 element(s)",
	} {
		_, err := parsedBody(api.AssignResults, body, "prism", "tickets")
		if want == "" && err == nil {
			continue
		}
		wantProblems(t, err, want)
	}
	for body, want := range map[string]string{`{}`: "member_id: Required", `{"member_id":"me"}`: "member_id: Invalid uuid"} {
		_, err := parsedBody(api.AssignResult, body, "result_id", anID)
		wantProblems(t, err, want)
	}
	for _, asked := range []string{"me", "none", anID} {
		got, err := parsed(api.ListResults, request.Source{Query: query("assignee", asked)})
		if err != nil || got.Assignee != asked {
			t.Errorf("%s: %+v, %v", asked, got, err)
		}
	}
	_, err = parsed(api.ListResults, request.Source{Query: query("assignee", "you")})
	wantProblems(t, err, "assignee: Expected 'me', 'none' or the id of a member")
	_, err = parsedBody(api.CreateView, `{"name":"n","filters":{"assignee":"you"}}`)
	wantProblems(t, err, "filters.assignee: Expected 'me', 'none' or the id of a member")
}
