package client

import (
	"encoding/json"
	"mime"
	"time"
)

// Format is how a result is written.
type Format string

// The formats.
const (
	JSON  Format = "json"  // the columns of the Lens
	Raw   Format = "raw"   // the answers with every probability
	CSV   Format = "csv"   // a header row and a row for each result, with labels
	TSV   Format = "tsv"   // the same between tabs
	JSONL Format = "jsonl" // a JSON object on each line, with keys in place of labels
)

// Tabular tells whether f is a format of rows, as exports have.
func (f Format) Tabular() bool { return f == CSV || f == TSV || f == JSONL }

func (f Format) is(contentType string) bool {
	types := map[Format]string{CSV: "text/csv", TSV: "text/tab-separated-values", JSONL: "application/jsonl"}
	got, _, err := mime.ParseMediaType(contentType)
	return err == nil && got == types[f]
}

// Status is whether a result has answers.
type Status string

// The statuses.
const (
	OK     Status = "ok"
	Failed Status = "failed" // the model gave no usable answer
)

// Time is a time of the API, in UTC with milliseconds.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalText writes the time as the API does.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes the time as the API does.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

func (t Time) String() string { return t.UTC().Format(timeLayout) }

// NewResult is a call. Send either Fields or Text.
type NewResult struct {
	// Fields has a value for each field of the version.
	Fields map[string]string `json:"fields,omitempty"`
	// Text is the value of the version's only field. An empty text can be sent only in Fields.
	Text string `json:"text,omitempty"`
	// Version pins a version; 0 is the latest.
	Version int `json:"version,omitempty"`
	// IdempotencyKey makes repeats of the call safe, by the caller and by the client: see NewIdempotencyKey.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Ref is your own name for the call, stored with the result.
	Ref string `json:"ref,omitempty"`
	// Context is what the model should know beside the fields.
	Context string `json:"context,omitempty"`
}

// Result is the saved answer to one call.
type Result struct {
	ID        string  `json:"id"`
	Ref       *string `json:"ref"`
	Prism     string  `json:"prism"`
	Version   int     `json:"version"`
	Status    Status  `json:"status"`
	Error     *string `json:"error"` // why the result failed, in words
	TookMS    int64   `json:"took_ms"`
	CreatedAt Time    `json:"created_at"`
	// Answers are the answers to the questions, with every probability; nil for a failed result, and in another format than Raw.
	Answers Answers `json:"answers"`
	// Row is the columns of the prism's current Lens, in the format JSON; nil for a failed result, and in other formats.
	Row Row `json:"-"`
	// Body is the response in the format that WithFormat asked for; nil without that option. In CSV, TSV and JSONL a result has
	// only its Body.
	Body []byte `json:"-"`
}

// UnmarshalJSON reads a result of the format Raw, whose answers are objects, or JSON, whose answers are texts and numbers.
func (r *Result) UnmarshalJSON(b []byte) error {
	type members Result
	read := struct {
		*members
		Answers json.RawMessage `json:"answers"`
	}{members: (*members)(r)}
	r.Answers, r.Row = nil, nil
	if err := json.Unmarshal(b, &read); err != nil || read.Answers == nil {
		return err
	}
	if err := json.Unmarshal(read.Answers, &r.Row); err != nil {
		return err
	}
	for _, one := range r.Row {
		if _, raw := one.Value.(map[string]any); raw {
			r.Row = nil
			return json.Unmarshal(read.Answers, &r.Answers)
		}
	}
	return nil
}

// MarshalJSON writes a result in the format that it was read in, as Raw or JSON.
func (r Result) MarshalJSON() ([]byte, error) {
	type members Result
	if r.Row == nil {
		return json.Marshal(members(r))
	}
	return json.Marshal(struct {
		members
		Answers Row `json:"answers"`
	}{members(r), r.Row})
}

// QuestionType is what kind of answer a question has.
type QuestionType string

// The question types.
const (
	Choice QuestionType = "choice" // one of several options
	YesNo  QuestionType = "yes_no" // the probability of yes
	Scale  QuestionType = "scale"  // a level of a rising scale
)

// Show is the part of an answer that a Lens column shows.
type Show string

// The parts of an answer.
const (
	ShowAnswer      Show = "answer"
	ShowProbability Show = "probability"
	ShowAverage     Show = "average"    // of a scale
	ShowConfidence  Show = "confidence" // of a choice
)

// Field is an input of a version.
type Field struct {
	Key   string `json:"key"`
	Label string `json:"label,omitempty"`
}

// Option is a possible answer of a choice question.
type Option struct {
	Key         string `json:"key"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Level is a possible answer of a scale question.
type Level struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	// Value is the level's number in an average; nil is 1, 2, 3 … in order.
	Value *float64 `json:"value,omitempty"`
}

// Question is a typed question. Options belong to a choice, Levels to a scale.
type Question struct {
	Key                     string       `json:"key"`
	Type                    QuestionType `json:"type"`
	Text                    string       `json:"text"`
	Options                 []Option     `json:"options,omitempty"`
	InsufficientInformation bool         `json:"insufficient_information,omitempty"`
	Levels                  []Level      `json:"levels,omitempty"`
}

// Column is one column of a Lens.
type Column struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Show     Show     `json:"show"`
	Option   string   `json:"option,omitempty"`
	YesAt    *float64 `json:"yes_at,omitempty"` // 0.6 when nil
	NoAt     *float64 `json:"no_at,omitempty"`  // 0.4 when nil
	// Calibrated shows calibrated probabilities, and nothing where no calibration is pinned (see PinCalibrations).
	Calibrated bool `json:"calibrated,omitempty"`
}

// Lens turns stored answers into named columns.
type Lens struct {
	Columns []Column `json:"columns"`
}

// NewVersion is a version to create. Without a Lens, the prism gets the Lens derived from the questions.
type NewVersion struct {
	Instructions string     `json:"instructions,omitempty"`
	Model        string     `json:"model,omitempty"` // of ListModels; empty: the default one
	Escalate     *Escalate  `json:"escalate,omitempty"`
	Fields       []Field    `json:"fields"`
	Questions    []Question `json:"questions"`
	Lens         *Lens      `json:"lens,omitempty"`
}

// Escalate has a second model answer when an answer of the first one is doubtful.
type Escalate struct {
	To string `json:"to"` // of ListModels
	// Below is the probability, above 0 and at most 1, below which an answer is doubtful: of its most probable option or level,
	// or of the likelier of yes and no.
	Below float64 `json:"below"`
	// Questions are the keys of the questions whose answers can be doubtful; none: of all.
	Questions []string `json:"questions,omitzero"`
}

// NewPrism is a prism to create, with its version 1.
type NewPrism struct {
	Slug string `json:"slug"`
	Name string `json:"name,omitempty"`
	NewVersion
}

// Version is a numbered definition. It never changes.
type Version struct {
	Version      int        `json:"version"`
	Instructions *string    `json:"instructions"`
	Model        *string    `json:"model"` // nil: the default one
	Escalate     *Escalate  `json:"escalate"`
	Fields       []Field    `json:"fields"`
	Questions    []Question `json:"questions"`
	CreatedAt    Time       `json:"created_at"`
}

// Prism is a named definition with its latest version.
type Prism struct {
	ID            string  `json:"id"`
	Slug          string  `json:"slug"`
	Name          *string `json:"name"`
	ArchivedAt    *Time   `json:"archived_at"`
	CreatedAt     Time    `json:"created_at"`
	LatestVersion int     `json:"latest_version"`
	Lens          Lens    `json:"lens"`
	Version       Version `json:"version"`
	// RetentionDays is how many days old results become before they are deleted; nil: they are kept.
	RetentionDays *int `json:"retention_days"`
	// ETag names the prism as it is here, for IfUnchanged. Prisms of lists have none.
	ETag string `json:"-"`
}

// Role says what a key or a member may do. Each role may do all that a Reader may.
type Role string

// The roles.
const (
	Owner    Role = "owner"    // everything
	Editor   Role = "editor"   // everything but managing keys and members and reading the audit
	Caller   Role = "caller"   // create, read and retry results, and read prisms
	Labeller Role = "labeller" // read and label results, and read prisms
	Reader   Role = "reader"   // read results and prisms
)

// NewKey is an API key to create.
type NewKey struct {
	Name      string    `json:"name"`
	Role      Role      `json:"role,omitzero"`       // Owner when empty
	ExpiresAt time.Time `json:"expires_at,omitzero"` // never when zero
}

// APIKey is a key without its text.
type APIKey struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Prefix     string `json:"prefix"` // the first characters, to tell keys apart
	Role       Role   `json:"role"`
	CreatedAt  Time   `json:"created_at"`
	ExpiresAt  *Time  `json:"expires_at"`
	LastUsedAt *Time  `json:"last_used_at"` // accurate to the minute
	RevokedAt  *Time  `json:"revoked_at"`
}

// CreatedAPIKey is a new key. Its text is shown only here.
type CreatedAPIKey struct {
	APIKey
	Key Secret `json:"key"`
}

// Page is a part of a list.
type Page[T any] struct {
	Data []T `json:"data"`
	// NextCursor reads the next page; nil on the last.
	NextCursor *string `json:"next_cursor"`
}
