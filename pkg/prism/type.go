package prism

// QuestionType is the kind of answer that a question has. A file for each type says all that differs between types, as a kind; other
// packages ask types, questions and answers for what they need, and never which type they are of (TestTypesAreNamedWhereTheyMayBe).
type QuestionType string

// The question types.
const (
	Choice QuestionType = "choice" // one of 2 to 255 options
	YesNo  QuestionType = "yes_no" // the probability of yes
	Scale  QuestionType = "scale"  // one of 2 to 10 levels in rising order
)

// Values are all question types.
func (QuestionType) Values() []string { return texts([]QuestionType{Choice, YesNo, Scale}) }

func (t QuestionType) kind() kind {
	switch t {
	case Choice:
		return choice{}
	case YesNo:
		return yesNo{}
	case Scale:
		return scale{}
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
	// takes tells which members of a column are for answers of the type.
	takes() (option, limits bool)
	// labelValues are the values of labels. The index of a value is its class.
	labelValues(q Question) []string
	readLabel(q Question, text string) (value, problem string)
	shownLabel(value string) any
	// certainty is the probability of value, which is the value of a label that says the answer is right.
	certainty(a *Answer) float64
	value(a *Answer) string
	// reply is one of Question.ReplyKeys.
	reply(a *Answer) string
	// appendProbabilities appends all probabilities in order, and probabilitiesOf are those of classes; of a binary answer both are
	// that of yes alone. setProbabilities sets others, in the memory of keys.
	appendProbabilities(to []float64, a *Answer) []float64
	probabilitiesOf(a *Answer, classes []string) []float64
	setProbabilities(a *Answer, probabilities []float64, keys []KeyProbability)
	// show sets a cell to the answer, and number is what else a column can show, or why nothing.
	show(a *Answer, c *AnsweredColumn, to *Cell) Reason
	number(a *Answer, show Show, option string, levels []Level) (float64, Reason)
}

// Classes is what the classes of answers are to each other: measures, calibrations and drift depend on it.
type Classes string

// What classes are.
const (
	Binary  Classes = "binary"  // no and yes; an answer has the probability of yes
	Nominal Classes = "nominal" // options; an answer has a probability of each
	Ordinal Classes = "ordinal" // levels in rising order; an answer has a probability of each
)

// Classes is what the classes of answers of the type are; "" of a type that this release does not know.
func (t QuestionType) Classes() Classes { return t.kind().classes() }

// Shape is which members a stored answer has after its type, in this order (spec: raw-answer-shapes).
type Shape struct {
	Chosen      string // the name of the member with the chosen key, which the probabilities follow; "": neither
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

// TakesOption tells whether a column can have the option whose probability it shows.
func (t QuestionType) TakesOption() bool {
	option, _ := t.kind().takes()
	return option
}

// TakesLimits tells whether a column can have limits, from which on the answer is yes and up to which it is no.
func (t QuestionType) TakesLimits() bool {
	_, limits := t.kind().takes()
	return limits
}

// ShownLabel is the value of a label as bodies show it: true or false, or a key.
func (t QuestionType) ShownLabel(value string) any { return t.kind().shownLabel(value) }

// unknown is the kind of a type that a later release has stored.
type unknown struct{ keyed }

func (unknown) classes() Classes             { return "" }
func (unknown) shape() Shape                 { return Shape{} }
func (unknown) derived() Show                { return "" }
func (unknown) takes() (option, limits bool) { return true, true }
func (unknown) shows() []Show                { return Shows() }

func (unknown) show(*Answer, *AnsweredColumn, *Cell) Reason { return OtherType }

func (unknown) number(*Answer, Show, string, []Level) (float64, Reason) { return 0, OtherType }
