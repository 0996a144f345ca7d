// Package locks holds the things that hosts with the same ID share: the locks and the
// status of timers in a container of its storage account, and the choice of the primary one.
package locks

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// Locks are the locks of one host for one loaded app. All methods may be called
// concurrently.
type Locks struct {
	Clock       clock.Clock
	Log         zerolog.Logger
	App         *app.App
	Embedded    *services.Embedded
	Connections *services.Connections
	Instance    string       // of the host, in its locks
	Shared      bool         // other hosts reach the embedded services in this process
	Stored      bool         // the embedded services outlive the process
	Life        *epoch.Epoch // ends when the host is killed
	Epoch       func() *epoch.Epoch
}

// Container is the container of the host's own account in which it keeps locks and the
// status of timers.
func (l *Locks) Container() (blob.Container, error) {
	blobs, err := l.Blobs()
	if err != nil {
		return nil, err
	}
	blobs, _ = l.Embedded.BlobsIn(l.Life, blobs)
	return blobs.Container(hostlock.Container), nil
}

// Blobs are the blobs of the host's own account.
func (l *Locks) Blobs() (blob.Account, error) {
	conn, ok := l.App.Settings.Connection("Storage")
	if !ok {
		return nil, appsettings.MissingConnection("Storage")
	}
	return l.Connections.Blobs(conn)
}

// Shares reports whether another host can reach the account in which this one
// keeps its locks. No other host can where the account lives in this process
// and is not served: then no lock is needed, and months of virtual time need
// not pass through a renewal every few seconds.
func (l *Locks) Shares() bool {
	conn, ok := l.App.Settings.Connection("Storage")
	if !ok {
		return false
	}
	ours, served := l.Connections.Ours(conn)
	return l.Shared || !ours || served
}

// Reclaims reports whether the locks that bear this host's name are of its former
// life: where the account is its own and was kept, and it was killed; or where they
// came with a state that was loaded.
func (l *Locks) Reclaims() bool {
	conn, _ := l.App.Settings.Connection("Storage")
	ours, _ := l.Connections.Ours(conn)
	return ours && (l.Stored || l.Epoch().Number > 0)
}

// New returns a lock that this host shares with the hosts that have its ID. Its
// changes go to the log and to opts.Notify.
func (l *Locks) New(in blob.Container, name string, opts *hostlock.Options) *hostlock.Lock {
	opts.Owner, opts.Reclaim = l.Instance, l.Reclaims()
	also := opts.Notify
	opts.Notify = func(e hostlock.Event, err error) {
		if also != nil {
			also(e, err)
		}
		l.Log.Debug().Str("component", "locks").Str("lock", name).Err(err).Msg(string(e))
	}
	return hostlock.New(l.Clock, in, name, opts)
}

// Listener returns, from host.json's singleton section, how long the lock of a
// listener outlives a host that dies, in the whole seconds of a lease, and how often
// a host looks whether a lock that another has is free (sdk: SingletonListener.cs).
func (l *Locks) Listener() (lease, retry time.Duration) {
	conf := l.App.Config.Singleton
	return conf.ListenerLockPeriod.Truncate(time.Second), conf.ListenerLockRecoveryPollingInterval
}
