// Package sqlfilter is the SQL dialect in which subscription rules of Service
// Bus say which messages they want, and what they change in them.
//
// [ParseFilter] and [ParseAction] read an expression; [Filter.Match] and
// [Action.Apply] run it on one message. Logic has three values: a property that
// the message does not have, and NULL, make an operand unknown, and a filter
// whose result is unknown does not match. A run-time error of the language (an
// unknown system property, operands without a common type, a division by zero)
// is a [*FilterError].
//
// Names of properties are case-insensitive; comparisons of strings are not.
// Numbers follow C#'s promotions: integers stay 64-bit integers until a float or
// decimal joins them.
//
// Left out: the JMS selector syntax of the Premium tier.
//
// Reference: docs, "Subscription Rule SQL Filter Syntax" and "Subscription Rule
// SQL Action Syntax"; spec messaging 1.6.
package sqlfilter
