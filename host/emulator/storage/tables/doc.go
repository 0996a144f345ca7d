// Package tables is the Table service of an embedded storage account. [Service] is the
// tables of one account; the contract that they meet is table.Table, that of their account
// table.Account and table.Admin.
//
// Read state.go first, the rules of one table without faults or a store; then service.go,
// which puts these around them. A query is a filter (parse.go makes it, filter.go asks it)
// and the parts of a table in which its answers can lie (plan.go). durable.go says what is
// written, load.go reads it.
//
// Rules: spec tables 2 to 5.
package tables
