// Package explain tells the life of a message across the layers of retry: each delivery
// and each attempt, which layer decided what followed, the wait and its formula, why it
// ended, and what comes next and when.
//
// It reads the journal and the report of app.Check, and computes nothing that they do not
// say. Its users are "redeliver explain", the control API and the failures of scenarios.
//
// Read [Explain] and [Life].
package explain
