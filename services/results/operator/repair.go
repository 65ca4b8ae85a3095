package operator

import (
	"cmp"
	"context"
	"fmt"
)

// databasesRepair tells the directory what the databases have, home first, and shows what is to be decided: errWrong if there is any.
func (o *Operator) databasesRepair(ctx context.Context, _ arguments) ([][]string, error) {
	if o.databases.All[0].Repair == nil {
		return [][]string{{"There is one database, and nothing to repair."}}, nil
	}
	rows := [][]string{{"DATABASE", "ACCOUNT", "NAME", "FOUND", "ELSEWHERE"}}
	var wrong error
	for _, db := range o.databases.All {
		learned, err := db.Repair(ctx)
		found := fmt.Sprintf("learned %d accounts, %d keys and %d identities", learned.Accounts, learned.Keys, learned.Identities)
		if err != nil {
			found, wrong = "not looked at: "+oneLine(err), errWrong
		}
		rows = append(rows, []string{db.Name, "-", "-", found, "-"})
		for _, f := range learned.Findings {
			wrong = errWrong
			rows = append(rows, []string{f.Database, f.Account.String(), cmp.Or(f.Name, "-"), string(f.Problem), cmp.Or(f.Other, "-")})
		}
	}
	return rows, wrong
}
