package schemas

import _ "embed"

//go:embed openapi/control.json
var controlAPI []byte

// ControlAPI returns the control API of a host in OpenAPI 3.1: the file
// schemas/openapi/control.json, which package host/web makes. The caller must not change
// it.
func ControlAPI() []byte { return controlAPI }
