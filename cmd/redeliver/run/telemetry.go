package run

import (
	"reflect"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/telemetry"
)

// openTelemetry begins to export what happens to collectors, where the app asks for it. The
// settings are read once, as the platform does.
func (s *session) openTelemetry() (err error) {
	for _, text := range s.exports.Warnings {
		s.out.Warn(text)
	}
	if !s.exports.On() {
		return nil
	}
	s.out.Say("info", "telemetry: "+s.exports.String())
	s.telemetry, err = telemetry.Start(s.host.Journal(), &s.exports, telemetry.Options{
		Run: s.trace, App: s.name, Clock: s.clock, Metrics: s.metrics, Version: cli.Version(), Logger: s.log,
	})
	return err
}

// telemetryOf says when an app that was loaded wants other telemetry than the host exports.
func (s *session) telemetryOf(a *app.App) {
	const text = "telemetryMode and logging.applicationInsights of host.json count when the host starts: stop it and start it again"
	if now := telemetry.Read(a); !s.warned[text] && !reflect.DeepEqual(now, s.exports) {
		s.warned[text] = true
		s.out.Warn(text)
	}
}

// closeTelemetry exports what is left, for a limited time, when the host has ended.
func (s *session) closeTelemetry() (err error) {
	if s.telemetry != nil {
		err = s.telemetry.Close()
	}
	return err
}
