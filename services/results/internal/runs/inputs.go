package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

const (
	// maxLabelsFile bounds the file of labelled inputs, which is made in memory (spec: run-from-labels).
	maxLabelsFile = 64 << 20
	// inputsAtOnce is how many results are read at once to make it. Each may have more than 1 MiB.
	inputsAtOnce = 16
)

// The columns of a file of labelled inputs. Fields and questions have a prefix, so that no two columns have one name.
const (
	fieldColumnPrefix = "field."
	labelColumnPrefix = "label."
	refColumn         = "ref"
	contextColumn     = "context"
)

// LabelsRun implements contract.Runs. It waits until the file was read, as a run is only of a file that is ready; meanwhile it has no
// place.
func (h *Handlers) LabelsRun(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun,
) (run api.NewRun, err error) {
	var account prism.AccountID
	err = h.deps.Access.Serve(ctx, key, access.LabelsRun, nil, func(c store.Caller) error {
		account = c.Account
		if n.FromLabelsOf != 0 {
			n.Labels = []api.FieldColumn{{}} // a placeholder, so that mayLabel checks the role: the run may get label columns
			if err := mayLabel(c, n); err != nil {
				return err
			}
			n.Labels = nil
		}
		p, err := h.livePrism(ctx, c.Account, ref)
		if err != nil {
			return err
		}
		if n.IdempotencyKey != "" {
			if _, err := h.deps.Store.RunOfKey(ctx, c.Account, n.IdempotencyKey); !errors.Is(err, store.ErrNotFound) {
				run = n
				return err
			}
		}
		if n.FromResults != nil {
			run, err = h.resultsRun(ctx, c.Account, p, n)
		} else {
			run, err = h.labelsRun(ctx, c.Account, p, n)
		}
		return err
	})
	if err != nil || run.File.IsZero() {
		return run, err
	}
	return run, access.Translate(h.deps.Files.AwaitReading(ctx, account, run.File), nil)
}

func (h *Handlers) labelsRun(
	ctx context.Context, account prism.AccountID, p prism.Prism, n api.NewRun,
) (api.NewRun, error) {
	labelled, err := h.deps.Versions.Version(ctx, account, prisms.VersionIn(p, n.FromLabelsOf))
	if err != nil {
		return n, access.Translate(err, apierr.VersionNotFound())
	}
	by, err := h.answering(ctx, account, p, &n)
	if err != nil {
		return n, err
	}
	for _, f := range by.Fields {
		if slices.ContainsFunc(labelled.Fields, func(l prism.Field) bool { return l.Key == f.Key }) {
			n.Fields = append(n.Fields, api.FieldColumn{Field: f.Key, Column: fieldColumnPrefix + f.Key})
		}
	}
	if err := checkFields(by.Fields, n.Fields); err != nil {
		return n, err
	}
	questions := commonQuestions(labelled.Definition, by.Definition)
	for _, q := range questions {
		n.Labels = append(n.Labels, api.FieldColumn{Field: q.Key, Column: labelColumnPrefix + q.Key})
	}
	labels, err := h.labelsByResult(ctx, account, store.Filter{Prism: p.ID, Version: labelled.Number}, questions)
	if err != nil {
		return n, err
	}
	content, err := h.inputsOf(ctx, account, p.ID, slices.Collect(maps.Keys(labels)), labels, by.Definition, questions, "from_labels_of")
	if err != nil {
		return n, err
	}
	name := fmt.Sprintf("labels of version %d of %s.jsonl", labelled.Number, p.Slug)
	n.File, err = h.deps.Files.Keep(ctx, account, name, content)
	return n, err
}

// answering is the version that answers a run of results, or the latest one. The run gets it, and the columns of refs and contexts.
func (h *Handlers) answering(ctx context.Context, account prism.AccountID, p prism.Prism, n *api.NewRun) (*prisms.Cached, error) {
	n.Version, n.Ref, n.Context = cmp.Or(n.Version, p.Latest.Number), refColumn, contextColumn
	by, err := h.deps.Versions.Version(ctx, account, prisms.VersionIn(p, n.Version))
	return by, access.Translate(err, apierr.VersionNotFound())
}

// commonQuestions are the questions that both versions have with one type, as the first one has them.
func commonQuestions(a, b prism.Definition) (common []prism.Question) {
	for _, q := range a.Questions {
		if other, ok := b.Question(q.Key); ok && other.Type == q.Type {
			common = append(common, q)
		}
	}
	return common
}

// labelsByResult are the labels that count, by question. Each input is there once, as its newest result.
func (h *Handlers) labelsByResult(
	ctx context.Context, account prism.AccountID, f store.Filter, questions []prism.Question,
) (map[prism.ResultID]map[string]string, error) {
	byResult := map[prism.ResultID]map[string]string{}
	newest, inputs := map[[16]byte]prism.ResultID{}, map[prism.ResultID][16]byte{}
	for _, q := range questions {
		labels, err := h.deps.Quality.CountedLabels(ctx, account, f, q.Key)
		if err != nil {
			return nil, err
		}
		var ids []prism.ResultID // whose inputs are not known
		for _, l := range labels {
			if _, known := inputs[l.Result]; !known {
				ids = append(ids, l.Result)
			}
		}
		err = h.deps.Store.Answers(ctx, account, ids, func(a quality.Answered) error {
			inputs[a.Result] = a.Input
			return nil
		})
		if err != nil {
			return nil, err
		}
		seen := map[[16]byte]bool{}
		for _, l := range labels {
			input, known := inputs[l.Result]
			if !known || seen[input] {
				continue
			}
			seen[input] = true
			id, known := newest[input]
			if !known {
				id = l.Result
				newest[input], byResult[id] = id, map[string]string{}
			}
			byResult[id][q.Key] = l.Value
		}
	}
	if len(byResult) == 0 {
		return nil, apierr.TooFewLabels(0, 1)
	}
	return byResult, nil
}

// inputsOf is a JSON object on a line for each of some results, the oldest one first, with the fields of a definition and their labels. Its
// problems are those of a member. A result that lacks a field is apierr.MissingFields.
func (h *Handlers) inputsOf(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID, labels map[prism.ResultID]map[string]string,
	answers prism.Definition, questions []prism.Question, member string,
) ([]byte, error) {
	slices.SortFunc(ids, olderResult)
	var content []byte
	for part := range slices.Chunk(ids, inputsAtOnce) {
		results, err := h.deps.Store.FindResults(ctx, account, prismID, part, store.WithInput)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(results, func(a, b prism.Result) int { return olderResult(a.ID, b.ID) })
		for _, r := range results {
			if missing := fieldsWithout(answers.Fields, r); len(missing) > 0 {
				return nil, apierr.MissingFields(missing)
			}
			before := len(content)
			content = appendInput(content, r, labels[r.ID], answers, questions)
			if len(content)-before > tabular.MaxRowBytes {
				return nil, apierr.Invalid(apierr.Problem{Path: member, Text: "an input has more than 1 MiB"})
			}
			content = append(content, '\n')
		}
		if len(content) > maxLabelsFile {
			return nil, apierr.Invalid(apierr.Problem{Path: member, Text: "the inputs have more than 64 MiB"})
		}
	}
	return content, nil
}

func olderResult(a, b prism.ResultID) int { return sqldb.CompareIDs(a.UUID, b.UUID) }

// fieldsWithout are the keys of fields for which a result has no value.
func fieldsWithout(fields []prism.Field, r prism.Result) (missing []string) {
	for _, f := range fields {
		if !slices.ContainsFunc(r.Fields, func(v prism.FieldValue) bool { return v.Key == f.Key }) {
			missing = append(missing, f.Key)
		}
	}
	return missing
}

// appendInput appends an object with every column: what is missing is null.
func appendInput(b []byte, r prism.Result, labels map[string]string, answers prism.Definition, questions []prism.Question) []byte {
	member := func(name, value string, null bool) {
		b = append(strictjson.AppendString(b, name), ':')
		if null {
			b = append(b, "null"...)
			return
		}
		b = strictjson.AppendString(b, value)
	}
	b = append(b, '{')
	ref := ""
	if r.Ref != nil {
		ref = *r.Ref
	}
	member(refColumn, ref, r.Ref == nil)
	b = append(b, ',')
	member(contextColumn, r.Context, r.Context == "")
	for _, f := range answers.Fields {
		at := slices.IndexFunc(r.Fields, func(v prism.FieldValue) bool { return v.Key == f.Key })
		b = append(b, ',')
		member(fieldColumnPrefix+f.Key, r.Fields[at].Value, false)
	}
	for _, q := range questions {
		value, labelled := labels[q.Key]
		b = append(b, ',')
		member(labelColumnPrefix+q.Key, value, !labelled)
	}
	return append(b, '}')
}

// DropLabelsFile implements contract.Runs.
func (h *Handlers) DropLabelsFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return contract.Response{}, h.deps.Access.Serve(ctx, key, access.PlanRun, nil, func(c store.Caller) error {
		return h.dropFile(ctx, c.Account, id)
	})
}

// dropFile deletes a file of labelled inputs of which no run was made.
func (h *Handlers) dropFile(ctx context.Context, account prism.AccountID, id prism.FileID) error {
	return h.deps.Store.DeleteFile(ctx, account, id, store.By{At: prism.Now(h.deps.Now)})
}

// resultsRun makes the file of a run of the inputs of results (spec: run-from-results).
func (h *Handlers) resultsRun(ctx context.Context, account prism.AccountID, p prism.Prism, n api.NewRun) (api.NewRun, error) {
	by, err := h.answering(ctx, account, p, &n)
	if err != nil {
		return n, err
	}
	for _, f := range by.Fields {
		n.Fields = append(n.Fields, api.FieldColumn{Field: f.Key, Column: fieldColumnPrefix + f.Key})
	}
	ids, err := h.resultsOfRun(ctx, account, p, *n.FromResults)
	if err != nil {
		return n, err
	}
	content, err := h.inputsOf(ctx, account, p.ID, ids, nil, by.Definition, nil, "from_results")
	if err != nil {
		return n, err
	}
	n.File, err = h.deps.Files.Keep(ctx, account, "results of "+p.Slug+".jsonl", content)
	return n, err
}

// resultsOfRun are the ids of the results that a run answers anew.
func (h *Handlers) resultsOfRun(ctx context.Context, account prism.AccountID, p prism.Prism, selected api.ResultsOfRun) ([]prism.ResultID, error) {
	f := store.Filter{Prism: p.ID, Status: selected.Status, Version: selected.Version, From: bodies.Bound(selected.From), To: bodies.Bound(selected.To)}
	ids, err := h.deps.Searches.Selected(ctx, account, p, f, selected.IDs, selected.SearchMembers, "from_results.", api.MaxResultsOfRun+1)
	if err != nil {
		return nil, err
	}
	var problem string
	switch {
	case len(ids) > api.MaxResultsOfRun:
		problem = "more than 10,000 results match"
	case len(ids) == 0:
		problem = "no result matches"
	default:
		return ids, nil
	}
	return nil, apierr.Invalid(apierr.Problem{Path: "from_results", Text: problem})
}
