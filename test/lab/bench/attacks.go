package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/test/internal/attack"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/wide"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
	"github.com/prism-results/prism/test/lab/internal/chart"
)

const (
	// readsPerSecond of the quiet account, and the connections that it keeps.
	readsPerSecond, readers = 200, 16
	// slowdown is the most that an attack may multiply the p99 of the reads by.
	slowdown = 3
	// hang is in the message of a create that the model answers only when the attack has ended.
	hang = "hang until the attack ends"
)

// Attacked is the reads of a quiet account before and during an attack of another account, by round.
type Attacked struct {
	Attack   string      `json:"attack"`
	Quiet    []float64   `json:"quiet_p99_ms"`
	During   []float64   `json:"p99_ms"`
	Reads    int         `json:"reads"` // during the attack
	Lost     int         `json:"lost"`  // of them
	Statuses map[int]int `json:"statuses"`
}

// attacks measures the reads of one account while another one attacks three processes with the limits that they are shipped
// with.
func (b *bench) attacks(ctx context.Context) error {
	data, err := b.data(ctx)
	if err != nil {
		return err
	}
	env := b.stores.Env
	defer func() { b.stores.Env = env }()
	b.stores.Env = append(env[:len(env):len(env)], "PRISM_MAX_IN_FLIGHT=0")

	var attacked atomic.Pointer[context.Context] // ends with the attack
	m := model.New(func(r model.Request) model.Step {
		if during := attacked.Load(); during != nil && strings.Contains(string(r.Raw), hang) {
			return model.Hold((*during).Done(), model.Likely())
		}
		return model.Likely()
	})
	defer m.Close()
	s, err := data.Three(ctx, b.bin, m.BaseURL())
	if err != nil {
		return err
	}
	defer s.Close()
	quiet, err := s.Neighbour(ctx, b.bin, system.Small)
	if err != nil {
		return err
	}
	for range min(b.Attackers, 999) {
		if _, err := s.Call(ctx, http.MethodPost, "/v1/keys", `{"name":"one of many"}`, http.StatusCreated); err != nil {
			return err
		}
	}
	heavy, err := b.heavy(ctx, s)
	if err != nil {
		return err
	}
	measured := map[string]*Attacked{}
	for round := range b.Rounds {
		account := attack.Account{
			Addr: s.Addr, Key: s.Key, Slug: system.Small.Slug, Hang: `{"fields":{"message":"` + hang + `"}`, Once: rand.Text(),
		}
		for _, k := range append(attack.Kinds(account, b.Attackers), heavy...) {
			if measured[k.Name] == nil {
				measured[k.Name] = &Attacked{Attack: k.Name}
				b.report.Attacks = append(b.report.Attacks, measured[k.Name])
			}
			a := measured[k.Name]
			during, end := context.WithCancel(ctx)
			attacked.Store(&during)
			err := b.attackOnce(ctx, quiet, k, a)
			end()
			if err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			load.Wait(ctx, 2*b.Length) // the calls that hung are saved, and dry runs end
			fmt.Fprintf(b.out, "  round %d, %s: p99 of reads %s ms, before %s ms, %d of %d lost; %v\n",
				round+1, k.Name, number(a.During[round]), number(a.Quiet[round]), a.Lost, a.Reads, a.Statuses)
		}
	}
	return nil
}

// heavy are the attacks of few callers whose calls cost much.
func (b *bench) heavy(ctx context.Context, s *system.System) ([]attack.Kind, error) {
	definition, err := json.Marshal(wide.Definition())
	if err != nil {
		return nil, err
	}
	if _, err := s.Call(ctx, http.MethodPost, "/v1/prisms", string(definition), http.StatusCreated); err != nil {
		return nil, err
	}
	results, err := wide.Fill(ctx, s.URL, b.Labels)
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{URL: "http://" + s.Addr, Key: s.Key})
	if err != nil {
		return nil, err
	}
	row := strings.Repeat("Each of these words is counted because nobody knows how many tokens it has. ", 1200) // 86 KB
	content := strings.NewReader("message\n" + strings.Repeat(row+"\n", b.Labels/20))
	upload := client.Upload{Name: "large.csv", Format: client.FileCSV, Content: content, Bytes: content.Size()}
	file, err := c.UploadFile(ctx, upload)
	if err != nil {
		return nil, err
	}
	for range min(100, b.Labels) {
		if _, err := c.CreateResult(ctx, system.Small.Slug, client.NewResult{Text: row}); err != nil {
			return nil, err
		}
	}
	queue := "/v1/prisms/" + system.Small.Slug + "/label-queue?limit=100&question=reason"
	return []attack.Kind{
		attack.Measures(s.Addr, min(b.Attackers, 64), b.Labels, attack.Measurer{Key: s.Key, Result: results[0]}),
		attack.DryRuns(s.Addr, min(b.Attackers, 32), s.Key, file.ID),
		attack.Pages(s.Addr, min(b.Attackers, 64), s.Key, queue, "/v1/results?format=raw&limit=100&prism="+wide.Slug),
	}, nil
}

func (b *bench) attackOnce(ctx context.Context, quiet *system.System, k attack.Kind, into *Attacked) error {
	w := reads(quiet, quiet.IDs[0])
	before, err := load.Steady(ctx, w, readers, readsPerSecond, b.Length)
	if err != nil {
		return err
	}
	k.Ramp = min(k.Ramp, b.Length)
	a := attack.Start(ctx, k.Attack)
	defer a.Stop()
	load.Wait(ctx, k.Ramp+min(b.Length, time.Second)) // until the connections are open and their calls wait
	during, err := load.Steady(ctx, w, readers, readsPerSecond, b.Length)
	if err != nil {
		return err
	}
	into.Statuses = a.Statuses()
	into.Reads += len(during.Took) + during.Refused
	into.Lost += during.Refused
	into.Quiet = append(into.Quiet, milliseconds(before.Percentile(99)))
	into.During = append(into.During, milliseconds(during.Percentile(99)))
	return nil
}

// attacksTable has the p99 of the quiet account's reads for each attack.
func (r *report) attacksTable() string {
	t := table{head: []string{
		fmt.Sprintf("%s connections of one account", chart.Thousands(float64(r.Settings.Attackers))), "p99 before, ms", "p99 during, ms",
		"ratio", "rounds", "lost reads", "",
	}}
	for _, a := range r.Attacks {
		f := beside("attacks", a.Attack, "ms", a.During, a.Quiet, 0)
		verdict := "reached"
		if f.Ratio > slowdown || a.Lost > 0 {
			verdict = "**missed**"
		}
		t.add(a.Attack, number(f.Yardstick), number(f.Value), fmt.Sprintf("%.2f", f.Ratio), f.span(),
			fmt.Sprintf("%d of %s", a.Lost, chart.Thousands(float64(a.Reads))), verdict)
	}
	return t.String()
}
