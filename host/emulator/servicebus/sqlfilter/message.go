package sqlfilter

import (
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// systemProperties are the properties of scope sys, by their lower-case names. A
// get returns nil for a property that the message does not have; set is nil for
// a property that an action cannot change.
//
// Source: docs, "Messages, payloads, and serialization"; older clients say Label
// for Subject.
func systemProperty(name string) (systemField, bool) {
	f, ok := systemFields[strings.ToLower(name)]
	return f, ok
}

type systemField struct {
	get func(m *servicebus.Message) value
	set func(m *servicebus.Message, v value) bool // false: a value of the wrong type
}

var systemFields = map[string]systemField{
	"messageid":        textField(func(m *servicebus.Message) *string { return &m.MessageID }),
	"correlationid":    textField(func(m *servicebus.Message) *string { return &m.CorrelationID }),
	"subject":          textField(func(m *servicebus.Message) *string { return &m.Subject }),
	"label":            textField(func(m *servicebus.Message) *string { return &m.Subject }),
	"to":               textField(func(m *servicebus.Message) *string { return &m.To }),
	"replyto":          textField(func(m *servicebus.Message) *string { return &m.ReplyTo }),
	"contenttype":      textField(func(m *servicebus.Message) *string { return &m.ContentType }),
	"sessionid":        optionalField(func(m *servicebus.Message) **string { return &m.SessionID }),
	"replytosessionid": optionalField(func(m *servicebus.Message) **string { return &m.ReplyToSessionID }),
	"partitionkey":     optionalField(func(m *servicebus.Message) **string { return &m.PartitionKey }),
	"transactionpartitionkey": optionalField(func(m *servicebus.Message) **string {
		return &m.TransactionPartitionKey
	}),
	"viapartitionkey": optionalField(func(m *servicebus.Message) **string { return &m.TransactionPartitionKey }),
	"timetolive": {
		get: func(m *servicebus.Message) value {
			if m.TimeToLive == 0 {
				return nil
			}
			return m.TimeToLive
		},
		set: func(m *servicebus.Message, v value) bool {
			d, ok := v.(time.Duration)
			if ok || v == nil {
				m.TimeToLive = d
			}
			return ok || v == nil
		},
	},
	"scheduledenqueuetimeutc": scheduledField,
	"scheduledenqueuetime":    scheduledField,

	"deadlettersource":       brokersField,
	"deliverycount":          brokersField,
	"enqueuedsequencenumber": brokersField,
	"enqueuedtime":           brokersField,
	"enqueuedtimeutc":        brokersField,
	"expiresat":              brokersField,
	"expiresatutc":           brokersField,
	"lockeduntil":            brokersField,
	"lockeduntilutc":         brokersField,
	"locktoken":              brokersField,
	"sequencenumber":         brokersField,
	"state":                  brokersField,
}

// brokersField is a property that the broker gives a message in each entity: it
// exists, but while a rule looks at the message it has no value yet.
var brokersField = systemField{
	get: func(*servicebus.Message) value { return nil },
	set: func(*servicebus.Message, value) bool { return false },
}

// scheduledField can be set, to no effect: the time of a message is not an
// action's to change (spec messaging 1.6).
var scheduledField = systemField{
	get: func(m *servicebus.Message) value {
		if m.ScheduledEnqueueTime.IsZero() {
			return nil
		}
		return m.ScheduledEnqueueTime
	},
	set: func(*servicebus.Message, value) bool { return true },
}

func textField(field func(*servicebus.Message) *string) systemField {
	return systemField{
		get: func(m *servicebus.Message) value {
			if s := *field(m); s != "" {
				return s
			}
			return nil
		},
		set: func(m *servicebus.Message, v value) bool {
			s, ok := textOf(v)
			if ok {
				*field(m) = s
			}
			return ok
		},
	}
}

func optionalField(field func(*servicebus.Message) **string) systemField {
	return systemField{
		get: func(m *servicebus.Message) value {
			if p := *field(m); p != nil {
				return *p
			}
			return nil
		},
		set: func(m *servicebus.Message, v value) bool {
			if v == nil {
				*field(m) = nil
				return true
			}
			s, ok := textOf(v)
			if ok {
				*field(m) = &s
			}
			return ok
		},
	}
}

// textOf is the implicit conversion to the type of a text property.
func textOf(v value) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case bindings.GUID:
		return v.String(), true
	}
	return "", false
}

// userProperty looks a property up. A name that is spelled the same wins over
// one that differs in case; among several of those, the first in order does.
func userProperty(m *servicebus.Message, name string) (key string, v value, ok bool) {
	if v, ok := m.ApplicationProperties[name]; ok {
		return name, normal(v), true
	}
	for k := range m.ApplicationProperties {
		if strings.EqualFold(k, name) && (!ok || k < key) {
			key, ok = k, true
		}
	}
	if !ok {
		return name, nil, false
	}
	return key, normal(m.ApplicationProperties[key]), true
}
