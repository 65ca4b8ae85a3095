package finding

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/apierr"
)

const mostCounted = 20

// ParseCounted reads what results are counted by: subjects that are one of several values, with commas between. The path of a problem
// has its index.
func (s Schema) ParseCounted(by string) (all []Subject, problems []apierr.Problem) {
	if by == "" {
		return nil, nil
	}
	names := strings.Split(by, ",")
	if len(names) > mostCounted {
		return nil, []apierr.Problem{{Path: "by", Text: "Expected at most " + strconv.Itoa(mostCounted) + " names"}}
	}
	for i, name := range names {
		subject, problem := s.subject(name)
		if problem == "" && !subject.listed() {
			problem = unknownName
		}
		if problem != "" {
			problems = append(problems, apierr.Problem{Path: "by." + strconv.Itoa(i), Text: problem})
		}
		all = append(all, subject)
	}
	return all, problems
}
