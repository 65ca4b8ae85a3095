package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// PutLabels replaces labels of a result and returns all that it has (spec: labels-put).
var PutLabels = Op[PutLabelsRequest, LabelledResult]{Declaration{
	Name: "putLabels", Method: http.MethodPut, Path: "/v1/results/{result_id}/labels", Tag: "Labels", Role: prism.Labeller, Class: Keyed,
	Errors: []*apierr.Error{apierr.ResultNotFound(), apierr.OnlyOKLabelled()},
}}

// PutLabelsRequest is the request of PutLabels.
type PutLabelsRequest struct {
	ResultRequest
	NewLabels
}

// NewLabels are labels of a result.
type NewLabels struct {
	Labels LabelsOfQuestions `json:"labels"`
	LabelBy
}

// LabelsOfQuestions are labels in the order sent. A label without a value is one to remove.
type LabelsOfQuestions []QuestionLabel

// QuestionLabel is what was right for a question: an option key, a level key, "true" or "false", a JSON array of option keys, or one of the
// texts that stand for one (spec: label-value).
type QuestionLabel struct{ Question, Value string }

// LabelBy is what the labels of a call have in common.
type LabelBy struct {
	// How the result was chosen. Null or not sent: nothing is said.
	Sample LabelSample `json:"sample,omitzero"`
	// Who says so.
	Annotator string `json:"annotator,omitzero" min:"1" max:"200"`
}

// LabelSample is how the results were chosen that were labelled.
type LabelSample = prism.LabelSample

// The samples.
const (
	RandomSample    = prism.RandomSample
	UncertainSample = prism.UncertainSample
)

// ReadLabels reads the labels of a result (spec: labels-read).
var ReadLabels = Op[ResultRequest, LabelledResult]{Declaration{
	Name: "readLabels", Method: http.MethodGet, Path: "/v1/results/{result_id}/labels", Tag: "Labels", Role: prism.Reader, Class: Keyed,
	Errors: []*apierr.Error{apierr.ResultNotFound()},
}}

// AddLabels stores labels of results of a prism, those that it can (spec: labels-add).
var AddLabels = Op[AddLabelsRequest, AddedLabels]{Declaration{
	Name: "addLabels", Method: http.MethodPost, Path: "/v1/prisms/{prism}/labels", Tag: "Labels", Role: prism.Labeller, Class: Keyed,
	Repeatable: true, Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// AddLabelsRequest is the request of AddLabels.
type AddLabelsRequest struct {
	PrismRequest
	ManyLabels
}

// ManyLabels is labels of results of a prism.
type ManyLabels struct {
	// The labels. Of two of one question of a result the later one stays.
	Labels []NewLabel `json:"labels" min:"1" max:"1000"`
	LabelBy
	// The version that answered the results. Null or not sent: any.
	Version int `json:"version,omitzero" min:"1" max:"2147483647"`
}

// MaxLabels bounds the labels of one AddLabels (spec: labels-add).
const MaxLabels = 1000

// NewLabel is a label of a result, which is named by `result_id` or by `ref`.
type NewLabel struct {
	// The id of the result.
	Result prism.ResultID `json:"result_id,omitzero"`
	// The ref of the result: of several, the newest that is `ok`.
	Ref *string `json:"ref,omitzero" max:"200"`
	// The key of the question.
	Question string `json:"question" min:"1" max:"200"`
	// What was right: the key of an option or level, `true` or `false`, or, of a tags, a list of keys of options.
	Value LabelText `json:"value"`
}

// Missing implements the rule that one of both names the result.
func (NewLabel) Missing(sent func(name string) bool) []apierr.Problem {
	if sent("result_id") != sent("ref") {
		return nil
	}
	return []apierr.Problem{{Path: "result_id", Text: "send either result_id or ref"}}
}

// LabelText is a label that was sent: a text, a boolean as "true" or "false", or a list of texts as its JSON.
type LabelText string

// AddedLabels is what became of labels.
type AddedLabels struct {
	// How many were stored.
	Labelled int `json:"labelled" min:"0"`
	// The positions in `labels`, from 0, of those whose result was not found.
	NotFound []int `json:"not_found"`
	// The others that were not stored.
	Invalid []InvalidLabel `json:"invalid"`
}

// InvalidLabel is a label that was not stored.
type InvalidLabel struct {
	// Its position in `labels`, from 0.
	Index int `json:"index" min:"0"`
	// Why not.
	Message string `json:"message"`
}

// ListLabels reads a page of the labelled results of a prism, newest first (spec: labels-list).
var ListLabels = Op[ListLabelsRequest, Page[LabelledResult]]{Declaration{
	Name: "listLabels", Method: http.MethodGet, Path: "/v1/prisms/{prism}/labels", Tag: "Labels", Role: prism.Reader, Class: Listing,
	Errors: []*apierr.Error{apierr.PrismNotFound()},
}}

// ListLabelsRequest is the request of ListLabels.
type ListLabelsRequest struct {
	PrismRequest
	// Only results of this version.
	Version int32 `query:"version" min:"1" max:"2147483647"`
	// Only labels of the question with this key.
	Question string `query:"question" max:"200"`
	PageRequest
	Cursor string `query:"cursor" list:"labels"`
}

// LabelledResult is a result with its labels.
type LabelledResult struct {
	// The id of the result.
	ResultID string `json:"result_id" form:"uuid"`
	// The ref sent with the call.
	Ref *string `json:"ref"`
	// The version that answered.
	Version int              `json:"version" min:"1"`
	Labels  map[string]Label `json:"labels" schema:"Labels"`
}

// Label is what was right for a question of a result.
type Label struct {
	// What was right: the key of an option or level, `true` or `false`, or, of a tags, a list of keys of options.
	Value LabelValue `json:"value"`
	// How the result was chosen. Null if that was not said.
	Sample *LabelSample `json:"sample"`
	// Who says so. Null if that was not said.
	Annotator *string `json:"annotator"`
	// A call, or a column of the file of a run.
	Origin string `json:"origin" enum:"call,file"`
	// The API key or member that put it.
	KeyID string `json:"key_id" form:"uuid"`
	// When it was put.
	LabelledAt Time `json:"labelled_at"`
}

// LabelValue is what was right: the key of an option or level, "true" or "false" for a yes_no question, or a JSON array of the keys of
// options for a tags question (see LabelOf). "" removes a label, where labels are put.
type LabelValue string

// LabelOf is the value of a label of a tags question: the keys of the options that are right. Without one, none is.
func LabelOf(keys ...string) LabelValue {
	list, _ := json.Marshal(append([]string{}, keys...)) // of a list of texts cannot fail
	return LabelValue(list)
}

// Keys are those of a label of a tags question; false for any other label.
func (v LabelValue) Keys() (keys []string, ok bool) {
	ok = strings.HasPrefix(string(v), "[") && json.Unmarshal([]byte(v), &keys) == nil
	return keys, ok
}

// MarshalJSON writes null for "", a boolean for "true" and "false", an array for one, and else a string. Prism reads a boolean as its text.
func (v LabelValue) MarshalJSON() ([]byte, error) {
	switch v {
	case "":
		return []byte("null"), nil
	case "true", "false":
		return []byte(v), nil
	}
	if _, ok := v.Keys(); ok {
		return []byte(v), nil
	}
	return json.Marshal(string(v))
}

// UnmarshalJSON reads a string, a boolean as its text, an array of strings as its JSON, or null as "".
func (v *LabelValue) UnmarshalJSON(b []byte) error {
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		return err
	}
	switch value := value.(type) {
	case nil:
		*v = ""
	case string:
		*v = LabelValue(value)
	case bool:
		*v = LabelValue(strconv.FormatBool(value))
	case []any:
		keys := make([]string, len(value))
		for i := range value {
			keys[i], _ = value[i].(string)
		}
		*v = LabelOf(keys...)
	default:
		return fmt.Errorf("client: %T is no label", value)
	}
	return nil
}

// ListLabelQueue reads a page of results that have no label for a question (spec: label-queue). It reads up to a million ids.
var ListLabelQueue = Op[ListLabelQueueRequest, LabelQueuePage]{Declaration{
	Name: "listLabelQueue", Method: http.MethodGet, Path: "/v1/prisms/{prism}/label-queue", Tag: "Labels", Role: prism.Reader,
	Class: Scanning, Wait: 10 * time.Second,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.NotIndexed(), apierr.NotSearchable()},
}}

// ListLabelQueueRequest is the request of ListLabelQueue.
type ListLabelQueueRequest struct {
	PrismRequest
	// The key of the question.
	Question string `query:"question" required:"true" min:"1" max:"200" example:"topic"`
	// The order of the results.
	Order LabelSample `query:"order" enum:"random,uncertain" default:"random"`
	// Only results of this version.
	Version int32 `query:"version" min:"1" max:"2147483647"`
	// Only results that are assigned to the member with this id, to you (`me`), or to nobody (`none`).
	Assignee string `query:"assignee" form:"assignee"`
	ResultSearch
	PageRequest
	Cursor string `query:"cursor" list:"queue"`
}

// LabelQueuePage is a page of results to label.
type LabelQueuePage struct {
	// The results of this page.
	Data []QueuedResult `json:"data"`
	// What to send as `sample` with their labels.
	Sample LabelSample `json:"sample"`
	// The cursor of the next page. Null on the last page.
	NextCursor *string `json:"next_cursor"`
}

// QueuedResult is a result to label.
type QueuedResult struct {
	// The id of the result.
	ResultID string `json:"result_id" form:"uuid"`
	// The ref sent with the call.
	Ref *string `json:"ref"`
	// When the result was saved.
	CreatedAt Time `json:"created_at"`
	// The version that answered.
	Version int `json:"version" min:"1"`
	// The context sent with the call.
	Context *string `json:"context"`
	// The value of each field, in the order of the version.
	Fields map[string]string `json:"fields"`
	// The answers by question, as in format `raw`.
	Answers map[string]any `json:"answers"`
}
