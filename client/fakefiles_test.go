package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fakeFiles is a Prism that keeps files in parts of a few bytes.
type fakeFiles struct {
	partBytes int64
	mostNamed int
	mu        sync.Mutex
	files     []*fakeFile // newest first
	puts      int
	// before is called before each request with its number, from 1. If it returns false, the request was taken care of.
	before func(w http.ResponseWriter, r *http.Request) bool
	// then is the handler of other paths.
	then http.HandlerFunc
}

type fakeFile struct {
	File
	parts map[int][]byte
}

func newFakeFiles() *fakeFiles { return &fakeFiles{partBytes: 8, mostNamed: mostMissing} }

func (f *fakeFiles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, found := strings.CutPrefix(r.URL.Path, "/v1/files")
	if f.before != nil && !f.before(w, r) {
		return
	}
	if !found {
		f.then(w, r)
		return
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case r.Method == http.MethodPost && path == "":
		f.create(w, data)
	case path == "":
		page := Page[File]{Data: []File{}} // one file each, as of large ones
		at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		if at < len(f.files) {
			page.Data = append(page.Data, f.files[at].File)
		}
		if next := strconv.Itoa(at + 1); at+1 < len(f.files) {
			page.NextCursor = &next
		}
		encode(w, http.StatusOK, page)
	case f.find(segments[0]) == nil:
		answer(w, http.StatusNotFound, jsonType, `{"error":{"code":"not_found","message":"File not found"}}`)
	case r.Method == http.MethodGet && len(segments) == 1:
		one := f.find(segments[0])
		if one.Status == FileReading {
			one.Status = FileReady
			defer func() { one.Status = FileReady }()
		}
		encode(w, http.StatusOK, one.File)
	case r.Method == http.MethodPut:
		number, _ := strconv.Atoi(segments[2])
		f.put(w, f.find(segments[0]), number, data)
	case r.Method == http.MethodPost:
		f.complete(w, f.find(segments[0]))
	}
}

func (f *fakeFiles) create(w http.ResponseWriter, data []byte) {
	var n NewFile
	if err := json.Unmarshal(data, &n); err != nil {
		answer(w, http.StatusBadRequest, jsonType, `{"error":{"code":"bad_request","message":"Malformed"}}`)
		return
	}
	one := &fakeFile{parts: map[int][]byte{}, File: File{
		ID: fmt.Sprint("file-", len(f.files)+1), Name: n.Name, Format: n.Format, Bytes: n.Bytes, SHA256: &n.SHA256, Status: FileUploading,
		PartBytes: f.partBytes, Parts: int((n.Bytes + f.partBytes - 1) / f.partBytes),
	}}
	f.files = append([]*fakeFile{one}, f.files...)
	f.missing(one)
	encode(w, http.StatusCreated, one.File)
}

func (f *fakeFiles) put(w http.ResponseWriter, one *fakeFile, number int, data []byte) {
	want := min(f.partBytes, one.Bytes-int64(number-1)*f.partBytes)
	was, there := one.parts[number]
	switch {
	case number < 1 || number > one.Parts || int64(len(data)) != want:
		answer(w, http.StatusBadRequest, jsonType, `{"error":{"code":"validation_failed","message":"a part of another length"}}`)
	case there && string(was) != string(data):
		answer(w, http.StatusConflict, jsonType, `{"error":{"code":"conflict","message":"Part was already sent with other content."}}`)
	default:
		one.parts[number] = data
		f.puts++
		f.missing(one)
		sum := sha256.Sum256(data)
		encode(w, http.StatusOK, FilePart{Part: number, Bytes: want, SHA256: hex.EncodeToString(sum[:])})
	}
}

func (f *fakeFiles) complete(w http.ResponseWriter, one *fakeFile) {
	if len(one.Missing) > 0 {
		answer(w, http.StatusConflict, jsonType, `{"error":{"code":"conflict","message":"Parts are missing: 1."}}`)
		return
	}
	if sum := sha256.Sum256([]byte(one.content())); hex.EncodeToString(sum[:]) != *one.SHA256 {
		answer(w, http.StatusConflict, jsonType, `{"error":{"code":"conflict","message":"The file's content differs from its sha256."}}`)
		return
	}
	if one.Status == FileUploading {
		one.Status = FileReading
	}
	encode(w, http.StatusAccepted, one.File)
}

func (f *fakeFiles) missing(one *fakeFile) {
	one.Missing = []int{}
	for n := 1; n <= one.Parts && len(one.Missing) < f.mostNamed; n++ {
		if _, there := one.parts[n]; !there {
			one.Missing = append(one.Missing, n)
		}
	}
}

func (f *fakeFiles) find(id string) *fakeFile {
	for _, one := range f.files {
		if one.ID == id {
			return one
		}
	}
	return nil
}

func (one *fakeFile) content() string {
	var b strings.Builder
	for n := 1; n <= one.Parts; n++ {
		b.Write(one.parts[n])
	}
	return b.String()
}

// has checks that there is one file, and that it is whole.
func (f *fakeFiles) has(t *testing.T, content string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if newest := f.files[0]; newest.content() != content || newest.Status != FileReady {
		t.Errorf("the file is %s and has %q", newest.Status, newest.content())
	}
}

// count is how many parts were stored, and how many files there are.
func (f *fakeFiles) count() (puts, files int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.puts, len(f.files)
}

// reads tells whether the newest file is being read.
func (f *fakeFiles) reads() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files[0].Status == FileReading
}

func encode(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	answer(w, status, jsonType, string(text))
}

func uploadOf(content string) Upload {
	return Upload{Name: "tickets.csv", Format: FileCSV, Content: strings.NewReader(content), Bytes: int64(len(content))}
}

// cutAfter loses the connection that carries the byte with this number of all that the client sends, or of all that it receives.
type cutAfter struct {
	mu             sync.Mutex
	sent, received int // how many bytes are left; below zero, the cut was made
}

func (k *cutAfter) on(c *Client) {
	transport := newTransport()
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return &cutConn{conn, k}, err
	}
	c.http.Transport = transport
}

type cutConn struct {
	net.Conn
	cut *cutAfter
}

func (c *cutConn) Write(p []byte) (int, error) {
	take, cut := c.cut.take(&c.cut.sent, len(p))
	n, err := c.Conn.Write(p[:take])
	if cut {
		_ = c.Close()
		err = io.ErrClosedPipe
	}
	return n, err
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	n, cut := c.cut.take(&c.cut.received, n)
	if cut {
		_ = c.Close()
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (k *cutAfter) take(left *int, n int) (int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := *left
	if was < 0 {
		return n, false
	}
	*left -= n
	if *left < 0 {
		return was, true
	}
	return n, false
}

// never is a cut that is not made.
const never = -1
