package prism

// CellKind tells which fields of a Cell are set.
type CellKind uint8

// The kinds of cells.
const (
	NullCell   CellKind = iota // the stored answer does not have what the column shows
	NumberCell                 // Cell.Number: a probability, an average or a confidence
	TextCell                   // Cell.Key and Cell.Label: an option, a level, or yes, no, unsure; any number of options
)

// Cell is the value of one column for one result. The zero value is null.
type Cell struct {
	Kind   CellKind
	Number float64 // finite
	Key    string  // for programs (json, jsonl): the option or level key, or yes, no, unsure; several keys have "; " between them
	// Label is for people (csv, tsv): the label in the version that answered, or the key where it has none; Yes, No, Unsure.
	Label string
}

// Reason says why a cell is null; it is empty for every other cell (spec: lens-preview).
type Reason string

// The reasons. They name the version that answered, as the Lens fits the latest one.
const (
	NoQuestion Reason = "The version that answered does not have this question."
	NoOption   Reason = "The question did not have this option or level in the version that answered."
	OtherType  Reason = "The question had another type in the version that answered."
	NoAverage  Reason = "The values of the levels have no average."
	NotPinned  Reason = "No calibration is pinned for this question in the version that answered."
)

// AnsweredColumn is a column of a Lens for the answers of a version.
type AnsweredColumn struct {
	Column
	question Question // in the version, with its members; zero if the version does not have the question
	members  []Option
}

// ColumnOf prepares a column for the answers to a question of a version; the zero question if the version does not have it.
func ColumnOf(c Column, q Question) AnsweredColumn { return AnsweredColumn{c, q, q.Members()} }

// SetCell sets a null cell to what the column shows of an answer to its question, or returns why it stays null.
func (c *AnsweredColumn) SetCell(to *Cell, a *Answer) Reason {
	if c.Show == ShowAnswer {
		return a.Type.kind().show(a, c, to)
	}
	n, reason := a.Number(c.Column, c.question.Levels)
	if reason == "" {
		to.Kind, to.Number = NumberCell, n
	}
	return reason
}

// labelOf is the label of an option or level in the version that answered, or its key where it has none.
func (c *AnsweredColumn) labelOf(t QuestionType, key string) string {
	if c.question.Type != t {
		return key
	}
	for i := range c.members {
		if m := &c.members[i]; m.Key == key && m.Label != "" {
			return m.Label
		}
	}
	return key
}
