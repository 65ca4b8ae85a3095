package operator

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Command is an operator command with its arguments.
type Command struct {
	Name string // such as "key create"
	given
	private bool // what it prints lets somebody in
	run     func(*Operator, context.Context, given) ([][]string, error)
}

// given are the arguments of a command.
type given struct {
	argument, account, name, role, url string
	print                              bool // a link, whatever standard output is
	limits                             store.LimitsChange
	claim                              string // NAME=VALUE; "": none
	remove                             bool   // the claim
}

// kind is an operator command as --help shows it. arguments has a word for the one argument, if there is one, and the flags. run
// returns the rows of a table, which may be a single cell.
type kind struct {
	name, arguments, does string
	run                   func(*Operator, context.Context, given) ([][]string, error)
}

func kinds() []kind {
	return []kind{
		{"migrate", "", "bring the database's tables up to date", (*Operator).migrated},
		{"account create", "NAME", "create an account", (*Operator).accountCreate},
		{"account list", "", "list all accounts", (*Operator).accountList},
		{
			"account limits", "NAME [--requests-per-second N] [--concurrency N] [--results-per-day N] [--stored-bytes SIZE]",
			"set limits of an account, or show them; none removes one", (*Operator).accountLimits,
		},
		{
			"account allow-claim", "NAME [CLAIM=VALUE] [--remove]",
			"let rules of an account for a claim make members at any sign-in, or list such claims", (*Operator).accountAllowClaim,
		},
		{"key create", "--account NAME [--name WHAT_FOR] [--role ROLE]", "create an API key and print it, alone and only once", (*Operator).keyCreate},
		{"key list", "--account NAME", "list an account's keys", (*Operator).keyList},
		{"key revoke", "ID", "reject a key from now on", (*Operator).keyRevoke},
		{
			"console link", "--account NAME [--url URL] [--print]", "make a link that signs in to the console once, for 10 minutes",
			(*Operator).consoleLink,
		},
	}
}

// At returns the command with the URL under which browsers reach Prism, unless the arguments contain one.
func (c Command) At(url string) Command {
	c.url = cmp.Or(c.url, url)
	return c
}

// Usage lists the commands that begin with a word, or all of them, for --help.
func Usage(word string) string {
	var b strings.Builder
	for _, k := range append([]kind{{name: "serve", does: "answer calls; the default"}}, kinds()...) {
		if word == "" || strings.HasPrefix(k.name+" ", word+" ") {
			fmt.Fprintf(&b, "  %-59s %s\n", strings.TrimSpace(k.name+" "+k.arguments), k.does)
		}
	}
	return b.String()
}

// Commands tells whether the arguments of a binary are an operator command, rather than serve or flags.
func Commands(args []string) bool {
	return len(args) > 0 && slices.ContainsFunc(kinds(), func(k kind) bool { return strings.HasPrefix(k.name+" ", args[0]+" ") })
}

// Parse reads a command without a store. With --help it writes the help and returns flag.ErrHelp.
func Parse(args []string, stdout io.Writer) (Command, error) {
	for _, k := range kinds() {
		if words := strings.Fields(k.name); len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return k.parse(args[len(words):], stdout)
		}
	}
	if len(args) > 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[1]) && Commands(args) {
		return Command{}, help(stdout, args[0])
	}
	return Command{}, fmt.Errorf("unknown command %q; the commands are:\n%s", strings.Join(args, " "), Usage(""))
}

func (k kind) parse(args []string, stdout io.Writer) (Command, error) {
	c := Command{Name: k.name, run: k.run}
	flags := flag.NewFlagSet(k.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error below says what is right
	if strings.Contains(k.arguments, "--account") {
		flags.StringVar(&c.account, "account", "", "")
	}
	if strings.Contains(k.arguments, "--name") {
		flags.StringVar(&c.name, "name", "made by the operator", "")
	}
	if strings.Contains(k.arguments, "--role") {
		flags.StringVar(&c.role, "role", string(prism.Owner), "")
	}
	if strings.Contains(k.arguments, "--url") {
		flags.StringVar(&c.url, "url", "", "")
	}
	if c.private = strings.Contains(k.arguments, "--print"); c.private {
		flags.BoolVar(&c.print, "print", false, "")
	}
	if strings.Contains(k.arguments, "--concurrency") {
		flags.Var(limit{&c.limits.RequestsPerSecond}, "requests-per-second", "")
		flags.Var(limit{&c.limits.Concurrency}, "concurrency", "")
		flags.Var(limit{&c.limits.ResultsPerDay}, "results-per-day", "")
		flags.Var(sizeLimit{&c.limits.StoredBytes}, "stored-bytes", "")
	}
	if strings.Contains(k.arguments, "--remove") {
		flags.BoolVar(&c.remove, "remove", false, "")
	}
	arguments, err := parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return c, help(stdout, k.name)
	}
	wants := 0
	if flags.Lookup("account") == nil && k.arguments != "" {
		wants = 1
	}
	if len(arguments) == 2 && strings.Contains(k.arguments, "[CLAIM=VALUE]") {
		c.claim, arguments = arguments[1], arguments[:1]
	}
	if err != nil || len(arguments) != wants || c.remove && c.claim == "" || flags.Lookup("account") != nil && c.account == "" {
		return c, fmt.Errorf("usage: %s", strings.TrimSpace(k.name+" "+k.arguments))
	}
	if wants == 1 {
		c.argument = arguments[0]
	}
	return c, nil
}

// parse reads flags before and after the arguments, which it returns.
func parse(flags *flag.FlagSet, args []string) (arguments []string, err error) {
	for {
		if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
			return arguments, err
		}
		arguments, args = append(arguments, flags.Arg(0)), flags.Args()[1:]
	}
}

func help(stdout io.Writer, word string) error {
	_, err := io.WriteString(stdout, Usage(word))
	return errors.Join(flag.ErrHelp, err)
}

// Run runs a command and writes its output.
func (o *Operator) Run(ctx context.Context, c Command, out Output) error {
	rows, err := c.run(o, ctx, c.given)
	if err != nil {
		return err
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if c.private && !c.print && !out.IsTerminal() {
		return out.keepLink(table.String())
	}
	_, err = io.WriteString(out, table.String())
	return err
}

// migrated reports success: every command migrates before it runs.
func (o *Operator) migrated(context.Context, given) ([][]string, error) {
	return [][]string{{"The database is up to date."}}, nil
}

func (o *Operator) accountCreate(ctx context.Context, g given) ([][]string, error) {
	id, err := o.CreateAccount(ctx, g.argument)
	return [][]string{{id.String()}}, err
}

func (o *Operator) accountList(ctx context.Context, _ given) ([][]string, error) {
	accounts, err := o.service.Store.ListAccounts(ctx)
	rows := [][]string{{"ID", "NAME", "CREATED", "STORED BYTES", "MAY STORE"}}
	for _, a := range accounts {
		rows = append(rows, []string{
			a.ID.String(), a.Name, prism.FormatTime(a.CreatedAt), strconv.FormatInt(a.Bytes, 10), shownSize(a.Limit),
		})
	}
	return rows, err
}

func (o *Operator) keyCreate(ctx context.Context, g given) ([][]string, error) {
	id, err := o.Account(ctx, g.account)
	if err != nil {
		return nil, err
	}
	key, err := o.CreateKey(ctx, id, g.name, prism.Role(g.role))
	return [][]string{{key}}, err
}

func (o *Operator) keyList(ctx context.Context, g given) ([][]string, error) {
	id, err := o.Account(ctx, g.account)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"ID", "NAME", "PREFIX", "ROLE", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}}
	for k, err := range o.Keys(ctx, id) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, []string{
			k.ID.String(), k.Name, k.Prefix, string(k.Role), prism.FormatTime(k.CreatedAt), optionalTime(k.ExpiresAt),
			optionalTime(k.LastUsedAt), optionalTime(k.RevokedAt),
		})
	}
	return rows, nil
}

func (o *Operator) keyRevoke(ctx context.Context, g given) ([][]string, error) {
	id, err := prism.ParseUUID(g.argument)
	if err != nil {
		return nil, errors.New("key revoke takes the id of a key, as key list shows it, not the key itself")
	}
	return [][]string{{"Revoked."}}, o.RevokeKey(ctx, prism.KeyID{UUID: id})
}

func (o *Operator) consoleLink(ctx context.Context, g given) ([][]string, error) {
	base, err := url.Parse(g.url)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery+base.Fragment != "" {
		return nil, errors.New("console link: the address of Prism is http://host or https://host, from --url or PRISM_PUBLIC_URL")
	}
	id, err := o.Account(ctx, g.account)
	if err != nil {
		return nil, err
	}
	path, err := o.SignInLink(ctx, id)
	return [][]string{{strings.TrimSuffix(g.url, "/") + path}}, err
}

func optionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return prism.FormatTime(*t)
}
