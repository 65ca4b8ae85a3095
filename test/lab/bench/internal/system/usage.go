package system

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Memory is the proportional set size of the process in bytes: pages that several processes share count in part.
func (p *Process) Memory() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.PID()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if size, ok := strings.CutPrefix(line, "Pss:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(size), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("%s: no Pss in smaps_rollup", p.Name)
}

// tick is the unit of the times in /proc/<pid>/stat on Linux.
const tick = 10 * time.Millisecond

// stat is what this package needs of /proc/<pid>/stat.
type stat struct {
	parent   int
	own      time.Duration // processor time of the process itself
	children time.Duration // processor time of its children that have ended
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The second field is a name in brackets, which may contain spaces. Fields are counted from the third.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	var numbers [5]int
	var errs [5]error
	for i, field := range []int{1, 11, 12, 13, 14} { // ppid, utime, stime, cutime, cstime
		numbers[i], errs[i] = strconv.Atoi(fields[field])
	}
	return stat{
		parent: numbers[0], own: time.Duration(numbers[1]+numbers[2]) * tick,
		children: time.Duration(numbers[3]+numbers[4]) * tick,
	}, errors.Join(errs[:]...)
}

func cpu(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	return s.own, err
}

// treeCPU is the processor time of a process and of its children, running and ended.
func treeCPU(pid int) (time.Duration, error) {
	s, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	total := s.own + s.children
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		id, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return 0, err
		}
		if child, err := readStat(id); err == nil && child.parent == pid { // others may have ended meanwhile
			total += child.own
		}
	}
	return total, nil
}

// CPU is the processor time used so far by each process of the system, by Postgres and Redis, and by the load generator
// with the model, which are this program. Postgres and Redis serve all systems: measure one system at a time.
func (s *System) CPU() (map[string]time.Duration, error) {
	used := map[string]time.Duration{}
	for _, p := range s.Processes {
		n, err := cpu(p.PID())
		if err != nil {
			return nil, err
		}
		used[strings.TrimPrefix(p.Name, "prism-")] += n
	}
	var err1, err2 error
	used[Postgres], used[Redis], err1 = s.stores.CPU()
	used[LoadAndModel], err2 = cpu(os.Getpid())
	return used, errors.Join(err1, err2)
}

// A system rests when it used at most resting of restLook, which is longer than any work of Prism pauses that may come soon.
const (
	restLook = 1100 * time.Millisecond
	resting  = 6 * tick
	// restWait is how long a system may have work, at most.
	restWait = time.Minute
)

// Rest returns when neither a process of the system nor Postgres and Redis have anything to do, or after a minute.
func (s *System) Rest(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < restWait; {
		before, err := s.CPU()
		if err != nil {
			return err
		}
		select {
		case <-time.After(restLook):
		case <-ctx.Done():
			return ctx.Err()
		}
		after, err := s.CPU()
		if err != nil {
			return err
		}
		var used time.Duration
		for part := range after {
			if part != LoadAndModel {
				used += after[part] - before[part]
			}
		}
		if used <= resting {
			return nil
		}
	}
	return nil
}

// Names of what uses processor time beside the processes of a system.
const (
	Postgres     = "Postgres"
	Redis        = "Redis"
	LoadAndModel = "load generator and model"
)

// Memory is the memory of all processes of the system, in bytes.
func (s *System) Memory() (total int64, err error) {
	for _, p := range s.Processes {
		n, err := p.Memory()
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// Compressed is the size of a file in bytes after gzip, as in a layer of an image.
func Compressed(file string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var size counter
	z := gzip.NewWriter(&size)
	if _, err := io.Copy(z, f); err != nil {
		return 0, err
	}
	return int64(size), z.Close()
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
