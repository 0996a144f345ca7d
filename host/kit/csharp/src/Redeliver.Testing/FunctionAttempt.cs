using System.Text.Json;
using System.Text.Json.Serialization;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

/// <summary>One attempt of a function: one run of its handler.</summary>
public sealed record FunctionAttempt
{
    /// <summary>Name of the function.</summary>
    public string Function { get; init; } = "";
    /// <summary>Identity of the message at its service; null for a timer or a request.</summary>
    public string? MessageId { get; init; }
    /// <summary>Identity of the invocation.</summary>
    public string InvocationId { get; init; } = "";
    /// <summary>Identity of the delivery in the journal; after a restart the names begin anew.</summary>
    public string DeliveryId { get; init; } = "";
    /// <summary>Which delivery of the message this was, from 1.</summary>
    public int Delivery { get; init; }
    /// <summary>The service's own count of deliveries; 0 where the service has none.</summary>
    public int DeliveryCount { get; init; }
    /// <summary>Number of the attempt in its delivery, from 1.</summary>
    public int Attempt { get; init; }
    /// <summary>Retries before this attempt: <see cref="Attempt"/> - 1.</summary>
    public int RetryCount { get; init; }
    /// <summary>Limit of the policy; null without a policy, -1 for ever.</summary>
    public int? MaxRetryCount { get; init; }
    /// <summary>When it began, in virtual time.</summary>
    public DateTimeOffset Started { get; init; }
    /// <summary>When it ended, in virtual time; null while it runs.</summary>
    public DateTimeOffset? Ended { get; init; }
    /// <summary>How long it took, in real time.</summary>
    [JsonPropertyName("tookMs"), JsonConverter(typeof(MillisecondsConverter))] public TimeSpan Took { get; init; }
    /// <summary>How it ended.</summary>
    public AttemptStatus Status { get; init; }
    /// <summary>What the handler failed with.</summary>
    public AttemptError? Error { get; init; }
    /// <summary>What the policy decided: <c>retry</c>, <c>exhausted</c>, <c>permanent</c>, <c>cancelled</c>; null where none applies.</summary>
    public string? Decision { get; init; }
    /// <summary>Virtual wait until the next attempt of the same delivery.</summary>
    [JsonConverter(typeof(SpanConverter))] public TimeSpan? NextDelay { get; init; }
    /// <summary>How the delivery was settled, of its last attempt.</summary>
    public string? Settled { get; init; }
    /// <summary>The virtual time for which its handler waits, of one that does: it does not hold time still.</summary>
    public DateTimeOffset? WaitsUntil { get; init; }
    /// <summary>What the handler logged.</summary>
    public IReadOnlyList<HandlerLog> Logs { get; init; } = [];
    /// <summary>Members that this version of the kit does not know.</summary>
    [JsonExtensionData] public IDictionary<string, JsonElement>? Others { get; set; } // with init, source generation leaves it empty and fails at run time
}

/// <summary>How an attempt ended.</summary>
[JsonConverter(typeof(AttemptStatusConverter))]
public enum AttemptStatus
{
    /// <summary>A word that this version of the kit does not know.</summary>
    Unknown,
    /// <summary>The handler has not returned.</summary>
    Running,
    /// <summary>The handler returned.</summary>
    Succeeded,
    /// <summary>The handler threw, or an output could not be written.</summary>
    Failed,
    /// <summary>The handler outlived functionTimeout.</summary>
    TimedOut,
    /// <summary>The process ended under it.</summary>
    Lost,
}

/// <summary>What a handler failed with.</summary>
/// <param name="Message">Text of the exception.</param>
/// <param name="Type">Full name of its type, where the worker says it.</param>
/// <param name="Stack">Its stack, where the worker says it.</param>
public sealed record AttemptError(string Message, string? Type = null, string? Stack = null);

/// <summary>A line that a handler logged.</summary>
/// <param name="Text">The line.</param>
/// <param name="Level">Its level, such as <c>information</c>.</param>
/// <param name="Function">The function.</param>
/// <param name="Invocation">Identity of the invocation.</param>
public sealed record HandlerLog(string Text, string? Level = null, string? Function = null, string? Invocation = null)
{
    /// <summary>The line as failures show it.</summary>
    public override string ToString() => $"{Function}{(string.IsNullOrEmpty(Level) ? "" : $" {Level}")}: {Text}";
}
