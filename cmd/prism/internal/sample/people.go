package sample

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The members of the account, by their places in filling.people.
const (
	kim = iota
	robin
)

func members() []api.NewMember {
	return []api.NewMember{
		kim:   {Name: "Kim Larsen", Role: prism.Labeller},
		robin: {Name: "Robin Meyer", Role: prism.Editor},
	}
}

// discussion is what members say of a message, the first one first, and whom it is assigned to.
type discussion struct {
	subject  string
	said     []saying
	assignee int
}

type saying struct {
	by   int
	text string
}

func discussions() []discussion {
	return []discussion{
		{"Sparks", []saying{
			{kim, "The third toaster with sparks since the weekend. Is it one batch?"},
			{robin, "It is. The recall goes out today; please assign every further one to me."},
		}, robin},
		{"Last warning", []saying{{kim, "Wants an answer by Friday. Who calls?"}, {robin, "I do, this afternoon."}}, robin},
		{"Express paid", []saying{
			{robin, "Is this for shipping, or for billing, who pay the fee back?"},
			{kim, "Billing, I think, and I have labelled it so."},
		}, kim},
	}
}

// Discussions begin beforeUntil before the end of the month, of results that are older, and go on at intervals.
const (
	beforeUntil = time.Hour
	betweenSaid = 7 * time.Minute
)

func (f *filling) invite(ctx context.Context) error {
	for _, m := range members() {
		made, err := read[struct{ ID prism.MemberID }](contract.Do(ctx, f.deps.Results, f.owner, api.AddMember, api.AddMemberRequest{NewMember: m}))
		if err != nil {
			return fmt.Errorf("inviting %s: %w", m.Name, err)
		}
		f.people = append(f.people, made.ID)
	}
	return nil
}

// discuss has members comment on results and assigns these, each the newest of a subject that there is.
func (f *filling) discuss(ctx context.Context) error {
	at := f.plan.Until.Add(-beforeUntil)
	for _, d := range discussions() {
		newest, ok := f.newest[d.subject]
		if !ok {
			continue
		}
		result := api.ResultRequest{Result: newest}
		for _, s := range d.said {
			at = at.Add(betweenSaid)
			f.deps.Clock.Set(at)
			err := f.signedIn(ctx, f.people[s.by], func(key contract.KeyDigest) error {
				_, err := contract.Do(ctx, f.deps.Results, key, api.CreateComment, api.CreateCommentRequest{
					ResultRequest: result, NewComment: api.NewComment{Text: s.text},
				})
				return err
			})
			if err != nil {
				return fmt.Errorf("commenting on %q: %w", d.subject, err)
			}
		}
		_, err := contract.Do(ctx, f.deps.Results, f.owner, api.AssignResult, api.AssignResultRequest{
			ResultRequest: result, NewAssignee: api.NewAssignee{Member: &f.people[d.assignee]},
		})
		if err != nil {
			return fmt.Errorf("assigning %q: %w", d.subject, err)
		}
	}
	return nil
}

// signedIn calls fn with a key of a session of a member, as the console has one, and ends the session.
func (f *filling) signedIn(ctx context.Context, member prism.MemberID, fn func(key contract.KeyDigest) error) (err error) {
	invited, err := read[struct{ Link string }](contract.Do(ctx, f.deps.Results, f.owner, api.LinkMember, api.MemberRequest{Member: member}))
	if err != nil {
		return fmt.Errorf("making a sign-in link: %w", err)
	}
	_, token, _ := strings.Cut(invited.Link, "#")
	text, err := apikey.NewToken(rand.Reader)
	if err != nil {
		return err
	}
	session := contract.SessionDigest(sha256.Sum256([]byte(text)))
	if _, err = f.deps.Console.SignIn(ctx, contract.SignIn{Link: sha256.Sum256([]byte(token)), Session: session}); err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	defer func() { err = errors.Join(err, f.deps.Console.EndSession(ctx, session)) }()
	made, err := f.deps.Console.SessionKey(ctx, session, prism.AccountID{})
	if err != nil {
		return fmt.Errorf("making the key of the session: %w", err)
	}
	key, _ := apikey.Parse(made.Key)
	return fn(key.Digest())
}
