package format

import (
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: raw-answer-shapes, show-answer, show-count, csv-labels
func TestTagsAreShownInEachFormat(t *testing.T) {
	t.Parallel()
	d := prism.Definition{Fields: []prism.Field{{Key: "body"}}, Questions: []prism.Question{{
		Key: "about", Type: prism.Tags,
		Options: []prism.Option{{Key: "price", Label: "Price, or fee"}, {Key: "staff", Label: "Staff"}, {Key: "vip", Label: "VIP"}},
	}}}
	rare := 0.9
	table := Table{Slug: "s", Latest: d, Lens: prism.Lens{Columns: append(lens.Derive(d).Columns,
		prism.Column{Name: "sure", Question: "about", Show: prism.ShowAnswer, YesAt: &rare},
		prism.Column{Name: "n", Question: "about", Show: prism.ShowCount},
		prism.Column{Name: "vip", Question: "about", Show: prism.ShowProbability, Option: "vip"},
	)}}
	r := okRow(t)
	r.Answered, r.Result.Ref, r.Result.Fields = d, nil, []prism.FieldValue{{Key: "body", Value: "b"}}
	r.Result.Answers = answerjson.Append(nil, prism.Answers{{
		Question: "about", Type: prism.Tags,
		Probabilities: []prism.KeyProbability{{Key: "price", Probability: 0.5}, {Key: "staff", Probability: 0.25}, {Key: "vip", Probability: 0.75}},
	}})
	id, at := "0190b5a8-7c00-7000-8000-00000000002a", "2026-11-21T09:13:05.070Z"
	head := `{"id":"` + id + `","ref":null,"prism":"s","version":3,"status":"ok","error":null,"took_ms":1234,"created_at":"` + at + `","answers":`
	for f, want := range map[contract.Format]string{
		contract.JSON: head + `{"about":"vip; price","sure":"","n":2,"vip":0.75}}`,
		contract.Raw:  head + `{"about":{"type":"tags","values":["vip","price"],"probabilities":{"price":0.5,"staff":0.25,"vip":0.75}}}}`,
		contract.CSV: "result_id,ref,version,status,error,created_at,body,about,sure,n,vip\r\n" +
			id + ",,3,ok,," + at + ",b,\"VIP; Price, or fee\",,2,0.75\r\n",
		contract.TSV: "result_id\tref\tversion\tstatus\terror\tcreated_at\tbody\tabout\tsure\tn\tvip\n" +
			id + "\t\t3\tok\t\t" + at + "\tb\tVIP; Price, or fee\t\t2\t0.75\n",
		contract.JSONL: `{"result_id":"` + id + `","ref":null,"version":3,"status":"ok","error":null,"created_at":"` + at +
			`","body":"b","about":"vip; price","sure":"","n":2,"vip":0.75}` + "\n",
	} {
		if got := string(one(t, f, table, r).Body); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", f, got, want)
		}
	}
}
