package openid

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/prism-results/prism/pkg/contract"
)

// Bounds of the claims that are accepted from a provider.
const (
	mostValues  = 500 // of a claim
	longestText = 320 // bytes of a text; the longest e-mail address
)

// Finish exchanges a code for the identity of the person who has signed in. Its errors are ErrRefused and ErrUnavailable, and hold
// no token, code or claim.
func (c *Client) Finish(ctx context.Context, t Transaction, code string) (contract.Identity, error) {
	p, err := c.provider(ctx)
	if err != nil {
		return contract.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, c.http)
	token, err := c.exchange(ctx, p, code, t.Verifier)
	if err != nil {
		err = exchangeProblem(err)
	}
	c.cfg.Asked(!errors.Is(err, ErrUnavailable))
	if err != nil {
		return contract.Identity{}, err
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return contract.Identity{}, fmt.Errorf("%w: the provider sent no ID token", ErrRefused)
	}
	id, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return contract.Identity{}, verifyProblem(err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(t.Nonce)) != 1 {
		return contract.Identity{}, fmt.Errorf("%w: the ID token has another nonce", ErrRefused)
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return contract.Identity{}, fmt.Errorf("%w: the ID token has no claims", ErrRefused)
	}
	c.complete(ctx, p, token, id.Subject, claims)
	return c.identity(id.Issuer, id.Subject, claims), nil
}

// exchange exchanges a code for tokens, by the other client secret if the provider refuses the one in use.
func (c *Client) exchange(ctx context.Context, p *provider, code, verifier string) (*oauth2.Token, error) {
	with := p.oauth
	with.ClientSecret = c.cfg.ClientSecret.Secret()
	token, err := with.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || refused.ErrorCode != "invalid_client" {
		return token, err
	}
	c.cfg.ClientSecret.Refused(with.ClientSecret)
	other := c.cfg.ClientSecret.Secret()
	if other == with.ClientSecret {
		return nil, err
	}
	with.ClientSecret = other
	return with.Exchange(ctx, code, oauth2.VerifierOption(verifier))
}

// complete adds the claims that the ID token lacks and the provider's userinfo has. If userinfo fails, the ID token has to do.
func (c *Client) complete(ctx context.Context, p *provider, token *oauth2.Token, subject string, claims map[string]any) {
	wanted := append([]string{"name", "email"}, c.cfg.Claims...)
	missing := slices.ContainsFunc(wanted, func(name string) bool { _, ok := claims[name]; return !ok })
	if !missing || p.UserInfoEndpoint() == "" {
		return
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil || info.Subject != subject { // OpenID Connect Core 5.3.2: the claims of another subject must not be used
		return
	}
	further := map[string]any{}
	if info.Claims(&further) != nil {
		return
	}
	switch _, known := claims["email"]; {
	case !known:
		delete(claims, "email_verified") // of no address
	case text(claims["email"]) != text(further["email"]):
		delete(further, "email_verified") // of another address
	}
	for name, value := range further {
		if _, known := claims[name]; !known {
			claims[name] = value
		}
	}
}

// identity makes the identity from the claims.
func (c *Client) identity(issuer, subject string, claims map[string]any) contract.Identity {
	who := contract.Identity{Issuer: issuer, Subject: subject, Email: text(claims["email"]), Claims: map[string][]string{}}
	for _, name := range []string{"name", "preferred_username", "email"} {
		if who.Name == "" {
			who.Name = text(claims[name])
		}
	}
	// Some providers send the text "true".
	who.EmailVerified = who.Email != "" && (claims["email_verified"] == true || claims["email_verified"] == "true")
	for _, name := range c.cfg.Claims {
		if values := texts(claims[name]); len(values) > 0 {
			who.Claims[name] = values
		}
	}
	return who
}

func text(claim any) string {
	if s, ok := claim.(string); ok && len(s) <= longestText {
		return s
	}
	return ""
}

// texts are the values of a claim: a string, a boolean, or a list of strings.
func texts(claim any) (values []string) {
	switch v := claim.(type) {
	case bool:
		return []string{fmt.Sprint(v)}
	case []any:
		for _, item := range v[:min(len(v), mostValues)] {
			if s := text(item); s != "" {
				values = append(values, s)
			}
		}
		return values
	}
	if s := text(claim); s != "" {
		values = append(values, s)
	}
	return values
}

// exchangeProblem says what is wrong without the text of a response, which may repeat the code.
func exchangeProblem(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fmt.Errorf("%w: %s", ErrUnavailable, transportProblem(err))
	}
	if refused.Response != nil && refused.Response.StatusCode >= 500 {
		return fmt.Errorf("%w: its token endpoint answered %d", ErrUnavailable, refused.Response.StatusCode)
	}
	known := []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
	if slices.Contains(known, refused.ErrorCode) {
		return fmt.Errorf("%w: the token endpoint answered %s", ErrRefused, refused.ErrorCode)
	}
	return fmt.Errorf("%w: the token endpoint refused the code", ErrRefused)
}

// verifyProblem says what is wrong without the text of the library, which repeats claims.
func verifyProblem(err error) error {
	if _, expired := errors.AsType[*oidc.TokenExpiredError](err); expired {
		return fmt.Errorf("%w: the ID token has expired", ErrRefused)
	}
	return fmt.Errorf("%w: the ID token's signature, issuer or audience is not the expected one, or the provider's keys cannot be read", ErrRefused)
}

// transportProblem is the cause of a failed request without its address, which may hold a secret, or what a server sent.
func transportProblem(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		if failed.Timeout() {
			return "no answer in time"
		}
		return fmt.Sprintf("the request failed: %T", failed.Err)
	}
	return "its answer was not the expected one"
}
