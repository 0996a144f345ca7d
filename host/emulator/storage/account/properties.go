package account

import (
	"slices"

	"github.com/redeliver/redeliver/bindings/storage"
)

// SetProperties replaces the settings of a service that are not nil in by.
func SetProperties(to *storage.ServiceProperties, by storage.ServiceProperties) {
	by = CloneProperties(by)
	replace(&to.Logging, by.Logging)
	replace(&to.HourMetrics, by.HourMetrics)
	replace(&to.MinuteMetrics, by.MinuteMetrics)
	replace(&to.CORS, by.CORS)
	replace(&to.DefaultVersion, by.DefaultVersion)
	replace(&to.SoftDelete, by.SoftDelete)
	replace(&to.StaticWebsite, by.StaticWebsite)
}

// CloneProperties returns p with parts of its own.
func CloneProperties(p storage.ServiceProperties) storage.ServiceProperties {
	p.Logging, p.SoftDelete, p.StaticWebsite, p.DefaultVersion = own(p.Logging), own(p.SoftDelete), own(p.StaticWebsite), own(p.DefaultVersion)
	for _, m := range []**storage.MetricsProperties{&p.HourMetrics, &p.MinuteMetrics} {
		if *m = own(*m); *m != nil {
			(*m).IncludeAPIs = own((*m).IncludeAPIs)
		}
	}
	if p.CORS = own(p.CORS); p.CORS != nil {
		*p.CORS = slices.Clone(*p.CORS)
	}
	return p
}

func replace[T any](to **T, by *T) {
	if by != nil {
		*to = by
	}
}

// own returns a copy of what p points to.
func own[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
