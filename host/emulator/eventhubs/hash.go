package eventhubs

import (
	"encoding/binary"
	"math/bits"
)

// partitionOf is the partition for a key among n: the low half of both results of
// Bob Jenkins' lookup3 (hashlittle2, seeds 0), as a signed number, modulo n.
//
// Source: Azure.Messaging.EventHubs, src/Core/PartitionResolver.cs, which says that
// it does what the service's gateway does; lookup3.c, which is in the public
// domain.
func partitionOf(key string, n int) int {
	c, b := lookup3([]byte(key))
	p := int(int16(c^b)) % n
	return max(p, -p)
}

func lookup3(data []byte) (c, b uint32) {
	a := 0xdeadbeef + uint32(len(data))
	b, c = a, a
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(data[4*i:]) }
	for ; len(data) > 12; data = data[12:] {
		a, b, c = a+word(0), b+word(1), c+word(2)
		a = a - c ^ bits.RotateLeft32(c, 4)
		c += b
		b = b - a ^ bits.RotateLeft32(a, 6)
		a += c
		c = c - b ^ bits.RotateLeft32(b, 8)
		b += a
		a = a - c ^ bits.RotateLeft32(c, 16)
		c += b
		b = b - a ^ bits.RotateLeft32(a, 19)
		a += c
		c = c - b ^ bits.RotateLeft32(b, 4)
		b += a
	}
	if len(data) == 0 {
		return c, b
	}
	var last [12]byte
	copy(last[:], data)
	data = last[:]
	a, b, c = a+word(0), b+word(1), c+word(2)
	c = c ^ b - bits.RotateLeft32(b, 14)
	a = a ^ c - bits.RotateLeft32(c, 11)
	b = b ^ a - bits.RotateLeft32(a, 25)
	c = c ^ b - bits.RotateLeft32(b, 16)
	a = a ^ c - bits.RotateLeft32(c, 4)
	b = b ^ a - bits.RotateLeft32(a, 14)
	c = c ^ b - bits.RotateLeft32(b, 24)
	return c, b
}
