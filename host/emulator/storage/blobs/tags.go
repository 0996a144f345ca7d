package blobs

import (
	"context"
	"errors"
	"maps"
	"unicode/utf8"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// Index tags stand beside a blob: setting them makes no new version of it, so that
// no trigger runs.
//
// Reference: Blob Service REST API, "Set Blob Tags", "Get Blob Tags", "Find Blobs by
// Tags".

// checkTagSet holds tags to the service's rules: at most ten, names of 1 to 128
// characters, values of up to 256, of letters, digits, blanks and + - . / : = _.
func checkTagSet(tags map[string]string) error {
	if len(tags) > maxTags {
		return blobError(storage.CodeTagsTooLarge, "%d tags: want at most %d", len(tags), maxTags)
	}
	for key, value := range tags {
		switch {
		case key == "":
			return blobError(storage.CodeEmptyTagName, "")
		case utf8.RuneCountInString(key) > maxTagKey || utf8.RuneCountInString(value) > maxTagValue:
			return blobError(storage.CodeTagsTooLarge, "tag %.20q: want at most %d characters and %d in the value", key, maxTagKey, maxTagValue)
		case !tagText.MatchString(key) || !tagText.MatchString(value):
			return blobError(storage.CodeInvalidTag, "tag %q: has characters that are not allowed", key)
		}
	}
	return nil
}

// checkTags fails if a condition on tags does not hold. r is nil if there is
// nothing yet.
func checkTags(c *blobapi.Conditions, r *blobRecord) error {
	if c == nil || c.IfTags == "" {
		return nil
	}
	query, err := parseTagQuery(c.IfTags, false)
	if err != nil {
		return blobError(storage.CodeInvalidHeaderValue, "x-ms-if-tags: %s", err)
	}
	if r == nil || !query.holds(r.Tags, "") {
		return blobError(storage.CodeConditionNotMet, "")
	}
	return nil
}

// SetTags replaces the tags of the blob or snapshot. ETag and time of change stay.
//
// It is not part of blob.Blob: triggers and bindings do not need it.
func (b *blob) SetTags(ctx context.Context, tags map[string]string, cond *blobapi.Conditions) error {
	if err := checkTagSet(tags); err != nil {
		return err
	}
	return b.operate(ctx, "SetTags", func(tx *blobTx) error {
		r := tx.find(b.key)
		if r == nil {
			return notFound(b.key)
		}
		if err := r.checkWrite(cond, storage.CodeConditionNotMet); err != nil {
			return err
		}
		if err := r.Lease.guards(tx.now, leaseID(cond), blobLeaseCodes()); err != nil {
			return err
		}
		next := *r
		next.Tags = tagSet(tags)
		tx.change(putBlob{next})
		return nil
	})
}

// tagSet is a copy of tags; nil if there are none.
func tagSet(tags map[string]string) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	return maps.Clone(tags)
}

// Tags returns the tags of the blob or snapshot.
func (b *blob) Tags(ctx context.Context, cond *blobapi.Conditions) (map[string]string, error) {
	var tags map[string]string
	err := b.operate(ctx, "Tags", func(tx *blobTx) error {
		r, err := tx.forRead(b.key, cond)
		if err == nil {
			tags = maps.Clone(r.Tags)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return tags, nil
}

// TaggedPage is one page of blobs that were found by their tags.
type TaggedPage struct {
	Blobs      []TaggedBlob
	NextMarker string // empty: this is the last page
}

// TaggedBlob is a blob with the tags of the search.
type TaggedBlob struct {
	Container, Name string
	Tags            map[string]string
}

// FindBlobs finds blobs by an expression over their tags, in order of
// container and name: in one container, or in the account if its name is
// empty. Snapshots are not found. It fails with InvalidQueryParameterValue
// if the expression is wrong.
func (s *Service) FindBlobs(ctx context.Context, container, where, marker string, most int) (*TaggedPage, error) {
	query, err := parseTagQuery(where, true)
	if err != nil {
		return nil, err
	}
	limit, err := pageSize(most)
	if err != nil {
		return nil, err
	}
	fromContainer, fromBlob, err := parseMarker(marker)
	if err != nil {
		return nil, err
	}
	if only := query.tests["@container"]; container == "" && len(only) == 1 && only[0].operator == "=" {
		container = only[0].value
	}
	page := &TaggedPage{}
	err = s.operate(ctx, account.FaultPoint{Op: "FindBlobs", Container: container}, false, func(tx *blobTx) error {
		from := tagged{container: fromContainer, name: fromBlob}
		if fromContainer < container {
			from = tagged{container: container}
		}
		if len(query.keys) == 0 { // all that have tags
			page.walk(tx, query, from, container, limit)
			return nil
		}
		for b := range tx.tags.candidates(query, from) {
			if container != "" && b.container != container {
				break
			}
			if !page.add(b, tx.containers[b.container].blobs[b.name].base, query, limit) {
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// walk adds the blobs with tags of one container, or of all.
func (p *TaggedPage) walk(tx *blobTx, query *tagQuery, from tagged, container string, limit int) {
	for name := range tx.names.From(from.container) {
		if container != "" && name != container {
			return
		}
		c, first := tx.containers[name], ""
		if name == from.container {
			first = from.name
		}
		for blob := range c.names.From(first) {
			if r := c.blobs[blob].base; r != nil && len(r.Tags) > 0 && !p.add(tagged{container: name, name: blob}, r, query, limit) {
				return
			}
		}
	}
}

// add adds a blob if it is looked for, or ends the page before it.
func (p *TaggedPage) add(b tagged, r *blobRecord, query *tagQuery, limit int) bool {
	if !query.holds(r.Tags, b.container) {
		return true
	}
	if len(p.Blobs) == limit {
		p.NextMarker = marker(b.container, b.name)
		return false
	}
	found := TaggedBlob{Container: b.container, Name: b.name, Tags: map[string]string{}}
	for _, key := range query.keys {
		found.Tags[key] = r.Tags[key]
	}
	p.Blobs = append(p.Blobs, found)
	return true
}

// IsTagQueryError reports whether an error says what is wrong with an expression
// to find blobs by.
func IsTagQueryError(err error) bool {
	_, ok := errors.AsType[*errTagQuery](err)
	return ok
}
