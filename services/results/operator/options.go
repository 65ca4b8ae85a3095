package operator

import (
	"flag"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
)

// option is a flag of a command: how the usage shows it, and how it is read.
type option struct {
	name, value string // --name VALUE; "" if it takes no value
	required    bool
	register    func(flags *flag.FlagSet, name string, in *arguments)
}

// usage is the option as --help shows it, in brackets if it is not required.
func (o option) usage() string {
	text := "--" + o.name
	if o.value != "" {
		text += " " + o.value
	}
	if o.required {
		return text
	}
	return "[" + text + "]"
}

func accountOption() option {
	return option{name: "account", value: "NAME", required: true, register: func(flags *flag.FlagSet, name string, in *arguments) {
		flags.StringVar(&in.account, name, "", "")
	}}
}

func nameOption() option {
	return option{name: "name", value: "WHAT_FOR", register: func(flags *flag.FlagSet, name string, in *arguments) {
		flags.StringVar(&in.name, name, "made by the operator", "")
	}}
}

func roleOption() option {
	return option{name: "role", value: "ROLE", register: func(flags *flag.FlagSet, name string, in *arguments) {
		flags.StringVar(&in.role, name, string(prism.Owner), "")
	}}
}

func urlOption() option {
	return option{name: "url", value: "URL", register: func(flags *flag.FlagSet, name string, in *arguments) {
		flags.StringVar(&in.url, name, "", "")
	}}
}

func printOption() option {
	return option{name: "print", register: func(flags *flag.FlagSet, name string, in *arguments) { flags.BoolVar(&in.print, name, false, "") }}
}

func removeOption() option {
	return option{name: "remove", register: func(flags *flag.FlagSet, name string, in *arguments) { flags.BoolVar(&in.remove, name, false, "") }}
}

func toOption() option {
	return option{name: "to", value: "DATABASE", register: func(flags *flag.FlagSet, name string, in *arguments) { flags.StringVar(&in.to, name, "", "") }}
}

func takeBackOption() option {
	return option{name: "take-back", register: func(flags *flag.FlagSet, name string, in *arguments) { flags.BoolVar(&in.takeBack, name, false, "") }}
}

// dryRunOption is required: balance only proposes.
func dryRunOption() option {
	return option{name: "dry-run", required: true, register: func(flags *flag.FlagSet, name string, in *arguments) { flags.BoolVar(&in.dryRun, name, false, "") }}
}

func distributeOption() option {
	return option{name: "distribute", register: func(flags *flag.FlagSet, name string, in *arguments) {
		flags.BoolVar(&in.distribute, name, false, "")
	}}
}

func limitOptions() []option {
	number := func(name string, member func(*keys.LimitsChange) **int32) option {
		return option{name: name, value: "N", register: func(flags *flag.FlagSet, name string, in *arguments) {
			flags.Var(limit{member(&in.limits)}, name, "")
		}}
	}
	return []option{
		number("requests-per-second", func(l *keys.LimitsChange) **int32 { return &l.RequestsPerSecond }),
		number("concurrency", func(l *keys.LimitsChange) **int32 { return &l.Concurrency }),
		number("results-per-day", func(l *keys.LimitsChange) **int32 { return &l.ResultsPerDay }),
		{name: "stored-bytes", value: "SIZE", register: func(flags *flag.FlagSet, name string, in *arguments) {
			flags.Var(sizeLimit{&in.limits.StoredBytes}, name, "")
		}},
	}
}
