using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Nodes;

namespace Redeliver.Testing;

/// <summary>A function that a test describes: a trigger, a policy, a script in the place of a handler. No code runs for it.</summary>
public sealed class FunctionSpec
{
    private readonly JsonObject members;

    private FunctionSpec(JsonObject members) => this.members = members;

    private static FunctionSpec Of(params ReadOnlySpan<(string Name, string Value)> trigger)
    {
        var made = new JsonObject();
        foreach (var (name, value) in trigger) made[name] = value;
        return new(new() { ["trigger"] = made });
    }

    /// <summary>A function with a queue trigger.</summary>
    public static FunctionSpec Queue(string queueName) => Of(("type", "queueTrigger"), ("queueName", queueName));
    /// <summary>A function with a trigger of a Service Bus queue.</summary>
    public static FunctionSpec ServiceBusQueue(string queueName) => Of(("type", "serviceBusTrigger"), ("queueName", queueName));
    /// <summary>A function with a trigger of a Service Bus subscription.</summary>
    public static FunctionSpec ServiceBusTopic(string topicName, string subscriptionName) => Of(("type", "serviceBusTrigger"), ("topicName", topicName), ("subscriptionName", subscriptionName));
    /// <summary>A function with a timer trigger.</summary>
    /// <param name="schedule">Six fields, the first of which is seconds.</param>
    public static FunctionSpec Timer(string schedule) => Of(("type", "timerTrigger"), ("schedule", schedule));
    /// <summary>A function with a trigger for anonymous requests, at <c>api/NAME</c>.</summary>
    public static FunctionSpec Http() => Of(("type", "httpTrigger"), ("authLevel", "anonymous"));
    /// <summary>A function as a scenario writes it: <c>trigger</c>, <c>bindings</c>, <c>retry</c>, <c>handler</c>.</summary>
    /// <param name="json">Its JSON.</param>
    public static FunctionSpec FromJson([StringSyntax(StringSyntaxAttribute.Json)] string json) =>
        new(JsonNode.Parse(json) as JsonObject ?? throw new ArgumentException("the function is no object", nameof(json)));

    /// <summary>A policy of equal waits.</summary>
    /// <param name="maxRetryCount">Retries, not attempts; -1 for ever.</param>
    /// <param name="delay">Virtual wait before each.</param>
    public FunctionSpec WithFixedDelayRetry(int maxRetryCount, TimeSpan delay) =>
        With("retry", new JsonObject { ["strategy"] = "fixedDelay", ["maxRetryCount"] = maxRetryCount, ["delayInterval"] = delay.ToString("c") });

    /// <summary>A policy of growing waits.</summary>
    /// <param name="maxRetryCount">Retries, not attempts; -1 for ever.</param>
    /// <param name="minimum">The first wait.</param>
    /// <param name="maximum">The longest wait.</param>
    public FunctionSpec WithExponentialBackoffRetry(int maxRetryCount, TimeSpan minimum, TimeSpan maximum) =>
        With("retry", new JsonObject { ["strategy"] = "exponentialBackoff", ["maxRetryCount"] = maxRetryCount, ["minimumInterval"] = minimum.ToString("c"), ["maximumInterval"] = maximum.ToString("c") });

    /// <summary>What its handler does: a word of scenarios, such as <c>fail</c>, <c>succeed</c>, <c>hang</c>.</summary>
    public FunctionSpec Scripted(string action) => With("handler", action);
    /// <summary>It fails so many times, then succeeds.</summary>
    public FunctionSpec FailingTimes(int times, string error = "failed") =>
        With("handler", new JsonArray(new JsonObject { ["do"] = "fail", ["times"] = times, ["error"] = error }, new JsonObject { ["do"] = "succeed" }));
    /// <summary>What its handler does, as a scenario writes it: an object, or a list.</summary>
    public FunctionSpec ScriptedJson([StringSyntax(StringSyntaxAttribute.Json)] string json) => With("handler", JsonNode.Parse(json));

    private FunctionSpec With(string name, JsonNode? value)
    {
        members[name] = value;
        return this;
    }

    internal JsonNode ToJson() => members.DeepClone();
}
