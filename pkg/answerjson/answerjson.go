// Package answerjson writes and reads the stored answers: the bytes that format raw copies (spec: raw-answer-shapes).
//
//	{"intent":{"type":"choice","value":"refund","probabilities":{"refund":0.9,"other":0.1},"confidence":0.8},
//	 "urgent":{"type":"yes_no","probability":0.25},
//	 "mood":{"type":"scale","level":"calm","probabilities":{"calm":0.75,"angry":0.25}},
//	 "about":{"type":"tags","values":["price"],"probabilities":{"delivery":0.25,"price":0.75}}}
//
// Questions are in the version's order, options and levels in definition order, without white space.
package answerjson

import (
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Append appends the answers as a JSON object keyed by question key, in question order. Question keys, and the keys of
// one answer's probabilities, are unique; numbers are finite.
func Append(b []byte, answers prism.Answers) []byte {
	b = append(b, '{')
	for i, a := range answers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, a.Question)
		b = append(b, `:{"type":`...)
		b = strictjson.AppendString(b, string(a.Type))
		shape := a.Type.Shape()
		if shape.Chosen != "" {
			b = append(append(append(b, `,"`...), shape.Chosen...), `":`...)
			if shape.Several {
				b = appendList(b, a.Replies())
			} else {
				b = strictjson.AppendString(b, a.Chosen)
			}
			b = appendProbabilities(b, a.Probabilities)
		}
		if shape.Confidence {
			b = append(b, `,"confidence":`...)
			b = prism.AppendNumber(b, a.Confidence)
		}
		if shape.Probability {
			b = append(b, `,"probability":`...)
			b = prism.AppendNumber(b, a.Probability)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendList(b []byte, keys []string) []byte {
	b = append(b, '[')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, key)
	}
	return append(b, ']')
}

func appendProbabilities(b []byte, ps []prism.KeyProbability) []byte {
	b = append(b, `,"probabilities":{`...)
	for i, p := range ps {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, p.Key)
		b = append(b, ':')
		b = prism.AppendNumber(b, p.Probability)
	}
	return append(b, '}')
}
