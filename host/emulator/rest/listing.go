package rest

import (
	"strconv"
	"strings"
)

// MaxListed is the length of a page of a listing, and its default (docs: List
// Queues).
const MaxListed = 5000

// ListHead begins the answer to a listing.
func (c *Call) ListHead(attributes string, asked int64) []byte {
	b := []byte(XMLHeader + `<EnumerationResults ServiceEndpoint="`)
	b = AppendText(b, strings.ReplaceAll(c.endpoint(), `"`, "%22"))
	b = append(b, `"`+attributes+`>`...)
	b = AppendElement(b, "Prefix", c.Query.Get("prefix"))
	b = AppendElement(b, "Marker", c.Query.Get("marker"))
	return AppendElement(b, "MaxResults", strconv.FormatInt(min(asked, MaxListed), 10))
}

// endpoint is the account's address, as the client knows it.
func (c *Call) endpoint() string {
	url := c.front.scheme() + "://" + c.R.Host + "/"
	if !c.inHost {
		url += c.Account.Name
		if c.secondary {
			url += secondarySuffix
		}
	}
	return url
}
