package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/prism-results/prism/client"
)

func (a *app) login() *cobra.Command {
	cmd := a.command(description{
		use: "login", short: "Store the address and the API key",
		example: `prismctl login
prismctl login --host https://prism.example.com < key.txt
prismctl login --context staging --host https://staging.example.com`,
	}, func(cmd *cobra.Command, _ []string) error {
		s, err := a.stored()
		if err != nil {
			return err
		}
		return a.logIn(cmd.Context(), cmp.Or(a.context, a.env("PRISM_CONTEXT"), s.Current, defaultContext), true)
	})
	cmd.Long = `Store the address and the API key, in a file that only you can read.

The key is not shown while you type it. Without a terminal, it is read from standard input. The key is tried before
it is stored: in the context of --context or PRISM_CONTEXT, or else in the current one, in place of what is there.
Commands use that context from then on.`
	return cmd
}

// logIn asks for an address and a key, tries them, and stores them as a context.
func (a *app) logIn(ctx context.Context, name string, use bool) error {
	if err := checkContextName(name); err != nil {
		return err
	}
	lines := bufio.NewReader(a.in)
	host, err := a.askHost(ctx, lines)
	if err != nil {
		return err
	}
	key, err := a.askKey(ctx, lines)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{URL: host, Key: key, UserAgent: "prismctl"})
	if err != nil {
		return usage(err)
	}
	// Every role may list prisms.
	if _, err := c.ListPrisms(ctx, client.PrismFilter{}, client.PageOptions{Limit: 1}); err != nil {
		return err
	}
	file, err := a.keep(target{Name: name, Host: host, Key: key}, use)
	if err != nil {
		return err
	}
	if unencrypted(host) {
		_, _ = fmt.Fprintln(a.err, a.err.paint(yellow, "Careful:"), "the key is sent unencrypted. Use https.")
	}
	_, _ = fmt.Fprintf(a.err, "Logged in to %s as the context %s (%s).\n", host, name, file)
	if s, err := a.stored(); err == nil && s.Current != name {
		_, _ = fmt.Fprintf(a.err, "Use it with: prismctl context use %s\n", name)
	}
	return nil
}

func (a *app) logout() *cobra.Command {
	cmd := a.command(description{
		use: "logout", short: "Delete the stored address and API key",
		example: `prismctl logout
prismctl logout --context staging`,
	}, func(*cobra.Command, []string) error {
		t, err := a.chosen()
		if err != nil || t.Name == "" {
			return err
		}
		return a.forget(t.Name)
	})
	cmd.Long = `Delete the context of --context or PRISM_CONTEXT, or else the current one. The key stays valid: "prismctl keys revoke"
ends it.`
	return cmd
}

// askHost asks for the address on a terminal only: other input is the key.
func (a *app) askHost(ctx context.Context, lines *bufio.Reader) (string, error) {
	host := cmp.Or(a.host, a.env("PRISM_URL"))
	if host != "" || !isTerminal(a.in) {
		return cmp.Or(host, defaultHost), nil
	}
	_, _ = fmt.Fprintf(a.err, "Address of Prism [%s]: ", defaultHost)
	line, err := readLine(ctx, lines)
	return cmp.Or(line, defaultHost), err
}

func (a *app) askKey(ctx context.Context, lines *bufio.Reader) (string, error) {
	file, ok := a.in.(*os.File)
	if !ok || !isTerminal(a.in) {
		key, err := readLine(ctx, lines)
		if err == nil && key == "" {
			err = usage(errors.New("there is no API key on standard input"))
		}
		return key, err
	}
	_, _ = fmt.Fprint(a.err, "API key (not shown): ")
	fd := int(file.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	key, err := await(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	_, _ = fmt.Fprintln(a.err)
	// An interrupted ReadPassword leaves the terminal without echo.
	err = errors.Join(err, term.Restore(fd, before))
	return strings.TrimSpace(string(key)), err
}

func readLine(ctx context.Context, r *bufio.Reader) (string, error) {
	line, err := await(ctx, func() (string, error) { return r.ReadString('\n') })
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSpace(line), err
}

// unencrypted tells whether a key is sent to this address in plain text over a network.
func unencrypted(host string) bool {
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}
