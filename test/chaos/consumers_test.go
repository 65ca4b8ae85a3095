package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// mirror is a program beside Prism that keeps a table of results by what changes tell, and dies again and again. What it stores, it stores
// in one transaction: the table, and the number of the last change.
type mirror struct {
	client *client.Client
	random *rand.Rand
	deaths int

	after int64
	table map[string]client.LabelValue // the label of each result; "": none
	told  map[string]bool              // results whose creation was told
}

const (
	// firstOfMirror keeps the races of the model apart from those of the load.
	firstOfMirror = 1 << 24
	// mostMirrored bounds the results that are there, so that a long test compares no more than a short one.
	mostMirrored = 100
)

var errDied = errors.New("the consumer died")

// violation is what may not be told.
type violation struct{ text string }

func (v *violation) Error() string { return "VIOLATION: " + v.text }

func isViolation(err error) bool {
	var v *violation
	return errors.As(err, &v)
}

func newMirror(t *testing.T, w *world) *mirror {
	t.Helper()
	return &mirror{
		client: newClientOf(t, w, "http://"+w.Gateways[0].Listen), random: rand.New(rand.NewPCG(w.seed, 0)),
		table: map[string]client.LabelValue{}, told: map[string]bool{},
	}
}

// read stores what the next changes tell, unless it dies before.
func (m *mirror) read(ctx context.Context, wait time.Duration) (n int, err error) {
	page, err := m.client.ListChanges(ctx, client.ChangeFilter{After: m.after, Wait: wait}, 1+m.random.IntN(30))
	if err != nil {
		return 0, err
	}
	after, table, told := m.after, maps.Clone(m.table), maps.Clone(m.told)
	for _, change := range page.Data {
		if change.Seq != after+1 {
			return 0, &violation{fmt.Sprintf("behind change %d comes %d", after, change.Seq)}
		}
		after = change.Seq
		switch id := change.ResultID; change.Type {
		case client.ChangeCreated, client.ChangeLabelled:
			if change.Type == client.ChangeCreated && told[id] {
				return 0, &violation{fmt.Sprintf("the creation of %s was told twice", id)}
			}
			told[id] = true
			label, err := m.label(ctx, id)
			if errors.Is(err, client.ErrNotFound) {
				continue // its deletion will be told
			}
			if err != nil {
				return 0, err
			}
			table[id] = label
		case client.ChangeRetried: // of which the labels stay
		case client.ChangeDeleted:
			delete(table, id)
		}
		if m.deaths == 0 || m.random.IntN(20) == 0 {
			m.deaths++
			return 0, errDied
		}
	}
	m.after, m.table, m.told = after, table, told
	return len(page.Data), nil
}

func (m *mirror) label(ctx context.Context, id string) (client.LabelValue, error) {
	found, err := m.client.ReadLabels(ctx, id)
	return found.Labels["urgent"].Value, err
}

// truth is the table as it is.
func (m *mirror) truth(ctx context.Context) (map[string]client.LabelValue, error) {
	table := map[string]client.LabelValue{}
	for r, err := range m.client.Results(ctx, client.ResultFilter{}) {
		if err != nil {
			return nil, err
		}
		if table[r.ID], err = m.label(ctx, r.ID); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// change saves, retries, labels and deletes results until ctx ends. Under faults calls fail, and nobody knows what they did.
func (m *mirror) change(ctx context.Context, random *rand.Rand) {
	var there []string
	for n := firstOfMirror; ctx.Err() == nil; n++ {
		text := upstream.Tag{Race: n, FailPercent: 20}.String()
		r, err := m.client.CreateResult(ctx, load.Slugs[0], client.NewResult{
			Fields: map[string]string{"message": text}, IdempotencyKey: client.NewIdempotencyKey(),
		})
		var failed *client.FailedError
		switch {
		case errors.As(err, &failed):
			_, _ = m.client.RetryResult(ctx, failed.Result.ID)
			continue
		case err != nil:
			continue
		}
		there = append(there, r.ID)
		i := random.IntN(len(there))
		value := []client.LabelValue{"true", "false", ""}[random.IntN(3)]
		_, _ = m.client.PutLabels(ctx, there[i], client.NewLabels{Labels: map[string]client.LabelValue{"urgent": value}})
		if len(there) > mostMirrored || random.IntN(3) == 0 {
			_ = m.client.DeleteResult(ctx, there[i])
			there = append(there[:i], there[i+1:]...)
		}
	}
}

// during keeps the table while fail is called, and then until it is what is stored.
func (m *mirror) during(t *testing.T, fail func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	others := rand.New(rand.NewPCG(m.random.Uint64(), 0))
	all.Go(func() { m.change(ctx, others) })
	var wrong error
	all.Go(func() {
		for ctx.Err() == nil && wrong == nil {
			if _, err := m.read(ctx, time.Second); err != nil && isViolation(err) {
				wrong = err
			}
		}
	})
	fail()
	stop()
	all.Wait()
	if wrong != nil {
		t.Error(wrong)
		return
	}
	until(t, "the consumer's table is what is stored", func() bool {
		for n, err := m.read(t.Context(), 0); n > 0 || err != nil; n, err = m.read(t.Context(), 0) {
			if err != nil && isViolation(err) {
				t.Fatal(err)
			}
			if err != nil && !errors.Is(err, errDied) {
				return false
			}
		}
		stored, err := m.truth(t.Context())
		return err == nil && maps.Equal(stored, m.table)
	})
	t.Logf("%d changes, %d results, and %d deaths of their consumer", m.after, len(m.told), m.deaths)
	if m.deaths == 0 || len(m.table) == 0 {
		t.Error("the consumer did not die, or has no results, so nothing is shown")
	}
}
