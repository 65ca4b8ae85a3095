// Package model is a decision model (pkg/testkit/model) that answers as the call's field says (package script), and counts
// its calls, so that a test finds a call too many.
package model

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/test/cluster/internal/script"
)

// Count is the response of GET /count.
type Count struct {
	Asked int `json:"asked"` // calls that arrived
}

// New returns a handler of POST /systemone, GET /count and GET /healthz.
func New() http.Handler {
	c := &counter{fails: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("POST /systemone", model.Handler(c.step))
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(Count{Asked: c.asked})
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

type counter struct {
	mu    sync.Mutex
	asked int
	fails map[string]int // calls that have failed, by name
}

func (c *counter) step(r model.Request) model.Step {
	s, err := script.Parse(r.Field("message"))
	if err != nil {
		return model.Status(http.StatusUnprocessableEntity)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.fails[s.Call] < s.Fails {
		c.fails[s.Call]++
		return model.Body(`{"object":"structured_decision","answers":{}}`)
	}
	a := s.Answer()
	team := model.Options{}
	for _, name := range script.Teams {
		team[name] = (1 - script.TeamProbability) / float64(len(script.Teams)-1)
	}
	team[a.Team] = script.TeamProbability
	return model.After(s.Pause, model.Answer(model.Answers{"team": team, "urgent": model.Yes(a.Urgent)}))
}
