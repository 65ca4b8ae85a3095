package request

import (
	"math"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The problems of labels (spec: labels-put, labels-add).
const (
	textNoLabel     = "send at least one label"
	textResultOrRef = "send either result_id or ref"
	textLabel       = "Expected string or boolean, received "
	textLabelOrNull = "Expected string, boolean or null, received "
)

var (
	samples = []contract.LabelSample{contract.RandomSample, contract.UncertainSample}

	newLabelsShape  = &shape{members: append([]member{{"labels", &shape{fields: true}}}, members("sample", "annotator")...)}
	manyLabelsShape = &shape{members: append([]member{
		arrayOf("labels", contract.MaxLabels, &shape{members: members("result_id", "ref", "question", "value")}),
	}, members("sample", "annotator", "version")...)}
)

// ParseNewLabels reads PUT /v1/results/{result_id}/labels {labels, sample?, annotator?} (spec: labels-put).
func ParseNewLabels(resultID string, body Body) (prism.ResultID, contract.NewLabels, error) {
	sent, err := parseBody(body, newLabelsShape)
	if err != nil {
		return prism.ResultID{}, contract.NewLabels{}, err
	}
	var r reader
	id := prism.ResultID{UUID: r.uuidParam("result_id", resultID)}
	var n contract.NewLabels
	if r.is(sent, kindObject) {
		if labels := sent.at("labels"); r.is(labels, kindObject) {
			if len(labels.fields.sent) == 0 && labels.fields.uncleanName == 0 {
				r.add("labels", textNoLabel)
			}
			r.eachQuestion(labels, func(question string, value item) {
				l := contract.RowLabel{Question: question}
				if value.given() {
					l.Value = r.label(value, textLabelOrNull)
				}
				n.Labels = append(n.Labels, l)
			})
		}
		n.LabelBy = r.labelBy(sent)
	}
	return id, n, r.err()
}

// eachQuestion calls fn with each member of an object whose names are keys of questions, in the order sent. If there are more
// members than a version can have questions, that is the only problem, and fn is not called. All unclean names are one problem.
func (r *reader) eachQuestion(object item, fn func(question string, value item)) {
	f := object.fields
	if len(f.sent) > maxQuestions {
		r.addBound(object.path, textTooManyMembers, maxQuestions)
		return
	}
	for _, s := range f.sent {
		name := string(f.plain(s))
		text := []byte{s.first}
		if s.first == '"' {
			text = f.text(s.value)
		}
		fn(name, item{path: object.child(name), node: node{text: text}})
	}
	if f.uncleanName > 0 {
		r.add(object.path, textUnclean)
	}
}

// label reads a label: a string, or a boolean as "true" or "false". expected begins the text of the problem of any other type.
func (r *reader) label(it item, expected string) string {
	switch kind := it.kind(); kind {
	case kindString:
		s, _ := r.str(it, 1, maxLabel)
		return s
	case kindBoolean:
		if it.text[0] == 't' {
			return "true"
		}
		return "false"
	default:
		r.add(it.path, expected+string(kind))
		return ""
	}
}

func (r *reader) labelBy(body item) (by contract.LabelBy) {
	if sample := body.at("sample"); sample.given() {
		by.Sample = oneOfStr(r, sample, samples)
	}
	by.Annotator = r.optionalStr(body.at("annotator"), 1, maxName)
	return by
}

// ParseManyLabels reads POST /v1/prisms/{prism}/labels {labels, sample?, annotator?, version?} (spec: labels-add).
func ParseManyLabels(prismParam string, body Body) (prism.Ref, contract.ManyLabels, error) {
	sent, err := parseBody(body, manyLabelsShape)
	if err != nil {
		return prism.Ref{}, contract.ManyLabels{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	var n contract.ManyLabels
	if r.is(sent, kindObject) {
		for _, it := range r.array(sent.at("labels"), 1, contract.MaxLabels) {
			n.Labels = append(n.Labels, r.newLabel(it))
			if len(r.problems) >= manyProblems {
				r.list()
			}
		}
		n.LabelBy = r.labelBy(sent)
		n.Version = r.optionalVersion(sent.at("version"))
	}
	return ref, n, r.err()
}

func (r *reader) newLabel(it item) (l contract.NewLabel) {
	if !r.is(it, kindObject) {
		return l
	}
	id, ref, value := it.at("result_id"), it.at("ref"), it.at("value")
	if id.given() == ref.given() {
		r.add(id.path, textResultOrRef)
	}
	if id.given() {
		l.Result = prism.ResultID{UUID: r.uuidMember(id)}
	}
	if ref.given() {
		s, _ := r.str(ref, 0, maxRef)
		l.Ref = &s
	}
	l.Question, _ = r.str(it.at("question"), 1, maxName)
	if !value.sent() {
		r.add(value.path, textRequired)
		return l
	}
	l.Value = r.label(value, textLabel)
	return l
}

// optionalVersion reads a version that may be absent or null, which is 0.
func (r *reader) optionalVersion(it item) int32 {
	if !it.given() {
		return 0
	}
	f, ok := r.number(it)
	if !ok {
		return 0
	}
	return int32(r.integer(it.path, f, math.MaxInt32)) //nolint:gosec // integer has checked the range
}

// ParseLabelList reads GET /v1/prisms/{prism}/labels?version&question&limit&cursor (spec: labels-list).
func ParseLabelList(prismParam string, q Query) (prism.Ref, contract.LabelList, error) {
	var r reader
	ref := r.prismParam(prismParam)
	list := contract.LabelList{Version: r.versionQuery(q), Question: r.singleStr(q, "question", maxName)}
	list.Page = r.page(q, contract.ListOfLabels)
	return ref, list, r.err()
}

// ParseLabelQueue reads GET /v1/prisms/{prism}/label-queue?question&order&version&limit&cursor (spec: label-queue).
func ParseLabelQueue(prismParam string, q Query) (prism.Ref, contract.LabelQueue, error) {
	var r reader
	ref := r.prismParam(prismParam)
	list := contract.LabelQueue{Question: r.questionParam(q)}
	list.Order = oneOf(&r, "order", q("order"), samples, contract.RandomSample)
	list.Version = r.versionQuery(q)
	list.Page = r.page(q, list.Order.List())
	return ref, list, r.err()
}

// versionQuery reads the query parameter version, which is 0 if absent or empty.
func (r *reader) versionQuery(q Query) int32 {
	f, ok := r.optionalNumeral(q, "version")
	if !ok {
		return 0
	}
	return int32(r.integer("version", f, math.MaxInt32)) //nolint:gosec // integer has checked the range
}

// ParseResultLabels reads GET /v1/results/{result_id}/labels.
func ParseResultLabels(resultID string) (prism.ResultID, error) { return ParseRecord(resultID) }
