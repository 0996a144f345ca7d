package durable

import (
	"errors"
	"strings"
	"time"
)

// Status is the state of an instance, by the platform's numbers (spec durable 5.2).
type Status int

// The states.
const (
	Running Status = iota
	Completed
	ContinuedAsNew
	Failed
	Canceled
	Terminated
	Pending
	Suspended
)

var statusNames = [...]string{"Running", "Completed", "ContinuedAsNew", "Failed", "Canceled", "Terminated", "Pending", "Suspended"} // read only

// String is the platform's name of the state.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return "Unknown"
	}
	return statusNames[s]
}

// Finished reports whether nothing more comes of an instance in this state.
func (s Status) Finished() bool { return s == Completed || s == Failed || s == Terminated }

// ParseStatus finds a state by its name without case.
func ParseStatus(name string) (Status, bool) {
	for i, known := range statusNames {
		if strings.EqualFold(name, known) {
			return Status(i), true
		}
	}
	return 0, false
}

// Instance is how an instance stands. It is a copy.
type Instance struct {
	ID, Name, Version, Execution, Parent string
	Status                               Status
	Input, Output, CustomStatus          *string // JSON texts; the output of a failure is its text
	Failure                              *Failure
	Created, Updated                     time.Time
	History                              []Event // when it was asked for
	Open                                 []Open  // what it waits for
	Findings                             []Finding
	Turns, Events                        int
	Tags                                 map[string]string
	Due                                  time.Time // of a start that waits
}

// Open is one thing that an instance waits for.
type Open struct {
	Number int       // -1 for an event
	What   string    // activity, child, timer, event, call
	Name   string    // of the function or event; the child's id
	Due    time.Time // of timers
}

// Finding is a fault of the platform or of the app that an instance has met (spec
// durable 12.5).
type Finding struct{ Name, Message string }

// Read says what of an instance is wanted.
type Read struct{ History bool }

// Start is the start of an instance.
type Start struct {
	Name, ID, Version string
	Input             *string   // JSON text
	Due               time.Time // not before; zero: now
	Tags              map[string]string
	By                string // client, http, binding, cli: for the journal
}

// Query asks for instances. Empty members do not limit.
type Query struct {
	From, To time.Time // created in [From, To]
	Statuses []Status
	Prefix   string // of the id
	Name     string
	Top      int    // 0: 100
	Token    string // of an earlier page
	Entities bool   // instances of entities too
}

// Control is a command to an instance.
type Control struct {
	Command Command
	Reason  string
	By      string
}

// Command is one of the commands.
type Command string

// The commands.
const (
	Terminate Command = "terminate"
	Suspend   Command = "suspend"
	Resume    Command = "resume"
	Rewind    Command = "rewind"
)

// EntityID identifies an entity. The name is in lower case.
type EntityID struct{ Name, Key string }

// String is the id of the entity's instance.
func (e EntityID) String() string { return "@" + strings.ToLower(e.Name) + "@" + e.Key }

// ParseEntityID reads what String writes.
func ParseEntityID(id string) (e EntityID, ok bool) {
	rest, found := strings.CutPrefix(id, "@")
	if !found {
		return e, false
	}
	name, key, ok := strings.Cut(rest, "@")
	return EntityID{strings.ToLower(name), key}, ok && name != ""
}

// Entity is how an entity stands.
type Entity struct {
	ID       EntityID
	State    *string // JSON text; nil when it was not asked for
	Modified time.Time
	Queue    int    // operations that wait
	LockedBy string // the instance that has locked it
}

// EntityQuery asks for entities.
type EntityQuery struct {
	Name     string
	Prefix   string    // of the id
	From, To time.Time // of the last operation
	State    bool      // with state
	Top      int       // 0: 100
	Token    string
}

// Code is why a hub refuses.
type Code string

// The codes.
const (
	CodeNotFound   Code = "NotFound"
	CodeInUse      Code = "InUse"      // the id has an instance that is not finished
	CodeFinished   Code = "Finished"   // nothing more comes of the instance
	CodeWrongState Code = "WrongState" // the command does not fit the state
	CodeBadID      Code = "BadID"
	CodeUnknown    Code = "Unknown" // no function of that name
)

// Error is a refusal, with the platform's text. Status is the state of the instance.
type Error struct {
	Code   Code
	Status Status
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return e.Text }

// Is reports whether err is a refusal with that code.
func Is(err error, code Code) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == code
}
