package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/prism-results/prism/client"
)

func TestJQ(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	u.ok("call", "language", "--text", "x", "--ref", "one")
	for want, args := range map[string]string{
		"language\nsupport-triage\n": "prisms list --jq [.[].slug]|sort[]",
		"0.75\n":                     "results list --jq .[0].answers.english_probability",
		"{\"a\":[1,null]}\n":         "results list -o jsonl --jq {a:[.version,.error]}",
		"one\n":                      "results list --jq .[].ref -o json",
	} {
		if got := u.ok(strings.Fields(args)...); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	u.run("results", "list", "--jq", ".[", "--host", "http://127.0.0.1:1").want(exitUsage, `"code":"usage","message":"--jq: `)
	u.run("results", "list", "--jq", ".[].nothing.at.all[0].x + {}").want(exitOK, "")
	u.run("results", "list", "--jq", "error(\"no\")").want(exitUsage, "--jq: error: no")
	u.run("results", "list", "--jq", ".", "-o", "csv").want(exitUsage, "--jq goes with -o json or jsonl, not csv")
	u.env["SECRET"] = "s3cret"
	if got := u.ok("results", "list", "--jq", "$ENV, env"); got != "{}\n{}\n" {
		t.Errorf("a program sees the environment: %s", got)
	}
}

// A number of the API may have more digits than a float.
func TestJQKeepsDigits(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := query(t.Context(), &out, ".cost", []byte(`{"cost":0.1234567890123456789012345}`)); err != nil || out.String() != "0.1234567890123456789012345\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestErrorsAreJSONBesideJSON(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for want, args := range map[string]string{
		`{"error":{"code":"not_found","message":"none: Prism not found: prismctl prisms list shows those that there are"},"request_id":"`: "prisms get none -o json",
		`{"error":{"code":"usage","message":"missing argument <prism>"},"exit_code":2}` + "\n":                                            "prisms get -o json",
		`{"error":{"code":"usage","message":"unknown flag: --jk: did you mean --jq?"},"exit_code":2}` + "\n":                              "prisms get x -o jsonl --jk",
		`{"error":{"code":"no_response","message":"no response from Prism: `:                                                              "prisms get x --jq .slug --host http://127.0.0.1:1",
		"prismctl: none: Prism not found: prismctl prisms list shows those that there are\n":                                              "prisms get none",
	} {
		s := u.run(strings.Fields(args)...)
		if !strings.HasPrefix(s.stderr, want) || s.out != "" {
			t.Errorf("%s: got %q and %q, want %q", args, s.stderr, s.out, want)
		}
		if e := (jsonError{}); strings.HasPrefix(want, "{") && (json.Unmarshal([]byte(s.stderr), &e) != nil || e.ExitCode != s.code) {
			t.Errorf("%s: exit code %d and %s", args, s.code, s.stderr)
		}
	}
}

func TestTyposAreNamed(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for want, args := range map[string]string{
		`unknown command "prism" for "prismctl": did you mean prisms?`:                                              "prism list",
		`unknown command "lst" for "prismctl results": did you mean list?`:                                          "results lst",
		`unknown command "versions" for "prismctl": did you mean prisms versions?`:                                  "versions",
		`unknown command "add" for "prismctl": did you mean context add?`:                                           "add",
		`unknown command "zzzzzz" for "prismctl results"` + "\nUsage: prismctl results COMMAND\n":                   "results zzzzzz",
		"unknown flag: --pris: did you mean --prism?":                                                               "results list --pris x",
		"unknown flag: --format: did you mean --output?":                                                            "call x --format json",
		"unknown flag: --zzzzzzzzz\n":                                                                               "call x --zzzzzzzzz",
		"missing argument <id>\nUsage: prismctl results get ID [flags]\nprismctl results get --help explains it.\n": "results get",
		"missing argument <name>":                                                                                   "prisms rename x",
		`unexpected argument "b"`:                                                                                   "results get a b",
		"a file is --file out.csv":                                                                                  "runs create -o out.csv",
		`unknown output "xml": csv, tsv, jsonl, xlsx or parquet`:                                                    "results export x -o xml",
	} {
		u.run(strings.Fields(args)...).want(exitUsage, want)
	}
}

// texts are what people write, and what YAML could read as something else.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "yes", "No", "null", "~", "1", "0x1F", "1e3", "2026-01-01", "a: b", "- a", "a #b", "#", "a\nb", " a", "a ", "\u0085", "\u2028", "\x7f",
		"'", `"`, `\`, "%", "@", "`", "{", "[", "&a", "*a", "!a", "|", ">", "?", ":", "-", "é", "💡", "\ufeff", "\t",
	}))
}

func values(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 {
			kind %= 4
		}
		switch kind {
		case 0:
			return texts().Draw(t, "text")
		case 1:
			return rapid.Float64Range(-1e15, 1e15).Draw(t, "number") // larger ones are texts to the library
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4, 5:
			return rapid.MapOfN(texts(), values(depth-1), 0, 4).Draw(t, "object")
		}
		return rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "array")
	})
}

// TestYAMLIsTheSameAsJSON reads what is written with a library of YAML.
func TestYAMLIsTheSameAsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(values(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := writeYAML(&out, text); err != nil {
			t.Fatal(err)
		}
		var read any
		if err := yaml.Unmarshal(out.Bytes(), &read); err != nil {
			t.Fatalf("%v of\n%s", err, out.String())
		}
		back, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(back, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is\n%s\nwhich is %s, %v", text, out.String(), back, err)
		}
	})
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for at, want := range map[string]string{
		"2026-11-21T09:00:00.000Z": "0s ago", "2026-11-21T08:59:01.000Z": "59s ago", "2026-11-21T08:00:01.000Z": "59m ago",
		"2026-11-20T09:00:01.000Z": "23h ago", "2025-11-22T09:00:00.000Z": "364d ago", "2024-11-20T09:00:00.000Z": "2y ago",
		"2026-11-21T11:00:00.000Z": "in 2h", "": "", "never": "never",
	} {
		if got := ago(at, now); got != want {
			t.Errorf("%s is %q, want %q", at, got, want)
		}
	}
}

// longValues are what stands for what in the answers below.
var longValues = strings.NewReplacer("FIGURE", `{"value":-0.123456,"low":-0.234567,"high":-0.012345}`, "SLUG", strings.Repeat("s", 64),
	"NAME", strings.Repeat("n", 200), "AT", "2026-01-01T00:00:00.000Z", "ID", longID)

const longID = "01a20640-6ed7-7d9d-90b9-fa7edef0e69d"

func long[T any](text string) string { return whole[T](longValues.Replace(text)) }

func longList[T any](item string) string { return long[client.Page[T]](`{"data":[` + item + `]}`) }

// longest are answers of the API with long values, by their path.
var longest = map[string]string{
	"/v1/models/states": longList[client.ModelState](`{"name":"NAME","state":"no_balance","running":10000,"max_in_flight":10000,"failures":[
		{"at":"AT","reason":"no_answer"},{"at":"AT","reason":"unavailable"},{"at":"AT","reason":"refused_key"}]}`),
	"/v1/models/x/check": long[client.ModelCheck](`{"name":"NAME","ok":true,"checks":[
		{"part":"log_probabilities","status":"failed","text":"NAME NAME","write":"NAME NAME"}]}`),
	"/v1/prisms":                           longList[client.Prism](`{"slug":"SLUG","name":"NAME","latest_version":1000,"created_at":"AT","archived_at":"AT","version":{"questions":[]},"id":"ID"}`),
	"/v1/prisms/x/versions":                longList[client.Version](`{"version":1000,"fields":[],"questions":[],"created_at":"AT","model":"NAME"}`),
	"/v1/prisms/x":                         whole[client.Prism](`{}`),
	"/v1/prisms/x/versions/0/calibration":  whole[client.PinnedCalibrations](`{}`),
	"/v1/prisms/x/versions/0/calibrations": longList[client.Calibration](`{"id":"ID","question":"SLUG","method":"platt","a":1.2345678,"b":-1.2345678,"labels":10000,"created_at":"AT"}`),
	"/v1/results":                          longList[client.Result](`{"id":"ID","ref":"NAME","prism":"SLUG","version":1000,"status":"failed","error":"NAME","took_ms":15000,"created_at":"AT"}`),
	"/v1/results/counts":                   long[client.ResultCounts](`{"total":1000000,"exact":true,"by":{}}`),
	"/v1/keys":                             longList[client.APIKey](`{"id":"ID","name":"NAME","prefix":"prism_abcdef","role":"labeller","created_at":"AT","last_used_at":"AT","revoked_at":"AT"}`),
	"/v1/views":                            longList[client.View](`{"id":"ID","name":"NAME","filters":{"prism":"SLUG"},"default":true,"created_at":"AT"}`),
	"/v1/webhooks": longList[client.Webhook](`{"id":"ID","url":"https://NAME/","events":["result.labelled","run.cancelled"],"prisms":["SLUG"],"status":"failed",
		"condition":{"column":"SLUG","op":"from","value":"NAME"},"answers":true,"run_rows":true,"enabled":false,"disabled_reason":"overflow","waiting":1000000,
		"previous_secret_until":"AT","created_at":"AT"}`),
	"/v1/webhooks/x/deliveries": longList[client.Delivery](`{"id":"ID","event":"result.labelled","at":"AT","status":"delivered","next_at":"AT","tries":[
		{"at":"AT","took_ms":15000,"status":503,"error":"forbidden_address","answer":"NAME"}]}`),
	"/v1/assignees":            longList[client.AssignedMember](`{"id":"ID","name":"NAME"}`),
	"/v1/results/x/comments":   longList[client.Comment](`{"id":"ID","author":{"kind":"member","id":"ID","name":"NAME"},"text":"NAME","created_at":"AT"}`),
	"/v1/members":              longList[client.Member](`{"id":"ID","name":"NAME","role":"labeller","email":"NAME","created_at":"AT","last_seen_at":"AT"}`),
	"/v1/audit":                longList[client.AuditEntry](`{"id":"ID","at":"AT","actor":{"name":"NAME"},"action":"prism.unarchive","object":{"name":"NAME","id":"ID"},"detail":{}}`),
	"/v1/changes":              long[client.Changes](`{"data":[{"seq":1000000000,"at":"AT","type":"labelled","result_id":"ID","prism":"SLUG"}],"next":1}`),
	"/v1/models":               longList[client.Model](`{"name":"NAME","default":true,"provider":"anthropic-messages","model":"NAME","probabilities":"simulated"}`),
	"/v1/usage":                long[client.Usage](`{"data":[{"day":"2026-11-21","prism":"SLUG","results":1000000,"failed":100000,"input_tokens":1000000000,"output_tokens":100000000,"cost":12345.123456,"currency":"USD"}]}`),
	"/v1/prisms/x/labels":      longList[client.LabelledResult](`{"result_id":"ID","ref":"NAME","version":1000,"labels":{"SLUG":{"value":"SLUG","sample":"uncertain","labelled_at":"AT"}}}`),
	"/v1/prisms/x/label-queue": long[client.LabelQueuePage](`{"data":[{"result_id":"ID","ref":"NAME","version":1000,"created_at":"AT","fields":{"SLUG":"NAME"}}]}`),
	"/v1/files":                longList[client.File](`{"id":"ID","name":"NAME","format":"parquet","bytes":1000000000,"status":"uploading","rows":1000000,"created_at":"AT","expires_at":"AT"}`),
	"/v1/files/x/rows":         long[client.FileRows](`{"data":[{"NAME":"NAME","b":"NAME","c":"NAME"}]}`),
	"/v1/runs":                 longList[client.Run](`{"id":"ID","name":"NAME","prism":"SLUG","version":1000,"status":"cancelling","rows":1000000,"ok":500000,"failed":9999,"created_at":"AT"}`),
	"/v1/prisms/x/versions/0/quality": long[client.Quality](`{"questions":[{"question":"SLUG","type":"choice","labels":10000,"counted":10000,"calibration":"ID",
		"ece_plain":FIGURE,"accuracy":FIGURE,"classes":[{"value":"SLUG","n":10000,"recall":FIGURE,"f1":FIGURE}]}]}`),
	"/v1/prisms/x/drift": long[client.Drift](`{"prism":"SLUG","version":1000,"watched":true,"questions":[{"question":"SLUG","hour":{"results":1000000,"alarm":true,
		"probability":{"psi":12.345678,"limit":0.123456},"classes":{"psi":12.345678,"limit":0.123456}},"day":{"results":1000000}}]}`),
	"/v1/prisms/x/distribution": long[client.Distribution](`{"data":[{"at":"AT","answers":1000000000,"values":[{"value":"SLUG","count":1000000}],"probability":0.123456,"labelled":1000000,"right":1000000}]}`),
	"/v1/prisms/x/compare": long[client.Comparison](`{"question":"SLUG","counted":10000,"verdict":"not distinguishable with 10000 labels","left_out":{"other_option":10000,"other_label":10000},
		"a":{"version":1000,"ece_plain":FIGURE},
		"b":{"version":1001},"differences":{"accuracy":FIGURE},"mcnemar":{"only_a":10000,"only_b":10000,"p":0.123456}}`),
}

// TestListsFitATerminal holds each list, that is each command with -o wide, to 80 characters, whatever its values are. No id is cut.
func TestListsFitATerminal(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, known := longest[r.URL.Path]
		if !known {
			t.Errorf("%s is asked for", r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	u := &user{t: t, person: true, env: map[string]string{"PRISM_URL": s.URL, "PRISM_API_KEY": "prism_fake", "HOME": t.TempDir()}}
	eachCommand(newApp().root(), func(c *cobra.Command) {
		if o := outputOf(c); o == nil || !o.knows("wide") {
			return
		}
		args := strings.Fields(c.CommandPath())[1:]
		switch {
		case c.Name() == "validate":
			args = append(args, example(t, ""))
		case c.Name() == "compare":
			args = append(args, "x", "1", "2")
		case c.Args(c, nil) != nil:
			args = append(args, "x")
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 {
				args = append(args, "--"+f.Name, "x")
			}
		})
		narrow, wide := u.ok(args...), u.ok(append(args, "-o", "wide")...)
		for line := range strings.Lines(narrow) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80+len("\x1b[31m\x1b[0m") || !strings.Contains(line, "\x1b") && n > 80 {
				t.Errorf("%v: a line of %d characters: %s", args, n, line)
			}
		}
		if strings.Contains(narrow, "01a20") && !strings.Contains(narrow, longID) {
			t.Errorf("%v cuts an id:\n%s", args, narrow)
		}
		if strings.Contains(wide, "…") || len(wide) <= len(narrow) && args[0] != "context" && args[0] != "validate" { // which have no more
			t.Errorf("%v -o wide shows no more:\n%s", args, wide)
		}
		u.person = false
		if strings.Contains(u.ok(args...), "…") {
			t.Errorf("%v cuts a text without a terminal", args)
		}
		u.person = true
	})
}
