package rest

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
)

// maxCORSRules is how many rules a service can have (docs: Set Queue Service
// Properties).
const maxCORSRules = 5

// MaxDocument limits bodies that hold settings.
const MaxDocument = 64 << 10

// propertiesXML is the document of service properties, as it comes.
type propertiesXML struct {
	XMLName       xml.Name      `xml:"StorageServiceProperties"`
	Logging       *loggingXML   `xml:"Logging"`
	HourMetrics   *metricsXML   `xml:"HourMetrics"`
	MinuteMetrics *metricsXML   `xml:"MinuteMetrics"`
	Metrics       *metricsXML   `xml:"Metrics"` // its name before 2013-08-15
	CORS          *corsXML      `xml:"Cors"`
	Version       *string       `xml:"DefaultServiceVersion"`
	SoftDelete    *retentionXML `xml:"DeleteRetentionPolicy"`
	Website       *websiteXML   `xml:"StaticWebsite"`
}

type loggingXML struct {
	Version   string
	Delete    bool
	Read      bool
	Write     bool
	Retention retentionXML `xml:"RetentionPolicy"`
}

type metricsXML struct {
	Version     string
	Enabled     bool
	IncludeAPIs *bool
	Retention   retentionXML `xml:"RetentionPolicy"`
}

type retentionXML struct {
	Enabled bool
	Days    int
}

type corsXML struct {
	Rules []struct {
		AllowedOrigins  string
		AllowedMethods  string
		AllowedHeaders  string
		ExposedHeaders  string
		MaxAgeInSeconds int
	} `xml:"CorsRule"`
}

type websiteXML struct {
	Enabled              bool
	IndexDocument        string
	ErrorDocument404Path string
	DefaultIndexDocument string `xml:"DefaultIndexDocumentPath"`
}

func errXMLNode(name, value string) *Error {
	return NewError(http.StatusBadRequest, "InvalidXmlNodeValue",
		"The value for one of the XML nodes is not in the correct format.", "XmlNodeName", name, "XmlNodeValue", value)
}

// ParseProperties reads the body of Set Service Properties.
func ParseProperties(b []byte) (p storage.ServiceProperties, refused *Error) {
	var x propertiesXML
	if err := decodeXML(b, &x); err != nil {
		return p, err
	}
	retentions := map[string]*retentionXML{"DeleteRetentionPolicy": x.SoftDelete}
	if x.Logging != nil {
		l := *x.Logging
		retentions["Logging"] = &l.Retention
		p.Logging = &storage.LoggingProperties{Version: l.Version, Delete: l.Delete, Read: l.Read, Write: l.Write, Retention: storage.RetentionProperties(l.Retention)}
	}
	if x.HourMetrics == nil {
		x.HourMetrics = x.Metrics
	}
	for _, m := range []struct {
		name string
		from *metricsXML
		to   **storage.MetricsProperties
	}{{"HourMetrics", x.HourMetrics, &p.HourMetrics}, {"MinuteMetrics", x.MinuteMetrics, &p.MinuteMetrics}} {
		if m.from == nil {
			continue
		}
		retentions[m.name] = &m.from.Retention
		*m.to = &storage.MetricsProperties{Version: m.from.Version, Enabled: m.from.Enabled, IncludeAPIs: m.from.IncludeAPIs, Retention: storage.RetentionProperties(m.from.Retention)}
	}
	for _, name := range []string{"Logging", "HourMetrics", "MinuteMetrics", "DeleteRetentionPolicy"} {
		if r := retentions[name]; r != nil && r.Enabled && (r.Days < 1 || r.Days > 365) {
			return p, errXMLNode("Days", strconv.Itoa(r.Days))
		}
	}
	if x.SoftDelete != nil {
		r := storage.RetentionProperties(*x.SoftDelete)
		p.SoftDelete = &r
	}
	if x.Website != nil {
		w := storage.StaticWebsite{Enabled: x.Website.Enabled, IndexDocument: x.Website.IndexDocument, ErrorDocument404: x.Website.ErrorDocument404Path, DefaultIndexDocPath: x.Website.DefaultIndexDocument}
		p.StaticWebsite = &w
	}
	p.DefaultVersion = x.Version
	if x.CORS != nil {
		rules, err := parseCORS(x.CORS)
		if err != nil {
			return p, err
		}
		p.CORS = &rules
	}
	return p, nil
}

func parseCORS(x *corsXML) ([]storage.CORSRule, *Error) {
	if n := len(x.Rules); n > maxCORSRules {
		return nil, ErrInvalidXML("more than " + strconv.Itoa(maxCORSRules) + " CORS rules: " + strconv.Itoa(n))
	}
	rules := []storage.CORSRule{}
	for _, r := range x.Rules {
		if strings.TrimSpace(r.AllowedOrigins) == "" {
			return nil, errXMLNode("AllowedOrigins", r.AllowedOrigins)
		}
		for method := range strings.SplitSeq(r.AllowedMethods, ",") {
			known := []string{"DELETE", "GET", "HEAD", "MERGE", "PATCH", "POST", "OPTIONS", "PUT", "*"}
			if !slices.Contains(known, strings.ToUpper(strings.TrimSpace(method))) {
				return nil, errXMLNode("AllowedMethods", r.AllowedMethods)
			}
		}
		if r.MaxAgeInSeconds < 0 {
			return nil, errXMLNode("MaxAgeInSeconds", strconv.Itoa(r.MaxAgeInSeconds))
		}
		rules = append(rules, storage.CORSRule{
			AllowedOrigins: r.AllowedOrigins, AllowedMethods: r.AllowedMethods,
			AllowedHeaders: r.AllowedHeaders, ExposedHeaders: r.ExposedHeaders, MaxAge: r.MaxAgeInSeconds,
		})
	}
	return rules, nil
}

// PropertiesDocument is the answer to Get Service Properties. Settings start as in
// a new account: nothing is logged, measured or shared.
func PropertiesDocument(p storage.ServiceProperties) []byte {
	b := []byte(XMLHeader + "<StorageServiceProperties>")
	logging := storage.LoggingProperties{}
	if p.Logging != nil {
		logging = *p.Logging
	}
	b = append(b, "<Logging>"...)
	b = AppendElement(b, "Version", orDefault(logging.Version))
	b = AppendElement(b, "Delete", strconv.FormatBool(logging.Delete))
	b = AppendElement(b, "Read", strconv.FormatBool(logging.Read))
	b = AppendElement(b, "Write", strconv.FormatBool(logging.Write))
	b = appendRetention(b, "RetentionPolicy", logging.Retention)
	b = append(b, "</Logging>"...)
	b = appendMetrics(b, "HourMetrics", p.HourMetrics)
	b = appendMetrics(b, "MinuteMetrics", p.MinuteMetrics)
	b = append(b, "<Cors>"...)
	if p.CORS != nil {
		for _, r := range *p.CORS {
			b = append(b, "<CorsRule>"...)
			b = AppendElement(b, "AllowedOrigins", r.AllowedOrigins)
			b = AppendElement(b, "AllowedMethods", r.AllowedMethods)
			b = AppendElement(b, "AllowedHeaders", r.AllowedHeaders)
			b = AppendElement(b, "ExposedHeaders", r.ExposedHeaders)
			b = AppendElement(b, "MaxAgeInSeconds", strconv.Itoa(r.MaxAge))
			b = append(b, "</CorsRule>"...)
		}
	}
	b = append(b, "</Cors>"...)
	if p.DefaultVersion != nil {
		b = AppendElement(b, "DefaultServiceVersion", *p.DefaultVersion)
	}
	if p.SoftDelete != nil {
		b = appendRetention(b, "DeleteRetentionPolicy", *p.SoftDelete)
	}
	if w := p.StaticWebsite; w != nil {
		b = append(b, "<StaticWebsite>"...)
		b = AppendElement(b, "Enabled", strconv.FormatBool(w.Enabled))
		for _, e := range []Detail{{"IndexDocument", w.IndexDocument}, {"DefaultIndexDocumentPath", w.DefaultIndexDocPath}, {"ErrorDocument404Path", w.ErrorDocument404}} {
			if e.Value != "" {
				b = AppendElement(b, e.Name, e.Value)
			}
		}
		b = append(b, "</StaticWebsite>"...)
	}
	return append(b, "</StorageServiceProperties>"...)
}

func orDefault(version string) string {
	if version == "" {
		return "1.0"
	}
	return version
}

func appendMetrics(b []byte, name string, p *storage.MetricsProperties) []byte {
	m := storage.MetricsProperties{}
	if p != nil {
		m = *p
	}
	b = append(b, "<"+name+">"...)
	b = AppendElement(b, "Version", orDefault(m.Version))
	b = AppendElement(b, "Enabled", strconv.FormatBool(m.Enabled))
	if m.IncludeAPIs != nil {
		b = AppendElement(b, "IncludeAPIs", strconv.FormatBool(*m.IncludeAPIs))
	}
	b = appendRetention(b, "RetentionPolicy", m.Retention)
	return append(b, "</"+name+">"...)
}

func appendRetention(b []byte, name string, r storage.RetentionProperties) []byte {
	b = append(b, "<"+name+">"...)
	b = AppendElement(b, "Enabled", strconv.FormatBool(r.Enabled))
	if r.Enabled {
		b = AppendElement(b, "Days", strconv.Itoa(r.Days))
	}
	return append(b, "</"+name+">"...)
}

// GetStats tells that the secondary is up to date: it is the primary.
func GetStats(c *Call) error {
	if !c.secondary {
		return ErrInvalidParameter("comp", "stats", "Statistics are on the secondary.")
	}
	return c.Stats()
}

// Stats answers with the statistics of the service.
func (c *Call) Stats() error {
	b := []byte(XMLHeader + "<StorageServiceStats><GeoReplication>")
	b = AppendElement(b, "Status", "live")
	b = AppendElement(b, "LastSyncTime", WireTime(c.front.clk.Now()))
	return c.Answer(http.StatusOK, append(b, "</GeoReplication></StorageServiceStats>"...))
}
