using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Redeliver.Testing;

/// <summary>How a message is put on a queue of storage.</summary>
public sealed record QueueSend
{
    /// <summary>Whether the text is stored as it is, and not as the queue's messages are encoded.</summary>
    public bool Raw { get; init; }
    /// <summary>Virtual time until it is visible.</summary>
    public TimeSpan? Visibility { get; init; }
    /// <summary>Virtual time that it lives. Default: seven days.</summary>
    public TimeSpan? TimeToLive { get; init; }
}

/// <summary>A message to send to Service Bus.</summary>
/// <param name="body">The body.</param>
public sealed class BusMessage(ReadOnlyMemory<byte> body)
{
    /// <summary>A message with a text.</summary>
    public BusMessage(string text) : this(Encoding.UTF8.GetBytes(text)) { }

    /// <summary>A message with a value as JSON, with camel-case names unless <paramref name="options"/> says otherwise.</summary>
    [RequiresUnreferencedCode("Serializes by reflection: use the overload with JsonTypeInfo in trimmed programs."), RequiresDynamicCode("Serializes by reflection.")]
    public static BusMessage FromJson<T>(T value, JsonSerializerOptions? options = null) => new(JsonSerializer.SerializeToUtf8Bytes(value, options ?? Internal.Wire.Web));

    /// <summary>A message with a value as JSON, by the type's own contract.</summary>
    public static BusMessage FromJson<T>(T value, JsonTypeInfo<T> contract) => new(JsonSerializer.SerializeToUtf8Bytes(value, contract));

    /// <summary>The body.</summary>
    public ReadOnlyMemory<byte> Body { get; } = body;
    /// <summary>Identity. Default: one from the seed.</summary>
    public string? MessageId { get; set; }
    /// <summary>Session.</summary>
    public string? SessionId { get; set; }
    /// <summary>Subject (label).</summary>
    public string? Subject { get; set; }
    /// <summary>Correlation identity.</summary>
    public string? CorrelationId { get; set; }
    /// <summary>Content type.</summary>
    public string? ContentType { get; set; }
    /// <summary>Virtual time until it is there.</summary>
    public TimeSpan? Delay { get; set; }
    /// <summary>Application properties that are texts.</summary>
    public IDictionary<string, string> ApplicationProperties { get; } = new Dictionary<string, string>(StringComparer.Ordinal);
}

/// <summary>A fault of operations of an embedded service, for the app: what the test itself sends and looks at does not meet it.</summary>
/// <param name="Service"><c>queue</c>, <c>blob</c>, <c>servicebus</c>, <c>eventhubs</c>, <c>eventgrid</c>, <c>cosmos</c>, <c>handler</c>.</param>
/// <param name="Operation">Its name, such as <c>Complete</c>; null: every one.</param>
public sealed record ServiceFault(string Service, string? Operation = null)
{
    /// <summary>Queue, topic, container …; every one unless it is set.</summary>
    [DisallowNull] public string? Entity { get => entity; init => entity = value ?? throw new ArgumentNullException(nameof(Entity), "Entity is null: leave it out, or give it a value"); }
    private readonly string? entity;
    /// <summary>It fails after its effect.</summary>
    public bool After { get; init; }
    /// <summary>It has no effect and succeeds.</summary>
    public bool Lost { get; init; }
    /// <summary>Text of the failure.</summary>
    public string? Error { get; init; }
    /// <summary>Status of HTTP that it fails with.</summary>
    public int? Status { get; init; }
    /// <summary>How many operations. Default 1.</summary>
    public int? Times { get; init; }
    /// <summary>Virtual time that the operation takes.</summary>
    public TimeSpan? Latency { get; init; }
}

/// <summary>Points of a delivery at which the host can be killed.</summary>
public enum CrashPoint
{
    /// <summary>The delivery is taken, no attempt has begun.</summary>
    AfterReceive,
    /// <summary>An attempt has begun, the handler is not called.</summary>
    BeforeHandler,
    /// <summary>An attempt has ended.</summary>
    AfterHandler,
    /// <summary>A retry is scheduled, its wait begins.</summary>
    BetweenAttempts,
    /// <summary>No further attempt will come.</summary>
    BeforeSettle,
    /// <summary>The checkpoint is written.</summary>
    AfterCheckpoint,
    /// <summary>The service has settled the delivery.</summary>
    AfterSettle,
}

/// <summary>How a function that was called by hand went.</summary>
/// <param name="Succeeded">Whether its last attempt succeeded.</param>
/// <param name="Attempts">Attempts.</param>
/// <param name="Error">What the last one failed with.</param>
public sealed record CallResult(bool Succeeded, int Attempts, string? Error = null);

/// <summary>A function of the host.</summary>
/// <param name="Name">Name.</param>
/// <param name="Trigger">Type of its trigger, such as <c>queueTrigger</c>.</param>
/// <param name="Source">Queue, schedule, route.</param>
/// <param name="AttemptsPerDelivery">Attempts of a message that always fails, in each delivery.</param>
/// <param name="AttemptsUnbounded">Whether these never end.</param>
/// <param name="Deliveries">Deliveries of a message that always fails.</param>
/// <param name="DeliveriesUnbounded">Whether these never end.</param>
public sealed record FunctionSummary(string Name, string? Trigger, string? Source, int AttemptsPerDelivery, bool AttemptsUnbounded, int Deliveries, bool DeliveriesUnbounded);
