package wallclock

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a process whose vDSO reads the clock by a system call and adds the offset.
type process struct {
	memory *os.File
	offset int64 // address of the offset, which is in seconds
}

// ended tells whether a process is gone, or is only kept for its parent to read how it ended.
func ended(pid int) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err != nil || len(maps) == 0
}

// children are the children of a process.
func children(pid int) (pids []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			return nil, err
		}
		for child := range strings.FieldsSeq(string(children)) {
			n, err := strconv.Atoi(child)
			if err != nil {
				return nil, err
			}
			pids = append(pids, n)
		}
	}
	return pids, nil
}

// function is a function of the vDSO in the process.
type function struct{ at, size int64 }

func takeOver(pid int) (p *process, err error) {
	from, to, err := vdso(pid)
	if err != nil {
		return nil, err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(errors.ErrUnsupported, err)
	}
	p = &process{memory: memory}
	defer func() {
		if err != nil {
			err = errors.Join(err, memory.Close())
		}
	}()
	image := make([]byte, to-from)
	if _, err := memory.ReadAt(image, from); err != nil {
		return nil, err
	}
	functions, err := functions(image, from)
	if err != nil {
		return nil, err
	}
	// The offset takes the end of the longest function, beyond the new code.
	clock := functions["__vdso_clock_gettime"]
	p.offset = (clock.at + clock.size - 8) &^ 7
	if p.offset < clock.at+int64(len(clockGettime(0, 0))) {
		return nil, errors.ErrUnsupported
	}
	return p, frozen(pid, from, to, func() error {
		// A child that was forked from a process with a set clock has the code, and keeps its offset.
		if bytes.HasPrefix(image[clock.at-from:], clockGettime(clock.at, p.offset)) {
			return nil
		}
		errs := []error{p.set(0)}
		for name, code := range map[string]func(at, offset int64) []byte{
			"__vdso_clock_gettime": clockGettime, "__vdso_gettimeofday": getTimeOfDay, "__vdso_time": seconds,
		} {
			f := functions[name]
			replacement := code(f.at, p.offset)
			if f.size < int64(len(replacement)) {
				return errors.ErrUnsupported
			}
			_, err := memory.WriteAt(replacement, f.at)
			errs = append(errs, err)
		}
		if err := errors.Join(errs...); err != nil {
			return errors.Join(errors.ErrUnsupported, err) // some kernels let nobody write to memory that is only read
		}
		return nil
	})
}

func (p *process) set(ahead time.Duration) error {
	_, err := p.memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(ahead/time.Second)), p.offset)
	if errors.Is(err, io.ErrUnexpectedEOF) { // nothing was written: the process has ended
		return nil
	}
	return err
}

func (p *process) close() error { return p.memory.Close() }

// vdso is the range of addresses of a process's vDSO.
func vdso(pid int) (from, to int64, err error) {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = maps.Close() }()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "[vdso]") {
			_, err := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to)
			return from, to, err
		}
	}
	return 0, 0, errors.Join(errors.ErrUnsupported, lines.Err())
}

// functions are the exported functions of a vDSO that is at an address.
func functions(image []byte, at int64) (map[string]function, error) {
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	found := map[string]function{}
	for _, s := range symbols {
		found[s.Name] = function{at + int64(s.Value), int64(s.Size)}
	}
	return found, nil
}

// frozen runs fn while the process is stopped and none of its threads is inside the vDSO.
func frozen(pid int, from, to int64, fn func() error) error {
	for {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		outside, err := stoppedOutside(pid, from, to)
		if err == nil && outside {
			err = fn()
		}
		if cont := syscall.Kill(pid, syscall.SIGCONT); err != nil || outside {
			return errors.Join(err, cont)
		}
	}
}

// stoppedOutside waits until each thread has stopped, and tells whether all program counters are outside a range.
func stoppedOutside(pid int, from, to int64) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		// The program counter is the last of the words; a thread that still runs has the word "running" alone.
		where := "running"
		for strings.TrimSpace(where) == "running" {
			b, err := os.ReadFile(thread + "/syscall")
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
				b, err = []byte("0x0"), nil // the thread has ended
			}
			if err != nil {
				return false, err
			}
			where = string(b)
		}
		words := strings.Fields(where)
		pc, err := strconv.ParseInt(strings.TrimPrefix(words[len(words)-1], "0x"), 16, 64)
		if err != nil {
			return false, fmt.Errorf("the program counter in %q: %w", where, err)
		}
		if from <= pc && pc < to {
			return false, nil
		}
	}
	return true, nil
}

// code assembles machine code that is at an address. An offset among the parts is addressed relative to its instruction.
func code(at, offset int64, parts ...[]byte) (b []byte) {
	for _, part := range parts {
		b = append(b, part...)
		if len(part) == 3 && part[0] == 0x48 && part[1] == 0x8b { // mov rcx, [rip + 32 bits]
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(offset-(at+int64(len(b))+4))))
		}
	}
	return b
}

// loadOffset is the beginning of mov rcx, [rip + …].
var loadOffset = []byte{0x48, 0x8b, 0x0d}

func clockGettime(at, offset int64) []byte {
	return code(at, offset,
		[]byte{0xb8, 228, 0, 0, 0, 0x0f, 0x05}, // mov eax, SYS_clock_gettime; syscall
		[]byte{0x85, 0xff, 0x75, 10},           // test edi, edi; jnz to ret: the clock is not CLOCK_REALTIME
		loadOffset,                             //
		[]byte{0x48, 0x01, 0x0e, 0xc3},         // add [rsi], rcx; ret
	)
}

func getTimeOfDay(at, offset int64) []byte {
	return code(at, offset,
		[]byte{0xb8, 96, 0, 0, 0, 0x0f, 0x05}, // mov eax, SYS_gettimeofday; syscall
		[]byte{0x48, 0x85, 0xff, 0x74, 10},    // test rdi, rdi; jz to ret: only the time zone was asked for
		loadOffset,                            //
		[]byte{0x48, 0x01, 0x0f, 0xc3},        // add [rdi], rcx; ret
	)
}

func seconds(at, offset int64) []byte {
	return code(at, offset,
		[]byte{0xb8, 201, 0, 0, 0, 0x0f, 0x05}, // mov eax, SYS_time; syscall
		loadOffset,                             //
		[]byte{0x48, 0x01, 0xc8},               // add rax, rcx
		[]byte{0x48, 0x85, 0xff, 0x74, 3},      // test rdi, rdi; jz to ret
		[]byte{0x48, 0x89, 0x07, 0xc3},         // mov [rdi], rax; ret
	)
}
