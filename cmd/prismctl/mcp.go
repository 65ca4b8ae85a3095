package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/prism-results/prism/pkg/build"
)

func (a *app) mcp() *cobra.Command {
	var prisms []string
	cmd := a.command(description{
		use: "mcp", short: "Offer prisms as tools to an agent, over standard input and output",
		example: `prismctl mcp --prism tickets
claude mcp add prism -- prismctl mcp --prism tickets`,
	}, func(cmd *cobra.Command, _ []string) error {
		t, err := a.target()
		if err != nil {
			return err
		}
		at := strings.TrimSuffix(t.Host, "/") + "/mcp"
		if len(prisms) > 0 {
			at += "?prisms=" + url.QueryEscape(strings.Join(prisms, ","))
		}
		return forward(cmd.Context(), at, t.Key, a.in, a.out.Writer)
	})
	cmd.Long = `Offer prisms as tools to an agent that starts its tools as programs, in the Model Context Protocol. The tools are those of POST /mcp, with
the rights of your key, which the agent does not see.`
	cmd.Flags().StringArrayVar(&prisms, "prism", nil, "only a tool for the prism with this slug; may be given up to 30 times")
	return cmd
}

// forward answers messages by those of a server over HTTP, until there is no further one.
func forward(ctx context.Context, at, key string, in io.Reader, out io.Writer) error {
	caller := newCaller()
	caller.Transport = keyed{key, caller.Transport}
	us := &mcp.Implementation{Name: "prismctl", Title: "Prism", Version: build.Version}
	server, err := mcp.NewClient(us, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: at, HTTPClient: caller, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	defer func() { _ = server.Close() }()
	s := mcp.NewServer(us, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch asked := r.(type) {
			case *mcp.ListToolsRequest:
				return server.ListTools(ctx, asked.Params)
			case *mcp.CallToolRequest:
				return server.CallTool(ctx, &mcp.CallToolParams{Name: asked.Params.Name, Arguments: asked.Params.Arguments})
			}
			return next(ctx, method, r)
		}
	})
	return s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}})
}

// keyed adds the API key.
type keyed struct {
	key string
	to  http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.to.RoundTrip(r)
}

// unclosed is standard output, which stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
