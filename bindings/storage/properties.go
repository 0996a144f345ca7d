package storage

import "time"

// MaxAccessPolicies is how many stored access policies a queue or a container
// can have (docs: Define a stored access policy).
const MaxAccessPolicies = 5

// AccessPolicy is a stored access policy: terms of access that shared access
// signatures name instead of carrying them. An empty field means that the
// signature has to carry it.
type AccessPolicy struct {
	ID         string // unique in the queue or container, up to 64 characters
	Start      time.Time
	Expiry     time.Time
	Permission string // letters, e.g. "raup" for queues
}

// ServiceProperties are the settings of one service of a storage account. A nil
// field has never been set.
//
// Source: docs, Set Queue Service Properties and Set Blob Service Properties.
type ServiceProperties struct {
	Logging        *LoggingProperties
	HourMetrics    *MetricsProperties
	MinuteMetrics  *MetricsProperties
	CORS           *[]CORSRule // an empty list is a setting: no rules
	DefaultVersion *string     // blobs only
	SoftDelete     *RetentionProperties
	StaticWebsite  *StaticWebsite // blobs only
}

// LoggingProperties are stored and reported; nothing is logged.
type LoggingProperties struct {
	Version             string
	Delete, Read, Write bool
	Retention           RetentionProperties
}

// MetricsProperties are stored and reported; nothing is measured.
type MetricsProperties struct {
	Version     string
	Enabled     bool
	IncludeAPIs *bool // only while enabled
	Retention   RetentionProperties
}

// RetentionProperties say how long something is kept.
type RetentionProperties struct {
	Enabled bool
	Days    int // 1 to 365 while enabled
}

// StaticWebsite is stored and reported; nothing is served.
type StaticWebsite struct {
	Enabled             bool
	IndexDocument       string
	ErrorDocument404    string
	DefaultIndexDocPath string
}

// CORSRule lets pages of other origins call the service. Lists are kept as they
// were set, separated by commas.
type CORSRule struct {
	AllowedOrigins, AllowedMethods, AllowedHeaders, ExposedHeaders string

	MaxAge int // seconds
}
