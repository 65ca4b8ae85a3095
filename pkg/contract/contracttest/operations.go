package contracttest

import (
	"context"
	"errors"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// operations holds that the request of each declared operation that results answers arrives whole, with every member set and with none.
func operations(t *testing.T, connect func(*testing.T, contract.Results) contract.Results) {
	t.Helper()
	far := &results{doc: aResponse, body: string(aResponse.Body)}
	near := connect(t, far)
	for _, op := range api.Operations() {
		if op.Declared().ByGateway {
			continue
		}
		full := op.NewRequest()
		fill(reflect.ValueOf(full).Elem())
		for _, request := range []any{full, op.NewRequest()} {
			method, want, got, err := answered(patience(t), near, op, request)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s returned %+v, %v, want %+v", op.Declared().Name, got, err, want)
			}
			if want := (heard{method, []any{digest, op, request}}); !reflect.DeepEqual(far.heard, want) {
				t.Errorf("heard %+v\nwant  %+v", far.heard, want)
			}
		}
	}
}

// answered is the response to an operation, the one that is expected, and the method that gave it.
func answered(
	ctx context.Context, r contract.Results, op api.Operation, request any,
) (method string, want, got contract.Response, err error) {
	if op.Declared().Class != api.Streamed {
		got, err = r.Do(ctx, digest, op, request)
		return "Do", aResponse, got, err
	}
	stream, err := r.Open(ctx, digest, op, request)
	if err != nil {
		return "Open", want, got, err
	}
	got.ContentType = stream.ContentType
	got.Body, err = io.ReadAll(stream.Body)
	want = contract.Response{ContentType: aResponse.ContentType, Body: aResponse.Body}
	return "Open", want, got, errors.Join(err, stream.Body.Close())
}

// fill gives every part of a value something that is not zero.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(at))
	case v.Type() == reflect.TypeFor[prism.ExampleFields](): // an object, whose names differ
		v.Set(reflect.ValueOf(prism.ExampleFields{{Key: odd, Value: odd}}))
	case v.Type() == reflect.TypeFor[prism.ExampleAnswers]():
		v.Set(reflect.ValueOf(prism.ExampleAnswers{{Question: odd, Value: []byte(`["a",true]`)}}))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case v.Kind() == reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case v.Kind() == reflect.String:
		v.SetString(odd)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(7)
	case v.CanUint():
		v.SetUint(7)
	case v.CanFloat():
		v.SetFloat(0.1)
	default:
		panic("contracttest: nothing fills a " + v.Type().String())
	}
}
