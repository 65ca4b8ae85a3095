package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Upload is a file to upload.
type Upload struct {
	Name    string // for people
	Format  FileFormat
	Content io.ReaderAt // read several times, also at once
	Bytes   int64
	// Progress gets the number of bytes that Prism has at least. It is not called concurrently. Optional.
	Progress func(sent int64)
}

// UploadOf is the upload of an open file. An empty format stands for that of the extension of the file's name.
func UploadOf(f *os.File, format FileFormat) (Upload, error) {
	info, err := f.Stat()
	if err != nil {
		return Upload{}, err
	}
	if format == "" {
		var known bool
		if format, known = FileFormatOf(f.Name()); !known {
			return Upload{}, fmt.Errorf("client: %s: the extension is not csv, tsv, jsonl, xlsx or parquet", filepath.Base(f.Name()))
		}
	}
	return Upload{Name: filepath.Base(f.Name()), Format: format, Content: f, Bytes: info.Size()}, nil
}

// UnusableFileError is a file that Prism cannot read.
type UnusableFileError struct{ File File }

func (e *UnusableFileError) Error() string {
	if e.File.Error == nil {
		return "prism: the file is unusable"
	}
	return "prism: the file is unusable: " + *e.File.Error
}

// partsAtOnce is how many parts are sent at once. With a high latency, one connection does not use the whole bandwidth.
const partsAtOnce = 4

// UploadFile uploads a file and returns it when Prism has read it. It sends the missing parts several at a time, and asks again
// what is missing when a connection is lost. It continues a file of the same name, format and content among the account's newest
// hundred, and sends only what is missing: after a crash, the same call continues the upload. A file that Prism cannot read is
// an *UnusableFileError.
func (c *Client) UploadFile(ctx context.Context, u Upload) (File, error) {
	sum, err := u.sum(ctx)
	if err != nil {
		return File{}, err
	}
	s := &uploading{Upload: u, c: c, new: NewFile{Name: u.Name, Format: u.Format, Bytes: u.Bytes, SHA256: sum}}
	err = c.patiently(ctx, func() (bool, error) {
		before := s.sent.Load()
		err := s.advance(ctx)
		return s.sent.Load() > before, err
	})
	if err != nil {
		return s.file, err
	}
	return c.whenRead(ctx, s.file)
}

// sum is the SHA-256 of the content in hex.
func (u Upload) sum(ctx context.Context) (string, error) {
	h := sha256.New()
	n, err := io.Copy(h, &whileAlive{ctx, io.NewSectionReader(u.Content, 0, u.Bytes)})
	if err == nil && n != u.Bytes {
		err = fmt.Errorf("client: the file has %d bytes, not %d", n, u.Bytes)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// whileAlive reads until its context ends.
type whileAlive struct {
	ctx  context.Context //nolint:containedctx // a reader has no other place for it
	from io.Reader
}

func (r *whileAlive) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// uploading is an upload under way.
type uploading struct {
	Upload
	c      *Client
	new    NewFile
	file   File // as Prism described it last; zero until it is found or created
	stored bool // file was among the account's files
	anew   bool // the found file could not be continued
	sent   atomic.Int64
	shown  sync.Mutex // of Progress
}

// advance does all that is left of the upload.
func (s *uploading) advance(ctx context.Context) error {
	err := s.find(ctx)
	for err == nil && s.file.Status == FileUploading {
		if len(s.file.Missing) == 0 {
			err = s.keep(s.c.CompleteFile(ctx, s.file.ID))
		} else if err = s.sendMissing(ctx); err == nil {
			err = s.keep(s.c.ReadFile(ctx, s.file.ID))
		}
	}
	if s.stored && errors.Is(err, ErrConflict) { // a part was sent with other content, by another program or before a change
		s.file, s.stored, s.anew = File{}, false, true
		return s.advance(ctx)
	}
	return err
}

// newestFiles is among how many files of the account an upload looks for its own.
const newestFiles = 100

// find reads the file again, or finds it among the account's files, or creates it.
func (s *uploading) find(ctx context.Context) error {
	if s.file.ID == "" && !s.anew {
		newest := 0
		for f, err := range s.c.Files(ctx) {
			if err != nil {
				return err
			}
			if f.SHA256 != nil && f.Status != FileUnusable && s.new == (NewFile{f.Name, f.Format, f.Bytes, *f.SHA256}) {
				s.file, s.stored = f, true
				break
			}
			if newest++; newest == newestFiles {
				break
			}
		}
	}
	if s.file.ID == "" {
		return s.keep(s.c.CreateFile(ctx, s.new))
	}
	return s.keep(s.c.ReadFile(ctx, s.file.ID)) // a list may tell less of a file
}

// keep takes the file of a successful response. After an error, the file stays known.
func (s *uploading) keep(f File, err error) error {
	if err == nil {
		s.file = f
	}
	return err
}

// sendMissing sends the parts that are known to be missing.
func (s *uploading) sendMissing(ctx context.Context) error {
	missing := s.file.Missing
	// If the list is full, nothing is known of the parts behind its last one.
	there := int64(s.file.Parts - len(missing))
	if len(missing) == mostMissing {
		there = int64(missing[mostMissing-1] - mostMissing)
	}
	s.sent.Store(there * s.file.PartBytes)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var senders sync.WaitGroup
	for range min(partsAtOnce, len(missing)) {
		senders.Go(func() {
			for n := next.Add(1); n <= int64(len(missing)) && ctx.Err() == nil; n = next.Add(1) {
				if err := s.send(ctx, missing[n-1]); err != nil {
					cancel(err)
				}
			}
		})
	}
	senders.Wait()
	return context.Cause(ctx)
}

// mostMissing is how many missing parts a response names at most.
const mostMissing = 1000

func (s *uploading) send(ctx context.Context, number int) error {
	begin := int64(number-1) * s.file.PartBytes
	data := make([]byte, min(s.file.PartBytes, s.Bytes-begin)) // not reused: the transport may read it after an error
	if n, err := s.Content.ReadAt(data, begin); n < len(data) {
		return err
	}
	if _, err := s.c.PutPart(ctx, s.file.ID, number, data); err != nil {
		return err
	}
	s.shown.Lock()
	defer s.shown.Unlock()
	if now := s.sent.Add(int64(len(data))); s.Progress != nil {
		s.Progress(min(now, s.Bytes))
	}
	return nil
}

// whenRead waits until Prism has read a file.
func (c *Client) whenRead(ctx context.Context, f File) (File, error) {
	for n := 1; f.Status == FileReading; n++ {
		if !c.poll.wait(ctx, n, 0) {
			return f, ended(ctx)
		}
		err := c.patiently(ctx, func() (_ bool, err error) {
			var now File
			if now, err = c.ReadFile(ctx, f.ID); err == nil {
				f = now
			}
			return false, err
		})
		if err != nil {
			return f, err
		}
	}
	if f.Status == FileUnusable {
		return f, &UnusableFileError{f}
	}
	return f, nil
}
