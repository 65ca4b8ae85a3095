package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/prism-results/prism/test/bench/internal/load"
	"github.com/prism-results/prism/test/bench/internal/model"
	"github.com/prism-results/prism/test/bench/internal/system"
)

// compare measures all systems in interleaved rounds: each kind of call, each prism.
func (b *bench) compare(ctx context.Context) error {
	m, err := model.New(0, scripts()...)
	if err != nil {
		return err
	}
	defer m.Close()
	contenders, err := b.contenders(ctx, m, "peer", "one", "three", "chain", "sqlite")
	defer func() { closeAll(contenders) }()
	if err != nil {
		return err
	}
	if err := checkSameBytes(ctx, contenders, m); err != nil {
		return err
	}
	if b.report.Cells, err = b.interleave(ctx, contenders); err != nil {
		return err
	}
	b.judge()
	return b.profiles(ctx, contenders)
}

// judge adds the figures that have a target: ratios to the peer and to the bare chain.
func (b *bench) judge() {
	rates := func(p system.Prism, call, name string) []float64 {
		return b.report.Cells.at(p.Name, call, name).of(rate)
	}
	for _, t := range []struct {
		prism        system.Prism
		call         string
		system, than string
		least        float64
	}{
		{system.Small, readCall, system.OneProcess, system.NodePeer, 3},
		{system.Small, createCall, system.OneProcess, system.NodePeer, 1.8},
		{system.Small, readCall, system.ThreeProcesses, system.NodePeer, 1.8},
		{system.Small, createCall, system.ThreeProcesses, system.NodePeer, 1.1},
		{system.Small, readCall, system.ThreeProcesses, system.BareChain, 0.75},
		{system.Small, createCall, system.ThreeProcesses, system.BareChain, 0.75},
	} {
		x, y := rates(t.prism, t.call, t.system), rates(t.prism, t.call, t.than)
		if len(x) > 0 && len(y) > 0 {
			b.report.add(b.out, beside("compare", fmt.Sprintf("%s: %ss, of those of %s", t.system, t.call, t.than), "1/s", x, y, t.least))
		}
	}
	for _, name := range []string{system.OneProcess, system.ThreeProcesses} {
		x, y := rates(system.Small, keyedCall, name), rates(system.Small, createCall, name)
		if len(x) > 0 && len(y) > 0 {
			b.report.add(b.out, beside("compare", name+": creates with a key, of those without", "1/s", x, y, 0.8))
		}
	}
}

// checkSameBytes holds that Prism and the peer respond to the same calls with the same bytes, and ask the model with the
// same bytes. Ids and times of new results differ.
func checkSameBytes(ctx context.Context, contenders []contender, m *model.Model) error {
	varying := regexp.MustCompile(`"id":"[^"]*"|"took_ms":\d+|"created_at":"[^"]*"`)
	for n, p := range system.Prisms() {
		first := map[string][]byte{}
		same := func(s *system.System, what string, got []byte) error {
			want, found := first[what]
			if !found {
				first[what] = got
			} else if !bytes.Equal(got, want) {
				return fmt.Errorf("%s: %s of %s differs:\n%s\nfrom that of %s:\n%s", s.Name, what, p.Name, got, contenders[0].name, want)
			}
			return nil
		}
		for _, c := range contenders {
			s := c.systems[n]
			if s.Name == system.BareChain {
				continue
			}
			if s.Name != system.OnSQLite { // has results of its own
				body, err := s.Call(ctx, http.MethodGet, "/v1/results/"+s.IDs[n][0], "", http.StatusOK)
				if err = errors.Join(err, same(s, "a read", body)); err != nil {
					return err
				}
			}
			var body []byte
			request, err := m.Capture(func() (err error) {
				body, err = s.Call(ctx, http.MethodPost, p.CreatePath(), p.Body(""), http.StatusOK)
				return err
			})
			err = errors.Join(err, same(s, "the request to the model", request),
				same(s, "a create", varying.ReplaceAll(body, []byte("…"))))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// profiles writes profiles of each Prism process, beside calls that are not measured.
func (b *bench) profiles(ctx context.Context, contenders []contender) error {
	if b.Profile == "" {
		return nil
	}
	for _, c := range contenders {
		for n, p := range system.Prisms() {
			s := c.systems[n]
			if s.Name == system.NodePeer || s.Name == system.BareChain || !b.wants(b.Prisms, p.Slug) {
				continue
			}
			for _, call := range callNames {
				if !b.wants(b.Calls, call.flag) {
					continue
				}
				if err := b.profile(ctx, s, p.Slug+"-"+call.flag, work(s, call.name, n)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *bench) profile(ctx context.Context, s *system.System, name string, w load.Work) error {
	seconds := max(1, int(b.Length.Seconds()))
	var group sync.WaitGroup
	errs := make([]error, len(s.Processes)+1)
	for i, p := range s.Processes {
		group.Go(func() {
			file := filepath.Join(b.Profile, name+"-"+p.Name)
			if s.Name == system.OnSQLite {
				file += "-sqlite"
			}
			errs[i] = errors.Join(
				p.Profile(ctx, "profile?seconds="+strconv.Itoa(seconds), file+".cpu.pprof"),
				p.Profile(ctx, "allocs", file+".allocs.pprof"))
		})
	}
	group.Go(func() { _, errs[len(errs)-1] = load.Closed(ctx, w, b.Conns, time.Duration(seconds)*time.Second) })
	group.Wait()
	return errors.Join(errs...)
}
