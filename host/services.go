package host

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator"
)

// Services are the backends of triggers and bindings: the embedded ones, or
// the cloud's (bindings/azure).
type Services interface {
	// Queues returns the queue account of a connection. The same connection
	// gives the same account. It does no I/O.
	Queues(conn app.Connection) (bindings.QueueAccount, error)

	// Blobs returns the blob account of a connection, as Queues does.
	Blobs(conn app.Connection) (bindings.BlobAccount, error)
}

// embedded serves connections that mean the embedded storage account.
type embedded struct{ storage *emulator.Storage }

func (e embedded) Queues(conn app.Connection) (bindings.QueueAccount, error) {
	if !isEmbedded(conn) {
		return nil, fmt.Errorf("connection %q names an account outside; this version serves the embedded one: use UseDevelopmentStorage=true", conn.Setting)
	}
	return e.storage, nil
}

func (e embedded) Blobs(conn app.Connection) (bindings.BlobAccount, error) {
	if _, err := e.Queues(conn); err != nil {
		return nil, err
	}
	return e.storage, nil
}

// isEmbedded reports whether a connection string means the embedded account:
// the short form for development storage, or the emulator's well-known account
// on loopback.
func isEmbedded(conn app.Connection) bool {
	development, account := false, false
	for part := range strings.SplitSeq(conn.Value, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(key) {
		case "usedevelopmentstorage":
			development = strings.EqualFold(value, "true")
		case "accountname":
			account = value == "devstoreaccount1"
		}
	}
	return development || account
}
