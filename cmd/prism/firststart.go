package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results"
	"github.com/prism-results/prism/services/results/operator"
)

const demoAccount = "demo"

// keyFile is the name of the file of the first key.
const keyFile = "prism-first-start.txt"

// demoPrism is the prism of the first start, as a body of POST /v1/prisms.
//
//go:embed demo.json
var demoPrism []byte

// firstStart creates an account, a key and a prism at the first start with the embedded store (spec: first-start). At every
// start it prints how to reach Prism.
type firstStart struct {
	service  *results.Service
	out      operator.Output
	embedded bool
	public   config.URL // where browsers reach Prism; zero: where it listens
	called   string     // how the user called the binary
	account  prism.AccountID
	key      string // set by the start that created it
}

// seed creates the demo account, its key and its prism unless the account has a key. So it changes no store in use. If a first
// start was interrupted before the account had a key, seed completes it.
func (f *firstStart) seed(ctx context.Context) error {
	if !f.embedded {
		return nil
	}
	op := f.service.Operator()
	account, err := op.Account(ctx, demoAccount)
	var none *operator.NoAccountError
	if errors.As(err, &none) {
		account, err = op.CreateAccount(ctx, demoAccount)
	}
	if err != nil {
		return fmt.Errorf("the demo account: %w", err)
	}
	f.account = account
	keys := 0
	for _, err := range op.Keys(ctx, account) {
		if err != nil {
			return fmt.Errorf("the keys of the demo account: %w", err)
		}
		keys++
	}
	if keys > 0 {
		return nil
	}
	text, err := op.CreateKey(ctx, account, "first start", prism.Owner)
	if err != nil {
		return fmt.Errorf("the demo key: %w", err)
	}
	key, ok := apikey.Parse(text)
	if !ok {
		return errors.New("the demo key is invalid")
	}
	var p api.NewPrism
	if err := strictjson.Unmarshal(demoPrism, &p); err != nil {
		return fmt.Errorf("the demo prism is invalid: %w", err)
	}
	_, err = contract.Do(ctx, f.service, key.Digest(), api.CreatePrism, api.CreatePrismRequest{NewPrism: p})
	if err != nil && !errors.Is(err, apierr.SlugTaken()) {
		return fmt.Errorf("the demo prism: %w", err)
	}
	f.key = text
	return nil
}

// print prints the address, a sign-in link of the demo account, and the demo key at the start that created the key.
func (f *firstStart) print(ctx context.Context, at net.Addr) {
	base := "http://" + at.String()
	_, _ = fmt.Fprintf(f.out, "\nPrism listens at %[1]s (documentation: %[1]s/docs).\n\n", base)
	f.printLink(ctx, at)
	if f.key == "" {
		return
	}
	_, _ = fmt.Fprint(f.out, `This first start created the account "demo", a prism "tickets" and an API key, which is shown only now.`+"\n\n")
	f.private(keyFile, "The key, with a line to try it,", fmt.Sprintf(`  %[2]s

Try it:

  curl --fail-with-body -sS -w '\n' %[1]s/v1/prisms/tickets/results -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' -d '{"text":"I was charged twice for my order and want a refund today!"}'
`, base, f.key))
}

// printLink prints a link that signs in to the demo account of the embedded store (spec: sign-in-link-at-the-start).
func (f *firstStart) printLink(ctx context.Context, at net.Addr) {
	if !f.embedded {
		return
	}
	path, err := f.service.Operator().SignInLink(ctx, f.account)
	if err != nil { // such as that of a full disk, with which what is stored can still be read
		_, _ = fmt.Fprintf(f.out, "No link that signs in to the console could be made: %v\n\n", err)
		return
	}
	base := results.Public{URL: f.public}.At(config.Address(at.String()))
	_, _ = fmt.Fprintf(f.out, "Sign in to the console with a link. It works once, for 10 minutes; %s console link makes another.\n\n", f.called)
	f.private(operator.LinkFile, "The link", "  "+strings.TrimSuffix(base, "/")+path+"\n")
}

// private prints a text that lets somebody in to a terminal. Without one it keeps the text in a file of the data folder, and says
// that what is in the file (spec: private-output).
func (f *firstStart) private(file, description, text string) {
	if f.out.IsTerminal() {
		_, _ = fmt.Fprintln(f.out, text)
		return
	}
	path, err := f.out.Keep(file, text)
	if err != nil {
		_, _ = fmt.Fprintf(f.out, "  %s cannot be kept in a file, and standard output is no terminal: %v\n\n", description, err)
		return
	}
	_, _ = fmt.Fprintf(f.out, "  %s is in %s, which only this user can read.\n\n", description, path)
}
