package run

import (
	"cmp"
	"os"
	"runtime/debug"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
)

// levelsOf are the levels of an app, which may be nil, below those that the user asks for, in
// the words of the platform's tool.
func (s *session) levelsOf(a *app.App) hostjson.LogLevels {
	var own hostjson.LogLevels
	if a != nil {
		own = a.Config.LogLevels
	}
	return own.ForUsers(cmp.Or(s.flags.userLogLevel, os.Getenv("FUNCTIONS_USER_LOG_LEVEL")))
}

// printer is the printer of the app.
func (s *session) printer() *show.Printer {
	return show.New(show.Of{
		Out: s.out, App: s.name, JSON: s.flags.output == "json", Verbose: s.flags.verbose, Day: s.begun,
		Pace: s.clock.Pace, Running: func() bool { return s.host.App() != nil }, Ends: s.ends, Levels: func() hostjson.LogLevels { return s.levelsOf(s.host.App()) }, Refusals: s.explained, Loaded: s.overview,
	})
}

// overview is the overview of the app that was loaded, with the warnings that it brings.
// Readers of the journal as it is get none.
func (s *session) overview() *show.Banner {
	if err := s.web.EnsureKeys(); err != nil {
		s.out.Warn(err.Error())
	}
	a := s.host.App()
	if a == nil || s.flags.output == "json" {
		return nil
	}
	s.telemetryOf(a)
	if s.name != "" {
		s.warnOf(a) // of functions in code
	}
	if s.teller == nil {
		s.teller = s
	}
	s.tidy.Do(func() {
		go func() {
			debug.FreeOSMemory() // what the start has used goes back to the system
			keepGarbageBounded()
		}()
	})
	of := show.Loaded{
		App: a, Env: s.host.Env(), Name: s.name, Out: s.out, Begun: s.begun, URL: s.web.URL(), AdminURL: s.web.AdminURL(), Levels: s.levelsOf(a),
		Auth: s.flags.enableAuth, Wordy: s.flags.verbose, ServicesOnly: s.flags.servicesOnly, OpenBus: s.at[busPort] != "",
		Functions: s.flags.functions, Check: s.checkCommand(), Keep: s.ofApp,
	}
	if s.teller == s {
		of.Services = func() string { return serviceLines(s) }
	}
	return show.NewBanner(of)
}

// serviceLines say where the page and the services of a start are, and how its clock goes.
func serviceLines(s *session) string {
	var t strings.Builder
	if !s.flags.noUI {
		cli.Writef(&t, "  page       %s\n", s.first().pageAddress())
	}
	if line := s.networkLine(); line != "" {
		cli.Writef(&t, "  network    %s\n", line)
	}
	t.WriteString(s.endpointLines())
	cli.Writef(&t, "  clock      %s\n", show.ModeText(s.clock.Pace()))
	return t.String()
}
