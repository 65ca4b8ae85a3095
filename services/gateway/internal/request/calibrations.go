package request

import (
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

var (
	newCalibrationShape = &shape{members: members("question", "method")}
	pinsShape           = &shape{members: []member{{"questions", &shape{fields: true}}}}
)

func (r *reader) versionRef(prismParam, version string) contract.VersionRef {
	return contract.VersionRef{Prism: r.prismParam(prismParam), Number: r.versionParam(version)}
}

// ParseNewCalibration reads POST /v1/prisms/{prism}/versions/{version}/calibrations {question, method}. results checks that the
// version has the question and that the method fits its type (spec: calibration-create).
func ParseNewCalibration(prismParam, version string, body Body) (contract.VersionRef, contract.NewCalibration, error) {
	sent, err := parseBody(body, newCalibrationShape)
	if err != nil {
		return contract.VersionRef{}, contract.NewCalibration{}, err
	}
	var r reader
	of := r.versionRef(prismParam, version)
	var n contract.NewCalibration
	if r.is(sent, kindObject) {
		n.Question = r.anyStr(sent.at("question"))
		n.Method = oneOfStr(&r, sent.at("method"), contract.CalibrationMethods())
	}
	return of, n, r.err()
}

// ParseCalibrationList reads GET /v1/prisms/{prism}/versions/{version}/calibrations?question&limit&cursor.
func ParseCalibrationList(prismParam, version string, q Query) (contract.VersionRef, contract.CalibrationList, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	list := contract.CalibrationList{Question: r.singleStr(q, "question", maxName), Page: r.page(q, contract.ListOfCalibrations)}
	return of, list, r.err()
}

// ParseCalibration reads GET /v1/prisms/{prism}/versions/{version}/calibrations/{calibration_id}.
func ParseCalibration(prismParam, version, id string) (contract.VersionRef, prism.CalibrationID, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	calibration := prism.CalibrationID{UUID: r.uuidParam("calibration_id", id)}
	return of, calibration, r.err()
}

// ParsePins reads PUT /v1/prisms/{prism}/versions/{version}/calibration {questions: {key: id | null}} (spec: calibration-pin-change).
func ParsePins(prismParam, version string, body Body) (contract.VersionRef, []contract.CalibrationPin, error) {
	sent, err := parseBody(body, pinsShape)
	if err != nil {
		return contract.VersionRef{}, nil, err
	}
	var r reader
	of := r.versionRef(prismParam, version)
	pins := []contract.CalibrationPin{}
	if r.is(sent, kindObject) {
		if questions := sent.at("questions"); r.is(questions, kindObject) {
			pins = r.pins(questions.fields)
		}
	}
	return of, pins, r.err()
}

// pins reads the ids by question. All unclean names are one problem, which comes first.
func (r *reader) pins(sent *fields) []contract.CalibrationPin {
	pins := []contract.CalibrationPin{}
	if sent.uncleanName > 0 {
		r.add("questions", textUnclean)
	}
	if len(sent.sent) > maxQuestions {
		r.addBound("questions", textTooManyMembers, maxQuestions)
		return nil
	}
	for _, s := range sent.sent {
		pin := contract.CalibrationPin{Question: string(sent.plain(s))}
		path := "questions." + pin.Question
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

// ParsePinned reads GET /v1/prisms/{prism}/versions/{version}/calibration.
func ParsePinned(prismParam, version string) (contract.VersionRef, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	return of, r.err()
}
