package labels

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps them in a database.
type SQL struct{ sqldb.Database }

// maxQuestions bounds the labels of a result (spec: version-questions).
const maxQuestions = 64

const (
	labelColumns = `l.result_id, l.version, l.question, l.value, l.sample, l.annotator, l.origin, l.key_id, l.labelled_at`

	labelsOfResult = `-- name: LabelsOfResult :many
SELECT ` + labelColumns + ` FROM labels l WHERE l.account_id = $1 AND l.prism_id = $2 AND l.result_id = $3 ORDER BY l.question`

	removeLabel = `DELETE FROM labels WHERE account_id = $1 AND prism_id = $2 AND result_id = $3 AND question = $4`

	// anyLabel tells whether results to delete have labels: most have none.
	anyLabel = `-- name: AnyLabel :one
SELECT 1 FROM labels WHERE account_id = $1 AND prism_id = $2 AND result_id BETWEEN $3 AND $4 LIMIT 1`

	listLabels = `-- name: ListLabels :many
SELECT ` + labelColumns + ` FROM labels l WHERE l.account_id = `
)

var (
	labelTargets = `-- name: LabelTargets :many
SELECT r.id, r.version, r.status FROM results r
WHERE r.account_id = $1 AND r.prism_id = $2 AND r.id IN (` + sqldb.Parameters(3, sqldb.PartSize) + `)`
	refsOf = `-- name: RefsOf :many
SELECT r.id, r.ref FROM results r
WHERE r.account_id = $1 AND r.prism_id = $2 AND r.ref IS NOT NULL AND r.id IN (` + sqldb.Parameters(3, sqldb.PartSize) + `)`
	// Results are locked in one order.
	lockLabelled = `-- name: LockLabelled :many
SELECT r.id FROM results r
WHERE r.account_id = $1 AND r.prism_id = $2 AND r.status = 'ok' AND r.id IN (` + sqldb.Parameters(3, sqldb.PartSize) + `) ORDER BY r.id`
	refTargets = refTargetsOf()

	labelsOfResults = `-- name: LabelsOfResults :many
SELECT ` + labelColumns + ` FROM labels l
WHERE l.account_id = $1 AND l.prism_id = $2 AND l.result_id IN (` + sqldb.Parameters(3, sqldb.PartSize) + `) ORDER BY l.result_id, l.question`

	putLabel      = insertLabels(1)
	putManyLabels = insertLabels(sqldb.PartSize)
	deleteLabels  = `DELETE FROM labels WHERE account_id = $1 AND prism_id = $2 AND result_id IN (` + sqldb.Parameters(3, sqldb.PartSize) + `)`
)

// refTargetsOf finds the newest result of each ref in a SELECT of its own, which an index on refs and ids serves.
func refTargetsOf() string {
	var text strings.Builder
	text.WriteString("-- name: RefTargets :many")
	for i := range sqldb.PartSize {
		if i > 0 {
			text.WriteString("\nUNION ALL")
		}
		text.WriteString("\nSELECT * FROM (SELECT r.id, r.version, r.status, r.ref FROM results r" +
			" WHERE r.account_id = $1 AND r.ref = $" + strconv.Itoa(4+i) + " AND r.prism_id = $2 AND r.status = 'ok'" +
			" AND ($3 = 0 OR r.version = $3) ORDER BY r.id DESC LIMIT 1) AS t" + strconv.Itoa(i))
	}
	return text.String()
}

// insertLabels puts n labels.
func insertLabels(n int) string {
	return "INSERT INTO labels AS l (account_id, prism_id, result_id, question, version, value, sample, annotator, origin, " +
		"key_id, labelled_at, hash) VALUES" + sqldb.Tuples(n, "", 1, 12) + "\nON CONFLICT (account_id, prism_id, result_id, question) " +
		"DO UPDATE SET value = excluded.value, sample = excluded.sample, annotator = excluded.annotator, origin = excluded.origin, " +
		"key_id = excluded.key_id, labelled_at = excluded.labelled_at, hash = excluded.hash"
}

// OfPrism is a label with the prism of its result.
type OfPrism struct {
	Prism prism.PrismID
	Label
}

func (l OfPrism) arguments(account prism.AccountID) []any {
	return []any{
		account.UUID, l.Prism.UUID, l.Result.UUID, l.Question, l.Version, l.Value, string(l.Sample), l.Annotator, string(l.Origin),
		l.Key.UUID, l.At, l.Hash(),
	}
}

// Insert stores labels, no two of which are of the same question of a result, in the transaction of run, which has locked the results, or
// inserted them.
func Insert(ctx context.Context, run sqldb.Run, account prism.AccountID, labels []OfPrism) error {
	for len(labels) > 0 {
		n, text := sqldb.PartSize, putManyLabels
		if len(labels) < n {
			n, text = 1, putLabel
		}
		var args []any
		for _, l := range labels[:n] {
			args = append(args, l.arguments(account)...)
		}
		if err := run(ctx, sqldb.Statement{Text: text, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		labels = labels[n:]
	}
	return nil
}

// DeleteOf deletes the labels of results, which the transaction of run has deleted, by ids in the order of sqldb.CompareIDs. Those that were
// put at the same time are deleted too, as PutLabels locks the results.
func DeleteOf(ctx context.Context, run sqldb.Run, account prism.AccountID, prismID prism.PrismID, ids []prism.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	args := []any{account.UUID, prismID.UUID, ids[0], ids[len(ids)-1]}
	err := run(ctx, sqldb.Statement{Text: anyLabel, Args: args}, sqldb.SomeRow)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return sqldb.EachPart(ids, func(part []any) error {
		return run(ctx, sqldb.Statement{Text: deleteLabels, Args: append(args[:2:2], part...)}, sqldb.NoRow)
	})
}

// LabelTargets implements Store.
func (s SQL) LabelTargets(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) ([]Target, error) {
	find := sqldb.Query("label_targets", labelTargets, account.UUID, prismID.UUID)
	return sqldb.ReadParts(ctx, s.Run, find, sqldb.UUIDs(ids), readLabelTarget)
}

// RefTargets implements Store.
func (s SQL) RefTargets(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, version int32, refs []string,
) ([]Target, error) {
	find := sqldb.Query("ref_targets", refTargets, account.UUID, prismID.UUID, version)
	targets, err := sqldb.ReadParts(ctx, s.Run, find, refs, func(r *sqldb.Row) Target {
		t := readLabelTarget(r)
		t.Ref = r.Text()
		return t
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(targets, func(t Target) bool {
		again := seen[t.Ref]
		seen[t.Ref] = true
		return again
	}), err
}

func readLabelTarget(r *sqldb.Row) Target {
	return Target{Result: prism.ResultID{UUID: r.UUID()}, Version: r.Int32(), Status: prism.Status(r.Text())}
}

// PutLabels implements Store. The results are locked, so that a deletion finds the labels.
func (s SQL) PutLabels(
	ctx context.Context, account prism.AccountID, prismID prism.PrismID, labels []Label,
) (gone []prism.ResultID, err error) {
	results := make([]prism.ResultID, len(labels))
	for i, l := range labels {
		results[i] = l.Result
	}
	ids := sqldb.SortedIDs(results)
	err = s.Transaction(ctx, "put_labels", func(run sqldb.Run) error {
		lock := sqldb.Statement{Text: lockLabelled + s.Locking(false), Args: []any{account.UUID, prismID.UUID}}
		locked, err := sqldb.ReadParts(ctx, run, lock, ids, (*sqldb.Row).UUID)
		if err != nil {
			return err
		}
		there := map[prism.UUID]bool{}
		for _, id := range locked {
			there[id] = true
		}
		gone = nil
		for _, id := range ids {
			if !there[id] {
				gone = append(gone, prism.ResultID{UUID: id})
			}
		}
		var put []OfPrism
		for _, l := range lastLabels(labels) {
			switch {
			case !there[l.Result.UUID]:
			case l.Value != "":
				put = append(put, OfPrism{prismID, l})
			default:
				args := []any{account.UUID, prismID.UUID, l.Result.UUID, l.Question}
				if err := run(ctx, sqldb.Statement{Text: removeLabel, Args: args}, sqldb.NoRow); err != nil {
					return err
				}
			}
		}
		return Insert(ctx, run, account, put)
	})
	return gone, err
}

// lastLabels keeps the last label of each question of a result. They are sorted, so that concurrent transactions write in one
// order.
func lastLabels(labels []Label) []Label {
	sorted := slices.Clone(labels)
	slices.SortStableFunc(sorted, compareLabels)
	var last []Label
	for i, l := range sorted {
		if i+1 == len(sorted) || compareLabels(l, sorted[i+1]) != 0 {
			last = append(last, l)
		}
	}
	return last
}

func compareLabels(a, b Label) int {
	if by := sqldb.CompareIDs(a.Result.UUID, b.Result.UUID); by != 0 {
		return by
	}
	return strings.Compare(a.Question, b.Question)
}

// LabelsOf implements Store.
func (s SQL) LabelsOf(ctx context.Context, account prism.AccountID, prismID prism.PrismID, ids []prism.ResultID) (labels []Label, err error) {
	args := []any{account.UUID, prismID.UUID}
	if len(ids) == 1 {
		err = s.Run(ctx, sqldb.Query("labels_of", labelsOfResult, append(args, ids[0].UUID)...), sqldb.ReadRows(&labels, readLabel))
		return labels, err
	}
	return sqldb.ReadParts(ctx, s.Run, sqldb.Query("labels_of_many", labelsOfResults, args...), sqldb.UUIDs(ids), readLabel)
}

func readLabel(r *sqldb.Row) Label {
	return Label{
		Result: prism.ResultID{UUID: r.UUID()}, Version: r.Int32(), Question: r.Text(), Value: r.Text(),
		Sample: prism.LabelSample(r.Text()), Annotator: r.Text(), Origin: store.LabelOrigin(r.Text()),
		Key: prism.KeyID{UUID: r.UUID()}, At: r.Time(),
	}
}

// ListLabels implements Store. The labels of a result are never split between pages.
func (s SQL) ListLabels(
	ctx context.Context, account prism.AccountID, f Filter, page store.Page,
) (labelled []Labelled, more bool, err error) {
	l := sqldb.NewList("list_labels")
	l.Add(listLabels, account.UUID)
	l.Add(" AND l.prism_id = ", f.Prism.UUID)
	if f.Version != 0 {
		l.Add(" AND l.version = ", f.Version)
	}
	if f.Question != "" {
		l.Add(" AND l.question = ", f.Question)
	}
	l.Add(" AND l.result_id < ", page.Before())
	l.Add(" ORDER BY l.result_id DESC, l.question DESC LIMIT ", int64(page.Limit)*maxQuestions+1)
	read := func(r *sqldb.Row) Labelled {
		label := readLabel(r)
		return Labelled{Result: label.Result, Version: label.Version, Labels: []Label{label}}
	}
	labelled, more, err = sqldb.ReadGroups(ctx, s.Database, l.Complete(), page.Limit, read, func(before *Labelled, next Labelled) bool {
		if before.Result != next.Result {
			return false
		}
		before.Labels = append(before.Labels, next.Labels...)
		return true
	})
	if err != nil {
		return nil, false, err
	}
	for _, r := range labelled {
		slices.Reverse(r.Labels)
	}
	return labelled, more, s.addRefs(ctx, account, f.Prism, labelled)
}

// addRefs adds the refs of results.
func (s SQL) addRefs(ctx context.Context, account prism.AccountID, prismID prism.PrismID, labelled []Labelled) error {
	var ids []prism.UUID
	for _, r := range labelled {
		ids = append(ids, r.Result.UUID)
	}
	refs := map[prism.UUID]*string{}
	err := sqldb.EachPart(ids, func(part []any) error {
		args := append([]any{account.UUID, prismID.UUID}, part...)
		return s.Run(ctx, sqldb.Query("refs_of", refsOf, args...), func(rows iter.Seq[*sqldb.Row]) error {
			for r := range rows {
				id := r.UUID()
				refs[id] = r.OptionalText()
			}
			return nil
		})
	})
	for i, r := range labelled {
		labelled[i].Ref = refs[r.Result.UUID]
	}
	return err
}
