using System.Text.Json;
using System.Text.Json.Nodes;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

// What moves virtual time.
public sealed partial class RedeliverHost
{
    /// <summary>Virtual time.</summary>
    public async Task<DateTimeOffset> GetUtcNowAsync(CancellationToken cancellationToken = default) =>
        (await ControlAsync(HttpMethod.Get, "clock", null, Wire.Default.Clock, cancellationToken).ConfigureAwait(false)).Now;

    /// <summary>Moves time forward, and runs what is due meanwhile; <see cref="TimeSpan.Zero"/> runs what is due now.</summary>
    /// <returns>Virtual time afterwards.</returns>
    public Task<DateTimeOffset> AdvanceAsync(TimeSpan by, CancellationToken cancellationToken = default) => MoveAsync(new JsonObject { ["by"] = SpanConverter.Text(by) }, cancellationToken);

    /// <summary>Moves time to what is due next, and runs that.</summary>
    /// <returns>Virtual time afterwards.</returns>
    public Task<DateTimeOffset> NextAsync(CancellationToken cancellationToken = default) => MoveAsync(new JsonObject { ["next"] = true }, cancellationToken);

    /// <summary>Moves time at once, as for a machine that has slept: what was due comes late.</summary>
    /// <returns>Virtual time afterwards.</returns>
    public Task<DateTimeOffset> JumpAsync(TimeSpan by, CancellationToken cancellationToken = default) => MoveAsync(new JsonObject { ["jump"] = SpanConverter.Text(by) }, cancellationToken);

    /// <summary>Moves time until nothing is left to happen but ticks of timers.</summary>
    /// <returns>Virtual time afterwards.</returns>
    /// <exception cref="RedeliverAssertionException">After a week of virtual time something is still left to happen.</exception>
    public async Task<DateTimeOffset> RunUntilIdleAsync(CancellationToken cancellationToken = default)
    {
        var told = await DriveAsync(new JsonObject { ["idle"] = true }, cancellationToken).ConfigureAwait(false);
        return told.Stopped == "horizon" ? throw Vain(told, "something is still left to happen after a week of virtual time") : told.Now;
    }

    /// <summary>Moves time until a record of the journal has these members.</summary>
    /// <exception cref="RedeliverAssertionException">It can no longer come: this is seen at once.</exception>
    public Task<JournalRecord> RunUntilAsync(JournalPattern pattern, CancellationToken cancellationToken = default) => UntilAsync(Pattern(pattern), cancellationToken);

    /// <summary>Moves time until a delivery has ended.</summary>
    /// <param name="cancellationToken">Gives up the wait.</param>
    /// <exception cref="RedeliverAssertionException">It can no longer come: this is seen at once.</exception>
    public Task<JournalRecord> WaitForSettledAsync(CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["settled"] = true }, cancellationToken);

    /// <inheritdoc cref="WaitForSettledAsync(CancellationToken)"/>
    /// <param name="function">Of this function.</param>
    /// <param name="cancellationToken">Gives up the wait.</param>
    public Task<JournalRecord> WaitForSettledAsync(string function, CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["settled"] = Named(function) }, cancellationToken);

    /// <summary>Moves time until a function is done with a message.</summary>
    /// <param name="cancellationToken">Gives up the wait.</param>
    /// <exception cref="RedeliverAssertionException">It can no longer come: this is seen at once.</exception>
    public Task<JournalRecord> WaitForCompletedAsync(CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["completed"] = true }, cancellationToken);

    /// <inheritdoc cref="WaitForCompletedAsync(CancellationToken)"/>
    /// <param name="function">Of this function.</param>
    /// <param name="cancellationToken">Gives up the wait.</param>
    public Task<JournalRecord> WaitForCompletedAsync(string function, CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["completed"] = Named(function) }, cancellationToken);

    /// <summary>Moves time until a message is poison.</summary>
    /// <param name="cancellationToken">Gives up the wait.</param>
    /// <exception cref="RedeliverAssertionException">It can no longer come: this is seen at once.</exception>
    public Task<JournalRecord> WaitForPoisonedAsync(CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["poisoned"] = true }, cancellationToken);

    /// <inheritdoc cref="WaitForPoisonedAsync(CancellationToken)"/>
    /// <param name="function">Of this function.</param>
    /// <param name="cancellationToken">Gives up the wait.</param>
    public Task<JournalRecord> WaitForPoisonedAsync(string function, CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["poisoned"] = Named(function) }, cancellationToken);

    /// <summary>Moves time until a checkpoint of a function of Event Hubs or Cosmos DB is written.</summary>
    /// <param name="cancellationToken">Gives up the wait.</param>
    /// <exception cref="RedeliverAssertionException">It can no longer come: this is seen at once.</exception>
    public Task<JournalRecord> WaitForCheckpointedAsync(CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["checkpointed"] = true }, cancellationToken);

    /// <inheritdoc cref="WaitForCheckpointedAsync(CancellationToken)"/>
    /// <param name="function">Of this function.</param>
    /// <param name="cancellationToken">Gives up the wait.</param>
    public Task<JournalRecord> WaitForCheckpointedAsync(string function, CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["checkpointed"] = Named(function) }, cancellationToken);

    /// <summary>Moves time until a message is a dead letter.</summary>
    /// <param name="cancellationToken">Gives up the wait.</param>
    /// <exception cref="RedeliverAssertionException">It can no longer come: this is seen at once.</exception>
    public Task<JournalRecord> WaitForDeadLetteredAsync(CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["deadLettered"] = true }, cancellationToken);

    /// <inheritdoc cref="WaitForDeadLetteredAsync(CancellationToken)"/>
    /// <param name="path">Of this queue or subscription.</param>
    /// <param name="cancellationToken">Gives up the wait.</param>
    public Task<JournalRecord> WaitForDeadLetteredAsync(string path, CancellationToken cancellationToken = default) => UntilAsync(new JsonObject { ["deadLettered"] = Named(path) }, cancellationToken);

    private async Task<JournalRecord> UntilAsync(JsonObject until, CancellationToken cancellationToken)
    {
        var told = await DriveAsync(new JsonObject { ["until"] = until }, cancellationToken).ConfigureAwait(false);
        return told is { Stopped: "met", Record: { } record } ? record : throw Vain(told, told.Text ?? told.Stopped);
    }

    private async Task<DateTimeOffset> MoveAsync(JsonObject how, CancellationToken cancellationToken) => (await DriveAsync(how, cancellationToken).ConfigureAwait(false)).Now;

    private Task<Driven> DriveAsync(JsonObject how, CancellationToken cancellationToken) => VerbAsync(HttpMethod.Post, "drive", how, Wire.Default.Driven, cancellationToken);

    private RedeliverAssertionException Vain(Driven told, string what) =>
        Texts.Failure([new Difference(null, $"{what}; it is {told.Now:yyyy-MM-dd'T'HH:mm:ss.FFFFFFF'Z'}", Timeline: told.Timeline)], Texts.Logs(told.Logs) + Again(), Seed);

    private static JsonObject Pattern(JournalPattern pattern)
    {
        ArgumentNullException.ThrowIfNull(pattern);
        return (JsonObject)JsonSerializer.SerializeToNode(pattern, Wire.Default.JournalPattern)!;
    }
}
