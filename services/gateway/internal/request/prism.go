package request

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// newVersion reads the members of a version.
func newVersion(r *reader, s *structReader, it item, to reflect.Value) {
	v := to.Addr().Interface().(*api.NewVersion)
	v.Definition, v.Lens = r.definition(s, it, s.member("lens").object, it.at("lens"))
}

// lensAlone reads a Lens that is to take the place of a prism's. Only types are checked here: results checks the other rules, which
// depend on the latest version (spec: lens-edit, lens-preview-problems).
func lensAlone(r *reader, s *structReader, it item, to reflect.Value) { set(to, r.lens(s, it)) }

// slug reads a slug. A UUID is no slug, so that the {prism} of a path has one meaning, and some are reserved (spec: slug-form).
func (r *reader) slug(it item) string {
	s, _ := r.matching(it, api.Forms["slug"])
	if strings.HasPrefix(s, reservedSlugs) {
		r.add(it.path, textReserved)
	}
	if _, err := prism.ParseUUID(s); err == nil && api.Forms["slug"].MatchString(s) {
		r.add(it.path, textSlugIsUUID)
	}
	return s
}

// definition reads a definition, and the Lens if one was sent with it. The Lens is checked against the questions only if they
// have no problem.
func (r *reader) definition(s *structReader, it item, ofLens *structReader, lensItem item) (d prism.Definition, l *prism.Lens) {
	s.some(r, it, &d, "instructions", "model") // model-proxy knows whether the model is configured
	atFields := len(r.problems)
	d.Fields = r.fieldDefinitions(s.member("fields"), it.at("fields"))
	atQuestions := len(r.problems)
	d.Questions = r.questions(s.member("questions"), it.at("questions"))
	known := d
	if len(r.problems) != atQuestions {
		known.Questions = nil
	}
	if escalate := it.at("escalate"); escalate.hasValue() {
		d.Escalate = r.escalate(s.member("escalate").object, escalate, known)
	}
	if examples := it.at("examples"); examples.hasValue() {
		shown := known
		if atQuestions != atFields {
			shown.Fields = nil
		}
		if list := r.examples(s.member("examples"), examples, shown); len(list) > 0 {
			d.Examples = list
		}
	}
	atLens := len(r.problems)
	if !lensItem.hasValue() {
		r.problems = append(r.problems, lens.ValidateDerived(sound(d))...)
		return d, nil
	}
	l = new(r.lens(ofLens, lensItem))
	r.addOfLens(lens.Validate(*l, known, "lens."), atLens, ofLens.member("columns").object.members)
	return d, l
}

// escalate reads {to, below, questions?} (spec: escalate-of-a-version). If of.Questions is nil, the questions have a problem, and
// keys are not looked up in them.
func (r *reader) escalate(s *structReader, it item, definition prism.Definition) *prism.Escalate {
	if !r.is(it, kindObject) {
		return nil
	}
	var e prism.Escalate
	s.some(r, it, &e, "to") // model-proxy knows whether it is configured
	if e.To != "" && e.To == definition.Model {
		r.add(it.child("to"), textOtherModel)
	}
	s.some(r, it, &e, "below")
	if list := it.at("questions"); list.hasValue() {
		for _, key := range s.member("questions").items(r, list) {
			s, ok := r.str(key, 0, math.MaxInt)
			_, found := definition.Question(s)
			switch {
			case !ok:
			case slices.Contains(e.Questions, s):
				r.add(key.path, textUnique)
			case !found && definition.Questions != nil:
				r.add(key.path, textQuestion)
			}
			e.Questions = append(e.Questions, s)
		}
	}
	return &e
}

// sound is the definition without the questions whose key has a problem.
func sound(d prism.Definition) prism.Definition {
	taken := takenBy()
	d.Questions = slices.DeleteFunc(slices.Clone(d.Questions), func(q prism.Question) bool {
		unsound := taken[q.Key] || !api.Forms["key"].MatchString(q.Key)
		taken[q.Key] = true
		return unsound
	})
	return d
}

// addOfLens adds the problems that the values of a Lens have. r.problems[from:] are the problems of their types. Together they
// are sorted by column and member, in the order of members. A value of a wrong type gets no further problem.
func (r *reader) addOfLens(found []apierr.Problem, from int, members []memberReader) {
	typed := make(map[string]bool)
	for _, p := range r.problems[from:] {
		typed[p.Path] = true
	}
	for _, p := range found {
		path := p.Path
		for !typed[path] && path != "" {
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
		if path == "" {
			r.problems = append(r.problems, p)
		}
	}
	slices.SortStableFunc(r.problems[from:], func(a, b apierr.Problem) int {
		return cmp.Compare(placeInLens(a.Path, members), placeInLens(b.Path, members))
	})
}

// placeInLens is a number that orders paths by column, then by member.
func placeInLens(path string, members []memberReader) int {
	column, name, _ := strings.Cut(strings.TrimPrefix(path, "lens.columns."), ".")
	n, err := strconv.Atoi(column)
	if err != nil { // the Lens or its columns
		return -1
	}
	return n*(1+len(members)) + 1 + slices.IndexFunc(members, func(m memberReader) bool { return m.Name == name })
}

// lens reads {columns}: types and count.
func (r *reader) lens(s *structReader, it item) prism.Lens {
	if !r.is(it, kindObject) {
		return prism.Lens{}
	}
	column := s.member("columns")
	items := column.items(r, it.at("columns"))
	columns := make([]prism.Column, 0, len(items))
	for _, it := range items {
		columns = append(columns, r.column(column.object, it))
	}
	return prism.Lens{Columns: columns}
}

func (r *reader) column(s *structReader, it item) (c prism.Column) {
	if !r.is(it, kindObject) {
		return c
	}
	c.Name, c.Question, c.Show = r.anyStr(it.at("name")), r.anyStr(it.at("question")), prism.Show(r.anyStr(it.at("show")))
	s.some(r, it, &c, "option")
	c.YesAt, c.NoAt = r.optionalNumber(it.at("yes_at")), r.optionalNumber(it.at("no_at"))
	s.some(r, it, &c, "calibrated")
	return c
}
