package operator

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"
)

// Output is where a command or a start prints. What lets somebody in, such as a sign-in link, must not get into the logs of whatever
// collects standard output (spec: private-output).
type Output struct {
	io.Writer
	Dir string // of the files in which such texts are kept if Writer is no terminal
}

// terminal is a terminal that is not a file, as tests have.
type terminal interface{ IsTerminal() bool }

// IsTerminal tells whether a person reads what is printed.
func (o Output) IsTerminal() bool {
	switch w := o.Writer.(type) {
	case terminal:
		return w.IsTerminal()
	case *os.File:
		return term.IsTerminal(int(w.Fd()))
	}
	return false
}

// Keep writes a text to a file that only the user of this process can read, and returns the file's absolute path. It replaces a
// file of this name.
func (o Output) Keep(name, text string) (path string, err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, name+".*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, text)
	path = filepath.Join(dir, name)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return path, nil
}

// LinkFile is the name of the file of a sign-in link.
const LinkFile = "prism-sign-in.txt"

// keepLink keeps a link and says where.
func (o Output) keepLink(link string) error {
	path, err := o.Keep(LinkFile, link)
	if err != nil {
		return fmt.Errorf("standard output is no terminal, and the link cannot be kept in a file: %w; --print prints it", err)
	}
	_, err = fmt.Fprintf(o, "Standard output is no terminal, so the link is in %s, which only this user can read. --print prints it.\n", path)
	return err
}
