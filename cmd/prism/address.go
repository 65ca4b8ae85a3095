package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-results/prism/pkg/config"
)

// addressFile says in the data folder where the process listens that serves it, so that commands print addresses that lead there.
const addressFile = "prism-address.txt"

// keepAddress writes the file. The returned function removes it.
func keepAddress(dataDir string, at net.Addr) (remove func() error, err error) {
	path := filepath.Join(dataDir, addressFile)
	return func() error { return os.Remove(path) }, os.WriteFile(path, []byte(at.String()+"\n"), 0o600)
}

// servedAt is where the process listens that serves a data folder, or else otherwise. A process that was killed leaves its file.
func servedAt(dataDir string, otherwise config.Address) config.Address {
	content, err := os.ReadFile(filepath.Join(dataDir, addressFile)) //nolint:gosec // of the folder that the operator named
	address := strings.TrimSpace(string(content))
	if _, _, invalid := net.SplitHostPort(address); err != nil || invalid != nil {
		return otherwise
	}
	return config.Address(address)
}
