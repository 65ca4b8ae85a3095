// Package wide makes prisms whose measures cost most: with 10,000 results of 24 questions of 26 options, and a label for each answer.
package wide

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
)

// The size of a wide prism.
const (
	Slug      = "wide"
	Results   = 10_000
	Questions = 24
	Options   = 26
)

// Definition is the body of a call that makes the prism, whose only field is message.
func Definition() any {
	var options, questions []any
	for i := range Options {
		options = append(options, map[string]any{"key": fmt.Sprint("o", i), "label": fmt.Sprint("Option ", i)})
	}
	for i := range Questions {
		questions = append(questions, map[string]any{"key": fmt.Sprint("q", i), "type": "choice", "text": "Which?", "options": options})
	}
	return map[string]any{"slug": Slug, "fields": []any{map[string]any{"key": "message"}}, "questions": questions}
}

// answers are stored answers to all questions.
func answers(random *rand.Rand) string {
	var all prism.Answers
	for i := range Questions {
		a := prism.Answer{Question: fmt.Sprint("q", i), Type: prism.Choice}
		sum, best := 0., 0.
		for o := range Options {
			p := random.ExpFloat64()
			sum += p
			a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: fmt.Sprint("o", o), Probability: p})
			if p > best {
				best, a.Chosen = p, fmt.Sprint("o", o)
			}
		}
		for o := range a.Probabilities {
			a.Probabilities[o].Probability /= sum
		}
		all = append(all, a)
	}
	return string(answerjson.Append(nil, all))
}

// patterns is how many different answers the results have.
const patterns = 16

const (
	insertResults = `INSERT INTO results (account_id, id, prism_id, version, context, fields, status, took_ms, created_at, answers)
SELECT p.account_id, (lpad(to_hex(floor(extract(epoch FROM now()) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
	p.id, 1, '', json_build_array(json_build_object('Key', 'message', 'Value', 'text ' || n)), 'ok', 1, now(),
	($1::text[])[1 + n % array_length($1::text[], 1)]::json
FROM prisms p CROSS JOIN generate_series(1, $2::integer) AS n WHERE p.slug = $3`

	insertLabels = `INSERT INTO labels (account_id, prism_id, result_id, question, version, value, sample, annotator, origin, key_id, labelled_at, hash)
SELECT r.account_id, r.prism_id, r.id, 'q' || q, 1, 'o' || (get_byte(uuid_send(r.id), 15) + q) % $1::integer, 'random', '', 'call',
	r.account_id, now(), q
FROM results r CROSS JOIN generate_series(0, $2::integer - 1) AS q WHERE r.prism_id IN (SELECT id FROM prisms WHERE slug = $3)`

	// An account is made after the ones before it, and its id begins with the time.
	oneOfEach = `SELECT min(r.id::text) FROM results r JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE p.slug = $1 GROUP BY r.account_id ORDER BY r.account_id`
)

// Fill gives the wide prisms of all accounts of a Postgres so many results, and returns the id of a result of each account, in the order in which the
// accounts were made.
func Fill(ctx context.Context, url string, n int) (results []string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	var different []string
	for range patterns {
		different = append(different, answers(random))
	}
	for _, statement := range []struct {
		text string
		args []any
	}{
		{insertResults, []any{different, n, Slug}}, {insertLabels, []any{Options, Questions, Slug}}, {"VACUUM ANALYZE", nil},
	} {
		if _, err := conn.Exec(ctx, statement.text, statement.args...); err != nil {
			return nil, err
		}
	}
	rows, err := conn.Query(ctx, oneOfEach, Slug)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
