package servicebus

import (
	"context"
	"time"
)

// Admin is the administration of a namespace: which entities there are
// and how they behave.
//
// All methods may be called concurrently. Names match without regard to case and
// are reported as they were created. A description that is created or updated
// replaces all settings; a zero field has the default that its comment names.
// Create fails with bindings.ErrAlreadyExists when the name is taken, by a queue or by a
// topic; the others fail with bindings.ErrNotFound. Settings beyond their limits
// are bindings.ErrOutOfRange, those that contradict each other, that can only be set at
// creation, and filters that do not parse are bindings.ErrInvalidArgument, and a forward
// target that does not exist is bindings.ErrNotFound. Lists are sorted by name, in which
// case does not count.
//
// Reference: spec messaging 1.1 and 3.11.
type Admin interface {
	CreateQueue(ctx context.Context, q Queue) (*QueueInfo, error)
	GetQueue(ctx context.Context, name string) (*QueueInfo, error)
	UpdateQueue(ctx context.Context, q Queue) (*QueueInfo, error)
	DeleteQueue(ctx context.Context, name string) error
	ListQueues(ctx context.Context) ([]*QueueInfo, error)

	CreateTopic(ctx context.Context, t Topic) (*TopicInfo, error)
	GetTopic(ctx context.Context, name string) (*TopicInfo, error)
	UpdateTopic(ctx context.Context, t Topic) (*TopicInfo, error)
	// DeleteTopic removes the topic with its subscriptions.
	DeleteTopic(ctx context.Context, name string) error
	ListTopics(ctx context.Context) ([]*TopicInfo, error)

	// CreateSubscription makes a subscription with its first rule: rule, or when
	// it is nil a rule "$Default" that wants everything.
	CreateSubscription(ctx context.Context, s Subscription, rule *Rule) (*SubscriptionInfo, error)
	GetSubscription(ctx context.Context, topic, name string) (*SubscriptionInfo, error)
	UpdateSubscription(ctx context.Context, s Subscription) (*SubscriptionInfo, error)
	DeleteSubscription(ctx context.Context, topic, name string) error
	ListSubscriptions(ctx context.Context, topic string) ([]*SubscriptionInfo, error)

	CreateRule(ctx context.Context, topic, subscription string, r Rule) (*Rule, error)
	GetRule(ctx context.Context, topic, subscription, name string) (*Rule, error)
	UpdateRule(ctx context.Context, topic, subscription string, r Rule) (*Rule, error)
	DeleteRule(ctx context.Context, topic, subscription, name string) error
	ListRules(ctx context.Context, topic, subscription string) ([]*Rule, error)
}

// Status says what an entity can be used for.
type Status string

// The statuses. The empty one is active. The service has more, which pass by
// themselves (Creating, Deleting, ...).
const (
	StatusActive          Status = "Active"
	StatusDisabled        Status = "Disabled"
	StatusSendDisabled    Status = "SendDisabled"
	StatusReceiveDisabled Status = "ReceiveDisabled"
)

// Defaults and limits of settings, whose table is package setting (spec messaging 1.1).
const (
	DefaultLockDuration     = time.Minute
	DefaultMaxDeliveryCount = 10
	MaxMessageSizeLimit     = 102400 // kilobytes
	MaxUserMetadata         = 1024   // characters
	MaxSQLExpression        = 1024   // characters
)

// MaxSize is the size in megabytes that an entity has, of which a size was
// asked for. A partitioned one has sixteen partitions, and each of them that size; the
// whole, which the service reports, is above the 5 GB that may be asked for, and stays as
// it is when it comes back in an update.
//
// Source: azure-sdk-for-go, azservicebus/admin live test QueueWithMaxValues.
func MaxSize(megabytes int, partitioned *bool) int {
	const largestPartition, partitions = 5 * 1024, 16
	if partitioned != nil && *partitioned && megabytes <= largestPartition {
		return partitions * megabytes
	}
	return megabytes
}

// Queue describes a queue.
type Queue struct {
	Name string

	// LockDuration is the life of a lock: 5 s to 5 min, zero for 1 min.
	LockDuration time.Duration
	// MaxDeliveryCount is how many deliveries may fail: 1 or more, zero for 10.
	MaxDeliveryCount int
	// DefaultMessageTimeToLive is the time to live of messages that name none, and
	// the maximum for the others. Zero: no end.
	DefaultMessageTimeToLive time.Duration
	// DeadLetteringOnMessageExpiration dead-letters what would vanish.
	DeadLetteringOnMessageExpiration bool
	// RequiresSession can be set only at creation.
	RequiresSession bool
	// RequiresDuplicateDetection can be set only at creation.
	RequiresDuplicateDetection bool
	// DuplicateDetectionHistoryTimeWindow is 5 s to 7 days, zero for 10 min.
	DuplicateDetectionHistoryTimeWindow time.Duration
	// ForwardTo names the queue or topic to which all messages go on. Empty: none.
	// Absolute URIs are accepted and reported as names.
	ForwardTo string
	// ForwardDeadLetteredMessagesTo does the same for the dead-letter queue.
	ForwardDeadLetteredMessagesTo string
	// MaxSizeInMegabytes limits all messages together; zero for 1024.
	MaxSizeInMegabytes int
	// MaxMessageSizeInKilobytes limits one message; zero for 256.
	MaxMessageSizeInKilobytes int
	// AutoDeleteOnIdle removes an unused queue: 5 min or more; zero: never.
	AutoDeleteOnIdle time.Duration
	// Status: empty is active.
	Status Status
	// UserMetadata is the user's own, up to 1024 characters.
	UserMetadata string
	// AuthorizationRules are the queue's own rules.
	AuthorizationRules []AuthorizationRule `json:",omitempty"`

	Forwarding

	Echoed
}

// AuthorizationRule gives rights to an entity to clients that sign with one of its
// keys. An entity has at most 12.
type AuthorizationRule struct {
	// KeyName is the name of the rule, and what signatures name (skn): 1 to 256 characters.
	KeyName string
	// PrimaryKey and SecondaryKey are up to 256 characters; for an empty one the namespace
	// makes one.
	PrimaryKey, SecondaryKey string
	// Rights are one or more, each once. Manage needs both others.
	Rights []Right
}

// Right is what an authorization rule may allow.
type Right string

// The rights.
const (
	Listen Right = "Listen"
	Send   Right = "Send"
	Manage Right = "Manage"
)

// Echoed are settings that are kept and reported, without effect. Nil is
// the service's default: false, and for batched operations true.
type Echoed struct {
	EnablePartitioning      *bool
	EnableExpress           *bool
	SupportOrdering         *bool
	EnableBatchedOperations *bool
}

// Forwarding is where an entity forwards to in the words of who said so. A
// namespace that is given an absolute address as a target keeps the name of the
// entity there, and the address here; it is reported, without effect.
type Forwarding struct {
	ForwardToAddress                     string `json:",omitempty"`
	ForwardDeadLetteredMessagesToAddress string `json:",omitempty"`
}

// Topic describes a topic. Fields mean what they do on a queue.
type Topic struct {
	Name                                string
	DefaultMessageTimeToLive            time.Duration // a maximum for the subscriptions
	RequiresDuplicateDetection          bool
	DuplicateDetectionHistoryTimeWindow time.Duration
	MaxSizeInMegabytes                  int
	MaxMessageSizeInKilobytes           int
	AutoDeleteOnIdle                    time.Duration
	Status                              Status
	UserMetadata                        string
	AuthorizationRules                  []AuthorizationRule `json:",omitempty"`

	Echoed
}

// Subscription describes a subscription. Fields mean what they do on a
// queue.
type Subscription struct {
	Topic, Name                      string
	LockDuration                     time.Duration
	MaxDeliveryCount                 int
	DefaultMessageTimeToLive         time.Duration
	DeadLetteringOnMessageExpiration bool
	RequiresSession                  bool
	ForwardTo                        string
	ForwardDeadLetteredMessagesTo    string
	AutoDeleteOnIdle                 time.Duration
	Status                           Status
	UserMetadata                     string

	// DeadLetteringOnFilterEvaluationExceptions says what becomes of a message
	// for which a filter fails: the dead-letter queue, or nothing. Nil is true.
	DeadLetteringOnFilterEvaluationExceptions *bool

	Forwarding

	Echoed
}

// Counts is how many messages an entity holds.
type Counts struct {
	Active             int64 // available or locked
	Deferred           int64
	Scheduled          int64
	DeadLetter         int64 // of all states in the dead-letter queue
	Transfer           int64 // on their way to another entity: always 0 here
	TransferDeadLetter int64
}

// Total is the sum.
func (c Counts) Total() int64 {
	return c.Active + c.Deferred + c.Scheduled + c.DeadLetter + c.Transfer + c.TransferDeadLetter
}

// Runtime is what an entity has come to since it was created.
type Runtime struct {
	Counts      Counts
	SizeInBytes int64
	Created     time.Time
	Updated     time.Time
	Accessed    time.Time // last send or receive; zero: never
}

// QueueInfo is a queue with every default filled in, and its runtime
// values.
type QueueInfo struct {
	Queue
	Runtime
}

// TopicInfo is a topic with every default filled in. Of the counts only
// Scheduled can be other than zero: a topic has no dead-letter queue.
type TopicInfo struct {
	Topic
	Runtime
	SubscriptionCount int
}

// SubscriptionInfo is a subscription with every default filled in.
type SubscriptionInfo struct {
	Subscription
	Runtime
}

// DefaultRule is the name of the rule that a subscription begins with.
const DefaultRule = "$Default"

// Rule lets messages of a topic into a subscription. Rules combine by
// OR; a rule with an action makes a copy of its own.
type Rule struct {
	Name    string
	Filter  Filter
	Action  *SQL      // nil: none
	Created time.Time // set by the service
}

// FilterKind says which kind of filter it is.
type FilterKind string

// The kinds. The empty one is true.
const (
	TrueFilter        FilterKind = "True"
	FalseFilter       FilterKind = "False"
	SQLFilter         FilterKind = "Sql"
	CorrelationFilter FilterKind = "Correlation"
)

// Filter decides which messages a rule wants.
type Filter struct {
	Kind        FilterKind
	SQL         SQL         // of SQLFilter
	Correlation Correlation // of CorrelationFilter
}

// SQL is a filter or action in the SQL dialect of the service.
type SQL struct {
	Expression string         // up to 1024 characters
	Parameters map[string]any // values of @name, by "@name"; types of application properties
}

// Correlation wants messages for which every field that is not nil is
// equal, case included.
type Correlation struct {
	CorrelationID, MessageID, To, ReplyTo, Subject *string
	SessionID, ReplyToSessionID, ContentType       *string
	Properties                                     map[string]any
}
