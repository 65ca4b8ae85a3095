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
