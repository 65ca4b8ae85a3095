package quality

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The statements on labels of a question, and on the answers that they are of.
const (
	// In SQLite a CROSS JOIN keeps its order: the labels decide which results are read.
	selectLabels = `-- name: Labelled :many
SELECT l.result_id, l.value, l.sample, l.origin
FROM labels l CROSS JOIN results r`

	selectAnswered = `-- name: Answers :many
SELECT r.id, r.answers, r.context, r.fields
FROM results r`

	countLabelled = `-- name: CountLabelled :one
SELECT count(*) FROM labels l CROSS JOIN results r`

	selectState = `-- name: LabelsState :one
SELECT count(*), CAST(coalesce(sum(l.hash), 0) AS bigint) FROM labels l
WHERE l.account_id = $1 AND l.prism_id = $2 AND l.version = $3`
)

// Labelled implements LabelStore.
func (s SQL) Labelled(
	ctx context.Context, account prism.AccountID, f store.Filter, question string, limit int,
) (labels []Label, err error) {
	l := sqldb.NewList("labelled")
	whereLabelled(&l, selectLabels, account, f, question)
	l.Add(" ORDER BY l.result_id DESC LIMIT ", int64(limit))
	texts := map[string]string{} // there are few different ones
	once := func(text string) string {
		if known, ok := texts[text]; ok {
			return known
		}
		texts[text] = text
		return text
	}
	err = s.Run(ctx, l.Complete(), sqldb.ReadRows(&labels, func(r *sqldb.Row) Label {
		return Label{
			Result: prism.ResultID{UUID: r.UUID()}, Value: once(r.Text()), Sample: prism.LabelSample(once(r.Text())),
			Origin: store.LabelOrigin(once(r.Text())),
		}
	}))
	return labels, err
}

// answersAtOnce is how many results a statement of Answers reads: few, so that other calls get the connection between two of them.
const answersAtOnce = 100

// Answers implements LabelStore. It holds one row at a time.
func (s SQL) Answers(
	ctx context.Context, account prism.AccountID, ids []prism.ResultID, read func(Answered) error,
) error {
	for part := range slices.Chunk(sqldb.UUIDs(ids), answersAtOnce) {
		l := sqldb.NewList("answers")
		l.Results(selectAnswered, account, store.Filter{Status: prism.OK})
		l.In(" AND r.id IN (", sqldb.Padded(part, answersAtOnce))
		var ended error // by read: a driver's error would be translated
		err := s.Run(ctx, l.Complete(), func(rows iter.Seq[*sqldb.Row]) error {
			for r := range rows {
				a := Answered{Result: prism.ResultID{UUID: r.UUID()}, Answers: r.Bytes()}
				context := r.Text()
				fields := sqldb.Decode[[]prism.FieldValue](r)
				a.Input = inputHash(context, fields)
				if a.Fields = a.Input; context != "" {
					a.Fields = inputHash("", fields)
				}
				if err := r.Err(); err != nil {
					return err
				}
				if ended = read(a); ended != nil {
					return ended
				}
			}
			return nil
		})
		if err := cmp.Or(ended, err); err != nil {
			return err
		}
	}
	return nil
}

// whereLabelled joins labels l with their results r, which pass a filter. It puts the condition on the prism on the labels alone: until
// Postgres has analysed the table, it expects a new prism to have one result, and would read all results of the prism for each
// label.
func whereLabelled(l *sqldb.List, query string, account prism.AccountID, f store.Filter, question string) {
	of := f.Prism
	f.Prism = prism.PrismID{}
	l.Results(query, account, f)
	l.Write(" AND l.account_id = r.account_id AND l.result_id = r.id")
	l.Add(" AND l.account_id = ", account.UUID)
	l.Add(" AND l.prism_id = ", of.UUID)
	l.Add(" AND l.version = ", f.Version)
	l.Add(" AND l.question = ", question)
}

// CountLabelled implements LabelStore.
func (s SQL) CountLabelled(ctx context.Context, account prism.AccountID, f store.Filter, question string) (n int, err error) {
	l := sqldb.NewList("count_labelled")
	whereLabelled(&l, countLabelled, account, f, question)
	l.Add(" AND l.sample <> ", string(prism.UncertainSample))
	var counted int64
	err = s.Run(ctx, l.Complete(), sqldb.ReadRow(&counted, (*sqldb.Row).Int))
	return int(counted), err
}

// inputHash is the first half of the SHA-256 of a context and of the fields, sorted by key. Each text is preceded by its length.
func inputHash(context string, fields []prism.FieldValue) (hash [16]byte) {
	slices.SortFunc(fields, func(a, b prism.FieldValue) int { return strings.Compare(a.Key, b.Key) })
	var b []byte
	add := func(text string) {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	add(context)
	for _, f := range fields {
		add(f.Key)
		add(f.Value)
	}
	sum := sha256.Sum256(b)
	copy(hash[:], sum[:])
	return hash
}

// CountAnswered implements LabelStore.
func (s SQL) CountAnswered(ctx context.Context, account prism.AccountID, f store.Filter, limit int) (n int, err error) {
	f.Status = prism.OK
	l := sqldb.NewList("count_answered")
	l.Results("-- name: CountAnswered :one\nSELECT count(*) FROM (SELECT 1 FROM results r", account, f)
	l.Add(" LIMIT ", int64(limit))
	l.Write(") AS answered")
	var counted int64
	err = s.Run(ctx, l.Complete(), sqldb.ReadRow(&counted, (*sqldb.Row).Int))
	return int(counted), err
}

// LabelsState implements LabelStore.
func (s SQL) LabelsState(
	ctx context.Context, account prism.AccountID, of prism.PrismID, version int32,
) (state LabelsState, err error) {
	args := []any{account.UUID, of.UUID, version}
	err = s.Run(ctx, sqldb.Query("labels_state", selectState, args...), sqldb.ReadRow(&state, func(r *sqldb.Row) LabelsState {
		return LabelsState{Labels: r.Int(), Hashes: r.Int()}
	}))
	return state, err
}
