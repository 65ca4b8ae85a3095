package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// apiCall is a call of any path of the API.
type apiCall struct {
	method, path    string
	texts, values   []string // KEY=VALUE and KEY=JSON
	input           string
	headers         []string
	include, follow bool
	output          *output
}

func (a *app) api() *cobra.Command {
	var call apiCall
	cmd := a.command(description{
		use: "api METHOD PATH", short: "Call any path of the API and print its response",
		example: `prismctl api GET /v1/prisms/tickets
prismctl api GET results -f prism=tickets -f status=failed --paginate --jq '.data[].id'
prismctl api POST prisms/tickets/results -f text="Where is my parcel?" -F version=2
prismctl api PUT prisms/tickets/lens --input lens.json -i
echo '{"name":"Support"}' | prismctl api PUT prisms/tickets/name --input -`,
	}, func(cmd *cobra.Command, args []string) error {
		call.method, call.path = strings.ToUpper(args[0]), args[1]
		return a.callAPI(cmd.Context(), call)
	})
	cmd.Long = `Call any path of the API with the key in use, and print the response as it is, also that of an error.

The path may leave out /v1. Each -f KEY=TEXT and -F KEY=JSON is a member of the JSON that is sent, or a parameter of
the address if the method is GET or DELETE. --input sends a file as it is, or with - standard input.`
	f := cmd.Flags()
	f.StringArrayVarP(&call.texts, "field", "f", nil, "`KEY=TEXT` to send; may be repeated")
	f.StringArrayVarP(&call.values, "json-field", "F", nil, "`KEY=JSON` to send, such as version=2 or fields='{\"text\":\"a\"}'; may be repeated")
	f.StringVar(&call.input, "input", "", "file to send as the body; - is standard input")
	f.StringArrayVarP(&call.headers, "header", "H", nil, "header to send, as NAME: VALUE; may be repeated")
	f.BoolVarP(&call.include, "include", "i", false, "print the status and the headers too")
	f.BoolVar(&call.follow, "paginate", false, "read all pages of a list as one")
	cmd.MarkFlagsMutuallyExclusive("input", "field")
	cmd.MarkFlagsMutuallyExclusive("input", "json-field")
	cmd.MarkFlagsMutuallyExclusive("include", "paginate")
	call.output = outputFlag(cmd, "json", "yaml")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (a *app) callAPI(ctx context.Context, call apiCall) error {
	if call.follow && call.method != http.MethodGet {
		return usage(errors.New("--paginate goes with GET"))
	}
	at, query, err := call.address()
	if err != nil {
		return err
	}
	members, err := call.members()
	if err != nil {
		return err
	}
	var body []byte
	contentType := ""
	switch {
	case call.input != "":
		body, err = a.read(ctx, call.input)
		contentType = "application/json"
	case len(members) > 0 && call.inQuery():
		for name, value := range members {
			text, isText := value.(string)
			if !isText {
				text = string(value.(json.RawMessage))
			}
			query.Set(name, text)
		}
	case len(members) > 0:
		body, err = json.Marshal(members)
		contentType = "application/json"
	}
	if err != nil {
		return err
	}
	if call.follow {
		return a.allPages(ctx, call, at, query)
	}
	res, err := a.send(ctx, call, at, query, body, contentType)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if call.include {
		if err := a.showHead(res); err != nil {
			return err
		}
	}
	return a.showResponse(ctx, call, res)
}

// inQuery tells that the members of a call are query parameters, and not a JSON body.
func (c apiCall) inQuery() bool { return c.method == http.MethodGet || c.method == http.MethodDelete }

// address splits PATH into the path below the host and its query parameters.
func (c apiCall) address() (string, url.Values, error) {
	wrong := usage(errors.New("PATH is a path of the API, such as /v1/prisms or prisms/tickets"))
	at, err := url.Parse(strings.TrimLeft(c.path, "/"))
	if err != nil || at.Host != "" || at.Scheme != "" || at.Fragment != "" || at.Path == "" {
		return "", nil, wrong
	}
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return "", nil, wrong
	}
	path := at.EscapedPath()
	if !strings.HasPrefix(path, "v1/") {
		path = "v1/" + path
	}
	return path, query, nil
}

// members are the values of -f and -F: texts, and JSON.
func (c apiCall) members() (map[string]any, error) {
	members := map[string]any{}
	for i, pairs := range [][]string{c.texts, c.values} {
		for _, pair := range pairs {
			name, value, ok := strings.Cut(pair, "=")
			if _, twice := members[name]; !ok || name == "" || twice {
				return nil, usage(errors.New("-f takes KEY=TEXT and -F KEY=JSON, and each key once"))
			}
			members[name] = value
			if i == 1 {
				if !json.Valid([]byte(value)) {
					return nil, usage(fmt.Errorf("-F %s=…: it is no JSON; -f sends a text", name))
				}
				members[name] = json.RawMessage(value)
			}
		}
	}
	return members, nil
}

// send makes the call once.
func (a *app) send(ctx context.Context, call apiCall, path string, query url.Values, body []byte, contentType string) (*http.Response, error) {
	_, t, err := a.client() // checks the address and the key
	if err != nil {
		return nil, err
	}
	address := strings.TrimRight(t.Host, "/") + "/" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, call.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, usage(fmt.Errorf("METHOD is one such as GET or POST: %w", err))
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for _, header := range call.headers {
		name, value, ok := strings.Cut(header, ":")
		if !ok {
			return nil, usage(errors.New("-H takes NAME: VALUE"))
		}
		req.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	req.Header.Set("Authorization", "Bearer "+t.Key)
	req.Header.Set("User-Agent", "prismctl")
	res, err := newCaller().Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err
		}
		return nil, &client.ConnectionError{Operation: "api", Sent: true, Err: err}
	}
	return res, nil
}

// newCaller makes calls that no operation of the client makes.
func newCaller() *http.Client {
	return &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: client.AnswerTimeout},
		// Prism does not redirect. Another server that does must not get the key.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// showHead prints the status and the headers as HTTP has them.
func (a *app) showHead(res *http.Response) error {
	lines := []string{}
	for name, values := range res.Header {
		for _, value := range values {
			lines = append(lines, name+": "+printable(value))
		}
	}
	slices.Sort(lines)
	_, err := fmt.Fprintf(a.out, "%s %s\n%s\n\n", res.Proto, res.Status, strings.Join(lines, "\n"))
	return err
}

// showResponse prints the body. For an error response it also returns the error.
func (a *app) showResponse(ctx context.Context, call apiCall, res *http.Response) error {
	mediaType, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	isJSON := err == nil && mediaType == "application/json"
	if res.StatusCode < http.StatusMultipleChoices && !isJSON {
		_, err := io.Copy(a.out, res.Body) // it may be long, such as an export
		return err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return &client.ConnectionError{Operation: "api", Sent: true, Err: err}
	}
	if len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")) { // the API ends JSON without one
		body = append(body, '\n')
	}
	var indented bytes.Buffer
	switch {
	case res.StatusCode >= http.StatusMultipleChoices:
		_, err = a.out.Write(body)
		return errors.Join(responseError(res, body), err)
	case a.out.terminal && call.output.format == "json" && call.output.jq == "" && json.Indent(&indented, body, "", "  ") == nil:
		body = indented.Bytes()
	}
	return a.writeText(ctx, call.output, body)
}

// responseError is the error that an error response stands for.
func responseError(res *http.Response, body []byte) error {
	e := &client.Error{
		Operation: "api", Status: res.StatusCode, Code: client.CodeUnexpected,
		Message: res.Request.URL.Scheme + "://" + res.Request.URL.Host + " sent a response that is not Prism's", RequestID: res.Header.Get("X-Request-Id"),
	}
	var answered struct {
		Error  json.RawMessage
		Status client.Status
	}
	var refused struct {
		Code    client.Code
		Message string
	}
	if json.Unmarshal(body, &answered) == nil {
		switch {
		case answered.Status == client.Failed:
			return &codeError{exitFailed, errors.New("the model gave no usable answer")}
		case res.StatusCode == http.StatusServiceUnavailable:
			e.Code, e.Message = client.CodeUnavailable, "Service Unavailable"
		case json.Unmarshal(answered.Error, &refused) == nil && refused.Code != "":
			e.Code, e.Message = refused.Code, refused.Message
		}
	}
	return e
}

// allPages prints the items of all pages of a list as one page.
func (a *app) allPages(ctx context.Context, call apiCall, at string, query url.Values) error {
	type listPage struct {
		Data       []json.RawMessage `json:"data"`
		NextCursor *string           `json:"next_cursor"`
	}
	all := listPage{Data: []json.RawMessage{}}
	for {
		res, err := a.send(ctx, call, at, query, nil, "")
		if err != nil {
			return err
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		switch {
		case err != nil:
			return &client.ConnectionError{Operation: "api", Sent: true, Err: err}
		case res.StatusCode >= http.StatusMultipleChoices:
			return responseError(res, body)
		}
		var page listPage
		if json.Unmarshal(body, &page) != nil || page.Data == nil {
			return usage(fmt.Errorf("%s is no list: leave out --paginate", call.path))
		}
		all.Data = append(all.Data, page.Data...)
		if page.NextCursor == nil {
			return a.write(ctx, call.output, all)
		}
		query.Set("cursor", *page.NextCursor)
	}
}
