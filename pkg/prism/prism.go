// Package prism is the domain: prisms and their versions, questions, answers and results. It depends on the standard
// library only, and every other package depends on it.
package prism

import (
	"slices"
	"strconv"
	"time"
)

// QuestionType is the kind of answer that a question has.
type QuestionType string

// The question types.
const (
	Choice QuestionType = "choice" // one of 2 to 26 options
	YesNo  QuestionType = "yes_no" // the probability of yes
	Scale  QuestionType = "scale"  // one of 2 to 10 levels in rising order
)

// InsufficientInformation is the key of the option that a choice question with insufficient_information adds.
const InsufficientInformation = "insufficient_information"

// Field is an input of a version.
type Field struct {
	Key   string `json:"key"`
	Label string `json:"label,omitzero"`
}

// Option is a possible answer of a choice question.
type Option struct {
	Key         string `json:"key"`
	Label       string `json:"label"`
	Description string `json:"description,omitzero"`
}

// Level is a possible answer of a scale question. Value is its number in an average; it is 1, 2, 3 … unless given.
type Level struct {
	Key   string  `json:"key"`
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// Question is one typed question of a version. Options belong to a choice, Levels to a scale.
type Question struct {
	Key                     string       `json:"key"`
	Type                    QuestionType `json:"type"`
	Text                    string       `json:"text"`
	Options                 []Option     `json:"options,omitzero"`
	InsufficientInformation bool         `json:"insufficient_information,omitzero"`
	Levels                  []Level      `json:"levels,omitzero"`
}

// Choices are the options a choice question offers in definition order, with the one that insufficient_information adds
// at the end.
func (q Question) Choices() []Option {
	if !q.InsufficientInformation {
		return q.Options
	}
	return append(q.Options[:len(q.Options):len(q.Options)],
		Option{Key: InsufficientInformation, Label: "Insufficient information"})
}

// AnswerKeys are the option or level keys in definition order; none for a yes_no question.
func (q Question) AnswerKeys() []string {
	var keys []string
	switch q.Type {
	case Choice:
		for _, o := range q.Choices() {
			keys = append(keys, o.Key)
		}
	case Scale:
		for _, l := range q.Levels {
			keys = append(keys, l.Key)
		}
	case YesNo:
	}
	return keys
}

// Definition is the part of a version that never changes (spec: version-is-immutable).
type Definition struct {
	Instructions string     `json:"instructions,omitzero"`
	Model        string     `json:"model,omitzero"` // of the configured models; empty: the default one
	Escalate     *Escalate  `json:"escalate,omitzero"`
	Fields       []Field    `json:"fields"`
	Questions    []Question `json:"questions"`
}

// Escalate has a second model answer when an answer of the first one is doubtful (spec: escalation).
type Escalate struct {
	To string `json:"to"` // the second model, of the configured ones
	// Below is the probability, in (0, 1], below which an answer is doubtful (see Answer.Certainty).
	Below float64 `json:"below"`
	// Questions are the keys of the questions whose answers can be doubtful; none: of all.
	Questions []string `json:"questions,omitzero"`
}

// Doubtful are the keys of the questions whose answers are doubtful, in the order of the answers. There are none without an
// escalation.
func (e *Escalate) Doubtful(answers Answers) (keys []string) {
	if e == nil {
		return nil
	}
	for _, a := range answers {
		if a.Certainty() < e.Below && (len(e.Questions) == 0 || slices.Contains(e.Questions, a.Question)) {
			keys = append(keys, a.Question)
		}
	}
	return keys
}

// Question finds a question by its key.
func (d Definition) Question(key string) (Question, bool) {
	for _, q := range d.Questions {
		if q.Key == key {
			return q, true
		}
	}
	return Question{}, false
}

// Version is a numbered definition of a prism, 1 or more.
type Version struct {
	Number int32 `json:"version"`
	Definition
	CreatedAt time.Time `json:"created_at"`
	// Hash names Definition between the services; zero where nobody computed it.
	Hash DefinitionHash `json:"-"`
}

// DefinitionHash is the SHA-256 of a definition's JSON.
type DefinitionHash [32]byte

// Show is what a Lens column shows of the answer to its question.
type Show string

// What a column can show.
const (
	ShowAnswer      Show = "answer"      // the option, the level, or yes, no, unsure
	ShowProbability Show = "probability" // of Option, or of the chosen one, or of yes
	ShowAverage     Show = "average"     // scale: the levels' values weighed by their probabilities
	ShowConfidence  Show = "confidence"  // choice: 1 is certain, 0 a guess
)

// Column is one column of a Lens. YesAt and NoAt are nil for the defaults, 0.6 and 0.4. A calibrated column shows what the
// calibration that is pinned to the version that answered makes of its probabilities (spec: calibrated-column).
type Column struct {
	Name     string   `json:"name"`
	Question string   `json:"question"`
	Show     Show     `json:"show"`
	Option   string   `json:"option,omitzero"`
	YesAt    *float64 `json:"yes_at,omitzero"`
	NoAt     *float64 `json:"no_at,omitzero"`

	Calibrated bool `json:"calibrated,omitzero"`
}

// Lens turns stored answers into named columns. It belongs to the prism, not to a version, and is applied when a result
// is read.
type Lens struct {
	Columns []Column `json:"columns"`
}

// Calibrated tells whether a column of the Lens is calibrated.
func (l Lens) Calibrated() bool {
	return slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Calibrated })
}

// Prism is a named definition with its latest version.
type Prism struct {
	ID         PrismID
	Slug       string
	Name       string
	ArchivedAt *time.Time
	CreatedAt  time.Time
	Lens       Lens
	Latest     Version
	// Pins is which calibrations are pinned to the versions of the prism; zero: none.
	Pins PinsID
	// RetentionDays is how many days old results become before they are deleted; 0: they are kept.
	RetentionDays int32
	// VersionsHash names the versions that the prism has: with the same hash, it has the same versions. It is not sent.
	VersionsHash int64
}

// Status tells whether a result has answers.
type Status string

// The states of a result (spec: result-status).
const (
	OK     Status = "ok"
	Failed Status = "failed"
)

// FieldValue is an input value under its field key.
type FieldValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Result is the stored outcome of a call.
type Result struct {
	ID        ResultID
	Prism     PrismID
	Version   int32
	Ref       *string
	Context   string
	Fields    []FieldValue
	Status    Status
	Error     string // why it failed, in words; empty when ok
	TookMS    int64
	CreatedAt time.Time
	Answers   []byte // the bytes of `raw` answers, in question order; nil when failed
	// IdempotencyKey is the key that returns this result; it moves to the retry's result.
	IdempotencyKey string
	// RetriedBy is the result that retried this one.
	RetriedBy *ResultID
	// Key is the API key that made the call, and Call what the call of the model was; zero where it was not recorded.
	Key  KeyID
	Call *ModelCall
}

// FormatTime writes a time as every response does: UTC with milliseconds and Z (spec: created-at).
func FormatTime(t time.Time) string { return string(AppendTime(nil, t)) }

// AppendTime appends what FormatTime writes.
func AppendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = t.AppendFormat(b, time.RFC3339) // this layout is not parsed; in UTC it ends in Z
	z := len(b) - 1
	b = strconv.AppendInt(b[:z], int64(1000+t.Nanosecond()/int(time.Millisecond)), 10)
	b[z] = '.' // in place of the 1 of 1000, which kept leading zeros
	return append(b, 'Z')
}

// Now reads a clock as precisely as results store times, so that a stored time reads back as the same time.
func Now(clock func() time.Time) time.Time { return clock().UTC().Truncate(time.Millisecond) }

// Ref names a prism by slug or by id, as paths do. A slug is never a UUID, so the two can't be confused.
type Ref struct {
	ID   PrismID `json:",omitzero"` // zero when Slug is set
	Slug string  `json:",omitzero"`
}

// ParseRef reads a path's {prism}.
func ParseRef(s string) Ref {
	if id, err := ParseUUID(s); err == nil {
		return Ref{ID: PrismID{id}}
	}
	return Ref{Slug: s}
}

// ReservedNames is the columns that every tabular row begins with, in order (spec: tabular-columns). Field keys and Lens
// columns can't have these names.
func ReservedNames() []string {
	return []string{"result_id", "ref", "version", "status", "error", "created_at"}
}
