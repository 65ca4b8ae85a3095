package digits

import (
	"testing"

	"github.com/prism-results/prism/client"
)

func TestShort(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0.9854221460305062: "0.9854", 1.9243969575336117: "1.924", 0.99996: "1", 0: "0", 1: "1", 0.5: "0.5",
		0.0000123456: "0.00001235", 12345.678: "12350", -0.123456: "-0.1235",
	} {
		if got := Short(f); got != want {
			t.Errorf("%v is %q, want %q", f, got, want)
		}
	}
}

func TestRowsRoundOnlyTheNumbersOfTheLens(t *testing.T) {
	t.Parallel()
	names := map[string]bool{"label": false, "p": true, "mean": true, "sure": true}
	for _, c := range []struct {
		name      string
		f         client.Format
		row, want string
	}{
		{
			"csv", client.CSV,
			"\"0.123456,\"\"\r\n0.123456\",0.123456,0.123456,0.123456,1.123456,\r\n",
			"\"0.123456,\"\"\r\n0.123456\",0.123456,0.123456,0.1235,1.123,\r\n",
		},
		{"tsv", client.TSV, "\"0.123456\t0.123456\t0.123456\t0.123456\t\t0.123456\n", "\"0.123456\t0.123456\t0.123456\t0.1235\t\t0.1235\n"},
	} {
		r := NewRows(c.f, client.TextStyle{}, names)
		header := map[client.Format]string{client.CSV: "text,ref,label,p,mean,sure\r\n", client.TSV: "text\tref\tlabel\tp\tmean\tsure\n"}[c.f]
		if got := string(r.Row([]byte(header))); got != header {
			t.Errorf("%s: the header is %q", c.name, got)
		}
		if got := string(r.Row([]byte(c.row))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
