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

// DescriptorOf returns the number that a symbolic descriptor stands for; 0 if
// the standard does not have it.
func DescriptorOf(name Symbol) uint64 {
	switch name {
	case "amqp:open:list":
		return DescOpen
	case "amqp:begin:list":
		return DescBegin
	case "amqp:attach:list":
		return DescAttach
	case "amqp:flow:list":
		return DescFlow
	case "amqp:transfer:list":
		return DescTransfer
	case "amqp:disposition:list":
		return DescDisposition
	case "amqp:detach:list":
		return DescDetach
	case "amqp:end:list":
		return DescEnd
	case "amqp:close:list":
		return DescClose
	case "amqp:error:list":
		return DescError
	case "amqp:received:list":
		return DescReceived
	case "amqp:accepted:list":
		return DescAccepted
	case "amqp:rejected:list":
		return DescRejected
	case "amqp:released:list":
		return DescReleased
	case "amqp:modified:list":
		return DescModified
	case "amqp:source:list":
		return DescSource
	case "amqp:target:list":
		return DescTarget
	case "amqp:declare:list":
		return DescDeclare
	case "amqp:discharge:list":
		return DescDischarge
	case "amqp:declared:list":
		return DescDeclared
	case "amqp:transactional-state:list":
		return DescTransactionalState
	case "amqp:coordinator:list":
		return DescCoordinator
	case "amqp:sasl-mechanisms:list":
		return DescSASLMechanisms
	case "amqp:sasl-init:list":
		return DescSASLInit
	case "amqp:sasl-challenge:list":
		return DescSASLChallenge
	case "amqp:sasl-response:list":
		return DescSASLResponse
	case "amqp:sasl-outcome:list":
		return DescSASLOutcome
	case "amqp:header:list":
		return DescHeader
	case "amqp:delivery-annotations:map":
		return DescDeliveryAnnotations
	case "amqp:message-annotations:map":
		return DescMessageAnnotations
	case "amqp:properties:list":
		return DescProperties
	case "amqp:application-properties:map":
		return DescApplicationProperties
	case "amqp:data:binary":
		return DescData
	case "amqp:amqp-sequence:list":
		return DescSequence
	case "amqp:amqp-value:*":
		return DescValue
	case "amqp:footer:map":
		return DescFooter
	default:
		return 0
	}
}
