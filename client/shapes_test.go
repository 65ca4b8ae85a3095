package client

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// shapes are the client's types for the schemas of the document. Several schemas can have one type.
var shapes = map[string]reflect.Type{
	"CreateResult": reflect.TypeFor[NewResult](), "Result": reflect.TypeFor[Result](), "RawResult": reflect.TypeFor[Result](),
	"ChoiceAnswer": reflect.TypeFor[Answer](), "YesNoAnswer": reflect.TypeFor[Answer](), "ScaleAnswer": reflect.TypeFor[Answer](),
	"TagsAnswer": reflect.TypeFor[Answer](), "TagsQuestion": reflect.TypeFor[Question](),
	"ResultPage": reflect.TypeFor[ResultPage](), "RawResultPage": reflect.TypeFor[ResultPage](), "PrismPage": reflect.TypeFor[Page[Prism]](), "VersionPage": reflect.TypeFor[Page[Version]](),
	"ApiKeyList": reflect.TypeFor[Page[APIKey]](),
	"Field":      reflect.TypeFor[Field](), "Option": reflect.TypeFor[Option](), "Level": reflect.TypeFor[Level](),
	"Question": reflect.TypeFor[Question](), "ChoiceQuestion": reflect.TypeFor[Question](), "YesNoQuestion": reflect.TypeFor[Question](),
	"ScaleQuestion": reflect.TypeFor[Question](), "Lens": reflect.TypeFor[Lens](), "Column": reflect.TypeFor[Column](),
	"NewPrism": reflect.TypeFor[NewPrism](), "NewVersion": reflect.TypeFor[versionOf](), "NewLens": reflect.TypeFor[Lens](), "Prism": reflect.TypeFor[Prism](),
	"Version": reflect.TypeFor[Version](), "ApiKey": reflect.TypeFor[APIKey](), "CreatedApiKey": reflect.TypeFor[CreatedAPIKey](),
	"NewName": reflect.TypeFor[api.NewName](), "NewKey": reflect.TypeFor[NewKey](), "Role": reflect.TypeFor[Role](), "Status": reflect.TypeFor[Status](), "Format": reflect.TypeFor[Format](),
	"ModelList": reflect.TypeFor[ModelList](), "Model": reflect.TypeFor[Model](), "Price": reflect.TypeFor[Price](), "ModelStateList": reflect.TypeFor[ModelStateList](), "ModelState": reflect.TypeFor[ModelState](), "ModelFailure": reflect.TypeFor[ModelFailure](), "ModelCheck": reflect.TypeFor[ModelCheck](), "CheckedPart": reflect.TypeFor[CheckedPart](),
	"AssignedMemberPage": reflect.TypeFor[Page[AssignedMember]](), "AssignedMember": reflect.TypeFor[AssignedMember](),
	"CommentPage":   reflect.TypeFor[Page[Comment]](),
	"WebhookPage":   reflect.TypeFor[Page[Webhook]](),
	"DeliveryPage":  reflect.TypeFor[Page[Delivery]](),
	"ViewPage":      reflect.TypeFor[Page[View]](),
	"Probabilities": reflect.TypeFor[ProbabilitySource](),
	"Assigned":      reflect.TypeFor[Assigned](), "AssignedBefore": reflect.TypeFor[AssignedBefore](),
	"Deleting":    reflect.TypeFor[Deleting](),
	"ResultRetry": reflect.TypeFor[api.ResultRetry](), "Retrying": reflect.TypeFor[Retrying](), "Retention": reflect.TypeFor[api.Retention](),
	"Drift": reflect.TypeFor[Drift](), "DriftReference": reflect.TypeFor[DriftReference](), "DriftOfQuestion": reflect.TypeFor[QuestionDrift](),
	"Distribution": reflect.TypeFor[Distribution](), "DistributionRow": reflect.TypeFor[DistributionRow](),
	"DistributionValue": reflect.TypeFor[DistributionValue](), "DistributionBy": reflect.TypeFor[DistributionBy](),
	"DriftWindow": reflect.TypeFor[DriftWindow](), "DriftIndex": reflect.TypeFor[DriftIndex](),
	"DriftChange": reflect.TypeFor[DriftChange](), "DriftPeriod": reflect.TypeFor[DriftPeriod](),
	"AuditPage": reflect.TypeFor[Page[AuditEntry]](), "AuditEntry": reflect.TypeFor[AuditEntry](),
	"AuditActor": reflect.TypeFor[AuditActor](), "AuditObject": reflect.TypeFor[AuditObject](),
	"Record": reflect.TypeFor[Record](), "RecordModel": reflect.TypeFor[RecordModel](), "RecordUsage": reflect.TypeFor[RecordUsage](), "Round": reflect.TypeFor[Round](),
	"Escalate": reflect.TypeFor[Escalate](), "Escalation": reflect.TypeFor[Escalation](), "AnsweredModel": reflect.TypeFor[AnsweredModel](),
	"Label": reflect.TypeFor[Label](), "LabelledResult": reflect.TypeFor[LabelledResult](), "LabelPage": reflect.TypeFor[Page[LabelledResult]](),
	"NewLabels": reflect.TypeFor[NewLabels](), "ManyLabels": reflect.TypeFor[ManyLabels](), "NewLabel": reflect.TypeFor[NewLabel](),
	"AddedLabels": reflect.TypeFor[AddedLabels](), "InvalidLabel": reflect.TypeFor[InvalidLabel](), "LabelSample": reflect.TypeFor[LabelSample](),
	"LabelQueue": reflect.TypeFor[LabelQueuePage](), "QueuedResult": reflect.TypeFor[QueuedResult](), "RunLabels": reflect.TypeFor[RunLabels](),
	"NewMember": reflect.TypeFor[NewMember](), "MemberChange": reflect.TypeFor[MemberChange](), "MemberClaim": reflect.TypeFor[Claim](),
	"Member": reflect.TypeFor[Member](), "InvitedMember": reflect.TypeFor[InvitedMember](), "MemberPage": reflect.TypeFor[Page[Member]](),
	"NewCalibration": reflect.TypeFor[NewCalibration](), "Calibration": reflect.TypeFor[Calibration](), "Figure": reflect.TypeFor[Figure](),
	"CalibrationPage": reflect.TypeFor[Page[Calibration]](), "CalibrationPins": reflect.TypeFor[calibrationPins](),
	"PinnedCalibrations": reflect.TypeFor[PinnedCalibrations](),
	"Quality":            reflect.TypeFor[Quality](), "QuestionQuality": reflect.TypeFor[QuestionQuality](),
	"QualityClass": reflect.TypeFor[QualityClass](), "Confusion": reflect.TypeFor[Confusion](),
	"ReliabilityBin": reflect.TypeFor[ReliabilityBin](), "CoveragePoint": reflect.TypeFor[CoveragePoint](),
	"Thresholds": reflect.TypeFor[Thresholds](), "Threshold": reflect.TypeFor[Threshold](), "ThresholdCount": reflect.TypeFor[ThresholdCount](),
	"Comparison": reflect.TypeFor[Comparison](), "LeftOut": reflect.TypeFor[LeftOut](), "ComparedVersion": reflect.TypeFor[ComparedVersion](),
	"Differences": reflect.TypeFor[Differences](), "McNemar": reflect.TypeFor[McNemar](),
	"LensPreview": reflect.TypeFor[lensPreview](), "PreviewedLens": reflect.TypeFor[PreviewedLens](),
	"PreviewedResult": reflect.TypeFor[PreviewedResult](), "Definition": reflect.TypeFor[Definition](), "NewTry": reflect.TypeFor[NewTry](),
	"Try":   reflect.TypeFor[Try](),
	"Usage": reflect.TypeFor[Usage](), "UsageSum": reflect.TypeFor[UsageSum](),
	"NewFile": reflect.TypeFor[NewFile](), "File": reflect.TypeFor[File](), "FileColumn": reflect.TypeFor[FileColumn](), "FilePage": reflect.TypeFor[Page[File]](),
	"FilePart": reflect.TypeFor[FilePart](), "FileRows": reflect.TypeFor[FileRows](), "FileFormat": reflect.TypeFor[FileFormat](), "FileStatus": reflect.TypeFor[FileStatus](),
	"NewRun": reflect.TypeFor[NewRun](), "RunLimits": reflect.TypeFor[RunLimits](), "Run": reflect.TypeFor[Run](), "RunUsage": reflect.TypeFor[RunUsage](),
	"ValueCount": reflect.TypeFor[ValueCount](),
	"RunPage":    reflect.TypeFor[Page[Run]](), "RunStatus": reflect.TypeFor[RunStatus](), "DryRun": reflect.TypeFor[DryRun](), "InvalidRow": reflect.TypeFor[InvalidRow](),
}

// received are what the client reads: what may be null must be able to be nil there, and the other way round.
var received = []string{
	"Result", "RawResult", "ResultPage", "RawResultPage", "PrismPage", "VersionPage", "ApiKeyList", "Prism", "Version", "ApiKey", "CreatedApiKey",
	"AuditPage", "AuditEntry", "AuditActor", "AuditObject", "ModelList", "Model", "Price", "ModelStateList", "ModelState", "ModelFailure", "ModelCheck", "CheckedPart", "Record", "RecordModel", "RecordUsage", "Round", "Escalation", "AnsweredModel", "Usage", "UsageSum",
	"Label", "LabelledResult", "LabelPage", "InvalidLabel", "LabelQueue", "RunLabels",
	"Member", "InvitedMember", "MemberPage", "MemberClaim", "PreviewedLens", "PreviewedResult", "Try", "Deleting", "Assigned", "AssignedBefore", "File", "FileColumn", "FilePage", "FilePart", "FileRows", "Run", "RunUsage", "RunPage", "DryRun", "InvalidRow",
	"Calibration", "Figure", "CalibrationPage", "PinnedCalibrations",
	"Quality", "QuestionQuality", "QualityClass", "Confusion", "ReliabilityBin", "CoveragePoint", "Thresholds", "Threshold", "ThresholdCount",
	"Comparison", "LeftOut", "ComparedVersion", "Differences", "McNemar",
	"Drift", "DriftReference", "DriftOfQuestion", "DriftWindow", "DriftIndex",
}

// TestTheClientsTypesAreTheDocuments holds that each type has the members that the document describes, of the same types,
// and no others.
func TestTheClientsTypesAreTheDocuments(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	known := map[reflect.Type]map[string]bool{} // the members that any schema of a type has
	for name, s := range d.Components.Schemas {
		typ := shapes[name]
		if len(s.Properties) == 0 || slices.Contains([]string{"Error", "Unavailable"}, name) {
			continue // no type of their own: the tests of errors hold them
		}
		if typ == nil {
			if !declaredTypes()[name] { // whose document is made of them
				t.Errorf("the client has no type for %s", name)
			}
			continue
		}
		if known[typ] == nil {
			known[typ] = map[string]bool{}
		}
		fields := fieldsOf(typ)
		for member, described := range s.Properties {
			if member == "dry_run" {
				continue // the check of a change sends it: see dryRuns
			}
			known[typ][member] = true
			f, ok := fields[member]
			if !ok {
				t.Errorf("%s has no %s", typ, member)
				continue
			}
			kind, null := d.kind(described)
			if got, canBeNil := jsonKind(f.Type); got != kind || slices.Contains(received, name) && canBeNil != null {
				t.Errorf("%s.%s is %s (or nil: %t), the document says %s (or null: %t)", typ, f.Name, got, canBeNil, kind, null)
			}
			if want := shapes[base("/"+d.names(described))]; want != nil && elem(f.Type) != want {
				t.Errorf("%s.%s is %s, the document says %s", typ, f.Name, f.Type, want)
			}
		}
	}
	for typ, described := range known {
		for member := range fieldsOf(typ) {
			if !described[member] && member != "dry_run" {
				t.Errorf("%s has %s, which the document does not describe", typ, member)
			}
		}
	}
}

// declaredTypes are the names of the types of package api that requests and responses have inside.
func declaredTypes() map[string]bool {
	known := map[string]bool{}
	var add func(typ reflect.Type)
	add = func(typ reflect.Type) {
		if typ = elem(typ); typ.Kind() != reflect.Struct || known[typ.Name()] {
			return
		}
		known[typ.Name()] = true
		for _, f := range reflect.VisibleFields(typ) {
			add(f.Type)
		}
	}
	for _, op := range api.Operations() {
		request, response := op.Types()
		add(request)
		add(response)
	}
	return known
}

func fieldsOf(typ reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(typ) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = f
		}
	}
	return fields
}

// kind is the JSON type that a schema describes, and whether null is another.
func (d document31) kind(s schema) (kind string, null bool) {
	if s.Ref != "" {
		return d.kind(d.Components.Schemas[base(s.Ref)])
	}
	for _, one := range append(slices.Clone(s.OneOf), s.AnyOf...) {
		if k, _ := d.kind(one); k == "null" {
			null = true
		} else {
			kind = k
		}
	}
	switch one := s.Type.(type) {
	case string:
		kind = one
	case []any:
		for _, k := range one {
			if k == "null" {
				null = true
			} else if kind != "string" { // which a boolean is read as
				kind, _ = k.(string)
			}
		}
	}
	return kind, null
}

// names is the schema that a schema, or its items, refer to.
func (d document31) names(s schema) string {
	for _, one := range s.AnyOf {
		if one.Ref != "" {
			return one.Ref
		}
	}
	if s.Items != nil {
		return s.Items.Ref
	}
	return s.Ref
}

func jsonKind(typ reflect.Type) (kind string, canBeNil bool) {
	switch typ {
	case reflect.TypeFor[Time](), reflect.TypeFor[time.Time](), reflect.TypeFor[Secret]():
		return "string", false
	case reflect.TypeFor[Answers](), reflect.TypeFor[Row](), reflect.TypeFor[Probabilities](), reflect.TypeFor[LabelMass](),
		reflect.TypeFor[Absent](), reflect.TypeFor[OrderDisagreement](), reflect.TypeFor[Rounds]():
		return "object", true
	case reflect.TypeFor[json.Number]():
		return "number", false
	}
	switch typ.Kind() {
	case reflect.Pointer:
		kind, _ = jsonKind(typ.Elem())
		return kind, true
	case reflect.String:
		return "string", false
	case reflect.Int, reflect.Int64:
		return "integer", false
	case reflect.Float64:
		return "number", false
	case reflect.Bool:
		return "boolean", false
	case reflect.Slice:
		return "array", strings.HasPrefix(typ.Name(), "Nullable[")
	case reflect.Interface: // which a string or a boolean is read as
		return "string", false
	case reflect.Struct, reflect.Map:
		return "object", false
	default:
		return typ.String(), false
	}
}

func elem(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return typ
}

// TestTheClientsMethodsReturnWhatTheDocumentSays compares what each operation answers with when it succeeds.
func TestTheClientsMethodsReturnWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	for _, methods := range d.Paths {
		for _, o := range methods {
			method, ok := reflect.TypeFor[*Client]().MethodByName(strings.ToUpper(o.OperationID[:1]) + o.OperationID[1:])
			if !ok {
				continue // the test of the operations says so
			}
			success := o.Responses["200"]
			for _, status := range []string{"201", "202"} {
				if other, ok := o.Responses[status]; ok {
					success = other
				}
			}
			want := reflect.TypeFor[io.ReadCloser]() // rows
			if body, ok := success.Content["application/json"]; ok {
				s := body.Schema
				if len(s.AnyOf) > 0 {
					s = s.AnyOf[0] // of the format json
				}
				want = shapes[base("/"+s.Ref)]
			}
			if _, ok := o.Responses["204"]; ok {
				want = reflect.TypeFor[error]()
			}
			if want == nil && declaredTypes()[method.Type.Out(0).Name()] {
				continue
			}
			if got := method.Type.Out(0); got != want {
				t.Errorf("%s returns %s, the document says %v", method.Name, got, want)
			}
		}
	}
}

// TestTheClientsConstantsAreTheDocuments tests that the client has a constant for every value of a type.
func TestTheClientsConstantsAreTheDocuments(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	schemas := d.Components.Schemas
	constants := constantsOf(t)
	for name, want := range map[string][]string{
		"AuditAction": schemas["AuditEntry"].Properties["action"].Enum,
		// The last two are the client's own: an answer that has no code.
		"Code": append(slices.Clone(schemas["Error"].Properties["error"].Properties["code"].Enum), string(CodeUnavailable), string(CodeUnexpected)),
	} {
		got := constants[name]
		slices.Sort(got)
		slices.Sort(want)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s has %v, the document %v", name, got, want)
		}
		delete(constants, name)
	}
	if len(constants) > 0 {
		t.Errorf("nothing compares %v with the document", slices.Collect(maps.Keys(constants)))
	}
}

// constantsOf are the values of the package's exported constants that are texts of a named type.
func constantsOf(t *testing.T) map[string][]string {
	t.Helper()
	values := map[string][]string{}
	see := func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		typ, named := spec.Type.(*ast.Ident)
		value, literal := spec.Values[0].(*ast.BasicLit)
		if named && literal && value.Kind == token.STRING && spec.Names[0].IsExported() {
			text, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Error(err)
			}
			values[typ.Name] = append(values[typ.Name], text)
		}
		return true
	}
	for _, name := range sources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, see)
	}
	return values
}
