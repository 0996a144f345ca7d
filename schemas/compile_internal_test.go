package schemas

import "testing"

// BenchmarkCompile is what the first use of a schema costs.
func BenchmarkCompile(b *testing.B) {
	for _, name := range Names() {
		b.Run(string(name), func(b *testing.B) {
			for b.Loop() {
				compile(name)
			}
		})
	}
}
