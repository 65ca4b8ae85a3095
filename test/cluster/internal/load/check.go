package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/script"
)

// definition is the prism that is called.
func definition(slug string) any {
	options := make([]any, 0, len(script.Teams))
	for _, team := range script.Teams {
		options = append(options, map[string]any{"key": team, "label": "The " + team + " team"})
	}
	return map[string]any{
		"slug":   slug,
		"fields": []any{map[string]any{"key": "message"}},
		"questions": []any{
			map[string]any{"key": "team", "type": "choice", "text": "Which team takes this?", "options": options},
			map[string]any{"key": "urgent", "type": "yes_no", "text": "Is it urgent?"},
		},
	}
}

// want is the one right result of a call.
type want struct {
	prism  string
	script script.Script
	failed bool // no usable answer
}

// result is a body in format json.
type result struct {
	ID        string   `json:"id"`
	Ref       *string  `json:"ref"`
	Prism     string   `json:"prism"`
	Version   int      `json:"version"`
	Status    string   `json:"status"`
	Error     *string  `json:"error"`
	TookMS    *int64   `json:"took_ms"`
	CreatedAt string   `json:"created_at"`
	Answers   *answers `json:"answers"`
}

type answers struct {
	Team              string  `json:"team"`
	TeamProbability   float64 `json:"team_probability"`
	Urgent            string  `json:"urgent"`
	UrgentProbability float64 `json:"urgent_probability"`
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// read checks all of a result but whether it failed.
func (w want) read(body []byte) (result, error) {
	var r result
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, err
	}
	_, err := time.Parse("2006-01-02T15:04:05.000Z", r.CreatedAt)
	switch {
	case err != nil:
		return r, err
	case !uuid.MatchString(r.ID):
		return r, errors.New("the id is no UUID")
	case r.Ref == nil || *r.Ref != w.script.Call:
		return r, errors.New("it has another call's ref")
	case r.Prism != w.prism || r.Version != 1:
		return r, errors.New("it is of another prism")
	case r.TookMS == nil:
		return r, errors.New("took_ms is missing")
	case r.Status == "failed" && r.Error != nil && *r.Error != "" && r.Answers == nil:
		return r, nil
	case r.Status != "ok" || r.Error != nil || r.Answers == nil:
		return r, errors.New("status, error and answers do not fit each other")
	case *r.TookMS < w.script.Pause.Milliseconds():
		return r, errors.New("it took less time than the model")
	}
	a := w.script.Answer()
	right := answers{
		Team: a.Team, TeamProbability: script.TeamProbability, Urgent: a.YesNo(), UrgentProbability: a.Urgent,
	}
	if *r.Answers != right {
		return r, fmt.Errorf("it answers %+v, and the model said %+v", *r.Answers, right)
	}
	return r, nil
}

// finding is what is not right about a response. A response is right when both texts are empty.
type finding struct {
	failed string // why there is no usable answer
	wrong  string // what the contract does not have
}

// judge reads the answer to a create, a repeat or a retry. A result that was answered is returned, also a failed one.
func (w want) judge(a reply) (*result, finding) {
	if a.err != nil {
		return nil, finding{failed: unanswered(a.err)}
	}
	if a.status != http.StatusOK && a.status != http.StatusBadGateway {
		return nil, judgeError(a)
	}
	r, err := w.read(a.body)
	switch {
	case err != nil:
		return nil, finding{wrong: err.Error()}
	case a.contentType != "application/json; charset=utf-8":
		return nil, finding{wrong: "it has the type " + a.contentType}
	case (a.status == http.StatusOK) != (r.Status == "ok"):
		return nil, finding{wrong: "status and body do not fit each other"}
	case w.failed && r.Status == "ok":
		return &r, finding{wrong: "it is a usable answer, and the model gave none"}
	case !w.failed && r.Status != "ok":
		return &r, finding{failed: "a failed result: " + *r.Error}
	}
	return &r, finding{}
}

// unavailable is the body of the 503.
const unavailable = `{"statusCode":503,"error":"Service Unavailable","message":"Service Unavailable"}`

// judgeError reads an answer that is no result.
func judgeError(a reply) finding {
	var body struct {
		Error struct{ Code, Message string }
	}
	switch {
	case a.status == http.StatusServiceUnavailable && sameJSON(a.body, unavailable):
		return finding{failed: "503"}
	case a.status == http.StatusInternalServerError && json.Unmarshal(a.body, &body) == nil && body.Error.Code == "internal_error":
		return finding{failed: "500"}
	}
	return finding{wrong: fmt.Sprintf("status %d", a.status)}
}

func sameJSON(got []byte, want string) bool {
	var a, b map[string]any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && fmt.Sprint(a) == fmt.Sprint(b)
}
