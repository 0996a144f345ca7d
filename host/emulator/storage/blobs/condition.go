package blobs

import (
	"net/http"
	"strings"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// version is the subject of conditions: one state of a blob or container.
type version struct {
	ETag     string
	Modified time.Time // whole seconds
}

// checkRead fails if a read's conditions do not hold for v, which exists. All
// conditions may be combined, and ETags may be lists.
//
// Rules: spec storage 17.3; docs, "Specifying conditional headers for Blob service
// operations", read operations since version 2013-08-15.
func checkRead(c *blobapi.Conditions, v version) error {
	if c == nil {
		return nil
	}
	if strings.TrimSpace(c.IfNoneMatch) == "*" {
		return blobError(storage.CodeUnsatisfiableCondition, "")
	}
	if c.IfMatch != "" && !names(c.IfMatch, v.ETag) || !unmodified(c, v) {
		return blobError(storage.CodeConditionNotMet, "")
	}
	match, date := c.IfNoneMatch != "", !c.IfModifiedSince.IsZero()
	if !match && !date || match && !names(c.IfNoneMatch, v.ETag) || date && modified(c, v) {
		return nil
	}
	err := blobError(storage.CodeConditionNotMet, "the blob has not changed")
	err.Status = http.StatusNotModified
	return err
}

// checkWrite fails if a write's conditions do not hold. A nil version: there is
// nothing yet. Of each pair the ETag decides. The failure of If-None-Match "*"
// has its own code where the write would create the blob.
//
// Rules: spec storage 17.3; docs as above, write operations.
func checkWrite(c *blobapi.Conditions, v *version, exists storage.Code) error {
	if c == nil {
		return nil
	}
	if err := checkCombination(c); err != nil {
		return err
	}
	met := true
	switch {
	case c.IfNoneMatch != "":
		if v != nil && strings.TrimSpace(c.IfNoneMatch) == "*" {
			return blobError(exists, "")
		}
		met = v == nil || !names(c.IfNoneMatch, v.ETag)
	case c.IfMatch != "":
		met = v != nil && names(c.IfMatch, v.ETag)
	case v != nil:
		met = (c.IfModifiedSince.IsZero() || modified(c, *v)) && unmodified(c, *v)
	}
	if !met {
		return blobError(storage.CodeConditionNotMet, "")
	}
	return nil
}

// checkRead is checkRead for a record, with its tags.
func (r *blobRecord) checkRead(c *blobapi.Conditions) error {
	if err := checkRead(c, r.Version); err != nil {
		return err
	}
	return checkTags(c, r)
}

// checkWrite is checkWrite for a record, with its tags; nil if the blob does not
// exist yet.
func (r *blobRecord) checkWrite(c *blobapi.Conditions, exists storage.Code) error {
	var v *version
	if r != nil {
		v = &r.Version
	}
	if err := checkWrite(c, v, exists); err != nil {
		return err
	}
	return checkTags(c, r)
}

// checkCombination refuses what a write does not take: lists of ETags, and
// conditions that do not belong together.
func checkCombination(c *blobapi.Conditions) error {
	same := c.IfMatch != "" || !c.IfUnmodifiedSince.IsZero()
	other := c.IfNoneMatch != "" || !c.IfModifiedSince.IsZero()
	if same && other || strings.Contains(c.IfMatch, ",") || strings.Contains(c.IfNoneMatch, ",") {
		return blobError(storage.CodeMultipleConditionHeadersNotSupported, "")
	}
	return nil
}

// names reports whether a list of ETags has one, or is "*". Quotes may be
// missing, as old clients leave them out.
func names(list, etag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.Trim(one, `"`) == strings.Trim(etag, `"`) {
			return true
		}
	}
	return false
}

func modified(c *blobapi.Conditions, v version) bool {
	return v.Modified.After(c.IfModifiedSince.Truncate(time.Second))
}

func unmodified(c *blobapi.Conditions, v version) bool {
	return c.IfUnmodifiedSince.IsZero() || !v.Modified.After(c.IfUnmodifiedSince.Truncate(time.Second))
}

func leaseID(c *blobapi.Conditions) string {
	if c == nil {
		return ""
	}
	return c.LeaseID
}
