package runs

import (
	"slices"
	"sync"
	"time"
)

const (
	// slowStart is how many rows of a model are at once at first.
	slowStart = 8
	// slowdownWindow is the time in which the number is halved once at most.
	slowdownWindow = 250 * time.Millisecond
	// keptModels bounds the models whose number is remembered while no row is at them.
	keptModels = 64
	// callsCome is how long calls are expected after an answer that told of them (spec: run-yields).
	callsCome = 500 * time.Millisecond
	// maxSpacing bounds the time between the begins of two rows while calls come.
	maxSpacing = 100 * time.Millisecond
	// lateness is how far a pace catches up after a timer that was late.
	lateness = 10 * time.Millisecond
	// averaged is how many rows an average goes back, roughly.
	averaged = 16
)

// pace hands out places for rows at models. The number of places of a model is found by additive increase and multiplicative
// decrease (spec: run-slows-down):
//
//	slow start: +1 for each answer ─── overloaded: half ──▶ steady: +1 for each round of answers ─┐
//	                                                          ▲ └──── overloaded: half ────┐      │
//	                                                          └────────────────────────────┴──────┘
//
// While calls come, rows begin so far apart that Prism works on one at a time (spec: run-yields).
//
// It is safe for concurrent use.
type pace struct {
	maxPlaces int // places of all models
	slowed    func()

	mu      sync.Mutex
	running int
	models  map[string]*places
	queue   []*ticket // in the order in which they are served

	calledAt   time.Time     // when an answer told that calls come, the last time
	answerCost time.Duration // what Prism takes for a row but its save, without the model
	saveCost   time.Duration // what it takes to save a row
	nextAt     time.Time     // no row begins before, while calls come
	wake       *time.Timer   // at nextAt, if a ticket waits for it
}

// places are those of a model.
type places struct {
	limit    float64
	running  int
	wantedAt time.Time // when more rows than limit wanted a place, the last time
	steady   bool
	slowedAt time.Time // the last time
}

// ticket waits for a place. Granted is closed when it has one.
type ticket struct {
	model   string
	places  *places
	granted chan struct{}
}

func newPace(most int, slowed func()) *pace {
	p := &pace{maxPlaces: most, slowed: slowed, models: map[string]*places{}}
	p.wake = time.AfterFunc(time.Hour, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.grant()
	})
	p.wake.Stop()
	return p
}

// ask asks for a place at a model, which ended gives back.
func (p *pace) ask(model string) *ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &ticket{model, p.modelPlaces(model), make(chan struct{})}
	p.queue = append(p.queue, t)
	p.grant()
	return t
}

// withdraw gives up a ticket, whether it was granted or not.
func (p *pace) withdraw(t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, t); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
		return
	}
	p.give(t.places)
}

// noteAnswer notes what Prism took to answer a row, without the model, and whether calls come.
func (p *pace) noteAnswer(took time.Duration, calls bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answerCost += (took - p.answerCost) / averaged
	if calls {
		p.calledAt = time.Now()
	}
}

// noteSave notes what a save of so many rows took. They share it.
func (p *pace) noteSave(took time.Duration, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range min(rows, averaged) {
		p.saveCost += (took/time.Duration(rows) - p.saveCost) / averaged
	}
}

// modelSignal is what the end of a row says about its model.
type modelSignal uint8

const (
	answered   modelSignal = iota
	overloaded             // the model had too much to do
	notAsked               // the end says nothing about the model
)

// ended gives the place of a row back that began at a time.
func (p *pace) ended(t *ticket, began time.Time, how modelSignal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, now := t.places, time.Now()
	switch {
	case how == answered && !m.wantedAt.Before(began): // more places would have been used
		if m.steady {
			m.limit += 1 / m.limit
		} else {
			m.limit++
		}
		m.limit = min(m.limit, float64(p.maxPlaces))
	case how == overloaded && (!m.steady || began.After(m.slowedAt) && now.Sub(m.slowedAt) >= slowdownWindow):
		m.limit = max(1, min(m.limit, float64(m.running))/2)
		m.steady, m.slowedAt = true, now
		p.slowed()
	}
	p.give(m)
}

// limit is how many rows may be at once at the models that were used last, together.
func (p *pace) limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := 0
	for _, m := range p.models {
		sum += int(m.limit)
	}
	return min(max(sum, slowStart), p.maxPlaces)
}

// fills tells whether that many waiting rows take every place of their model.
func (p *pace) fills(model string, rows int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rows >= int(p.modelPlaces(model).limit)
}

// full tells whether no model has room for a further row.
func (p *pace) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running >= p.maxPlaces
}

// rows is how many rows have a place.
func (p *pace) rows() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running
}

// modelPlaces are the places of a model. The mutex is held, as for all that follow.
func (p *pace) modelPlaces(model string) *places {
	if m := p.models[model]; m != nil {
		return m
	}
	if len(p.models) >= keptModels {
		for name, m := range p.models {
			if m.running == 0 && !slices.ContainsFunc(p.queue, func(t *ticket) bool { return t.places == m }) {
				delete(p.models, name)
			}
		}
	}
	m := &places{limit: min(slowStart, float64(p.maxPlaces))}
	p.models[model] = m
	return m
}

func (p *pace) give(m *places) {
	m.running--
	p.running--
	p.grant()
}

// grant grants places to the first tickets that can have one. A ticket of a model without places holds up no other.
func (p *pace) grant() {
	for i := 0; i < len(p.queue) && p.running < p.maxPlaces; {
		t := p.queue[i]
		if t.places.running >= int(t.places.limit) {
			t.places.wantedAt = time.Now()
			i++
			continue
		}
		if !p.spaced() {
			return
		}
		t.places.running++
		p.running++
		close(t.granted)
		p.queue = slices.Delete(p.queue, i, i+1)
	}
}

// spaced tells whether a row may begin now as far as calls are concerned. Then it begins. By Little's law, rows that take as long as
// the time between their begins are one at a time, on average.
func (p *pace) spaced() bool {
	now := time.Now()
	if now.Sub(p.calledAt) >= callsCome {
		return true
	}
	if now.Before(p.nextAt) {
		p.wake.Reset(p.nextAt.Sub(now))
		return false
	}
	p.nextAt = later(p.nextAt, now.Add(-lateness)).Add(min(p.answerCost+p.saveCost, maxSpacing))
	return true
}

// earliest is the first of the times that are not zero.
func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if first.IsZero() || !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
