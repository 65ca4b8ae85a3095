package service

import (
	"cmp"
	"context"
	"slices"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The bodies of labels.
type (
	// labelBody is a label (spec: label-one).
	labelBody struct {
		Value      strictjson.Value      `json:"value"`
		Sample     *contract.LabelSample `json:"sample"`
		Annotator  *string               `json:"annotator"`
		Origin     store.LabelOrigin     `json:"origin"`
		KeyID      prism.KeyID           `json:"key_id"`
		LabelledAt string                `json:"labelled_at"`
	}
	// labelsBody is a result with its labels, by question (spec: labels-read).
	labelsBody struct {
		Result  prism.ResultID   `json:"result_id"`
		Ref     *string          `json:"ref"`
		Version int32            `json:"version"`
		Labels  strictjson.Value `json:"labels"`
	}
	// addedBody is the response of many labels (spec: labels-add).
	addedBody struct {
		Labelled int            `json:"labelled"`
		NotFound []int          `json:"not_found"`
		Invalid  []invalidLabel `json:"invalid"`
	}
	invalidLabel struct {
		Index   int    `json:"index"`
		Message string `json:"message"`
	}
)

// labelsObject is the object of labels by question. d is the definition that answered their result.
func labelsObject(d prism.Definition, labels []store.Label) (strictjson.Value, error) {
	var failed error
	object := objectOf(labels, func(b []byte, l store.Label) []byte {
		body := labelBody{
			Value: strictjson.AppendString(nil, l.Value), Annotator: optional(l.Annotator), Origin: l.Origin, KeyID: l.Key,
			LabelledAt: prism.FormatTime(l.At),
		}
		if q, _ := d.Question(l.Question); q.Type == prism.YesNo {
			body.Value = strictjson.Value(l.Value)
		}
		if l.Sample != "" {
			body.Sample = &l.Sample
		}
		value, err := strictjson.Marshal(body)
		failed = cmp.Or(failed, err)
		return append(append(strictjson.AppendString(b, l.Question), ':'), value...)
	})
	return object, failed
}

// PutLabels implements contract.Labels.
func (s *Service) PutLabels(
	ctx context.Context, key contract.KeyDigest, id prism.ResultID, n contract.NewLabels,
) (contract.Response, error) {
	return s.ofResult(ctx, key, putLabels, id, func(found store.ResultFacts, v *version) ([]store.Label, error) {
		if found.Result.Status != prism.OK {
			return nil, apierr.OnlyOKLabelled()
		}
		by := s.labeller(found.Caller, n.LabelBy)
		var labels []store.Label
		var problems []apierr.Problem
		for _, l := range n.Labels {
			q, known := v.Question(l.Question)
			value, problem := "", ""
			switch {
			case !known:
				problem = textUnknownQuestion
			case l.Value != "":
				value, problem = labelValue(q, l.Value)
			}
			if problem != "" {
				problems = append(problems, apierr.Problem{Path: "labels." + l.Question, Text: problem})
			}
			labels = append(labels, by.label(id, v.Number, l.Question, value))
		}
		if len(problems) > 0 {
			return nil, apierr.Invalid(problems...)
		}
		gone, err := s.Store.PutLabels(ctx, found.Caller.Account, found.Prism.ID, labels)
		if err == nil && len(gone) > 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		return s.Store.LabelsOf(ctx, found.Caller.Account, found.Prism.ID, id)
	})
}

// ResultLabels implements contract.Labels.
func (s *Service) ResultLabels(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.Response, error) {
	return s.ofResult(ctx, key, readLabels, id, func(found store.ResultFacts, _ *version) ([]store.Label, error) {
		return s.Store.LabelsOf(ctx, found.Caller.Account, found.Prism.ID, id)
	})
}

// ofResult responds with a result and the labels that fn returns.
func (s *Service) ofResult(
	ctx context.Context, key contract.KeyDigest, op operation, id prism.ResultID,
	fn func(store.ResultFacts, *version) ([]store.Label, error),
) (contract.Response, error) {
	return s.manage(ctx, key, op, apierr.ResultNotFound(), func(account prism.AccountID) (any, error) {
		found, err := s.Store.ResultFacts(ctx, key, id, store.WithoutInput)
		if err != nil {
			return nil, err
		}
		if found.Result == nil {
			return nil, store.ErrNotFound
		}
		v, err := s.version(ctx, account, versionOf(*found.Prism, found.Result.Version))
		if err != nil {
			return nil, err
		}
		labels, err := fn(found, v)
		if err != nil {
			return nil, err
		}
		body := labelsBody{Result: id, Ref: found.Result.Ref, Version: v.Number}
		body.Labels, err = labelsObject(v.Definition, labels)
		return body, err
	})
}

// labeller makes labels of one call.
type labeller store.Label

func (s *Service) labeller(c store.Caller, by contract.LabelBy) labeller {
	return labeller{Sample: by.Sample, Annotator: by.Annotator, Origin: store.LabelOfCall, Key: c.Key, At: prism.Now(s.Now)}
}

func (l labeller) label(id prism.ResultID, version int32, question, value string) store.Label {
	l.Result, l.Version, l.Question, l.Value = id, version, question, value
	return store.Label(l)
}

// AddLabels implements contract.Labels.
func (s *Service) AddLabels(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, n contract.ManyLabels,
) (contract.Response, error) {
	return s.respond(ctx, key, addLabels, apierr.PrismNotFound(), func(c store.Caller) (any, error) {
		p, err := s.Store.Prism(ctx, c.Account, ref)
		if err != nil {
			return nil, err
		}
		targets, err := s.labelTargets(ctx, c.Account, p.ID, n)
		if err != nil {
			return nil, err
		}
		body := addedBody{NotFound: []int{}, Invalid: []invalidLabel{}}
		by := s.labeller(c, n.LabelBy)
		var labels []store.Label
		var positions []int // of labels
		for i, l := range n.Labels {
			t, found := targets[labelKey(l)]
			if !found || n.Version != 0 && t.Version != n.Version {
				body.NotFound = append(body.NotFound, i)
				continue
			}
			value, problem, err := s.newLabel(ctx, c.Account, p, t, l)
			switch {
			case err != nil:
				return nil, err
			case problem != "":
				body.Invalid = append(body.Invalid, invalidLabel{i, problem})
			default:
				labels, positions = append(labels, by.label(t.Result, t.Version, l.Question, value)), append(positions, i)
			}
		}
		gone, err := s.Store.PutLabels(ctx, c.Account, p.ID, labels)
		if err != nil {
			return nil, err
		}
		for i, l := range labels {
			if slices.Contains(gone, l.Result) {
				body.NotFound = append(body.NotFound, positions[i])
			}
		}
		slices.Sort(body.NotFound)
		body.Labelled = len(n.Labels) - len(body.NotFound) - len(body.Invalid)
		return body, nil
	})
}

// labelKey is what names the result of a label: its id, or its ref.
func labelKey(l contract.NewLabel) any {
	if l.Ref != nil {
		return *l.Ref
	}
	return l.Result
}

// labelTargets are the results of labels, by labelKey.
func (s *Service) labelTargets(
	ctx context.Context, account prism.AccountID, of prism.PrismID, n contract.ManyLabels,
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
	found, err = s.Store.RefTargets(ctx, account, of, n.Version, refs)
	for _, t := range found {
		targets[t.Ref] = t
	}
	return targets, err
}

// newLabel is the value of a label of a result, or the problem.
func (s *Service) newLabel(
	ctx context.Context, account prism.AccountID, p prism.Prism, t store.LabelTarget, l contract.NewLabel,
) (value, problem string, err error) {
	if t.Status != prism.OK {
		return "", apierr.OnlyOKLabelled().Message, nil
	}
	v, err := s.version(ctx, account, versionID{p.ID, p.VersionsHash, t.Version})
	if err != nil {
		return "", "", err
	}
	q, known := v.Question(l.Question)
	if !known {
		return "", "question: " + textUnknownQuestion, nil
	}
	if value, problem = labelValue(q, l.Value); problem != "" {
		problem = "value: " + problem
	}
	return value, problem, nil
}

// ListLabels implements contract.Labels.
func (s *Service) ListLabels(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.LabelList,
) (contract.Response, error) {
	return s.manage(ctx, key, listLabels, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfLabels, q.Page.Limit, q.Page.Cursor)
		if err != nil {
			return nil, err
		}
		p, err := s.Store.Prism(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		filter := store.LabelFilter{Prism: p.ID, Version: q.Version, Question: q.Question}
		labelled, more, err := s.Store.ListLabels(ctx, account, filter, page)
		if err != nil {
			return nil, err
		}
		return newListBody(contract.ListOfLabels, labelled, more, func(r store.LabelledResult) (strictjson.Value, error) {
			v, err := s.version(ctx, account, versionID{p.ID, p.VersionsHash, r.Version})
			if err != nil {
				return nil, err
			}
			body := labelsBody{Result: r.Result, Ref: r.Ref, Version: r.Version}
			if body.Labels, err = labelsObject(v.Definition, r.Labels); err != nil {
				return nil, err
			}
			return strictjson.Marshal(body)
		}, func(r store.LabelledResult) prism.UUID { return r.Result.UUID })
	})
}
