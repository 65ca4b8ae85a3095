package request

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
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
	Param   func(name string) string // of the path
	Query   Query
	IfMatch []string
	Body    Body
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
			p.params = append(p.params, step{m.Index, func(r *reader, from Source, to reflect.Value) { set(to, r.ifMatch(from.IfMatch)) }})
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
	var r reader
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
	api.CreateResult.Name:  func(from Source) (any, error) { return parseCreate(from) },
	api.TryDefinition.Name: func(from Source) (any, error) { return parseTry(from) },
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
	case isID(t):
		return func(r *reader, from Source, to reflect.Value) { setID(to, r.uuidParam(m.Name, from.Param(m.Name))) }
	case t.Kind() == reflect.Int32:
		most := math.MaxInt32
		if m.Max != nil {
			most = int(*m.Max)
		}
		return func(r *reader, from Source, to reflect.Value) {
			if f, ok := r.numeral(m.Name, r.param(m.Name, from.Param(m.Name))); ok {
				to.SetInt(int64(r.integer(m.Name, f, most)))
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
			if r.sentID(from.Query, "run") {
				list = contract.ListOfRunResults
			}
			to.SetString(r.cursor(from.Query, list))
		}
	case m.List != "":
		list := lists[m.List]
		return func(r *reader, from Source, to reflect.Value) { to.SetString(r.cursor(from.Query, list)) }
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
	case m.Form == "actor":
		return func(r *reader, from Source, to reflect.Value) {
			s := r.singleStr(from.Query, m.Name, math.MaxInt)
			if s != "" && !api.Forms["actor"].MatchString(s) {
				r.add(m.Name, textActor)
			}
			to.SetString(s)
		}
	case t == reflect.TypeFor[*string]() && m.Max != nil: // also the empty text
		return func(r *reader, from Source, to reflect.Value) {
			if s := r.singleStr(from.Query, m.Name, int(*m.Max)); len(from.Query(m.Name)) == 1 {
				set(to, &s)
			}
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
	"calibrations": contract.ListOfCalibrations,
}

// valueReader reads a value of a body that was sent. of reads an object, or the objects of an array.
type valueReader struct {
	shape *shape
	read  func(r *reader, it item, to reflect.Value)
	of    *structReader
}

// structReader reads the members of an object into the fields of a struct.
type structReader struct {
	shape   *shape
	members []memberReader
}

type memberReader struct {
	api.Property
	valueReader
	group   groupReader // nil: the member is read by itself
	inGroup []int       // the index of the struct whose members the group reads
}

// groupReader reads the members of a struct whose problems depend on each other. s reads them by themselves.
type groupReader func(r *reader, s *structReader, it item, to reflect.Value)

// newStructReader makes the reader of the listed members of a struct.
func newStructReader(t reflect.Type, list []api.Property) *structReader {
	s := &structReader{shape: &shape{}}
	for _, m := range list {
		read := memberReader{Property: m, valueReader: newValueReader(m.Field.Type, m)}
		read.group, read.inGroup = groupOf(t, m.Index)
		s.members = append(s.members, read)
		s.shape.members = append(s.shape.members, member{m.Name, read.shape})
	}
	return s
}

// groupOf is the group that a member of a struct belongs to, and the index of the group's struct.
func groupOf(t reflect.Type, index []int) (groupReader, []int) {
	for depth := range index {
		if g, ok := groups[t.FieldByIndex(index[:depth]).Type]; ok {
			return g, index[:depth]
		}
	}
	return nil, nil
}

// member is the reader of a member by its name, which is one of the struct's.
func (s *structReader) member(name string) memberReader {
	return s.members[slices.IndexFunc(s.members, func(m memberReader) bool { return m.Name == name })]
}

// some reads some members of an object into the fields of a struct that to points to. Optional ones may be absent or null.
func (s *structReader) some(r *reader, it item, to any, names ...string) {
	for _, name := range names {
		if m, value := s.member(name), it.at(name); m.Required || value.given() {
			m.read(r, value, reflect.ValueOf(to).Elem().FieldByName(m.Field.Name))
		}
	}
}

// items are the elements of an array within its limits (see reader.array).
func (m memberReader) items(r *reader, it item) []item {
	return r.array(it, least(m.Property), int(*m.Max))
}

func least(m api.Property) int {
	if m.Min == nil {
		return 0
	}
	return int(*m.Min)
}

// ruled is a type with a rule over several members.
type ruled interface {
	Problems(m api.Sent) []apierr.Problem
}

// misser is a type with a rule over which members were sent, whose problems come first.
type misser interface {
	Missing(sent func(name string) bool) []apierr.Problem
}

func (s *structReader) read(r *reader, it item, to reflect.Value) {
	if rule, ok := to.Addr().Interface().(misser); ok {
		r.addIn(it, rule.Missing(func(name string) bool { return it.at(name).given() }))
	}
	rule, isRuled := to.Addr().Interface().(ruled)
	var wrong map[string]bool
	if isRuled {
		wrong = map[string]bool{}
	}
	for i, m := range s.members {
		if m.group != nil {
			if i == 0 || s.members[i-1].group == nil { // the first of the group
				m.group(r, s, it, to.FieldByIndex(m.inGroup))
			}
			continue
		}
		value, field := it.at(m.Name), to.FieldByIndex(m.Index)
		optional, nullable := !m.Required, field.Kind() == reflect.Pointer
		if m.Unless != "" && !agreed(it.at(m.Unless)) {
			optional, nullable = false, false
		}
		if m.Without != "" && it.at(m.Without).given() {
			if value.given() {
				r.add(value.path, textNotWith+m.Without)
			}
			continue
		}
		if m.Zeroed && value.sent() && !value.given() {
			field.Set(reflect.New(field.Type().Elem()))
		}
		if value.given() || !optional && (!nullable || !value.sent()) {
			before := r.inValues
			m.read(r, value, field)
			if isRuled {
				wrong[m.Name] = r.inValues > before
			}
		}
	}
	if isRuled {
		r.addIn(it, rule.Problems(sentMembers{it, wrong}))
	}
}

// sentMembers implement api.Sent.
type sentMembers struct {
	item
	wrong map[string]bool
}

func (m sentMembers) Given(name string) bool { return m.at(name).given() }

func (m sentMembers) Valid(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return m.wrong[name] || !m.Given(name) })
}

// agreed reports whether a boolean member was sent, and not as false. One of another type has a problem of its own.
func agreed(it item) bool {
	return it.given() && (it.kind() != kindBoolean || it.text[0] == 't')
}

// addIn adds problems of rules over several members, whose paths begin in it.
func (r *reader) addIn(it item, problems []apierr.Problem) {
	r.inValues -= len(problems)
	for _, p := range problems {
		r.add(it.child(p.Path), p.Text)
	}
}

// newValueReader is the reader of a type, with the limits of the member that holds it.
func newValueReader(t reflect.Type, m api.Property) valueReader {
	if v, ok := ownReaders[t]; ok {
		return v
	}
	switch {
	case t.Kind() == reflect.Pointer:
		inner := newValueReader(t.Elem(), m)
		isObject := t.Elem().Kind() == reflect.Struct && len(inner.shape.members) > 0
		return valueReader{shape: inner.shape, of: inner.of, read: func(r *reader, it item, to reflect.Value) {
			if isObject && !r.is(it, kindObject) {
				return
			}
			if to.IsNil() {
				to.Set(reflect.New(t.Elem()))
			}
			inner.read(r, it, to.Elem())
		}}
	case t == reflect.TypeFor[time.Time]():
		return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) {
			if !r.is(it, kindString) {
				return
			}
			switch at := r.optionalDatetime(it); {
			case at == nil:
			case m.Form == "hour" && !at.Equal(at.Truncate(time.Hour)):
				r.add(it.path, textHour)
			default:
				set(to, *at)
			}
		}}
	case isID(t):
		return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) { setID(to, r.uuidMember(it)) }}
	case t.Kind() == reflect.String:
		return stringReader(m)
	case t.Kind() == reflect.Bool:
		return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) {
			to.SetBool(r.is(it, kindBoolean) && it.text[0] == 't')
		}}
	case isInt(t) && m.Min != nil && m.Max != nil:
		return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) {
			if f, ok := r.number(it); ok {
				to.SetInt(int64(r.whole(it.path, f, int(*m.Min), int(*m.Max))))
			}
		}}
	case t.Kind() == reflect.Float64:
		return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) {
			if f, ok := r.number(it); ok {
				to.SetFloat(r.within(it.path, f, m.Limits))
			}
		}}
	case t.Kind() == reflect.Slice && m.Max != nil:
		return sliceReader(t, m)
	case t.Kind() == reflect.Struct:
		s := newStructReader(t, api.Properties(t))
		return valueReader{shape: s.shape, of: s, read: func(r *reader, it item, to reflect.Value) {
			if r.is(it, kindObject) {
				s.read(r, it, to)
			}
		}}
	}
	panic(undeclarable(m))
}

func stringReader(m api.Property) valueReader {
	most := math.MaxInt
	if m.Max != nil {
		most = int(*m.Max)
	}
	var form *regexp.Regexp
	if m.Form != "" {
		form = api.Forms[m.Form]
	}
	return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) {
		var s string
		switch {
		case m.Enum != nil:
			s = oneOfStr(r, it, m.Enum)
		case m.Form == "prism":
			s = r.slug(it)
		case form != nil:
			s, _ = r.matching(it, form)
		default:
			s, _ = r.str(it, least(m), most)
		}
		to.SetString(s)
	}}
}

func sliceReader(t reflect.Type, m api.Property) valueReader {
	most := int(*m.Max)
	elements := m
	elements.Min, elements.Max = nil, nil
	inner := newValueReader(t.Elem(), elements)
	return valueReader{shape: &shape{element: inner.shape, most: most}, of: inner.of, read: func(r *reader, it item, to reflect.Value) {
		items := r.array(it, least(m), most)
		list := reflect.MakeSlice(t, len(items), len(items))
		for i, element := range items {
			inner.read(r, element, list.Index(i))
			if len(r.problems) >= manyProblems {
				r.list()
			}
		}
		to.Set(list)
	}}
}

// ownReaders read types whose rules the tags of their members cannot say.
var ownReaders = map[reflect.Type]valueReader{
	reflect.TypeFor[api.Pins]():              pinsReader,
	reflect.TypeFor[api.SHA256]():            {shape: scalar, read: digest},
	reflect.TypeFor[api.LabelsOfQuestions](): {shape: &shape{fields: true}, read: labelsOfQuestions},
	reflect.TypeFor[api.ColumnsOfFields]():   {shape: &shape{fields: true}, read: columnsOfFields},
	reflect.TypeFor[api.ColumnsOfLabels]():   {shape: &shape{fields: true}, read: columnsOfLabels},
	reflect.TypeFor[api.LabelText]():         {shape: scalar, read: labelText},
}

// groups are the structs whose members are read together. Adjacent members of two of them would count as one.
var groups = map[reflect.Type]groupReader{
	reflect.TypeFor[api.NewVersion](): newVersion,
	reflect.TypeFor[prism.Lens]():     lensAlone,
}

func isInt(t reflect.Type) bool {
	return t.Kind() == reflect.Int || t.Kind() == reflect.Int32 || t.Kind() == reflect.Int64
}
