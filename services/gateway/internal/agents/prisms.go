package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// described is what an agent needs to know of a prism.
type described struct {
	Slug    string  `json:"slug"`
	Name    *string `json:"name"`
	Version struct {
		Fields []struct {
			Key   string  `json:"key"`
			Label *string `json:"label"`
		} `json:"fields"`
		Questions []struct {
			Key  string `json:"key"`
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"questions"`
	} `json:"version"`
	Lens struct {
		Columns []struct {
			Name string     `json:"name"`
			Show prism.Show `json:"show"`
		} `json:"columns"`
	} `json:"lens"`
}

type prismPage struct {
	Data []described `json:"data"`
	Next *string     `json:"next_cursor"`
}

// prismsOf are the prisms that were picked, without those that are not there or are archived, or else the newest ones.
func prismsOf(ctx context.Context, calls Calls, picked []string) (all []described, err error) {
	for _, slug := range picked[:min(len(picked), maxAsk)] {
		body, _, err := calls.Do(ctx, api.ReadPrism, Request{Path: map[string]string{"prism": slug}})
		var p struct {
			described
			ArchivedAt *string `json:"archived_at"`
		}
		var known *apierr.Error
		switch {
		case errors.As(err, &known) && (known.Status == http.StatusNotFound || known.Status == http.StatusBadRequest):
			continue
		case err != nil:
			return nil, err
		}
		if err := json.Unmarshal(body, &p); err != nil {
			return nil, fmt.Errorf("agents: a prism: %w", err)
		}
		if p.ArchivedAt == nil {
			all = append(all, p.described)
		}
	}
	if len(picked) > 0 {
		return all, nil
	}
	for cursor := ""; len(all) < maxAsk; {
		page, err := pageOfPrisms(ctx, calls, url.Values{"limit": {"100"}, "cursor": {cursor}})
		if err != nil {
			return nil, err
		}
		for _, p := range page.Data {
			if !strings.HasPrefix(p.Slug, adHoc) {
				all = append(all, p)
			}
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	return all, nil
}

func pageOfPrisms(ctx context.Context, calls Calls, query url.Values) (page prismPage, err error) {
	if query.Get("cursor") == "" {
		query.Del("cursor")
	}
	body, _, err := calls.Do(ctx, api.ListPrisms, Request{Query: query})
	if err != nil {
		return page, err
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return page, fmt.Errorf("agents: a page of prisms: %w", err)
	}
	return page, nil
}

// listPrisms lists prisms without what agents do not need: options, examples and instructions.
func listPrisms(ctx context.Context, calls Calls, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	members := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &members) != nil {
		return nil, apierr.Malformed()
	}
	query := url.Values{"limit": {"20"}}
	for _, name := range []string{"limit", "cursor"} {
		if value, sent := members[name]; sent {
			query.Set(name, plain(value))
		}
	}
	page, err := pageOfPrisms(ctx, calls, query)
	if err != nil {
		return nil, err
	}
	type asked struct {
		Slug      string  `json:"slug"`
		Name      *string `json:"name"`
		Fields    any     `json:"fields"`
		Questions any     `json:"questions"`
	}
	list := struct {
		Prisms []asked `json:"prisms"`
		Next   *string `json:"next_cursor"`
	}{Prisms: []asked{}, Next: page.Next}
	for _, p := range page.Data {
		list.Prisms = append(list.Prisms, asked{p.Slug, p.Name, p.Version.Fields, p.Version.Questions})
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("agents: prisms: %w", err)
	}
	return answered(body, false), nil
}

// askTool is the tool of a prism: its fields are its input, and the columns of its Lens its answers.
func askTool(p described) tool {
	fields, required := schema{}, []string{}
	for _, f := range p.Version.Fields {
		field := schema{"type": "string", "maxLength": 100_000}
		if f.Label != nil && *f.Label != "" {
			field["description"] = cut(*f.Label, maxDescription)
		}
		fields[f.Key] = field
		required = append(required, f.Key)
	}
	columns := schema{}
	for _, c := range p.Lens.Columns {
		kind := "number"
		if c.Show == prism.ShowAnswer {
			kind = "string"
		}
		columns[c.Name] = schema{"type": []string{kind, "null"}}
	}
	description := p.Slug
	if p.Name != nil && *p.Name != "" {
		description = *p.Name
	}
	for _, q := range p.Version.Questions {
		description += "\n" + q.Text
	}
	return asking(p.Slug, &mcp.Tool{
		Name: askPrefix + p.Slug, Description: cut(description, maxDescription), InputSchema: object(fields, required...),
		OutputSchema: schema{
			"type": "object",
			"properties": schema{
				"id": schema{"type": "string"}, "prism": schema{"type": "string"}, "version": schema{"type": "integer"},
				"status": schema{"type": "string"}, "error": schema{"type": []string{"string", "null"}},
				"answers": schema{"type": []string{"object", "null"}, "properties": columns},
			},
		},
	})
}

// asking is a tool that asks a prism, whose arguments are the fields.
func asking(slug string, t *mcp.Tool) tool {
	t.Annotations = asks
	return tool{Tool: t, op: api.CreateResult, call: func(ctx context.Context, calls Calls, arguments json.RawMessage) (*mcp.CallToolResult, error) {
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		body, err := json.Marshal(map[string]json.RawMessage{"fields": arguments})
		if err != nil {
			return nil, apierr.Malformed()
		}
		return made(ctx, calls, api.CreateResult, Request{Path: map[string]string{"prism": slug}, Body: body})
	}}
}

// denied reports whether an error is that the role of a key lacks an operation.
func denied(err error) bool {
	var known *apierr.Error
	return errors.As(err, &known) && known.Status == http.StatusForbidden
}
