package azure_test

import (
	"fmt"
	"slices"
	"strings"
)

// Programs about the settings of a service and what they mean for browsers:
// spec storage 16, 17.1. Settings belong to the account, so such a program begins by
// taking all rules away.

func corsProgram(service byte) ([]operation, []*exchange) {
	ops := slices.Clone(corsOps)
	for i := range ops {
		ops[i].service = service
	}
	none := settings("<Cors></Cors>")
	none.op, none.service = "SetServiceProperties", service
	box := &exchange{op: "CreateQueue", service: 'q', method: "PUT", path: "/{box}"}
	if service == 'b' {
		box = &exchange{op: "CreateContainer", service: 'b', method: "PUT", path: "/{box}", query: []string{"restype", "container"}}
	}
	return ops, []*exchange{box, none}
}

func settings(inner string) *exchange {
	return &exchange{
		method: "PUT", path: "/", query: []string{"restype", "service", "comp", "properties"},
		body: `<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>` + inner + "</StorageServiceProperties>",
	}
}

func (g *generator) origin() string {
	return pick(g.choices, "http://a.example", "http://b.example", "https://a.example")
}

var corsOps = []operation{
	{"SetServiceProperties", 0, 3, func(g *generator) *exchange {
		var rules strings.Builder
		for range g.n(3) {
			fmt.Fprintf(&rules, "<CorsRule><AllowedOrigins>%s</AllowedOrigins><AllowedMethods>%s</AllowedMethods><MaxAgeInSeconds>%s</MaxAgeInSeconds><ExposedHeaders>%s</ExposedHeaders><AllowedHeaders>%s</AllowedHeaders></CorsRule>",
				pick(g.choices, "*", "http://a.example", "http://a.example,http://b.example"), pick(g.choices, "GET", "GET,PUT", "PUT,DELETE"),
				pick(g.choices, "0", "60", "3600"), pick(g.choices, "*", "x-ms-meta-*", "x-ms-request-id"), pick(g.choices, "*", "x-ms-meta-*,x-ms-version", "x-ms-version"))
		}
		return settings("<Cors>" + rules.String() + "</Cors>")
	}},
	{"GetServiceProperties", 0, 2, func(g *generator) *exchange {
		return &exchange{method: "GET", path: "/", query: []string{"restype", "service", "comp", "properties"}}
	}},
	{"preflight", 0, 6, func(g *generator) *exchange {
		h := []string{"Origin", g.origin(), "Access-Control-Request-Method", pick(g.choices, "GET", "PUT", "DELETE", "POST")}
		if g.one(2) {
			h = append(h, "Access-Control-Request-Headers", pick(g.choices, "x-ms-version", "x-ms-meta-a", "x-ms-version,x-ms-meta-a", "content-type"))
		}
		return &exchange{method: "OPTIONS", path: pick(g.choices, "/{box}", "/{box}/a", "/"), header: h, bare: true}
	}},
	{"with origin", 0, 6, func(g *generator) *exchange {
		e := &exchange{method: pick(g.choices, "GET", "GET", "PUT"), path: "/", header: []string{"Origin", g.origin()}}
		if e.method == "GET" {
			e.query = []string{"comp", "list", "prefix", "{box}"}
			return e
		}
		e.path = "/{box}"
		if g.one(2) {
			e.query = []string{"restype", "container"}
		}
		return e
	}},
}
