package scenario

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/internal/tempdir"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/schemas"
)

// Options changes how a scenario runs. The zero value runs it as it is written.
type Options struct {
	// App is the folder of an app that takes the place of the one that the scenario
	// names. A scenario that names none stays as it is.
	App string
	// Seed, if not nil, takes the place of the scenario's own.
	Seed *uint64
	// Update writes the files that "timeline" names anew, instead of comparing them.
	Update bool

	workers *worker.Pool // shared by the runs of a chain
	users   users        // of its processes
	left    *leftovers   // of all runs of one RunAll
}

// A Result is what a run of a scenario came to.
type Result struct {
	Scenario *Scenario
	// Failures are what did not hold, in the order in which it was found. None: the
	// scenario has passed, or was skipped.
	Failures []Failure
	// Skipped is the reason for which it was not run.
	Skipped string
	// Seed is the seed of the run.
	Seed uint64
	// Virtual is how far the scenario's clock has moved, Real how long the run took.
	Virtual, Real time.Duration
}

// Passed reports whether everything held.
func (r *Result) Passed() bool { return len(r.Failures) == 0 && r.Skipped == "" }

// A Failure is one thing that did not hold.
type Failure struct {
	// File, Line and Path say what of the scenario it was. Line is 0 and Path empty where
	// it was nothing in particular.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Path string `json:"path,omitempty"`
	// Message says what is wrong, Want and Got what was expected and found. The last two
	// may be empty.
	Message string `json:"message"`
	Want    string `json:"want,omitempty"`
	Got     string `json:"got,omitempty"`
	// Timeline is what happened to the messages concerned, as package explain tells it, with
	// the time from the beginning of the scenario. For a pattern of the journal it is the
	// journal's lines.
	Timeline []string `json:"timeline,omitempty"`
}

// String is the failure as several lines.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: ", f.File, f.Line)
	if f.Path != "" {
		fmt.Fprintf(&b, "%s: ", f.Path)
	}
	b.WriteString(f.Message)
	if f.Want != "" || f.Got != "" {
		fmt.Fprintf(&b, "\n  want  %s\n  got   %s", f.Want, f.Got)
	}
	for _, line := range f.Timeline {
		b.WriteString("\n    " + line)
	}
	return b.String()
}

// Run runs a scenario on a host of its own. Scenarios may run at the same time. It returns
// when the host has ended. Ctx ends the run between two steps.
func Run(ctx context.Context, s *Scenario, o *Options) *Result {
	if o == nil {
		o = &Options{}
	}
	res := &Result{Scenario: s, Skipped: s.Skip, Seed: s.Seed}
	if o.Seed != nil {
		res.Seed = *o.Seed
	}
	if s.Skip != "" {
		return res
	}
	begin := time.Now() //clock:outside how long the run takes in reality
	r := &run{s: s, res: res, update: o.Update, left: o.left}
	r.guard(func() {
		defer func() { r.blame(o.users) }()
		r.play(ctx, o)
	})
	res.Real = time.Since(begin) //clock:outside the same
	return res
}

// A run is the test of one scenario: what the kit takes for *testing.T.
type run struct {
	s   *Scenario
	res *Result
	h   *hosttest.Host

	cast   cast             // the apps; h is the first one's
	others []*hosttest.Host // instances that run beside it

	started int      // orchestrations that got their ids here
	raised  []raised // external events that are to be read

	update bool // of files with timelines

	at      string // path of the step that runs
	begins  time.Time
	crashes []waitingCrash // instances that are to be killed at a point
	fell    bool           // a crash was asked for since the last start
	waiting []waitingFault // for operations

	brought   brought
	published int // events, for the ids of those that have none

	unwritten []unwritten // faults of outputs

	left *leftovers // where the folder is told; nil: nowhere

	session *SessionOptions // nil: all steps are in the scenario

	mu       sync.Mutex
	cleanups []func()
	dir      *tempdir.Dir // where folders of the run are made; nil: none was
}

var _ hosttest.TB = (*run)(nil)

// guard calls f, and then what is to be cleaned up, on a goroutine that Fatalf can end.
func (r *run) guard(f func()) {
	on(r, f)
	on(r, r.cleanup)
	if r.dir != nil {
		_ = r.dir.Remove() // a temporary folder
		r.left.drop(r.dir)
	}
}

// on calls f on a goroutine that Fatalf can end.
func on(r *run, f func()) {
	done := make(chan struct{}) //clock:outside the run is of the real world
	go func() {                 //clock:outside ends with the call
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("the run has crashed: %v\n%s", p, stack())
			}
		}()
		f()
	}()
	<-done //clock:outside the run is of the real world
}

func stack() []byte {
	b := make([]byte, 16<<10)
	return b[:runtime.Stack(b, false)]
}

// cleanup calls what was registered, the last first. A call that ends its goroutine ends
// only itself.
func (r *run) cleanup() {
	for {
		r.mu.Lock()
		n := len(r.cleanups)
		if n == 0 {
			r.mu.Unlock()
			return
		}
		call := r.cleanups[n-1]
		r.cleanups = r.cleanups[:n-1]
		r.mu.Unlock()
		call()
	}
}

// play runs the steps and looks at what has come of them.
func (r *run) play(ctx context.Context, o *Options) {
	before, played := &lineage{}, players{}
	if !r.open(o, before, played) {
		return
	}
	before.set(r.h)
	r.begins = r.h.Clock().Now()
	if !r.written() {
		return
	}
	defer func() { r.res.Virtual = r.h.Clock().Now().Sub(r.begins) }()
	r.found()
	for i := range r.s.When {
		if ctx.Err() != nil {
			r.Fatalf("the run was ended: %v", ctx.Err())
		}
		r.at = schemas.IndexPath("when", i)
		r.step(&r.s.When[i])
	}
	r.at = "when"
	r.crashed()
	r.h.Settle()
	r.struck()
	r.at = "then"
	inspection{r}.expect("then", &r.s.Then)
	taskHub{r}.unread()
	inspection{r}.unplayed(played)
	inspection{r}.idle()
}

// open starts the apps; not ok: one of them cannot run.
func (r *run) open(o *Options, before *lineage, played players) (ok bool) {
	parts := []*Scenario{r.s}
	if len(r.s.Apps) > 0 {
		parts = nil
		names, folders := r.s.folders()
		for i, name := range names {
			parts = append(parts, r.s.scripts(name, folders[i]))
		}
	}
	for i, s := range parts {
		opts, err := s.options(o.App, r.res.Seed, before, played)
		if err != nil {
			r.refuse(err)
			return false
		}
		if !s.ownWorker() {
			opts.Workers = o.workers
		}
		if r.session != nil {
			r.session.apply(opts)
		}
		p := &part{name: s.of}
		if i == 0 {
			opts.Seed = r.res.Seed
			p.h = hosttest.New(r, opts)
			r.h = p.h
		} else {
			opts.Seed, opts.Start, opts.Unchecked, opts.Table = 0, time.Time{}, false, nil
			p.h = r.h.Beside(opts)
		}
		r.cast = append(r.cast, p)
		if a := p.app(); a != nil && len(a.Functions) == 0 {
			at := "app"
			if p.name != "" {
				at = schemas.IndexPath("apps", i)
			}
			r.refuse(r.s.fault(at, fmt.Sprintf("the app in %q has no functions", a.Dir), `an app with functions; "redeliver check" says what it finds`))
			return false
		}
		if opts.Scripted != nil && !r.activitiesScripted(p) {
			return false
		}
	}
	return true
}

// refuse tells of an app or scenario that cannot run.
func (r *run) refuse(err error) {
	if f, ok := err.(*schemas.Fault); ok {
		message := f.Reason
		if f.Hint != "" {
			message += "; " + f.Hint
		}
		r.fail(&Failure{File: f.File, Line: f.Line, Path: f.Path, Message: message, Want: f.Allowed, Got: f.Found})
		return
	}
	r.Errorf("%v", err)
}

func (r *run) fail(f *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.res.Failures = append(r.res.Failures, *f)
}

// Helper does nothing: a failure names its step.
func (r *run) Helper() {}

// Cleanup registers a call for the end of the run.
func (r *run) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Errorf records a failure of the step that runs.
func (r *run) Errorf(format string, args ...any) {
	line, _ := r.s.doc.Pos(r.at)
	text := strings.TrimPrefix(fmt.Sprintf(format, args...), "hosttest: ")
	text, _, _ = strings.Cut(text, "\n(Options.") // advice for authors of Go tests
	r.fail(&Failure{File: r.s.File, Line: line, Path: r.at, Message: text})
}

// Failed reports whether something has failed: the kit then looks no further.
func (r *run) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.res.Failures) > 0
}

// Fatalf is Errorf that ends the run.
func (r *run) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// Logf drops what the kit has to tell.
func (r *run) Logf(string, ...any) {}

// TempDir is a folder that is removed after the run.
func (r *run) TempDir() string {
	if r.dir == nil {
		dir, err := tempdir.Make("redeliver-scenario-")
		if err != nil {
			r.Fatalf("%v", err)
		}
		r.dir = dir
		r.left.add(dir)
	}
	dir, err := os.MkdirTemp(r.dir.Path, "")
	if err != nil {
		r.Fatalf("%v", err)
	}
	return dir
}
