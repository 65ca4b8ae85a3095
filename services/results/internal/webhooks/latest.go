package webhooks

// latest joins the numbers of the last events of the account of a webhook w, and isBehind compares them with its place.
const (
	latest = `LEFT JOIN change_counts c ON c.account_id = w.account_id
LEFT JOIN event_counts e ON e.account_id = w.account_id`
	isBehind = `(c.seq > w.change OR e.seq > w.other)`
)
