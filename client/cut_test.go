package client_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/client"
)

// A real Prism gets each upload whole although its connections are cut: at every byte of the content of a small file, and at a random
// byte of a large one, which has several parts under way. No part that Prism has is sent again.
//
// spec: file-upload, file-parts, file-complete
func TestAnUploadToARealPrismThatIsCutResumes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		bytes, cuts int
		at          func(n, bytes int) int
		atOnce      int
	}{
		{"at every byte of a small file", 60, 61, func(n, _ int) int { return n }, 16},
		{"at random bytes of a large file", 5 << 20, 30, func(n, bytes int) int {
			return rand.New(rand.NewPCG(uint64(n), 0)).IntN(bytes + 1)
		}, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key, err := server.Account(t.Context(), t.Name())
			if err != nil {
				t.Fatal(err)
			}
			content := linesOf(c.bytes)
			places := make(chan int)
			var uploads sync.WaitGroup
			for range c.atOnce {
				uploads.Go(func() {
					for n := range places {
						if err := cutUpload(t.Context(), key, n, content, c.at(n, c.bytes)); err != nil {
							t.Errorf("upload %d, cut at byte %d: %v", n, c.at(n, c.bytes), err)
						}
					}
				})
			}
			for n := range c.cuts {
				places <- n
			}
			close(places)
			uploads.Wait()
			files := 0
			for f, err := range connect(t, key).Files(t.Context()) {
				if files++; err != nil || f.Status != client.FileReady {
					t.Errorf("%s is %s: %v", f.Name, f.Status, err)
				}
			}
			if files != c.cuts {
				t.Errorf("%d uploads made %d files", c.cuts, files)
			}
		})
	}
}

// linesOf is a file of csv with so many bytes.
func linesOf(size int) string {
	var b strings.Builder
	b.WriteString("n,text\n")
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "%d,%s\n", n, strings.Repeat(string(rune('a'+n%26)), min(10+n, 900)))
	}
	return b.String()[:size-1] + "\n"
}

// cutUpload uploads a file through a proxy that cuts the connections at a byte of the content, and looks at what Prism has.
func cutUpload(ctx context.Context, key string, n int, content string, at int) error {
	p, err := newCutting(strings.TrimPrefix(server.URL, "http://"), at)
	if err != nil {
		return err
	}
	defer p.close()
	c, err := client.New(client.Config{URL: "http://" + p.ln.Addr().String(), Key: key})
	if err != nil {
		return err
	}
	u := client.Upload{
		Name: fmt.Sprintf("%d.csv", n), Format: client.FileCSV, Content: strings.NewReader(content), Bytes: int64(len(content)),
	}
	f, err := c.UploadFile(ctx, u)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(content), "\n")[1:]
	if f.Rows == nil || *f.Rows != int64(len(lines)) {
		return fmt.Errorf("the file has %v rows, want %d", f.Rows, len(lines))
	}
	offset := max(0, len(lines)-3)
	last, err := c.ListFileRows(ctx, f.ID, int64(offset), 3)
	if err != nil {
		return err
	}
	var got []string
	for _, row := range last.Data {
		got = append(got, *row[0].Value+","+*row[1].Value)
	}
	if !slices.Equal(got, lines[offset:]) {
		return fmt.Errorf("the last rows are %.200q", got)
	}
	const underWay = 4 // parts that are sent at once
	if cut, parts := p.seen(); !cut || parts > f.Parts+min(underWay, f.Parts) {
		return fmt.Errorf("cut: %t; %d parts were sent of a file with %d", cut, parts, f.Parts)
	}
	return nil
}

// cutting passes connections on to a server, and cuts all of them once, behind a number of bytes of the content of parts.
type cutting struct {
	ln      net.Listener
	server  string
	passing sync.WaitGroup

	mu    sync.Mutex
	left  int  // bytes before the cut
	spent bool // a connection has the last of them
	cut   bool
	parts int // that were begun
	open  map[net.Conn]bool
}

func newCutting(server string, at int) (*cutting, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &cutting{ln: ln, server: server, left: at, open: map[net.Conn]bool{}}
	p.passing.Go(func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			p.passing.Go(func() { p.pass(from) })
		}
	})
	return p, nil
}

func (p *cutting) close() {
	_ = p.ln.Close()
	p.cutAll()
	p.passing.Wait()
}

func (p *cutting) seen() (cut bool, parts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut, p.parts
}

func (p *cutting) pass(from net.Conn) {
	to, err := net.Dial("tcp", p.server)
	if err != nil {
		_ = from.Close()
		return
	}
	defer p.keep(from, to)()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	})
	p.requests(to, bufio.NewReader(from))
	_ = to.Close()
	back.Wait()
}

// keep has cutAll close connections until the end of its result.
func (p *cutting) keep(conns ...net.Conn) (drop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.open[c] = true
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range conns {
			delete(p.open, c)
			_ = c.Close()
		}
	}
}

// requests passes requests on until a connection ends or the cut is made.
func (p *cutting) requests(to io.Writer, from *bufio.Reader) {
	for {
		head, length, err := readHead(from)
		if err != nil {
			return
		}
		if _, err := to.Write(head); err != nil {
			return
		}
		most, last := length, false
		if bytes.HasPrefix(head, []byte("PUT ")) {
			most, last = p.begin(length)
		}
		if _, err := io.CopyN(to, from, int64(most)); err != nil {
			return
		}
		switch {
		case last:
			p.cutAll()
			return
		case most < length: // another connection has the byte of the cut
			_, _ = io.Copy(io.Discard, from)
			return
		}
	}
}

// readHead reads the head of a request, and how many bytes its body has.
func readHead(from *bufio.Reader) (head []byte, length int, err error) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return nil, 0, err
		}
		head = append(head, line...)
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return head, length, nil
		}
		if name, value, _ := strings.Cut(line, ": "); strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(value); err != nil {
				return nil, 0, err
			}
		}
	}
}

// begin begins a part: most bytes of it come before the cut, and the cut comes behind them if they are the last.
func (p *cutting) begin(length int) (most int, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts++
	switch {
	case p.cut:
		return length, false
	case p.spent:
		return 0, false
	}
	most = min(length, p.left)
	p.left -= most
	p.spent = p.left == 0
	return most, p.spent
}

// cutAll ends all connections, with a reset.
func (p *cutting) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
}
