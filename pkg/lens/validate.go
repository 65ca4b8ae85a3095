package lens

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// The limits of a Lens (spec: lens-columns, lens-column-names).
const (
	maxColumns = 200
	maxName    = 64 // characters, each of one byte
)

// The problems of a Lens. None repeats a value that was sent (spec: values-are-never-repeated).
const (
	tooFewColumns   = "Array must contain at least 1 element(s)"
	tooManyColumns  = "Array must contain at most 200 element(s)"
	badName         = "must match ^[A-Za-z0-9_ .-]{1,64}$"
	longName        = "String must contain at most 64 character(s)"
	takenName       = "must be unique in a row"
	unknownQuestion = "Unknown question"
	unknownOption   = "Unknown option"
	misplacedOption = "only for 'probability' of a choice or scale question"
	misplacedLimit  = "only for 'answer' of a yes_no question"
	requiredOption  = "Required"
	below0          = "Number must be greater than or equal to 0"
	above1          = "Number must be less than or equal to 1"
)

// Validate checks a Lens that was sent for the latest version d. If d has no questions, which means that they are invalid
// themselves, the references to questions are not checked. path precedes every path: "lens." for the Lens of a prism or
// version, "" for PUT lens. The problems are in the order of the columns, and within a column in the order name, question,
// show, option, yes_at, no_at.
func Validate(l prism.Lens, d prism.Definition, path string) []apierr.Problem {
	v := validation{definition: d, taken: namesBesides(d)}
	columns := l.Columns
	switch {
	case len(columns) == 0:
		v.add(path+"columns", tooFewColumns)
	case len(columns) > maxColumns:
		v.add(path+"columns", tooManyColumns)
		columns = columns[:maxColumns] // which bounds the response
	}
	for i, c := range columns {
		v.column(path+"columns."+strconv.Itoa(i)+".", c)
	}
	return v.problems
}

// ValidateDerived checks the Lens that Derive returns for an otherwise valid definition (spec: names-in-a-row). Its names
// can equal field keys, reserved names and each other (questions "a" and "a_probability"), and they can be too long (a key
// of 53 characters or more with "_probability"). The caller did not send these names, so the path is "lens", and each
// problem is listed once.
func ValidateDerived(d prism.Definition) []apierr.Problem {
	taken := namesBesides(d)
	var clash, long bool
	for _, c := range Derive(d).Columns {
		clash = taken[c.Name] || clash
		long = len(c.Name) > maxName || long
		taken[c.Name] = true
	}
	var problems []apierr.Problem
	if long {
		problems = append(problems, apierr.Problem{Path: "lens", Text: longName})
	}
	if clash {
		problems = append(problems, apierr.Problem{Path: "lens", Text: takenName})
	}
	return problems
}

// namesBesides is the names in a tabular row that do not come from the Lens.
func namesBesides(d prism.Definition) map[string]bool {
	names := make(map[string]bool)
	for _, name := range prism.ReservedNames() {
		names[name] = true
	}
	for _, f := range d.Fields {
		names[f.Key] = true
	}
	return names
}

type validation struct {
	definition prism.Definition
	taken      map[string]bool // names of the row so far
	problems   []apierr.Problem
}

func (v *validation) add(path, text string) {
	v.problems = append(v.problems, apierr.Problem{Path: path, Text: text})
}

func (v *validation) column(path string, c prism.Column) {
	if !validName(c.Name) {
		v.add(path+"name", badName)
	}
	if v.taken[c.Name] {
		v.add(path+"name", takenName)
	}
	v.taken[c.Name] = true

	q, known := v.definition.Question(c.Question)
	if !known && len(v.definition.Questions) > 0 {
		v.add(path+"question", unknownQuestion)
	}
	if text := showProblem(c.Show, q.Type); text != "" {
		v.add(path+"show", text)
	}
	if text := optionProblem(c, q, known); text != "" {
		v.add(path+"option", text)
	}
	v.limit(path+"yes_at", c, q.Type, c.YesAt, func(t prism.Takes) bool { return t.YesAt })
	v.limit(path+"no_at", c, q.Type, c.NoAt, func(t prism.Takes) bool { return t.NoAt })
}

func validName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '_', c == ' ', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

func isShow(s prism.Show) bool { return slices.Contains(prism.Shows(), s) }

// showProblem names all shows if s is none, and those of the question's type if s is a show of other types; "" is no
// problem.
func showProblem(s prism.Show, t prism.QuestionType) string {
	switch {
	case !isShow(s):
		return expected(prism.Shows())
	case !slices.Contains(t.Shows(), s):
		return expected(t.Shows())
	}
	return ""
}

func expected(shows []prism.Show) string {
	quoted := make([]string, len(shows))
	for i, s := range shows {
		quoted[i] = "'" + string(s) + "'"
	}
	return "Expected " + strings.Join(quoted, " | ")
}

// optionProblem is "" if show or question are invalid: they have a problem of their own.
func optionProblem(c prism.Column, q prism.Question, known bool) string {
	takes := q.Type.Takes(c.Show)
	switch {
	case !isShow(c.Show), c.Option == "" && !takes.NeedsOption:
		return ""
	case c.Option == "":
		return requiredOption
	case !takes.Option:
		return misplacedOption
	case known && !slices.Contains(q.AnswerKeys(), c.Option):
		return unknownOption
	}
	return ""
}

// limit checks yes_at or no_at. A limit where none is allowed has one problem, whatever its value.
func (v *validation) limit(path string, c prism.Column, t prism.QuestionType, limit *float64, takes func(prism.Takes) bool) {
	if limit == nil {
		return
	}
	with := slices.DeleteFunc(t.Shows(), func(s prism.Show) bool { return !takes(t.Takes(s)) })
	switch {
	case isShow(c.Show) && !slices.Contains(with, c.Show), len(with) == 0:
		v.add(path, misplaced(with, t))
	case *limit < 0 || math.IsNaN(*limit):
		v.add(path, below0)
	case *limit > 1:
		v.add(path, above1)
	}
}

// misplaced is the problem of a limit beside something else than some shows of a type, or of a type without limits.
func misplaced(with []prism.Show, t prism.QuestionType) string {
	if len(with) < 2 || t.Classes() == "" { // the question is unknown
		return misplacedLimit
	}
	return "only for " + strings.TrimPrefix(expected(with), "Expected ") + " of a " + string(t) + " question"
}
