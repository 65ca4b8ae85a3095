package daemon

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory sets the memory limit of the Go runtime to nine tenths of what the control groups of the process allow, unless
// GOMEMLIMIT is set. The garbage collector then works harder before the kernel kills the process. The last tenth is for memory
// that the runtime does not count. limitMemory returns the limit of the runtime in bytes, math.MaxInt64 when there is none.
func limitMemory(root fs.FS, getenv func(string) string) int64 {
	if limit := containerMemory(root); limit < math.MaxInt64 && getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
	return debug.SetMemoryLimit(-1)
}

// heapAllowance is how much more the heap may grow between two garbage collections than by its own size. A service's heap is
// small: without the allowance collections take a fifth of the processor time of a read, and a tenth of that of a create.
const heapAllowance = 32 << 20

// allowance is a block that nobody writes to, of which the kernel therefore provides no page. Go counts the block as part of the
// heap, and so collects when the heap has grown by its own size and that of the block. The block is at most a sixteenth of the
// memory limit, which counts the block too. An operator's GOGC decides alone: then there is no block.
func allowance(limit int64, getenv func(string) string) []byte {
	if getenv("GOGC") != "" {
		return nil
	}
	return make([]byte, min(limit/16, heapAllowance))
}

// containerMemory is the smallest limit of the control group of the process, of version 1 or 2, and of its parents, in bytes.
// Inside a container the path in /proc may not exist, but the limit of the container is at the top.
func containerMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(parts) < 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		switch parts[1] {
		case "":
		case "memory":
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Join("/", parts[2]); ; group = path.Dir(group) {
			least = min(least, memoryLimit(root, path.Join(top, group, file)))
			if group == "/" {
				break
			}
		}
	}
	return least
}

// memoryLimit is the limit in a file. An absent file, "max", and more than any machine has are no limit.
func memoryLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return math.MaxInt64
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || limit <= 0 || limit > 1<<60 {
		return math.MaxInt64
	}
	return limit
}
