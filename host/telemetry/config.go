package telemetry

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/trace"
)

// Config says what is exported, and where to. Its zero value exports nothing.
type Config struct {
	Traces, Metrics, Logs Target
	Service               string            // service.name
	Resource              map[string]string // attributes of the host
	Interval              time.Duration     // between two exports of the metrics
	Sampler               trace.Sampler     // of traces; the run has it too
	Spans, Lines          Batch
	Limits                Limits

	// Warnings are said once, in the log of the host.
	Warnings []string
}

// A Target is the collector of one kind of telemetry.
type Target struct {
	Endpoint string // a URL; empty for none
	GRPC     bool
	Headers  map[string]string
	Timeout  time.Duration // of one request; 0 for the exporter's default
	Gzip     bool

	// Files in PEM for an endpoint of https: the authority of the collector, and what the
	// host shows it. Empty: those of the system, and nothing.
	Authority, Certificate, Key string
}

// A Batch says how spans or log records wait to be exported. Zero fields have the SDK's
// defaults, Delay 1 s.
type Batch struct {
	Queue, Size    int // the most that wait, and that are exported together
	Delay, Timeout time.Duration
}

// Limits are the most that a span has; 0: the SDK's defaults.
type Limits struct {
	ValueLength                     int // of an attribute, in bytes
	Attributes, Events, Links       int
	EventAttributes, LinkAttributes int
}

// On reports whether anything is exported.
func (c *Config) On() bool {
	return c.Traces.Endpoint != "" || c.Metrics.Endpoint != "" || c.Logs.Endpoint != ""
}

// The settings of the specification of OpenTelemetry that name what is exported.
const (
	endpointSetting = "OTEL_EXPORTER_OTLP_ENDPOINT"
	insightsSetting = "APPLICATIONINSIGHTS_CONNECTION_STRING"
)

// Read reads the configuration of an app: telemetryMode of host.json, and the settings that
// the specification of OpenTelemetry names, from wherever settings come. As on the platform,
// nothing is exported without an endpoint.
//
// Application Insights is reached as any collector is: an app that is made for it exports
// too, when there is an endpoint, and nowhere else.
func Read(a *app.App) Config {
	r := &settings{lookup: a.Settings.Lookup}
	named := a.Config.ApplicationInsights || r.get(insightsSetting) != ""
	if !a.Config.OpenTelemetry && !named || strings.EqualFold(r.get("OTEL_SDK_DISABLED"), "true") {
		return Config{}
	}
	c := Config{Resource: r.attributes("OTEL_RESOURCE_ATTRIBUTES"), Interval: r.milliseconds("OTEL_METRIC_EXPORT_INTERVAL")}
	c.Service = cmp.Or(r.get("OTEL_SERVICE_NAME"), c.Resource["service.name"], r.get("WEBSITE_SITE_NAME"), valid(filepath.Base(a.Dir)))
	delete(c.Resource, "service.name")
	c.Traces, c.Metrics, c.Logs = r.target("TRACES", "/v1/traces"), r.target("METRICS", "/v1/metrics"), r.target("LOGS", "/v1/logs")
	c.Sampler = r.sampler()
	c.Spans, c.Lines, c.Limits = r.batch("OTEL_BSP_"), r.batch("OTEL_BLRP_"), r.limits()
	r.propagators()
	r.others()
	c.Warnings = r.warnings
	switch {
	case c.On() || len(c.Warnings) > 0 || r.none == 3:
	case named && !a.Config.OpenTelemetry:
		what := "logging.applicationInsights of host.json"
		if r.get(insightsSetting) != "" {
			what = insightsSetting
		}
		c.Warnings = []string{what + " has no effect: nothing is sent to Application Insights from here; with " + endpointSetting + " its telemetry goes to an OTLP collector"}
	default:
		c.Warnings = []string{`host.json: telemetryMode is "OpenTelemetry", but the setting ` + endpointSetting + " is missing: nothing is exported"}
	}
	return c
}

// settings reads settings.
type settings struct {
	lookup   func(name string) (string, bool)
	warnings []string
	none     int // signals that the settings switch off
}

func (r *settings) get(name string) string {
	text, _ := r.lookup(name)
	return valid(strings.TrimSpace(text)) // a value of the environment may be any bytes
}

// warn says what is wrong with a setting. Its value may hold a key.
func (r *settings) warn(name, want string) {
	if text := name + ": want " + want + "; it has no effect"; !slices.Contains(r.warnings, text) {
		r.warnings = append(r.warnings, text)
	}
}

// target is where a signal goes; path is where a collector takes it over HTTP.
func (r *settings) target(signal, path string) (t Target) {
	switch exporters := r.list("OTEL_" + signal + "_EXPORTER"); {
	case slices.Equal(exporters, []string{"none"}):
		r.none++
		return Target{}
	case len(exporters) > 0 && !slices.Equal(exporters, []string{"otlp"}):
		r.warn("OTEL_"+signal+"_EXPORTER", "otlp or none")
		if !slices.Contains(exporters, "otlp") {
			return Target{}
		}
	}
	own := func(name string) (value, found string) { // of the signal, or of all
		if found = "OTEL_EXPORTER_OTLP_" + signal + "_" + name; r.get(found) == "" {
			found = "OTEL_EXPORTER_OTLP_" + name
		}
		return r.get(found), found
	}
	endpoint, name := own("ENDPOINT")
	if endpoint == "" {
		return Target{}
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.warn(name, `a URL such as "http://localhost:4318"`)
		return Target{}
	}
	switch protocol, of := own("PROTOCOL"); protocol {
	case "grpc":
		t.GRPC = true
	case "http/protobuf":
	case "":
		t.GRPC = u.Port() == "4317" // the port of collectors for gRPC
	default:
		r.warn(of, "grpc or http/protobuf")
		return Target{}
	}
	if !t.GRPC && name == endpointSetting {
		u = u.JoinPath(path)
	}
	t.Endpoint = u.String()
	_, name = own("HEADERS")
	t.Headers = r.attributes(name)
	_, name = own("TIMEOUT")
	t.Timeout = r.milliseconds(name)
	t.Authority, _ = own("CERTIFICATE")
	t.Certificate, _ = own("CLIENT_CERTIFICATE")
	t.Key, _ = own("CLIENT_KEY")
	if _, fault, err := t.security(); err != nil {
		_, name = own(fault)
		r.warn(name, "files in PEM that can be read: a certificate, and its key where it has one")
		return Target{}
	}
	if compression, name := own("COMPRESSION"); compression == "gzip" {
		t.Gzip = true
	} else if compression != "" && compression != "none" {
		r.warn(name, "gzip or none")
	}
	return t
}

// attributes reads "name=value,name=value", with values as in a URL.
func (r *settings) attributes(name string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(r.get(name), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, text, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(text))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			r.warn(name, "name=value pairs with commas between them")
			continue
		}
		out[valid(key)] = valid(value) // one wrong text would lose all that is sent
	}
	return out
}

// milliseconds reads a number of milliseconds above 0.
func (r *settings) milliseconds(name string) time.Duration {
	return time.Duration(r.number(name, "a number of milliseconds above 0")) * time.Millisecond
}

// number reads a number above 0.
func (r *settings) number(name, want string) int {
	text := r.get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > math.MaxInt32 {
		r.warn(name, want)
		return 0
	}
	return n
}

func (r *settings) count(name string) int { return r.number(name, "a number above 0") }

// batch reads how spans or log records wait.
func (r *settings) batch(prefix string) Batch {
	b := Batch{
		Queue: r.count(prefix + "MAX_QUEUE_SIZE"), Size: r.count(prefix + "MAX_EXPORT_BATCH_SIZE"),
		Delay: r.milliseconds(prefix + "SCHEDULE_DELAY"), Timeout: r.milliseconds(prefix + "EXPORT_TIMEOUT"),
	}
	if b.Queue > 0 && b.Size > b.Queue {
		r.warn(prefix+"MAX_EXPORT_BATCH_SIZE", "at most "+prefix+"MAX_QUEUE_SIZE")
		b.Size = 0
	}
	return b
}

// limits reads the most that a span has.
func (r *settings) limits() Limits {
	or := func(name, general string) string { // that of spans, or the general one
		if r.get(name) == "" {
			return general
		}
		return name
	}
	return Limits{
		ValueLength: r.count(or("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")),
		Attributes:  r.count(or("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT")),
		Events:      r.count("OTEL_SPAN_EVENT_COUNT_LIMIT"), Links: r.count("OTEL_SPAN_LINK_COUNT_LIMIT"),
		EventAttributes: r.count("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT"), LinkAttributes: r.count("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT"),
	}
}

func (r *settings) sampler() trace.Sampler {
	const name, arg = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	s, ok, err := trace.ParseSampler(strings.ToLower(r.get(name)), r.get(arg))
	if !ok {
		r.warn(name, "always_on, always_off, traceidratio, or one of these with parentbased_ before it")
	} else if err != nil {
		r.warn(arg, "a number from 0 to 1")
	}
	return s
}

// propagators says when others are asked for than messages and handlers have.
func (r *settings) propagators() {
	const name = "OTEL_PROPAGATORS"
	list := r.list(name)
	unknown := func(p string) bool { return p != "tracecontext" && p != "baggage" }
	if len(list) > 0 && (!slices.Contains(list, "tracecontext") || slices.ContainsFunc(list, unknown)) {
		r.warn(name, "tracecontext, which messages and handlers have whatever it says")
	}
}

// list reads words with commas between them, in lower case.
func (r *settings) list(name string) (words []string) {
	for word := range strings.SplitSeq(strings.ToLower(r.get(name)), ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// others says what has no effect of the settings that the specification has and that
// nothing here reads.
func (r *settings) others() {
	one := func(name, want string, values ...string) {
		if text := strings.ToLower(r.get(name)); text != "" && !slices.Contains(values, text) {
			r.warn(name, want)
		}
	}
	one("OTEL_SDK_DISABLED", "true or false", "true", "false")
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		one("OTEL_EXPORTER_OTLP_"+signal+"INSECURE", "true or false; the endpoint says http or https", "true", "false")
	}
	one("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "cumulative", "cumulative")
	one("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram", "explicit_bucket_histogram")
	one("OTEL_METRICS_EXEMPLAR_FILTER", "always_off, always_on or trace_based", "always_off", "always_on", "trace_based")
	for _, name := range []string{"OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE"} {
		one(name, "settings of their own: a file is not read")
	}
	r.milliseconds("OTEL_METRIC_EXPORT_TIMEOUT")
}

// String says where telemetry goes, without headers, which may be secrets.
func (c *Config) String() string {
	var parts []string
	for _, s := range []struct {
		name string
		to   Target
	}{{"traces", c.Traces}, {"metrics", c.Metrics}, {"logs", c.Logs}} {
		if s.to.Endpoint != "" {
			parts = append(parts, s.name+" to "+redacted(s.to.Endpoint))
		}
	}
	return fmt.Sprintf("%s as %s", strings.Join(parts, ", "), c.Service)
}

// redacted is a URL without its password and its query.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an endpoint"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}
