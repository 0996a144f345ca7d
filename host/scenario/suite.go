package scenario

import (
	"context"
	"sync"
	"time"
)

// A Job is a run that RunAll is to make.
type Job struct {
	Scenario *Scenario
	Options  *Options
}

// RunAll runs jobs, at most parallel at the same time, and hands each result to done, in
// the order of the jobs and from one goroutine. It returns when all have ended. After the
// end of ctx no further job begins, and what has not ended half a second later is left to
// itself: the program is about to end.
//
// Runs of the same app in another language than Go share processes of its worker as chains
// do: what its code keeps between calls stays from run to run of a chain, and nothing else
// does. A scenario that has ownWorker, that changes a file or that ends the host or its
// handlers has a process of its own.
func RunAll(ctx context.Context, jobs []Job, parallel int, done func(*Result)) {
	results := make([]chan *Result, len(jobs)) //clock:outside runs have a clock each; what drives them is of the real world
	for i := range results {
		results[i] = make(chan *Result, 1) //clock:outside the same
	}
	left := &leftovers{}
	next := make(chan chain)        //clock:outside the same
	finished := make(chan struct{}) //clock:outside the same
	var workers sync.WaitGroup
	for range min(max(parallel, 1), max(len(jobs), 1)) { //clock:outside the same
		workers.Add(1)
		go func() { //clock:outside ends with the list; the caller waits
			defer workers.Done()
			for c := range next { //clock:outside the same
				c.run(ctx, jobs, results, left)
			}
		}()
	}
	go func() { //clock:outside ends with the list, or with ctx
		for _, c := range chains(jobs) {
			next <- c //clock:outside the same
		}
		close(next)
		workers.Wait()
		close(finished)
	}()
	late := make(chan struct{})                                                              //clock:outside the same
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hurry, func() { close(late) }) }) //clock:outside the same
	defer stop()
	for i := range jobs {
		select { //clock:outside the same
		case res := <-results[i]:
			if res != nil {
				done(res)
			}
		case <-late:
			left.remove()
			return
		}
	}
	select { //clock:outside the same
	case <-finished:
	case <-late:
		left.remove()
	}
}

// hurry is how long runs have to end when they are to: a step may be long, in virtual time
// and, in a handler that never returns, in reality.
const hurry = 500 * time.Millisecond

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
