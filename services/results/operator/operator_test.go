package operator_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"flag"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/operator"
)

func newOperator(t *testing.T) *operator.Operator {
	t.Helper()
	o, _ := newStore(t)
	return o
}

// newStore is an Operator and its store.
func newStore(t *testing.T) (*operator.Operator, *sqlite.Store) {
	t.Helper()
	s := sqlitetest.New(t)
	a := service.New(service.Deps{
		Store: s, Now: time.Now, NewID: service.OrderedIDs(time.Now),
		NewToken: func() (string, error) { return apikey.NewToken(rand.Reader) },
		NewKey: func() (keys.Secret, error) {
			k, err := apikey.New(rand.Reader)
			return keys.Secret{Text: k.Reveal(), Prefix: k.Prefix(), Digest: k.Digest()}, err
		},
	})
	return operator.New(a, operator.Databases{
		All: []operator.Database{{
			Name: "home", Accepting: true, Weight: 1, Accounts: s.ListAccounts, Recent: s.CountRecent,
			Migrate: func(context.Context) error { return nil },
			State: func(context.Context) (postgres.State, error) {
				return postgres.State{Version: "embedded", Bytes: 4096, Migration: postgres.NewestMigration}, nil
			},
		}},
		Placed: func(context.Context) (map[string]int64, error) { return nil, nil }, //nolint:nilnil // there is one database
	}), s
}

func run(t *testing.T, o *operator.Operator, command string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c, err := operator.Parse(strings.Fields(command), &out)
	if err == nil {
		err = o.Run(t.Context(), c, operator.Output{Writer: &out, Dir: t.TempDir()})
	}
	return out.String(), err
}

func TestCommands(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	if _, err := run(t, o, "account create acme"); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, o, "account list"); err != nil || !regexp.MustCompile(`^ID +NAME +CREATED +STORED BYTES +MAY STORE +DATABASE +CALLS A SECOND\n[0-9a-f-]{36}  acme  20\S+Z +0 +50GiB +home +0\.000\n$`).MatchString(out) {
		t.Errorf("account list: %q, %v", out, err)
	}
	key, err := run(t, o, "key create --account acme --name laptop")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := apikey.Parse(strings.TrimSuffix(key, "\n")); !ok {
		t.Fatalf("key create printed %q, not the key alone", key)
	}
	list, err := run(t, o, "key list --account acme")
	if err != nil || !strings.Contains(list, "laptop") || strings.Contains(list, strings.TrimSpace(key)) {
		t.Fatalf("%s, %v", list, err)
	}
	id := regexp.MustCompile(`(?m)^[0-9a-f-]{36}`).FindString(list)
	for range 2 { // twice is once
		if out, err := run(t, o, "key revoke "+id); err != nil || out != "Revoked.\n" {
			t.Fatalf("%q, %v", out, err)
		}
	}
	if out, err := run(t, o, "migrate"); err != nil || out == "" {
		t.Errorf("%q, %v", out, err)
	}
}

// spec: audit-actions, audit-actor-of-commands
func TestCommandsAreInTheAuditAsTheOperators(t *testing.T) {
	t.Parallel()
	o, s := newStore(t)
	for _, command := range []string{
		"account create acme", "key create --account acme --role caller", "account list", "key list --account acme",
		"account limits acme --concurrency 4", "account allow-claim acme hd=example.com", "account allow-claim acme",
	} {
		if _, err := run(t, o, command); err != nil {
			t.Fatal(err)
		}
	}
	account, err := o.Account(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	keys, _, err := s.ListKeys(t.Context(), account, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // twice is once
		if _, err := run(t, o, "key revoke "+keys[0].ID.String()); err != nil {
			t.Fatal(err)
		}
	}
	entries, _, err := s.ListAudit(t.Context(), account, audit.Filter{Kind: store.OperatorActor}, store.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	name := "operator"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	var got []string
	for _, e := range entries {
		got = append(got, string(e.Action)+" "+e.Object.Name+" "+string(e.Detail))
		if e.Actor != (store.Actor{Kind: store.OperatorActor, Name: name}) {
			t.Errorf("%s is by %+v, want %s", e.Action, e.Actor, name)
		}
	}
	want := []string{
		`key.revoke made by the operator {}`, `account.claims acme {"claim":"hd","granted":true}`, `account.limits acme {"concurrency":4}`, `key.create made by the operator {"role":"caller"}`, `account.create acme {}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// spec: operator-commands, account-limits
func TestLimitsOfAnAccountAreSetShownAndRemoved(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	for _, name := range []string{"acme", "other"} {
		if _, err := run(t, o, "account create "+name); err != nil {
			t.Fatal(err)
		}
	}
	shown := func(requests, concurrency, results string, bytes ...string) string {
		return "requests-per-second  " + requests + "\nconcurrency          " + concurrency + "\nresults-per-day      " + results +
			"\nstored-bytes         " + strings.Join(append(bytes, "50GiB")[:1], "") + "\n"
	}
	for _, step := range []struct{ command, want string }{
		{"acme", shown("none", "none", "none")},
		{"acme --requests-per-second 50 --results-per-day 2147483647", shown("50", "none", "2147483647")},
		{"acme", shown("50", "none", "2147483647")},
		{"--concurrency 4 acme", shown("50", "4", "2147483647")},
		{"--requests-per-second none acme --results-per-day 0", shown("none", "4", "none")},
		{"other", shown("none", "none", "none")},
		{"acme --concurrency none", shown("none", "none", "none")},
		{"acme --stored-bytes 100GiB --concurrency 7", shown("none", "7", "none", "100GiB")},
		{"acme --stored-bytes 1025", shown("none", "7", "none", "1025")},
		{"acme --stored-bytes none --concurrency 0", shown("none", "none", "none", "none")},
		{"acme --stored-bytes default", shown("none", "none", "none")},
		{"acme", shown("none", "none", "none")},
	} {
		if out, err := run(t, o, "account limits "+step.command); err != nil || out != step.want {
			t.Errorf("%s: %q, %v; want %q", step.command, out, err, step.want)
		}
	}
}

// spec: operator-commands, claim-grant
func TestClaimsOfAnAccountAreGrantedListedAndTakenBack(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	for _, name := range []string{"acme", "other"} {
		if _, err := run(t, o, "account create "+name); err != nil {
			t.Fatal(err)
		}
	}
	const none, hd = "CLAIM  VALUE\n", "CLAIM  VALUE\nhd     example.com\n"
	for _, step := range []struct{ command, want string }{
		{"acme", none},
		{"acme hd=example.com", hd},
		{"acme hd=example.com", hd}, // twice is once
		{"acme groups=a=b", "CLAIM   VALUE\ngroups  a=b\nhd      example.com\n"},
		{"other", none},
		{"acme groups=a=b --remove", hd},
		{"--remove acme hd=example.com", none},
		{"acme", none},
	} {
		if out, err := run(t, o, "account allow-claim "+step.command); err != nil || out != step.want {
			t.Errorf("%s: %q, %v; want %q", step.command, out, err, step.want)
		}
	}
}

func TestHelpOfACommandNeedsNoStore(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"key --help":            "key create --account NAME [--name WHAT_FOR] [--role ROLE]  ",
		"key create --help":     "create an API key and print it",
		"key create -h":         "key create --account NAME",
		"account --help":        "account list  ",
		"account create --help": "account create NAME  ",
		"migrate --help":        "bring the database's tables up to date",
	} {
		var out bytes.Buffer
		_, err := operator.Parse(strings.Fields(command), &out)
		if !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, %q; want %q", command, err, out.String(), want)
		}
	}
	if out := operator.Usage("key create"); strings.Contains(out, "revoke") {
		t.Errorf("got %s", out)
	}
}

func TestAWrongCommandSaysWhatIsRight(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	if _, err := run(t, o, "account create acme"); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ command, want string }{
		{"", "unknown command"},
		{"dance", "the commands are:"},
		{"account", "the commands are:"},
		{"account create", "usage: account create NAME"},
		{"account create a b", "usage: account create NAME"},
		{"account create acme", `there is already an account "acme"`},
		{"account create \x01", "no control characters"},
		{"account create " + strings.Repeat("a", 201), "1 to 200 bytes"},
		{"account limits", "usage: account limits NAME [--requests-per-second N]"},
		{"account limits a b", "usage: account limits NAME"},
		{"account limits nobody", `there is no account "nobody"`},
		{"account limits nobody --concurrency 1", `there is no account "nobody"`},
		{"account limits acme --concurrency", "usage: account limits NAME"},
		{"account limits acme --concurrency -1", "usage: account limits NAME"},
		{"account limits acme --concurrency 1.5", "usage: account limits NAME"},
		{"account limits acme --results-per-day 2147483648", "usage: account limits NAME"},
		{"account limits acme --results-per-day many", "usage: account limits NAME"},
		{"account limits acme --stored-bytes 0", "usage: account limits NAME"},
		{"account limits acme --stored-bytes -1", "usage: account limits NAME"},
		{"account limits acme --stored-bytes 1TB", "usage: account limits NAME"},
		{"account allow-claim", "usage: account allow-claim NAME [CLAIM=VALUE] [--remove]"},
		{"account allow-claim acme --remove", "usage: account allow-claim NAME"},
		{"account allow-claim acme hd=a hd=b", "usage: account allow-claim NAME"},
		{"account allow-claim acme hd", "a claim's value has 1 to 200 bytes"},
		{"account allow-claim acme =a", "a claim's name has 1 to 200 bytes"},
		{"account allow-claim nobody hd=a", `there is no account "nobody"`},
		{"account move", "usage: account move NAME [--to DATABASE] [--take-back]"},
		{"account move acme", "account move takes --to DATABASE, or --take-back"},
		{"account move acme --to b --take-back", "account move takes --to DATABASE, or --take-back"},
		{"account move nobody --to b", `there is no account "nobody"`},
		{"account balance", "usage: account balance --dry-run"},
		{"account balance --dry-run", "there is one database: nothing can be balanced"},
		{"key create", "usage: key create --account NAME"},
		{"key create --account nobody", `there is no account "nobody"`},
		{"key create --nope", "usage: key create --account NAME"},
		{"key create --account acme --name \xff", "a key's name has no control characters and is UTF-8"},
		{"key create --account acme --role root", "a key's role is owner, editor, caller, labeller or reader"},
		{"key list", "usage: key list --account NAME"},
		{"key list --account nobody", `there is no account "nobody"`},
		{"key revoke", "usage: key revoke ID"},
		{"key revoke prism_x", "not the key itself"},
		{"key revoke 01000000-0000-0000-0000-000000000000", "there is no key with the id"},
		{"console link", "usage: console link --account NAME"},
		{"console link --account nobody --url http://127.0.0.1", `there is no account "nobody"`},
		{"console link --account acme", "the address of Prism is http://host or https://host"},
		{"console link --account acme --url prism.example.com", "the address of Prism is http://host or https://host"},
		{"console link --account acme --url https://prism.example.com/?a", "the address of Prism is http://host or https://host"},
		{"migrate now", "usage: migrate"},
		{"databases", "the commands are:"},
		{"databases check home", "usage: databases check"},
	}
	for _, test := range tests {
		if out, err := run(t, o, test.command); err == nil || !strings.Contains(err.Error(), test.want) || out != "" {
			t.Errorf("%q: %q, %v; want %q", test.command, out, err, test.want)
		}
	}
}

// screen is an output that may be a terminal.
type screen struct {
	bytes.Buffer
	is bool
}

func (s *screen) IsTerminal() bool { return s.is }

// spec: operator-link, operator-commands, private-output
func TestALinkSignsTheOperatorIn(t *testing.T) {
	t.Parallel()
	o, s := newStore(t)
	if _, err := run(t, o, "account create acme"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		arguments, base string
		screen          bool
	}{
		{"--url https://prism.example.com/", "https://prism.example.com", true},
		{"", "http://127.0.0.1:8080", true},
		{"--print", "http://127.0.0.1:8080", false},
		{"", "http://127.0.0.1:8080", false},
		{"--url https://prism.example.com/", "https://prism.example.com", false}, // takes the place of the file
	} {
		out := &screen{is: c.screen}
		command, err := operator.Parse(strings.Fields("console link --account acme "+c.arguments), out)
		if err == nil {
			err = o.Run(t.Context(), command.At("http://127.0.0.1:8080"), operator.Output{Writer: out, Dir: dir})
		}
		if err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if file := filepath.Join(dir, operator.LinkFile); !c.screen && c.arguments != "--print" {
			if !strings.Contains(text, " "+file+",") || strings.Contains(text, "#") {
				t.Errorf("without a terminal it printed %q", text)
			}
			if is, err := os.Stat(file); err != nil || is.Mode() != 0o600 {
				t.Errorf("the file is %v, %v", is, err)
			}
			kept, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text = string(kept)
		}
		token, ok := strings.CutPrefix(strings.TrimSuffix(text, "\n"), c.base+"/console/sign-in#")
		if !ok || !apikey.IsToken(token) {
			t.Fatalf("the link is %q", text)
		}
		link := contract.LinkDigest(sha256.Sum256([]byte(token)))
		begun, err := s.SignIn(t.Context(), members.SignIn{
			Session: contract.SessionDigest(link), ID: prism.UUID(link[:16]), Link: &link,
			NewID: service.OrderedIDs(time.Now), At: time.Now(),
		})
		if err != nil || len(begun.Accounts) != 1 {
			t.Fatalf("%+v, %v", begun, err)
		}
		if m := begun.Accounts[0].Member; m.Name != "Operator" || m.Role != prism.Owner {
			t.Errorf("%+v", m)
		}
	}
}

// spec: private-output
func TestALinkThatCannotBeKeptIsAnError(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	if _, err := run(t, o, "account create acme"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c, err := operator.Parse(strings.Fields("console link --account acme --url http://127.0.0.1"), &out)
	if err != nil {
		t.Fatal(err)
	}
	err = o.Run(t.Context(), c, operator.Output{Writer: &out, Dir: filepath.Join(t.TempDir(), "absent")})
	if err == nil || !strings.Contains(err.Error(), "--print prints it") || out.Len() > 0 {
		t.Errorf("%v, printed %q", err, out.String())
	}
}
