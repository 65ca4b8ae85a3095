package labels

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations on labels.
type Handlers struct {
	store    handlerStore
	now      func() time.Time
	versions *prisms.Handlers
}

// handlerStore finds prisms and results too.
type handlerStore interface {
	Store
	prisms.Store
	ResultFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input) (store.ResultFacts, error)
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s handlerStore, now func() time.Time, versions *prisms.Handlers) *Handlers {
	return &Handlers{s, now, versions}
}

// Operations are the operations on labels.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		api.HandleEncoded(api.PutLabels, h.putLabels),
		api.HandleEncoded(api.ReadLabels, h.readLabels),
		access.Handle(api.AddLabels, h.addLabels),
		access.Encoded(api.ListLabels, h.listLabels),
	}
}

// The bodies of labels.
type (
	// labelBody is a label (spec: label-one).
	labelBody struct {
		Value      any                `json:"value"`
		Sample     *prism.LabelSample `json:"sample"`
		Annotator  *string            `json:"annotator"`
		Origin     store.LabelOrigin  `json:"origin"`
		KeyID      prism.KeyID        `json:"key_id"`
		LabelledAt string             `json:"labelled_at"`
	}
	// labelsBody is a result with its labels, by question (spec: labels-read).
	labelsBody struct {
		Result  prism.ResultID   `json:"result_id"`
		Ref     *string          `json:"ref"`
		Version int32            `json:"version"`
		Labels  strictjson.Value `json:"labels"`
	}
)

// Object is the object of labels by question. d is the definition that answered their result.
func Object(d prism.Definition, labels []Label) (strictjson.Value, error) {
	var failed error
	object := bodies.Object(labels, func(b []byte, l Label) []byte {
		body := labelBody{
			Annotator: bodies.Optional(l.Annotator), Origin: l.Origin, KeyID: l.Key,
			LabelledAt: prism.FormatTime(l.At),
		}
		q, _ := d.Question(l.Question)
		body.Value = q.Type.ShownLabel(l.Value)
		if l.Sample != "" {
			body.Sample = &l.Sample
		}
		value, err := strictjson.Marshal(body)
		failed = cmp.Or(failed, err)
		return append(append(strictjson.AppendString(b, l.Question), ':'), value...)
	})
	return object, failed
}

func (h *Handlers) putLabels(ctx context.Context, c access.Caller, in api.PutLabelsRequest) ([]byte, error) {
	facts, v, err := h.labelledResult(ctx, c, in.Result)
	if err != nil {
		return nil, err
	}
	if facts.Result.Status != prism.OK {
		return nil, apierr.OnlyOKLabelled()
	}
	by := h.labeller(c.Caller, in.LabelBy)
	var labels []Label
	var problems []apierr.Problem
	for _, l := range in.Labels {
		q, known := v.Question(l.Question)
		value, problem := "", ""
		switch {
		case !known:
			problem = prisms.UnknownQuestion
		case l.Value != "":
			value, problem = q.ReadLabel(l.Value)
		}
		if problem != "" {
			path, text := prism.LabelProblem("labels."+l.Question, problem)
			problems = append(problems, apierr.Problem{Path: path, Text: text})
		}
		labels = append(labels, by.label(in.Result, v.Number, l.Question, value))
	}
	if len(problems) > 0 {
		return nil, apierr.Invalid(problems...)
	}
	gone, err := h.store.PutLabels(ctx, c.Account, facts.Prism.ID, labels)
	if err == nil && len(gone) > 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return h.labelsBody(ctx, c.Account, facts, v)
}

func (h *Handlers) readLabels(ctx context.Context, c access.Caller, in api.ResultRequest) ([]byte, error) {
	facts, v, err := h.labelledResult(ctx, c, in.Result)
	if err != nil {
		return nil, err
	}
	return h.labelsBody(ctx, c.Account, facts, v)
}

// labelledResult finds a result, and the version that answered it.
func (h *Handlers) labelledResult(ctx context.Context, c access.Caller, id prism.ResultID) (store.ResultFacts, *prisms.Cached, error) {
	facts, err := h.store.ResultFacts(ctx, c.Digest, id, store.WithoutInput)
	if err != nil {
		return facts, nil, err
	}
	if facts.Result == nil {
		return facts, nil, store.ErrNotFound
	}
	v, err := h.versions.Version(ctx, c.Account, prisms.VersionOf(*facts.Prism, facts.Result.Version))
	return facts, v, err
}

// labelsBody is the body of a result with its labels.
func (h *Handlers) labelsBody(ctx context.Context, account prism.AccountID, facts store.ResultFacts, v *prisms.Cached) ([]byte, error) {
	r := facts.Result
	labels, err := h.store.LabelsOf(ctx, account, facts.Prism.ID, []prism.ResultID{r.ID})
	if err != nil {
		return nil, err
	}
	body, err := newLabelsBody(v.Definition, Labelled{r.ID, v.Number, r.Ref, labels})
	if err != nil {
		return nil, err
	}
	return strictjson.Marshal(body)
}

func newLabelsBody(d prism.Definition, r Labelled) (body labelsBody, err error) {
	body = labelsBody{Result: r.Result, Ref: r.Ref, Version: r.Version}
	body.Labels, err = Object(d, r.Labels)
	return body, err
}

// labeller makes labels of one call.
type labeller Label

func (h *Handlers) labeller(c store.Caller, by api.LabelBy) labeller {
	return labeller{Sample: by.Sample, Annotator: by.Annotator, Origin: store.LabelOfCall, Key: c.Key, At: prism.Now(h.now)}
}

func (l labeller) label(id prism.ResultID, version int32, question, value string) Label {
	l.Result, l.Version, l.Question, l.Value = id, version, question, value
	return Label(l)
}

func (h *Handlers) addLabels(ctx context.Context, c store.Caller, in api.AddLabelsRequest) (api.AddedLabels, error) {
	body := api.AddedLabels{NotFound: []int{}, Invalid: []api.InvalidLabel{}}
	p, err := h.store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return body, err
	}
	targets, err := h.labelTargets(ctx, c.Account, p.ID, in.ManyLabels)
	if err != nil {
		return body, err
	}
	by := h.labeller(c, in.LabelBy)
	var labels []Label
	var positions []int // of labels
	for i, l := range in.Labels {
		t, found := targets[labelKey(l)]
		if !found || in.Version != 0 && int(t.Version) != in.Version {
			body.NotFound = append(body.NotFound, i)
			continue
		}
		value, problem, err := h.newLabel(ctx, c.Account, p, t, l)
		switch {
		case err != nil:
			return body, err
		case problem != "":
			body.Invalid = append(body.Invalid, api.InvalidLabel{Index: i, Message: problem})
		default:
			labels, positions = append(labels, by.label(t.Result, t.Version, l.Question, value)), append(positions, i)
		}
	}
	gone, err := h.store.PutLabels(ctx, c.Account, p.ID, labels)
	if err != nil {
		return body, err
	}
	for i, l := range labels {
		if slices.Contains(gone, l.Result) {
			body.NotFound = append(body.NotFound, positions[i])
		}
	}
	slices.Sort(body.NotFound)
	body.Labelled = len(in.Labels) - len(body.NotFound) - len(body.Invalid)
	return body, nil
}

// labelKey is what names the result of a label: its id, or its ref.
func labelKey(l api.NewLabel) any {
	if l.Ref != nil {
		return *l.Ref
	}
	return l.Result
}

// labelTargets are the results of labels, by labelKey.
func (h *Handlers) labelTargets(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, n api.ManyLabels,
) (map[any]Target, error) {
	var ids []prism.ResultID
	var refs []string
	for _, l := range n.Labels {
		if l.Ref != nil {
			refs = append(refs, *l.Ref)
		} else {
			ids = append(ids, l.Result)
		}
	}
	targets := map[any]Target{}
	read, err := h.store.LabelTargets(ctx, account, prismID, ids)
	if err != nil {
		return nil, err
	}
	for _, t := range read {
		targets[t.Result] = t
	}
	read, err = h.store.RefTargets(ctx, account, prismID, int32(n.Version), refs) //nolint:gosec // bounded by the declaration
	for _, t := range read {
		targets[t.Ref] = t
	}
	return targets, err
}

// newLabel is the value of a label of a result, or the problem.
func (h *Handlers) newLabel(
	ctx context.Context, account prism.AccountID, p prism.Prism, t Target, l api.NewLabel,
) (value, problem string, err error) {
	if t.Status != prism.OK {
		return "", apierr.OnlyOKLabelled().Message, nil
	}
	v, err := h.versions.Version(ctx, account, prisms.VersionIn(p, t.Version))
	if err != nil {
		return "", "", err
	}
	q, known := v.Question(l.Question)
	if !known {
		return "", "question: " + prisms.UnknownQuestion, nil
	}
	if value, problem = q.ReadLabel(string(l.Value)); problem != "" {
		path, text := prism.LabelProblem("value", problem)
		problem = path + ": " + text
	}
	return value, problem, nil
}

func (h *Handlers) listLabels(ctx context.Context, c store.Caller, in api.ListLabelsRequest) ([]byte, error) {
	var p prism.Prism
	return bodies.List(contract.ListOfLabels, in.Limit, in.Cursor, func(page store.Page) (labelled []Labelled, more bool, err error) {
		if p, err = h.store.Prism(ctx, c.Account, in.Prism); err != nil {
			return nil, false, err
		}
		return h.store.ListLabels(ctx, c.Account, Filter{Prism: p.ID, Version: in.Version, Question: in.Question}, page)
	}, func(r Labelled) (labelsBody, error) {
		v, err := h.versions.Version(ctx, c.Account, prisms.VersionIn(p, r.Version))
		if err != nil {
			return labelsBody{}, err
		}
		return newLabelsBody(v.Definition, r)
	}, func(r Labelled) prism.UUID { return r.Result.UUID })
}
