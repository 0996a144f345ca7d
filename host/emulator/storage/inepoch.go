package storage

import (
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/epoch"
)

// InEpoch is an account for a caller that began in an epoch: its handles on queues,
// containers, blobs and tables end with the epoch.
type InEpoch struct {
	*Storage
	epoch *epoch.Epoch
}

var (
	_ queueapi.Account   = InEpoch{}
	_ queueapi.Waker     = InEpoch{}
	_ queueapi.Foresight = InEpoch{}
	_ blobapi.Account    = InEpoch{}
	_ blobapi.Waker      = InEpoch{}
	_ tableapi.Account   = InEpoch{}
)

// In returns the account for a caller that began in that epoch.
func (s *Storage) In(e *epoch.Epoch) InEpoch { return InEpoch{s, e} }

// Queue implements queue.Account.
func (a InEpoch) Queue(name string) queueapi.Queue { return a.QueueIn(a.epoch, name) }

// Container implements blob.Account.
func (a InEpoch) Container(name string) blobapi.Container { return a.ContainerIn(a.epoch, name) }

// Table implements table.Account.
func (a InEpoch) Table(name string) tableapi.Table { return a.TableIn(a.epoch, name) }
