package rest

import (
	"context"
	"iter"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Service is one storage service: what its addresses name, its operations, and what of
// accounts, signatures and failures is its own. Everything else of a request is common.
type Service struct {
	Name     string // "queue": also in host names and in signatures
	Letter   byte   // in the ss field of account signatures
	Endpoint string // in connection strings, "QueueEndpoint"

	// Port is where the options want it; negative: nowhere. Serves reports whether an
	// account has it; with Optional it may be that none has.
	Port     func(o *Options) int
	Serves   func(a *Account) bool
	Optional bool

	// Route finds the operation that a call asks for and checks names.
	Route func(c *Call) (*Operation, *Error)

	// Properties returns the service's settings, for CORS.
	Properties func(ctx context.Context, a *Stored) (storage.ServiceProperties, error)

	// ServiceSAS returns the string that a service signature signs, and Policy
	// the stored access policy it may name. Called where there is a resource.
	// SASKind refuses a kind of resource that does not go with the address;
	// nil if there is one kind only.
	ServiceSAS func(c *Call) string
	SASKind    func(c *Call) *Error
	Policy     func(ctx context.Context, c *Call, id string) (*storage.AccessPolicy, error)

	// KeyTexts yields the strings that a signature with the account's key may sign, the
	// documented one first; nil where they are those of queues and blobs.
	KeyTexts func(c *Call, scheme string) iter.Seq[string]

	// Failure is the answer for an error, and Document its body; nil: as Failures and what
	// all services have in common say, and XML.
	Failure  func(c *Call, err error) *Error
	Document func(c *Call, e *Error) (contentType string, body []byte)

	// Failures are the service's own words for errors of package bindings; they go before
	// those that all services have in common. May be nil.
	Failures []Failure
}

// Operation is one row of a service's table. Letters give the rights that a
// signature must have; any one of them is enough. Without letters such a signature
// is never good for this operation.
type Operation struct {
	Name       string
	Write      bool   // not on the secondary
	Resource   string // srt: s, c, o
	byToken    bool   // by a bearer token only
	AccountSAS string // sp of an account signature
	ServiceSAS string // sp of a service signature

	// public is the level of public access from which on everybody may do this;
	// empty: nobody.
	public blob.PublicAccess

	Run func(c *Call) error
}

func (op *Operation) label() string {
	if op == nil {
		return "request"
	}
	return op.Name
}
