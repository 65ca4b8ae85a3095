package route

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/console/internal/openid"
)

// signInPage shows why a sign-in failed: ?error= and one of the reasons.
const signInPage = home + "sign-in"

// maxAccount bounds the name of an account, in bytes: it is kept in a cookie.
const maxAccount = 200

// The reasons of signInPage (spec: openid-errors).
const (
	reasonDenied      = "openid_denied"      // the person or the provider said no
	reasonExpired     = "openid_expired"     // this browser did not begin the sign-in, or began it too long ago
	reasonFailed      = "openid_failed"      // the answer of the provider is not valid
	reasonNotMember   = "not_a_member"       // of the account that the sign-in names, or of any
	reasonLink        = "link_invalid"       // the invitation was used or has expired
	reasonLimited     = "too_many_sign_ins"  // of this address
	reasonUnavailable = "openid_unavailable" // the provider or Prism is down, or failed
)

// startOpenID sends the browser to the provider (spec: openid-sign-in). It takes no account: another site may lead here.
func (d Deps) startOpenID(c *fiber.Ctx) error {
	if d.OpenID == nil {
		return apierr.RouteNotFound()
	}
	address, err := d.beginOpenID(c, openid.Transaction{Return: ownPage(c.Query("return"))})
	if err != nil {
		return d.failed(c, err)
	}
	return c.Redirect(address, fiber.StatusSeeOther)
}

// startFromPage begins a sign-in from the page of sign-ins, and answers {url}. It takes an invitation, whose token is in the body so
// that no log has it, and the name of an account: the page has said what the account sees, and the person agrees (spec: claim-grant).
func (d Deps) startFromPage(c *fiber.Ctx, body []byte) error {
	var sent struct {
		Token   string `json:"token"`
		Account string `json:"account"`
		Return  string `json:"return"`
	}
	if d.OpenID == nil {
		return apierr.RouteNotFound()
	}
	if err := parse(body, &sent); err != nil {
		return err
	}
	if len(sent.Account) > maxAccount {
		return apierr.Invalid(apierr.Problem{Path: "account", Text: "must have at most 200 bytes"})
	}
	t := openid.Transaction{Return: ownPage(sent.Return), Account: sent.Account}
	if sent.Token != "" {
		if !apikey.IsToken(sent.Token) {
			return apierr.LinkInvalid()
		}
		t.Link = new(contract.LinkDigest)
		*t.Link = sha256.Sum256([]byte(sent.Token))
	}
	address, err := d.beginOpenID(c, t)
	if err != nil {
		d.Metrics.signedIn(byOpenID, err)
		if errors.Is(err, openid.ErrUnavailable) {
			err = errors.Join(apierr.Unavailable(), err)
		}
		return err
	}
	return sendJSON(c, struct {
		URL string `json:"url"`
	}{address})
}

func (d Deps) beginOpenID(c *fiber.Ctx, t openid.Transaction) (address string, err error) {
	if err := d.attempt(c); err != nil {
		return "", err
	}
	address, err = d.OpenID.Start(c.UserContext(), &t)
	if err != nil {
		return "", err
	}
	sealed, err := d.OpenID.Seal(t)
	if err != nil {
		return "", err
	}
	d.setCookie(c, transactionCookie, sealed, openid.TransactionTime)
	return address, nil
}

// errForeign is an answer of the provider to a sign-in that this browser did not begin.
var errForeign = errors.New("console: the answer is not for this browser")

// callback finishes the sign-in: the provider sends the browser here.
func (d Deps) callback(c *fiber.Ctx) error {
	if d.OpenID == nil {
		return apierr.RouteNotFound()
	}
	page, err := d.finishOpenID(c)
	if err != nil {
		return d.failed(c, err)
	}
	d.Metrics.signedIn(byOpenID, nil)
	return c.Redirect(page, fiber.StatusSeeOther)
}

// finishOpenID signs in the person whom the provider's answer names, and returns the page to go to. The answer must belong to a
// sign-in that this browser began: its state must be the one in the browser's cookie (spec: openid-transaction).
func (d Deps) finishOpenID(c *fiber.Ctx) (page string, err error) {
	if err := d.attempt(c); err != nil {
		return "", err
	}
	t, err := d.OpenID.Open(d.cookie(c, transactionCookie))
	if err != nil {
		return "", errors.Join(errForeign, err)
	}
	if subtle.ConstantTimeCompare([]byte(c.Query("state")), []byte(t.State)) != 1 {
		return "", errForeign // the sign-in of this browser can still be finished
	}
	d.setCookie(c, transactionCookie, "", 0)
	if c.Query("error") != "" {
		if c.Query("error") == "access_denied" {
			return "", errDenied
		}
		return "", errors.Join(openid.ErrRefused, errors.New("console: the provider answered with an error"))
	}
	who, err := d.OpenID.Finish(c.UserContext(), t, strings.Clone(c.Query("code")))
	if err != nil {
		return "", err
	}
	text, err := apikey.NewToken(rand.Reader)
	if err != nil {
		return "", err
	}
	session, err := d.Console.SignInAs(c.UserContext(), contract.SignInAs{
		Identity: who, Session: sha256.Sum256([]byte(text)), Link: t.Link, Account: t.Account, Earlier: d.earlier(c),
	})
	if err != nil {
		return "", catalogued(err)
	}
	d.begin(c, text, session)
	return t.Return, nil
}

var errDenied = errors.New("console: the sign-in was denied")

// failed shows why nobody was signed in. An unexpected reason is logged.
func (d Deps) failed(c *fiber.Ctx, err error) error {
	var limited *apierr.RetryAfterError
	reason, outcome := reasonUnavailable, err
	switch {
	case errors.As(err, &limited):
		reason = reasonLimited
	case errors.Is(err, errForeign):
		reason, outcome = reasonExpired, apierr.NotSignedIn()
	case errors.Is(err, errDenied):
		reason, outcome = reasonDenied, apierr.NotSignedIn()
	case errors.Is(err, openid.ErrRefused):
		reason, outcome = reasonFailed, apierr.NotSignedIn()
	case errors.Is(err, apierr.NotAMember()):
		reason = reasonNotMember
	case errors.Is(err, apierr.LinkInvalid()):
		reason = reasonLink
	}
	d.Metrics.signedIn(byOpenID, outcome)
	if reason == reasonFailed || reason == reasonUnavailable {
		d.Log.WarnContext(c.UserContext(), "a sign-in by OpenID Connect failed", "error", err)
	}
	return c.Redirect(signInPage+"?error="+reason, fiber.StatusSeeOther)
}
