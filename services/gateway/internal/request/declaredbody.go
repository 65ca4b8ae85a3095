package request

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// valueReader reads a value of a body that was sent. of reads an object, or the objects of an array.
type valueReader struct {
	shape  *shape
	read   func(r *reader, it item, to reflect.Value)
	object *structReader
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
		if m, value := s.member(name), it.at(name); m.Required || value.hasValue() {
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
		r.addIn(it, rule.Missing(func(name string) bool { return it.at(name).hasValue() }))
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
		if other := slices.IndexFunc(m.Without, func(name string) bool { return it.at(name).hasValue() }); other >= 0 {
			if value.hasValue() {
				r.add(value.path, textNotWith+m.Without[other])
			}
			continue
		}
		if m.OrHeader != "" {
			field.SetString(r.strOrHeader(value, value.hasValue(), m.OrHeader, least(m.Property), int(*m.Max)))
			continue
		}
		if m.Zeroed && value.sent() && !value.hasValue() {
			field.Set(reflect.New(field.Type().Elem()))
		}
		if value.hasValue() || !optional && (!nullable || !value.sent()) {
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

func (m sentMembers) HasValue(name string) bool { return m.at(name).hasValue() }

func (m sentMembers) Valid(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return m.wrong[name] || !m.HasValue(name) })
}

// agreed reports whether a boolean member was sent, and not as false. One of another type has a problem of its own.
func agreed(it item) bool {
	return it.hasValue() && (it.kind() != kindBoolean || it.text[0] == 't')
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
		return valueReader{shape: inner.shape, object: inner.object, read: func(r *reader, it item, to reflect.Value) {
			if isObject && !r.is(it, kindObject) {
				return
			}
			if to.IsNil() {
				to.Set(reflect.New(t.Elem()))
			}
			inner.read(r, it, to.Elem())
		}}
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[api.Time]():
		return valueReader{shape: scalar, read: func(r *reader, it item, to reflect.Value) {
			if !r.is(it, kindString) {
				return
			}
			switch at := r.optionalDatetime(it); {
			case at == nil:
			case m.Form == "hour" && !at.Equal(at.Truncate(time.Hour)):
				r.add(it.path, textHour)
			default:
				if t == reflect.TypeFor[api.Time]() {
					to = to.Field(0)
				}
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
		return valueReader{shape: s.shape, object: s, read: func(r *reader, it item, to reflect.Value) {
			if r.is(it, kindObject) {
				s.read(r, it, to)
			}
		}}
	}
	panic(undeclarable(m))
}

func stringReader(m api.Property) valueReader {
	maximum := math.MaxInt
	if m.Max != nil {
		maximum = int(*m.Max)
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
		case formTexts[m.Form] != "":
			if s, _ = r.str(it, 0, math.MaxInt); s != "" && !form.MatchString(s) {
				r.add(it.path, formTexts[m.Form])
			}
		case form != nil:
			s, _ = r.matching(it, form)
		default:
			s, _ = r.str(it, least(m), maximum)
		}
		to.SetString(s)
	}}
}

func sliceReader(t reflect.Type, m api.Property) valueReader {
	most := int(*m.Max)
	elements := m
	elements.Min, elements.Max = nil, m.Each
	inner := newValueReader(t.Elem(), elements)
	return valueReader{shape: &shape{element: inner.shape, maxElements: most}, object: inner.object, read: func(r *reader, it item, to reflect.Value) {
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
	reflect.TypeFor[api.LabelsOfQuestions](): {shape: &shape{fields: true, lists: true}, read: labelsOfQuestions},
	reflect.TypeFor[api.ColumnsOfFields]():   {shape: &shape{fields: true}, read: columnsOfFields},
	reflect.TypeFor[api.ColumnsOfLabels]():   {shape: &shape{fields: true}, read: columnsOfLabels},
	reflect.TypeFor[api.LabelText]():         {shape: labelShape, read: labelText},
	reflect.TypeFor[prism.ExampleFields]():   exampleFieldsReader,
	reflect.TypeFor[prism.ExampleAnswers]():  exampleAnswersReader,
}

// groups are the structs whose members are read together. Adjacent members of two of them would count as one.
var groups = map[reflect.Type]groupReader{
	reflect.TypeFor[api.NewVersion](): newVersion,
	reflect.TypeFor[prism.Lens]():     lensAlone,
}

func isInt(t reflect.Type) bool {
	return t.Kind() == reflect.Int || t.Kind() == reflect.Int32 || t.Kind() == reflect.Int64
}
