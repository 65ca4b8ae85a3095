package providertest

import (
	"cmp"
	"fmt"
	"slices"
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
		case len(s.Options) > 10: // the most probable ones
			most := slices.SortedStableFunc(slices.Values(s.Options), func(a, b Pair) int { return cmp.Compare(number(b.P), number(a.P)) })
			var list []string
			for _, p := range most[:10] {
				list = append(list, fmt.Sprintf(`{"option":%q,"probability":%s}`, p.Key, p.P))
			}
			answers = append(answers, strconv.Quote(s.Question.Key)+":["+strings.Join(list, ",")+"]")
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

func number(p string) float64 {
	f, err := strconv.ParseFloat(p, 64)
	if err != nil {
		return 0
	}
	return f
}
