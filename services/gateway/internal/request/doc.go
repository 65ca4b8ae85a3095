// Package request turns bytes and strings into typed requests. It makes the first checks of every operation: a body that
// is not JSON is apierr.Malformed; otherwise one apierr.Invalid lists every problem of path, query and body
// (spec: validation-message, validation-order). Messages repeat nothing that was sent except member names
// (spec: values-are-never-repeated).
//
// Each Parse function belongs to one operation. Every error is an *apierr.Error; the other results are then meaningless.
// Results own their memory, so the buffers of body and path may be reused afterwards.
//
// # Reading
//
// One pass of the JSON decoder checks the whole body and keeps the values that the operation reads (see shape). The
// reader then evaluates them in the order in which problems are listed. Both take linear time.
//
// # Rules of this package
//
//   - An array that is too long is one problem, and only its elements up to the limit are read.
//   - A query parameter that is sent empty counts as not sent. One sent twice has the wrong type: an array.
//   - A member name inside fields that has NUL or unpaired surrogates is listed once, and its value is not read.
//   - A path parameter that is not UTF-8 is apierr.Malformed. A query parameter that is not UTF-8 never is: a string has the
//     problem of unpaired surrogates, and any other value the problem of its type or form.
package request

// The limits of lengths, in Unicode code points (spec: string-limits, definition-text-limits).
const (
	maxField          = 100_000 // a field value, text, context
	maxIdempotencyKey = 200
	maxRef            = 200

	maxLabel  = 1_000 // of an option or level
	maxName   = 200   // of a prism or a run
	maxCursor = 1_000
)

// The limits of counts (spec: version-fields, version-questions, question-choice, question-scale, lens-columns, page-limit).
const (
	maxQuestions = 64
)
