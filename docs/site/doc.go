// Command site makes the documentation site from docs, before and after its builder.
//
//	go run ./docs/site write build
//	zensical build --strict -f build/mkdocs.yml
//	go run ./docs/site check build/site
//
// Write puts the pages of docs, those of the root that docs/mkdocs.yml names, and a reference made
// of the schemas into a folder for the builder. Pages are written to be read in the repository:
// their links lead to files. Write turns a link to a file that is a page into a link to the page,
// and any other into the file's address; one that leads nowhere is an error with its line.
//
// Check reads what was built: pages, anchors and pictures that links name are there, nothing is
// loaded from elsewhere, no page begins with a table, and no cell of a table is a paragraph.
//
// Read write.go first, then reference.go and check.go.
package main
