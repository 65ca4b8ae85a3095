package wire_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
)

// replica responds to the first request on each connection of a raw server, and then does what the test says.
func replica(conn net.Conn, behaves func(*bufio.Reader)) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	if read(in) != nil {
		return
	}
	const body = `{"Error":"first","TookMS":0}`
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	behaves(in)
}

// read reads one request.
func read(in *bufio.Reader) error {
	req, err := http.ReadRequest(in)
	if err == nil {
		_, err = io.Copy(io.Discard, req.Body)
	}
	return err
}

func TestACallThatAServerRefusesIsMadeOnANewConnection(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"503 Service Unavailable", "408 Request Timeout"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			url := serveRaw(t, func(conn net.Conn) {
				replica(conn, func(in *bufio.Reader) {
					if read(in) == nil {
						_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
					}
				})
			})
			models := dialModels(t, url)
			results := dial(t, url, token, wire.NewResults)
			for range 3 { // the second call meets the refusal
				if got, err := models.Ask(t.Context(), contract.Ask{}); err != nil || got.Error != "first" {
					t.Errorf("%+v, %v", got, err)
				}
				if err := openOne(t.Context(), results); err != nil {
					t.Errorf("a stream: %v", err)
				}
			}
		})
	}
}

func TestAClosingNoticeIsNoResponse(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{}, 10)
	c := dialModels(t, serveRaw(t, func(conn net.Conn) {
		replica(conn, func(in *bufio.Reader) {
			_, _ = io.WriteString(conn, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			if half, ok := conn.(*net.TCPConn); !ok || half.CloseWrite() != nil {
				t.Error("the notice does not end the connection")
			}
			sent <- struct{}{}
			if _, err := in.Peek(1); err == nil {
				t.Error("a request was sent behind the notice")
			}
		})
	}))
	for range 3 {
		if got, err := c.Ask(t.Context(), contract.Ask{}); err != nil || got.Error != "first" {
			t.Errorf("%+v, %v", got, err)
		}
		<-sent
	}
}

// counted is a service that closes each connection in the middle of its n-th request, which it has read.
func counted(t *testing.T, requests *atomic.Int64, breaks int64) string {
	t.Helper()
	return serveRaw(t, func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		in := bufio.NewReader(conn)
		for read(in) == nil {
			if requests.Add(1) <= breaks {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}
	})
}

func TestOnlyALookUpIsRepeatedAfterALostResponse(t *testing.T) {
	t.Parallel()
	stream := func(r wire.Results, _ wire.Models) error { return openOne(t.Context(), r) }
	for _, row := range []struct {
		name     string
		breaks   int64
		call     func(wire.Results, wire.Models) error
		requests int64
		ok       bool
	}{
		{"a look-up, lost once", 1, readOne, 2, true},
		{"a look-up, lost twice", 2, readOne, 2, false},
		{"a stream, lost once", 1, stream, 2, true},
		{"a stream, lost twice", 2, stream, 2, false},
		{"a save", 1, func(r wire.Results, _ wire.Models) error {
			_, err := r.Save(t.Context(), contract.Save{})
			return err
		}, 1, false},
		{"a model call", 1, func(_ wire.Results, m wire.Models) error {
			_, err := m.Ask(t.Context(), contract.Ask{})
			return err
		}, 1, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			url := counted(t, &requests, row.breaks)
			results := dial(t, url, token, wire.NewResults)
			err := row.call(results, dialModels(t, url).Models)
			if (err == nil) != row.ok || requests.Load() != row.requests {
				t.Errorf("%d requests, %v", requests.Load(), err)
			}
		})
	}
}

func readOne(r wire.Results, _ wire.Models) error {
	_, err := contract.Do(context.Background(), r, contract.KeyDigest{}, api.ReadResult, api.ResultInFormat{})
	if err != nil && !errors.Is(err, contract.ErrUnavailable) {
		return errors.Join(errors.New("a look-up that was lost twice took nothing"), err)
	}
	return err
}

func openOne(ctx context.Context, r wire.Results) error {
	stream, err := contract.Open(ctx, r, contract.KeyDigest{}, api.ExportResults, api.ExportResultsRequest{})
	if err != nil && !errors.Is(err, contract.ErrUnavailable) {
		return errors.Join(errors.New("a stream that was lost twice took nothing"), err)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, stream.Body)
	return errors.Join(err, stream.Body.Close())
}
