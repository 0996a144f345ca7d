package scenario

import (
	"context"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/worker"
)

// A Job is a run that RunAll is to make.
type Job struct {
	Scenario *Scenario
	Options  *Options
}

// RunAll runs jobs, at most parallel at the same time, and hands each result to done, in
// the order of the jobs and from one goroutine. It returns when all have ended. After the
// end of ctx no further job begins.
//
// Runs of the same app in another language than Go have one process of its worker after
// the other, so at most parallel processes start: what its code keeps between calls stays
// from run to run, and nothing else does. A scenario that has ownWorker, that changes a
// file or that ends the host or its handlers has a process of its own.
func RunAll(ctx context.Context, jobs []Job, parallel int, done func(*Result)) {
	pool := worker.NewPool(max(parallel, 1) + 2) // scenarios may take turns in different settings
	defer pool.Close()
	results := make([]chan *Result, len(jobs)) //clock:outside runs have a clock each; what drives them is of the real world
	for i := range results {
		results[i] = make(chan *Result, 1) //clock:outside the same
	}
	var workers sync.WaitGroup
	next := make(chan int)                               //clock:outside the same
	for range min(max(parallel, 1), max(len(jobs), 1)) { //clock:outside the same
		workers.Add(1)
		go func() { //clock:outside ends with the list; the caller waits
			defer workers.Done()
			for i := range next { //clock:outside the same
				var o Options
				if jobs[i].Options != nil {
					o = *jobs[i].Options
				}
				o.workers = pool
				results[i] <- Run(ctx, jobs[i].Scenario, &o)
			}
		}()
	}
	go func() { //clock:outside ends with the list, or with ctx
		defer close(next)
		for i := range jobs {
			select { //clock:outside the same
			case next <- i:
			case <-ctx.Done():
				for ; i < len(jobs); i++ {
					close(results[i])
				}
				return
			}
		}
	}()
	for i := range jobs {
		if res := <-results[i]; res != nil { //clock:outside the same
			done(res)
		}
	}
	workers.Wait()
}

// Sum are the figures of several results.
type Sum struct {
	Passed, Failed, Skipped int
	Virtual                 time.Duration
}

// Add counts a result.
func (s *Sum) Add(r *Result) {
	s.Virtual += r.Virtual
	switch {
	case r.Skipped != "":
		s.Skipped++
	case r.Passed():
		s.Passed++
	default:
		s.Failed++
	}
}
