package request

import (
	"reflect"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

var pinsReader = valueReader{shape: &shape{fields: true}, read: func(r *reader, it item, to reflect.Value) {
	if r.is(it, kindObject) {
		set(to, r.pins(it))
	}
}}

// pins reads {key: id | null} (spec: calibration-pin-change). All unclean names are one problem, which comes first.
func (r *reader) pins(it item) api.Pins {
	pins := api.Pins{}
	sent := it.fields
	if sent.uncleanName > 0 {
		r.add(it.path, textUnclean)
	}
	if len(sent.sent) > api.MaxPins {
		r.addBound(it.path, textTooManyMembers, api.MaxPins)
		return nil
	}
	for _, s := range sent.sent {
		pin := api.Pin{Target: string(sent.plain(s))}
		path := it.child(pin.Target)
		switch s.first {
		case '"':
			text, _ := unquote(sent.text(s.value))
			id, err := prism.ParseUUID(text)
			if err != nil {
				r.add(path, textUUID)
			}
			pin.Calibration = prism.CalibrationID{UUID: id}
		case 'n': // null
		default:
			r.add(path, textType(kindString, kindOf(s.first)))
		}
		pins = append(pins, pin)
	}
	return pins
}
