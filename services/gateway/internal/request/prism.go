package request

import (
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// ParsePrism reads GET /v1/prisms/{prism}.
func ParsePrism(prismParam string) (prism.Ref, error) {
	var r reader
	ref := r.prismParam(prismParam)
	return ref, r.err()
}

// ParsePrismAction reads POST /v1/prisms/{prism}/archive and /unarchive. The body is ignored as on a retry.
func ParsePrismAction(prismParam string, body Body) (prism.Ref, error) {
	if err := ignoreBody(body); err != nil {
		return prism.Ref{}, err
	}
	return ParsePrism(prismParam)
}

// ParseVersion reads GET /v1/prisms/{prism}/versions/{version}.
func ParseVersion(prismParam, version string) (prism.Ref, int32, error) {
	var r reader
	ref := r.prismParam(prismParam)
	number := r.versionParam(version)
	return ref, number, r.err()
}

// ParseNewPrism reads POST /v1/prisms (decisions 7): slug, name?, and the members of a version with dry_run?.
func ParseNewPrism(body Body) (contract.NewPrism, error) {
	sent, err := parseBody(body)
	if err != nil {
		return contract.NewPrism{}, err
	}
	var r reader
	var p contract.NewPrism
	if o, ok := r.object(item{raw: sent}, "slug", "name", "instructions", "fields", "questions", "lens", "dry_run"); ok {
		p.Slug = r.slug(o.at("slug"))
		p.Name = r.optionalStr(o.at("name"), maxName)
		p.NewVersion = r.version(o)
		p.DryRun = r.optionalBoolean(o.at("dry_run"))
	}
	return p, r.err()
}

// ParseNewVersion reads POST /v1/prisms/{prism}/versions (decisions 7): instructions?, fields, questions,
// lens?, dry_run?.
func ParseNewVersion(prismParam string, body Body) (prism.Ref, contract.NewVersion, error) {
	sent, err := parseBody(body)
	if err != nil {
		return prism.Ref{}, contract.NewVersion{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	var v contract.NewVersion
	if o, ok := r.object(item{raw: sent}, "instructions", "fields", "questions", "lens", "dry_run"); ok {
		v = r.version(o)
		v.DryRun = r.optionalBoolean(o.at("dry_run"))
	}
	return ref, v, r.err()
}

// ParseLens reads PUT /v1/prisms/{prism}/lens (decisions 7): columns, dry_run?. Only types are checked here: what a Lens may say
// depends on the latest version, which results knows (contract.Results.PutLens).
func ParseLens(prismParam string, body Body) (prism.Ref, contract.NewLens, error) {
	sent, err := parseBody(body)
	if err != nil {
		return prism.Ref{}, contract.NewLens{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	var l contract.NewLens
	if o, ok := r.object(item{raw: sent}, "columns", "dry_run"); ok {
		l.Lens = r.columns(o)
		l.DryRun = r.optionalBoolean(o.at("dry_run"))
	}
	return ref, l, r.err()
}

// slug reads a slug: its shape, and never a UUID, so that a path's {prism} has one meaning (decisions 3).
func (r *reader) slug(it item) string {
	s, _ := r.shaped(it, slugShape)
	if _, err := prism.ParseUUID(s); err == nil && slugShape.MatchString(s) {
		r.add(it.path, textSlugIsUUID)
	}
	return s
}

// version reads the members of a version. A Lens is derived only of fields and questions that are right. One that was
// sent is checked beside any other problem, but for what it says of questions that are broken themselves.
func (r *reader) version(o object) contract.NewVersion {
	var v contract.NewVersion
	v.Instructions = r.optionalStr(o.at("instructions"), maxInstructions)
	atFields := len(r.problems)
	v.Fields = r.fieldDefinitions(o.at("fields"))
	atQuestions := len(r.problems)
	v.Questions = r.questions(o.at("questions"))
	atLens := len(r.problems)

	sent := o.at("lens")
	if !sent.given() {
		if atLens == atFields {
			r.problems = append(r.problems, lens.ValidateDerived(v.Definition)...)
		}
		return v
	}
	l := r.lens(sent)
	v.Lens = &l
	if len(r.problems) == atLens {
		known := v.Definition
		if atLens != atQuestions {
			known.Questions = nil
		}
		r.problems = append(r.problems, lens.Validate(l, known, "lens.")...)
	}
	return v
}

// lens reads {columns}: types and count.
func (r *reader) lens(it item) prism.Lens {
	o, ok := r.object(it, "columns")
	if !ok {
		return prism.Lens{}
	}
	return r.columns(o)
}

func (r *reader) columns(o object) prism.Lens {
	items := r.array(o.at("columns"), 1, maxColumns)
	columns := make([]prism.Column, 0, len(items))
	for _, it := range items {
		columns = append(columns, r.column(it))
	}
	return prism.Lens{Columns: columns}
}

// option reads the option or level that a column shows the probability of. An empty one is no key, so it isn't taken for
// none.
func (r *reader) option(it item) string {
	if !it.given() {
		return ""
	}
	s, _ := r.str(it, 1, maxName)
	return s
}

func (r *reader) column(it item) prism.Column {
	o, ok := r.object(it, "name", "question", "show", "option", "yes_at", "no_at")
	if !ok {
		return prism.Column{}
	}
	return prism.Column{
		Name:     r.anyStr(o.at("name")),
		Question: r.anyStr(o.at("question")),
		Show:     prism.Show(r.anyStr(o.at("show"))),
		Option:   r.option(o.at("option")),
		YesAt:    r.optionalNumber(o.at("yes_at")),
		NoAt:     r.optionalNumber(o.at("no_at")),
	}
}
