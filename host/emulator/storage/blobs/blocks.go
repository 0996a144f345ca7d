package blobs

import (
	"context"
	"encoding/base64"
	"io"
	"maps"
	"slices"
	"strings"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Blocks of block blobs and of append blobs.
//
// Reference: Blob Service REST API, "Put Block", "Put Block List", "Get Block
// List", "Append Block".

func (b *blob) PutBlock(ctx context.Context, id string, body io.Reader, opts *blobapi.PutBlockOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.PutBlockOptions{}
	}
	staged, err := b.s.take(body, blobapi.MaxPutBlock, opts.BodyMD5 != nil)
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	if err := checkBlockID(id); err != nil {
		return nil, err
	}
	if err := checkBlockBody(staged, opts.BodyMD5); err != nil {
		return nil, err
	}
	err = b.operate(ctx, "PutBlock", func(tx *blobTx) error {
		r, err := tx.toReplace(b.key, &blobapi.Conditions{LeaseID: opts.LeaseID})
		if err != nil {
			return err
		}
		if err := checkType(r, blobapi.BlockBlob); err != nil {
			return err
		}
		if state := tx.container.blobs[b.key.Name]; state != nil {
			if err := state.acceptsBlock(id); err != nil {
				return err
			}
		}
		seg, err := tx.take(staged)
		if err != nil {
			return err
		}
		seg.Block = id
		tx.change(putBlock{blockRecord{blobKey: b.key, segment: seg}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &blobapi.Written{ContentMD5: slices.Clone(staged.md5)}, nil
}

// checkBlockID wants base64 of 1 to 64 bytes.
func checkBlockID(id string) error {
	decoded, err := base64.StdEncoding.DecodeString(id)
	if err != nil || len(decoded) == 0 || len(decoded) > blobapi.MaxBlockID {
		return blobError(storage.CodeInvalidBlockID, "block %q: the identifier must be base64 of 1 to %d bytes", id, blobapi.MaxBlockID)
	}
	return nil
}

// blockIDLength is the length of a good identifier before it was encoded.
func blockIDLength(id string) int {
	return base64.StdEncoding.DecodedLen(len(id)) - strings.Count(id, "=")
}

func checkBlockBody(staged *StagedBody, md5 []byte) error {
	if staged.size == 0 {
		return blobError(storage.CodeInvalidHeaderValue, "a block must not be empty")
	}
	return staged.checkMD5(md5)
}

// checkType refuses a blob of another type; r may be nil.
func checkType(r *blobRecord, want blobapi.Type) error {
	if r != nil && r.Type != want {
		return blobError(storage.CodeInvalidBlobType, "the blob is of type %s: want %s", r.Type, want)
	}
	return nil
}

// acceptsBlock holds a new block to the ones that wait. Blocks of the blob itself
// may have identifiers of another length: each client has its own length, and
// overwrites the blocks of others (docs: Put Block, "Remarks").
func (b *blobState) acceptsBlock(id string) error {
	for other := range b.blocks { // all have one length: any will do
		if blockIDLength(other) != blockIDLength(id) {
			return blobError(storage.CodeInvalidBlobOrBlock, "")
		}
		break
	}
	if len(b.blocks) >= blobapi.MaxUncommittedBlocks && b.blocks[id] == nil {
		return blobError(storage.CodeBlockCountExceedsLimit, "")
	}
	return nil
}

// segments returns what a record sees of its content. They must not be changed.
func (s *Service) segments(r *blobRecord) []segment {
	if r == nil || r.Content == 0 {
		return nil
	}
	c := s.contents[r.Content]
	if c.pages != nil {
		return c.list()
	}
	return c.Segments[:r.Blocks:r.Blocks]
}

func (b *blob) PutBlockList(ctx context.Context, blocks []blobapi.BlockRef, opts *blobapi.PutOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.PutOptions{}
	}
	record, err := b.newRecord(opts)
	if err != nil {
		return nil, err
	}
	record.Type = blobapi.BlockBlob
	if len(blocks) > blobapi.MaxBlocks {
		return nil, blobError(storage.CodeBlockListTooLong, "")
	}
	for _, ref := range blocks {
		if err := checkBlockID(ref.ID); err != nil {
			return nil, err
		}
	}
	var out *blobapi.Written
	err = b.operate(ctx, "PutBlockList", func(tx *blobTx) error {
		old, err := tx.toReplace(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		if err := checkType(old, blobapi.BlockBlob); err != nil {
			return err
		}
		segments, err := tx.choose(blocks, b.key, old)
		if err != nil {
			return err
		}
		record := record
		record.Content, record.Blocks = tx.newContent(segments), len(segments)
		for _, seg := range segments {
			record.Size += seg.Size
		}
		if old != nil {
			record.Created = old.Created
		}
		out = tx.put(record, old)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// choose finds the blocks of a list.
func (tx *blobTx) choose(blocks []blobapi.BlockRef, key blobKey, old *blobRecord) ([]segment, error) {
	var waiting map[string]*blockRecord
	if state := tx.container.blobs[key.Name]; state != nil {
		waiting = state.blocks
	}
	committed := map[string]segment{}
	for _, seg := range tx.segments(old) {
		if seg.Block != "" {
			committed[seg.Block] = seg
		}
	}
	segments := make([]segment, 0, len(blocks))
	for _, ref := range blocks {
		if w := waiting[ref.ID]; w != nil && ref.From != blobapi.Committed {
			segments = append(segments, w.segment)
			continue
		}
		seg, ok := committed[ref.ID]
		if !ok || ref.From == blobapi.Uncommitted {
			return nil, blobError(storage.CodeInvalidBlockList, "block %q does not exist", ref.ID)
		}
		segments = append(segments, seg)
	}
	return segments, nil
}

func (b *blob) BlockList(ctx context.Context, cond *blobapi.Conditions) (*blobapi.BlockList, error) {
	var out blobapi.BlockList
	err := b.operate(ctx, "BlockList", func(tx *blobTx) error {
		var waiting map[string]*blockRecord
		if state := tx.container.blobs[b.key.Name]; state != nil && b.key.Snapshot == "" {
			waiting = state.blocks
		}
		r, err := tx.forRead(b.key, cond)
		if r == nil && len(waiting) == 0 {
			return err
		}
		if r != nil {
			if err != nil {
				return err
			}
			if err := checkType(r, blobapi.BlockBlob); err != nil {
				return err
			}
			out.ETag, out.LastModified, out.ContentLength = r.Version.ETag, r.Version.Modified, r.Size
		}
		for _, seg := range tx.segments(r) {
			if seg.Block != "" {
				out.Committed = append(out.Committed, blobapi.Block{ID: seg.Block, Size: seg.Size})
			}
		}
		for _, id := range slices.SortedFunc(maps.Keys(waiting), strings.Compare) {
			out.Uncommitted = append(out.Uncommitted, blobapi.Block{ID: id, Size: waiting[id].Size})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

func (b *blob) AppendBlock(ctx context.Context, body io.Reader, opts *blobapi.AppendBlockOptions) (*blobapi.Appended, error) {
	if opts == nil {
		opts = &blobapi.AppendBlockOptions{}
	}
	staged, err := b.s.take(body, blobapi.MaxAppendBlock, opts.BodyMD5 != nil)
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	if err := checkBlockBody(staged, opts.BodyMD5); err != nil {
		return nil, err
	}
	var out *blobapi.Appended
	err = b.operate(ctx, "AppendBlock", func(tx *blobTx) error {
		r, err := tx.toModify(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		if err := checkType(&r, blobapi.AppendBlob); err != nil {
			return err
		}
		switch {
		case r.Sealed:
			return blobError(storage.CodeBlobIsSealed, "")
		case opts.Position != nil && *opts.Position != r.Size:
			return blobError(storage.CodeAppendPositionConditionNotMet, "")
		case opts.MaxSize != nil && r.Size+staged.size > *opts.MaxSize:
			return blobError(storage.CodeMaxBlobSizeConditionNotMet, "")
		case r.Blocks >= blobapi.MaxBlocks:
			return blobError(storage.CodeBlockCountExceedsLimit, "")
		}
		offset := r.Size
		seg, err := tx.take(staged)
		if err != nil {
			return err
		}
		if r.Content == 0 {
			r.Content = tx.newContent([]segment{seg})
		} else {
			tx.change(appendSegment{Content: r.Content, Segment: seg})
		}
		r.Blocks++
		r.Size += seg.Size
		r.Headers.ContentMD5 = nil // was the value of the content before
		tx.change(putBlob{r})
		out = &blobapi.Appended{Written: *tx.wrote(&r), Offset: offset, Blocks: r.Blocks}
		out.ContentMD5 = slices.Clone(staged.md5)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
