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

/// <summary>What a record of the journal must have: every member that is set must be equal. A name that the app, or a journal, does not have is refused.</summary>
public sealed record JournalPattern
{
    /// <summary>Kind of the fact, such as <c>retries_exhausted</c>.</summary>
    public string? Kind { get; init; }
    /// <summary>Function.</summary>
    public string? Function { get; init; }
    /// <summary>Where a message came from.</summary>
    public string? Source { get; init; }
    /// <summary>Identity of the message.</summary>
    [JsonPropertyName("message_id")] public string? MessageId { get; init; }
    /// <summary>How an attempt ended.</summary>
    public string? Status { get; init; }
    /// <summary>Settlement.</summary>
    public string? Decision { get; init; }
    /// <summary>Where a message went.</summary>
    public string? Target { get; init; }
    /// <summary>Level of a line that a handler logged.</summary>
    public string? Level { get; init; }
    /// <summary>Further members by their names in the journal.</summary>
    [JsonExtensionData] public IDictionary<string, JsonElement>? Others { get; set; }
}
