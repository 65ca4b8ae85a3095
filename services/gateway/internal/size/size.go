// Package size estimates how much a call sends to the model: the o200k tokens of its fields, context, instructions, examples and
// longest question (spec: size-estimate). It takes linear time on any input, and nothing is counted if the length in bytes
// already shows that the input is within the limit (spec: size-estimate-is-linear).
package size

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
)

// Estimator estimates sizes. It is safe for concurrent use. The tokenizer's vocabulary (about 15 MB) is loaded when the
// first text has to be counted, which takes about 50 ms, and shared from then on.
type Estimator struct {
	load  func() *vocabulary
	turns *fair.Queue
}

// New makes an Estimator. It does no work yet. Counting keeps a processor busy, so calls take turns for it (see ForCall); nil: they
// do not.
func New(turns *fair.Queue) *Estimator { return &Estimator{sync.OnceValue(loadVocabulary), turns} }

// turnWait bounds the wait for a turn, as that for a place of results is bounded.
const turnWait = 5 * time.Second

// SizerForCall is ForCall as the checks of a call have it.
func (e *Estimator) SizerForCall(ctx context.Context) checks.Sizer { return e.ForCall(ctx) }

// ForCall is the Estimator for the call of a context: what must be counted waits for its turn, which accounts have one after the other
// (spec: turns-of-work).
func (e *Estimator) ForCall(ctx context.Context) CallEstimator { return CallEstimator{e, ctx} }

// CallEstimator is an Estimator for one call. Without a turn in time, the error of its methods is contract.ErrUnavailable.
type CallEstimator struct {
	*Estimator
	ctx context.Context //nolint:containedctx // of the call
}

// Check returns apierr.TooLarge for an estimate over the limit.
func (c CallEstimator) Check(d prism.Definition, fields []prism.FieldValue, context string) error {
	if bytes, longest := byteSize(d, fields, context); bytes+longest <= apierr.TokenLimit {
		return nil
	}
	return c.inTurn(func() error {
		if tokens, over := c.Estimate(d, fields, context); over {
			return apierr.TooLarge(tokens)
		}
		return nil
	})
}

// Count is the number of tokens of texts, each counted by itself.
func (c CallEstimator) Count(texts ...string) (tokens int, err error) {
	err = c.inTurn(func() error {
		tokens = c.load().countAll(texts)
		return nil
	})
	return tokens, err
}

func (c CallEstimator) inTurn(count func() error) error {
	if c.turns == nil {
		return count()
	}
	c.load() // before the turn: the calls behind this one wait for counts, and not for the vocabulary
	account := fair.Account(c.ctx)
	ctx, cancel := context.WithTimeout(c.ctx, turnWait)
	defer cancel()
	if err := c.turns.Take(ctx, account, fair.Preferred); err != nil {
		return errors.Join(contract.ErrUnavailable, err)
	}
	defer c.turns.Give(account)
	return count()
}

// Estimate is the size of a call in tokens, and whether it is over apierr.TokenLimit. A number over the limit is exact,
// since the error message shows it. A number within the limit lies between the exact number and the limit.
//
// Each text is counted by itself: the values of the fields, the context, the instructions, the values and answers of the examples, and the
// text, labels and descriptions of the question with the most tokens.
func (e *Estimator) Estimate(d prism.Definition, fields []prism.FieldValue, context string) (tokens int, over bool) {
	// A token has at least one byte, so there are at most as many tokens as bytes.
	bytes, longest := byteSize(d, fields, context)
	if bytes+longest <= apierr.TokenLimit {
		return bytes + longest, false
	}
	v := e.load()
	tokens = v.countAll(sharedTexts(d, fields, context))
	if tokens+longest <= apierr.TokenLimit {
		return tokens + longest, false
	}
	longest = 0
	for _, q := range d.Questions {
		if texts := q.Texts(); byteLen(texts) > longest { // a shorter one cannot have more tokens
			longest = max(longest, v.countAll(texts))
		}
	}
	return tokens + longest, tokens+longest > apierr.TokenLimit
}

// sharedTexts are the texts that all questions share.
func sharedTexts(d prism.Definition, fields []prism.FieldValue, context string) []string {
	shared := append([]string{context}, DefinitionTexts(d)...)
	for _, f := range fields {
		shared = append(shared, f.Value)
	}
	return shared
}

// DefinitionTexts are the texts of a definition that all questions share: its instructions, and the values and answers of its examples.
func DefinitionTexts(d prism.Definition) []string {
	texts := []string{d.Instructions}
	for _, e := range d.Examples {
		for _, f := range e.Fields {
			texts = append(texts, f.Value)
		}
		for _, a := range e.Answers {
			texts = append(texts, a.Text())
		}
	}
	return texts
}

// byteSize is how many bytes the texts have that all questions share, and those of the longest question.
func byteSize(d prism.Definition, fields []prism.FieldValue, context string) (shared, longest int) {
	for _, q := range d.Questions {
		longest = max(longest, byteLen(q.Texts()))
	}
	return byteLen(sharedTexts(d, fields, context)), longest
}

func byteLen(texts []string) (n int) {
	for _, s := range texts {
		n += len(s)
	}
	return n
}
