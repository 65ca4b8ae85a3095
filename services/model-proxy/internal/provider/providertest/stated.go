package providertest

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// Stated is what a model writes that states its probabilities: an object of the schema.
func Stated(says []Say) string {
	var answers []string
	for _, s := range says {
		switch {
		case s.Refused: // a question that the model would not answer has no number
			answers = append(answers, strconv.Quote(s.Question.Key)+`:null`)
		case s.Question.Type == prism.YesNo:
			answers = append(answers, strconv.Quote(s.Question.Key)+":"+s.Yes)
		default:
			var ps []string
			for _, p := range s.Options {
				ps = append(ps, strconv.Quote(p.Key)+":"+p.P)
			}
			answers = append(answers, strconv.Quote(s.Question.Key)+":{"+strings.Join(ps, ",")+"}")
		}
	}
	return "{" + strings.Join(answers, ",") + "}"
}
