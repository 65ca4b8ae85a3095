package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
)

// resultsFlags are the flags of a run of the inputs of results.
type resultsFlags struct {
	sent             bool
	ids              []string
	status, from, to string
	version          int
	search           client.ResultSearch
}

func (r *resultsFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&r.sent, "from-results", false, "answer the inputs of results of the prism, instead of a file")
	f.StringArrayVar(&r.ids, "result", nil, "`ID` of a result, of --from-results; may be repeated")
	f.StringVar(&r.status, "status", "", "only results with this status, of --from-results: ok or failed")
	f.IntVar(&r.version, "of-version", 0, "only results that this version answered, of --from-results")
	timeFlags(cmd, &r.from, &r.to)
	searchFlags(cmd, &r.search)
}

// selection is what the flags select; nil without --from-results.
func (r *resultsFlags) selection(cmd *cobra.Command) (*client.ResultsOfRun, error) {
	if !r.sent {
		for _, name := range []string{"result", "status", "of-version", "from", "to", "q", "where"} {
			if cmd.Flags().Changed(name) {
				return nil, usage(errors.New("--" + name + " goes with --from-results"))
			}
		}
		return nil, nil
	}
	begin, end, err := period(r.from, r.to)
	return &client.ResultsOfRun{
		IDs: r.ids, Status: client.Status(r.status), Version: r.version, From: optionalTime(begin), To: optionalTime(end),
		SearchMembers: client.SearchMembers(r.search),
	}, err
}
