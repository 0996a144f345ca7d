package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/certificate"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/telemetry"
)

// common is one "redeliver start": what its apps have together, which is the clock, the
// services, their ports, the journal and its printer. Each app has a session. Use open,
// run and close in this order; close also after an open that failed.
type common struct {
	apps  []*session // in the order of the command line
	flags *startFlags
	stop  func()          // ends run
	ended <-chan struct{} // closed when run is to end
	out   *cli.Console
	log   zerolog.Logger
	begun time.Time

	embeddedStorage

	clock  *clock.Virtual
	pacing sync.Mutex // guards onlyReal, and changes of the clock's pace
	// onlyReal is a setting that leads to an account outside this host, if one is used:
	// then the clock has to be real.
	onlyReal string

	cloud   *Cloud
	metrics *telemetry.Metrics
	faults  faults.List
	crash   faults.Crash
	servers []*listen.Server  // of Service Bus and Event Grid
	at      map[string]string // addresses of their ports, by the flags that choose these
	store   *store.Store      // nil in memory
	pair    *certificate.Pair

	teller     *session       // whose overview names the services: the first app that runs
	background sync.WaitGroup // watchers and the printer
	printed    context.CancelFunc
}

// newCommon prepares a start of the apps in dirs that ends with ctx, which stop ends.
func newCommon(ctx context.Context, stop func(), std cli.Streams, dirs []string, f *startFlags) *common {
	c := &common{
		flags: f, stop: stop, ended: ctx.Done(), out: cli.NewConsole(std, f.output != "pretty"), begun: time.Now(),
	}
	c.out.Naming = f.verbose
	c.log = show.NewLog(c.out, f.verbose, c.now)
	c.faults.Services = all.Table().Faults()
	names := app.Names(dirs)
	for i, dir := range dirs {
		c.apps = append(c.apps, &session{
			common: c, dir: dir, name: names[i], secret: remote.NewSecret(), explained: map[string]bool{}, warned: map[string]bool{},
		})
	}
	return c
}

// first is the app whose data folder has the data of all.
func (c *common) first() *session { return c.apps[0] }

// now is the clock's time, and that of the machine before there is a clock: builds are
// told before.
func (c *common) now() time.Time {
	if c.clock == nil {
		return time.Now()
	}
	return c.clock.Now()
}

// open prepares everything up to hosts that run, or that are in state Error and
// wait for a better app. An error means that there is nothing to wait for.
func (c *common) open(ctx context.Context) error {
	env := hostEnvironment(c.flags.languageWorker)
	if err := c.openApps(env); err != nil {
		return err
	}
	if err := c.openStore(); err != nil {
		return err
	}
	var err error
	if c.clock, err = c.newClock(accountNames(c.accounts)); err != nil {
		return err
	}
	c.cloud = NewCloud(c.outside)
	for _, s := range c.apps {
		s.exports = telemetry.Read(s.read)
		if err := s.openHost(env); err != nil {
			return err
		}
	}
	if err := c.setPace(clock.Pace(c.flags.clock)); err != nil {
		return err
	}
	host := c.first().host
	c.metrics = telemetry.NewMetrics(host.Journal(), telemetry.DepthsOf(c.clock, host.Services(), host.AppStorage), cli.Version())
	for _, s := range c.apps {
		if err := s.openWeb(s.read); err != nil {
			return err
		}
		if err := s.openTelemetry(); err != nil {
			return err
		}
	}
	if err := c.first().openServices(); err != nil {
		return err
	}
	for _, s := range c.apps {
		if err := s.publish(); err != nil {
			return err
		}
	}
	for _, s := range c.apps {
		s.announce()
	}
	return c.start(ctx)
}

// openApps reads the apps and takes the right to run them. Nothing is left in a folder that
// is no app's.
func (c *common) openApps(env []string) (err error) {
	looked := make([]error, len(c.apps))
	for i, s := range c.apps {
		if s.read, looked[i] = s.look(env); s.read == nil || s.read.Bare {
			return looked[i]
		}
	}
	for i, s := range c.apps {
		if err := s.take(); err != nil {
			return err
		}
		if looked[i] != nil {
			return looked[i]
		}
	}
	if c.accounts, err = accounts(env); err != nil {
		return err
	}
	for _, s := range c.apps {
		s.tell(s.read)
		if err := s.hopeless(s.read.AllFaults(), len(app.Check(s.read).Errors)); err != nil {
			return err
		}
		s.warnOfArguments()
		s.warnOfSwitches()
	}
	return nil
}

// warnOfSwitches names the switches of a further app that the services do not keep to: they
// have those of the first.
func (s *session) warnOfSwitches() {
	own, first := s.read.Switches, s.first().read.Switches
	for _, sw := range []struct {
		name    string
		differs bool
	}{
		{"autoCreateEntities", (own.AutoCreateEntities == "any") != (first.AutoCreateEntities == "any")},
		{"strictSessionSend", own.StrictSessionSend != first.StrictSessionSend},
		{"autoForwardFailure", own.AutoForwardFailure != first.AutoForwardFailure},
		{"maxForwardHops", own.MaxForwardHops != first.MaxForwardHops},
		{"eventGridSchedule", own.EventGridSchedule != first.EventGridSchedule},
		{"eventGridJitterPercent", own.EventGridJitterPercent != first.EventGridJitterPercent},
		{"eventGridProbation", own.EventGridProbation != first.EventGridProbation},
		{"tablePages", own.TablePages != first.TablePages},
	} {
		if sw.differs && own.Explicit[sw.name] {
			s.out.Warn(s.ofApp(fmt.Sprintf("host.json: redeliver.%s has no effect while %q runs: the services keep to the switches of the first app", sw.name, s.first().name)))
		}
	}
}

// start starts the hosts, each beside the others: none waits for another's build. With
// several the printer begins before, so that each is said to be ready when it is.
func (c *common) start(ctx context.Context) error {
	if c.flags.output == "json" {
		tellEndpoints(c.first())
	}
	if c.flags.output == "json" || len(c.apps) > 1 {
		c.follow(1)
	}
	for _, s := range c.apps {
		s.started = true
	}
	errs := make([]error, len(c.apps))
	var starting sync.WaitGroup
	for i, s := range c.apps {
		starting.Go(func() {
			if errs[i] = s.start(ctx); errs[i] != nil {
				c.stop() // there is nothing to wait for
			}
		})
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil || len(c.apps) == 1 || ctx.Err() != nil {
		return err
	}
	c.first().openPage()
	if c.flags.output == "json" {
		c.first().sayTopics()
	}
	return nil
}

// run goes on until ctx ends.
func (c *common) run(ctx context.Context) error {
	errs := make([]error, len(c.apps))
	var running sync.WaitGroup
	for i, s := range c.apps {
		running.Go(func() { errs[i] = s.run(ctx) })
	}
	running.Wait()
	return errors.Join(errs...)
}

// follow starts the printer of the journal with that record.
func (c *common) follow(from uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	c.printed = cancel
	sub := c.first().host.Journal().Subscribe(from)
	p := c.first().printer()
	for _, s := range c.apps[1:] {
		p.Add(s.printer())
	}
	c.background.Go(func() {
		defer sub.Close()
		p.Run(ctx, sub)
	})
}

// shutdownGrace is how long all hosts together wait for running attempts.
const shutdownGrace = 10 * time.Second

// close ends everything, in the order in which things depend on each other, and
// prints what the journal still has to say.
func (c *common) close() error {
	var errs []error
	for _, s := range c.apps {
		if s.unwatch != nil {
			s.unwatch()
		}
	}
	if c.first().started {
		c.hurryUp()
		grace := time.AfterFunc(shutdownGrace, c.abort)
		for _, s := range c.apps {
			errs = append(errs, s.host.Close())
		}
		grace.Stop()
	}
	for _, s := range c.apps {
		if s.web != nil {
			errs = append(errs, s.web.Close())
		}
	}
	errs = append(errs, c.closeServices())
	if c.cloud != nil {
		c.cloud.Close()
	}
	for _, s := range c.apps {
		errs = append(errs, s.closeTelemetry())
	}
	if c.metrics != nil {
		c.metrics.Close()
	}
	if c.printed != nil {
		c.printed()
	}
	c.background.Wait()
	if c.clock != nil {
		c.clock.Close()
	}
	if c.store != nil {
		errs = append(errs, c.store.Close())
	}
	for _, s := range c.apps {
		if s.owner != nil {
			errs = append(errs, s.owner.Release())
		}
	}
	return errors.Join(errs...)
}

// abort makes a close that is under way end sooner.
func (c *common) abort() {
	for _, s := range c.apps {
		if s.started {
			s.host.Abort()
		}
	}
}

// forget removes the run files of apps whose process ends in a hurry: the locks end with it.
func (c *common) forget() {
	for _, s := range c.apps {
		if s.owner != nil {
			_ = s.owner.Forget()
		}
	}
}
