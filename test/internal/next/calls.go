package next

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// definition is that of the prism that Call makes.
const definition = `{"slug":"next","fields":[{"key":"text"}],"questions":[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]}`

// Calls are the responses to calls of a Prism whose processes are of this release or of the next one, by status. 0 is no response.
type Calls struct {
	Known     map[int]int // that both releases know
	Member    map[int]int // with the added member
	Operation map[int]int // of the added operation
	Noted     int         // of Member, that returned the member
}

// Line is a line that the calls print: what there was, and at the end its report.
type Line struct{ Progress, Report *Calls }

// Right is an error unless each call that both releases know was answered, and what only the next one knows was answered as a whole, or
// refused, and both happened.
func (c *Calls) Right() error {
	var errs []error
	for name, kind := range map[string]struct {
		seen map[int]int
		may  []int
	}{
		"that both releases know": {c.Known, nil}, "with the added member": {c.Member, []int{http.StatusServiceUnavailable}},
		"of the added operation": {c.Operation, []int{http.StatusNotFound, http.StatusServiceUnavailable}},
	} {
		others := 0
		for status, n := range kind.seen {
			others += n
			for _, may := range append(kind.may, http.StatusOK) {
				if status == may {
					others -= n
				}
			}
		}
		if others > 0 || kind.seen[http.StatusOK] == 0 {
			errs = append(errs, fmt.Errorf("the calls %s: %v", name, kind.seen))
		}
	}
	if c.Noted == 0 || c.Operation[http.StatusNotFound] == 0 {
		errs = append(errs, errors.New("not both releases were called"))
	}
	return errors.Join(errs...)
}

// Call makes a prism, and calls until stop ends. progress is called after each round of calls.
func Call(ctx, stop context.Context, url, key string, pause time.Duration, progress func(Calls)) (*Calls, error) {
	url += "/v1/prisms"
	if status, text := Send(ctx, key, http.MethodPost, url, definition); status != http.StatusCreated {
		return nil, fmt.Errorf("next: the prism is not made: %d %s", status, text)
	}
	url += "/next/retention"
	c := &Calls{Known: map[int]int{}, Member: map[int]int{}, Operation: map[int]int{}}
	pace := time.NewTicker(pause)
	defer pace.Stop()
	for {
		status, text := Send(ctx, key, http.MethodPut, url, `{"days":30}`)
		if status == http.StatusOK && !strings.Contains(text, `"retention_days":30`) {
			status = 0
		}
		c.Known[status]++
		status, text = Send(ctx, key, http.MethodPut, url, `{"days":30,"note":"why"}`)
		c.Member[status]++
		if status == http.StatusOK && strings.Contains(text, `"retention_note":"why"`) {
			c.Noted++
		}
		status, _ = Send(ctx, key, http.MethodGet, url, "")
		c.Operation[status]++
		progress(*c)
		select {
		case <-stop.Done():
			return c, nil
		case <-pace.C:
		}
	}
}

// Send makes a call. It is sent again if a kept connection was closed, as these calls may be repeated.
func Send(ctx context.Context, key, method, url, body string) (status int, text string) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	request.Header["X-Idempotency-Key"] = nil // is not sent, and tells the client so
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(b)
}
