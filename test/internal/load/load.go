package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Config of a load.
type Config struct {
	Seed     uint64
	Gateways []string  // host:port
	Keys     [2]string // API keys of two accounts
	// KeyFiles have the keys instead of Keys, and are read for each call, as an application reads a mounted Secret.
	KeyFiles [2]string
	// First is the number of the first race, for loads of one account or one model after the other. It is even.
	First int
	// Clients is the number of concurrent clients. A third as many races are open, so about three clients meet in a race.
	Clients int
	// Limit bounds the calls of a race, so that its history is small enough to be searched. 20 by default.
	Limit int
	// Tag is how the model behaves; the race is filled in.
	Tag upstream.Tag
	// LeavePercent is the share of calls whose client disconnects before the response.
	LeavePercent int
	// Pause is between two calls of a client.
	Pause time.Duration
	// Turnover makes each nth request the last of its connection, so that new replicas get connections. 0 makes none.
	Turnover int64
}

// Load is clients and what they have seen.
type Load struct {
	config Config
	client *Client
	start  time.Time

	mu       sync.Mutex
	seen     Seen
	races    []*Race
	open     []*Race
	bodies   map[served][]byte
	owner    map[string]int // race by result
	results  map[string]Result
	problems []error
}

// served names a body: the same result in the same format is always the same bytes.
type served struct{ id, format string }

// New prepares a load.
func New(c Config) *Load {
	if c.Limit == 0 {
		c.Limit = 20
	}
	return &Load{
		config: c, client: NewClient(c.Clients*2, c.Turnover), start: time.Now(), seen: Seen{Causes: map[string]int{}},
		bodies: map[served][]byte{}, owner: map[string]int{}, results: map[string]Result{},
	}
}

// Close drops the connections.
func (l *Load) Close() { l.client.Close() }

// Now is the time since the start, as calls have it.
func (l *Load) Now() time.Duration { return time.Since(l.start) }

// Run makes calls until ctx ends, and returns when every call has its response.
func (l *Load) Run(ctx context.Context) {
	l.mu.Lock()
	rnd := rand.New(rand.NewPCG(l.config.Seed, 1))
	for range max(l.config.Clients/3, 2) {
		l.open = append(l.open, l.newRace(rnd))
	}
	l.mu.Unlock()
	var clients sync.WaitGroup
	for i := range l.config.Clients {
		clients.Go(func() {
			rnd := rand.New(rand.NewPCG(l.config.Seed, uint64(i)+2))
			pace := time.NewTicker(max(l.config.Pause, time.Microsecond))
			defer pace.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-pace.C:
				}
				if !l.nextCall(context.WithoutCancel(ctx), i, rnd) {
					Wait(ctx, unavailablePause(rnd))
				}
			}
		})
	}
	clients.Wait()
}

// newRace is called with the lock.
func (l *Load) newRace(rnd *rand.Rand) *Race {
	n := l.config.First + len(l.races)
	r := &Race{Number: n, Account: n % 2, limit: l.config.Limit, tag: l.config.Tag}
	r.tag.Race = n
	if r.tag.FailPercent > 0 {
		// Some chains are short and some are long.
		r.tag.FailPercent = min(95, rnd.IntN(2*r.tag.FailPercent))
	}
	if n/2%3 != 2 {
		r.Key = fmt.Sprintf("key-%d", n/2)
	}
	l.races = append(l.races, r)
	return r
}

// key is the key of an account at this moment. One that can't be read is refused, which is a problem of the call.
func (l *Load) key(account int) string {
	file := l.config.KeyFiles[account]
	if file == "" {
		return l.config.Keys[account]
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(key))
}

// unavailablePause is the pause of a client after a 503, 60 ms on average (spec: error-service-unavailable).
func unavailablePause(rnd *rand.Rand) time.Duration {
	return time.Duration(rnd.Int64N(int64(120 * time.Millisecond)))
}

// nextCall makes one call and tells whether a service accepted the call.
func (l *Load) nextCall(ctx context.Context, number int, rnd *rand.Rand) (taken bool) {
	race := l.pick(rnd)
	if rnd.IntN(100) < 3 {
		l.trespass(ctx, race, rnd)
		return true
	}
	if in, ok := race.next(rnd); ok {
		in.format = []string{"", "json", "raw", "raw"}[rnd.IntN(4)]
		if rnd.IntN(100) < l.config.LeavePercent {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, rand.N(60*time.Millisecond))
			defer cancel()
		}
		return l.call(ctx, race, number, l.gateway(rnd), in).Meaning != history.Nothing
	}
	return true
}

func (l *Load) gateway(rnd *rand.Rand) string {
	return l.config.Gateways[rnd.IntN(len(l.config.Gateways))]
}

// pick returns an open race. A race that has ended is replaced by a new one.
func (l *Load) pick(rnd *rand.Rand) *Race {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := rnd.IntN(len(l.open))
	if l.open[i].spent() {
		l.open[i] = l.newRace(rnd)
	}
	return l.open[i]
}

// call makes a call and records the response.
func (l *Load) call(ctx context.Context, race *Race, number int, gateway string, in intent) history.Response {
	req := l.request(race, gateway, in)
	req.Format = in.format
	c := history.Call{
		Client: number, Kind: in.kind, Prism: in.prism, Ref: in.ref, Keyed: race.Key != "", Target: in.target,
		Began: time.Since(l.start),
	}
	got := l.client.Do(ctx, req)
	c.Ended = time.Since(l.start)
	answer, result, err := got.read(in.kind)
	c.Response = answer
	l.count(answer, c.Ended-c.Began, got.Err)
	switch {
	case err != nil:
		l.problem(fmt.Errorf("%s: %s: %w", race.name(), &c, err))
	case got.Err != nil && ctx.Err() == nil && c.Ended-c.Began >= callBudget:
		l.problem(fmt.Errorf("%s: %s: no response after %s", race.name(), &c, c.Ended-c.Began))
	case result != nil:
		l.serve(race, *result, in.format, got.Body)
	}
	race.note(c)
	return answer
}

func (l *Load) request(race *Race, gateway string, in intent) Request {
	base := "http://" + gateway + "/v1"
	req := Request{Method: "POST", Key: l.key(race.Account)}
	switch in.kind {
	case history.Create:
		body := map[string]any{"fields": map[string]string{"message": race.tag.String()}, "ref": in.ref}
		if race.Key != "" {
			body["idempotency_key"] = race.Key
		}
		req.URL, req.Body = base+"/prisms/"+in.prism+"/results", body
	case history.Retry:
		req.URL = base + "/results/" + in.target + "/retry"
	case history.Read:
		req.Method, req.URL = "GET", base+"/results/"+in.target
	}
	return req
}

// trespass reads a result with the other account's key.
func (l *Load) trespass(ctx context.Context, race *Race, rnd *rand.Rand) {
	id, ok := race.any()
	if !ok {
		return
	}
	req := l.request(race, l.gateway(rnd), intent{kind: history.Read, target: id})
	req.Key = l.key(1 - race.Account)
	got := l.client.Do(ctx, req)
	answer, _, err := got.read(history.Read)
	l.count(answer, 0, got.Err)
	switch {
	case err != nil:
		l.problem(err)
	case answer.Meaning == history.Result:
		l.problem(fmt.Errorf("%s: result %s was shown to another account", race.name(), id))
	}
}

// serve checks at once that the bytes of a result never change, and that no result is in two races.
func (l *Load) serve(race *Race, r Result, format string, body []byte) {
	if format == "" {
		format = "json"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := served{r.ID, format}
	if first, ok := l.bodies[name]; !ok {
		l.bodies[name] = body
	} else if string(first) != string(body) {
		l.problems = append(l.problems, fmt.Errorf("result %s in format %s changed:\n%s\n%s", r.ID, format, first, body))
	}
	if owner, ok := l.owner[r.ID]; ok && owner != race.Number {
		l.problems = append(l.problems, fmt.Errorf("result %s is in races %d and %d", r.ID, owner, race.Number))
	}
	l.owner[r.ID] = race.Number
	if _, ok := l.results[r.ID]; !ok || format == "raw" {
		l.results[r.ID] = r
	}
}

func (l *Load) problem(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, err)
}
