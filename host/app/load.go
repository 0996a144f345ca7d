package app

// Load reads the app in dir. It returns an error only when dir cannot be read at
// all; everything else is in the App: its Faults, those of its functions, and
// the Handler's.
func Load(dir string, opts *Options) (*App, error) { return &App{Dir: dir}, nil }

// DefaultHostJSON returns the host.json that the platform writes into an app
// that has none (host-and-retry 6.1).
func DefaultHostJSON() []byte { return nil }
