package mover

// Tables are those that a move takes along.
func Tables() (names []string) {
	for _, w := range ways {
		names = append(names, w.table)
	}
	return names
}

// Stay are those that a move leaves.
func Stay() []string { return stay }

// ReplicatedTables are those that come by replication.
func ReplicatedTables() (names []string) {
	for _, w := range ways {
		if w.way == Replicated {
			names = append(names, w.table)
		}
	}
	return names
}

// ConnInfo is how another server connects to a database.
func ConnInfo(db Database) (string, error) { return db.connInfo() }
