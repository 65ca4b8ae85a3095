// Package client calls a Prism: it answers texts through prisms, reads, retries, lists and exports results, runs whole files,
// and manages prisms and API keys. It needs nothing but the standard library.
//
//	c, err := client.FromEnvironment() // PRISM_URL and PRISM_API_KEY
//	…
//	result, err := c.CreateResult(ctx, "tickets", client.NewResult{
//		Text:           "I was charged twice for my order.",
//		IdempotencyKey: client.NewIdempotencyKey(),
//	})
//	…
//	topic, err := result.Answers.Choice("topic")
//
// An operation of the API has one method, named as its operationId in the OpenAPI document. Each method takes [CallOption]s:
// [WithTimeout], [WithAttempts] and [WithMeta] for any call, [WithFormat], [WithDryRun] and [IfUnchanged] where the operation has
// them. [Client.Results] and the like iterate over lists, [Client.CreateResults] answers many texts, [Rows] decodes exports, and
// [Client.RunFile] runs a whole file.
//
// # Errors
//
// A call that Prism refuses returns an *[Error] with the status, the code and the message of the response. Branch on the
// code with errors.Is and [ErrNotFound], [ErrConflict] and the like.
//
// A result whose model gave no usable answer is a *[FailedError]. The result is saved, the error carries it, and it can be
// retried.
//
// A call without a complete response returns a *[ConnectionError], which tells whether Prism may have received the request.
//
// The first two carry the id of the request in the server's logs. [WithMeta] has it also for a call that succeeded.
//
// No error contains the API key, an address with its query, or a value that was sent.
//
// # Repeats
//
// The client repeats a call, with growing and jittered pauses, only if the API promises that a repeat is safe:
//
//   - a call that Prism refused with its own 503, and a call that was never sent: Prism did nothing;
//   - reads, creates with an idempotency key, and idempotent changes (the Lens, archive, unarchive, revoke, the parts of a
//     file, pausing a run), also after a lost response or a 5xx.
//
// A create without a key, a retry, and a new prism, version, key or file are not repeated after a lost response: they may have
// happened. The context bounds all attempts together. The client does not begin a pause that ends after the context's
// deadline.
//
// [Client.UploadFile], [Client.WatchRun], [Client.RunFile] and the rows of [Client.ListRunRows] go on for about half a minute
// without a server, and continue where they were cut.
//
// # Time
//
// A create or retry waits up to 35 s for other calls with the same key or result and then 15 s for the model, so one attempt
// may take [AnswerTimeout], as may a try. An attempt to send a part of a file may take [PartTimeout], and one of a dry run of a
// run [PlanTimeout]. An attempt of any other call may take [Timeout]. An export may take any time in which it makes progress.
package client
