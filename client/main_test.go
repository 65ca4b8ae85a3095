package client_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

// server is the real Prism that the end-to-end tests and the examples call.
var server *prismtest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	if server, err = prismtest.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The examples read them as a program would.
	_ = os.Setenv("PRISM_URL", server.URL)
	_ = os.Setenv("PRISM_API_KEY", server.Key)
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// account is a client of an account of its own.
func account(t *testing.T) *client.Client {
	t.Helper()
	key, err := server.Account(t.Context(), t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, key)
}

func connect(t *testing.T, key string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: server.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
