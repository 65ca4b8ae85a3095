package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// target is the address that prismctl calls, and the key for it.
type target struct {
	Host string `json:"host"`
	Key  string `json:"key"`
}

// defaultHost is the address of a Prism with default settings.
const defaultHost = "http://127.0.0.1:8080"

var errNoKey = &codeError{exitUnauthorized, errors.New(`no API key: run "prismctl login" or set PRISM_API_KEY`)}

// target uses the flags, then the environment, then the stored login. The stored key is used only with the stored host.
func (a *app) target() (target, error) {
	stored, err := a.stored()
	if err != nil {
		return target{}, err
	}
	t := target{Host: cmp.Or(a.host, a.env("PRISM_URL"), stored.Host, defaultHost), Key: a.env("PRISM_API_KEY")}
	if t.Key == "" && t.Host == stored.Host {
		t.Key = stored.Key
	}
	if t.Key == "" {
		return target{}, errNoKey
	}
	return t, nil
}

// configFile is in the user's folder for settings.
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

// stored is the stored login, or empty without one.
func (a *app) stored() (t target, err error) {
	name, err := a.configFile()
	if err != nil {
		return t, nil //nolint:nilerr // a machine without such a folder has no login
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user's own
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	if info, err := os.Stat(name); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return t, fmt.Errorf("other users can read %s, which contains a key: run chmod 600 on it, and consider revoking the key", name)
	}
	if json.Unmarshal(text, &t) != nil {
		return t, fmt.Errorf("%s is damaged: log in again", name)
	}
	return t, nil
}

// store writes the login to a new file, which other users can't read at any time.
func (a *app) store(t target) (string, error) {
	name, err := a.configFile()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return name, os.WriteFile(name, append(text, '\n'), 0o600)
}
