package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Revocations is what revoking keys has shown.
type Revocations struct {
	Keys     int `json:"keys"`
	Replicas int `json:"replicas"`
	// Before is how many calls a key was good for before it was revoked, on all replicas.
	Before int `json:"before"`
	// After is how many calls were sent after the revocation was answered; Refused of them with 401.
	After   int `json:"after"`
	Refused int `json:"refused"`
	// Problems are answers that the contract does not have.
	Problems []string `json:"problems,omitempty"`
}

// Right fails unless every replica took every key before it was revoked, and refused it afterwards.
func (r *Revocations) Right() error {
	var problems []error
	for _, p := range r.Problems {
		problems = append(problems, errors.New(p))
	}
	if r.Keys == 0 || r.Replicas == 0 || r.Before < r.Keys*r.Replicas || r.After < r.Keys*r.Replicas || r.Refused != r.After {
		problems = append(problems, fmt.Errorf("of %d calls with a revoked key %d were refused", r.After, r.Refused))
	}
	return errors.Join(problems...)
}

// callsAfter is how many calls each caller makes with a key that was revoked.
const callsAfter = 5

// Revoke makes and revokes keys, one after the other, while all replicas (host:port) are called all the time. key creates the
// other keys; each replica in turn gets a revoke call.
func Revoke(ctx context.Context, replicas []string, key string, keys int) (*Revocations, error) {
	if len(replicas) == 0 {
		return nil, errors.New("load: there is no replica")
	}
	out := &Revocations{Keys: keys, Replicas: len(replicas)}
	c := NewClient(2, 0)
	defer c.Close()
	for n := range keys {
		if err := out.round(ctx, c, replicas, key, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Revocations) round(ctx context.Context, c *Client, replicas []string, owner string, n int) error {
	call := func(replica int, method, path, key string, body any) Reply {
		return c.Do(ctx, Request{Method: method, URL: "http://" + replicas[replica%len(replicas)] + "/v1/" + path, Key: key, Body: body})
	}
	made := call(n, http.MethodPost, "keys", owner, map[string]any{"name": "to be revoked"})
	var key struct{ ID, Key string }
	if made.Err != nil || made.Status != http.StatusCreated {
		return fmt.Errorf("load: making a key: %w", made.unknown())
	}
	if err := json.Unmarshal(made.Body, &key); err != nil {
		return fmt.Errorf("load: making a key: %w", err)
	}

	var revoked atomic.Bool
	var callers, warm sync.WaitGroup
	var mu sync.Mutex
	for i := range replicas {
		warm.Add(1)
		callers.Go(func() {
			warmed := sync.OnceFunc(warm.Done)
			defer warmed()
			for after := 0; after < callsAfter && ctx.Err() == nil; {
				wasRevoked := revoked.Load()
				a := call(i, http.MethodGet, "prisms?limit=1", key.Key, nil)
				// Keys that are not remembered are refused for their number too (spec: unknown-keys).
				if a.Status == http.StatusServiceUnavailable && Wait(ctx, time.Second) {
					continue
				}
				mu.Lock()
				switch {
				case wasRevoked:
					after++
					r.After++
					if isInvalidKey(a) {
						r.Refused++
					} else {
						r.problem("replica %d took key %d after it was revoked: %v", i, n, a.unknown())
					}
				case a.Status == http.StatusOK:
					r.Before++
				case !isInvalidKey(a): // which it may be already while the revocation is on its way back
					r.problem("replica %d answered key %d before it was revoked: %v", i, n, a.unknown())
				}
				mu.Unlock()
				warmed()
			}
		})
	}
	warm.Wait()
	a := call(n+1, http.MethodPost, "keys/"+key.ID+"/revoke", owner, nil)
	revoked.Store(true)
	callers.Wait()
	if a.Err != nil || a.Status != http.StatusOK {
		return fmt.Errorf("load: revoking a key: %w", a.unknown())
	}
	return nil
}

func isInvalidKey(a Reply) bool {
	_, message := a.Error()
	return a.Status == http.StatusUnauthorized && message == "Invalid API key"
}

func (r *Revocations) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}
