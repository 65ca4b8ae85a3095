package distribution

import (
	"context"
	"iter"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

var fieldsOfIDs = `-- name: FieldsToCount :many
SELECT r.id, r.fields FROM results r WHERE r.account_id = $1 AND r.id IN (` + ids + `)`

// versionOfResult is what a result was answered by.
type versionOfResult struct {
	prism   prism.UUID
	version int32
}

// leaveOutExamples notes which results have an input that is an example of their version: what is right for them was shown to the model, so
// their labels are not counted (spec: distribution-labels). It looks only at results with a label.
func leaveOutExamples(ctx context.Context, run sqldb.Run, account prism.AccountID, results []*counted) error {
	labelled := map[versionOfResult][]*counted{}
	for _, r := range results {
		if len(r.labels) > 0 {
			of := versionOfResult{r.prism, r.version}
			labelled[of] = append(labelled[of], r)
		}
	}
	for of, results := range labelled {
		d, err := sqldb.ReadDefinition(ctx, run, account, of.prism, of.version)
		if err == nil && len(d.Examples) > 0 {
			err = noteExamples(ctx, run, account, results, d.Examples)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteExamples notes which results have the input of one of the examples.
func noteExamples(ctx context.Context, run sqldb.Run, account prism.AccountID, results []*counted, examples []prism.Example) error {
	byID := make(map[prism.UUID]*counted, len(results))
	all := make([]prism.UUID, len(results))
	for i, r := range results {
		byID[r.id], all[i] = r, r.id
	}
	return sqldb.EachPart(all, func(part []any) error {
		st := sqldb.Statement{Operation: "fields_to_count", Text: fieldsOfIDs, Args: append([]any{account.UUID}, part...), ReadOnly: true}
		return run(ctx, st, func(rows iter.Seq[*sqldb.Row]) error {
			for r := range rows {
				id, fields := r.UUID(), sqldb.Decode[[]prism.FieldValue](r)
				byID[id].example = isExample(examples, fields)
			}
			return nil
		})
	})
}

func isExample(examples []prism.Example, fields []prism.FieldValue) bool {
	return slices.ContainsFunc(examples, func(e prism.Example) bool { return e.SameInput(fields) })
}
