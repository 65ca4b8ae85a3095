package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/prism-results/prism/test/lab/bench/internal/model"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// sqliteResults is how many results of each prism are stored in SQLite, by calls.
const sqliteResults = 200

// data is the database with few results that systems copy. It is made once.
func (b *bench) data(ctx context.Context) (*system.Data, error) {
	if b.few != nil {
		return b.few, nil
	}
	m, err := model.New(0, scripts()...)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	b.few, err = b.stores.Prepare(ctx, b.bin, m.URL(), b.Few, system.Prisms()...)
	return b.few, err
}

// contenders starts the systems of these words that the flag wants. Those that were started are returned with an error too.
func (b *bench) contenders(ctx context.Context, m *model.Model, words ...string) (all []contender, err error) {
	data, err := b.data(ctx)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		if !b.wants(b.Systems, word) {
			continue
		}
		var c contender
		switch {
		case slices.Contains(topologies, word):
			c, err = same(b.prism(ctx, word, data, m.URL()))
		case word == "peer":
			c, err = same(data.Peer(ctx, b.Peer, m.URL()))
		default:
			c, err = b.chains(ctx, data, m)
		}
		all = append(all, c)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// prism starts one topology of Prism.
func (b *bench) prism(ctx context.Context, topology string, data *system.Data, modelURL string) (*system.System, error) {
	switch topology {
	case "one":
		return data.One(ctx, b.bin, modelURL)
	case "three":
		return data.Three(ctx, b.bin, modelURL)
	}
	b.folders++
	dir := filepath.Join(b.dir, fmt.Sprintf("sqlite-%d", b.folders))
	return b.stores.SQLite(ctx, b.bin, dir, modelURL, min(b.Few, sqliteResults), system.Prisms()...)
}

// same is a contender that serves all prisms with one system.
func same(s *system.System, err error) (contender, error) {
	if err != nil {
		return contender{}, err
	}
	c := contender{name: s.Name}
	for range system.Prisms() {
		c.systems = append(c.systems, s)
	}
	return c, nil
}

// chains are bare chains, one for each prism, with the bytes of a Prism that runs meanwhile.
func (b *bench) chains(ctx context.Context, data *system.Data, m *model.Model) (contender, error) {
	c := contender{name: system.BareChain}
	example, err := data.One(ctx, b.bin, m.URL())
	if err != nil {
		return c, err
	}
	defer example.Close()
	for n, p := range system.Prisms() {
		s, err := data.Chain(ctx, example, m, n, p)
		if err != nil {
			return c, err
		}
		c.systems = append(c.systems, s)
	}
	return c, nil
}
