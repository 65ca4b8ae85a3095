package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/bench/internal/bare"
	"github.com/prism-results/prism/test/lab/bench/internal/model"
)

// Chain starts the bare chain for the nth prism. Its ready-made bytes are those that example, a running Prism, receives
// and sends.
func (d *Data) Chain(ctx context.Context, example *System, m *model.Model, n int, p Prism) (*System, error) {
	url, err := d.clone(ctx)
	if err != nil {
		return nil, err
	}
	read := "/v1/results/" + d.ids[n][0]
	response, err := example.Call(ctx, http.MethodGet, read, "", http.StatusOK)
	if err != nil {
		return nil, err
	}
	request, err := m.Capture(func() error {
		_, err := example.Create(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	store, err := d.bareStore(ctx, url, n)
	if err != nil {
		return nil, err
	}
	store.Response = string(response)
	s := d.system(BareChain, url)
	s.Query = bare.Keyed
	gateway := &bare.Gateway{Redis: d.stores.redis.URL(), Read: read}
	for _, part := range []struct {
		name string
		spec bare.Spec
		addr *string // where the gateway needs the address of this part
	}{
		{"store", bare.Spec{Store: store}, &gateway.Store},
		{"proxy", bare.Spec{Proxy: &bare.Proxy{Model: m.Addr(), Request: request}}, &gateway.Proxy},
		{"gateway", bare.Spec{Gateway: gateway}, new(string)},
	} {
		process, err := startBare(ctx, part.name, part.spec)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.add(process)
		*part.addr = process.Addr
	}
	return s, nil
}

// bareStore has the statements of the store: the select of one result, and the insert of one like the nth prism's.
func (d *Data) bareStore(ctx context.Context, url string, n int) (*bare.Store, error) {
	s := &bare.Store{
		Database: url + "&pool_max_conns=16",
		Select: fmt.Sprintf(`SELECT %s FROM results WHERE account_id = '%s' AND id = $1`,
			strings.Join(d.columns, ", "), d.account),
	}
	literals := make([]string, len(d.columns))
	for i, c := range d.columns {
		literals[i] = "quote_nullable(" + c + "::text)"
		switch c {
		case "id":
			literals[i] = `'$1'`
		case "idempotency_key":
			literals[i] = `'$2'`
		case "created_at":
			literals[i] = `'now()'`
		case "fields", "answers":
			value, err := SQL(ctx, url, fmt.Sprintf(`SELECT %s FROM results WHERE id = '%s'`, c, d.ids[n][0]))
			if err != nil {
				return nil, err
			}
			s.Values = append(s.Values, value)
			literals[i] = fmt.Sprintf(`'$%d'`, len(s.Values)+2)
		}
	}
	values, err := SQL(ctx, url, fmt.Sprintf(`SELECT concat_ws(', ', %s) FROM results WHERE id = '%s'`,
		strings.Join(literals, ", "), d.ids[n][0]))
	s.Insert = fmt.Sprintf(`INSERT INTO results (%s) VALUES (%s)`, strings.Join(d.columns, ", "), values)
	return s, err
}

// startBare runs a server of the chain: this program with the argument bare, an address, and the spec as input.
func startBare(ctx context.Context, name string, spec bare.Spec) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	sent, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	return startServer(ctx, func(addr string) program.Command {
		return program.Command{Name: name, Path: self, Args: []string{"bare", addr}, Stdin: bytes.NewReader(sent)}
	})
}
