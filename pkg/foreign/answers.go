package foreign

import (
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Answered is a result that is ok.
type Answered struct {
	Model   string // as Model makes it
	Answers prism.Answers
	Usage   prism.Usage
	Names   Names
}

// Append appends the body of a response in one of the formats (spec: decisions-answer, systemone-answer).
func Append(b []byte, f api.Format, questions []Question, r Answered) []byte {
	if f == api.SystemOne {
		return appendSystemOne(b, questions, r)
	}
	return appendDecision(b, questions, r)
}

func appendDecision(b []byte, questions []Question, r Answered) []byte {
	b = append(b, `{"answers":[`...)
	for i, q := range questions {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendDecisionAnswer(b, i, q, r)
	}
	b = strictjson.AppendString(append(b, `],"model":`...), r.Model)
	input, output := count(r.Usage.InputTokens), count(r.Usage.OutputTokens)
	b = appendCount(b, `,"usage":{"input_tokens":`, input)
	b = appendCount(b, `,"input_tokens_details":{"cache_write_tokens":0,"cached_tokens":`, count(r.Usage.CachedInputTokens))
	b = appendCount(b, `},"output_tokens":`, output)
	b = appendCount(b, `,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":`, input+output)
	return append(b, "}}"...)
}

// appendDecisionAnswer appends one answer. A question that the stored answers do not have has none: a refusal.
func appendDecisionAnswer(b []byte, at int, q Question, r Answered) []byte {
	a, ok := q.answer(r.Answers)
	kind := decisionTypes[q.Type.Classes()]
	if !ok || kind == "" {
		kind = "refusal"
	}
	b = append(append(append(b, `{"type":"`...), kind...), `","name":`...)
	b = r.Names.appendQuestion(b, at, q)
	if !ok {
		return append(b, '}')
	}
	switch q.Type.Classes() {
	case prism.Binary:
		return append(appendNumber(b, `,"probability":`, a.Probability), '}')
	case prism.Nominal:
		b = r.Names.appendValue(append(b, `,"choice":`...), at, a.Chosen, a.Chosen)
	case prism.Ordinal:
		b = appendNumber(b, `,"score":`, score(a))
	case prism.Multiple: // Questions makes questions of its options
		fallthrough
	default:
		return append(b, '}')
	}
	b = append(appendNumber(b, `,"confidence":`, confidence(a)), `,"probabilities":[`...)
	labels := labelsOf(q)
	for i, p := range a.Probabilities {
		if i > 0 {
			b = append(b, ',')
		}
		if label, ok := labels[p.Key]; ok {
			b = r.Names.appendValue(append(b, `{"label":`...), at, p.Key, label)
			b = strconv.AppendInt(append(b, `,"value":`...), int64(i), 10)
		} else {
			b = r.Names.appendValue(append(b, `{"value":`...), at, p.Key, p.Key)
		}
		b = append(appendNumber(b, `,"probability":`, p.Probability), '}')
	}
	return append(b, "]}"...)
}

func appendSystemOne(b []byte, questions []Question, r Answered) []byte {
	b = strictjson.AppendString(append(b, `{"model":`...), r.Model)
	b = append(b, `,"answers":{`...)
	first := true
	for i, q := range questions {
		a, ok := q.answer(r.Answers)
		if !ok || q.Type.Classes() == "" {
			continue // the format has no word for it
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendSystemOneAnswer(append(strictjson.AppendString(b, r.Names.question(i, q)), ':'), i, q, a, r.Names)
	}
	b = appendCount(b, `},"usage":{"input_tokens":`, count(r.Usage.InputTokens))
	b = appendCount(b, `,"output_tokens":`, count(r.Usage.OutputTokens))
	return append(b, "}}"...)
}

func appendSystemOneAnswer(b []byte, at int, q Question, a prism.Answer, names Names) []byte {
	switch q.Type.Classes() {
	case prism.Binary:
		return append(appendNumber(b, `{"type":"noul","noul":`, a.Probability), '}')
	case prism.Nominal:
		b = strictjson.AppendString(append(b, `{"type":"choice","choice":`...), names.text(at, a.Chosen))
		b = appendNumber(b, `,"confidence":`, confidence(a))
	case prism.Ordinal, prism.Multiple: // Questions makes questions of the options of a Multiple one
		b = appendNumber(b, `{"type":"score","score":`, score(a))
		b = append(appendNumber(b, `,"confidence":`, confidence(a)), `,"legend":{`...)
		labels := labelsOf(q)
		for i, p := range a.Probabilities {
			b = names.appendValue(append(appendName(b, i, strconv.Itoa(i)), ':'), at, p.Key, labels[p.Key])
		}
		b = append(b, '}')
	}
	b = append(b, `,"probabilities":{`...)
	for i, p := range a.Probabilities {
		name := names.text(at, p.Key)
		if q.Type.Classes() == prism.Ordinal {
			name = strconv.Itoa(i)
		}
		b = appendNumber(appendName(b, i, name), ":", p.Probability)
	}
	return append(b, "}}"...)
}

// labelsOf are the labels of the levels by their keys.
func labelsOf(q Question) map[string]string {
	labels := make(map[string]string, len(q.Levels))
	for _, l := range q.Levels {
		labels[l.Key] = l.Label
	}
	return labels
}

// appendName appends the name of the i-th member of an object.
func appendName(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return strictjson.AppendString(b, name)
}

func appendNumber(b []byte, before string, f float64) []byte {
	return prism.AppendNumber(append(b, before...), f)
}

func appendCount(b []byte, before string, n int64) []byte {
	return strconv.AppendInt(append(b, before...), n, 10)
}

// count is a number of tokens; the formats have no word for one that is not known.
func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
