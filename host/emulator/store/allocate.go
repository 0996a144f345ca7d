package store

import (
	"crypto/rand"
	"io"
)

// fill writes a file up to a size.
func fill(f io.WriterAt, size int64) error {
	block := make([]byte, 256<<10)
	_, _ = rand.Read(block) // does not fail; the disk must not compress it
	for at := int64(0); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(int64(len(block)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}
