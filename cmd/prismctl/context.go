package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
)

func (a *app) contexts() *cobra.Command {
	contexts := group("context", "Keep several addresses and keys, and choose between them")
	contexts.Long = `Keep several addresses and keys, and choose between them.

A context is an address with an API key under a name. Commands use the current one, or the one of --context or
PRISM_CONTEXT. "prismctl login" stores the context "default", if no context is named or in use.`
	contexts.AddCommand(a.contextAdd(), a.contextUse(), a.contextList(), a.contextRemove())
	return contexts
}

func (a *app) contextAdd() *cobra.Command {
	cmd := a.command(description{
		use: "add NAME", short: "Store an address and an API key under a name",
		example: `prismctl context add staging
prismctl context add production --host https://prism.example.com < key.txt`,
	}, func(cmd *cobra.Command, args []string) error {
		s, err := a.stored()
		switch {
		case err != nil:
			return err
		case s.find(args[0]) >= 0:
			return &codeError{exitConflict, fmt.Errorf("there is a context %q: prismctl login --context %[1]s replaces it", args[0])}
		}
		return a.logIn(cmd.Context(), args[0], false)
	})
	cmd.Long = `Store an address and an API key under a name, as "prismctl login" asks for them. The first context is used at once,
and others after "prismctl context use".`
	return cmd
}

func (a *app) contextUse() *cobra.Command {
	cmd := a.command(description{
		use: "use NAME", short: "Choose the context that commands use",
		example: `prismctl context use staging`,
	}, func(_ *cobra.Command, args []string) error {
		s, err := a.stored()
		if err != nil {
			return err
		}
		t, err := s.named(args[0])
		if err != nil {
			return err
		}
		s.Current = t.Name
		if _, err := a.store(s); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "Commands use %s (%s).\n", t.Name, t.Host)
		if other := a.env("PRISM_CONTEXT"); other != "" && other != t.Name {
			_, _ = fmt.Fprintln(a.err, a.err.paint(yellow, "Careful:"), "PRISM_CONTEXT is", other+", which precedes it.")
		}
		return nil
	})
	cmd.ValidArgsFunction = a.completeContexts
	return cmd
}

var contextColumns = columns{"name current host key", "name~ current host~ key"}

// contextItem is a context as it is listed: without its key.
type contextItem struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Host    string `json:"host"`
	Key     string `json:"key"`
}

func (a *app) contextList() *cobra.Command {
	var output *output
	cmd := a.command(description{
		use: "list", short: "List the contexts, without their keys",
		example: `prismctl context list
prismctl context list -o json --jq '.[] | select(.current) | .host'`,
	}, func(cmd *cobra.Command, _ []string) error {
		s, err := a.stored()
		if err != nil {
			return err
		}
		var items []contextItem
		for _, t := range s.Contexts {
			items = append(items, contextItem{t.Name, t.Name == s.Current, t.Host, masked(t.Key)})
		}
		return list(cmd.Context(), a, output, each(items), contextColumns, func(c contextItem) row {
			r := row{cells: []string{c.Name, "", c.Host, c.Key}}
			if c.Current {
				r.cells[1] = "current"
			}
			return r
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

func (a *app) contextRemove() *cobra.Command {
	cmd := a.command(description{
		use: "remove NAME", short: "Delete a context with its key, which stays valid until it is revoked",
		example: `prismctl context remove staging`,
	}, func(_ *cobra.Command, args []string) error {
		return a.forget(args[0])
	})
	cmd.ValidArgsFunction = a.completeContexts
	return cmd
}

// completeContexts completes the names of contexts.
func (a *app) completeContexts(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	s, err := a.stored()
	if len(args) > 0 || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, t := range s.Contexts {
		names = append(names, t.Name+"\t"+t.Host)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkContextName checks the name of a new context.
func checkContextName(name string) error {
	if !contextName.MatchString(name) {
		return usage(errors.New("the name of a context has up to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or digit"))
	}
	return nil
}

// masked is the beginning of a key, as "keys list" shows it.
func masked(key string) string {
	const prefix = len("prism_") + 6
	if len(key) < 2*prefix {
		return "…"
	}
	return key[:prefix] + "…"
}
