using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Redeliver.Testing;

/// <summary>A record of the journal: one fact. Its members are those of the file format, schemas/journal.json.</summary>
public sealed record JournalRecord
{
    /// <summary>Number, from 1, without gaps, in one run of the host.</summary>
    [JsonPropertyName("seq")] public long Sequence { get; init; }
    /// <summary>Virtual time.</summary>
    public DateTimeOffset Time { get; init; }
    /// <summary>Kind of the fact, such as <c>settled</c>.</summary>
    public string Kind { get; init; } = "";
    /// <summary>Function.</summary>
    public string? Function { get; init; }
    /// <summary>Queue, schedule, or method and path.</summary>
    public string? Source { get; init; }
    /// <summary>Identity of the delivery.</summary>
    public string? Delivery { get; init; }
    /// <summary>Identity of the invocation.</summary>
    public string? Invocation { get; init; }
    /// <summary>Identity of the message at its service.</summary>
    [JsonPropertyName("message_id")] public string? MessageId { get; init; }
    /// <summary>Deliveries of this message, this one included.</summary>
    [JsonPropertyName("delivery_count")] public int? DeliveryCount { get; init; }
    /// <summary>Number of the attempt, from 1.</summary>
    public int? Attempt { get; init; }
    /// <summary>Retries before it.</summary>
    [JsonPropertyName("retry_count")] public int? RetryCount { get; init; }
    /// <summary>How an attempt ended.</summary>
    public string? Status { get; init; }
    /// <summary>Settlement of a delivery.</summary>
    public string? Decision { get; init; }
    /// <summary>Where a message went.</summary>
    public string? Target { get; init; }
    /// <summary>What an attempt failed with.</summary>
    public string? Error { get; init; }
    /// <summary>Level of a line that a handler logged.</summary>
    public string? Level { get; init; }
    /// <summary>Text.</summary>
    public string? Message { get; init; }
    /// <summary>All other members.</summary>
    [JsonExtensionData] public IDictionary<string, JsonElement>? Others { get; set; } // see FunctionAttempt.Others
}

/// <summary>What a record of the journal must have: every member that is set must be equal; one that is not set is not compared, and null is no value. A name that the app, or a journal, does not have is refused.</summary>
public sealed record JournalPattern
{
    /// <summary>Kind of the fact, such as <c>retries_exhausted</c>.</summary>
    [DisallowNull] public string? Kind { get => kind; init => kind = value ?? throw Missing(nameof(Kind)); }
    private readonly string? kind;
    /// <summary>Function.</summary>
    [DisallowNull] public string? Function { get => function; init => function = value ?? throw Missing(nameof(Function)); }
    private readonly string? function;
    /// <summary>Where a message came from.</summary>
    [DisallowNull] public string? Source { get => source; init => source = value ?? throw Missing(nameof(Source)); }
    private readonly string? source;
    /// <summary>Identity of the message.</summary>
    [JsonPropertyName("message_id")] [DisallowNull] public string? MessageId { get => messageId; init => messageId = value ?? throw Missing(nameof(MessageId)); }
    private readonly string? messageId;
    /// <summary>How an attempt ended.</summary>
    [DisallowNull] public string? Status { get => status; init => status = value ?? throw Missing(nameof(Status)); }
    private readonly string? status;
    /// <summary>Settlement.</summary>
    [DisallowNull] public string? Decision { get => decision; init => decision = value ?? throw Missing(nameof(Decision)); }
    private readonly string? decision;
    /// <summary>Where a message went.</summary>
    [DisallowNull] public string? Target { get => target; init => target = value ?? throw Missing(nameof(Target)); }
    private readonly string? target;
    /// <summary>Level of a line that a handler logged.</summary>
    [DisallowNull] public string? Level { get => level; init => level = value ?? throw Missing(nameof(Level)); }
    private readonly string? level;
    private static ArgumentNullException Missing(string name) => new(name, $"{name} is null: leave it out, or give it a value");

    /// <summary>Further members by their names in the journal.</summary>
    [JsonExtensionData] public IDictionary<string, JsonElement>? Others { get; set; }
}
