package openaichat

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/chat"
	"github.com/prism-results/prism/services/model-proxy/internal/score"
)

type response = chat.Response[provider.First[provider.Members[choice]]]

type choice struct {
	chat.Choice[struct{}]
	LogProbs logProbs `json:"logprobs"`
}

func read(r response, q prism.Question, shift int, reply *provider.Reply) {
	reply.Tokens, reply.Thinks = r.Tokens(), r.Thought()
	c := r.Choices.Value.Value
	if reply.Fault = c.Fault(); reply.Fault != nil || c.Refused() {
		return
	}
	tokens, ok := c.LogProbs.tokens()
	if !ok {
		if c.Message.OK {
			reply.Missing = prism.CodeNoLogProbabilities
		}
		return
	}
	reply.Thinks = reply.Thinks || slices.ContainsFunc(tokens, beginsToThink)
	labelled := score.Labels(q, labelsOf(q, shift), tokens)
	reply.Answers[0] = labelled.Answer
	if labelled.Mass > 0 {
		reply.LabelMass = []prism.LabelMass{{Question: q.Key, Mass: labelled.Mass}}
	}
	if len(labelled.Absent) > 0 {
		reply.Absent = []prism.Absent{{Question: q.Key, Keys: labelled.Absent}}
	}
}

// beginsToThink tells whether a token is the likely beginning of a thought.
func beginsToThink(t score.Token) bool {
	return t.LogProb > -1 && strings.HasPrefix(strings.TrimSpace(t.Text), "<think")
}

// logProbs are the log-probabilities of a reply, in the forms that hosts have: an object with the tokens as content, a list of such
// an object or of the tokens, and the older form, whose tokens and log-probabilities are lists beside each other.
type logProbs struct {
	Content provider.First[provider.Members[saidToken]] `json:"content"`
	Tokens  provider.First[provider.Text]               `json:"tokens"`
	Numbers provider.First[provider.Number]             `json:"token_logprobs"`
	saidToken
}

// saidToken is a token that the model said, with the likely ones in its place.
type saidToken struct {
	likelyToken
	Likely likelyTokens `json:"top_logprobs"`
}

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (l *logProbs) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	type plain logProbs // without this method
	var v provider.Members[plain]
	if d.PeekKind() != '[' {
		err := v.UnmarshalJSONFrom(d)
		*l = logProbs(v.Value)
		return err
	}
	var list provider.First[provider.Members[plain]]
	err := list.UnmarshalJSONFrom(d)
	*l = logProbs(list.Value.Value)
	return err
}

// tokens are the first token that the model said and the likely ones in its place. Later ones were not asked for.
func (l logProbs) tokens() (tokens []score.Token, ok bool) {
	said := l.saidToken
	switch {
	case l.Content.OK:
		said = l.Content.Value.Value
	case l.Tokens.OK:
		said.Text, said.LogProb = l.Tokens.Value, l.Numbers.Value
	case said.Text == "" && len(said.Bytes) == 0:
		return nil, false
	}
	for _, t := range said.Likely {
		tokens = append(tokens, t.token())
	}
	// Some hosts do not repeat the token among the likely ones.
	first := said.token()
	if !slices.ContainsFunc(tokens, func(t score.Token) bool { return t.Text == first.Text }) {
		tokens = append(tokens, first)
	}
	return tokens, true
}

type likelyToken struct {
	Text    provider.Text   `json:"token"`
	LogProb provider.Number `json:"logprob"`
	Bytes   utf8Bytes       `json:"bytes"`
}

func (t likelyToken) token() score.Token {
	text, logProb := string(t.Text), t.LogProb.Float()
	if len(t.Bytes) > 0 && (text == "" || strings.ContainsRune(text, utf8.RuneError)) {
		text = string(t.Bytes)
	}
	// SentencePiece and the byte-level vocabularies write a space so.
	for _, space := range []string{"▁", "Ġ"} {
		if rest, ok := strings.CutPrefix(text, space); ok {
			text = " " + rest
		}
	}
	if t.LogProb.Null {
		logProb = math.Inf(-1)
	}
	return score.Token{Text: text, LogProb: logProb}
}

// likelyTokens are a list of tokens, an object from texts to log-probabilities, or a list with such an object, as in the older form.
type likelyTokens []likelyToken

// maxLikely bounds the likely tokens that are read: hosts return at most 20, or as many as their operator allows.
const maxLikely = 128

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (l *likelyTokens) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*l = nil
	if d.PeekKind() != '[' {
		return l.add(d)
	}
	return provider.EachElement(d, maxLikely, func() error { return l.add(d) })
}

// add adds the tokens of an object: one, whose member "token" is a text, or else one for each member. Of such objects only the first
// is about the first token.
func (l *likelyTokens) add(d *strictjson.Decoder) error {
	var parsed likelyToken
	isOne := false
	var each likelyTokens
	err := provider.EachMember(d, func(name string) error {
		switch kind := d.PeekKind(); {
		case name == "token" && kind == '"':
			isOne = true
			return parsed.Text.UnmarshalJSONFrom(d)
		case name == "bytes" && kind == '[':
			return parsed.Bytes.UnmarshalJSONFrom(d)
		}
		t := likelyToken{Text: provider.Text(name)}
		err := t.LogProb.UnmarshalJSONFrom(d)
		if name == "logprob" {
			parsed.LogProb = t.LogProb
		}
		if t.LogProb.OK || t.LogProb.Null {
			each = append(each, t)
		}
		return err
	})
	if isOne {
		*l = append(*l, parsed)
	} else if len(*l) == 0 {
		*l = each
	}
	return err
}

// utf8Bytes is an array of bytes.
type utf8Bytes []byte

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom.
func (b *utf8Bytes) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*b = nil
	return provider.EachElement(d, maxLikely, func() error {
		var n provider.Number
		err := n.UnmarshalJSONFrom(d)
		if n.OK && n.Value >= 0 && n.Value <= math.MaxUint8 {
			*b = append(*b, byte(n.Value))
		}
		return err
	})
}
