package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

const (
	askPrefix = "ask_"
	// maxName is how long the name of a tool may be, maxAsk how many prisms have a tool of their own, and maxDescription how many characters
	// a description has (spec: mcp-tools).
	maxName, maxAsk, maxDescription = 64, 30, 1000
	// maxText is how many characters the text of an answer has beside its structured content.
	maxText = 2000
	adHoc   = prism.AdHocPrefix
)

// tool is a tool, and the call that it makes.
type tool struct {
	*mcp.Tool
	op   api.Operation
	call func(ctx context.Context, calls Calls, arguments json.RawMessage) (*mcp.CallToolResult, error)
}

// schema is a JSON schema.
type schema = map[string]any

func object(properties schema, required ...string) schema {
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func text(description string) schema { return schema{"type": "string", "description": description} }

func textsByKey(description string) schema {
	return schema{"type": "object", "additionalProperties": schema{"type": "string"}, "description": description}
}

// Hints of tools.
var (
	reads = &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}
	asks  = &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(true)}
	sets  = &mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)}
)

// fixed are the tools that every account has, by the operations that they call.
func fixed() []tool {
	result := text("The id of a result.")
	prism := text("The slug or id of a prism, as list_prisms has it.")
	return []tool{
		simple(api.CreateResult, "ask", "Ask the questions of a prism about a text. list_prisms has the prisms, their fields and their questions.", asks,
			object(schema{
				"prism": prism, "fields": textsByKey("A text for each field of the prism, by its key."),
				"version": schema{"type": "integer", "minimum": 1}, "context": text("What the model should know beside the fields."),
				"ref": text("Your own name of the call."), "idempotency_key": text("Makes a repeat of the call return the first result."),
			}, "prism", "fields"), []string{"prism"}),
		{op: api.ListPrisms, call: listPrisms, Tool: &mcp.Tool{
			Name: "list_prisms", Description: "List the prisms: their slugs, fields and questions.", Annotations: reads,
			InputSchema: object(schema{"cursor": text("next_cursor of the page before."), "limit": schema{"type": "integer", "minimum": 1, "maximum": 100}}),
		}},
		simple(api.ReadResult, "get_result", "Read a result by its id.", reads,
			object(schema{"result_id": result, "format": schema{"type": "string", "enum": []string{"json", "raw"}}}, "result_id"), []string{"result_id"}),
		simple(api.RetryResult, "retry_result", "Send the input of a failed result to the model again. It has a new id.", asks,
			object(schema{"result_id": result}, "result_id"), []string{"result_id"}),
		simple(api.ListResults, "list_results",
			"List results, the newest first, or those that words, conditions and an order find. where and sort need prism: "+
				"where is such as topic:is:billing, topic:not:billing, refund:from:0.8, urgency@average:to:2.5, topic:unlabelled; sort such as -refund.", reads,
			object(schema{
				"prism": prism, "status": schema{"type": "string", "enum": []string{"ok", "failed"}}, "q": text("Words in texts, all of them; \"a phrase\", -not, or."),
				"where": schema{"type": "array", "items": schema{"type": "string"}}, "sort": text("An order."), "ref": text("Your own name of calls."),
				"version": schema{"type": "integer", "minimum": 1}, "from": text("A time, inclusive."), "to": text("A time, exclusive."),
				"model": text("The name of a model."), "run": text("The id of a run."), "assignee": text("The id of a member, me or none."),
				"fields": schema{"type": "boolean", "description": "Whether each result has what was sent."},
				"format": schema{"type": "string", "enum": []string{"json", "raw"}}, "limit": schema{"type": "integer", "minimum": 1, "maximum": 100},
				"cursor": text("next_cursor of the page before."),
			}), nil),
		simple(api.CreateRun, "start_run", "Ask a prism about the rows of an uploaded file, or again about results. dry_run checks the rows and makes no run.", asks,
			object(schema{
				"prism": prism, "file_id": text("The id of an uploaded file."), "fields": textsByKey("The column of each field, by the key of the field."),
				"from_results": schema{"type": "object", "description": "In place of a file: ids, status, version, from, to, q, where."},
				"version":      schema{"type": "integer", "minimum": 1}, "name": text("What people call the run."), "dry_run": schema{"type": "boolean"},
				"rows_per_second": schema{"type": "number"}, "concurrency": schema{"type": "integer", "minimum": 1},
				"idempotency_key": text("Makes a repeat of the call return the first run."),
			}, "prism"), []string{"prism"}),
		simple(api.ReadRun, "get_run", "Read how far a run is.", reads, object(schema{"run_id": text("The id of a run.")}, "run_id"), []string{"run_id"}),
		simple(api.PutLabels, "label_result", "Say what was right for questions of a result. A label replaces the one before; null removes it.", sets,
			object(schema{
				"result_id": result, "labels": schema{"type": "object", "description": "By the key of a question, the key of an option or level, true or false, or a list of keys."},
				"sample": schema{"type": "string", "enum": api.LabelSample("").Values()},
			}, "result_id", "labels"), []string{"result_id"}),
		simple(api.ReadQuality, "quality", "How often the answers of a version were right, by its labels.", reads,
			object(schema{"prism": prism, "version": schema{"type": "integer", "minimum": 1}, "question": text("The key of a question.")}, "prism", "version"),
			[]string{"prism", "version"}),
	}
}

// simple is a tool whose arguments are the parameters of the path, and else the query or the body of its operation.
func simple(op api.Operation, name, description string, hints *mcp.ToolAnnotations, input schema, path []string) tool {
	return tool{
		op:   op,
		Tool: &mcp.Tool{Name: name, Description: description, Annotations: hints, InputSchema: input},
		call: func(ctx context.Context, calls Calls, arguments json.RawMessage) (*mcp.CallToolResult, error) {
			members := map[string]json.RawMessage{}
			if len(arguments) > 0 {
				if err := json.Unmarshal(arguments, &members); err != nil {
					return nil, apierr.Malformed()
				}
			}
			in := Request{Path: map[string]string{}, Query: url.Values{}}
			for _, p := range path {
				in.Path[p] = plain(members[p])
				delete(members, p)
			}
			if method := op.Declared().Method; method == "GET" || name == "retry_result" {
				for member, value := range members {
					in.Query[member] = several(value)
				}
			} else {
				body, err := json.Marshal(members)
				if err != nil {
					return nil, apierr.Malformed()
				}
				in.Body = body
			}
			return made(ctx, calls, op, in)
		},
	}
}

// plain is a value as a parameter has it: a string, or the JSON of another one.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func several(value json.RawMessage) (all []string) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || string(value) == "null" {
		return []string{plain(value)}
	}
	for _, one := range list {
		all = append(all, plain(one))
	}
	return all
}

// made makes a call, and answers with its body and a short text.
func made(ctx context.Context, calls Calls, op api.Operation, in Request) (*mcp.CallToolResult, error) {
	body, failed, err := calls.Do(ctx, op, in)
	if err != nil {
		return nil, err
	}
	return answered(body, failed), nil
}

func answered(body []byte, failed bool) *mcp.CallToolResult {
	var said struct {
		ID     string  `json:"id"`
		Error  *string `json:"error"`
		Status string  `json:"status"`
	}
	_ = json.Unmarshal(body, &said)
	short := cut(string(body), maxText)
	if failed {
		short = fmt.Sprintf("The model gave no usable answer. The failed result is kept: call retry_result with result_id %s.", said.ID)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: short}}, StructuredContent: json.RawMessage(body), IsError: failed,
	}
}

// failure is an error of the API, and what to do next (spec: mcp-errors).
func failure(err *apierr.Error, name string) *mcp.CallToolResult {
	next := map[int]string{
		400: "Correct the arguments, whose schema tools/list has, and call again.",
		401: "Use another API key.",
		403: "Ask an owner of the account for a key with another role.",
		404: "list_prisms and list_results have what there is.",
		409: "Read what is there with get_result or list_results; a repeat would fail again.",
		413: "Send a shorter text.",
		429: "Wait, and call again.",
	}[err.Status]
	return &mcp.CallToolResult{
		IsError: true,
		Content: []mcp.Content{&mcp.TextContent{Text: name + ": " + err.Message + "\n" + next}},
		StructuredContent: map[string]any{"error": map[string]any{
			"status": err.Status, "code": err.Code, "message": err.Message, "next": next,
		}},
	}
}

// listed are the tools that the role of the key has (spec: mcp-tools).
func listed(ctx context.Context, calls Calls, picked []string) (all []tool, err error) {
	for _, t := range fixed() {
		if err := calls.May(ctx, t.op); err == nil {
			all = append(all, t)
		} else if !denied(err) {
			return nil, err
		}
	}
	if !slices.ContainsFunc(all, func(t tool) bool { return t.Name == "ask" }) {
		return all, nil
	}
	prisms, err := prismsOf(ctx, calls, picked)
	if err != nil {
		return nil, err
	}
	var asking []tool
	for _, p := range prisms {
		if len(askPrefix+p.Slug) <= maxName && !strings.HasPrefix(p.Slug, adHoc) && len(asking) < maxAsk {
			asking = append(asking, askTool(p))
		}
	}
	return append(asking, all...), nil
}

// called is the tool with a name; none if there is none.
func called(name string, picked []string) []tool {
	for _, t := range fixed() {
		if t.Name == name {
			return []tool{t}
		}
	}
	slug, is := strings.CutPrefix(name, askPrefix)
	if !is || len(name) > maxName || strings.HasPrefix(slug, adHoc) || len(picked) > 0 && !slices.Contains(picked, slug) {
		return nil
	}
	return []tool{asking(slug, &mcp.Tool{Name: name, InputSchema: schema{"type": "object"}})}
}

// cut is the beginning of a text.
func cut(text string, characters int) string {
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	return string([]rune(text)[:characters-1]) + "…"
}
