package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

func (a *app) members() *cobra.Command {
	members := group("members", "Invite, list, change and remove the people of the account")
	members.AddCommand(a.membersInvite(), a.membersLink(), a.membersList(), a.membersRename(), a.membersSetRole(), a.membersRemove())
	return members
}

var roleNames = []string{
	string(client.Owner), string(client.Editor), string(client.Caller), string(client.Labeller), string(client.Reader),
}

func (a *app) membersInvite() *cobra.Command {
	var role, email, claim string
	cmd := a.calling(description{
		use: "invite NAME", short: "Invite a member and print the sign-in link, this one time",
		example: `prismctl members invite Ada --role editor --email ada@example.com
prismctl members invite "Support desk" --role caller --claim groups=support`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		n := client.NewMember{Name: args[0], Email: email, Role: client.Role(role)}
		if role == "" {
			return usage(errors.New("--role is missing"))
		}
		if claim != "" {
			name, value, ok := strings.Cut(claim, "=")
			if !ok {
				return usage(errors.New("--claim takes NAME=VALUE"))
			}
			n.Claim = &client.Claim{Name: name, Value: value}
		}
		m, err := c.AddMember(cmd.Context(), n)
		if err != nil {
			return err
		}
		if n.Claim != nil {
			_, _ = fmt.Fprintf(a.err, "Rule %s: who signs in with %s becomes a member, if the operator has granted the claim or the person agrees.\n", m.ID, printable(claim))
			return nil
		}
		return a.showLink(m)
	})
	cmd.Flags().StringVar(&role, "role", "", "what the member may do: owner, editor, caller, labeller or reader")
	choices(cmd, "role", roleNames...)
	cmd.Flags().StringVar(&email, "email", "", "address of the member, for people; Prism sends no mail")
	cmd.Flags().StringVar(&claim, "claim", "", "`NAME=VALUE` makes a rule instead: who signs in by OpenID Connect with this claim becomes a member")
	cmd.MarkFlagsMutuallyExclusive("email", "claim")
	return cmd
}

func (a *app) membersLink() *cobra.Command {
	return a.calling(description{
		use: "link ID", short: "Make a new sign-in link of a member and print it, this one time",
		example: `prismctl members link "$MEMBER"`, complete: a.completeMembers,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		m, err := c.LinkMember(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.showLink(m)
	})
}

// showLink prints the link alone on standard output.
func (a *app) showLink(m client.InvitedMember) error {
	t, err := a.target()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.err, "Member %s (%s) can sign in once, until %s. The link is shown only now.\n", m.ID, printable(m.Name), m.ExpiresAt)
	_, err = fmt.Fprintln(a.out, strings.TrimSuffix(t.Host, "/")+m.Link.Reveal())
	return err
}

func (a *app) membersList() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "list", short: "List members and rules, newest first",
		example: `prismctl members list
prismctl members list -o wide`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		return list(cmd.Context(), a, output, c.Members(cmd.Context()), memberColumns, func(m client.Member) row {
			claim := ""
			if m.Claim != nil {
				claim = m.Claim.Name + "=" + m.Claim.Value
			}
			return row{cells: []string{
				m.ID, m.Name, string(m.Role), optional(m.Email), claim, optional(m.SignedInBy), m.CreatedAt.String(), optional(m.LastSeenAt),
			}}
		})
	})
	output = outputFlag(cmd, listFormats...)
	return cmd
}

var memberColumns = columns{
	"id name role email claim signed_in_by created_at last_seen_at", "id name~ role last_seen_at:seen",
}

func (a *app) membersRename() *cobra.Command {
	return a.membersChange(description{
		use: "rename ID NAME", short: "Change the name of a member or rule",
		example: `prismctl members rename "$MEMBER" "Ada Lovelace"`, complete: a.completeMembers,
	}, func(to string) client.MemberChange {
		return client.MemberChange{Name: to}
	})
}

func (a *app) membersSetRole() *cobra.Command {
	cmd := a.membersChange(description{
		use: "set-role ID ROLE", short: "Change what a member may do, at once",
		example: `prismctl members set-role "$MEMBER" editor`,
	}, func(to string) client.MemberChange {
		return client.MemberChange{Role: client.Role(to)}
	})
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return roleNames, cobra.ShellCompDirectiveNoFileComp
		}
		return a.completeMembers(cmd, args, start)
	}
	return cmd
}

func (a *app) membersChange(d description, change func(to string) client.MemberChange) *cobra.Command {
	return a.calling(d, func(cmd *cobra.Command, c *client.Client, args []string) error {
		if args[1] == "" {
			return usage(errors.New("the last argument is empty"))
		}
		m, err := c.ChangeMember(cmd.Context(), args[0], change(args[1]))
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s is %s (%s).\n", m.ID, printable(m.Name), m.Role)
		return nil
	})
}

func (a *app) membersRemove() *cobra.Command {
	return a.calling(description{
		use: "remove ID", short: "Remove a member, whose sessions end at once, or a rule",
		example: `prismctl members remove "$MEMBER"`, complete: a.completeMembers,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		if err := c.RemoveMember(cmd.Context(), args[0]); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(a.err, "%s is removed.\n", printable(args[0]))
		return nil
	})
}
