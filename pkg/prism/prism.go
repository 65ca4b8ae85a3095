// Package prism is the domain: prisms and their versions, questions, answers and results. It depends on the standard
// library only, and every other package depends on it.
package prism

import (
	"slices"
	"strconv"
	"time"
)

// Field is an input of a version.
type Field struct {
	// Names the field in calls and in tabular rows. Not one of `result_id`, `ref`, `version`, `status`, `error`, `created_at`.
	Key string `json:"key" form:"key" schema:"Key" reserved:"true"`
	// What people call it. Null is the same as not sent.
	Label string `json:"label,omitzero" max:"1000" null:"true"`
}

// Definition is what is asked: the part of a version that never changes, but for the content of examples whose result is deleted
// (spec: version-is-immutable).
type Definition struct {
	// A text that is sent to the model with every question.
	Instructions string `json:"instructions,omitzero" max:"100000" null:"true"`
	// The name of the configured model that answers. Without it, the default model at the time of the call answers. A name that is
	// not configured is a 400.
	Model string `json:"model,omitzero" form:"slug" null:"true"`
	// A second model for doubtful answers. Without it none.
	Escalate *Escalate `json:"escalate,omitzero" null:"true"`
	// The inputs of a call, 1 to 50. Their keys are unique.
	Fields []Field `json:"fields" min:"1" max:"50"`
	// What is asked about the input, 1 to 64 questions. Their keys are unique.
	Questions []Question `json:"questions" min:"1" max:"64"`
	// Inputs with their right answers, which the model sees before each input. At most 40, and 256 KiB of JSON together.
	Examples []Example `json:"examples,omitzero" max:"40" null:"true"`
}

// Escalate has a second model answer all questions when an answer of the first model is doubtful. The second answers are the result,
// and the record has both (spec: escalation).
type Escalate struct {
	// The name of the configured model that answers then. A name that is not configured is a 400, and so is the version's own model.
	To string `json:"to" form:"slug"`
	// An answer is doubtful if the probability of its most probable option or level, or of the likelier of yes and no, is below this; of a
	// tags for any option, whether it is right or not.
	Below float64 `json:"below" above:"0" max:"1"`
	// The keys of the questions whose answers can be doubtful. Without it, all.
	Questions []string `json:"questions,omitzero" min:"1" max:"64" unique:"true" null:"true"`
}

// Doubtful are the keys of the questions whose answers are doubtful, in the order of the answers. There are none without an
// escalation.
func (e *Escalate) Doubtful(answers Answers) (keys []string) {
	if e == nil {
		return nil
	}
	for i := range answers {
		if a := &answers[i]; a.Certainty() < e.Below && (len(e.Questions) == 0 || slices.Contains(e.Questions, a.Question)) {
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

// IsZero reports whether nobody computed the hash.
func (h DefinitionHash) IsZero() bool { return h == DefinitionHash{} }

// Show is what a Lens column shows of the answer to its question.
type Show string

// What a column can show.
const (
	ShowAnswer      Show = "answer"      // the option, the level, or yes, no, unsure
	ShowProbability Show = "probability" // of Option, or of the chosen one, or of yes
	ShowAverage     Show = "average"     // scale: the levels' values weighed by their probabilities
	ShowConfidence  Show = "confidence"  // choice: 1 is certain, 0 a guess
	ShowCount       Show = "count"       // tags: how many options are in the answer
)

// Shows are all that a column can show.
func Shows() []Show {
	return []Show{ShowAnswer, ShowProbability, ShowAverage, ShowConfidence, ShowCount}
}

// Values are Shows as texts.
func (Show) Values() []string { return texts(Shows()) }

// Column is one column of a Lens.
type Column struct {
	// 1 to 64 letters, digits, underscores, spaces, dots and hyphens. Not one of `result_id`, `ref`, `version`, `status`, `error`,
	// `created_at`.
	Name string `json:"name" form:"column" reserved:"true"`
	// The question of the latest version whose answer is shown.
	Question string `json:"question" schema:"Key"`
	// `answer`: the option, the level, or yes, no or unsure; of a tags all options that are right, with `; ` between them.
	// `probability`: of `option`, or else of the chosen option or level, or of yes. `average`: of a scale, its levels' values weighed by
	// their probabilities. `confidence`: of a choice, 1 is certain and 0 a guess. `count`: of a tags, how many options are right.
	Show Show `json:"show"`
	// The option or level key whose probability is shown. Only with `probability`; of a tags required.
	Option string `json:"option,omitzero" schema:"Key" min:"1" max:"200" null:"true"`
	// The answer of a yes_no question is `yes` from this probability on. Only with `answer`. An option of a tags question is right from this
	// probability on, 0.5 if it is not sent. Only with `answer` and `count`.
	YesAt *float64 `json:"yes_at,omitzero" min:"0" max:"1" default:"0.6" null:"true"`
	// The answer of a yes_no question is `no` up to this probability, and `unsure` in between. Only with `answer`.
	NoAt *float64 `json:"no_at,omitzero" min:"0" max:"1" default:"0.4" null:"true"`
	// Shows what the calibration that is pinned to the question of the version that answered makes of the stored probabilities, and
	// null where none is pinned.
	Calibrated bool `json:"calibrated,omitzero" default:"false" null:"true"`
}

// Lens turns stored answers into named columns. It belongs to the prism, not to a version, and is applied when a result is read.
type Lens struct {
	// 1 to 200 columns in the order of the answers. Their names are unique, also among the field keys of the latest version.
	Columns []Column `json:"columns" min:"1" max:"200"`
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
	// AdHoc tells that the prism is there while it has results (spec: adhoc-kept).
	AdHoc bool
	// Unsearchable tells that searches leave the results out.
	Unsearchable bool
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
