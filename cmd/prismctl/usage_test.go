package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: record-read, record-members
func TestRecordOfAResult(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	made := decode[client.Result](t, u.ok("call", "language", "--text", "bonjour", "--ref", "r", "-o", "json"))
	record := decode[client.Record](t, u.ok("results", "record", made.ID))
	if record.ID != made.ID || record.Prism != "language" || *record.Ref != "r" || record.Fields["text"] != "bonjour" ||
		record.KeyID == nil || record.ErrorCode != nil || record.RetryOf != nil || record.RunID != nil {
		t.Errorf("got %+v", record)
	}
	if line := u.ok("results", "record", made.ID, "-o", "jsonl"); strings.Count(line, "\n") != 1 {
		t.Errorf("got %q", line)
	}
	u.run("results", "record", made.ID, "-o", "csv").want(exitUsage, `unknown output \"csv\": json, yaml or jsonl`)
	u.run("results", "record", "00000000-0000-7000-8000-000000000000").want(exitNotFound, "Result not found")
}

// spec: usage-query, usage-members
func TestUsage(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	for range 3 {
		u.ok("call", "language", "--text", "bonjour")
	}
	sums := decode[[]client.UsageSum](t, u.ok("usage", "--by", "prism", "-o", "json"))
	if len(sums) != 1 || optional(sums[0].Prism) != "language" || sums[0].Results != 3 || sums[0].Failed != 0 {
		t.Errorf("got %+v", sums)
	}
	sums = decode[[]client.UsageSum](t, u.ok("usage", "--by", "key", "--prism", "language", "-o", "json"))
	if len(sums) != 1 || sums[0].KeyID == nil || sums[0].Results != 3 {
		t.Fatalf("got %+v", sums)
	}
	for want, args := range map[string]string{
		"DAY  RESULTS  FAILED  INPUT TOKENS  OUTPUT TOKENS  COST  CURRENCY\n": "--to 2001-01-02 -o wide",
		"MODEL  RESULTS  FAILED  IN  OUT  COST  CURRENCY\n":                   "--by model --model none",
		"key_id,results,failed,input_tokens,output_tokens,cost,currency\n":    "--by key --to 2001-01-02 -o csv",
	} {
		if got := u.ok(append([]string{"usage"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	if got := u.ok("usage", "--by", "key", "--key-id", *sums[0].KeyID, "-o", "csv"); !strings.Contains(got, "\n"+*sums[0].KeyID+",3,0,") {
		t.Errorf("got %q", got)
	}
	u.run("usage", "--by", "week").want(exitInvalid, "by: Expected 'day' | 'prism' | 'model' | 'key'")
	u.run("usage", "--from", "monday").want(exitUsage, "--from takes a day or a time")
	u.run("usage", "--to", "monday").want(exitUsage, "--to takes a day or a time")
	u.run("usage", "--from", "2001-01-01", "--to", "2003-01-01").want(exitInvalid, "from: must be at most 366 days before to")
}

// spec: account-read
func TestAccount(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	account := decode[api.Account](t, u.ok("account"))
	if account.Prisms == 0 || account.Keys == 0 || *account.Limits.StoredBytes != prism.DefaultStoredBytes || account.Limits.Concurrency != nil {
		t.Errorf("got %+v", account)
	}
}

func TestCostsAreForPeopleOrExact(t *testing.T) {
	t.Parallel()
	for exact, short := range map[string]string{
		"0": "0.00", "10": "10.00", "10.5": "10.50", "0.29952": "0.29952", "0.123456": "0.123456", "1234.1234564999": "1234.123456",
		"0.0000007": "0.000001", "0.9999999": "1.00", "0.000000000001": "0.00",
	} {
		if got := cost(new(json.Number(exact)), true); got != short {
			t.Errorf("%s is shown as %s, want %s", exact, got, short)
		}
		if got := cost(new(json.Number(exact)), false); got != exact {
			t.Errorf("%s is shown as %s", exact, got)
		}
	}
	if got := cost(nil, true); got != "" {
		t.Errorf("no cost is shown as %s", got)
	}
}
