package wire

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/reload"
)

// Tokens are the tokens of the calls from one service to another (spec: token-for-each-edge). The caller shows the first
// token, and shows the next one to a service that refuses a token. The service accepts each token.
type Tokens struct{ list *reload.Value[[]token] }

type token struct {
	authorization string // the header's value
	digest        [sha256.Size]byte
}

// ResultsTokens are the settings of the tokens of calls to results.
type ResultsTokens struct {
	List config.Tokens `env:"PRISM_RESULTS_TOKEN" unless:"PRISM_RESULTS_TOKEN_FILE" example:"$(openssl rand -hex 32)" help:"tokens of calls to results, separated by commas: results accepts each, the gateway shows the first"`
	File string        `env:"PRISM_RESULTS_TOKEN_FILE" help:"file with tokens of calls to results, one on each line; read again when it changes"`
}

// ModelsTokens are the settings of the tokens of calls to model-proxy.
type ModelsTokens struct {
	List config.Tokens `env:"PRISM_MODEL_PROXY_TOKEN" unless:"PRISM_MODEL_PROXY_TOKEN_FILE" example:"$(openssl rand -hex 32)" help:"tokens of calls to model-proxy, separated by commas: model-proxy accepts each, the gateway shows the first"`
	File string        `env:"PRISM_MODEL_PROXY_TOKEN_FILE" help:"file with tokens of calls to model-proxy, one on each line; read again when it changes"`
}

// ConsoleTokens are the settings of the tokens of the gateway's requests to the console.
type ConsoleTokens struct {
	List config.Tokens `env:"PRISM_CONSOLE_TOKEN" example:"$(openssl rand -hex 32)" help:"tokens of requests to the console, separated by commas: the console accepts each, the gateway shows the first"`
	File string        `env:"PRISM_CONSOLE_TOKEN_FILE" help:"file with tokens of requests to the console, one on each line; read again when it changes"`
}

// SessionTokens are the settings of the tokens of the console's calls to results. They are for contract.Console alone, and the
// tokens of ResultsTokens are not for it: who may say that somebody has signed in is no caller of the API (spec: session-tokens).
type SessionTokens struct {
	List config.Tokens `env:"PRISM_RESULTS_CONSOLE_TOKEN" example:"$(openssl rand -hex 32)" help:"tokens of the console's calls to results, separated by commas: results accepts each, the console shows the first"`
	File string        `env:"PRISM_RESULTS_CONSOLE_TOKEN_FILE" help:"file with tokens of the console's calls to results, one on each line; read again when it changes"`
}

// DeliveriesTokens are the settings of the tokens of the calls to results of the service that sends events. They are for
// contract.Deliveries alone, and no other token is for it: that service calls what users choose, so it may read and change nothing but
// what it sends (spec: deliveries-token).
type DeliveriesTokens struct {
	List config.Tokens `env:"PRISM_RESULTS_WEBHOOKS_TOKEN" example:"$(openssl rand -hex 32)" help:"tokens of the calls to results of webhooks, separated by commas: results accepts each, webhooks shows the first"`
	File string        `env:"PRISM_RESULTS_WEBHOOKS_TOKEN_FILE" help:"file with tokens of the calls to results of webhooks, one on each line; read again when it changes"`
}

// DeclarationsTokens are the settings of the tokens of the operator's calls to results. They are for contract.Declarations alone, and no
// other token is for it: who may make accounts and keys may not read what others have (spec: operator-token).
type DeclarationsTokens struct {
	List config.Tokens `env:"PRISM_OPERATOR_TOKEN" example:"$(openssl rand -hex 32)" help:"tokens of the operator's calls to results, separated by commas: results accepts each, the operator shows the first"`
	File string        `env:"PRISM_OPERATOR_TOKEN_FILE" help:"file with tokens of the operator's calls to results, one on each line; read again when it changes"`
}

// Open reads the file, if there is one. The order of the list is the file, the variable.
func (s ResultsTokens) Open(log *slog.Logger) (*Tokens, error) {
	return openTokens("PRISM_RESULTS_TOKEN", s.List, s.File, log)
}

// Open is like that of ResultsTokens.
func (s ModelsTokens) Open(log *slog.Logger) (*Tokens, error) {
	return openTokens("PRISM_MODEL_PROXY_TOKEN", s.List, s.File, log)
}

// Open reads the file, if there is one. Without a token there are no Tokens.
func (s ConsoleTokens) Open(log *slog.Logger) (*Tokens, error) {
	return openOptional("PRISM_CONSOLE_TOKEN", s.List, s.File, log)
}

// Open is like that of ConsoleTokens.
func (s SessionTokens) Open(log *slog.Logger) (*Tokens, error) {
	return openOptional("PRISM_RESULTS_CONSOLE_TOKEN", s.List, s.File, log)
}

// Open is like that of ConsoleTokens.
func (s DeliveriesTokens) Open(log *slog.Logger) (*Tokens, error) {
	return openOptional("PRISM_RESULTS_WEBHOOKS_TOKEN", s.List, s.File, log)
}

// Open is like that of ConsoleTokens.
func (s DeclarationsTokens) Open(log *slog.Logger) (*Tokens, error) {
	return openOptional("PRISM_OPERATOR_TOKEN", s.List, s.File, log)
}

func openOptional(variable string, list config.Tokens, file string, log *slog.Logger) (*Tokens, error) {
	if len(list) == 0 && file == "" {
		return nil, nil
	}
	return openTokens(variable, list, file, log)
}

func openTokens(variable string, list config.Tokens, file string, log *slog.Logger) (*Tokens, error) {
	var files []string
	if file != "" {
		files = []string{file}
	}
	value, err := reload.New(log, func(contents [][]byte) (tokens []token, _ error) {
		var texts config.Tokens
		if file != "" {
			if err := texts.UnmarshalText(contents[0]); err != nil {
				return nil, fmt.Errorf("%s %w", file, err)
			}
		}
		texts = append(texts, list...)
		for _, text := range texts {
			tokens = append(tokens, token{"Bearer " + text, sha256.Sum256([]byte(text))})
		}
		return tokens, nil
	}, files...)
	if err != nil {
		return nil, fmt.Errorf("%s_FILE: %w", variable, err)
	}
	return &Tokens{value}, nil
}

// Accepts tells whether an Authorization header has one of the tokens. It compares digests, each of them, so that neither
// the content of a token, nor its length or place in the list shows in the time taken.
func (t *Tokens) Accepts(authorization []byte) bool {
	shown, ok := bytes.CutPrefix(authorization, []byte("Bearer "))
	got, equal := sha256.Sum256(shown), 0
	for _, want := range t.list.Get() {
		equal |= subtle.ConstantTimeCompare(got[:], want.digest[:])
	}
	return ok && equal == 1
}
