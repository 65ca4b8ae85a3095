package request

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Parser reads the requests of one operation, by its declaration.
type Parser struct {
	op     api.Operation
	own    func(Source) (any, error) // in place of what follows
	params []step
	body   *structReader // nil: the operation takes no body
	octets []int         // the index of the member that is the body as it is; nil without one
	dryRun []int         // the index of the member dry_run; nil without one
}

// Source is a request as the server has it.
type Source struct {
	Param  func(name string) string // of the path
	Query  Query
	Header Header
	Body   Body
}

// Parsed is a valid request.
type Parsed struct {
	Request any // what the operation's NewRequest returns, filled
	DryRun  bool
}

// step reads one parameter into its field.
type step struct {
	index []int
	read  func(r *reader, from Source, to reflect.Value)
}

// NewParser makes the parser of an operation. It panics if a member has a type that no reader is there for.
func NewParser(op api.Operation) *Parser {
	p := &Parser{op: op, own: ownParsers[op.Declared().Name]}
	if p.own != nil {
		return p
	}
	var body []api.Property
	request, _ := op.Types()
	for _, m := range api.Properties(request) {
		switch m.Place {
		case api.InPath:
			p.params = append(p.params, step{m.Index, pathReader(m)})
		case api.InQuery:
			p.params = append(p.params, step{m.Index, queryReader(m)})
		case api.InHeader:
			p.params = append(p.params, step{m.Index, func(r *reader, from Source, to reflect.Value) { set(to, r.ifMatch(from.Header.values("If-Match"))) }})
		case api.InOctets:
			p.octets = m.Index
		case api.InBody:
			body = append(body, m)
			if m.Name == "dry_run" {
				p.dryRun = m.Index
			}
		}
	}
	if len(body) > 0 {
		p.body = newStructReader(request, body)
	}
	return p
}

// Octets reports whether the body is octets, which are a member of the request.
func (p *Parser) Octets() bool { return p.octets != nil }

// Parse reads a request, or lists its problems: those of the parameters, then those of the body (spec: validation-order).
func (p *Parser) Parse(from Source) (Parsed, error) {
	var sent item
	var err error
	if p.own != nil {
		request, err := p.own(from)
		return Parsed{Request: request}, err
	}
	switch {
	case p.octets != nil:
	case p.body == nil:
		err = ignoreBody(from.Body) // spec: retry-body
	default:
		sent, err = parseBody(from.Body, p.body.shape)
	}
	if err != nil {
		return Parsed{}, err
	}
	request := p.op.NewRequest()
	to := reflect.ValueOf(request).Elem()
	r := reader{header: from.Header}
	for _, s := range p.params {
		s.read(&r, from, to.FieldByIndex(s.index))
	}
	if p.octets != nil {
		to.FieldByIndex(p.octets).SetBytes(from.Body.Bytes)
		if len(from.Body.Bytes) == 0 && !r.malformed {
			r.add("body", textRequired)
		}
	}
	if p.body != nil && r.is(sent, kindObject) {
		p.body.read(&r, sent, to)
	} else if rule, ok := request.(ruled); ok && p.body == nil {
		r.addIn(item{}, rule.Problems(nil))
	}
	parsed := Parsed{Request: request}
	if p.dryRun != nil {
		parsed.DryRun = to.FieldByIndex(p.dryRun).Bool()
	}
	return parsed, r.err()
}

// ownParsers are the parsers of operations whose time counts, or whose members are read together, by their names: tests hold them to
// the declarations.
var ownParsers = map[string]func(Source) (any, error){
	api.CreateResult.Name:    func(from Source) (any, error) { return parseCreate(from) },
	api.CreateDecision.Name:  func(from Source) (any, error) { return parseDecision(from) },
	api.CreateSystemOne.Name: func(from Source) (any, error) { return parseSystemOne(from) },
	api.TryDefinition.Name:   func(from Source) (any, error) { return parseTry(from) },
}

func set(to reflect.Value, v any) { to.Set(reflect.ValueOf(v)) }

// setID sets an identifier, which is a struct around a prism.UUID, or a pointer to one.
func setID(to reflect.Value, id prism.UUID) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	to.Field(0).Set(reflect.ValueOf(id))
}

func isID(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type == reflect.TypeFor[prism.UUID]()
}

func pathReader(m api.Property) func(*reader, Source, reflect.Value) {
	switch t := m.Field.Type; {
	case t == reflect.TypeFor[prism.Ref]():
		return func(r *reader, from Source, to reflect.Value) { set(to, r.prismParam(from.Param(m.Name))) }
	case t.Kind() == reflect.String: // any text may be a name; a later check finds it
		return func(r *reader, from Source, to reflect.Value) {
			to.SetString(strings.Clone(r.param(m.Name, from.Param(m.Name))))
		}
	case isID(t):
		return func(r *reader, from Source, to reflect.Value) { setID(to, r.uuidParam(m.Name, from.Param(m.Name))) }
	case t.Kind() == reflect.Int32:
		maximum := math.MaxInt32
		if m.Max != nil {
			maximum = int(*m.Max)
		}
		return func(r *reader, from Source, to reflect.Value) {
			if f, ok := r.numeral(m.Name, r.param(m.Name, from.Param(m.Name))); ok {
				to.SetInt(int64(r.integer(m.Name, f, maximum)))
			}
		}
	}
	panic(undeclarable(m))
}

func undeclarable(m api.Property) string {
	return fmt.Sprintf("request: no reader of the %s member %s with the type %s", m.Place, m.Name, m.Field.Type)
}

// queryReader reads a parameter of the query. An absent or empty one is the zero value or its default.
func queryReader(m api.Property) func(*reader, Source, reflect.Value) {
	switch t := m.Field.Type; {
	case m.List == "queue":
		return func(r *reader, from Source, to reflect.Value) {
			order := prism.RandomSample
			if sent := from.Query("order"); len(sent) == 1 && sent[0] == string(prism.UncertainSample) {
				order = prism.UncertainSample
			}
			to.SetString(r.cursor(from.Query, contract.QueueOf(order)))
		}
	case m.List == "results":
		return func(r *reader, from Source, to reflect.Value) {
			list := contract.ListOfResults
			switch {
			case searches(from.Query):
				list = contract.ListOfFound
			case r.sentID(from.Query, "run"):
				list = contract.ListOfRunResults
			}
			to.SetString(r.cursor(from.Query, list))
		}
	case m.List != "":
		list := lists[m.List]
		return func(r *reader, from Source, to reflect.Value) { to.SetString(r.cursor(from.Query, list)) }
	case m.Enum != nil && t.Kind() == reflect.Slice && m.Max != nil:
		return func(r *reader, from Source, to reflect.Value) {
			for i, s := range r.texts(from.Query, m.Name, int(*m.Max), math.MaxInt) {
				value := reflect.New(t.Elem()).Elem()
				value.SetString(oneOf(r, m.Name+"."+strconv.Itoa(i), []string{s}, m.Enum, ""))
				to.Set(reflect.Append(to, value))
			}
		}
	case m.Enum != nil:
		return func(r *reader, from Source, to reflect.Value) {
			to.SetString(oneOf(r, m.Name, from.Query(m.Name), m.Enum, m.Default))
		}
	case t == reflect.TypeFor[*prism.Ref]():
		return func(r *reader, from Source, to reflect.Value) { to.Set(reflect.ValueOf(r.prismQuery(from.Query))) }
	case t == reflect.TypeFor[time.Time]():
		return func(r *reader, from Source, to reflect.Value) { set(to, r.datetime(from.Query, m.Name)) }
	case t == reflect.TypeFor[*prism.Day]():
		return func(r *reader, from Source, to reflect.Value) { set(to, r.day(from.Query, m.Name)) }
	case t.Kind() == reflect.Pointer && isID(t.Elem()):
		return func(r *reader, from Source, to reflect.Value) {
			if id := r.uuid(from.Query, m.Name); id != nil {
				setID(to, *id)
			}
		}
	case t.Kind() == reflect.Bool:
		return func(r *reader, from Source, to reflect.Value) {
			to.SetBool(oneOf(r, m.Name, from.Query(m.Name), []string{"true", "false"}, "false") == "true")
		}
	case formTexts[m.Form] != "":
		return func(r *reader, from Source, to reflect.Value) {
			s := r.singleStr(from.Query, m.Name, math.MaxInt)
			if s != "" && !api.Forms[m.Form].MatchString(s) {
				r.add(m.Name, formTexts[m.Form])
			}
			to.SetString(s)
		}
	case t == reflect.TypeFor[*string]() && m.Max != nil: // also the empty text
		return func(r *reader, from Source, to reflect.Value) {
			if s := r.singleStr(from.Query, m.Name, int(*m.Max)); len(from.Query(m.Name)) == 1 {
				set(to, &s)
			}
		}
	case t == reflect.TypeFor[[]string]() && m.Max != nil && m.Each != nil:
		return func(r *reader, from Source, to reflect.Value) {
			set(to, r.texts(from.Query, m.Name, int(*m.Max), int(*m.Each)))
		}
	case t.Kind() == reflect.String && m.Max != nil:
		return func(r *reader, from Source, to reflect.Value) {
			s := r.singleStr(from.Query, m.Name, int(*m.Max))
			if m.Required && s == "" && len(from.Query(m.Name)) < 2 {
				r.add(m.Name, textRequired)
			}
			to.SetString(s)
		}
	case t.Kind() == reflect.Float64 && m.Required && m.Max != nil:
		return func(r *reader, from Source, to reflect.Value) {
			if f, sent := r.requiredNumeral(from.Query, m.Name); sent {
				to.SetFloat(r.within(m.Name, f, m.Limits))
			}
		}
	case isInt(t) && m.Required && m.Min != nil && m.Max != nil:
		return func(r *reader, from Source, to reflect.Value) {
			if f, sent := r.requiredNumeral(from.Query, m.Name); sent {
				to.SetInt(int64(r.whole(m.Name, f, int(*m.Min), int(*m.Max))))
			}
		}
	case isInt(t) && m.Min != nil && m.Max != nil:
		byDefault := defaultOf(m)
		return func(r *reader, from Source, to reflect.Value) {
			n := byDefault
			if f, sent := r.optionalNumeral(from.Query, m.Name); sent {
				n = r.whole(m.Name, f, int(*m.Min), int(*m.Max))
			}
			to.SetInt(int64(n))
		}
	}
	panic(undeclarable(m))
}

// formTexts are the problems of parameters whose form a pattern does not explain.
var formTexts = map[string]string{"actor": textActor, "assignee": textAssignee}

func defaultOf(m api.Property) int {
	if m.Default == "" {
		return 0
	}
	return int(parseNumber([]byte(m.Default)))
}

// lists are the lists that cursors belong to, by the tag list.
var lists = map[string]contract.List{
	"prisms": contract.ListOfPrisms, "versions": contract.ListOfVersions, "keys": contract.ListOfKeys, "audit": contract.ListOfAudit,
	"files": contract.ListOfFiles, "runs": contract.ListOfRuns, "members": contract.ListOfMembers, "labels": contract.ListOfLabels,
	"calibrations": contract.ListOfCalibrations, "views": contract.ListOfViews, "comments": contract.ListOfComments,
	"assignees": contract.ListOfAssignees, "webhooks": contract.ListOfWebhooks, "deliveries": contract.ListOfDeliveries,
}
