package schemas

import "testing"

// BenchmarkCompile is the cost of the first use of a schema.
func BenchmarkCompile(b *testing.B) {
	for _, name := range Names() {
		b.Run(string(name), func(b *testing.B) {
			for b.Loop() {
				compile(name)
			}
		})
	}
}
