//go:build !amd64 && !arm64

package clock

// self identifies the calling goroutine.
func self() uintptr { return uintptr(goid()) }
