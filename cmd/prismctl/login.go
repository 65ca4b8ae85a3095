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
	cmd := a.command("login", "Store the address and the API key", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		lines := bufio.NewReader(a.in)
		host, err := a.askHost(cmd.Context(), lines)
		if err != nil {
			return err
		}
		key, err := a.askKey(cmd.Context(), lines)
		if err != nil {
			return err
		}
		c, err := client.New(client.Config{URL: host, Key: key, UserAgent: "prismctl"})
		if err != nil {
			return usage(err)
		}
		// Every role may list prisms.
		if _, err := c.ListPrisms(cmd.Context(), client.PrismFilter{}, client.PageOptions{Limit: 1}); err != nil {
			return err
		}
		name, err := a.store(target{Host: host, Key: key})
		if err != nil {
			return err
		}
		if unencrypted(host) {
			_, _ = fmt.Fprintln(a.err, a.err.paint(yellow, "Careful:"), "the key is sent unencrypted. Use https.")
		}
		_, _ = fmt.Fprintf(a.err, "Logged in to %s (%s).\n", host, name)
		return nil
	})
	cmd.Long = `Store the address and the API key, in a file that only you can read.

The key is not shown while you type it. Without a terminal, it is read from standard input:

  prismctl login --host https://prism.example.com < key.txt

The key is tried before it is stored.`
	return cmd
}

func (a *app) logout() *cobra.Command {
	return a.command("logout", "Delete the stored address and API key", cobra.NoArgs, func(*cobra.Command, []string) error {
		name, err := a.configFile()
		if err != nil {
			return err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}

// askHost asks on a terminal only: other input is the key.
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
