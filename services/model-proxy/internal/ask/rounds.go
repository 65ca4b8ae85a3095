package ask

import (
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// joined is what the calls of a model have answered, over its rounds.
type joined struct {
	logProbs  bool // the model returns log-probabilities: others may report label masses, but these are not recorded (spec: call-of-a-model)
	questions []joinedQuestion
	parts     parts
	thinks    bool
}

// joinedQuestion is what the calls have answered to a question.
type joinedQuestion struct {
	key          string
	whole        *prism.Question // the question whose options were asked in groups; nil: they were asked at once
	groups       []*prism.Answer
	shares       []float64 // of the options after the first round
	answer       *prism.Answer
	masses       []float64 // of labels, of each call that has one
	absent       []string
	disagreement *prism.Disagreement
	rounds       []prism.Round
}

// question is the entry of a question, until the next one is added.
func (j *joined) question(key string) *joinedQuestion {
	for i := range j.questions {
		if j.questions[i].key == key {
			return &j.questions[i]
		}
	}
	j.questions = append(j.questions, joinedQuestion{key: key})
	return &j.questions[len(j.questions)-1]
}

// add adds the results of the calls of a round. failed is the first one that failed, if one did.
func (j *joined) add(calls []provider.Call, results []result) (failed *result) {
	for i := 0; i < len(calls); {
		orders := 1
		for i+orders < len(calls) && calls[i+orders].Order > 0 {
			orders++
		}
		r := pool(calls[i], results[i:i+orders])
		j.note(r)
		if r.err != nil || !r.OK() {
			return j.failed(r)
		}
		for k, answer := range r.answers {
			var whole *prism.Question
			if calls[i].Grouped != nil {
				whole = calls[i].Grouped[k]
			}
			j.question(calls[i].Questions[k].Key).answers(answer, whole)
		}
		i += orders
	}
	return nil
}

// answers adds an answer: to a group of the options of a whole question, to the last round, or to the question itself.
func (q *joinedQuestion) answers(answer *prism.Answer, whole *prism.Question) {
	switch {
	case whole != nil:
		q.whole, q.groups = whole, append(q.groups, answer)
	case q.whole != nil:
		q.answer = score.Rounds(*q.whole, q.shares, answer)
		q.rounds = append(q.rounds, prism.Round{Groups: 1, Options: len(answer.Probabilities)})
	default:
		q.answer = answer
	}
}

// note adds what the record says of a result, also of one that failed.
func (j *joined) note(r result) {
	j.thinks = j.thinks || r.thinks
	for _, d := range r.disagreement {
		j.question(d.Question).disagreement = &d
	}
	if !j.logProbs {
		return
	}
	for _, m := range r.labelMass {
		q := j.question(m.Question)
		q.masses = append(q.masses, m.Mass)
	}
	for _, a := range r.absent {
		q := j.question(a.Question)
		q.absent = append(q.absent, a.Keys...)
	}
}

// lastRound is the questions of the last round, those that were asked in groups, with their most probable options: at most `most` labels.
func (j *joined) lastRound(least float64, maxOptions int) (questions []prism.Question, failed *result) {
	for i := range j.questions {
		q := &j.questions[i]
		if q.whole == nil {
			continue
		}
		var ok bool
		if q.shares, ok = score.Shares(*q.whole, q.groups, least); !ok { // none of them everywhere
			return nil, j.failed(result{Report: noUsableAnswer(q.whole.Key)})
		}
		q.rounds = []prism.Round{{Groups: len(q.groups), Options: len(q.whole.Options)}}
		questions = append(questions, score.LastRound(*q.whole, q.shares, maxOptions))
	}
	return questions, nil
}

// failed is a result that failed, with what the record says of the calls before it.
func (j *joined) failed(r result) *result {
	r.disagreement = nil
	j.record(&r)
	return &r
}

// record sets what the record says of all calls.
func (j *joined) record(r *result) {
	j.whole()
	r.thinks, r.labelMass, r.absent = j.thinks, nil, nil
	for i := range j.questions {
		q := &j.questions[i]
		if len(q.masses) > 0 {
			r.labelMass = append(r.labelMass, prism.LabelMass{Question: q.key, Mass: mean(q.masses)})
		}
		if keys := q.absentKeys(); len(keys) > 0 {
			r.absent = append(r.absent, prism.Absent{Question: q.key, Keys: keys})
		}
	}
}

// absentKeys are the keys of the labels that were absent in a call, once each, without the ones of groups.
func (q *joinedQuestion) absentKeys() []string {
	if q.whole == nil {
		return q.absent
	}
	return slices.DeleteFunc(q.whole.AnswerKeys(), func(key string) bool { return !slices.Contains(q.absent, key) })
}

// result is the result of an ask whose calls have all succeeded.
func (j *joined) result(a contract.Ask) result {
	all := result{Report: Report{Fault: upstream.Fault{Class: failure.OK}}}
	j.record(&all)
	answers := make(prism.Answers, 0, len(j.questions))
	for i := range j.questions {
		q := &j.questions[i]
		if q.disagreement != nil {
			all.disagreement = append(all.disagreement, *q.disagreement)
		}
		if len(q.rounds) > 0 {
			all.rounds = append(all.rounds, prism.Rounds{Question: q.key, Rounds: q.rounds})
		}
		if q.answer != nil {
			answers = append(answers, *q.answer)
		}
	}
	all.Answers = answerjson.Append(make([]byte, 0, 512*len(answers)), answers)
	all.doubtful = a.Definition.Escalate.Doubtful(answers)
	return all
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// countCalls is how many calls a model is asked with, in all rounds.
func countCalls(calls []provider.Call) (n int) {
	for _, c := range calls {
		n += 1 + c.Later
	}
	return n
}
