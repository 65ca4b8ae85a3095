package format

import (
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
)

// spec: lens-preview, lens-preview-reasons
func TestAPreviewIsTheResultInJSONAndWhyColumnsAreNull(t *testing.T) {
	t.Parallel()
	edited := ticketTable()
	edited.Lens = editedLens()
	const missing = `{"added later":"The version that answered does not have this question.",` +
		`"option added later":"The question did not have this option or level in the version that answered."}`
	for _, c := range []struct {
		name  string
		table Table
		row   answeredRow
		want  string
	}{
		{"every column has a value", ticketTable(), okRow(t), `{}`},
		{"columns that the version lacks", edited, okRow(t), missing},
		{"a failed result says why itself", edited, failedRow(t), `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Preview(c.table, c.row.under(c.table))
			want := `{"result":` + string(one(t, contract.JSON, c.table, c.row).Body) + `,"missing":` + c.want + `}`
			if err != nil || string(got) != want {
				t.Errorf("got  %s, %v\nwant %s", got, err, want)
			}
		})
	}
}

// spec: try-members
func TestAnswersAreThoseOfFormatJSON(t *testing.T) {
	t.Parallel()
	table, row := ticketTable(), okRow(t)
	got, err := Answers(row.under(table).Plan, row.Result.Answers)
	whole := string(one(t, contract.JSON, table, row).Body)
	if suffix := `,"answers":` + string(got) + `}`; err != nil || whole[max(len(whole)-len(suffix), 0):] != suffix {
		t.Errorf("%s, %v is not the end of %s", got, err, whole)
	}
}

func TestDamagedAnswersHaveNoPreview(t *testing.T) {
	t.Parallel()
	for name, stored := range damaged {
		r := okRow(t)
		r.Result.Answers = []byte(stored)
		plan := r.under(ticketTable()).Plan
		if b, err := Preview(ticketTable(), r.under(ticketTable())); !errors.Is(err, answerjson.ErrShape) || b != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if b, err := Answers(plan, r.Result.Answers); !errors.Is(err, answerjson.ErrShape) || b != nil {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
