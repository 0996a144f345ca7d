package blobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/ordered"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Service is the blob service of an account: one state under one mutex, whose
// rules are told the time. See state.go for the state and its changes.
//
// Reference: Blob Service REST API.
type Service struct {
	clk    clock.Clock
	opts   *account.Options
	bodies bodyStore
	hashes bodyHashes

	mu      sync.Mutex
	state   *keep.State[blobsState]
	kept    *keep.Keeper
	writing *keep.Change // of the operation that changes the state

	seed       uint64 // of identifiers, in this state
	account    accountRecord
	containers map[string]*containerState
	names      ordered.Set[string] // the keys of containers
	tags       tagIndex
	wakers     map[string][]*blobWaker
	listeners  []*blobListener
	made       []func() // on new containers

	// Follow from the records.
	contents map[uint64]*content
	bodyRefs map[bodyID]int
}

var (
	_ account.Service = (*Service)(nil)
	_ blobapi.Account = (*Service)(nil)
	_ blobapi.Waker   = (*Service)(nil)
)

// New returns a service without containers that takes its time from clk. The options
// belong to it.
func New(clk clock.Clock, opts *account.Options) *Service {
	if opts == nil {
		opts = &account.Options{}
	}
	s := &Service{clk: clk, opts: opts, seed: opts.Seed, bodies: newMemoryBodies(), wakers: map[string][]*blobWaker{}}
	s.state, s.kept = keep.New(clk, &s.mu, s.kind())
	s.clear()
	return s
}

func (s *Service) clear() {
	s.account = accountRecord{}
	s.containers = map[string]*containerState{}
	s.names = ordered.New(strings.Compare)
	s.tags = tagIndex{}
	s.contents = map[uint64]*content{}
	s.bodyRefs = map[bodyID]int{}
}

// blobTx is an operation at work: what it sees, and the changes it has worked
// out. It holds the mutex.
type blobTx struct {
	*Service
	now       time.Time
	container *containerState // nil: of no container, or of one to be made
	account   accountRecord   // with the counters as this operation leaves them
	changes   []blobChange
	changed   string // name of a blob that has a new ETag
}

// operate runs f between the fault points, on the container of that name; on
// none if the name is empty. The result of f is applied if it returns no
// error. A missing container is an error unless optional is set.
func (s *Service) operate(ctx context.Context, p account.FaultPoint, optional bool, f func(tx *blobTx) error) error {
	if p.Container != "" {
		if err := blobapi.ValidateContainerName(p.Container); err != nil {
			return err
		}
	}
	return s.kept.Operate(ctx, false, s.opts.Points(p), func() error {
		changed, event, commit, err := s.locked(p, optional, f)
		if waitErr := s.kept.Wait(ctx, commit); err == nil {
			err = waitErr
		}
		if err != nil {
			return err
		}
		if changed != "" {
			s.wake(p.Container, changed)
		}
		s.raise(event)
		return nil
	})
}

func (s *Service) locked(p account.FaultPoint, optional bool, f func(tx *blobTx) error) (changed string, event *Event, commit keep.Awaited, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kept.Ready(); err != nil {
		return "", nil, commit, err
	}
	tx := &blobTx{Service: s, now: s.clk.Now().UTC().Round(0), account: s.account, container: s.containers[p.Container]}
	if tx.container == nil && p.Container != "" && !optional {
		return "", nil, commit, blobError(storage.CodeContainerNotFound, "container %q does not exist", p.Container)
	}
	if err := f(tx); err != nil {
		return "", nil, s.kept.Pending(), err
	}
	if len(tx.changes) == 0 {
		return "", nil, s.kept.Pending(), nil
	}
	before := tx.subjectLocked(p)
	commit, err = s.writeLocked(append(tx.changes, setAccount{tx.account, tx.account.Properties != s.account.Properties}))
	if err == nil {
		event = tx.eventLocked(p, before)
	}
	return tx.changed, event, commit, err
}

func (tx *blobTx) change(c ...blobChange) { tx.changes = append(tx.changes, c...) }

// newVersion returns the version of something written now. ETags look like the
// platform's, the time in ticks of 100 ns since the year 1, and grow with every
// write of the account.
func (tx *blobTx) newVersion() version {
	const ticksToUnix = 621_355_968_000_000_000
	ticks := uint64(ticksToUnix + tx.now.Unix()*1e7 + int64(tx.now.Nanosecond()/100))
	tx.account.LastETag = max(tx.account.LastETag+1, ticks)
	return version{ETag: fmt.Sprintf(`"0x%X"`, tx.account.LastETag), Modified: tx.now.Truncate(time.Second)}
}

// newGUID returns an identifier of a lease or a copy.
func (tx *blobTx) newGUID() string {
	const blobSeed = 0xb10b // apart from the identifiers of queues
	made := seeded.Series{Seed: tx.seed ^ blobSeed, N: tx.account.IDs}
	id := made.GUID().String()
	tx.account.IDs = made.N
	return id
}

// take takes a staged body over. Nothing may fail afterwards but the writing.
func (tx *blobTx) take(staged *StagedBody) (segment, error) {
	id, err := tx.bodies.take(staged.id, tx.kept.Opening())
	if err != nil {
		return segment{}, err
	}
	staged.taken = true
	return segment{Body: id, Size: staged.size}, nil
}

// newContent returns the number of a content of these segments, 0 if there are
// none.
func (tx *blobTx) newContent(segments []segment) uint64 {
	if len(segments) == 0 {
		return 0
	}
	tx.account.LastBody++
	tx.change(putContent{contentRecord{ID: tx.account.LastBody, Segments: segments}})
	return tx.account.LastBody
}

// checkMetadata holds metadata to the service's rules: names are identifiers,
// different in more than case; values are printable ASCII; 8 KiB in all.
//
// Source: docs, "Setting and retrieving properties and metadata for Blob
// service resources".
func checkMetadata(metadata map[string]string) error {
	const most = 8 << 10
	size := 0
	folded := make(map[string]bool, len(metadata))
	for name, value := range metadata {
		size += len(name) + len(value)
		if name == "" {
			return blobError(storage.CodeEmptyMetadataKey, "")
		}
		for i := range len(name) {
			switch c := name[i]; {
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', '0' <= c && c <= '9' && i > 0:
			default:
				return blobError(storage.CodeInvalidMetadata, "metadata name %q: want letters, digits and underscores, no digit first", name)
			}
		}
		for i := range len(value) {
			if c := value[i]; c < ' ' && c != '\t' || c > '~' {
				return blobError(storage.CodeInvalidMetadata, "metadata %q: the value has characters that are not ASCII", name)
			}
		}
		if lower := strings.ToLower(name); folded[lower] {
			return blobError(storage.CodeInvalidMetadata, "metadata name %q: stands there twice", lower)
		} else {
			folded[lower] = true
		}
	}
	if size > most {
		return blobError(storage.CodeMetadataTooLarge, "")
	}
	return nil
}
