package system

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/bench/peer"
)

// Peer starts the server of test/lab/bench/peer in dir, where its packages are installed: one process of Node over Postgres.
func (d *Data) Peer(ctx context.Context, dir, modelURL string) (*System, error) {
	node, err := program.Find("node")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		return nil, fmt.Errorf("the packages of the peer are not installed: run make bench (%w)", err)
	}
	if err := peer.Write(dir); err != nil {
		return nil, err
	}
	url, err := d.clone(ctx)
	if err != nil {
		return nil, err
	}
	p, err := startServer(ctx, func(addr string) program.Command {
		return program.Command{Path: node, Args: []string{filepath.Join(dir, "server.js")}, Env: map[string]string{
			"NODE_ENV": "production", "LISTEN": addr, "DATABASE_URL": url, "MODEL_URL": modelURL,
		}}
	})
	if err != nil {
		return nil, err
	}
	s := d.system(NodePeer, url)
	s.add(p)
	return s, nil
}
