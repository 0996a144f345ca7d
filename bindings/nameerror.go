package bindings

// NameError says why a name was refused, in the words of the platform's own
// client. errors.Is(err, ErrInvalidName) holds for it.
type NameError struct {
	Name string // the name as it was checked
	Text string // the platform's text
}

func (e *NameError) Error() string { return e.Text }

// Unwrap returns ErrInvalidName.
func (e *NameError) Unwrap() error { return ErrInvalidName }
