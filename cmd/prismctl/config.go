package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// target is the address that prismctl calls, and the key for it.
type target struct {
	Name string `json:"name"` // of the context
	Host string `json:"host"`
	Key  string `json:"key"`
	from string // where the key is from
}

// settings is what the file of prismctl holds.
type settings struct {
	Current  string   `json:"current"`
	Contexts []target `json:"contexts"`
}

const (
	// defaultHost is the address of a Prism with default settings.
	defaultHost = "http://127.0.0.1:8080"
	// defaultContext is the context of a login that names none.
	defaultContext = "default"
)

var errNoKey = &codeError{exitUnauthorized, errors.New(`no API key: run "prismctl login" or set PRISM_API_KEY`)}

// find is the index of a context, or -1.
func (s settings) find(name string) int {
	return slices.IndexFunc(s.Contexts, func(t target) bool { return t.Name == name })
}

func (s settings) names() (names []string) {
	for _, t := range s.Contexts {
		names = append(names, t.Name)
	}
	return names
}

// named is the context of a name.
func (s settings) named(name string) (target, error) {
	if i := s.find(name); i >= 0 {
		return s.Contexts[i], nil
	}
	if len(s.Contexts) == 0 {
		return target{}, usage(fmt.Errorf("there is no context %q: prismctl context add %[1]s", name))
	}
	return target{}, usage(fmt.Errorf("there is no context %q: %s", name, suggest(name, s.names())))
}

// chosen is the context of --context or PRISM_CONTEXT, or else the current one. Without a current one it is empty.
func (a *app) chosen() (target, error) {
	stored, err := a.stored()
	if err != nil {
		return target{}, err
	}
	if name := cmp.Or(a.context, a.env("PRISM_CONTEXT")); name != "" {
		return stored.named(name)
	}
	if i := stored.find(stored.Current); i >= 0 {
		return stored.Contexts[i], nil
	}
	if len(stored.Contexts) > 0 && a.env("PRISM_API_KEY") == "" {
		return target{}, usage(fmt.Errorf("no context is in use: prismctl context use NAME; there is %s", strings.Join(stored.names(), ", ")))
	}
	return target{}, nil
}

// target uses the flags, then the environment, then the context. --context is a flag: its address and key precede those of the
// environment. The key of a context is used only with the address of the context.
func (a *app) target() (target, error) {
	t, err := a.address()
	if err == nil && t.Key == "" {
		err = errNoKey
	}
	return t, err
}

// address is the target of a command that needs no key.
func (a *app) address() (target, error) {
	context, err := a.chosen()
	if err != nil {
		return target{}, err
	}
	env := a.env
	if a.context != "" {
		env = func(string) string { return "" }
	}
	t := target{Host: cmp.Or(a.host, env("PRISM_URL"), context.Host, defaultHost), Key: env("PRISM_API_KEY"), from: "PRISM_API_KEY"}
	if t.Key == "" && t.Host == context.Host {
		context.from = "the context " + context.Name
		return context, a.checkPrivate()
	}
	return t, nil
}

// checkPrivate returns an error if other users can read the stored keys.
func (a *app) checkPrivate() error {
	name, err := a.configFile()
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("other users can read %s, which contains a key: run chmod 600 on it, and consider revoking the key", name)
	}
	return err
}

// configFile is the path of the settings file, in the user's folder for settings.
func (a *app) configFile() (string, error) {
	dir, home := a.env("XDG_CONFIG_HOME"), a.env("HOME")
	switch {
	case dir != "":
	case runtime.GOOS == "windows":
		dir = a.env("AppData")
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return "", errors.New("there is no folder for settings: set HOME or XDG_CONFIG_HOME")
	}
	return filepath.Join(dir, "prismctl", "config.json"), nil
}

// stored reads the settings. They are empty without a file.
func (a *app) stored() (s settings, err error) {
	name, err := a.configFile()
	if err != nil {
		return s, nil //nolint:nilerr // a machine without such a folder has no login
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user's own
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	var read struct {
		settings
		target // of a file that was written before there were contexts
	}
	if json.Unmarshal(text, &read) != nil {
		return s, fmt.Errorf("%s is damaged: delete it and log in again", name)
	}
	if read.Host != "" && len(read.Contexts) == 0 {
		read.Name = defaultContext
		return settings{Current: defaultContext, Contexts: []target{read.target}}, nil
	}
	return read.settings, nil
}

// store replaces the settings file atomically. Other users can't read the new file at any time. Without a context, store deletes
// the file.
func (a *app) store(s settings) (string, error) {
	name, err := a.configFile()
	if err != nil {
		return "", err
	}
	if len(s.Contexts) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		return name, nil
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(name), "config-*") // with mode 600
	if err != nil {
		return "", err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return name, nil
}

// keep stores a context, in place of one of the same name, and makes it the current one if use is set or there is none.
func (a *app) keep(t target, use bool) (string, error) {
	s, err := a.stored()
	if err != nil {
		return "", err
	}
	if i := s.find(t.Name); i >= 0 {
		s.Contexts[i] = t
	} else {
		s.Contexts = append(s.Contexts, t)
	}
	if use || s.find(s.Current) < 0 {
		s.Current = t.Name
	}
	return a.store(s)
}

// forget deletes a context.
func (a *app) forget(name string) error {
	s, err := a.stored()
	if err != nil {
		return err
	}
	if _, err := s.named(name); err != nil {
		return err
	}
	s.Contexts = slices.Delete(s.Contexts, s.find(name), s.find(name)+1)
	if s.Current == name {
		s.Current = ""
	}
	if _, err := a.store(s); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.err, "The context %s is removed. Its key stays valid until it is revoked.\n", name)
	if s.Current == "" && len(s.Contexts) > 0 {
		_, _ = fmt.Fprintf(a.err, "Use another with: prismctl context use NAME; there is %s\n", strings.Join(s.names(), ", "))
	}
	return nil
}
