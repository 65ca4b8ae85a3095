package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// color is a colour of the terminal.
type color string

const (
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	bold   color = "1"
)

// terminal is a terminal that is not a file, as tests have.
type terminal interface{ IsTerminal() bool }

func isTerminal(stream any) bool {
	switch s := stream.(type) {
	case terminal:
		return s.IsTerminal()
	case *os.File:
		return term.IsTerminal(int(s.Fd()))
	}
	return false
}

// printer is an output that may be a terminal.
type printer struct {
	io.Writer
	terminal bool
	colors   bool
}

// newPrinter uses colours on a terminal only, and not if NO_COLOR is set (no-color.org).
func newPrinter(w io.Writer, env func(string) string) *printer {
	terminal := isTerminal(w) && env("TERM") != "dumb"
	return &printer{Writer: w, terminal: terminal, colors: terminal && env("NO_COLOR") == ""}
}

func (p *printer) paint(c color, text string) string {
	if !p.colors || c == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// status replaces the line that shows progress. Without a terminal it does nothing.
func (p *printer) status(format string, args ...any) {
	if p.terminal {
		_, _ = fmt.Fprintf(p, "\r\x1b[K"+format, args...)
	}
}

// printable replaces line breaks and control characters, because texts in results could control the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\ufffd'
		}
		return r
	}, s)
}

// await calls ask, and returns earlier if ctx ends. The goroutine then blocks until the process ends.
func await[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type input struct {
		v   T
		err error
	}
	done := make(chan input, 1)
	go func() {
		v, err := ask()
		done <- input{v, err}
	}()
	select {
	case i := <-done:
		return i.v, i.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
