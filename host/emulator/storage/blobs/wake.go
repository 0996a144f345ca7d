package blobs

import "slices"

// blobWaker is one caller of OnChange. Its address is its identity.
type blobWaker struct{ changed func(name string) }

// OnChange implements blob.Waker. Callers are served in order of
// registration.
func (s *Service) OnChange(container string, changed func(name string)) (stop func()) {
	w := &blobWaker{changed: changed}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakers[container] = append(slices.Clip(s.wakers[container]), w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(s.wakers[container]), func(o *blobWaker) bool { return o == w })
		if len(rest) == 0 {
			delete(s.wakers, container)
			return
		}
		s.wakers[container] = rest
	}
}

func (s *Service) wake(container, name string) {
	s.mu.Lock()
	wakers := s.wakers[container] // never changed in place
	s.mu.Unlock()
	for _, w := range wakers {
		w.changed(name)
	}
}
