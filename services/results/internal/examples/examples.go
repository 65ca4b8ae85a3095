// Package examples takes the examples of a new version from labels (spec: examples-from-labels).
package examples

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The bounds of where examples are taken from (spec: examples-from-labels).
const (
	maxTakenVersions = 20
	maxTakenLabels   = 10_000
	// inputsAtOnce is how many results are read at once. Each may have more than 1 MiB.
	inputsAtOnce = 16
)

// Taker takes examples; all are required.
type Taker struct {
	Store   Store
	Quality *quality.Handlers
}

// Store finds versions, results and their labels.
type Store interface {
	ListVersions(ctx context.Context, account prism.AccountID, id prism.PrismID, below int32, limit int) ([]prism.Version, bool, error)
	FindResults(ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input) ([]prism.Result, error)
	LabelsOf(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) ([]labels.Label, error)
	Answers(ctx context.Context, account prism.AccountID, ids []prism.ResultID, read func(quality.Answered) error) error
}

// Take takes examples for a definition from the labels of a question that count. Each input is taken once, as its newest result with
// such a label says it. With fewer inputs than wanted it is apierr.TooFewLabels.
func (t Taker) Take(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, d prism.Definition, from api.ExamplesFromLabels,
) ([]prism.Example, error) {
	q, ok := d.Question(from.Question)
	if !ok {
		return nil, apierr.Invalid(apierr.Problem{Path: "examples_from_labels.question", Text: prisms.UnknownQuestion})
	}
	counted, err := t.labelsToTake(ctx, account, prismID, d, q)
	if err != nil {
		return nil, err
	}
	if counted, err = t.newestInputs(ctx, account, counted); err != nil {
		return nil, err
	}
	counted = inTurn(q, counted, from.Seed)
	examples := make([]prism.Example, 0, from.N)
	for part := range slices.Chunk(counted, inputsAtOnce) {
		if len(examples) == from.N {
			break
		}
		if examples, err = t.addTaken(ctx, account, prismID, d, q.Key, examples, part, from.N); err != nil {
			return nil, err
		}
	}
	if len(examples) < from.N {
		return nil, apierr.TooFewLabels(len(examples), from.N)
	}
	if encoded, err := strictjson.Marshal(examples); err != nil || len(encoded) > prism.MaxExampleBytes {
		text := fmt.Sprintf("the examples have more than %d bytes of JSON together: take fewer", prism.MaxExampleBytes)
		return nil, apierr.Invalid(apierr.Problem{Path: "examples_from_labels.n", Text: text})
	}
	return examples, nil
}

// labelsToTake are the labels of a question that count in the newest versions with its type and the fields of a definition, and that are
// labels of the question now. The newest result is first.
func (t Taker) labelsToTake(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, d prism.Definition, q prism.Question,
) (all []quality.Label, err error) {
	versions, _, err := t.Store.ListVersions(ctx, account, prismID, 0, maxTakenVersions)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if was, ok := v.Question(q.Key); !ok || was.Type != q.Type || !sameFields(v.Fields, d.Fields) {
			continue
		}
		counted, err := t.Quality.CountedLabels(ctx, account, store.Filter{Prism: prismID, Version: v.Number}, q.Key)
		if err != nil {
			return nil, err
		}
		if all = append(all, counted...); len(all) >= maxTakenLabels {
			break
		}
	}
	all = slices.DeleteFunc(all, func(l quality.Label) bool {
		_, ok := takenAnswer(q, l.Value)
		return !ok
	})
	slices.SortFunc(all, func(a, b quality.Label) int { return sqldb.CompareIDs(b.Result.UUID, a.Result.UUID) })
	return all[:min(len(all), maxTakenLabels)], nil
}

func sameFields(a, b []prism.Field) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(f prism.Field) bool {
		return !slices.ContainsFunc(b, func(other prism.Field) bool { return other.Key == f.Key })
	})
}

// takenAnswer is what a label of a question says in an example. A label that the question does not have now is none. The keys of a list may
// have another order now.
func takenAnswer(q prism.Question, label string) (prism.ExampleAnswer, bool) {
	value, problem := q.ReadLabel(prism.NewExampleAnswer(q, label).Text())
	return prism.NewExampleAnswer(q, value), problem == "" && (value == label || q.Type.Classes() == prism.Multiple)
}

// newestInputs are labels, the newest first, without those of an input that is there already. Examples have no context, so an input is its
// fields alone.
func (t Taker) newestInputs(ctx context.Context, account prism.AccountID, counted []quality.Label) ([]quality.Label, error) {
	inputs := make(map[prism.ResultID][16]byte, len(counted))
	err := t.Store.Answers(ctx, account, resultsOf(counted), func(a quality.Answered) error {
		inputs[a.Result] = a.Fields
		return nil
	})
	seen := make(map[[16]byte]bool, len(counted))
	return slices.DeleteFunc(counted, func(l quality.Label) bool {
		input, known := inputs[l.Result]
		again := !known || seen[input]
		seen[input] = true
		return again
	}), err
}

func resultsOf(counted []quality.Label) []prism.ResultID {
	ids := make([]prism.ResultID, len(counted))
	for i, l := range counted {
		ids[i] = l.Result
	}
	return ids
}

// inTurn puts labels into an order that a seed decides: one of each value, then a second one of each, and so on. For a tags, a value is a set
// of options. A label keeps its place among those of its value when others come or go.
func inTurn(q prism.Question, counted []quality.Label, seed int32) []quality.Label {
	type place struct {
		turn       int
		class, own [sha256.Size]byte
		label      quality.Label
	}
	drawn := func(key []byte) [sha256.Size]byte {
		return sha256.Sum256(append(binary.BigEndian.AppendUint32([]byte(q.Key), uint32(seed)), key...)) //nolint:gosec // its bits
	}
	places := make([]place, len(counted))
	for i, l := range counted {
		places[i] = place{class: drawn([]byte(l.Value)), own: drawn(l.Result.UUID[:]), label: l}
	}
	slices.SortFunc(places, func(a, b place) int { return bytes.Compare(a.own[:], b.own[:]) })
	turns := map[string]int{}
	for i, p := range places {
		places[i].turn = turns[p.label.Value]
		turns[p.label.Value]++
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if a.turn != b.turn {
			return a.turn - b.turn
		}
		return bytes.Compare(a.class[:], b.class[:])
	})
	for i, p := range places {
		counted[i] = p.label
	}
	return counted
}

// addTaken adds an example for each label, in their order, until there are n. A result that was deleted meanwhile is left out.
func (t Taker) addTaken(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, d prism.Definition, question string, examples []prism.Example,
	counted []quality.Label, n int,
) ([]prism.Example, error) {
	ids := resultsOf(counted)
	results, err := t.Store.FindResults(ctx, account, prismID, ids, store.WithInput)
	if err != nil {
		return nil, err
	}
	known, err := t.Store.LabelsOf(ctx, account, prismID, ids)
	if err != nil {
		return nil, err
	}
	ofResult := map[prism.ResultID][]labels.Label{}
	for _, l := range known {
		ofResult[l.Result] = append(ofResult[l.Result], l)
	}
	for _, id := range ids {
		at := slices.IndexFunc(results, func(r prism.Result) bool { return r.ID == id })
		if at < 0 || len(examples) == n {
			continue
		}
		e, ok := takenExample(d, results[at], ofResult[id])
		labelled := func(a prism.ExampleAnswer) bool { return a.Question == question }
		if ok && slices.ContainsFunc(e.Answers, labelled) { // else the label was deleted meanwhile
			examples = append(examples, e)
		}
	}
	return examples, nil
}

// takenExample is an example with the fields of a result, and the labels that it has for the questions of a definition. It is false if the
// result lacks a field.
func takenExample(d prism.Definition, r prism.Result, known []labels.Label) (e prism.Example, ok bool) {
	e.Result = r.ID
	for _, f := range d.Fields {
		at := slices.IndexFunc(r.Fields, func(v prism.FieldValue) bool { return v.Key == f.Key })
		if at < 0 {
			return e, false
		}
		e.Fields = append(e.Fields, r.Fields[at])
	}
	for _, q := range d.Questions {
		at := slices.IndexFunc(known, func(l labels.Label) bool { return l.Question == q.Key })
		if at < 0 {
			continue
		}
		if answer, ok := takenAnswer(q, known[at].Value); ok {
			e.Answers = append(e.Answers, answer)
		}
	}
	return e, true
}
