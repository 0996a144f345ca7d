package eventhubs

// NumericOffset is numericOffset.
var NumericOffset = numericOffset // read only
