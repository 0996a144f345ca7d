package wire

// Descriptors of the types of the standard.
const (
	DescOpen        = 0x10
	DescBegin       = 0x11
	DescAttach      = 0x12
	DescFlow        = 0x13
	DescTransfer    = 0x14
	DescDisposition = 0x15
	DescDetach      = 0x16
	DescEnd         = 0x17
	DescClose       = 0x18
	DescError       = 0x1d

	DescReceived = 0x23
	DescAccepted = 0x24
	DescRejected = 0x25
	DescReleased = 0x26
	DescModified = 0x27

	DescSource      = 0x28
	DescTarget      = 0x29
	DescCoordinator = 0x30

	DescDeclare            = 0x31
	DescDischarge          = 0x32
	DescDeclared           = 0x33
	DescTransactionalState = 0x34

	DescSASLMechanisms = 0x40
	DescSASLInit       = 0x41
	DescSASLChallenge  = 0x42
	DescSASLResponse   = 0x43
	DescSASLOutcome    = 0x44

	DescHeader                = 0x70
	DescDeliveryAnnotations   = 0x71
	DescMessageAnnotations    = 0x72
	DescProperties            = 0x73
	DescApplicationProperties = 0x74
	DescData                  = 0x75
	DescSequence              = 0x76
	DescValue                 = 0x77
	DescFooter                = 0x78
)

// symbolic are the symbolic descriptors of the standard.
var symbolic = map[Symbol]uint64{ // read only
	"amqp:open:list":                  DescOpen,
	"amqp:begin:list":                 DescBegin,
	"amqp:attach:list":                DescAttach,
	"amqp:flow:list":                  DescFlow,
	"amqp:transfer:list":              DescTransfer,
	"amqp:disposition:list":           DescDisposition,
	"amqp:detach:list":                DescDetach,
	"amqp:end:list":                   DescEnd,
	"amqp:close:list":                 DescClose,
	"amqp:error:list":                 DescError,
	"amqp:received:list":              DescReceived,
	"amqp:accepted:list":              DescAccepted,
	"amqp:rejected:list":              DescRejected,
	"amqp:released:list":              DescReleased,
	"amqp:modified:list":              DescModified,
	"amqp:source:list":                DescSource,
	"amqp:target:list":                DescTarget,
	"amqp:declare:list":               DescDeclare,
	"amqp:discharge:list":             DescDischarge,
	"amqp:declared:list":              DescDeclared,
	"amqp:transactional-state:list":   DescTransactionalState,
	"amqp:coordinator:list":           DescCoordinator,
	"amqp:sasl-mechanisms:list":       DescSASLMechanisms,
	"amqp:sasl-init:list":             DescSASLInit,
	"amqp:sasl-challenge:list":        DescSASLChallenge,
	"amqp:sasl-response:list":         DescSASLResponse,
	"amqp:sasl-outcome:list":          DescSASLOutcome,
	"amqp:header:list":                DescHeader,
	"amqp:delivery-annotations:map":   DescDeliveryAnnotations,
	"amqp:message-annotations:map":    DescMessageAnnotations,
	"amqp:properties:list":            DescProperties,
	"amqp:application-properties:map": DescApplicationProperties,
	"amqp:data:binary":                DescData,
	"amqp:amqp-sequence:list":         DescSequence,
	"amqp:amqp-value:*":               DescValue,
	"amqp:footer:map":                 DescFooter,
}

// DescriptorOf returns the number that a symbolic descriptor stands for; 0 if
// the standard does not have it.
func DescriptorOf(name Symbol) uint64 { return symbolic[name] }
