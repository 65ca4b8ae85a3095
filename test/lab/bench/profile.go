package main

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// profiles writes profiles of each Prism process, beside calls that are not measured.
func (b *bench) profiles(ctx context.Context, contenders []contender) error {
	if b.Profile == "" {
		return nil
	}
	return b.eachCall(func(n int, p system.Prism, call string) error {
		for _, c := range contenders {
			s := c.systems[n]
			if s.Name == system.NodePeer || s.Name == system.BareChain {
				continue
			}
			err := b.profile(ctx, s, p.Slug+"-"+strings.ReplaceAll(call, " ", "-"), func(length time.Duration) (load.Figures, error) {
				return load.Closed(ctx, work(s, call, n), b.Conns, length)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// profile writes profiles of each process beside calls, which take as long as they are told.
func (b *bench) profile(ctx context.Context, s *system.System, name string, calls func(length time.Duration) (load.Figures, error)) error {
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
	group.Go(func() { _, errs[len(errs)-1] = calls(time.Duration(seconds) * time.Second) })
	group.Wait()
	return errors.Join(errs...)
}
