package tabular

import (
	"encoding/binary"
	"encoding/xml"
)

// sharedStrings are the texts to which cells refer by number.
type sharedStrings struct {
	growth
	texts, ends spill // ends has endBytes for each text: where it ends
}

func (s *sharedStrings) close() {
	s.texts.close()
	s.ends.close()
}

func (s *sharedStrings) add(text []byte) error {
	if err := s.growth.add(int64(len(text)) + endBytes); err != nil {
		return err
	}
	if _, err := s.texts.Write(text); err != nil {
		return err
	}
	_, err := s.ends.Write(binary.BigEndian.AppendUint64(nil, uint64(s.texts.size))) //nolint:gosec // a size is not negative
	return err
}

// endBytes is the size of the end of a text.
const endBytes = 8

// at returns the text with a number. The first one has the number 0.
func (s *sharedStrings) at(number int64) (string, error) {
	if number < 0 || number >= s.ends.size/8 {
		return "", errNoPart
	}
	var places [16]byte // where the text begins and ends
	from := places[:]
	if number == 0 {
		from = places[8:]
	}
	if _, err := s.ends.ReadAt(from, max(number-1, 0)*8); err != nil {
		return "", ownError{err}
	}
	begin, end := int64(binary.BigEndian.Uint64(places[:8])), int64(binary.BigEndian.Uint64(places[8:])) //nolint:gosec // below 2^63
	text := make([]byte, end-begin)
	if _, err := s.texts.ReadAt(text, begin); err != nil {
		return "", ownError{err}
	}
	return string(text), nil
}

// readStrings reads the shared strings.
func (w *workbook) readStrings(part string) error {
	return w.elements(part, sheetBytes, func(e xml.StartElement, x *xmlReader) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := x.text(e.Name.Local)
		if err != nil {
			return err
		}
		if err := w.strings.add(text); err != nil {
			return ownError{err}
		}
		return nil
	})
}
