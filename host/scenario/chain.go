package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/host/internal/tempdir"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/worker"
)

// A chain are jobs that run one after the other and may share the processes of a language
// worker. What a run finds in its process depends on those before it, so a chain does not
// depend on how many run at the same time: it has the scenarios of one file, in their order,
// a few of them, once each.
type chain []int // of jobs

// longest chain. A longer one starts fewer processes, and leaves fewer to run at once.
const longestChain = 16

func chains(jobs []Job) (list []chain) {
	type link struct {
		file, app string
		time      int // the how-manieth run of the scenario
	}
	open := map[link]int{}
	times := map[*Scenario]int{}
	for i, job := range jobs {
		of := link{file: job.Scenario.File, time: times[job.Scenario]}
		if job.Options != nil {
			of.app = job.Options.App
		}
		times[job.Scenario]++
		if job.Scenario.ownWorker() || job.Scenario.scripted() && !job.Scenario.activitiesOnly(job.Scenario.folder(of.app)) || job.Scenario.inGo(of.app) {
			list = append(list, chain{i})
			continue
		}
		at, ok := open[of]
		if !ok || len(list[at]) == longestChain {
			at = len(list)
			open[of] = at
			list = append(list, nil)
		}
		list[at] = append(list[at], i)
	}
	return list
}

// inGo reports whether the app is a program in Go, which has no language worker.
func (s *Scenario) inGo(folder string) bool {
	if len(s.Apps) > 0 {
		return true // each app has workers of its own
	}
	_, err := os.Stat(filepath.Join(s.folder(folder), "go.mod"))
	return err == nil
}

// folder is the one of the scenario's app, or the one that takes its place.
func (s *Scenario) folder(instead string) string {
	if instead != "" {
		return instead
	}
	return filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.App))
}

// run runs the jobs of a chain. A job that does not begin has no result.
func (c chain) run(ctx context.Context, jobs []Job, results []chan *Result, left *leftovers) { //clock:outside see RunAll
	pool := worker.NewPool(3) // scenarios may take turns in different settings
	defer pool.Close()
	ran := users{}
	for _, i := range c {
		if ctx.Err() != nil {
			close(results[i])
			continue
		}
		var o Options
		if jobs[i].Options != nil {
			o = *jobs[i].Options
		}
		o.workers, o.users, o.left = pool, ran, left
		results[i] <- Run(ctx, jobs[i].Scenario, &o)
	}
}

// users are the scenarios that each process of a worker has served, by process ID.
type users map[int][]string

// blame tells a scenario that has failed, and whose worker process has ended, which other
// ones the process had served before: their code may still have been at work in it.
func (r *run) blame(u users) {
	if u == nil || r.h == nil {
		return
	}
	for _, rec := range r.h.Journal().Records() {
		pid := rec.Beside.PID
		switch before := u[pid]; {
		case pid == 0:
		case rec.Kind == journal.ProcessStarted && !slices.Contains(before, r.s.Name):
			u[pid] = append(before, r.s.Name)
		case rec.Kind == journal.ProcessExited && rec.Status != "" && len(r.res.Failures) > 0:
			earlier := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return name == r.s.Name })
			if len(earlier) > 0 {
				r.at = ""
				r.Errorf("its worker process has ended (%s), and had run %s before, whose code may have ended it; with \"ownWorker: true\" this scenario has a process of its own", rec.Status, quoted(earlier))
			}
		}
	}
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(out, ", ")
}

// leftovers are the folders of runs that have not ended.
type leftovers struct {
	mu   sync.Mutex
	dirs map[*tempdir.Dir]bool
}

func (l *leftovers) add(dir *tempdir.Dir) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirs == nil {
		l.dirs = map[*tempdir.Dir]bool{}
	}
	l.dirs[dir] = true
}

func (l *leftovers) drop(dir *tempdir.Dir) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.dirs, dir)
}

func (l *leftovers) remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for dir := range l.dirs {
		_ = dir.Remove() // a temporary folder
	}
}
