package bindingtest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Identifiers of leases: A holds the lease in all states but available.
const (
	leaseA = "aaaaaaaa-0000-4000-8000-00000000000a"
	leaseB = "bbbbbbbb-0000-4000-8000-00000000000b"
	leaseC = "cccccccc-0000-4000-8000-00000000000c"
)

// leaseStates are the columns of the table in spec storage 17.4, each with the way
// there.
var leaseStates = []struct {
	name, status string
	reach        func(b *blobBench, on func(c blob.Container) blob.Leasable)
}{
	{"available", "unlocked", func(*blobBench, func(blob.Container) blob.Leasable) {}},
	{"leased", "locked", func(b *blobBench, on func(blob.Container) blob.Leasable) {
		b.lease(on, "acquire", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.AcquireLease(ctx, blob.MaxLease, leaseA, nil)
		})
	}},
	{"breaking", "locked", func(b *blobBench, on func(blob.Container) blob.Leasable) {
		b.lease(on, "acquire", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.AcquireLease(ctx, blob.MaxLease, leaseA, nil)
		})
		b.lease(on, "break", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.BreakLease(ctx, period(40), nil)
		})
	}},
	{"broken", "unlocked", func(b *blobBench, on func(blob.Container) blob.Leasable) {
		b.lease(on, "acquire", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.AcquireLease(ctx, blob.MaxLease, leaseA, nil)
		})
		b.lease(on, "break", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.BreakLease(ctx, period(0), nil)
		})
	}},
	{"expired", "unlocked", func(b *blobBench, on func(blob.Container) blob.Leasable) {
		b.lease(on, "acquire", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.AcquireLease(ctx, blob.MaxLease, leaseA, nil)
		})
		b.Advance(blob.MaxLease)
	}},
}

// leaseActions are the rows of the table, with the outcome in each state: a code,
// or "" and the state that follows.
var leaseActions = []struct {
	name string
	call func(ctx context.Context, l blob.Leasable) (*blob.Lease, error)
	want [5]leaseOutcome
}{
	{"acquire", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.AcquireLease(ctx, blob.MinLease, "", nil)
	}, [5]leaseOutcome{goes("leased"), fails(storage.CodeLeaseAlreadyPresent), fails(storage.CodeLeaseAlreadyPresent), goes("leased"), goes("leased")}},
	{"acquire A", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.AcquireLease(ctx, blob.MinLease, leaseA, nil)
	}, [5]leaseOutcome{goes("leased"), goes("leased"), fails(storage.CodeLeaseIsBreakingAndCannotBeAcquired), goes("leased"), goes("leased")}},
	{"acquire B", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.AcquireLease(ctx, blob.InfiniteLease, leaseB, nil)
	}, [5]leaseOutcome{goes("leased"), fails(storage.CodeLeaseAlreadyPresent), fails(storage.CodeLeaseAlreadyPresent), goes("leased"), goes("leased")}},
	{"renew A", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.RenewLease(ctx, leaseA, nil)
	}, [5]leaseOutcome{mismatch, goes("leased"), fails(storage.CodeLeaseIsBrokenAndCannotBeRenewed), fails(storage.CodeLeaseIsBrokenAndCannotBeRenewed), goes("leased")}},
	{"renew B", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.RenewLease(ctx, leaseB, nil)
	}, [5]leaseOutcome{mismatch, mismatch, mismatch, mismatch, mismatch}},
	{"change A to C", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.ChangeLease(ctx, leaseA, leaseC, nil)
	}, [5]leaseOutcome{notPresent, goes("leased"), mismatch, notPresent, notPresent}},
	{"change B to A", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.ChangeLease(ctx, leaseB, leaseA, nil)
	}, [5]leaseOutcome{notPresent, goes("leased"), fails(storage.CodeLeaseIsBreakingAndCannotBeChanged), notPresent, notPresent}},
	{"change B to C", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.ChangeLease(ctx, leaseB, leaseC, nil)
	}, [5]leaseOutcome{notPresent, mismatch, mismatch, notPresent, notPresent}},
	{"release A", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.ReleaseLease(ctx, leaseA, nil)
	}, [5]leaseOutcome{mismatch, goes("available"), goes("available"), goes("available"), goes("available")}},
	{"release B", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.ReleaseLease(ctx, leaseB, nil)
	}, [5]leaseOutcome{mismatch, mismatch, mismatch, mismatch, mismatch}},
	{"break", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.BreakLease(ctx, nil, nil)
	}, [5]leaseOutcome{notPresent, breaks("breaking", 60), breaks("breaking", 40), breaks("broken", 0), breaks("broken", 0)}},
	{"break in 0", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.BreakLease(ctx, period(0), nil)
	}, [5]leaseOutcome{notPresent, breaks("broken", 0), breaks("broken", 0), breaks("broken", 0), breaks("broken", 0)}},
	{"break in 30", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.BreakLease(ctx, period(30), nil)
	}, [5]leaseOutcome{notPresent, breaks("breaking", 30), breaks("breaking", 30), breaks("broken", 0), breaks("broken", 0)}},
	{"break in 50", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.BreakLease(ctx, period(50), nil)
	}, [5]leaseOutcome{notPresent, breaks("breaking", 50), breaks("breaking", 40), breaks("broken", 0), breaks("broken", 0)}},
}

type leaseOutcome struct {
	code  storage.Code
	state string
	rest  time.Duration
}

var (
	mismatch   = fails(storage.CodeLeaseIDMismatchWithLeaseOperation)
	notPresent = fails(storage.CodeLeaseNotPresentWithLeaseOperation)
)

func fails(code storage.Code) leaseOutcome { return leaseOutcome{code: code} }
func goes(state string) leaseOutcome       { return leaseOutcome{state: state} }
func breaks(state string, seconds int) leaseOutcome {
	return leaseOutcome{state: state, rest: time.Duration(seconds) * time.Second}
}

func period(seconds int) *time.Duration {
	d := time.Duration(seconds) * time.Second
	return &d
}

// lease makes one lease operation, which must succeed.
func (b *blobBench) lease(on func(blob.Container) blob.Leasable, what string, f func(ctx context.Context, l blob.Leasable) (*blob.Lease, error)) (out *blob.Lease) {
	b.Helper()
	b.do(func(ctx context.Context, c blob.Container) {
		var err error
		out, err = f(ctx, on(c))
		b.ok(what, err)
	})
	return out
}

// leaseTable runs every action in every state that can be reached, on a fresh
// blob or container each.
func leaseTable(b *blobBench, make func(ctx context.Context, c blob.Container, name string), on func(c blob.Container, name string) blob.Leasable,
	look func(ctx context.Context, l blob.Leasable) (etag string, p blob.LeaseProperties)) {
	for i, state := range leaseStates {
		if state.name == "expired" && b.Advance == nil {
			continue
		}
		for _, action := range leaseActions {
			name := "t" + strings.ToLower(strings.ReplaceAll(state.name+"-"+action.name, " ", "-"))
			want := action.want[i]
			if !b.Features.StrictRenew && state.name == "expired" && action.name == "renew B" || b.differs(state.name+", "+action.name) {
				continue
			}
			target := func(c blob.Container) blob.Leasable { return on(c, name) }
			b.do(func(ctx context.Context, c blob.Container) { make(ctx, c, name) })
			state.reach(b, target)
			b.do(func(ctx context.Context, c blob.Container) {
				what := state.name + ", " + action.name
				etag, before := look(ctx, target(c))
				if before.State != state.name || before.Status != state.status {
					b.Fatalf("%s: the state before is %+v", what, before)
				}
				lease, err := action.call(ctx, target(c))
				b.status(what, err, 409, want.code)
				after, now := look(ctx, target(c))
				if after != etag {
					b.Errorf("%s: the ETag has changed", what)
				}
				switch {
				case want.code != "":
					if now != before {
						b.Errorf("%s: state %+v, before %+v, want no change", what, now, before)
					}
					if !errors.Is(err, storage.ErrLeaseHeld) && !errors.Is(err, storage.ErrLeaseLost) {
						b.Errorf("%s: %v, want ErrLeaseHeld or ErrLeaseLost", what, err)
					}
				case err == nil:
					if now.State != want.state || lease.ETag != etag || lease.Remaining > want.rest || lease.Remaining < want.rest-time.Second && b.Advance == nil ||
						lease.Remaining != want.rest && b.Advance != nil {
						b.Errorf("%s: %+v, then %+v, want %+v", what, lease, now, want)
					}
				}
			})
		}
	}
}

// guardedWrites are the writes that a lease guards, on a blob that exists.
func guardedWrites() map[string]func(ctx context.Context, a blob.Blob, id string) error {
	calls := map[string]func(ctx context.Context, a blob.Blob, id string) error{
		"PutBlock": func(ctx context.Context, a blob.Blob, id string) error {
			_, err := a.PutBlock(ctx, blockID(1), strings.NewReader("b"), &blob.PutBlockOptions{LeaseID: id})
			return err
		},
	}
	for _, w := range writes {
		calls[w.name] = func(ctx context.Context, a blob.Blob, id string) error {
			return w.call(ctx, a, &blob.Conditions{LeaseID: id})
		}
	}
	return calls
}

func theBlob(c blob.Container) blob.Leasable      { return c.Blob("a") }
func theContainer(c blob.Container) blob.Leasable { return c }

func acquire(d time.Duration, id string) func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
	return func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
		return l.AcquireLease(ctx, d, id, nil)
	}
}

// leaseTests are spec storage 17.4.
var leaseTests = []blobTest{
	{"LeaseTableOfBlobs", false, func(b *blobBench) {
		b.createContainer()
		leaseTable(b,
			func(ctx context.Context, c blob.Container, name string) { b.put(ctx, c.Blob(name), "a") },
			func(c blob.Container, name string) blob.Leasable { return c.Blob(name) },
			func(ctx context.Context, l blob.Leasable) (string, blob.LeaseProperties) {
				p := b.properties(ctx, l.(blob.Blob))
				return p.ETag, p.Lease
			})
	}},
	{"LeaseTableOfContainers", false, func(b *blobBench) {
		leaseTable(b,
			func(ctx context.Context, _ blob.Container, name string) {
				_, err := b.Account.Container(name).Create(ctx, nil)
				b.ok("Create", err)
			},
			func(_ blob.Container, name string) blob.Leasable { return b.Account.Container(name) },
			func(ctx context.Context, l blob.Leasable) (string, blob.LeaseProperties) {
				p, err := l.(blob.Container).Properties(ctx, nil)
				b.ok("Properties", err)
				return p.ETag, p.Lease
			})
	}},
	atOnce("LeaseIdentifiersAndDurations", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		for _, d := range []time.Duration{0, 14 * time.Second, 61 * time.Second, -2} {
			_, err := a.AcquireLease(ctx, d, "", nil)
			b.status("AcquireLease for "+d.String(), err, 400, storage.CodeInvalidHeaderValue)
		}
		if b.Features.StrictNames {
			_, err := a.AcquireLease(ctx, blob.MinLease, "not a guid", nil)
			b.status("AcquireLease with a bad identifier", err, 400, storage.CodeInvalidHeaderValue)
		}
		made, err := a.AcquireLease(ctx, blob.InfiniteLease, "", nil)
		b.ok("AcquireLease", err)
		if len(made.ID) != 36 {
			b.Errorf("AcquireLease made the identifier %q, want a GUID", made.ID)
		}
		if p := b.properties(ctx, a); p.Lease != (blob.LeaseProperties{State: "leased", Status: "locked", Duration: "infinite"}) {
			b.Errorf("Lease = %+v", p.Lease)
		}
		_, err = a.BreakLease(ctx, period(61), nil)
		b.status("BreakLease in 61 s", err, 400, storage.CodeInvalidHeaderValue)
		_, err = a.BreakLease(ctx, period(-1), nil)
		b.status("BreakLease in -1 s", err, 400, storage.CodeInvalidHeaderValue)
		changed, err := a.ChangeLease(ctx, made.ID, leaseB, nil)
		b.ok("ChangeLease", err)
		if changed.ID != leaseB {
			b.Errorf("ChangeLease = %q", changed.ID)
		}
		if !b.differs("capitals") {
			_, err = a.RenewLease(ctx, strings.ToUpper(leaseB), nil)
			b.code("RenewLease in capitals", err, "")
		}
		_, err = a.ReleaseLease(ctx, made.ID, nil)
		b.code("ReleaseLease with the old identifier", err, storage.CodeLeaseIDMismatchWithLeaseOperation)
		broken, err := a.BreakLease(ctx, nil, nil)
		b.ok("BreakLease of an infinite lease", err)
		if p := b.properties(ctx, a); broken.Remaining != 0 || p.Lease.State != "broken" {
			b.Errorf("BreakLease = %+v, then %+v, want broken at once", broken, p.Lease)
		}
		_, err = a.AcquireLease(ctx, blob.MinLease, leaseC, nil)
		b.ok("AcquireLease", err)
		if p := b.properties(ctx, a); p.Lease.Duration != "fixed" {
			b.Errorf("Lease = %+v, want a fixed duration", p.Lease)
		}
	}),
	atOnce("LeaseGuardsWrites", func(b *blobBench, ctx context.Context, c blob.Container) {
		b.put(ctx, c.Blob("source"), "source")
		for name, write := range guardedWrites() {
			a := c.Blob("guarded-" + name)
			b.put(ctx, a, "a")
			b.status(name+" with an identifier, but no lease", write(ctx, a, leaseA), 412, storage.CodeLeaseNotPresentWithBlobOperation)
			_, err := a.AcquireLease(ctx, blob.MaxLease, leaseA, nil)
			b.ok("AcquireLease", err)
			err = write(ctx, a, "")
			b.status(name+" without identifier", err, 412, storage.CodeLeaseIDMissing)
			if !errors.Is(err, storage.ErrLeaseHeld) {
				b.Errorf("%s without identifier = %v, want ErrLeaseHeld", name, err)
			}
			err = write(ctx, a, leaseB)
			b.status(name+" with another identifier", err, 412, storage.CodeLeaseIDMismatchWithBlobOperation)
			if !errors.Is(err, storage.ErrLeaseLost) {
				b.Errorf("%s with another identifier = %v, want ErrLeaseLost", name, err)
			}
			b.content(ctx, a, "a")
			_, err = a.BreakLease(ctx, period(30), nil)
			b.ok("BreakLease", err)
			b.status(name+" without identifier while breaking", write(ctx, a, ""), 412, storage.CodeLeaseIDMissing)
			b.code(name+" with the identifier", write(ctx, a, leaseA), "")
		}
	}),
	atOnce("LeaseStaysThroughWrites", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		_, err := a.AcquireLease(ctx, blob.InfiniteLease, leaseA, nil)
		b.ok("AcquireLease", err)
		_, err = a.Put(ctx, strings.NewReader("b"), &blob.PutOptions{Conditions: &blob.Conditions{LeaseID: leaseA}})
		b.ok("Put", err)
		_, err = a.PutBlockList(ctx, nil, &blob.PutOptions{Conditions: &blob.Conditions{LeaseID: leaseA}})
		b.ok("PutBlockList", err)
		if p := b.properties(ctx, a); p.Lease.State != "leased" {
			b.Errorf("Lease = %+v, want leased", p.Lease)
		}
	}),
	atOnce("ReadsMindALeaseThatTheyName", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		for _, r := range reads {
			b.status(r.name+" with an identifier, but no lease", r.call(ctx, a, &blob.Conditions{LeaseID: leaseA}), 412, storage.CodeLeaseNotPresentWithBlobOperation)
		}
		_, err := a.AcquireLease(ctx, blob.InfiniteLease, leaseA, nil)
		b.ok("AcquireLease", err)
		for _, r := range reads {
			b.code(r.name+" without identifier", r.call(ctx, a, nil), "")
			b.code(r.name+" with the identifier", r.call(ctx, a, &blob.Conditions{LeaseID: leaseA}), "")
			b.status(r.name+" with another identifier", r.call(ctx, a, &blob.Conditions{LeaseID: leaseB}), 412, storage.CodeLeaseIDMismatchWithBlobOperation)
		}
		_, err = a.Snapshot(ctx, nil)
		b.code("Snapshot without identifier", err, "")
	}),
	atOnce("ReplacingResetsABrokenLease", func(b *blobBench, ctx context.Context, c blob.Container) {
		if !b.Features.ResetsLease {
			b.Skip("the backend keeps it")
		}
		for _, w := range writes[:2] {
			a := c.Blob(w.name)
			b.put(ctx, a, "a")
			_, err := a.AcquireLease(ctx, blob.MaxLease, leaseA, nil)
			b.ok("AcquireLease", err)
			_, err = a.BreakLease(ctx, period(0), nil)
			b.ok("BreakLease", err)
			b.status(w.name+" with the identifier", w.call(ctx, a, &blob.Conditions{LeaseID: leaseA}), 412, storage.CodeLeaseNotPresentWithBlobOperation)
			b.code(w.name, w.call(ctx, a, nil), "")
			if p := b.properties(ctx, a); p.Lease.State != "available" {
				b.Errorf("Lease after %s = %+v, want available", w.name, p.Lease)
			}
		}
	}),
	atOnce("LeaseConditions", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		_, err := a.AcquireLease(ctx, blob.MinLease, "", &blob.Conditions{IfMatch: otherETag})
		b.status("AcquireLease of another version", err, 412, storage.CodeConditionNotMet)
	}),
	atOnce("ContainerLeaseGuardsItsDeletion", func(b *blobBench, ctx context.Context, c blob.Container) {
		with := func(id string) *blob.Conditions { return &blob.Conditions{LeaseID: id} }
		b.status("Delete with an identifier, but no lease", c.Delete(ctx, with(leaseA)), 412, storage.CodeLeaseNotPresentWithContainerOperation)
		_, err := c.AcquireLease(ctx, blob.InfiniteLease, leaseA, nil)
		b.ok("AcquireLease", err)
		b.put(ctx, c.Blob("a"), "a")
		_, err = c.SetMetadata(ctx, nil, nil)
		b.code("SetMetadata without identifier", err, "")
		_, err = c.SetMetadata(ctx, nil, with(leaseB))
		b.status("SetMetadata with another identifier", err, 412, storage.CodeLeaseIDMismatchWithContainerOperation)
		b.status("Delete without identifier", c.Delete(ctx, nil), 412, storage.CodeLeaseIDMissing)
		b.status("Delete with another identifier", c.Delete(ctx, with(leaseB)), 412, storage.CodeLeaseIDMismatchWithContainerOperation)
		b.code("Delete with the identifier", c.Delete(ctx, with(leaseA)), "")
	}),
	inTime("LeaseEndsAndIsRenewed", func(b *blobBench) {
		b.do(func(ctx context.Context, c blob.Container) { b.put(ctx, c.Blob("a"), "a") })
		for _, on := range []func(blob.Container) blob.Leasable{theBlob, theContainer} {
			b.lease(on, "acquire", acquire(15*time.Second, leaseA))
			renew := func() {
				b.Helper()
				b.lease(on, "renew", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
					return l.RenewLease(ctx, leaseA, nil)
				})
			}
			stolen := func() error {
				var err error
				b.do(func(ctx context.Context, c blob.Container) {
					_, err = on(c).AcquireLease(ctx, 15*time.Second, leaseB, nil)
				})
				return err
			}
			for range 3 {
				b.Advance(14 * time.Second)
				renew()
			}
			b.Advance(15*time.Second - time.Millisecond)
			b.code("acquire just before the end", stolen(), storage.CodeLeaseAlreadyPresent)
			b.Advance(time.Hour)
			renew()
			b.Advance(14 * time.Second)
			b.code("acquire before the end of a renewed lease", stolen(), storage.CodeLeaseAlreadyPresent)
			b.Advance(time.Second)
			b.code("acquire at the end", stolen(), "")
			b.do(func(ctx context.Context, c blob.Container) {
				_, err := on(c).RenewLease(ctx, leaseA, nil)
				b.code("renew after another acquired", err, storage.CodeLeaseIDMismatchWithLeaseOperation)
			})
		}
	}),
	inTime("ExpiredLeaseGuardsNothing", func(b *blobBench) {
		b.do(func(ctx context.Context, c blob.Container) {
			b.put(ctx, c.Blob("source"), "source")
			for name := range guardedWrites() {
				b.put(ctx, c.Blob(name), "a")
				_, err := c.Blob(name).AcquireLease(ctx, blob.MinLease, leaseA, nil)
				b.ok("AcquireLease", err)
			}
		})
		b.Advance(blob.MinLease)
		b.do(func(ctx context.Context, c blob.Container) {
			for name, write := range guardedWrites() {
				b.status(name+" with the identifier", write(ctx, c.Blob(name), leaseA), 412, storage.CodeLeaseNotPresentWithBlobOperation)
				b.code(name+" without", write(ctx, c.Blob(name), ""), "")
			}
			if p := b.properties(ctx, c.Blob("Put")); b.Features.ResetsLease && p.Lease.State != "available" {
				b.Errorf("Lease after Put = %+v, want available", p.Lease)
			}
			if p := b.properties(ctx, c.Blob("SetMetadata")); p.Lease.State != "expired" && !b.differs("SetMetadata") {
				b.Errorf("Lease after SetMetadata = %+v, want expired still", p.Lease)
			}
		})
	}),
	inTime("ExpiredLeaseOfAWrittenBlobIsNotRenewed", func(b *blobBench) {
		if !b.Features.StrictRenew {
			b.Skip("the backend renews it")
		}
		b.do(func(ctx context.Context, c blob.Container) { b.put(ctx, c.Blob("a"), "a") })
		b.lease(theBlob, "acquire", acquire(blob.MinLease, leaseA))
		b.do(func(ctx context.Context, c blob.Container) {
			_, err := c.Blob("a").SetMetadata(ctx, nil, &blob.Conditions{LeaseID: leaseA})
			b.ok("SetMetadata by the holder", err)
		})
		b.Advance(time.Minute)
		b.lease(theBlob, "renew after a write by the holder", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
			return l.RenewLease(ctx, leaseA, nil)
		})
		b.Advance(time.Minute)
		b.do(func(ctx context.Context, c blob.Container) {
			_, err := c.Blob("a").SetMetadata(ctx, nil, nil)
			b.ok("SetMetadata", err)
			_, err = c.Blob("a").RenewLease(ctx, leaseA, nil)
			b.status("RenewLease", err, 409, storage.CodeLeaseIDMismatchWithLeaseOperation)
			_, err = c.Blob("a").AcquireLease(ctx, blob.MinLease, leaseA, nil)
			b.code("AcquireLease", err, "")
		})
	}),
	inTime("BreakPeriodCounts", func(b *blobBench) {
		b.do(func(ctx context.Context, c blob.Container) { b.put(ctx, c.Blob("a"), "a") })
		breakIn := func(p *time.Duration) time.Duration {
			b.Helper()
			return b.lease(theBlob, "break", func(ctx context.Context, l blob.Leasable) (*blob.Lease, error) {
				return l.BreakLease(ctx, p, nil)
			}).Remaining
		}
		state := func(want string) {
			b.Helper()
			b.do(func(ctx context.Context, c blob.Container) {
				if p := b.properties(ctx, c.Blob("a")); p.Lease.State != want || p.Lease.Duration != "" {
					b.Errorf("Lease = %+v, want %s", p.Lease, want)
				}
			})
		}
		b.lease(theBlob, "acquire", acquire(60*time.Second, leaseA))
		b.Advance(20 * time.Second)
		if got := breakIn(nil); got != 40*time.Second {
			b.Errorf("break of a lease with 40 s left = %v", got)
		}
		b.Advance(10*time.Second - time.Millisecond)
		if got := breakIn(nil); got != 30*time.Second {
			b.Errorf("break again with 30.001 s left = %v, want 30s", got)
		}
		if got := breakIn(period(5)); got != 5*time.Second {
			b.Errorf("break in 5 s = %v", got)
		}
		b.Advance(5*time.Second - time.Millisecond)
		state("breaking")
		b.Advance(time.Millisecond)
		state("broken")
		b.lease(theBlob, "acquire", acquire(blob.InfiniteLease, leaseB))
		if got := breakIn(period(60)); got != 60*time.Second {
			b.Errorf("break of an infinite lease in 60 s = %v", got)
		}
		b.Advance(60 * time.Second)
		state("broken")
		b.lease(theBlob, "acquire", acquire(15*time.Second, leaseC))
		if got := breakIn(period(60)); got != 15*time.Second {
			b.Errorf("break in 60 s of a lease with 15 s left = %v", got)
		}
	}),
}
