package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

const (
	// masterName is how the Sentinels name the master.
	masterName = "mymaster"
	// watching is the number of Sentinels, two of which have to agree.
	watching = 3
	// failoverBudget bounds the Sentinels' or nodes' discovery of each other and a failover, on a machine of any load.
	failoverBudget = 2 * time.Minute
	// downAfter is how long a master is away until it is replaced.
	downAfter = time.Second
)

// Sentinels are a master and its replica, which keep nothing on disk, and three Sentinels that watch both.
type Sentinels struct {
	Master, Replica *Server // as they were at the start
	sentinels       []*Server
}

// StartSentinels starts all of them, and returns when the Sentinels could replace the master. Close ends them.
func StartSentinels(ctx context.Context) (s *Sentinels, err error) {
	ctx, cancel := context.WithTimeout(ctx, failoverBudget)
	defer cancel()
	s = &Sentinels{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	if s.Master, err = Start(ctx, Options{TCP: true}); err != nil {
		return s, err
	}
	if s.Replica, err = Start(ctx, Options{TCP: true, master: s.Master.TCPAddr()}); err != nil {
		return s, err
	}
	if err := s.Replica.await(ctx, "INFO replication", "master_link_status:up"); err != nil {
		return s, err
	}
	host, port, err := net.SplitHostPort(s.Master.TCPAddr())
	if err != nil {
		return s, err
	}
	config := []string{
		fmt.Sprintf("sentinel monitor %s %s %s 2", masterName, host, port),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", masterName, downAfter.Milliseconds()),
		fmt.Sprintf("sentinel failover-timeout %s 5000", masterName),
	}
	for range watching {
		sentinel, err := Start(ctx, Options{TCP: true, config: config})
		if err != nil {
			return s, err
		}
		s.sentinels = append(s.sentinels, sentinel)
	}
	for _, sentinel := range s.sentinels {
		errs := []error{
			sentinel.await(ctx, "SENTINEL CKQUORUM "+masterName, fmt.Sprintf("+OK %d usable Sentinels", watching)),
			sentinel.await(ctx, "INFO sentinel", "slaves=1,sentinels=3"),
		}
		if err := errors.Join(errs...); err != nil {
			return s, err
		}
	}
	return s, nil
}

// URL names the master by its Sentinels.
func (s *Sentinels) URL() string {
	url := "redis+sentinel://" + s.sentinels[0].TCPAddr() + "?master_name=" + masterName
	for _, sentinel := range s.sentinels[1:] {
		url += "&addr=" + sentinel.TCPAddr()
	}
	return url
}

// FailOver kills the master, and returns when all Sentinels name the replica in its place.
func (s *Sentinels) FailOver(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, failoverBudget)
	defer cancel()
	errs := []error{s.Master.Kill(), s.Replica.await(ctx, "INFO replication", "role:master")}
	for _, sentinel := range s.sentinels {
		errs = append(errs, sentinel.await(ctx, "INFO sentinel", "address="+s.Replica.TCPAddr()))
	}
	return errors.Join(errs...)
}

// Close ends all of them.
func (s *Sentinels) Close() error {
	var errs []error
	for _, server := range append([]*Server{s.Master, s.Replica}, s.sentinels...) {
		if server != nil {
			errs = append(errs, server.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *Server) sentinelConfig() string { return s.folder.File("sentinel.conf") }

// configure writes the configuration of a Sentinel, which then keeps there what it finds out.
func (s *Server) configure() error {
	if s.options.config == nil {
		return nil
	}
	return os.WriteFile(s.sentinelConfig(), []byte(strings.Join(s.options.config, "\n")+"\n"), 0o600)
}

// await sends a command until the response contains a text.
func (s *Server) await(ctx context.Context, command, text string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := s.ask(ctx, command)
		if err == nil && strings.Contains(got, text) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("redistest: %s: %w without %q: %q, %w", command, ctx.Err(), text, got, err)
		}
	}
}
