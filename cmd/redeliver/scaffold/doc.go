// Package scaffold writes new apps (init) and new functions (new), from the templates in
// newapp, with what each kind of trigger and each language needs. Read [NewInit] and [NewNew]
// first.
package scaffold
