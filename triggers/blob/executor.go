package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// Names in the host's account (spec storage 8; source: HostContainerNames.cs,
// HostDirectoryNames.cs, Shared/Queues/HostQueueNames.cs).
const (
	HostContainer = "azure-webjobs-hosts"
	PoisonQueue   = "webjobs-blobtrigger-poison" // in the data account

	receiptsFolder     = "blobreceipts"
	controlQueuePrefix = "azure-webjobs-blobtrigger-"

	receiptLease = 30 * time.Second
	incomplete   = "Incomplete" // metadata of a receipt whose version is not queued yet
)

// LockName names the blob in HostContainer whose lease decides which host scans: one
// host of those with the same ID.
//
// Source: BlobListenerFactory.cs, for the scope; BlobLeaseDistributedLockManager.cs.
func LockName(hostID string) string {
	return hostlock.ListenerName(hostID, "WebJobs.Internal.Blobs")
}

// ControlQueue is the name of a host's control queue.
func ControlQueue(hostID string) string { return controlQueuePrefix + hostID }

// ReceiptName is the name of the receipt for one version of a blob: a blob of
// HostContainer in the host's account. The ETag keeps its quotes. Where the blob's
// own name leaves no room for the rest, a digest takes its place: the platform
// has no receipt for such a blob, and stops at it.
func ReceiptName(hostID, functionID, etag, container, name string) string {
	folder := fmt.Sprintf("%s/%s/%s/%s/%s/", receiptsFolder, hostID, functionID, etag, container)
	if blob.ValidateName(folder+name) != nil {
		return fmt.Sprintf("%ssha256-%x", folder, sha256.Sum256([]byte(name)))
	}
	return folder + name
}

// executor queues versions of blobs for functions, each once, however many
// hosts see it.
//
// Source: BlobTriggerExecutor.cs, BlobReceiptManager.cs.
type executor struct {
	hostID string
	hosts  blob.Container // HostContainer
	queue  queue.Queue    // the control queue
	queued func()         // tells who reads it
}

// execute takes the steps of spec storage 9.2 for one blob and one function. Again
// asks for the next pass: another host is at work on the same version, and may
// not finish it.
func (e *executor) execute(ctx context.Context, f *Function, container, name string) (again bool, err error) {
	if _, ok := f.Pattern.Match(container, name); !ok {
		return false, nil
	}
	properties, err := f.Account.Blobs.Container(container).Blob(name).Properties(ctx, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	receipt := e.hosts.Blob(ReceiptName(e.hostID, f.ID, properties.ETag, container, name))
	switch state, err := stateOf(ctx, receipt); {
	case err != nil:
		return false, err
	case state == receiptComplete:
		return false, nil
	case state == noReceipt:
		if again, err := e.create(ctx, receipt); again || err != nil {
			return again, err
		}
	}
	return e.claim(ctx, f, receipt, &controlMessage{
		Type: controlType, FunctionID: f.ID, BlobType: string(properties.Type),
		ContainerName: container, BlobName: name, ETag: properties.ETag,
	})
}

// create writes a receipt that is not complete.
func (e *executor) create(ctx context.Context, receipt blob.Blob) (again bool, err error) {
	for range 2 {
		_, err = receipt.Put(ctx, bytes.NewReader(nil), &blob.PutOptions{
			Type:       blob.BlockBlob,
			Metadata:   map[string]string{incomplete: incomplete},
			Conditions: &blob.Conditions{IfNoneMatch: "*"},
		})
		if !errors.Is(err, storage.ErrContainerNotFound) {
			break
		}
		if _, err := e.hosts.Create(ctx, nil); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return false, err
		}
	}
	switch storage.CodeOf(err) {
	case storage.CodeBlobAlreadyExists, storage.CodeLeaseIDMissing:
		return true, nil
	}
	return false, err
}

// claim queues a version under the lease of its receipt.
func (e *executor) claim(ctx context.Context, f *Function, receipt blob.Blob, m *controlMessage) (again bool, err error) {
	lease, err := receipt.AcquireLease(ctx, receiptLease, "", nil)
	if errors.Is(err, storage.ErrLeaseHeld) || errors.Is(err, bindings.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	// The lease would end by itself: that it cannot be released changes nothing.
	defer func() { _, _ = receipt.ReleaseLease(ctx, lease.ID, nil) }()
	state, err := stateOf(ctx, receipt)
	if err != nil || state == receiptComplete {
		return false, err
	}
	if _, err := queue.PutOrCreate(ctx, e.queue, queue.Base64.Encode(m.encode()), nil); err != nil {
		return false, fmt.Errorf("queue blob %s/%s for %s: %w", m.ContainerName, m.BlobName, f.ID, err)
	}
	e.queued()
	_, err = receipt.SetMetadata(ctx, nil, &blob.Conditions{LeaseID: lease.ID})
	return false, err
}

// receiptState says how far a version has come.
type receiptState int

const (
	noReceipt receiptState = iota
	receiptIncomplete
	receiptComplete
)

func stateOf(ctx context.Context, receipt blob.Blob) (receiptState, error) {
	p, err := receipt.Properties(ctx, nil)
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return noReceipt, nil
	case err != nil:
		return noReceipt, err
	}
	for name := range p.Metadata {
		if strings.EqualFold(name, incomplete) {
			return receiptIncomplete, nil
		}
	}
	return receiptComplete, nil
}
