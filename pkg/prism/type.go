package prism

// QuestionType is the kind of answer that a question has. A file for each type says all that differs between types, as a kind; other
// packages ask types, questions and answers for what they need, and never which type they are of (TestTypesAreNamedWhereTheyMayBe).
type QuestionType string

// The question types.
const (
	Choice QuestionType = "choice" // one of 2 to 255 options
	YesNo  QuestionType = "yes_no" // the probability of yes
	Scale  QuestionType = "scale"  // one of 2 to 10 levels in rising order
	Tags   QuestionType = "tags"   // any number of 1 to 100 options
)

// Values are all question types.
func (QuestionType) Values() []string { return texts([]QuestionType{Choice, YesNo, Scale, Tags}) }

func (t QuestionType) kind() kind {
	switch t {
	case Choice:
		return choice{}
	case YesNo:
		return yesNo{}
	case Scale:
		return scale{}
	case Tags:
		return tags{}
	}
	return unknown{}
}

// kind is what differs between question types.
type kind interface {
	classes() Classes
	shape() Shape
	// shows is what a column of a Lens can show, and derived what the derived Lens shows beside the answer.
	shows() []Show
	derived() Show
	// takes is which members a column has that shows something of answers of the type.
	takes(show Show) Takes
	// labelValues are the values of labels. The index of a value is its class.
	labelValues(q Question) []string
	readLabel(q Question, text string) (value, problem string)
	shownLabel(value string) any
	// certainty is the probability of value, which is the value of a label that says the answer is right.
	certainty(a *Answer) float64
	value(a *Answer) string
	// replies are some of Question.ReplyKeys: one, or of several right options any number. reply is the first of them, or empty.
	replies(a *Answer) []string
	reply(a *Answer) string
	// appendProbabilities appends all probabilities in order, and probabilitiesOf are those of classes; of a binary answer both are
	// that of yes alone. setProbabilities sets others, in the memory of keys.
	appendProbabilities(to []float64, a *Answer) []float64
	probabilitiesOf(a *Answer, classes []string) []float64
	setProbabilities(a *Answer, probabilities []float64, keys []KeyProbability)
	// show sets a cell to the answer, and number is what else a column can show, or why nothing.
	show(a *Answer, c *AnsweredColumn, to *Cell) Reason
	number(a *Answer, column Column, levels []Level) (float64, Reason)
	// parts are the questions that a question is made of, part is the answer to one of them, and partOfLabel the value of a label of it.
	// whole is the answer to the question with answers to all parts. There are none unless classes is Multiple.
	parts(q Question) []Question
	part(a *Answer, option string) (Answer, bool)
	partOfLabel(value, option string) string
	whole(q Question, parts []Answer) Answer
}

// single is what kinds have in common whose answer is one of several.
type single struct{}

func (single) parts(Question) []Question           { return nil }
func (single) part(*Answer, string) (Answer, bool) { return Answer{}, false }
func (single) partOfLabel(string, string) string   { return "" }
func (single) whole(q Question, _ []Answer) Answer { return Answer{Question: q.Key, Type: q.Type} }

// Classes is what the classes of answers are to each other: measures, calibrations and drift depend on it.
type Classes string

// What classes are.
const (
	Binary  Classes = "binary"  // no and yes; an answer has the probability of yes
	Nominal Classes = "nominal" // options; an answer has a probability of each
	Ordinal Classes = "ordinal" // levels in rising order; an answer has a probability of each
	// Multiple: options of which any number is right; an answer has a probability of each, which is that of yes of a binary part.
	Multiple Classes = "multiple"
)

// Classes is what the classes of answers of the type are; "" of a type that this release does not know.
func (t QuestionType) Classes() Classes { return t.kind().classes() }

// Shape is which members a stored answer has after its type, in this order (spec: raw-answer-shapes).
type Shape struct {
	Chosen      string // the name of the member with the chosen key, which the probabilities follow; "": neither
	Several     bool   // that member is a list of keys, which Answer.Replies returns
	Confidence  bool
	Probability bool
}

// Shape is the shape of answers of the type; the zero value of a type that this release does not know.
func (t QuestionType) Shape() Shape { return t.kind().shape() }

// Shows is what a column of a Lens can show of answers of the type; everything of a type that this release does not know.
func (t QuestionType) Shows() []Show { return t.kind().shows() }

// Derived is what the derived Lens shows of answers of the type, each in a column (spec: derived-lens).
func (t QuestionType) Derived() []Show {
	if also := t.kind().derived(); also != "" {
		return []Show{ShowAnswer, also}
	}
	return []Show{ShowAnswer}
}

// Takes is which members a column has beside what it shows of answers of a type.
type Takes struct {
	Option      bool // whose probability it shows
	NeedsOption bool // it has one
	YesAt       bool // from which on the answer is yes, or an option is right
	NoAt        bool // up to which the answer is no
}

// Takes is which members a column has that shows something of answers of the type. Those of a type that this release does not know are
// all that any type has.
func (t QuestionType) Takes(show Show) Takes { return t.kind().takes(show) }

// ShownLabel is the value of a label as bodies show it: true or false, a key, or a list of keys.
func (t QuestionType) ShownLabel(value string) any { return t.kind().shownLabel(value) }

// PartOfLabel is the value that a label of a question has for one of its parts: see Question.Parts.
func (t QuestionType) PartOfLabel(value, option string) string {
	return t.kind().partOfLabel(value, option)
}

// unknown is the kind of a type that a later release has stored.
type unknown struct{ keyed }

func (unknown) classes() Classes { return "" }
func (unknown) shape() Shape     { return Shape{} }
func (unknown) derived() Show    { return "" }
func (unknown) shows() []Show    { return Shows() }

func (unknown) takes(show Show) Takes {
	return Takes{Option: show == ShowProbability, YesAt: show == ShowAnswer || show == ShowCount, NoAt: show == ShowAnswer}
}

func (unknown) show(*Answer, *AnsweredColumn, *Cell) Reason { return OtherType }

func (unknown) number(*Answer, Column, []Level) (float64, Reason) { return 0, OtherType }
