package finding

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// Schema is the questions of the versions of a prism, by their keys.
type Schema map[string]*questions

// questions are what the versions have under one key.
type questions struct {
	shows   map[prism.Show]bool
	keys    map[string]bool // of options and levels
	replies map[string]bool
	// single and several: versions in which an answer is one of the replies, or any number of them.
	single, several bool
}

// NewSchema reads the questions of versions.
func NewSchema(versions ...prism.Definition) Schema {
	s := Schema{}
	for _, v := range versions {
		for _, q := range v.Questions {
			known := s[q.Key]
			if known == nil {
				known = &questions{shows: map[prism.Show]bool{}, keys: map[string]bool{}, replies: map[string]bool{}}
				s[q.Key] = known
			}
			if q.Type.Classes() == prism.Multiple {
				known.several = true
			} else {
				known.single = true
			}
			for _, show := range q.Type.Shows() {
				known.shows[show] = true
			}
			for _, key := range q.AnswerKeys() {
				known.keys[key] = true
			}
			for _, key := range q.ReplyKeys() {
				known.replies[key] = true
			}
		}
	}
	return s
}

// Subject is what a condition or an order is about: an answer, a number of it, or what Prism knows of the result.
type Subject struct {
	Question string // "" for what Prism knows
	Option   string // of whose probability it is
	Measure  Measure
}

// Measure names a number of an answer, or what Prism knows of a result.
type Measure string

// The measures.
const (
	Confidence Measure = Measure(prism.ShowConfidence)
	Average    Measure = Measure(prism.ShowAverage)
	Label      Measure = "label"                  // what was right
	Count      Measure = Measure(prism.ShowCount) // of right options
	Created    Measure = "created"
	Took       Measure = "took"
	Version    Measure = "version"
	Model      Measure = "model"
	Status     Measure = "status"
	Labelled   Measure = "labelled"
)

// ofAnswers are the numbers of answers beside probabilities.
var ofAnswers = []Measure{Confidence, Average, Count}

// own are what Prism knows of a result.
var own = []Measure{Created, Took, Version, Model, Status, Labelled}

// The problems of subjects.
const (
	unknownQuestion = "Unknown question"
	unknownOption   = "Unknown option"
	unknownName     = "Unknown name behind @"
)

// subject reads topic, topic.billing, topic@confidence and @created.
func (s Schema) subject(text string) (subject Subject, problem string) {
	key, measure, measured := strings.Cut(text, "@")
	key, option, optional := strings.Cut(key, ".")
	subject = Subject{key, option, Measure(measure)}
	if key == "" && !optional {
		switch {
		case slices.Contains(own, subject.Measure):
			return subject, ""
		case measured:
			return subject, unknownName
		}
	}
	known := s[key]
	switch {
	case known == nil:
		return subject, unknownQuestion
	case optional && (measured || !known.keys[option]):
		return subject, unknownOption
	case !measured, subject.Measure == Label, slices.Contains(ofAnswers, subject.Measure) && known.shows[prism.Show(measure)]:
		return subject, ""
	}
	return subject, unknownName
}

// Found is a result with what a search reads of it.
type Found struct {
	Result     prism.Result // with its Call, if the model is known
	Answers    prism.Answers
	Labels     map[string]string // values by question
	Definition prism.Definition  // of the version that answered
}

// Answer is the answer to a question; nil if there is none.
func (f *Found) Answer(question string) *prism.Answer {
	for i := range f.Answers {
		if f.Answers[i].Question == question {
			return &f.Answers[i]
		}
	}
	return nil
}

// Number is the number of a subject, and false if the result has none.
func (f *Found) Number(subject Subject) (float64, bool) {
	switch {
	case subject.Question == "" && subject.Measure == Created:
		return float64(f.Result.CreatedAt.UnixMilli()), true
	case subject.Question == "" && subject.Measure == Took:
		return float64(f.Result.TookMS), true
	}
	a := f.Answer(subject.Question)
	if a == nil {
		return 0, false
	}
	show := prism.ShowProbability
	if subject.Measure != "" {
		show = prism.Show(subject.Measure)
	}
	q, _ := f.Definition.Question(subject.Question)
	n, reason := a.Number(prism.Column{Show: show, Option: subject.Option}, q.Levels)
	return n, reason == ""
}

// Counted are the values of a subject under which a result is counted, none of a result without the subject: of an answer without options the
// tenth of its number, such as 0.9 of all from 0.9 on, and of an answer with any number of right options each of them.
func (f *Found) Counted(subject Subject) []string {
	if q, ok := f.Definition.Question(subject.Question); ok && len(q.AnswerKeys()) == 0 && subject.Measure != Label {
		n, ok := f.Number(subject)
		if !ok {
			return nil
		}
		return []string{"0." + strconv.Itoa(int(max(0, min(9, math.Floor(n*10)))))}
	}
	values, _ := f.values(subject)
	return values
}
