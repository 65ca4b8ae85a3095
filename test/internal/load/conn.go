package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// conn is a kept connection.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func dial(ctx context.Context, addr string) (*conn, error) {
	c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReader(c)}, nil
}

// call sends a request and skips the response, or has seen look at its body. The response must have a Content-Length: all responses of Prism
// but exports have one.
func (c *conn) call(request []byte, status int, seen func(body []byte)) error {
	if err := c.SetDeadline(time.Now().Add(callBudget)); err != nil {
		return err
	}
	if _, err := c.Write(request); err != nil {
		return err
	}
	got, length, err := c.header()
	if err != nil {
		return err
	}
	if got == http.StatusServiceUnavailable && got != status {
		_, err = c.r.Discard(length)
		return errors.Join(errRefused, err)
	}
	if got != status {
		body, _ := io.ReadAll(io.LimitReader(c.r, int64(length)))
		return fmt.Errorf("load: %d instead of %d: %s", got, status, body)
	}
	if seen != nil {
		body := make([]byte, length)
		if _, err := io.ReadFull(c.r, body); err != nil {
			return err
		}
		seen(body)
		return nil
	}
	_, err = c.r.Discard(length)
	return err
}

// errRefused means that the response was 503: the server sheds load.
var errRefused = errors.New("load: got 503")

var contentLength = []byte("content-length:")

func (c *conn) header() (status, length int, err error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, 0, fmt.Errorf("load: the response begins with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, fmt.Errorf("load: the response begins with %q", line)
	}
	length = -1
	for {
		line, err = c.r.ReadSlice('\n')
		switch {
		case err != nil:
			return 0, 0, err
		case len(line) <= 2:
			if length < 0 {
				return 0, 0, fmt.Errorf("load: the response has no Content-Length")
			}
			return status, length, nil
		case len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, 0, err
			}
		}
	}
}
