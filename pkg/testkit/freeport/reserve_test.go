package freeport

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const askedPort = "FREEPORT_TEST_PORT"

// TestAnotherProcessGetsOtherPorts asks for a port of this process in another process.
func TestAnotherProcessGetsOtherPorts(t *testing.T) {
	t.Parallel()
	if text := os.Getenv(askedPort); text != "" {
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if free, err := reserve(port); free || err != nil {
			t.Errorf("free is %v, %v", free, err)
		}
		return
	}
	port, err := Port()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProcessGetsOtherPorts$")
	cmd.Env = append(os.Environ(), askedPort+"="+strconv.Itoa(port))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
