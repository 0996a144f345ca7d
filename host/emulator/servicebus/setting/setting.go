// Package setting is the one table of what can be set on a queue, a topic or a
// subscription of Service Bus (spec messaging 1.1). The control API, administration over
// ATOM and the file of the emulator read settings by it, each in its own words, and the
// namespace completes and checks them by it.
package setting

import (
	"math"
	"reflect"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// A Setting is a setting as the service knows it.
type Setting struct {
	Name     string        // of the field, in ATOM and in the file
	Min, Max time.Duration // of a duration; no Max: it can be without an end, which is zero
	Most     int           // of a number; the least is 1
	Default  any           // of the service; nil: the zero value
	Words    string        // for a number or duration in the service's refusals
	Fixed    bool          // decided at creation: an update that does not mention it leaves it
}

// The least that the official emulator takes. The service names no least lock duration, and
// its least window is 20 s.
const leastLock, leastWindow = 5 * time.Second, 5 * time.Second

// table is in the order of the official file, the service's other settings at its end.
var table = []Setting{
	{Name: "DeadLetteringOnMessageExpiration"},
	{Name: "DefaultMessageTimeToLive", Min: time.Second, Words: "default message time to live"},
	{Name: "DuplicateDetectionHistoryTimeWindow", Min: leastWindow, Max: 7 * 24 * time.Hour, Default: 10 * time.Minute, Words: "duplicate detection window"},
	{Name: "ForwardDeadLetteredMessagesTo"},
	{Name: "ForwardTo"},
	{Name: "LockDuration", Min: leastLock, Max: 5 * time.Minute, Default: servicebus.DefaultLockDuration, Words: "lock duration"},
	{Name: "MaxDeliveryCount", Most: math.MaxInt32, Default: servicebus.DefaultMaxDeliveryCount, Words: "maximum delivery count"},
	{Name: "RequiresDuplicateDetection", Fixed: true},
	{Name: "RequiresSession", Fixed: true},
	{Name: "DeadLetteringOnFilterEvaluationExceptions", Default: true},
	{Name: "MaxSizeInMegabytes", Most: 80 * 1024, Default: 1024, Words: "maximum size in megabytes"},
	{Name: "MaxMessageSizeInKilobytes", Most: servicebus.MaxMessageSizeLimit, Default: 256, Words: "maximum message size in kilobytes"},
	{Name: "AutoDeleteOnIdle", Min: 5 * time.Minute, Words: "auto-delete on idle"},
	{Name: "Status", Default: servicebus.StatusActive},
	{Name: "UserMetadata"},
	{Name: "EnablePartitioning", Default: false},
	{Name: "EnableExpress", Default: false},
	{Name: "SupportOrdering", Default: false},
	{Name: "EnableBatchedOperations", Default: true},
}

// A Value is a setting of one entity.
type Value struct {
	Setting
	In any // where it is: *time.Duration, *int, *bool, **bool, *string or *servicebus.Status
}

// The kinds of entities.
const (
	Queue        = "queue"
	Topic        = "topic"
	Subscription = "subscription"
)

// Of are the settings of an entity: a pointer to a servicebus.Queue, Topic or
// Subscription, or to a struct that embeds one. Each kind has the settings that are its
// fields.
func Of(entity any) (out []Value) {
	v := reflect.ValueOf(entity).Elem()
	for _, s := range table {
		if f := v.FieldByName(s.Name); f.IsValid() {
			out = append(out, Value{s, f.Addr().Interface()})
		}
	}
	return out
}

// Names are the names of an entity's settings.
func Names(entity any) (out []string) {
	for _, v := range Of(entity) {
		out = append(out, v.Name)
	}
	return out
}

// Complete sets what is missing to the service's default.
func (v Value) Complete() {
	if at := reflect.ValueOf(v.In).Elem(); v.Default != nil && at.IsZero() {
		def := reflect.ValueOf(v.Default)
		if at.Kind() == reflect.Pointer {
			at.Set(reflect.New(at.Type().Elem()))
			at = at.Elem()
		}
		at.Set(def.Convert(at.Type()))
	}
}
