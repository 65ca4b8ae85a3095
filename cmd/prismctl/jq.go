package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/itchyny/gojq"
)

// query writes what a program in the language of jq makes of JSON: a line for each value. A text has no quotes, and numbers keep
// their digits.
func query(ctx context.Context, w io.Writer, program string, text []byte) error {
	code, err := compile(program)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	values := code.RunWithContext(ctx, v)
	for {
		v, more := values.Next()
		if !more {
			return nil
		}
		line, text := v.(string)
		switch err, failed := v.(error); {
		case failed:
			return usage(fmt.Errorf("--jq: %w", err))
		case !text:
			b, err := gojq.Marshal(v)
			if err != nil {
				return err
			}
			line = string(b)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
}

// compile parses and compiles a program.
func compile(program string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(program)
	if err == nil {
		var code *gojq.Code
		if code, err = gojq.Compile(parsed); err == nil {
			return code, nil
		}
	}
	return nil, usage(fmt.Errorf("--jq: %w", err))
}
