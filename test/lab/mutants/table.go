package main

const (
	checks   = "services/gateway/internal/checks/"
	lens     = "pkg/lens/"
	score    = "services/model-proxy/internal/score/"
	lock     = "services/gateway/internal/lock/"
	execute  = "services/gateway/internal/execute/"
	admit    = "services/gateway/internal/admission/"
	quota    = "services/gateway/internal/quota/"
	stores   = "services/results/internal/"
	postgres = stores + "postgres/"
	sqlite   = stores + "sqlite/"
	results  = stores + "results/"
	sqldb    = stores + "sqldb/"
	files    = stores + "files/"
	fileRuns = stores + "runs/"
	members  = stores + "members/"
	quality  = stores + "quality/"
	search   = stores + "search/"
	format   = "services/results/internal/format/"
	wire     = "pkg/contract/wire/"
	service  = "services/results/internal/service/"
	tabular  = "services/results/internal/tabular/"
	ask      = "services/model-proxy/internal/ask/"
	runs     = "services/runs/"
)

// mutants are mistakes that a change could make.
var mutants = []mutant{
	{
		file: checks + "order.go", why: "an archived prism answers",
		old: "case !makes && (facts.Prism.IsZero() || facts.Archived):", new: "case !makes && facts.Prism.IsZero():",
	},
	{
		file: checks + "order.go", why: "a key of another prism returns that prism's result",
		old: "case stored != nil && stored.Prism != facts.Prism:", new: "case false:",
	},
	{
		file: checks + "order.go", why: "the version is checked before the idempotency key",
		old: "	case stored != nil && stored.Prism != facts.Prism:",
		new: "	case facts.Version == nil:\n		return Decision{}, apierr.VersionNotFound()\n	case stored != nil && stored.Prism != facts.Prism:",
	},
	{
		file: checks + "order.go", why: "the repeat of a failed result skips the size estimate",
		old: "facts.AdHoc != contract.NotAdHoc\n		return attempt(a, sizer, facts.Unwritable)",
		new: "facts.AdHoc != contract.NotAdHoc\n		return Decision{Attempt: a}, nil",
	},
	{
		file: checks + "order.go", why: "one unknown field is accepted",
		old: "case len(unknown) > 0:", new: "case len(unknown) > 1:",
	},
	{
		file: checks + "order.go", why: "a retry checks the prism before the result's status",
		old: "	case stored.Status != prism.Failed:",
		new: "	case stored.Archived:\n		return Decision{}, apierr.PrismArchived()\n	case stored.Status != prism.Failed:",
	},
	{
		file: checks + "checks.go", why: "a keyed repeat and a retry of the same result take different locks",
		old: `if lock == "" {`, new: `if lock != "" {`,
	},

	{
		file: "pkg/prism/yes_no.go", tests: lens, why: "a probability of exactly yes_at is not a yes",
		old: "case p >= orDefault(", new: "case p > orDefault(",
	},
	{
		file: "pkg/prism/yes_no.go", tests: lens, why: "a probability of exactly no_at is not a no",
		old: "case p <= orDefault(", new: "case p < orDefault(",
	},
	{
		file: "pkg/prism/scale.go", tests: lens, why: "the average leaves out a level without a value",
		old: "levels[at].Value == nil {\n			return 0, false", new: "levels[at].Value == nil {\n			continue",
	},
	{
		file: lens + "validate.go", why: "200 columns are too many",
		old: "case len(columns) > maxColumns:", new: "case len(columns) >= maxColumns:",
	},
	{
		file: lens + "validate.go", why: "a limit of 1 is refused",
		old: "case *limit > 1:", new: "case *limit >= 1:",
	},
	{
		file: "pkg/prism/scale.go", tests: lens, why: "the derived lens of a scale shows a probability",
		old: "return ShowAverage }", new: "return ShowProbability }",
	},

	{
		file: score + "score.go", why: "a sum that is off by exactly what rounding explains is unusable",
		old: "math.Abs(sum-1) > tolerance(len(ps))+slack", new: "math.Abs(sum-1) > tolerance(len(ps))-slack",
	},
	{
		file: score + "score.go", why: "the last option in definition order wins a tie",
		old: "if ps[i] > ps[best] {", new: "if ps[i] >= ps[best] {",
	},
	{
		file: score + "score.go", why: "probabilities are not normalised",
		old: "	best := 0\n	prism.Normalize(ps)\n", new: "	best := 0\n",
	},
	{
		file: score + "score.go", why: "a probability of yes of 0 is unusable",
		old: "if !(p >= -beyond && p <= 1+beyond) { // NaN is not\n		return nil\n	}\n	return &prism.Answer", new: "if !(p > 0 && p <= 1+beyond) {\n		return nil\n	}\n	return &prism.Answer",
	},
	{
		file: "pkg/prism/answer.go", tests: score, why: "confidence is the probability",
		old: "return (p - guess) / (1 - guess)", new: "return max(p-guess, p)",
	},
	{
		file: score + "logprob.go", why: "labels are compared with their case",
		old: "if strings.EqualFold(token, l) {", new: "if token == l {",
	},

	{
		file: lock + "layered.go", why: "a call that does not get the shared lock keeps the lock of the process",
		old: "	}\n	local.Release(ctx)\n	return nil, err", new: "	}\n	return nil, err",
	},
	{
		file: lock + "memory/memory.go", why: "one waiter more than allowed waits",
		old: "if !l.waiters.Take(account, fair.Preferred) {",
		new: "if !l.waiters.Take(account, fair.Preferred) && l.waiters.Taken() > 99 {",
	},
	{
		file: lock + "memory/memory.go", why: "the last waiter gets the lock first",
		old: "l.queues[name] = append(queue, granted)", new: "l.queues[name] = append([]chan struct{}{granted}, queue...)",
	},
	{
		file: lock + "redis/store.go", why: "a holder whose lease expired frees the next holder's lock",
		old: "if redis.call('GET', KEYS[1]) == ARGV[1] then\n	return redis.call('DEL'", new: "if true then\n	return redis.call('DEL'",
	},
	{
		file: lock + "redis/store.go", why: "a holder whose lease expired renews the next holder's lease",
		old: "if redis.call('GET', KEYS[1]) == ARGV[1] then\n	return redis.call('PEXPIRE'", new: "if redis.call('EXISTS', KEYS[1]) == 1 then\n	return redis.call('PEXPIRE'",
	},
	{
		file: lock + "redis/store.go", why: "the lock of a dead process never expires",
		old: `goredis.SetArgs{Mode: "NX", TTL: s.config.Lease}`, new: `goredis.SetArgs{Mode: "NX"}`,
	},

	{
		file: execute + "execute.go", why: "a key that another call took is an error, not a new look-up",
		old: "return retried || errors.Is(err, contract.ErrKeyTaken)", new: "return retried",
	},
	{
		file: execute + "execute.go", why: "a client disconnect cancels the call",
		old: "	ctx = context.WithoutCancel(ctx)\n	waitEnds", new: "	waitEnds",
	},
	{
		file: execute + "execute.go", why: "a call goes on without a lock when too many wait",
		old: "case !errors.Is(err, lock.ErrUnavailable):", new: "case errors.Is(err, lock.ErrTimeout):",
	},
	{
		file: execute + "execute.go", why: "a failed save is not sent again",
		old: "if err == nil || !again(err) {\n			return response, err", new: "if true {\n			return response, err",
	},
	{
		file: execute + "asking.go", why: "a retry is saved as a first call",
		old: "		RetryOf:        at.RetryOf,\n", new: "",
	},
	{
		file: execute + "asking.go", why: "a model call that may have happened answers 503 instead of a failed result",
		old: "case errors.Is(err, contract.ErrUnavailable):\n		return contract.Outcome{}, apierr.Unavailable()",
		new: "case !errors.Is(err, nil):\n		return contract.Outcome{}, apierr.Unavailable()",
	},
	{
		file: execute + "execute.go", why: "a call that lost a race counts as a result of the day",
		old: "	if lostRace(err) || deleted(err) {\n		giveBack()\n	}\n", new: "	_ = giveBack\n",
	},

	{
		file: admit + "admission.go", why: "requests with a revoked key count for its account",
		old: "			a.deps.Accounts.Forget(key)\n", new: "			_ = key\n",
	},
	{
		file: admit + "unknown.go", why: "unknown keys that come at once are all looked up",
		old: "count.unknown+count.looking < unknownPerSecond", new: "count.unknown < unknownPerSecond",
	},
	{
		file: quota + "memory/memory.go", why: "one request too many is in flight",
		old: "counts.inFlight >= l.Concurrency", new: "counts.inFlight > l.Concurrency",
	},
	{
		file: quota + "redis/scripts.go", why: "a renewal brings back a request whose lease has ended",
		old: "KEYS[1], 'XX', string", new: "KEYS[1], string",
	},
	{
		file: quota + "redis/scripts.go", why: "a clock that was set back refuses every request until it is past its old time",
		old: "		keep() -- of a clock that was set back\n", new: "",
	},

	{
		file: results + "factsql.go", tests: postgres, why: "an idempotency key finds the result of another account",
		old: "r.account_id = k.account_id\n	AND r.idempotency_key = CASE", new: "r.idempotency_key = CASE",
	},
	{
		file: results + "factsql.go", tests: postgres, why: "an account reads the result of another account",
		old: "LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2", new: "LEFT JOIN results r ON r.id = $2",
	},
	{
		file: sqldb + "caller.go", tests: postgres, why: "a revoked key reads results",
		old: "WHERE k.digest = $1 AND k.revoked_at IS NULL", new: "WHERE k.digest = $1",
	},
	{
		file: postgres + "lookups.go", why: "look-ups that share a statement find each other's rows",
		old: "ORDER BY sent.position", new: "ORDER BY sent.position DESC",
	},
	{
		file: postgres + "lookups.go", why: "Postgres plans the look-ups of each round trip anew",
		old: `"(SELECT %s::%s[])"`, new: `"%s::%s[]"`,
	},
	{
		file: postgres + "batch.go", why: "saves of two processes wait for each other",
		old: "	slices.SortStableFunc(batch, (*call).order)\n", new: "",
	},
	{
		file: postgres + "results.go", why: "a result is retried twice",
		old: " AND old.retried_by IS NULL", new: "",
	},
	{
		file: postgres + "results.go", why: "a result that is ok is retried",
		old: " AND o.status = 'failed'", new: "",
	},

	{
		file: results + "factsql.go", tests: sqlite, why: "an idempotency key finds the result of another account",
		old: "r.account_id = k.account_id\n	AND r.idempotency_key = CASE", new: "r.idempotency_key = CASE",
	},
	{
		file: sqlite + "results.go", why: "a result that is ok is retried",
		old: "version = $4 AND status = 'failed'", new: "version = $4",
	},
	{
		file: sqlite + "sqlite.go", why: "a transaction with an error is committed",
		old: `execute(conn, "ROLLBACK")`, new: `execute(conn, "COMMIT")`,
	},
	{
		file: sqlite + "results.go", why: "a key that is taken looks like a version that does not exist",
		old: "if held {", new: "if !held {",
	},
	{
		file: sqldb + "list.go", tests: sqlite, why: "a listing includes the end of its time range",
		old: `l.Add(" AND r.created_at < "`, new: `l.Add(" AND r.created_at <= "`,
	},

	{
		file: format + "separated.go", why: "a csv cell with a CR is not quoted",
		old: `",\"\r\n"`, new: `",\"\n"`,
	},
	{
		file: format + "separated.go", why: "quotes in a csv cell are not doubled",
		old: `b = append(b, '"', '"')`, new: `b = append(b, '"')`,
	},
	{
		file: format + "separated.go", why: "CRLF in a tsv cell becomes two spaces",
		old: `if strings.HasPrefix(text[i:], "\r\n") {`, new: "if false {",
	},
	{
		file: format + "separated.go", why: "csv shows keys instead of labels",
		old: "s.Text(b, c.Label)", new: "s.Text(b, c.Key)",
	},
	{
		file: format + "format.go", why: "raw returns damaged answers",
		old: "if stored, err = e.parser.Parse(r.Result.Answers); err != nil {", new: "if stored, err = e.parser.Parse(r.Result.Answers); false {",
	},
	{
		file: format + "format.go", why: "a field that an old version did not have shows another field's value",
		old: "if i < len(r.Fields) && r.Fields[i].Key == key {", new: "if i < len(r.Fields) {",
	},

	{
		file: wire + "tokens.go", why: "a wrong token is accepted",
		old: "return ok && equal == 1", new: "return ok && equal >= 0",
	},
	{
		file: wire + "results.go", why: "a save whose response was lost counts as not done",
		old: "return r.call(ctx, pathSave, &s)", new: "return r.lookUp(ctx, pathSave, &s)",
	},
	{
		file: wire + "client.go", why: "a request that may have arrived is sent again",
		old: "return false, errors.As(err, &n)", new: "return false, errors.As(err, &n) || true",
	},
	{
		file: wire + "client.go", why: "a 503 of a method is taken for that of a stopping server",
		old: "return closes && (status", new: "return (status",
	},
	{
		file: wire + "wire.go", why: "a fault of the other service counts as not done",
		old: "if status >= 400 && status < 500 && status != statusFailure {", new: "if status >= 400 && status != statusFailure {",
	},
	{
		file: wire + "wire.go", why: "the id of the result that a retry lost to is not sent",
		old: "f.RetriedBy = &retried.By", new: "f.KeyTaken = true",
	},

	{
		file: fileRuns + "rowsaving.go", tests: sqlite, why: "a row that was saved is saved again",
		old: "		if c.States[at] != RowPendingState {\n			continue // saved before\n		}\n		letter", new: "		letter",
	},
	{
		file: fileRuns + "rowsaving.go", tests: sqlite, why: "a row is saved under an id of another attempt",
		old: "saved.Run, row.Row, c.Attempt) {", new: "saved.Run, row.Row, c.Attempt) && false {",
	},
	{
		file: fileRuns + "leasing.go", tests: sqlite, why: "a lease may ask the model for more rows at once than the run has left",
		old: "		free -= o.granted\n", new: "		free -= o.granted * 0\n",
	},
	{
		file: fileRuns + "leasing.go", tests: sqlite, why: "two workers share a run with a limit of rows a second",
		old: "l.RowsPerSecond > 0 && !first {", new: "l.RowsPerSecond > 0 && false {",
	},
	{
		file: fileRuns + "leasing.go", tests: sqlite, why: "an account with many leased rows is served before one with few",
		old: "ORDER BY r.of_account, r.leased_at, r.id", new: "ORDER BY r.leased_at, r.id",
	},
	{
		file: runs + "pace.go", why: "a model that is overloaded is asked as before",
		old: "m.limit = max(1, min(m.limit, float64(m.running))/2)", new: "m.limit = max(1, m.limit)",
	},
	{
		file: runs + "pace.go", why: "behind an overload the rows at once grow as fast as at first",
		old: "m.limit += 1 / m.limit", new: "m.limit++",
	},
	{
		file: runs + "pace.go", why: "a row that gives up its place keeps it",
		old: "	p.give(t.places)\n", new: "",
	},

	{
		file: tabular + "chunker.go", why: "a chunk is larger than a lease may be",
		old: "c.chunk.Rows > 0 && offset+bytes-c.chunk.Offset > contract.ChunkBytes", new: "false",
	},
	{
		file: files + "sql.go", tests: sqlite, why: "a part is stored in a file that is complete",
		old: "AND id = $2 AND status = 'uploading'\nON CONFLICT", new: "AND id = $2\nON CONFLICT",
	},
	{
		file: files + "sql.go", tests: sqlite, why: "a file that a run needs expires",
		old: "f.expires_at <= $1 AND NOT ` + usedBy + `", new: "f.expires_at <= $1 AND (true OR ` + usedBy + `)",
	},

	{
		file: fileRuns + "retrysql.go", tests: sqlite, why: "results that were retried are retried again",
		old: `l.Write(" AND r.retried_by IS NULL")`, new: `l.Write("")`,
	},
	{
		file: fileRuns + "retrysql.go", tests: sqlite, why: "another number of results is retried than was asked for",
		old: "if matches != expected {", new: "if matches < expected {",
	},
	{
		file: fileRuns + "retryleasing.go", tests: sqlite, why: "a result that was retried by itself meanwhile is retried again",
		old: "r.status = 'failed' AND r.retried_by IS NULL AND r.id IN", new: "r.status = 'failed' AND r.id IN",
	},

	{
		file: members + "sessions.go", tests: sqlite, why: "a session that is used never ends",
		old: "f.ExpiresAt = earlierOf(now.Add(SessionIdleTime), f.EndsAt)",
		new: "f.ExpiresAt = now.Add(SessionIdleTime)",
	},
	{
		file: members + "sessions.go", tests: sqlite, why: "a session makes keys of the first account whichever it asks for",
		old: "if k.Account.IsZero() || a.ID == k.Account {", new: "if k.Account.IsZero() || !a.ID.IsZero() {",
	},
	{
		file: members + "sessions.go", tests: sqlite, why: "a session that was not used for too long goes on",
		old: "WHERE s.digest = $1 AND s.expires_at > $2\nORDER BY", new: "WHERE s.digest = $1 AND $2 = $2\nORDER BY",
	},
	{
		file: members + "sql.go", tests: sqlite, why: "an owner who never signed in is enough for the last one to go",
		old: "role = 'owner' AND signed_in_by IS NOT NULL", new: "role = 'owner'",
	},

	{
		file: quality + "counting.go", tests: service, why: "labels of uncertain results count",
		old: "l.Sample == prism.UncertainSample:\n		return false", new: "l.Sample == prism.UncertainSample:\n		return true",
	},
	{
		file: quality + "counting.go", tests: service, why: "labels without a sample count though not every result has one",
		old: "	return c.complete\n", new: "	return true\n",
	},
	{
		file: search + "prisms.go", tests: sqlite, why: "a search of all finds the results of a prism that is left out",
		old: "q.filter.unsearchable[p.id] = true", new: "q.filter.unsearchable[p.id] = false",
	},
	{
		file: quality + "sql.go", tests: sqlite, why: "a calibration of one question is pinned to another",
		old: "errors.Is(err, store.ErrNotFound), err == nil && c.Target != change.Target:", new: "errors.Is(err, store.ErrNotFound):",
	},
	{
		file: lens + "apply.go", why: "a calibrated column without a pin shows what is stored",
		old: `c.calibrations == nil && reason == ""`, new: `c.calibrations == nil && reason == prism.NoQuestion`,
	},
	{
		file: "pkg/calibration/drift.go", why: "the limit of an alarm forgets how few values the reference has",
		old: "(1/float64(n)+1/float64(m))*chiSquareQuantile", new: "(1/float64(n))*chiSquareQuantile",
	},
	{
		file: "pkg/prism/prism.go", tests: ask, why: "an answer that is exactly as certain as it must be is doubtful",
		old: "a.Certainty() < e.Below &&", new: "a.Certainty() <= e.Below &&",
	},
	{
		file: "pkg/prism/tags.go", why: "an option that is exactly as probable as it must be is not right",
		old: "		if p.Probability >= at {", new: "		if p.Probability > at {",
	},
	{
		file: "pkg/prism/tags.go", why: "only options that are right make an answer doubtful",
		old: "max(p.Probability, 1-p.Probability))", new: "max(p.Probability, 0.5))",
	},
	{
		file: ask + "tally.go", why: "the answers of a second model that failed are the result",
		old: "		if last.OK() {\n			other,", new: "		if last.OK() || last.Code != \"\" {\n			other,",
	},
}
