package cosmos

import "math/bits"

// counts is a binary indexed tree over a list of zeros and ones, which grows at its end:
// how many ones there are before a place, and where the n-th one is, in logarithmic time.
type counts []int

// push appends a one.
func (c *counts) push() {
	i := len(*c) + 1
	n := 1
	for step := 1; step < i&-i; step <<= 1 { // the trees that end here
		n += (*c)[i-step-1]
	}
	*c = append(*c, n)
}

// clear makes the one at i a zero.
func (c counts) clear(i int) {
	for i++; i <= len(c); i += i & -i {
		c[i-1]--
	}
}

// before is the number of ones before i.
func (c counts) before(i int) (n int) {
	for ; i > 0; i -= i & -i {
		n += c[i-1]
	}
	return n
}

// at is the place of the one that has n others before it; the length, if there are fewer.
func (c counts) at(n int) (i int) {
	for step := 1 << bits.Len(uint(len(c))); step > 0; step >>= 1 {
		if next := i + step; next <= len(c) && c[next-1] <= n {
			i = next
			n -= c[next-1]
		}
	}
	return i
}
