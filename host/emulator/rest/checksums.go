package rest

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"strings"

	"github.com/minio/crc64nvme"

	"github.com/redeliver/redeliver/bindings/storage"
)

// crcBytes is a CRC-64 as it is on the wire, before it is encoded. The service's is
// CRC-64/NVME (docs: Put Block, "x-ms-content-crc64"; SDKs: the polynomial
// 0x9A6C9329AC4BC9B5).
func crcBytes(sum uint64) []byte { return binary.LittleEndian.AppendUint64(nil, sum) }

// checksums are a request's checksums of its content; nil where it gives none.
// Only one of them may be given.
type checksums struct {
	md5, crc64 []byte
	answerCRC  bool // whether or not the request brings one
	block      bool // of a block, whose MD5 nobody keeps
}

// ofBlock makes the CRC-64 of a block part of the answer, unless the client sends
// the other checksum (docs: Put Block, Append Block, "Response headers").
func (a asked) ofBlock(s checksums) checksums {
	s.block, s.answerCRC = true, s.md5 == nil || a.bothChecksums()
	return s
}

// bothChecksums reports whether the request is of a version in which content is
// always answered with its CRC-64, beside its MD5 too.
//
// Source: azure-storage-blob for Python, CHANGELOG.md, 12.31.0b1 (service version
// 2026-10-06: "in addition to content_md5"); its recordings of version 2021-08-06
// have one of the two.
func (a asked) bothChecksums() bool { return a.version() >= version2026Oct }

const version2026Oct = "2026-10-06"

// The headers that hold the checksums of a body, and of content at its source.
var (
	bodyChecksums   = [2]string{"Content-Md5", "X-Ms-Content-Crc64"}
	sourceChecksums = [2]string{"X-Ms-Source-Content-Md5", "X-Ms-Source-Content-Crc64"}
)

func errBothChecksums() *Error {
	return NewError(http.StatusBadRequest, "BothCrc64AndMd5HeaderPresent", "Both x-ms-content-crc64 and Content-MD5 headers are present.")
}

// checksums reads the checksums that stand in two headers.
//
// Source: docs, Put Block; what is answered when, Azurite:
// computeAndValidateTransactionalChecksums, which was held against the service.
func (a asked) checksums(headers [2]string) (sums checksums, refused *Error) {
	if sums.md5, refused = a.md5(headers[0]); refused != nil {
		return sums, refused
	}
	text := a.Get(headers[1])
	if text == "" {
		return sums, nil
	}
	if sums.md5 != nil {
		return sums, errBothChecksums()
	}
	sum, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sum) != crc64nvme.Size {
		return sums, errInvalidHeader(headers[1], text)
	}
	sums.crc64 = sum
	return sums, nil
}

// check compares content with its checksums.
func (s checksums) check(content []byte) *Error {
	if s.md5 != nil {
		if sum := md5.Sum(content); !bytes.Equal(sum[:], s.md5) {
			return blobError(storage.NewError(storage.CodeMD5Mismatch))
		}
	}
	return s.checkCRC(crcBytes(crc64nvme.Checksum(content)))
}

func (s checksums) checkCRC(sum []byte) *Error {
	if s.crc64 == nil || bytes.Equal(sum, s.crc64) {
		return nil
	}
	return NewError(http.StatusBadRequest, "Crc64Mismatch",
		"The CRC64 value specified in the request did not match with the CRC64 value calculated by the server.",
		"UserSpecifiedCrc64", base64.StdEncoding.EncodeToString(s.crc64), "ServerCalculatedCrc64", base64.StdEncoding.EncodeToString(sum))
}

// crcReader works out the CRC-64 of what is read through it.
type crcReader struct {
	r   io.Reader
	sum uint64
}

func (c *crcReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum = crc64nvme.Update(c.sum, p[:n])
	return n, err
}

// rangeChecksum says which checksum of a range is asked for.
func (a asked) rangeChecksum() (withMD5, withCRC bool, refused *Error) {
	asked := func(name string) bool { return strings.EqualFold(a.Get(name), "true") }
	withMD5, withCRC = asked("X-Ms-Range-Get-Content-Md5"), asked("X-Ms-Range-Get-Content-Crc64")
	if withMD5 && withCRC {
		return false, false, errBothChecksums()
	}
	return withMD5, withCRC, nil
}
