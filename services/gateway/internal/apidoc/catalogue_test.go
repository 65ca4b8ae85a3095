package apidoc

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// catalogue has every row of the error table with the arguments of the examples. Invalid requests are left to
// the gateway, which knows their texts.
func catalogue() []*apierr.Error {
	id, _ := prism.ParseUUID("0199f3a7-02b9-7f31-8c44-6a1d9e0b7c25")
	return []*apierr.Error{
		apierr.MissingFields([]string{"subject", "message"}), apierr.UnknownFields([]string{"body", "title"}), apierr.TooLarge(31240),
		apierr.Malformed(), apierr.BodyTooLarge(), apierr.UnsupportedMediaType(),
		apierr.AuthenticationRequired(), apierr.InvalidAPIKey(), apierr.RoleNotAllowed(),
		apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.ResultNotFound(), apierr.KeyNotFound(), apierr.ViewNotFound(), apierr.CommentNotFound(), apierr.WebhookNotFound(), apierr.DeliveryNotFound(), apierr.TooManyWebhooks(), apierr.WebhookDisabled(), apierr.StillWaiting(), apierr.TooManyComments(), apierr.TooManyViews(), apierr.TooManyAdHoc(), apierr.AdHocPrism(), apierr.PrismArchived(),
		apierr.KeyOfAnotherPrism(), apierr.OnlyFailedRetried(), apierr.AlreadyRetried(prism.ResultID{UUID: id}),
		apierr.MemberNotFound(), apierr.LastOwner(), apierr.SlugTaken(), apierr.ArchivedUnchangeable(), apierr.PrismChanged(), apierr.NotLatest(2), apierr.TooManyKeys(),
		apierr.FileNotFound(), apierr.RunNotFound(), apierr.TooManyUploads(20), apierr.NoRoom(50 << 30), apierr.PartConflict(3), apierr.PartsMissing([]int32{3, 7}, 14), apierr.FileDiffers(),
		apierr.FileNotReady(), apierr.ContentMissing(), apierr.FileUsed(), apierr.RunOver(), apierr.NoFailedRows(),
		apierr.CalibrationNotFound(), apierr.ModelNotFound(), apierr.TooFewLabels(64, 100), apierr.TooFewLabels(12, 30), apierr.TooFewLabels(3, 10), apierr.TooFewOfClass(12, 20), apierr.NotFitted(), apierr.NoGain(),
		apierr.MatchNow(13), apierr.TooManyMatch(1_000_000), apierr.TooManyRuns(), apierr.TooManyDeletions(), apierr.ChangesGone(), apierr.AreRetried(), apierr.NotIndexed(), apierr.NotSearchable(), apierr.OnlyOKLabelled(),
		apierr.Internal(), apierr.Unavailable(),
	}
}

func TestTheErrorExamplesAreTheCatalogue(t *testing.T) {
	t.Parallel()
	missing := map[string]bool{}
	for _, e := range catalogue() {
		missing[rowOf(e.Status, httpkit.ErrorBody(e))] = true
	}
	known := maps.Clone(missing)
	operations(t, func(t *testing.T, _, _ string, op operation) {
		rows, err := errorRows(op)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range rows {
			row := e.Status + " " + e.Code + " " + e.Message
			if strings.HasPrefix(row, "400 validation_failed Invalid request: ") {
				continue
			}
			if !known[row] {
				t.Errorf("%s is not in the catalogue", row)
			}
			delete(missing, row)
		}
	})
	for row := range missing {
		t.Errorf("no operation shows %s", row)
	}
}

func rowOf(status int, body []byte) string {
	e, err := readError(strconv.Itoa(status), body)
	if err != nil {
		return err.Error()
	}
	return e.Status + " " + e.Code + " " + e.Message
}
