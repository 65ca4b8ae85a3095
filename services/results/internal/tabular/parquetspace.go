package tabular

import "os"

// What the pages of a Parquet file may take, one of each column at a time (spec: file-parquet).
const (
	spaceMemory = 48 << 20
	spaceTexts  = 16 << 20
	spaceFile   = 4 << 30

	spaceBuffer  = 128 << 10 // of what is written to the file
	spaceHistory = 64 << 10  // of it that stays: what most references of compressed pages go back to
)

const (
	errShort = damage("a page ends too early")
	errGrows = damage("a page expands to more than it says")
)

// space keeps pages: in memory as long as there is room, and else in a temporary file. One region is written at a time.
type space struct {
	memory  int64 // bytes that are left
	texts   int64 // bytes that are left for the last values of DELTA_BYTE_ARRAY
	file    *os.File
	end     int64 // of the file
	buffer  []byte
	scratch []byte // a part of a region that its reader has no room for
}

func (s *space) close() {
	if s.file != nil {
		_ = s.file.Close() // it was removed
	}
}

// region is a page or a part of one. Its zero value, with a space, is empty.
type region struct {
	space  *space
	memory []byte
	inFile bool
	place  int64 // in the file, and room there
	room   int64
	size   int64
	limit  int64 // that size may become
	// The end of the region, while it is written to the file: the first flushed bytes of the region are there.
	flushed int64
}

// begin empties the region to write up to limit bytes.
func (r *region) begin(limit int64) error {
	s := r.space
	r.size, r.limit, r.flushed, r.inFile = 0, limit, 0, false
	if r.memory = r.memory[:0]; limit <= int64(cap(r.memory)) {
		return nil
	}
	s.memory += int64(cap(r.memory))
	r.memory = nil
	if limit <= s.memory {
		r.memory = make([]byte, 0, limit)
		s.memory -= int64(cap(r.memory))
		return nil
	}
	r.inFile, s.buffer = true, s.buffer[:0]
	if limit <= r.room {
		return nil
	}
	if s.file == nil {
		file, err := temporaryFile()
		if err != nil {
			return ownError{err}
		}
		s.file, s.buffer = file, make([]byte, 0, spaceBuffer)
	}
	r.place, r.room = s.end, max(limit, 2*r.room) // else pages that grow would take the sum of their sizes
	if s.end += r.room; s.end > spaceFile {
		return &UnusableError{"The pages of the Parquet file have more than 4 GiB, one of each column. Write smaller ones."}
	}
	return nil
}

// Write implements io.Writer.
func (r *region) Write(p []byte) (n int, err error) {
	if int64(len(p)) > r.limit-r.size {
		return 0, errGrows
	}
	if !r.inFile {
		r.memory = append(r.memory, p...)
		r.size += int64(len(p))
		return len(p), nil
	}
	s := r.space
	for n < len(p) {
		if err := r.makeRoom(); err != nil {
			return n, err
		}
		written := min(len(p)-n, cap(s.buffer)-len(s.buffer))
		s.buffer = append(s.buffer, p[n:n+written]...)
		n, r.size = n+written, r.size+int64(written)
	}
	return n, nil
}

// makeRoom makes room in the buffer.
func (r *region) makeRoom() error {
	s := r.space
	if !r.inFile || len(s.buffer) < cap(s.buffer) {
		return nil
	}
	err := r.flush()
	s.buffer = append(s.buffer[:0], s.buffer[len(s.buffer)-spaceHistory:]...)
	return err
}

// flush writes to the file what is only in the buffer. It is called at the end too.
func (r *region) flush() error {
	if !r.inFile || r.flushed == r.size {
		return nil
	}
	rest := r.space.buffer[len(r.space.buffer)-int(r.size-r.flushed):]
	if _, err := r.space.file.WriteAt(rest, r.place+r.flushed); err != nil {
		return ownError{err}
	}
	r.flushed = r.size
	return nil
}

// repeat writes n bytes that were written before, from so many bytes back on, but not before begin. These may include bytes that it
// writes.
func (r *region) repeat(back, n, begin int64) error {
	if back <= 0 || back > r.size-begin {
		return errCodec
	}
	if n > r.limit-r.size {
		return errGrows
	}
	for n > 0 {
		if err := r.makeRoom(); err != nil { // Write then moves nothing of the buffer
			return err
		}
		from, err := r.earlier(back, n)
		if err != nil {
			return err
		}
		if _, err := r.Write(from); err != nil {
			return err
		}
		n -= int64(len(from))
	}
	return nil
}

// earlier is up to n bytes from so many bytes back on, and no more than Write has room for.
func (r *region) earlier(back, n int64) ([]byte, error) {
	n = min(n, back)
	if !r.inFile {
		return r.memory[r.size-back:][:n], nil
	}
	recent := r.space.buffer
	n = min(n, int64(cap(recent)-len(recent)))
	if back <= int64(len(recent)) {
		return recent[int64(len(recent))-back:][:n], nil
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	return r.view(r.size-back, n)
}

// view is a part of what was written. It is valid until the next view or write.
func (r *region) view(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || n > r.size-at {
		return nil, errShort
	}
	if !r.inFile {
		return r.memory[at : at+n], nil
	}
	if int64(cap(r.space.scratch)) < n {
		r.space.scratch = make([]byte, n)
	}
	p := r.space.scratch[:n]
	return p, r.read(p, at)
}

// value is a view of a value.
func (r *region) value(at, n int64) ([]byte, error) {
	if n > MaxRowBytes {
		return nil, errRowTooLarge
	}
	return r.view(at, n)
}

// read fills p from what was written.
func (r *region) read(p []byte, at int64) error {
	if at < 0 || int64(len(p)) > r.size-at {
		return errShort
	}
	if !r.inFile {
		copy(p, r.memory[at:])
		return nil
	}
	if _, err := r.space.file.ReadAt(p, r.place+at); err != nil {
		return ownError{err}
	}
	return nil
}

// cursor reads a part of a region in order.
type cursor struct {
	region *region
	window []byte // the next bytes
	at     int64  // behind the window
	end    int64
	buffer []byte // of the window, unless the region is in memory
}

// cursorBytes is how much of a region in the file a cursor holds.
const cursorBytes = 16 << 10

func (r *region) cursor(at, end int64) cursor {
	c := cursor{region: r, at: at, end: end}
	if !r.inFile {
		c.window, c.at = r.memory[at:end], end
	}
	return c
}

// left is how many bytes are left.
func (c *cursor) left() int64 { return int64(len(c.window)) + c.end - c.at }

// position is where the next byte is in the region.
func (c *cursor) position() int64 { return c.at - int64(len(c.window)) }

// take is the next n bytes. They are valid until the next call of any method of any cursor of the space.
func (c *cursor) take(n int64) ([]byte, error) {
	if n <= int64(len(c.window)) {
		b := c.window[:n]
		c.window = c.window[n:]
		return b, nil
	}
	if n > c.left() {
		return nil, errShort
	}
	if n > cursorBytes {
		at := c.position()
		c.at, c.window = at+n, nil
		return c.region.view(at, n)
	}
	if c.buffer == nil {
		c.buffer = make([]byte, min(cursorBytes, c.left()))
	}
	length := min(int64(len(c.buffer)), c.left())
	kept := copy(c.buffer, c.window)
	if err := c.region.read(c.buffer[kept:length], c.at); err != nil {
		return nil, err
	}
	c.at += length - int64(kept)
	c.window = c.buffer[n:length]
	return c.buffer[:n], nil
}

// skip passes over the next n bytes.
func (c *cursor) skip(n int64) error {
	if n > c.left() {
		return errShort
	}
	if n <= int64(len(c.window)) {
		c.window = c.window[n:]
		return nil
	}
	c.at, c.window = c.position()+n, nil
	return nil
}

// ReadByte implements io.ByteReader.
func (c *cursor) ReadByte() (byte, error) {
	b, err := c.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}
