package service

import (
	"cmp"
	"context"
	"slices"

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

// labelsObject is the object of labels by question. d is the definition that answered their result.
func labelsObject(d prism.Definition, labels []store.Label) (strictjson.Value, error) {
	var failed error
	object := bodies.Object(labels, func(b []byte, l store.Label) []byte {
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

func (s *Service) putLabels(ctx context.Context, c access.Caller, in api.PutLabelsRequest) ([]byte, error) {
	found, v, err := s.labelledResult(ctx, c, in.Result)
	if err != nil {
		return nil, err
	}
	if found.Result.Status != prism.OK {
		return nil, apierr.OnlyOKLabelled()
	}
	by := s.labeller(c.Caller, in.LabelBy)
	var labels []store.Label
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
	gone, err := s.Store.PutLabels(ctx, c.Account, found.Prism.ID, labels)
	if err == nil && len(gone) > 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.labelsBody(ctx, c.Account, found, v)
}

func (s *Service) readLabels(ctx context.Context, c access.Caller, in api.ResultRequest) ([]byte, error) {
	found, v, err := s.labelledResult(ctx, c, in.Result)
	if err != nil {
		return nil, err
	}
	return s.labelsBody(ctx, c.Account, found, v)
}

// labelledResult finds a result, and the version that answered it.
func (s *Service) labelledResult(ctx context.Context, c access.Caller, id prism.ResultID) (store.ResultFacts, *prisms.Cached, error) {
	found, err := s.Store.ResultFacts(ctx, c.Digest, id, store.WithoutInput)
	if err != nil {
		return found, nil, err
	}
	if found.Result == nil {
		return found, nil, store.ErrNotFound
	}
	v, err := s.Version(ctx, c.Account, prisms.VersionOf(*found.Prism, found.Result.Version))
	return found, v, err
}

// labelsBody is the body of a result with its labels.
func (s *Service) labelsBody(ctx context.Context, account prism.AccountID, found store.ResultFacts, v *prisms.Cached) ([]byte, error) {
	labels, err := s.Store.LabelsOf(ctx, account, found.Prism.ID, []prism.ResultID{found.Result.ID})
	if err != nil {
		return nil, err
	}
	body := labelsBody{Result: found.Result.ID, Ref: found.Result.Ref, Version: v.Number}
	if body.Labels, err = labelsObject(v.Definition, labels); err != nil {
		return nil, err
	}
	return strictjson.Marshal(body)
}

// labeller makes labels of one call.
type labeller store.Label

func (s *Service) labeller(c store.Caller, by api.LabelBy) labeller {
	return labeller{Sample: by.Sample, Annotator: by.Annotator, Origin: store.LabelOfCall, Key: c.Key, At: prism.Now(s.Now)}
}

func (l labeller) label(id prism.ResultID, version int32, question, value string) store.Label {
	l.Result, l.Version, l.Question, l.Value = id, version, question, value
	return store.Label(l)
}

func (s *Service) addLabels(ctx context.Context, c store.Caller, in api.AddLabelsRequest) (api.AddedLabels, error) {
	body := api.AddedLabels{NotFound: []int{}, Invalid: []api.InvalidLabel{}}
	p, err := s.Store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return body, err
	}
	targets, err := s.labelTargets(ctx, c.Account, p.ID, in.ManyLabels)
	if err != nil {
		return body, err
	}
	by := s.labeller(c, in.LabelBy)
	var labels []store.Label
	var positions []int // of labels
	for i, l := range in.Labels {
		t, found := targets[labelKey(l)]
		if !found || in.Version != 0 && int(t.Version) != in.Version {
			body.NotFound = append(body.NotFound, i)
			continue
		}
		value, problem, err := s.newLabel(ctx, c.Account, p, t, l)
		switch {
		case err != nil:
			return body, err
		case problem != "":
			body.Invalid = append(body.Invalid, api.InvalidLabel{Index: i, Message: problem})
		default:
			labels, positions = append(labels, by.label(t.Result, t.Version, l.Question, value)), append(positions, i)
		}
	}
	gone, err := s.Store.PutLabels(ctx, c.Account, p.ID, labels)
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
func (s *Service) labelTargets(
	ctx context.Context, account prism.AccountID, of prism.PrismID, n api.ManyLabels,
) (map[any]store.LabelTarget, error) {
	var ids []prism.ResultID
	var refs []string
	for _, l := range n.Labels {
		if l.Ref != nil {
			refs = append(refs, *l.Ref)
		} else {
			ids = append(ids, l.Result)
		}
	}
	targets := map[any]store.LabelTarget{}
	found, err := s.Store.LabelTargets(ctx, account, of, ids)
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		targets[t.Result] = t
	}
	found, err = s.Store.RefTargets(ctx, account, of, int32(n.Version), refs) //nolint:gosec // bounded by the declaration
	for _, t := range found {
		targets[t.Ref] = t
	}
	return targets, err
}

// newLabel is the value of a label of a result, or the problem.
func (s *Service) newLabel(
	ctx context.Context, account prism.AccountID, p prism.Prism, t store.LabelTarget, l api.NewLabel,
) (value, problem string, err error) {
	if t.Status != prism.OK {
		return "", apierr.OnlyOKLabelled().Message, nil
	}
	v, err := s.Version(ctx, account, prisms.VersionIn(p, t.Version))
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

func (s *Service) listLabels(ctx context.Context, c store.Caller, in api.ListLabelsRequest) ([]byte, error) {
	page, err := bodies.StorePage(contract.ListOfLabels, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	p, err := s.Store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return nil, err
	}
	filter := store.LabelFilter{Prism: p.ID, Version: in.Version, Question: in.Question}
	labelled, more, err := s.Store.ListLabels(ctx, c.Account, filter, page)
	if err != nil {
		return nil, err
	}
	return bodies.NewList(contract.ListOfLabels, labelled, more, func(r store.LabelledResult) (strictjson.Value, error) {
		v, err := s.Version(ctx, c.Account, prisms.VersionIn(p, r.Version))
		if err != nil {
			return nil, err
		}
		body := labelsBody{Result: r.Result, Ref: r.Ref, Version: r.Version}
		if body.Labels, err = labelsObject(v.Definition, r.Labels); err != nil {
			return nil, err
		}
		return strictjson.Marshal(body)
	}, func(r store.LabelledResult) prism.UUID { return r.Result.UUID })
}
