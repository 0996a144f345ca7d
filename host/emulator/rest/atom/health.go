package atom

import (
	"net/http"
	"strings"
)

// isHealth: every administration client names an api-version, so that a queue of
// this name can be administered all the same.
func (c *call) isHealth() bool {
	return strings.EqualFold(strings.TrimSuffix(c.r.URL.Path, "/"), "/health") && !c.r.URL.Query().Has("api-version")
}

// health answers as the official emulator does.
//
// Source: azure-service-bus-emulator-installer: Schema/HealthCheckApiSchema.md.
func (c *call) health() error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		c.w.Header().Set("Allow", "GET, HEAD")
		return fail(http.StatusMethodNotAllowed, "the method %s is not offered here", c.r.Method)
	}
	status, word := http.StatusOK, "healthy"
	if c.opts.Health != nil && c.opts.Health() != nil {
		status, word = http.StatusServiceUnavailable, "unhealthy"
	}
	body := []byte(`{"status":"` + word + `","message":"Service is ` + word + `."}`)
	return c.answer(status, "application/json; charset=utf-8", body)
}
