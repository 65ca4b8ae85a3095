// Package upstream is a decision model (package model) that counts. The call itself tells the model what to do: the field
// holds a Tag, with the race that the call belongs to and how often to fail.
//
// No two answers are equal: the probability of each answer is the number of the answer. So a stored answer is known to be
// of one call and of one race, and an answer that was saved twice, or under another call's id, is found.
package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// Tag is the text of a field.
type Tag struct {
	Race int
	// FailPercent is the share of calls that get no usable answer.
	FailPercent int
	// SlowPercent is the share of calls that take up to MaxPause.
	SlowPercent int
	// FlakyPercent is the share of calls that get a status which model-proxy tries again.
	FlakyPercent int
}

const tagLayout = "race %d fail %d slow %d flaky %d"

func (t Tag) String() string {
	return fmt.Sprintf(tagLayout, t.Race, t.FailPercent, t.SlowPercent, t.FlakyPercent)
}

// Config of a model.
type Config struct {
	Seed uint64
	// Pause is the duration of every call, and MaxPause the longest further pause of a slow call.
	Pause, MaxPause time.Duration
}

// Count is the number of model calls of one race.
type Count struct {
	Asked    int // calls that arrived
	Answered int // usable answers that were sent
	Failed   int // unusable answers and refusals that were sent
}

// Model is the server.
type Model struct {
	*model.Model
	config Config
	healed atomic.Bool

	mu     sync.Mutex
	mended map[int]bool // by race
	rand   *rand.Rand
	counts map[int]Count // by race
	races  []int         // by the number of the answer
	now    int           // calls in progress
	atOnce int           // the most calls in progress at one time
}

// New starts a model. Close ends it.
func New(c Config) *Model {
	m := prepared(c)
	m.Model = model.New(m.step)
	return m
}

// Tally is the response of GET /tally.
type Tally struct {
	Asked int   `json:"asked"` // calls that arrived
	Races []int `json:"races"` // the race of each answer, by the number of the answer
}

// Handler is a model for a server in another process than the test. It responds to POST /systemone, GET /tally and
// GET /healthz.
func Handler(c Config) http.Handler {
	m := prepared(c)
	m.Model = model.Handler(m.step)
	mux := http.NewServeMux()
	mux.Handle("POST /systemone", m)
	mux.HandleFunc("GET /tally", func(w http.ResponseWriter, _ *http.Request) {
		asked := m.Total().Asked
		m.mu.Lock()
		defer m.mu.Unlock()
		_ = json.NewEncoder(w).Encode(Tally{Asked: asked, Races: m.races})
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

func prepared(c Config) *Model {
	return &Model{config: c, counts: map[int]Count{}, mended: map[int]bool{}, rand: rand.New(rand.NewPCG(c.Seed, 0))}
}

// Heal makes every call from now on succeed at once.
func (m *Model) Heal() { m.healed.Store(true) }

// Mend is Heal for the calls of one race.
func (m *Model) Mend(race int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mended[race] = true
}

// Count is the number of a race's model calls so far.
func (m *Model) Count(race int) Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[race]
}

// Total is the number of all races' model calls.
func (m *Model) Total() (total Count) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.counts {
		total.Asked += c.Asked
		total.Answered += c.Answered
		total.Failed += c.Failed
	}
	return total
}

// MostAtOnce is the most calls that were in progress at one time.
func (m *Model) MostAtOnce() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.atOnce
}

// maxAnswers bounds the numbers of answers. A number is a probability between 0.5 and 1 that a float64 and its decimal
// form keep exactly.
const maxAnswers = 1 << 23

// Number is the number of the answer with this probability.
func Number(probability float64) (int, error) {
	n := (probability - 0.5) * 2 * maxAnswers
	if n < 0 || n >= maxAnswers || n != float64(int(n)) {
		return 0, fmt.Errorf("upstream: %v is in no answer", probability)
	}
	return int(n), nil
}

// Race is the race that got an answer.
func (m *Model) Race(number int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if number < 0 || number >= len(m.races) {
		return 0, fmt.Errorf("upstream: there is no answer %d", number)
	}
	return m.races[number], nil
}

// step plays what the tag says and counts the call while it is in progress.
func (m *Model) step(r model.Request) model.Step {
	var tag Tag
	if _, err := fmt.Sscanf(r.Field("message"), tagLayout, &tag.Race, &tag.FailPercent, &tag.SlowPercent, &tag.FlakyPercent); err != nil {
		return model.Status(http.StatusUnprocessableEntity)
	}
	pause, then := m.plan(tag)
	return func(ctx context.Context, w http.ResponseWriter, r model.Request) {
		m.progress(1)
		defer m.progress(-1)
		model.After(pause, then)(ctx, w, r)
	}
}

func (m *Model) progress(calls int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += calls
	m.atOnce = max(m.atOnce, m.now)
}

func (m *Model) plan(tag Tag) (pause time.Duration, then model.Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := m.counts[tag.Race]
	count.Asked++
	defer func() { m.counts[tag.Race] = count }()
	pause = m.config.Pause
	if !m.healed.Load() && !m.mended[tag.Race] {
		if m.chance(tag.SlowPercent) {
			pause += rand.N(m.config.MaxPause)
		}
		switch {
		case m.chance(tag.FlakyPercent):
			statuses := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway}
			return pause, model.Status(statuses[m.rand.IntN(len(statuses))])
		case m.chance(tag.FailPercent):
			count.Failed++
			if m.chance(50) {
				return pause, model.Body(`{"object":"structured_decision","answers":{}}`)
			}
			return pause, model.Status(http.StatusBadRequest)
		}
	}
	count.Answered++
	answer := 0.5 + float64(len(m.races))/(2*maxAnswers)
	m.races = append(m.races, tag.Race)
	return pause, model.Answer(model.Answers{"urgent": model.Yes(answer)})
}

func (m *Model) chance(percent int) bool { return m.rand.IntN(100) < percent }
