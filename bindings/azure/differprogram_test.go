package azure_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

// choices turns bytes into decisions; when they are used up, programs end.
type choices struct{ rest []byte }

func (c *choices) more() bool { return len(c.rest) > 0 }

// n chooses from 0 to k-1; 0 when the bytes are used up.
func (c *choices) n(k int) int {
	if len(c.rest) == 0 {
		return 0
	}
	b := int(c.rest[0])
	c.rest = c.rest[1:]
	return b % k
}

// one in k.
func (c *choices) one(k int) bool { return c.n(k) == k-1 }

func pick[T any](c *choices, from ...T) T { return from[c.n(len(from))] }

// maxProgram keeps programs short, so that what differs is easy to see.
const maxProgram = 40

// program makes a program of blob or queue operations.
func program(choice []byte) []*exchange {
	c := &choices{choice}
	ops, out := blobOps, []*exchange{{op: "CreateContainer", service: 'b', method: "PUT", path: "/{box}", query: []string{"restype", "container"}}}
	if c.one(3) {
		ops, out = queueOps, []*exchange{{op: "CreateQueue", service: 'q', method: "PUT", path: "/{box}"}}
	}
	if c.one(8) {
		ops, out = corsProgram(pick(c, byte('b'), byte('q')))
	}
	g := &generator{choices: c}
	total := 0
	for _, op := range ops {
		total += op.weight
	}
	for len(out) < maxProgram && c.more() {
		at := (c.n(256)<<8 | c.n(256)) % total
		for _, op := range ops {
			if at -= op.weight; at < 0 {
				e := op.make(g)
				e.service, e.wait = op.service, c.wait()
				if e.op == "" {
					e.op = op.name
				}
				out = append(out, e)
				break
			}
		}
	}
	return out
}

// wait is mostly nothing, and at times enough for something to end.
func (c *choices) wait() time.Duration {
	if !c.one(8) {
		return 0
	}
	return pick(c, time.Second, 5*time.Second, 15*time.Second, 31*time.Second, 61*time.Second, time.Hour)
}

func messageXML(text string) string {
	var b strings.Builder
	b.WriteString("<QueueMessage><MessageText>")
	xml.EscapeText(&b, []byte(text))
	return b.String() + "</MessageText></QueueMessage>"
}

type generator struct {
	*choices
	texts    int
	leased   bool // something was to be leased
	messages []string
}

type operation struct {
	name    string
	service byte
	weight  int
	make    func(g *generator) *exchange
}

// Proposed identifiers of leases.
const (
	leaseA = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
	leaseB = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
)

func (g *generator) blob() string {
	return "/{box}/" + pick(g.choices, "a", "a", "a", "b", "b", "dir/x", "dir/y%20z", "l%C3%B6g")
}

func (g *generator) text() string {
	g.texts++
	return fmt.Sprintf("text %d ", g.texts) + strings.Repeat("x", pick(g.choices, 0, 1, 30, 1000))
}

// conditions are those on a blob, mostly none.
func (g *generator) conditions(path, prefix string) []string {
	if !g.one(3) {
		return nil
	}
	etag := func() string {
		return pick(g.choices, "{etag "+place(path)+"}", "{etag "+place(path)+"}", "{old etag "+place(path)+"}", `"0x1"`, "*")
	}
	when := func() string { return pick(g.choices, "{now-3600}", "{now+3600}", "{now+0}", "{now-1}") }
	switch g.n(5) {
	case 0:
		return []string{prefix + "if-match", etag()}
	case 1:
		return []string{prefix + "if-none-match", etag()}
	case 2:
		return []string{prefix + "if-modified-since", when()}
	case 3:
		return []string{prefix + "if-unmodified-since", when()}
	}
	return []string{prefix + "if-match", "{etag " + place(path) + "}", prefix + pick(g.choices, "if-unmodified-since", "if-modified-since"), when()}
}

// lease is an identifier, mostly where something may be leased.
func (g *generator) lease() []string {
	if !g.leased && !g.one(20) {
		return nil
	}
	return pick(g.choices, nil, nil, nil, []string{"x-ms-lease-id", leaseA}, []string{"x-ms-lease-id", leaseA}, []string{"x-ms-lease-id", leaseB})
}

func (g *generator) metadata() []string {
	if g.one(12) {
		return pick(g.choices, []string{"x-ms-meta-1a", "bad"}, []string{"x-ms-meta-a-b", "bad"})
	}
	return pick(g.choices, nil, nil, []string{"x-ms-meta-Name", "value"}, []string{"x-ms-meta-a", "1", "x-ms-meta-B_2", "two words"})
}

// contentHeaders are the headers that are kept with a blob.
func (g *generator) contentHeaders() []string {
	return pick(g.choices, nil, nil, []string{"x-ms-blob-content-type", "text/plain"},
		[]string{"x-ms-blob-content-encoding", "gzip", "x-ms-blob-content-language", "de", "x-ms-blob-cache-control", "no-store", "x-ms-blob-content-disposition", "inline"},
		[]string{"x-ms-blob-content-type", "text/x", "x-ms-blob-cache-control", "max-age=1"})
}

func md5Text(body string) string {
	sum := md5.Sum([]byte(body))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// sum is an MD5 of the body, mostly none.
func (g *generator) sum(name, body string) []string {
	if !g.one(8) {
		return nil
	}
	return []string{name, pick(g.choices, md5Text(body), md5Text(body), md5Text("other"), "short")}
}

func (g *generator) snapshot(path string) []string {
	if !g.one(5) {
		return nil
	}
	return []string{"snapshot", "{snapshot " + place(path) + "}"}
}

func blockName(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "block-%d", n))
}

func blockListBody(g *generator) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>")
	for range g.n(4) {
		kind := pick(g.choices, "Latest", "Latest", "Uncommitted", "Committed")
		fmt.Fprintf(&b, "<%s>%s</%s>", kind, blockName(g.n(4)), kind)
	}
	return b.String() + "</BlockList>"
}

// listed names the subject of a list: markers are good for the same list only.
func listed(query []string) string {
	text := ""
	for i := 0; i+1 < len(query); i += 2 {
		if query[i] == "prefix" || query[i] == "delimiter" {
			text += query[i] + query[i+1]
		}
	}
	return text
}

func listQuery(g *generator) []string {
	q := []string{"restype", "container", "comp", "list"}
	if g.one(3) {
		q = append(q, "prefix", pick(g.choices, "a", "dir", "dir/", "nothing", "l\u00f6"))
	}
	if g.one(3) {
		q = append(q, "delimiter", "/")
	}
	if g.one(3) {
		q = append(q, "maxresults", pick(g.choices, "1", "2", "3", "5000", "6000", "0", "-1", "x"))
	}
	if g.one(3) {
		q = append(q, "marker", "{marker "+listed(q)+"}")
	}
	if g.one(2) {
		q = append(q, "include", pick(g.choices, "metadata", "snapshots", "uncommittedblobs", "copy", "metadata,snapshots", "metadata,copy,uncommittedblobs"))
	}
	return q
}

func leaseExchange(g *generator, path string, query ...string) *exchange {
	e := &exchange{method: "PUT", path: path, query: append(query, "comp", "lease")}
	id := func(name string) []string { return []string{name, pick(g.choices, leaseA, leaseA, leaseA, leaseB)} }
	action := pick(g.choices, "acquire", "acquire", "acquire", "renew", "change", "release", "break", "break")
	e.header = []string{"x-ms-lease-action", action}
	switch action {
	case "acquire":
		g.leased = true
		e.header = append(e.header, "x-ms-lease-duration", pick(g.choices, "-1", "15", "60", "15", "14", "61", "0"))
		if !g.one(8) {
			e.header = append(e.header, id("x-ms-proposed-lease-id")...)
		}
	case "change":
		e.header = append(append(e.header, id("x-ms-lease-id")...), id("x-ms-proposed-lease-id")...)
	case "break":
		if period := pick(g.choices, "", "0", "5", "60", "61"); period != "" {
			e.header = append(e.header, "x-ms-lease-break-period", period)
		}
	default:
		e.header = append(e.header, id("x-ms-lease-id")...)
	}
	return e
}

func policiesBody(g *generator, letters ...string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>")
	for i := range g.n(3) {
		fmt.Fprintf(&b, "<SignedIdentifier><Id>p%d</Id><AccessPolicy><Start>2030-01-01T00:00:00.0000000Z</Start><Expiry>2031-01-01T00:00:00.0000000Z</Expiry><Permission>%s</Permission></AccessPolicy></SignedIdentifier>",
			i, pick(g.choices, letters...))
	}
	return b.String() + "</SignedIdentifiers>"
}

var blobOps = []operation{
	{"PutBlob", 'b', 10, func(g *generator) *exchange {
		path, body := g.blob(), g.text()
		return &exchange{method: "PUT", path: path, body: body, header: slices.Concat([]string{"x-ms-blob-type", "BlockBlob"}, g.contentHeaders(), g.metadata(),
			g.conditions(path, ""), g.lease(), g.sum("Content-MD5", body), g.sum("x-ms-blob-content-md5", body))}
	}},
	{"PutBlob empty", 'b', 1, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: g.blob(), header: slices.Concat([]string{"x-ms-blob-type", "BlockBlob"}, g.lease())}
	}},
	{"PutBlob append", 'b', 5, func(g *generator) *exchange {
		path := g.blob()
		return &exchange{method: "PUT", path: path, header: slices.Concat([]string{"x-ms-blob-type", "AppendBlob"}, g.contentHeaders(), g.metadata(), g.conditions(path, ""), g.lease())}
	}},
	{"PutBlob wrong", 'b', 1, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: g.blob(), body: pick(g.choices, "x", "y"), header: pick(g.choices, nil, []string{"x-ms-blob-type", "Other"}, []string{"x-ms-blob-type", "AppendBlob"})}
	}},
	{"AppendBlock", 'b', 6, func(g *generator) *exchange {
		path, body := g.blob(), g.text()
		var limits []string
		if g.one(3) {
			limits = []string{pick(g.choices, "x-ms-blob-condition-appendpos", "x-ms-blob-condition-maxsize"), pick(g.choices, "0", "7", "2000", "-1")}
		}
		return &exchange{method: "PUT", path: path, query: []string{"comp", "appendblock"}, body: body,
			header: slices.Concat(limits, g.conditions(path, ""), g.lease(), g.sum("Content-MD5", body))}
	}},
	{"PutBlock", 'b', 7, func(g *generator) *exchange {
		body := g.text()
		id := blockName(g.n(4))
		if g.one(10) {
			id = pick(g.choices, "", "not base64!", base64.StdEncoding.EncodeToString([]byte("longer name")), base64.StdEncoding.EncodeToString(make([]byte, 65)))
		}
		return &exchange{method: "PUT", path: g.blob(), query: []string{"comp", "block", "blockid", id}, body: body, header: slices.Concat(g.lease(), g.sum("Content-MD5", body))}
	}},
	{"PutBlockList", 'b', 6, func(g *generator) *exchange {
		path, body := g.blob(), blockListBody(g)
		return &exchange{method: "PUT", path: path, query: []string{"comp", "blocklist"}, body: body, header: slices.Concat(g.contentHeaders(), g.metadata(), g.conditions(path, ""), g.lease())}
	}},
	{"PutBlockList wrong", 'b', 1, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: g.blob(), query: []string{"comp", "blocklist"}, body: pick(g.choices, "<BlockList>", "<BlockList><Latest>!</Latest></BlockList>", "no XML")}
	}},
	{"GetBlockList", 'b', 4, func(g *generator) *exchange {
		path := g.blob()
		q := []string{"comp", "blocklist", "blocklisttype", pick(g.choices, "all", "all", "committed", "uncommitted")}
		return &exchange{method: "GET", path: path, query: append(q, g.snapshot(path)...), header: g.lease()}
	}},
	{"GetBlob", 'b', 8, func(g *generator) *exchange {
		path := g.blob()
		var ranges []string
		if g.one(2) { // not bytes=-3: Azurite's answer to that is not HTTP
			ranges = []string{pick(g.choices, "x-ms-range", "Range"), pick(g.choices, "bytes=0-3", "bytes=2-", "bytes=0-0", "bytes=5-100000", "bytes=3-1", "lines=1-2")}
			if ranges[0] == "x-ms-range" && g.one(3) {
				ranges = append(ranges, "x-ms-range-get-content-md5", "true")
			}
		}
		return &exchange{method: "GET", path: path, query: g.snapshot(path), header: slices.Concat(ranges, g.conditions(path, ""), g.lease())}
	}},
	{"GetBlobProperties", 'b', 8, func(g *generator) *exchange {
		path := g.blob()
		return &exchange{method: "HEAD", path: path, query: g.snapshot(path), header: slices.Concat(g.conditions(path, ""), g.lease())}
	}},
	{"SetBlobProperties", 'b', 4, func(g *generator) *exchange {
		path := g.blob()
		return &exchange{method: "PUT", path: path, query: []string{"comp", "properties"}, header: slices.Concat(g.contentHeaders(), []string{"x-ms-blob-content-md5", md5Text("said")}, g.conditions(path, ""), g.lease())}
	}},
	{"SetBlobMetadata", 'b', 4, func(g *generator) *exchange {
		path := g.blob()
		return &exchange{method: "PUT", path: path, query: []string{"comp", "metadata"}, header: slices.Concat(g.metadata(), g.conditions(path, ""), g.lease())}
	}},
	{"GetBlobMetadata", 'b', 2, func(g *generator) *exchange {
		path := g.blob()
		return &exchange{method: pick(g.choices, "GET", "HEAD"), path: path, query: append([]string{"comp", "metadata"}, g.snapshot(path)...), header: g.lease()}
	}},
	{"DeleteBlob", 'b', 5, func(g *generator) *exchange {
		path := g.blob()
		snapshots := pick(g.choices, nil, nil, []string{"x-ms-delete-snapshots", "include"}, []string{"x-ms-delete-snapshots", "only"}, []string{"x-ms-delete-snapshots", "other"})
		return &exchange{method: "DELETE", path: path, query: g.snapshot(path), header: slices.Concat(snapshots, g.conditions(path, ""), g.lease())}
	}},
	{"LeaseBlob", 'b', 10, func(g *generator) *exchange { return leaseExchange(g, g.blob()) }},
	{"SnapshotBlob", 'b', 5, func(g *generator) *exchange {
		path := g.blob()
		return &exchange{method: "PUT", path: path, query: []string{"comp", "snapshot"}, header: slices.Concat(g.metadata(), g.conditions(path, ""), g.lease())}
	}},
	{"CopyBlob", 'b', 5, func(g *generator) *exchange {
		path, source := g.blob(), g.blob()
		from := "{blobs}" + source
		if s := g.snapshot(source); s != nil {
			from += "?snapshot=" + s[1]
		}
		return &exchange{method: "PUT", path: path, header: slices.Concat([]string{"x-ms-copy-source", from}, g.metadata(), g.conditions(path, ""), g.conditions(source, "x-ms-source-"), g.lease())}
	}},
	{"ListBlobs", 'b', 8, func(g *generator) *exchange {
		e := &exchange{method: "GET", path: "/{box}", query: listQuery(g)}
		if strings.Contains(e.query[len(e.query)-1], "uncommitted") {
			e.op = "ListBlobs uncommitted"
		}
		return e
	}},
	{"ListContainers", 'b', 2, func(g *generator) *exchange {
		q := []string{"comp", "list", "prefix", "{box}"}
		if g.one(2) {
			q = append(q, "include", "metadata")
		}
		if g.one(3) {
			q = append(q, "maxresults", pick(g.choices, "1", "0", "-1", "x"))
		}
		return &exchange{method: "GET", path: "/", query: q}
	}},
	{"CreateContainer", 'b', 1, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: "/{box}", query: []string{"restype", "container"}, header: g.metadata()}
	}},
	{"DeleteContainer", 'b', 1, func(g *generator) *exchange {
		return &exchange{method: "DELETE", path: "/{box}", query: []string{"restype", "container"}, header: slices.Concat(g.conditions("/{box}", ""), g.lease())}
	}},
	{"GetContainerProperties", 'b', 2, func(g *generator) *exchange {
		return &exchange{method: pick(g.choices, "GET", "HEAD"), path: "/{box}", query: []string{"restype", "container"}, header: g.lease()}
	}},
	{"SetContainerMetadata", 'b', 2, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: "/{box}", query: []string{"restype", "container", "comp", "metadata"}, header: slices.Concat(g.metadata(), g.lease())}
	}},
	{"LeaseContainer", 'b', 4, func(g *generator) *exchange { return leaseExchange(g, "/{box}", "restype", "container") }},
	{"SetContainerACL", 'b', 2, func(g *generator) *exchange {
		access := pick(g.choices, nil, []string{"x-ms-blob-public-access", "blob"}, []string{"x-ms-blob-public-access", "container"})
		return &exchange{method: "PUT", path: "/{box}", query: []string{"restype", "container", "comp", "acl"}, header: slices.Concat(access, g.lease()), body: policiesBody(g, "r", "rwdl", "racwdl")}
	}},
	{"GetContainerACL", 'b', 2, func(g *generator) *exchange {
		return &exchange{method: "GET", path: "/{box}", query: []string{"restype", "container", "comp", "acl"}, header: g.lease()}
	}},
	{"missing container", 'b', 1, func(g *generator) *exchange {
		e := pick(g.choices,
			exchange{method: "GET", path: "/{box}-none/a"}, exchange{method: "HEAD", path: "/{box}-none/a"}, exchange{method: "DELETE", path: "/{box}-none/a"},
			exchange{method: "PUT", path: "/{box}-none/a", body: "x", header: []string{"x-ms-blob-type", "BlockBlob"}},
			exchange{method: "GET", path: "/{box}-none", query: []string{"restype", "container", "comp", "list"}},
			exchange{method: "DELETE", path: "/{box}-none", query: []string{"restype", "container"}})
		return &e
	}},
	{"anonymous", 'b', 2, func(g *generator) *exchange {
		path := g.blob()
		e := pick(g.choices, exchange{method: "GET", path: path}, exchange{method: "HEAD", path: path},
			exchange{method: "GET", path: "/{box}", query: []string{"restype", "container", "comp", "list"}},
			exchange{method: "PUT", path: path, body: "x", header: []string{"x-ms-blob-type", "BlockBlob"}}, exchange{method: "DELETE", path: path})
		e.bare = true
		return &e
	}},
	{"signed URL", 'b', 6, blobSAS},
}

var queueOps = []operation{
	{"PutMessage", 'q', 12, func(g *generator) *exchange {
		g.messages = append(g.messages, fmt.Sprintf("message %d <&> \u00fc", len(g.messages)))
		text := g.messages[len(g.messages)-1]
		var q []string
		if g.one(3) {
			q = append(q, "visibilitytimeout", pick(g.choices, "0", "5", "30", "604800", "604801", "-1", "x"))
		}
		if g.one(3) {
			q = append(q, "messagettl", pick(g.choices, "1", "15", "60", "-1", "604800", "999999999", "0", "-2", "x"))
		}
		return &exchange{method: "POST", path: "/{box}/messages", query: q, body: messageXML(text), about: text}
	}},
	{"PutMessage wrong", 'q', 1, func(g *generator) *exchange {
		return &exchange{method: "POST", path: "/{box}/messages", about: "wrong", body: pick(g.choices, "", "no XML", "<QueueMessage/>", "<QueueMessage><MessageText>", messageXML(strings.Repeat("x", 65537)), "<Other/>")}
	}},
	{"GetMessages", 'q', 10, func(g *generator) *exchange {
		var q []string
		if g.one(2) {
			q = append(q, "numofmessages", pick(g.choices, "1", "2", "32", "33", "0", "-1", "x"))
		}
		if g.one(2) {
			q = append(q, "visibilitytimeout", pick(g.choices, "1", "5", "30", "604800", "0", "604801", "x"))
		}
		return &exchange{method: "GET", path: "/{box}/messages", query: q}
	}},
	{"PeekMessages", 'q', 6, func(g *generator) *exchange {
		q := []string{"peekonly", "true"}
		if g.one(2) {
			q = append(q, "numofmessages", pick(g.choices, "1", "32", "33", "0"))
		}
		return &exchange{method: "GET", path: "/{box}/messages", query: q}
	}},
	{"UpdateMessage", 'q', 6, func(g *generator) *exchange {
		text := g.message()
		var q []string
		if !g.one(10) {
			q = append(q, "popreceipt", pick(g.choices, "{receipt "+text+"}", "{receipt "+text+"}", "{receipt "+text+"}", "{old receipt "+text+"}"))
		}
		if !g.one(10) {
			q = append(q, "visibilitytimeout", pick(g.choices, "0", "1", "30", "604800", "604801", "-1"))
		}
		// The text stays: it is how the tests know the message.
		return &exchange{method: "PUT", path: "/{box}/messages/{id " + text + "}", query: q, body: pick(g.choices, messageXML(text), messageXML(text), ""), about: text}
	}},
	{"DeleteMessage", 'q', 5, func(g *generator) *exchange {
		text := g.message()
		var q []string
		if !g.one(10) {
			q = append(q, "popreceipt", pick(g.choices, "{receipt "+text+"}", "{receipt "+text+"}", "{old receipt "+text+"}"))
		}
		return &exchange{method: "DELETE", path: "/{box}/messages/{id " + text + "}", query: q, about: text}
	}},
	{"ClearMessages", 'q', 1, func(g *generator) *exchange { return &exchange{method: "DELETE", path: "/{box}/messages"} }},
	{"CreateQueue", 'q', 2, func(g *generator) *exchange { return &exchange{method: "PUT", path: "/{box}", header: g.metadata()} }},
	{"DeleteQueue", 'q', 1, func(g *generator) *exchange { return &exchange{method: "DELETE", path: "/{box}"} }},
	{"GetQueueMetadata", 'q', 4, func(g *generator) *exchange {
		return &exchange{method: pick(g.choices, "GET", "HEAD"), path: "/{box}", query: []string{"comp", "metadata"}}
	}},
	{"SetQueueMetadata", 'q', 2, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: "/{box}", query: []string{"comp", "metadata"}, header: g.metadata()}
	}},
	{"GetQueueACL", 'q', 2, func(g *generator) *exchange {
		return &exchange{method: pick(g.choices, "GET", "HEAD"), path: "/{box}", query: []string{"comp", "acl"}}
	}},
	{"SetQueueACL", 'q', 2, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: "/{box}", query: []string{"comp", "acl"}, body: policiesBody(g, "r", "raup")}
	}},
	{"ListQueues", 'q', 2, func(g *generator) *exchange {
		q := []string{"comp", "list", "prefix", "{box}"}
		if g.one(2) {
			q = append(q, "include", "metadata")
		}
		if g.one(3) {
			q = append(q, "maxresults", pick(g.choices, "1", "5000", "0", "-1", "x"))
		}
		return &exchange{method: "GET", path: "/", query: q}
	}},
	{"missing queue", 'q', 1, func(g *generator) *exchange {
		e := pick(g.choices,
			exchange{method: "GET", path: "/{box}-none/messages"}, exchange{method: "POST", path: "/{box}-none/messages", body: messageXML("x")},
			exchange{method: "DELETE", path: "/{box}-none/messages"}, exchange{method: "DELETE", path: "/{box}-none"},
			exchange{method: "GET", path: "/{box}-none", query: []string{"comp", "metadata"}}, exchange{method: "GET", path: "/{box}-none", query: []string{"comp", "acl"}},
			exchange{method: "DELETE", path: "/{box}-none/messages/x", query: []string{"popreceipt", "AAAA"}})
		return &e
	}},
	{"wrong name", 'q', 1, func(g *generator) *exchange {
		return &exchange{method: "PUT", path: "/" + pick(g.choices, "ab", "Upper", "double--dash", "-first", strings.Repeat("x", 64))}
	}},
	{"signed URL", 'q', 5, queueSAS},
}

func (g *generator) message() string {
	if len(g.messages) == 0 {
		return "none"
	}
	return g.messages[g.n(len(g.messages))]
}
