package service

// NeededRoles are the operations that the test of roles has rows for.
var NeededRoles = neededRoles
