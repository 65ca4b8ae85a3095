package sqldb

// StaysHere follows a column of accounts in a condition: work beside the calls leaves out the accounts that have moved to another database,
// whose rows here are still to be deleted (spec: account-moves-work).
const StaysHere = ` NOT IN (SELECT m.account_id FROM moved_accounts m)`
