package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The bounds of the queue (spec: label-queue-random, label-queue-uncertain).
const (
	// randomCandidates is how many results in the random order one page looks at: failed ones, and those of other versions, are passed.
	randomCandidates = 5_000
	// uncertainResults is how many results that wait are compared.
	uncertainResults = 10_000
	uncertainPart    = 1_000
)

// The bodies of the queue (spec: label-queue).
type (
	queueBody struct {
		Data       []queuedBody         `json:"data"`
		Sample     contract.LabelSample `json:"sample"`
		NextCursor *string              `json:"next_cursor"`
	}
	queuedBody struct {
		Result    prism.ResultID   `json:"result_id"`
		Ref       *string          `json:"ref"`
		CreatedAt string           `json:"created_at"`
		Version   int32            `json:"version"`
		Context   *string          `json:"context"`
		Fields    strictjson.Value `json:"fields"`
		Answers   strictjson.Value `json:"answers"`
	}
)

// labelQueue is one page of a queue.
type labelQueue struct {
	*Service
	account prism.AccountID
	of      prism.Prism
	queue   store.Queue
	after   prism.UUID // position
	limit   int
}

// LabelQueue implements contract.Labels.
func (s *Service) LabelQueue(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, q contract.LabelQueue,
) (contract.Response, error) {
	return s.manage(ctx, key, listLabelQueue, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		list := q.Order.List()
		after, err := position(list, q.Page)
		if err != nil {
			return nil, err
		}
		p, err := s.Store.Prism(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		version, err := s.version(ctx, account, versionID{p.ID, p.VersionsHash, cmp.Or(q.Version, p.Latest.Number)})
		if err != nil {
			return nil, translate(err, apierr.VersionNotFound())
		}
		if _, err := questionOf(version, q.Question); err != nil {
			return nil, err
		}
		page := labelQueue{s, account, p, store.Queue{Prism: p.ID, Version: q.Version, Question: q.Question}, after, q.Page.Limit}
		read := page.random
		if q.Order == contract.UncertainSample {
			read = page.uncertain
		}
		body := queueBody{Data: []queuedBody{}, Sample: q.Order}
		results, last, err := read(ctx, version)
		for _, r := range results {
			body.Data = append(body.Data, newQueuedBody(r))
		}
		if !last.IsZero() {
			cursor := list.Cursor(last)
			body.NextCursor = &cursor
		}
		return body, err
	})
}

func newQueuedBody(r prism.Result) queuedBody {
	return queuedBody{
		Result: r.ID, Ref: r.Ref, CreatedAt: prism.FormatTime(r.CreatedAt), Version: r.Version, Context: optional(r.Context),
		Fields: fieldsObject(r.Fields), Answers: r.Answers,
	}
}

// random reads results in the random order. last is the position of the last one that was looked at, or zero at the end.
func (q labelQueue) random(ctx context.Context, v *version) (results []prism.Result, last prism.UUID, err error) {
	var from prism.UUID
	if q.queue.Version != 0 { // the version answered nothing before it was made
		from = prism.FirstUUID(v.CreatedAt.Add(-store.MaxIDAge))
	}
	entries, err := q.Store.RandomQueue(ctx, q.account, q.queue, from, q.after, randomCandidates)
	if err != nil {
		return nil, last, err
	}
	more := len(entries) == randomCandidates
	for len(entries) > 0 && len(results) < q.limit {
		part := entries[:min(len(entries), q.limit)]
		ids := make([]prism.ResultID, len(part))
		for i, e := range part {
			ids[i] = e.Result
		}
		found, err := q.queued(ctx, ids)
		if err != nil {
			return nil, last, err
		}
		for _, e := range part {
			if len(results) == q.limit {
				break
			}
			if r, ok := found[e.Result]; ok {
				results = append(results, r)
			}
			last, entries = e.Position, entries[1:]
		}
	}
	if len(entries) == 0 && !more {
		last = prism.UUID{}
	}
	return results, last, nil
}

// uncertain reads the most uncertain results. last is as in random.
func (q labelQueue) uncertain(ctx context.Context, _ *version) (results []prism.Result, last prism.UUID, err error) {
	var entries []store.QueueEntry
	var parser answerjson.Parser
	page := store.Page{Limit: uncertainPart}
	for seen := 0; seen < uncertainResults; seen += uncertainPart {
		waiting, err := q.Store.Unlabelled(ctx, q.account, q.queue, page)
		if err != nil {
			return nil, last, err
		}
		for _, w := range waiting {
			page.After = w.Result.UUID
			answers, err := parser.Parse(w.Answers)
			if err != nil {
				return nil, last, err
			}
			if at, ok := uncertainPosition(answers, q.queue.Question, w.Result); ok && bytes.Compare(at[:], q.after[:]) > 0 {
				entries = append(entries, store.QueueEntry{Position: at, Result: w.Result})
			}
		}
		if len(waiting) < uncertainPart {
			break
		}
	}
	slices.SortFunc(entries, func(a, b store.QueueEntry) int { return bytes.Compare(a.Position[:], b.Position[:]) })
	first := entries[:min(len(entries), q.limit)]
	ids := make([]prism.ResultID, len(first))
	for i, e := range first {
		ids[i] = e.Result
	}
	found, err := q.queued(ctx, ids)
	for _, id := range ids {
		if r, ok := found[id]; ok {
			results = append(results, r)
		}
	}
	if len(entries) > len(first) {
		last = first[len(first)-1].Position
	}
	return results, last, err
}

// queued are those of some results that wait and whose version has the question, with what they were asked.
func (q labelQueue) queued(ctx context.Context, ids []prism.ResultID) (map[prism.ResultID]prism.Result, error) {
	found, err := q.Store.QueuedResults(ctx, q.account, q.queue, ids)
	if err != nil {
		return nil, err
	}
	waiting := map[prism.ResultID]prism.Result{}
	for _, r := range found {
		v, err := q.version(ctx, q.account, versionID{q.of.ID, q.of.VersionsHash, r.Version})
		if err != nil {
			return nil, err
		}
		if _, known := v.Question(q.queue.Question); known {
			waiting[r.ID] = r
		}
	}
	return waiting, nil
}

// uncertainPosition orders results by the greatest probability of an answer to a question, and then as the random queue. It is false
// if there is no answer.
func uncertainPosition(answers prism.Answers, question string, id prism.ResultID) (at prism.UUID, ok bool) {
	for _, a := range answers {
		if a.Question != question {
			continue
		}
		top := max(a.Probability, 1-a.Probability)
		if a.Type != prism.YesNo {
			top = 0
			for _, p := range a.Probabilities {
				top = max(top, p.Probability)
			}
		}
		tie := store.RandomPosition(id)
		binary.BigEndian.PutUint64(at[:], math.Float64bits(top)) // of positive numbers in their order
		copy(at[8:], tie[:8])
		return at, true
	}
	return at, false
}
