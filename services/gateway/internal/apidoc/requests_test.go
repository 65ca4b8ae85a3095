package apidoc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

const anID = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"

// TestTheGatewayAcceptsEveryRequestExample holds the described bodies against the parser that reads them.
func TestTheGatewayAcceptsEveryRequestExample(t *testing.T) {
	t.Parallel()
	operations(t, func(t *testing.T, _, _ string, op operation) {
		if op.RequestBody == nil {
			return
		}
		declared, ok := api.Find(op.OperationID)
		if !ok {
			t.Fatal("nothing declares it")
		}
		for _, e := range op.RequestBody.Content[0].Value.Examples {
			if err := parseDeclared(declared, "", "", request.Body{Kind: httpkit.JSON, Bytes: e.Value.Value}); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
	})
}

// TestTheTextsOfInvalidRequestsAreTheGateways sends what each example of an invalid request says was sent.
func TestTheTextsOfInvalidRequestsAreTheGateways(t *testing.T) {
	t.Parallel()
	create := func(body string) error {
		return parseDeclared(api.CreateResult, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(body)})
	}
	prism := func(body string) error {
		return parseDeclared(api.CreatePrism, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(body)})
	}
	key := func(body string) error {
		return parseDeclared(api.CreateKey, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(body)})
	}
	long := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a'
		}
		return string(b)
	}
	const yesNo = `{"key":"q","type":"yes_no","text":"?"}`
	got := map[string]error{
		"FieldsAndText":         create(`{}`),
		"FieldTooLong":          create(`{"fields":{"message":"` + long(100_001) + `"}}`),
		"FieldNotString":        create(`{"fields":{"message":1}}`),
		"FieldNul":              create(`{"fields":{"message":"\u0000"}}`),
		"VersionNotWhole":       create(`{"text":"","version":1.5}`),
		"VersionTooSmall":       create(`{"text":"","version":0}`),
		"VersionTooLarge":       create(`{"text":"","version":2147483648}`),
		"IdempotencyKeyTooLong": create(`{"text":"","idempotency_key":"` + long(201) + `"}`),
		"BodyNotObject":         create(`""`),
		"MalformedRequest":      create(`{`),
		"SlugInvalid":           prism(`{"slug":"-","fields":[{"key":"f"}],"questions":[` + yesNo + `]}`),
		"SlugIsUuid":            prism(`{"slug":"0199f1c0-4d2a-7e88-b1f5-92c6a3d0e714","fields":[{"key":"f"}],"questions":[` + yesNo + `]}`),
		"QuestionsMissing":      prism(`{"slug":"s","fields":[{"key":"f"}]}`),
		"FieldsNotArray":        prism(`{"slug":"s","fields":{},"questions":[` + yesNo + `]}`),
		"TooFewQuestions":       prism(`{"slug":"s","fields":[{"key":"f"}],"questions":[]}`),
		"DuplicateKey":          prism(`{"slug":"s","fields":[{"key":"f"}],"questions":[` + yesNo + `,` + yesNo + `]}`),
		"DerivedNameTaken":      prism(`{"slug":"s","fields":[{"key":"q"}],"questions":[` + yesNo + `]}`),
		"RowNameTaken":          prism(`{"slug":"s","fields":[{"key":"f"}],"questions":[` + yesNo + `],"lens":{"columns":[{"name":"ref","question":"q","show":"answer"}]}}`),
		"QuestionProblem": prism(`{"slug":"s","fields":[{"key":"f"}],"questions":[{"key":"q","type":"choice","text":"?",` +
			`"options":[{"key":"a","label":"A"},{"key":"B","label":"B"}]}]}`),
		"NameTooShort":  key(`{"name":""}`),
		"NameTooLong":   key(`{"name":"` + long(201) + `"}`),
		"InvalidRole":   key(`{"name":"n","role":"admin"}`),
		"InvalidExpiry": key(`{"name":"n","expires_at":"tomorrow"}`),
	}
	deletion := func(body string) error {
		return parseDeclared(api.DeleteResults, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(body)})
	}
	got["DeletesAll"], got["InvalidBefore"] = deletion(`{"ref":null,"dry_run":true}`), deletion(`{"before":"monday"}`)
	got["SearchableRequired"] = parseDeclared(api.SetSearchable, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{}`)})
	got["InvalidDays"] = parseDeclared(api.SetRetention, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{"days":3651}`)})
	driftChange := func(body string) error {
		return parseDeclared(api.SetDrift, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(body)})
	}
	const from = `{"watched":%s,"reference":{"from":"2026-10-05T00:00:00Z","to":"2026-10-12T%s:00Z"}}`
	got["InvalidWatched"], got["InvalidHour"] = driftChange(`{}`), driftChange(fmt.Sprintf(from, "true", "00:30"))
	got["PeriodNotWatched"] = driftChange(fmt.Sprintf(from, "false", "00:00"))
	put := func(name string, err error) { got[name] = err }
	err := parseDeclared(api.TryDefinition, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(
		`{"definition":{"fields":[{"key":"message"}],"questions":[{"key":"q","type":"yes_no","text":""}]},` +
			`"lens":{"columns":[{"name":"message","question":"q","show":"answer"}]},"fields":{"message":1}}`)})
	put("TryProblems", err)
	err = parseDeclared(api.PreviewLens, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(
		`{"columns":[{"name":"q","question":"q","show":"answer"}],"result_ids":[` + strings.Repeat(`"`+anID+`",`, 50) + `"` + anID + `"]}`)})
	put("PreviewTooMany", err)
	member := func(members string) error {
		return parseDeclared(api.AddMember, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{` + members + `}`)})
	}
	put("MemberProblems", member(``))
	put("EmailAndClaim", member(`"name":"n","role":"reader","email":"a@b.example","claim":{"name":"groups","value":"a"}`))
	err = parseDeclared(api.LinkMember, "member_id", "1", request.Body{})
	put("InvalidMemberId", err)
	err = parseDeclared(api.ChangeMember, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{}`)})
	put("NoMemberChange", err)
	put("NameRequired", parseDeclared(api.RenamePrism, "", "", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{}`)}))
	_, err = request.NewParser(api.ReplaceLens).Parse(request.Source{
		Param: func(string) string { return "p" }, Header: func(string) []string { return []string{"x"} },
		Body: request.Body{Kind: httpkit.JSON, Bytes: []byte(`{"columns":[{"name":"q","question":"q","show":"answer"}]}`)},
	})
	put("InvalidETag", err)
	put("InvalidFormat", parseDeclared(api.CreateResult, "format", "xml", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{"text":""}`)}))
	put("SeveralProblems", parseDeclared(api.CreateResult, "format", "xml", request.Body{Kind: httpkit.JSON, Bytes: []byte(`{}`)}))
	put("BodyRequired", parseDeclared(api.CreateResult, "", "", request.Body{Kind: httpkit.Absent}))
	put("InvalidPrismText", parseDeclared(api.ReadPrism, "prism", "\x00", request.Body{}))
	put("MalformedPath", parseDeclared(api.ReadPrism, "prism", "\xff", request.Body{}))
	put("InvalidResultId", parseDeclared(api.ReadResult, "result_id", "1", request.Body{}))
	put("InvalidKeyId", parseDeclared(api.RevokeKey, "key_id", "1", request.Body{}))
	put("VersionNotNumber", parseDeclared(api.ReadVersion, "version", "one", request.Body{}))
	put("InvalidLimit", parseDeclared(api.ListResults, "limit", "101", request.Body{}))
	put("InvalidStatus", parseDeclared(api.ListResults, "status", "done", request.Body{}))
	put("InvalidListFormat", parseDeclared(api.ListResults, "format", "csv", request.Body{}))
	put("InvalidFieldsOfList", parseDeclared(api.ListResults, "fields", "1", request.Body{}))
	_, err = request.NewParser(api.ListResults).Parse(request.Source{Query: func(asked string) []string {
		return map[string][]string{"where": {"q:labelled"}}[asked]
	}})
	put("WhereWithoutPrism", err)
	put("InvalidKeyOfCall", parseDeclared(api.ListResults, "key_id", "me", request.Body{}))
	put("InvalidAfter", parseDeclared(api.ExportResults, "after", "1", request.Body{}))
	put("InvalidArchived", parseDeclared(api.ListPrisms, "archived", "maybe", request.Body{}))
	put("InvalidTabularFormat", parseDeclared(api.ExportResults, "format", "json", request.Body{}))
	put("InvalidTime", parseDeclared(api.ExportResults, "from", "monday", request.Body{}))
	err = parseDeclared(api.ListAudit, "actor", "me", request.Body{})
	put("InvalidActor", err)
	put("InvalidDay", parseDeclared(api.ReadUsage, "from", "yesterday", request.Body{}))
	_, err = request.NewParser(api.ReadUsage).Parse(request.Source{Query: func(asked string) []string {
		return map[string][]string{"from": {"2025-01-01"}, "to": {"2026-01-03"}}[asked]
	}})
	put("InvalidPeriod", err)
	_, err = request.NewParser(api.ReadDistribution).Parse(request.Source{
		Param: func(string) string { return "p" },
		Query: func(asked string) []string {
			return map[string][]string{"question": {"q"}, "by": {"hour"}, "from": {"2025-01-01"}, "to": {"2026-02-22"}}[asked]
		},
	})
	put("InvalidDistributionPeriod", err)
	jsonBody := func(s string) request.Body { return request.Body{Kind: httpkit.JSON, Bytes: []byte(s)} }
	file := func(members string) error {
		return parseDeclared(api.CreateFile, "", "", jsonBody(`{"name":"n"`+members+`}`))
	}
	put("InvalidFileFormat", file(`,"format":"xls","bytes":1`))
	put("FileTooLarge", file(`,"format":"csv","bytes":5368709121`))
	put("InvalidSHA256", file(`,"format":"csv","bytes":1,"sha256":"1"`))
	put("InvalidFileId", parseDeclared(api.ReadFile, "file_id", "1", request.Body{}))
	put("InvalidPart", parseDeclared(api.PutPart, "n", "0", jsonBody("x")))
	put("PartEmpty", parseDeclared(api.PutPart, "n", "1", request.Body{}))
	put("InvalidOffset", parseDeclared(api.ListFileRows, "offset", "-1", request.Body{}))
	put("InvalidRunId", parseDeclared(api.ReadRun, "run_id", "1", request.Body{}))
	put("RunMembersMissing", parseDeclared(api.CreateRun, "", "", jsonBody(`{}`)))
	put("InvalidFileReading", parseDeclared(api.ReadFileAgain, "", "", jsonBody(`{"header_row":0}`)))
	put("InvalidRunSpeed", parseDeclared(api.SetRunLimits, "", "", jsonBody(`{"rows_per_second":0,"concurrency":10001}`)))
	put("InvalidPauseAt", parseDeclared(api.CreateRun, "", "", jsonBody(`{"file_id":"`+anID+`","fields":{},"pause_at_failures":1.1}`)))
	put("IdsRequired", parseDeclared(api.ExportSelected, "", "", jsonBody(`{}`)))
	put("CommentWithoutText", parseDeclared(api.CreateComment, "", "", jsonBody(`{}`)))
	put("InvalidCommentId", parseDeclared(api.DeleteComment, "comment_id", "1", request.Body{}))
	put("AssignWithoutCount", parseDeclared(api.AssignResults, "", "", jsonBody(`{"member_id":null}`)))
	put("MemberRequired", parseDeclared(api.AssignResult, "", "", jsonBody(`{}`)))
	put("InvalidAssignee", parseDeclared(api.ListResults, "assignee", "you", request.Body{}))
	put("ViewProblems", parseDeclared(api.CreateView, "", "", jsonBody(`{}`)))
	put("ViewWithoutPrism", parseDeclared(api.CreateView, "", "", jsonBody(`{"name":"n","filters":{"where":["topic:is:billing"]}}`)))
	put("InvalidViewId", parseDeclared(api.DeleteView, "view_id", "1", request.Body{}))
	put("WebhookProblems", parseDeclared(api.CreateWebhook, "", "", jsonBody(`{}`)))
	put("NarrowedWithoutResults", parseDeclared(api.CreateWebhook, "", "", jsonBody(`{"url":"https://a","events":["run.paused"],"status":"ok"}`)))
	put("InvalidWebhookId", parseDeclared(api.ReadWebhook, "webhook_id", "1", request.Body{}))
	put("InvalidDeliveryId", parseDeclared(api.ResendDelivery, "delivery_id", "1", request.Body{}))
	put("InvalidDeliveryStatus", parseDeclared(api.ListDeliveries, "status", "done", request.Body{}))
	put("InvalidEvent", parseDeclared(api.ListEvents, "event", "run.done", request.Body{}))
	put("InvalidAfterNumber", parseDeclared(api.ListChanges, "after", "x", request.Body{}))
	put("InvalidChangesLimit", parseDeclared(api.ListChanges, "limit", "1001", request.Body{}))
	put("InvalidWait", parseDeclared(api.ListChanges, "wait", "31", request.Body{}))
	put("InvalidRunStatus", parseDeclared(api.ListRuns, "status", "done", request.Body{}))
	put("InvalidRowsFormat", parseDeclared(api.ListRunRows, "format", "json", request.Body{}))
	put("InvalidOnly", parseDeclared(api.ListRunRows, "only", "cancelled", request.Body{}))
	put("RawOfOthers", parseQuery(map[string][]string{"raw": {"true"}}))
	put("AfterOfParquet", parseQuery(map[string][]string{"format": {"parquet"}, "after": {anID}}))
	put("InvalidRunOfList", parseDeclared(api.ListResults, "run", "1", request.Body{}))
	put("ModelRequired", parseDeclared(api.CreateDecision, "", "", jsonBody(`{"input":"x"}`)))
	put("AssetsSent", parseDeclared(api.CreateSystemOne, "", "", jsonBody(`{"model":"m","state":"","assets":{"a":{"type":"image"}}}`)))
	put("RetryWithoutCount", parseDeclared(api.RetryResults, "", "", jsonBody(`{"prism":"p","status":"failed"}`)))

	err = parseDeclared(api.PutLabels, "", "", jsonBody(`{"labels":{"topic":1},"sample":"all"}`))
	put("LabelProblems", err)
	err = parseDeclared(api.AddLabels, "", "", jsonBody(`{"labels":[{"question":"topic"}]}`))
	put("ManyLabelsProblems", err)
	err = parseDeclared(api.ListLabelQueue, "question", "", request.Body{})
	put("QuestionRequired", err)
	_, err = request.NewParser(api.ListLabelQueue).Parse(request.Source{
		Param: func(string) string { return "p" },
		Query: func(asked string) []string {
			return map[string][]string{"question": {"topic"}, "order": {"newest"}}[asked]
		},
	})
	put("InvalidOrder", err)
	err = parseDeclared(api.ListLabels, "version", "0", request.Body{})
	put("InvalidVersionOfLabels", err)

	put("CalibrationProblems", parseDeclared(api.CreateCalibration, "", "", jsonBody(`{}`)))
	put("InvalidMethod", parseDeclared(api.CreateCalibration, "", "", jsonBody(`{"question":"q","method":"best"}`)))
	put("QuestionsRequired", parseDeclared(api.PinCalibrations, "", "", jsonBody(`{}`)))
	put("PinNotUuid", parseDeclared(api.PinCalibrations, "", "", jsonBody(`{"questions":{"topic":"1"}}`)))
	put("InvalidCalibrationId", parseDeclared(api.ReadCalibration, "calibration_id", "1", request.Body{}))

	put("InvalidCalibrated", parseDeclared(api.ReadQuality, "calibrated", "yes", request.Body{}))
	put("CostsRequired", parseDeclared(api.ReadThresholds, "", "", request.Body{}))
	put("NegativeCost", parseDeclared(api.ReadThresholds, "false_yes", "-1", request.Body{}))
	put("ComparisonProblems", parseDeclared(api.CompareVersions, "", "", request.Body{}))

	put("ExamplesWithLabels", parseDeclared(api.CreateVersion, "", "", jsonBody(`{"fields":[{"key":"f"}],"questions":[{"key":"q","type":"yes_no","text":"?"}],`+
		`"examples":[],"examples_from_labels":{"question":"q","n":1}}`)))
	put("FileWithLabelsOf", parseDeclared(api.CreateRun, "", "", jsonBody(`{"from_labels_of":1,"file_id":"`+anID+`"}`)))

	// These need what is stored or configured: the Lens's rules are pkg/lens's, the cursor and columns are results', the models are
	// model-proxy's.
	elsewhere := map[string]bool{
		"NoSuchModel": true, "ColumnProblem": true, "UnknownQuestion": true, "MisplacedShow": true, "InvalidCursor": true,
		"NoSuchColumn": true, "TryNoSuchModel": true, "UnknownLabel": true, "UnknownQueueQuestion": true,
		"UnknownCalibratedQuestion": true, "MethodOfAnotherType": true, "UnknownCalibration": true,
		"UnknownMeasuredQuestion": true, "QuestionNotYesNo": true, "OtherTypes": true, "OtherLevels": true,
		"InvalidWhere": true, "InvalidWords": true, "InvalidSort": true, "InvalidBy": true,
		"UnknownDistributionQuestion": true, "UnknownTimeZone": true, "InvalidViewFilter": true,
		"InvalidResultsOfRun": true, "NoResultsOfRun": true, "OtherQuestions": true,
	}
	stored := map[string]bool{"MissingFields": true, "MissingFieldsOfModel": true, "UnknownFields": true, "TooLarge": true}

	operations(t, func(t *testing.T, _, _ string, op operation) {
		bad, _ := op.Responses.find("400")
		if bad.Description == "" {
			return
		}
		for _, e := range bad.Content[0].Value.Examples {
			if elsewhere[e.Name] || stored[e.Name] {
				continue
			}
			var body struct{ Error struct{ Message string } }
			if err := json.Unmarshal(e.Value.Value, &body); err != nil {
				t.Fatal(err)
			}
			if err := got[e.Name]; err == nil || err.Error() != "400 "+body.Error.Message {
				t.Errorf("%s says %q, the gateway %v", e.Name, body.Error.Message, err)
			}
		}
	})
}

// parseQuery parses the query of an export.
func parseQuery(q map[string][]string) error {
	_, err := request.NewParser(api.ExportResults).Parse(request.Source{
		Param: func(string) string { return "a" }, Query: func(name string) []string { return q[name] },
	})
	return err
}
