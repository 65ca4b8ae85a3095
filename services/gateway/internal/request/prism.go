package request

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// The members of definitions that are read.
var (
	fieldShape    = &shape{members: members("key", "label")}
	optionShape   = &shape{members: members("key", "label", "description")}
	levelShape    = &shape{members: members("key", "label", "value")}
	questionShape = &shape{members: append(members("key", "type", "text", "insufficient_information"),
		arrayOf("options", maxOptions, optionShape), arrayOf("levels", maxLevels, levelShape))}
	columnShape = &shape{members: members("name", "question", "show", "option", "yes_at", "no_at", "calibrated")}
	lensShape   = &shape{members: append(members("dry_run"), arrayOf("columns", maxColumns, columnShape))}
	// prismShape is also the shape of a version, which has no slug and no name.
	prismShape = &shape{members: append(append(members("slug", "name", "dry_run", "if_latest"), definitionMembers...),
		member{"lens", lensShape})}
	// definitionMembers are the members that a version and the definition of a try have in common.
	definitionMembers = append(members("instructions", "model"), arrayOf("fields", maxFields, fieldShape),
		arrayOf("questions", maxQuestions, questionShape), member{"escalate", escalateShape})
	escalateShape = &shape{members: append(members("to", "below"), arrayOf("questions", maxQuestions, scalar))}
)

// ParseNewPrism reads POST /v1/prisms: slug, name?, and the members of a version with dry_run? (spec: prism-create).
func ParseNewPrism(body Body) (contract.NewPrism, error) {
	sent, err := parseBody(body, prismShape)
	if err != nil {
		return contract.NewPrism{}, err
	}
	var r reader
	var p contract.NewPrism
	if r.is(sent, kindObject) {
		p.Slug = r.slug(sent.at("slug"))
		p.Name = r.optionalStr(sent.at("name"), 0, maxName)
		p.NewVersion = r.version(sent)
	}
	return p, r.err()
}

// ParseNewVersion reads POST /v1/prisms/{prism}/versions: instructions?, model?, fields, questions, escalate?, lens?, dry_run?,
// if_latest? and If-Match (spec: version-create).
func ParseNewVersion(prismParam string, ifMatch []string, body Body) (prism.Ref, contract.NewVersion, error) {
	sent, err := parseBody(body, prismShape)
	if err != nil {
		return prism.Ref{}, contract.NewVersion{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	var v contract.NewVersion
	tags := r.ifMatch(ifMatch)
	if r.is(sent, kindObject) {
		v = r.version(sent)
		v.IfLatest = r.optionalVersion(sent.at("if_latest"))
	}
	v.IfMatch = tags
	return ref, v, r.err()
}

// ParseLens reads PUT /v1/prisms/{prism}/lens: columns, dry_run? and If-Match (spec: lens-edit). Only types are checked here:
// results checks the other rules, which depend on the latest version (contract.Results.PutLens).
func ParseLens(prismParam string, ifMatch []string, body Body) (prism.Ref, contract.NewLens, error) {
	sent, err := parseBody(body, lensShape)
	if err != nil {
		return prism.Ref{}, contract.NewLens{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	l := contract.NewLens{IfMatch: r.ifMatch(ifMatch)}
	if r.is(sent, kindObject) {
		l.Lens = r.lens(sent)
		l.DryRun = r.optionalBoolean(sent.at("dry_run"))
	}
	return ref, l, r.err()
}

// maxPreviewed is how many results a preview shows at most (spec: lens-preview).
const maxPreviewed = 50

var previewShape = &shape{members: []member{
	arrayOf("columns", maxColumns, columnShape), arrayOf("result_ids", maxPreviewed, scalar),
}}

// ParseLensPreview reads POST /v1/prisms/{prism}/lens/preview {columns, result_ids}. As in ParseLens, only the types of
// columns are checked here (spec: lens-preview-problems).
func ParseLensPreview(prismParam string, body Body) (prism.Ref, contract.LensPreview, error) {
	sent, err := parseBody(body, previewShape)
	if err != nil {
		return prism.Ref{}, contract.LensPreview{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	p := contract.LensPreview{Results: []prism.ResultID{}}
	if r.is(sent, kindObject) {
		p.Lens = r.lens(sent)
		for _, id := range r.array(sent.at("result_ids"), 0, maxPreviewed) {
			p.Results = append(p.Results, prism.ResultID{UUID: r.uuidMember(id)})
		}
	}
	return ref, p, r.err()
}

// slug reads a slug. A UUID is no slug, so that the {prism} of a path has one meaning (spec: slug-form).
func (r *reader) slug(it item) string {
	s, _ := r.matching(it, slugPattern)
	if _, err := prism.ParseUUID(s); err == nil && slugPattern.MatchString(s) {
		r.add(it.path, textSlugIsUUID)
	}
	return s
}

// version reads the members of a version.
func (r *reader) version(it item) contract.NewVersion {
	var v contract.NewVersion
	v.Definition, v.Lens = r.definition(it, it.at("lens"))
	v.DryRun = r.optionalBoolean(it.at("dry_run"))
	return v
}

// definition reads a definition, and the Lens if one was sent with it. The Lens is checked against the questions only if they
// have no problem.
func (r *reader) definition(it, lensItem item) (d prism.Definition, l *prism.Lens) {
	d.Instructions = r.optionalStr(it.at("instructions"), 0, maxInstructions)
	if model := it.at("model"); model.given() {
		d.Model, _ = r.matching(model, slugPattern) // model-proxy knows whether it is configured
	}
	d.Fields = r.fieldDefinitions(it.at("fields"))
	atQuestions := len(r.problems)
	d.Questions = r.questions(it.at("questions"))
	known := d
	if len(r.problems) != atQuestions {
		known.Questions = nil
	}
	if escalate := it.at("escalate"); escalate.given() {
		d.Escalate = r.escalate(escalate, known)
	}
	atLens := len(r.problems)
	if !lensItem.given() {
		r.problems = append(r.problems, lens.ValidateDerived(sound(d))...)
		return d, nil
	}
	l = new(r.lens(lensItem))
	r.addOfLens(lens.Validate(*l, known, "lens."), atLens)
	return d, l
}

// escalate reads {to, below, questions?} (spec: escalate-of-a-version). If of.Questions is nil, the questions have a problem, and
// keys are not looked up in them.
func (r *reader) escalate(it item, of prism.Definition) *prism.Escalate {
	if !r.is(it, kindObject) {
		return nil
	}
	var e prism.Escalate
	to := it.at("to")
	e.To, _ = r.matching(to, slugPattern) // model-proxy knows whether it is configured
	if e.To != "" && e.To == of.Model {
		r.add(to.path, textOtherModel)
	}
	if below, ok := r.number(it.at("below")); ok {
		e.Below = r.within(it.child("below"), below, api.Limits{Above: new(0.0), Max: new(1.0)})
	}
	if list := it.at("questions"); list.given() {
		for _, key := range r.array(list, 1, maxQuestions) {
			s, ok := r.str(key, 0, math.MaxInt)
			_, found := of.Question(s)
			switch {
			case !ok:
			case slices.Contains(e.Questions, s):
				r.add(key.path, textUnique)
			case !found && of.Questions != nil:
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
		unsound := taken[q.Key] || !keyPattern.MatchString(q.Key)
		taken[q.Key] = true
		return unsound
	})
	return d
}

// addOfLens adds the problems that the values of a Lens have. r.problems[from:] are the problems of their types. Together they
// are sorted by column and member. A value of a wrong type gets no further problem.
func (r *reader) addOfLens(found []apierr.Problem, from int) {
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
	slices.SortStableFunc(r.problems[from:], func(a, b apierr.Problem) int { return cmp.Compare(placeInLens(a.Path), placeInLens(b.Path)) })
}

// placeInLens is a number that orders paths by column, then by member.
func placeInLens(path string) int {
	column, name, _ := strings.Cut(strings.TrimPrefix(path, "lens.columns."), ".")
	n, err := strconv.Atoi(column)
	if err != nil { // the Lens or its columns
		return -1
	}
	return n*(1+len(columnShape.members)) + 1 + slices.IndexFunc(columnShape.members, func(m member) bool { return m.name == name })
}

// lens reads {columns}: types and count.
func (r *reader) lens(it item) prism.Lens {
	if !r.is(it, kindObject) {
		return prism.Lens{}
	}
	items := r.array(it.at("columns"), 1, maxColumns)
	columns := make([]prism.Column, 0, len(items))
	for _, it := range items {
		columns = append(columns, r.column(it))
	}
	return prism.Lens{Columns: columns}
}

func (r *reader) column(it item) prism.Column {
	if !r.is(it, kindObject) {
		return prism.Column{}
	}
	return prism.Column{
		Name:     r.anyStr(it.at("name")),
		Question: r.anyStr(it.at("question")),
		Show:     prism.Show(r.anyStr(it.at("show"))),
		Option:   r.optionalStr(it.at("option"), 1, maxName), // an empty string is no key of an option or level
		YesAt:    r.optionalNumber(it.at("yes_at")),
		NoAt:     r.optionalNumber(it.at("no_at")),

		Calibrated: r.optionalBoolean(it.at("calibrated")),
	}
}
