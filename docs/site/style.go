package main

import _ "embed"

// style is what the theme does not do: tables that fit into a narrow window.
//
//go:embed site.css
var style []byte
