package system

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// BareSpec is what this program's command bare shall be: a store when it has a database, one that passes calls on when it
// has servers to pass them to, else one that answers everything with the body.
type BareSpec struct {
	Body           string
	Database       string
	Select, Insert string // what a store does for GET and POST
	// Next has one server, where every call goes, or two: a POST reads from the first, asks the second, writes to the first.
	Next []string
}

// Bare starts a bare server and returns its address.
func Bare(ctx context.Context, spec BareSpec) (addr string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	sent, err := json.Marshal(spec)
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "bare")
	cmd.Stdin = bytes.NewReader(sent)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := program.Start(cmd); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	addr, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
	}
	return strings.TrimSpace(addr), stop, err
}

// BareChain starts servers that hop and store as the three processes do, and do nothing else: the floor beneath them. Without
// a model the second hop of a create answers by itself.
func (s *System) BareChain(ctx context.Context, body, model string) (addr string, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	insert, err := s.InsertOne(ctx)
	if err != nil {
		return "", nil, err
	}
	start := func(spec BareSpec) (addr string) {
		if err != nil {
			return ""
		}
		var end func()
		if addr, end, err = Bare(ctx, spec); err == nil {
			stops = append(stops, end)
		}
		return addr
	}
	terse := func(statement string) string { return strings.TrimSuffix(strings.TrimSpace(statement), ";") }
	store := start(BareSpec{
		Body: body, Database: s.databaseURL + "&pool_max_conns=16", Select: terse(s.SelectOne()), Insert: terse(insert),
	})
	proxy := BareSpec{Body: body}
	if model != "" {
		proxy.Next = []string{model}
	}
	front := start(BareSpec{Next: []string{store, start(proxy)}})
	if err != nil {
		stop()
	}
	return front, stop, err
}
