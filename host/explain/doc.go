// Package explain tells the life of a message across the layers of retry: each delivery
// and each attempt, which layer decided what followed, the wait and its formula, why it
// ended, and what comes next and when. Whoever tells anything of a message reads it here.
//
// A [Teller] is fed the records of a journal in their order, and keeps a [Course] of each
// life: the facts. Which record is of which life is decided by the [Identity] of its message:
// every function that receives a message has a life of it, which begins with what the service
// told before; a request, a tick and a call by hand have one, and so has each message of a
// batch, with a delivery count and an end of its own. Change feeds and what else comes without
// identities has one for each delivery. A life that goes on under another number, from the
// dead letters or out of a blob is the same one; a copy in a poison queue is another that
// knows its origin. A host that has started again begins new names of deliveries.
//
// A Teller yields what has changed since it was asked last ([Teller.Changes]): the head of each
// changed life, and of its deliveries, attempts, marks and lines those that are new. The page
// is served them and puts them together; what was told is kept no longer, so that a life costs
// one to three kB however long it gets, and a Teller has room for so many records and lives
// and lets the oldest lives go, those that are over first. A record costs a lookup or two. Printer
// and traces read the lives of a record as it comes ([Teller.Add]).
//
// Words are only found for those who ask: [Explain] sorts the records as a Teller does, and
// lets a story tell each wanted life from the same facts. What comes next is the last thing
// that was said of it: a wait of the policy, the schedule of its service or its lock. Policies
// and expected deliveries are those of the report of app.Check.
//
// Read [Explain] and [Life], or teller.go and course.go.
package explain
