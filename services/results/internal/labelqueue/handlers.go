package labelqueue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/search"
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

// Handlers are those of the operation on the queue.
type Handlers struct {
	store    handlerStore
	versions *prisms.Handlers
	searches *search.Handlers
}

// handlerStore finds prisms and answers too.
type handlerStore interface {
	Store
	prisms.Store
	quality.LabelStore
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s handlerStore, versions *prisms.Handlers, searches *search.Handlers) *Handlers {
	return &Handlers{s, versions, searches}
}

// Operations are the operations on the queue.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Encoded(api.ListLabelQueue, h.listLabelQueue)}
}

// queuedBody is the body of a result of the queue (spec: label-queue).
type queuedBody struct {
	Result    prism.ResultID   `json:"result_id"`
	Ref       *string          `json:"ref"`
	CreatedAt string           `json:"created_at"`
	Version   int32            `json:"version"`
	Context   *string          `json:"context"`
	Fields    strictjson.Value `json:"fields"`
	Answers   strictjson.Value `json:"answers"`
}

// labelQueue is one page of a queue.
type labelQueue struct {
	*Handlers
	account prism.AccountID
	prism   prism.Prism
	queue   Queue
	after   prism.UUID // position
	limit   int
	search  *search.Filter // nil: all results that wait
	page    *bodies.Page
	bytes   int // of the results of the page, as they are stored
	full    bool
}

func (h *Handlers) listLabelQueue(ctx context.Context, c store.Caller, in api.ListLabelQueueRequest) ([]byte, error) {
	list := contract.QueueOf(in.Order)
	after, err := bodies.Position(list, in.Cursor)
	if err != nil {
		return nil, err
	}
	p, err := h.store.Prism(ctx, c.Account, in.Prism)
	if err != nil {
		return nil, err
	}
	version, err := h.versions.Version(ctx, c.Account, prisms.VersionIn(p, cmp.Or(in.Version, p.Latest.Number)))
	if err != nil {
		return nil, access.Translate(err, apierr.VersionNotFound())
	}
	if _, err := prisms.FindQuestion(version, in.Question); err != nil {
		return nil, err
	}
	queue := labelQueue{
		Handlers: h, account: c.Account, prism: p, queue: Queue{Prism: p.ID, Version: in.Version, Question: in.Question}, after: after,
		limit: in.Limit, page: bodies.NewPage(list),
	}
	if in.Q != "" || len(in.Where) > 0 || in.Assignee != "" {
		among := store.Filter{Prism: p.ID, Version: in.Version, Status: prism.OK, Assignee: bodies.Assignee(c, in.Assignee)}
		f, err := h.searches.Narrow(ctx, c.Account, p, among, in.ResultSearch)
		if err != nil {
			return nil, err
		}
		f.Where = append(slices.Clip(f.Where), finding.Condition{Subject: finding.Subject{Question: in.Question}, Operator: finding.IsUnlabelled})
		queue.search = &f
	}
	read := queue.random
	if in.Order == prism.UncertainSample {
		read = queue.uncertain
	}
	entries, more, err := read(ctx, version)
	if err != nil {
		return nil, err
	}
	if err := queue.fill(ctx, entries, more); err != nil {
		return nil, err
	}
	return queue.page.End(`,"sample":"` + string(in.Order) + `"`), nil
}

func newQueuedBody(r prism.Result) queuedBody {
	return queuedBody{
		Result: r.ID, Ref: r.Ref, CreatedAt: prism.FormatTime(r.CreatedAt), Version: r.Version, Context: bodies.Optional(r.Context),
		Fields: bodies.Fields(r.Fields), Answers: r.Answers,
	}
}

// random finds the next results in the random order. more tells that there may be further ones.
func (q *labelQueue) random(ctx context.Context, v *prisms.Cached) (entries []Entry, more bool, err error) {
	if q.search != nil {
		ids, err := q.searches.All(ctx, q.account, *q.search, MaxResults)
		for _, id := range ids {
			if at := RandomPosition(id); bytes.Compare(at[:], q.after[:]) > 0 {
				entries = append(entries, Entry{Position: at, Result: id})
			}
		}
		sortEntries(entries)
		more = len(entries) > randomCandidates
		return entries[:min(len(entries), randomCandidates)], more, err
	}
	var from prism.UUID
	if q.queue.Version != 0 { // the version answered nothing before it was made
		from = prism.FirstUUID(v.CreatedAt.Add(-store.MaxIDAge))
	}
	entries, err = q.store.RandomQueue(ctx, q.account, q.queue, from, q.after, randomCandidates)
	return entries, len(entries) == randomCandidates, err
}

// uncertain finds the most uncertain results.
func (q *labelQueue) uncertain(ctx context.Context, _ *prisms.Cached) (entries []Entry, more bool, err error) {
	var parser answerjson.Parser
	entry := func(u Unlabelled) (*Entry, error) {
		answers, err := parser.Parse(u.Answers)
		if err != nil {
			return nil, err
		}
		at, ok := uncertainPosition(answers, q.queue.Question, u.Result)
		if !ok || bytes.Compare(at[:], q.after[:]) <= 0 {
			return nil, nil //nolint:nilnil // as Store says
		}
		return &Entry{Position: at, Result: u.Result}, nil
	}
	if q.search != nil {
		entries, err = q.foundUncertain(ctx)
		return entries, false, err
	}
	page := store.Page{Limit: uncertainPart}
	for seen := 0; seen < uncertainResults; seen += uncertainPart {
		part, last, err := q.store.Unlabelled(ctx, q.account, q.queue, page, entry)
		if err != nil {
			return nil, false, err
		}
		entries = append(entries, part...)
		if page.After = last; last.IsZero() {
			break
		}
	}
	sortEntries(entries)
	return entries, false, nil
}

// foundUncertain finds the most uncertain of the results that the search finds.
func (q *labelQueue) foundUncertain(ctx context.Context) (entries []Entry, err error) {
	ids, err := q.searches.All(ctx, q.account, *q.search, uncertainResults)
	if err != nil {
		return nil, err
	}
	var parser answerjson.Parser
	positions := map[prism.ResultID]prism.UUID{} // a result may be read again
	err = q.store.Answers(ctx, q.account, ids, func(a quality.Answered) error {
		answers, err := parser.Parse(a.Answers)
		if err != nil {
			return err
		}
		if at, ok := uncertainPosition(answers, q.queue.Question, a.Result); ok && bytes.Compare(at[:], q.after[:]) > 0 {
			positions[a.Result] = at
		}
		return nil
	})
	for id, at := range positions {
		entries = append(entries, Entry{Position: at, Result: id})
	}
	sortEntries(entries)
	return entries, err
}

func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return bytes.Compare(a.Position[:], b.Position[:]) })
}

// fill adds entries in order until the page is full. more tells that the queue has further ones.
func (q *labelQueue) fill(ctx context.Context, entries []Entry, more bool) error {
	var last prism.UUID // that was looked at
	for len(entries) > 0 && !q.full && q.page.Len() < q.limit {
		part := entries[:min(len(entries), q.limit)]
		looked, err := q.add(ctx, part)
		if err != nil {
			return err
		}
		if looked > 0 {
			last, entries = part[looked-1].Position, entries[looked:]
		}
	}
	if len(entries) > 0 || more {
		q.page.Next = last
	}
	return nil
}

// add adds those of some entries that still wait, until the page is full, and returns how many entries it looked at. It counts the
// bytes of results before it loads them (spec: page-bytes).
func (q *labelQueue) add(ctx context.Context, entries []Entry) (looked int, err error) {
	waiting, err := q.waiting(ctx, entries)
	if err != nil {
		return 0, err
	}
	var ids []prism.ResultID
	for _, e := range entries {
		if w, ok := waiting[e.Result]; ok {
			rows := q.page.Len() + len(ids)
			if q.full = rows == q.limit || rows > 0 && q.bytes+w.Bytes > store.ListBytes; q.full {
				break
			}
			q.bytes += w.Bytes
			ids = append(ids, e.Result)
		}
		looked++
	}
	results, err := q.store.QueuedResults(ctx, q.account, q.queue, ids)
	if err != nil {
		return 0, err
	}
	for i, e := range entries[:looked] {
		at := slices.IndexFunc(results, func(r prism.Result) bool { return r.ID == e.Result })
		if at < 0 {
			continue
		}
		row, err := strictjson.Marshal(newQueuedBody(results[at]))
		if err != nil {
			return 0, err
		}
		clear(results[at : at+1])
		if q.full = !q.page.Add(row); q.full {
			return i, nil
		}
	}
	return looked, nil
}

// waiting are those of some entries that wait, and whose version has the question.
func (q *labelQueue) waiting(ctx context.Context, entries []Entry) (map[prism.ResultID]Queued, error) {
	ids := make([]prism.ResultID, len(entries))
	for i, e := range entries {
		ids[i] = e.Result
	}
	found, err := q.store.Queued(ctx, q.account, q.queue, ids)
	if err != nil {
		return nil, err
	}
	waiting := map[prism.ResultID]Queued{}
	for _, w := range found {
		v, err := q.versions.Version(ctx, q.account, prisms.VersionIn(q.prism, w.Version))
		if err != nil {
			return nil, err
		}
		if _, known := v.Question(q.queue.Question); known {
			waiting[w.Result] = w
		}
	}
	return waiting, nil
}

// uncertainPosition orders results by the greatest probability of an answer to a question, and then as the random queue. It is false
// if there is no answer.
func uncertainPosition(answers prism.Answers, question string, id prism.ResultID) (at prism.UUID, ok bool) {
	i := slices.IndexFunc(answers, func(a prism.Answer) bool { return a.Question == question })
	if i < 0 {
		return at, false
	}
	tie := RandomPosition(id)
	binary.BigEndian.PutUint64(at[:], math.Float64bits(answers[i].Certainty())) // of positive numbers in their order
	copy(at[8:], tie[:8])
	return at, true
}
