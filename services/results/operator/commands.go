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
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
)

// Command is an operator command with its arguments.
type Command struct {
	Name string // such as "key create"
	arguments
	private bool // what it prints lets somebody in
	looks   bool
	run     func(*Operator, context.Context, arguments) ([][]string, error)
}

// arguments are what follows the name of a command.
type arguments struct {
	subject, account, name, role, url string
	print                             bool // a link, whatever standard output is
	limits                            keys.LimitsChange
	claim                             string // NAME=VALUE; "": none
	remove                            bool   // the claim
	to                                string // the database that an account is moved to
	takeBack, dryRun                  bool
	tell                              func(line string) // while the command runs
	distribute                        bool              // tables over nodes
}

// declaration is an operator command as --help shows it. run returns the rows of a table, which may be a single cell.
type declaration struct {
	name    string
	subject string // names the required argument; "": none
	claim   string // names the optional argument behind it; "": none
	options []option
	does    string
	private bool
	looks   bool // it works on databases that are away or behind
	run     func(*Operator, context.Context, arguments) ([][]string, error)
}

func declarations() []declaration {
	return []declaration{
		{
			name: "migrate", options: []option{distributeOption()},
			does: "bring the database's tables up to date, or those of all databases", run: (*Operator).migrated,
		},
		{name: "databases list", does: "list the databases: accounts, bytes, versions", run: (*Operator).databasesList, looks: true},
		{
			name: "databases check", does: "say what is wrong with a database, and what to do; exit code 1 if it matters now",
			run: (*Operator).databasesCheck, looks: true,
		},
		{
			name: "databases repair", does: "tell the directory what the databases have; exit code 1 if something is to be decided",
			run: (*Operator).databasesRepair, looks: true,
		},
		{name: "account create", subject: "NAME", does: "create an account", run: (*Operator).accountCreate},
		{name: "account list", does: "list all accounts: what they store, where, and how much they call", run: (*Operator).accountList},
		{
			name: "account limits", subject: "NAME", options: limitOptions(), does: "set limits of an account, or show them; none removes one",
			run: (*Operator).accountLimits,
		},
		{
			name: "account allow-claim", subject: "NAME", claim: "[CLAIM=VALUE]", options: []option{removeOption()},
			does: "let rules of an account for a claim make members at any sign-in, or list such claims", run: (*Operator).accountAllowClaim,
		},
		{
			name: "account move", subject: "NAME", options: []option{toOption(), takeBackOption()},
			does: "move an account to another database while it is used, or go on with it", run: (*Operator).accountMove,
		},
		{
			name: "account balance", options: []option{dryRunOption()}, does: "propose moves, so that databases are used as their weights say",
			run: (*Operator).accountBalance,
		},
		{
			name: "key create", options: []option{accountOption(), nameOption(), roleOption()},
			does: "create an API key and print it, alone and only once", run: (*Operator).keyCreate,
		},
		{name: "key list", options: []option{accountOption()}, does: "list an account's keys", run: (*Operator).keyList},
		{name: "key revoke", subject: "ID", does: "reject a key from now on", run: (*Operator).keyRevoke},
		{
			name: "console link", options: []option{accountOption(), urlOption(), printOption()}, private: true,
			does: "make a link that signs in to the console once, for 10 minutes", run: (*Operator).consoleLink,
		},
	}
}

// usage is the command with its arguments and options.
func (d declaration) usage() string {
	words := []string{d.name}
	for _, word := range []string{d.subject, d.claim} {
		if word != "" {
			words = append(words, word)
		}
	}
	for _, o := range d.options {
		words = append(words, o.usage())
	}
	return strings.Join(words, " ")
}

// At returns the command with the URL under which browsers reach Prism, unless the arguments contain one.
func (c Command) At(url string) Command {
	c.url = cmp.Or(c.url, url)
	return c
}

// NeedsTables tells whether the tables must be up to date before the command runs.
func (c Command) NeedsTables() bool { return !c.looks && c.Name != "migrate" }

// Usage lists the commands that begin with a word, or all of them, for --help.
func Usage(word string) string {
	var b strings.Builder
	for _, d := range append([]declaration{{name: "serve", does: "answer calls; the default"}}, declarations()...) {
		if word == "" || strings.HasPrefix(d.name+" ", word+" ") {
			fmt.Fprintf(&b, "  %-59s %s\n", d.usage(), d.does)
		}
	}
	return b.String()
}

// Commands tells whether the arguments of a binary are an operator command, rather than serve or flags.
func Commands(args []string) bool {
	return len(args) > 0 && slices.ContainsFunc(declarations(), func(d declaration) bool { return strings.HasPrefix(d.name+" ", args[0]+" ") })
}

// Parse reads a command without a store. With --help it writes the help and returns flag.ErrHelp.
func Parse(args []string, stdout io.Writer) (Command, error) {
	for _, d := range declarations() {
		if words := strings.Fields(d.name); len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return d.parse(args[len(words):], stdout)
		}
	}
	if len(args) > 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[1]) && Commands(args) {
		return Command{}, help(stdout, args[0])
	}
	return Command{}, fmt.Errorf("unknown command %q; the commands are:\n%s", strings.Join(args, " "), Usage(""))
}

func (d declaration) parse(args []string, stdout io.Writer) (Command, error) {
	c := Command{Name: d.name, private: d.private, looks: d.looks, run: d.run}
	flags := flag.NewFlagSet(d.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error below says what is right
	for _, o := range d.options {
		o.register(flags, o.name, &c.arguments)
	}
	words, err := parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return c, help(stdout, d.name)
	}
	missing := slices.ContainsFunc(d.options, func(o option) bool { return o.required && flags.Lookup(o.name).Value.String() == "" })
	if d.claim != "" && len(words) == 2 {
		c.claim, words = words[1], words[:1]
	}
	wants := 0
	if d.subject != "" {
		wants = 1
	}
	if err != nil || len(words) != wants || missing || c.remove && c.claim == "" {
		return c, fmt.Errorf("usage: %s", d.usage())
	}
	if wants == 1 {
		c.subject = words[0]
	}
	return c, nil
}

// parse reads flags before and after the other words, which it returns.
func parse(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
			return words, err
		}
		words, args = append(words, flags.Arg(0)), flags.Args()[1:]
	}
}

func help(stdout io.Writer, word string) error {
	_, err := io.WriteString(stdout, Usage(word))
	return errors.Join(flag.ErrHelp, err)
}

// Run runs a command and writes its output.
func (o *Operator) Run(ctx context.Context, c Command, out Output) error {
	c.tell = func(line string) { _, _ = fmt.Fprintln(out, line) }
	rows, failed := c.run(o, ctx, c.arguments)
	if _, isShown := errors.AsType[shownError](failed); failed != nil && !isShown {
		return failed
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
	_, err := io.WriteString(out, table.String())
	return errors.Join(err, failed)
}

func (o *Operator) accountCreate(ctx context.Context, in arguments) ([][]string, error) {
	id, err := o.CreateAccount(ctx, in.subject)
	return [][]string{{id.String()}}, err
}

func (o *Operator) keyCreate(ctx context.Context, in arguments) ([][]string, error) {
	id, err := o.Account(ctx, in.account)
	if err != nil {
		return nil, err
	}
	key, err := o.CreateKey(ctx, id, in.name, prism.Role(in.role))
	return [][]string{{key}}, err
}

func (o *Operator) keyList(ctx context.Context, in arguments) ([][]string, error) {
	id, err := o.Account(ctx, in.account)
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

func (o *Operator) keyRevoke(ctx context.Context, in arguments) ([][]string, error) {
	id, err := prism.ParseUUID(in.subject)
	if err != nil {
		return nil, errors.New("key revoke takes the id of a key, as key list shows it, not the key itself")
	}
	return [][]string{{"Revoked."}}, o.RevokeKey(ctx, prism.KeyID{UUID: id})
}

func (o *Operator) consoleLink(ctx context.Context, in arguments) ([][]string, error) {
	base, err := url.Parse(in.url)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery+base.Fragment != "" {
		return nil, errors.New("console link: the address of Prism is http://host or https://host, from --url or PRISM_PUBLIC_URL")
	}
	id, err := o.Account(ctx, in.account)
	if err != nil {
		return nil, err
	}
	path, err := o.SignInLink(ctx, id)
	return [][]string{{strings.TrimSuffix(in.url, "/") + path}}, err
}

func optionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return prism.FormatTime(*t)
}
