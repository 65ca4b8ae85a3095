package provider

import (
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
)

// UpTo is the format for a host that takes so many options or levels; 0 is no bound. A decision model gets more options in groups, in each of
// which one label is for none of them (spec: max-options).
func (f Format) UpTo(options int) Format {
	f.MaxOptions = options
	if f.Probabilities == api.Native && options > 0 {
		f.FlatOptions, f.GroupOptions = options, options-1
	}
	return f
}

// asked is what a call asks.
type asked struct {
	questions []prism.Question
	grouped   []*prism.Question // see Call
	later     int               // see Call
}

// split is what the calls of the first round ask: each question by itself or all together, as many as a call asks, and of a question with too many options a group
// of them in each call, so that a call has the key of a question once (spec: option-groups).
func (f Format) split(questions []prism.Question) (calls []asked) {
	if f.PerQuestion {
		for _, q := range questions {
			calls = append(calls, f.splitTogether([]prism.Question{q})...)
		}
		return calls
	}
	for together := range slices.Chunk(questions, contract.MaxAsked) {
		calls = append(calls, f.splitTogether(together)...)
	}
	return calls
}

func (f Format) splitTogether(questions []prism.Question) []asked {
	calls := []asked{{}}
	for i := range questions {
		q := &questions[i]
		groups := f.groups(*q)
		if groups == nil {
			calls[0].add(q, nil)
			continue
		}
		for n, options := range groups {
			if n == len(calls) {
				calls = append(calls, asked{})
			}
			group := score.Group(*q, options)
			calls[n].add(&group, q)
		}
		calls[0].later = f.lastCalls(*q)
	}
	return calls
}

// groups are the groups of a question's options, or nil if they are asked at once.
func (f Format) groups(q prism.Question) [][]prism.Option {
	if q.Type.Classes() != prism.Nominal || f.GroupOptions < 1 || len(q.AnswerKeys()) <= f.FlatOptions {
		return nil
	}
	return q.Groups(f.GroupOptions)
}

// lastCalls is how many calls ask the last round of a question.
func (f Format) lastCalls(q prism.Question) int {
	if f.Orders == nil {
		return 1
	}
	q.Options = q.Options[:min(len(q.Options), f.GroupOptions)]
	return len(f.Orders([]prism.Question{q}))
}

func (a *asked) add(q, whole *prism.Question) {
	a.questions = append(a.questions, *q)
	if whole != nil && a.grouped == nil {
		a.grouped = make([]*prism.Question, len(a.questions)-1)
	}
	if a.grouped != nil {
		a.grouped = append(a.grouped, whole)
	}
}
