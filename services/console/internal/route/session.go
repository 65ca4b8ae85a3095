package route

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// link tells whose a link is, so that the page can ask before it uses the link up (spec: link-owner).
func (d Deps) link(c *fiber.Ctx, body []byte) error {
	var owner contract.LinkOwner
	digest, err := d.sentLink(c, body)
	if err == nil {
		owner, err = d.Console.Link(c.UserContext(), digest)
	}
	if err != nil {
		d.Metrics.signedIn(byLink, err)
		return catalogued(err)
	}
	return sendJSON(c, struct {
		Account   account   `json:"account"`
		ExpiresAt time.Time `json:"expires_at"`
	}{accountOf(owner.Account), owner.ExpiresAt})
}

// sentLink is the link of a request, whose address has an attempt less.
func (d Deps) sentLink(c *fiber.Ctx, body []byte) (digest contract.LinkDigest, err error) {
	var sent struct {
		Token string `json:"token"`
	}
	if err := parse(body, &sent); err != nil {
		return digest, err
	}
	if err := d.attempt(c); err != nil {
		return digest, err
	}
	if !apikey.IsToken(sent.Token) {
		return digest, apierr.LinkInvalid()
	}
	return sha256.Sum256([]byte(sent.Token)), nil
}

// signIn signs in by a link, which works once.
func (d Deps) signIn(c *fiber.Ctx, body []byte) (err error) {
	defer func() { d.Metrics.signedIn(byLink, err) }()
	link, err := d.sentLink(c, body)
	if err != nil {
		return err
	}
	text, err := apikey.NewToken(rand.Reader)
	if err != nil {
		return err
	}
	session, err := d.Console.SignIn(c.UserContext(), contract.SignIn{
		Link: link, Session: sha256.Sum256([]byte(text)), Earlier: d.earlier(c),
	})
	if err != nil {
		return catalogued(err)
	}
	d.begin(c, text, session)
	return noContent(c)
}

// attempt counts a sign-in for the address of a request (spec: sign-in-attempts).
func (d Deps) attempt(c *fiber.Ctx) error {
	if wait := d.signIns.take(httpkit.Client(c)); wait > 0 {
		return apierr.UnavailableFor(wait)
	}
	return nil
}

// begin gives the browser its session. The text is always new, so that a session that somebody else planted is not continued.
func (d Deps) begin(c *fiber.Ctx, text string, session contract.Session) {
	d.setCookie(c, sessionCookie, text, session.EndsAt.Sub(session.Now))
}

// account is an account of a session as the app reads it.
type account struct {
	ID     prism.AccountID `json:"id"`
	Name   string          `json:"name"`
	Member member          `json:"member"`
}

type member struct {
	ID   prism.MemberID `json:"id"`
	Name string         `json:"name"`
	Role prism.Role     `json:"role"`
}

func accountOf(a contract.SessionAccount) account {
	return account{a.ID, a.Name, member{a.Member.ID, a.Member.Name, a.Member.Role}}
}

// lookUp calls find with the session of a request, unless its address has shown too many unknown sessions (spec: unknown-sessions).
func (d Deps) lookUp(c *fiber.Ctx, find func(contract.SessionDigest) error) error {
	digest, ok := d.session(c)
	if !ok {
		return apierr.NotSignedIn()
	}
	address := httpkit.Client(c)
	if wait := d.unknown.left(address); wait > 0 && !d.known.Contains(digest) {
		return apierr.UnavailableFor(wait)
	}
	err := find(digest)
	switch {
	case err == nil:
		d.known.Add(digest, struct{}{})
	case errors.Is(err, apierr.NotSignedIn()):
		d.known.Remove(digest)
		d.unknown.take(address)
	}
	return catalogued(err)
}

// readSession tells who is signed in, and counts as a use of the session.
func (d Deps) readSession(c *fiber.Ctx) error {
	var session contract.Session
	err := d.lookUp(c, func(digest contract.SessionDigest) (err error) {
		session, err = d.Console.Session(c.UserContext(), digest)
		if err == nil && len(session.Accounts) == 0 {
			err = apierr.NotSignedIn()
		}
		return err
	})
	if err != nil {
		return err
	}
	body := struct {
		Member    member    `json:"member"`
		Accounts  []account `json:"accounts"`
		ExpiresAt time.Time `json:"expires_at"`
		EndsAt    time.Time `json:"ends_at"`
	}{ExpiresAt: session.ExpiresAt, EndsAt: session.EndsAt}
	for _, a := range session.Accounts {
		body.Accounts = append(body.Accounts, accountOf(a))
	}
	body.Member = body.Accounts[0].Member
	return sendJSON(c, body)
}

// newKey makes an API key for the page.
func (d Deps) newKey(c *fiber.Ctx, body []byte) (err error) {
	id, err := sentAccount(body)
	if err != nil {
		return err
	}
	defer func() { d.Metrics.keyMade(err) }()
	var made contract.SessionKey
	err = d.lookUp(c, func(digest contract.SessionDigest) (err error) {
		made, err = d.Console.SessionKey(c.UserContext(), digest, id)
		return err
	})
	if err != nil {
		return err
	}
	membership := accountOf(made.Account)
	return sendJSON(c, struct {
		Key       string    `json:"key"`
		ExpiresAt time.Time `json:"expires_at"`
		Account   account   `json:"account"`
		Member    member    `json:"member"`
	}{made.Key, made.ExpiresAt, membership, membership.Member})
}

// sentAccount is the account that the body of a change names, or zero.
func sentAccount(body []byte) (prism.AccountID, error) {
	var sent struct {
		Account *string `json:"account"`
	}
	if err := parse(body, &sent); err != nil || sent.Account == nil {
		return prism.AccountID{}, err
	}
	uuid, err := prism.ParseUUID(*sent.Account)
	if err != nil {
		return prism.AccountID{}, apierr.Invalid(apierr.Problem{Path: "account", Text: "must be a UUID"})
	}
	return prism.AccountID{UUID: uuid}, nil
}

// leave ends the member's part in an account (spec: session-leave).
func (d Deps) leave(c *fiber.Ctx, body []byte) error {
	id, err := sentAccount(body)
	if err != nil {
		return err
	}
	err = d.lookUp(c, func(digest contract.SessionDigest) error { return d.Console.Leave(c.UserContext(), digest, id) })
	if err != nil {
		return err
	}
	return noContent(c)
}

// signOut ends the session and its keys. It succeeds for somebody who is not signed in.
func (d Deps) signOut(c *fiber.Ctx, _ []byte) error {
	if digest, ok := d.session(c); ok {
		if !d.known.Remove(digest) { // it may be unknown: EndSession does not tell
			if wait := d.unknown.take(httpkit.Client(c)); wait > 0 {
				return apierr.UnavailableFor(wait)
			}
		}
		if err := d.Console.EndSession(c.UserContext(), digest); err != nil {
			return catalogued(err)
		}
		d.Metrics.signOuts.Inc()
	}
	d.setCookie(c, sessionCookie, "", 0)
	return noContent(c)
}

// catalogued adds the 503 of the catalogue to the error of a results service that cannot be reached.
func catalogued(err error) error {
	if errors.Is(err, contract.ErrUnavailable) {
		return errors.Join(apierr.Unavailable(), err)
	}
	return err
}
