package azure

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/redeliver/redeliver/bindings/storage"
)

// BlobServiceProperties returns the account's settings.
func (a *BlobAccount) BlobServiceProperties(ctx context.Context) (*storage.ServiceProperties, error) {
	var got service.GetPropertiesResponse
	_, err := blobCall(ctx, nil, func(ctx context.Context) (err error) {
		got, err = a.service.GetProperties(ctx, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &storage.ServiceProperties{DefaultVersion: got.DefaultServiceVersion}
	if l := got.Logging; l != nil {
		p.Logging = &storage.LoggingProperties{Version: value(l.Version), Delete: value(l.Delete), Read: value(l.Read), Write: value(l.Write), Retention: plainRetention(l.RetentionPolicy)}
	}
	p.HourMetrics, p.MinuteMetrics = plainMetrics(got.HourMetrics), plainMetrics(got.MinuteMetrics)
	rules := []storage.CORSRule{}
	for _, r := range got.CORS {
		rules = append(rules, storage.CORSRule{
			AllowedOrigins: value(r.AllowedOrigins), AllowedMethods: value(r.AllowedMethods), AllowedHeaders: value(r.AllowedHeaders),
			ExposedHeaders: value(r.ExposedHeaders), MaxAge: int(value(r.MaxAgeInSeconds)),
		})
	}
	p.CORS = &rules
	if r := got.DeleteRetentionPolicy; r != nil {
		soft := plainRetention(r)
		p.SoftDelete = &soft
	}
	if w := got.StaticWebsite; w != nil {
		p.StaticWebsite = &storage.StaticWebsite{
			Enabled: value(w.Enabled), IndexDocument: value(w.IndexDocument), ErrorDocument404: value(w.ErrorDocument404Path), DefaultIndexDocPath: value(w.DefaultIndexDocumentPath),
		}
	}
	return p, nil
}

// SetBlobServiceProperties replaces the settings that are not nil in p.
func (a *BlobAccount) SetBlobServiceProperties(ctx context.Context, p *storage.ServiceProperties) error {
	opts := &service.SetPropertiesOptions{DefaultServiceVersion: p.DefaultVersion, HourMetrics: sdkMetrics(p.HourMetrics), MinuteMetrics: sdkMetrics(p.MinuteMetrics)}
	if l := p.Logging; l != nil {
		opts.Logging = &service.Logging{Version: orNil(l.Version), Delete: &l.Delete, Read: &l.Read, Write: &l.Write, RetentionPolicy: sdkRetention(l.Retention)}
	}
	if p.CORS != nil {
		opts.CORS = []*service.CORSRule{}
		for _, r := range *p.CORS {
			age := int32(r.MaxAge)
			opts.CORS = append(opts.CORS, &service.CORSRule{
				AllowedOrigins: &r.AllowedOrigins, AllowedMethods: &r.AllowedMethods, AllowedHeaders: &r.AllowedHeaders,
				ExposedHeaders: &r.ExposedHeaders, MaxAgeInSeconds: &age,
			})
		}
	}
	if p.SoftDelete != nil {
		opts.DeleteRetentionPolicy = sdkRetention(*p.SoftDelete)
	}
	if w := p.StaticWebsite; w != nil {
		opts.StaticWebsite = &service.StaticWebsite{
			Enabled: &w.Enabled, IndexDocument: orNil(w.IndexDocument), ErrorDocument404Path: orNil(w.ErrorDocument404), DefaultIndexDocumentPath: orNil(w.DefaultIndexDocPath),
		}
	}
	_, err := blobCall(ctx, nil, func(ctx context.Context) error {
		_, err := a.service.SetProperties(ctx, opts)
		return err
	})
	return err
}

func plainRetention(r *service.RetentionPolicy) storage.RetentionProperties {
	if r == nil {
		return storage.RetentionProperties{}
	}
	return storage.RetentionProperties{Enabled: value(r.Enabled), Days: int(value(r.Days))}
}

func sdkRetention(r storage.RetentionProperties) *service.RetentionPolicy {
	out := &service.RetentionPolicy{Enabled: &r.Enabled}
	if r.Enabled {
		days := int32(r.Days)
		out.Days = &days
	}
	return out
}

func plainMetrics(m *service.Metrics) *storage.MetricsProperties {
	if m == nil {
		return nil
	}
	return &storage.MetricsProperties{Version: value(m.Version), Enabled: value(m.Enabled), IncludeAPIs: m.IncludeAPIs, Retention: plainRetention(m.RetentionPolicy)}
}

func sdkMetrics(m *storage.MetricsProperties) *service.Metrics {
	if m == nil {
		return nil
	}
	return &service.Metrics{Version: orNil(m.Version), Enabled: &m.Enabled, IncludeAPIs: m.IncludeAPIs, RetentionPolicy: sdkRetention(m.Retention)}
}
