package tabular

import (
	"errors"
	"os"
)

// spillBytes is how much of a spill is kept in memory.
const spillBytes = 16 << 20

// spill holds bytes that are first written and then read at any offset. Once they exceed spillBytes, all are in a temporary file.
type spill struct {
	memory []byte
	file   *os.File
	size   int64
}

func (s *spill) Write(p []byte) (int, error) {
	if s.file == nil && s.size+int64(len(p)) > spillBytes {
		file, err := temporaryFile()
		if err != nil {
			return 0, err
		}
		s.file = file
		if _, err := file.Write(s.memory); err != nil {
			return 0, err
		}
		s.memory = nil
	}
	s.size += int64(len(p))
	if s.file != nil {
		return s.file.Write(p)
	}
	s.memory = append(s.memory, p...)
	return len(p), nil
}

// ReadAt fails if p ends after what was written.
func (s *spill) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(p)) > s.size {
		return 0, errors.New("tabular: a read beyond the end of a spill")
	}
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	return copy(p, s.memory[at:]), nil
}

func (s *spill) close() {
	if s.file != nil {
		_ = s.file.Close() // it was removed
	}
}

// temporaryFile is a file without a name: it lasts until it is closed, or until the process ends.
func temporaryFile() (*os.File, error) {
	file, err := os.CreateTemp("", "prism-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
