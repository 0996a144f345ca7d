package azure_test

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Signed URLs of differential programs. The strings to sign are written here
// once more, from the documentation (docs: Create a service SAS, Create an
// account SAS), version 2020-12-06 and later.

const sasVersion = "2021-12-02"

// terms are the parameters that all kinds of signature have.
type terms struct{ sp, st, se, si, sip, spr string }

const sasTime = "2006-01-02T15:04:05Z"

// signTerms are mostly good ones; the letters belong to the kind.
func (g *generator) signTerms(e *exchange, letters ...string) func(at time.Time) terms {
	sp := pick(g.choices, letters...)
	from, until := pick(g.choices, 0, -time.Hour, -time.Hour, time.Minute), pick(g.choices, time.Hour, time.Hour, time.Hour, -time.Minute)
	sip, spr := pick(g.choices, "", "", "", "127.0.0.1", "10.0.0.1-10.0.0.9"), pick(g.choices, "", "", "https,http", "https")
	e.signed = fmt.Sprintf("sp %s from %v until %v sip %s spr %s", sp, from, until, sip, spr)
	return func(at time.Time) terms {
		t := terms{sp: sp, se: at.Add(until).Format(sasTime), sip: sip, spr: spr}
		if from != 0 {
			t.st = at.Add(from).Format(sasTime)
		}
		return t
	}
}

func (t terms) query(more ...string) string {
	q := url.Values{}
	set := func(name, v string) {
		if v != "" {
			q.Set(name, v)
		}
	}
	set("sv", sasVersion)
	set("sp", t.sp)
	set("st", t.st)
	set("se", t.se)
	set("si", t.si)
	set("sip", t.sip)
	set("spr", t.spr)
	for i := 0; i+1 < len(more); i += 2 {
		set(more[i], more[i+1])
	}
	return q.Encode()
}

// signForAccount signs for services and types of resources.
func signForAccount(of func(at time.Time) terms, services, resources string) func(*side, time.Time) string {
	return func(s *side, at time.Time) string {
		t := of(at)
		text := strings.Join([]string{s.account, t.sp, services, resources, t.st, t.se, t.sip, t.spr, sasVersion, "", ""}, "\n")
		return t.query("ss", services, "srt", resources, "sig", macOf(s.key, text))
	}
}

// signForService signs for one queue, container or blob, given by its name with
// {box}. Where it names a stored policy, that has the terms.
func signForService(of func(at time.Time) terms, service, name, kind, si, served string) func(*side, time.Time) string {
	return func(s *side, at time.Time) string {
		t := of(at)
		if si != "" {
			t = terms{si: si, sip: t.sip, spr: t.spr}
		}
		lines := []string{t.sp, t.st, t.se, "/" + service + "/" + s.account + strings.ReplaceAll(name, "{box}", s.box), t.si, t.sip, t.spr, sasVersion}
		if service == "blob" {
			lines = append(lines, kind, "", "", "", "", "", "", served)
		}
		return t.query("sr", kind, "rsct", served, "sig", macOf(s.key, strings.Join(lines, "\n")))
	}
}

func blobSAS(g *generator) *exchange {
	path := g.blob()
	e := pick(g.choices,
		exchange{method: "GET", path: path}, exchange{method: "HEAD", path: path},
		exchange{method: "PUT", path: path, body: "signed", header: []string{"x-ms-blob-type", "BlockBlob"}},
		exchange{method: "DELETE", path: path},
		exchange{method: "PUT", path: path, query: []string{"comp", "metadata"}, header: []string{"x-ms-meta-by", "signature"}},
		exchange{method: "PUT", path: path, query: []string{"comp", "appendblock"}, body: "more"},
		exchange{method: "PUT", path: path, query: []string{"comp", "snapshot"}},
		exchange{method: "GET", path: "/{box}", query: []string{"restype", "container", "comp", "list"}},
		exchange{method: "GET", path: "/{box}", query: []string{"restype", "container"}},
		exchange{method: "GET", path: "/{box}", query: []string{"restype", "container", "comp", "acl"}},
		exchange{method: "GET", path: "/", query: []string{"comp", "list", "prefix", "{box}"}})
	of := g.signTerms(&e, "r", "rl", "racwdl", "w", "d", "a", "c", "l")
	if g.one(3) {
		services, resources := pick(g.choices, "b", "bq", "q"), pick(g.choices, "sco", "o", "c", "s")
		e.signed += " ss " + services + " srt " + resources
		e.sas = signForAccount(of, services, resources)
		return &e
	}
	kind, si := pick(g.choices, "b", "c"), pick(g.choices, "", "", "p0", "none")
	served := pick(g.choices, "", "", "text/served")
	name := "/{box}"
	if kind == "b" {
		name = strings.NewReplacer("%20", " ", "%C3%B6", "\u00f6").Replace(path)
	}
	e.signed += " sr " + kind + " si " + si + " rsct " + served
	e.sas = signForService(of, "blob", name, kind, si, served)
	return &e
}

func queueSAS(g *generator) *exchange {
	text := g.message()
	e := pick(g.choices,
		exchange{method: "GET", path: "/{box}/messages"}, exchange{method: "GET", path: "/{box}/messages", query: []string{"peekonly", "true"}},
		exchange{method: "DELETE", path: "/{box}/messages/{id " + text + "}", query: []string{"popreceipt", "{receipt " + text + "}"}},
		exchange{method: "PUT", path: "/{box}/messages/{id " + text + "}", query: []string{"popreceipt", "{receipt " + text + "}", "visibilitytimeout", "0"}, about: text},
		exchange{method: "DELETE", path: "/{box}/messages"},
		exchange{method: "GET", path: "/{box}", query: []string{"comp", "metadata"}},
		exchange{method: "GET", path: "/{box}", query: []string{"comp", "acl"}},
		exchange{method: "GET", path: "/", query: []string{"comp", "list", "prefix", "{box}"}})
	of := g.signTerms(&e, "r", "a", "u", "p", "raup", "rap")
	if g.one(3) {
		services, resources := pick(g.choices, "q", "bq", "b"), pick(g.choices, "sco", "o", "c", "s")
		e.signed += " ss " + services + " srt " + resources
		e.sas = signForAccount(of, services, resources)
		return &e
	}
	si := pick(g.choices, "", "", "p0", "none")
	e.signed += " si " + si
	e.sas = signForService(of, "queue", "/{box}", "", si, "")
	return &e
}
