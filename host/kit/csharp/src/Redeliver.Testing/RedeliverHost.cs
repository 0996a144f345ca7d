using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization.Metadata;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

/// <summary>A host for one test: services, clock, seed and journal of its own.</summary>
/// <remarks>
/// Virtual time moves only in <see cref="AdvanceAsync"/>, <see cref="NextAsync"/>, <see cref="JumpAsync"/>, in <c>WaitFor…</c>, <c>RunUntil…</c>, <see cref="CallAsync"/>, and in
/// requests of <see cref="CreateClient"/>. A wait looks at records behind the one that the wait before has returned: wait for things in the order in which they happen.
/// One call of a host at a time may move time; hosts of several tests go side by side.
/// </remarks>
public sealed partial class RedeliverHost : IAsyncDisposable
{
    private readonly RedeliverKit kit;
    private readonly RedeliverHostOptions options;
    private readonly JsonObject sent;
    private Started started = null!; // by OpenAsync
    private int told; // handlers' log lines that Log has had
    private bool stopped;
    private readonly ConcurrentDictionary<object, string> calls = new(); // that have no answer yet

    private RedeliverHost(RedeliverKit kit, RedeliverHostOptions options) => (this.kit, this.options, sent) = (kit, options, options.ToJson());

    /// <summary>Starts a host in the kit of this test process.</summary>
    /// <param name="options">What it is to be.</param>
    /// <param name="cancellationToken">Gives up the start: pass the test's own.</param>
    /// <param name="test">Name of the test, unless <see cref="RedeliverHostOptions.Name"/> says it.</param>
    /// <exception cref="RedeliverStartException">The program is not found or does not start.</exception>
    /// <exception cref="RedeliverException">The app is refused; the text is that of <c>redeliver check</c>.</exception>
    public static async Task<RedeliverHost> StartAsync(RedeliverHostOptions options, CancellationToken cancellationToken = default, [CallerMemberName] string test = "")
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Name ??= test;
        var kit = await RedeliverKit.SharedAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await OpenAsync(kit, options, cancellationToken).ConfigureAwait(false);
        }
        catch (RedeliverException e) when (e.Code == "kit_ended" && options.Worker is null) // the one of the test before was killed, and this test is the first to see
        {
            kit = await RedeliverKit.SharedAsync(cancellationToken).ConfigureAwait(false);
            return await OpenAsync(kit, options, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Starts a host in the kit of this test process.</summary>
    /// <param name="configure">Sets what it is to be.</param>
    /// <param name="cancellationToken">Gives up the start: pass the test's own.</param>
    /// <param name="test">Name of the test, unless <see cref="RedeliverHostOptions.Name"/> says it.</param>
    public static Task<RedeliverHost> StartAsync(Action<RedeliverHostOptions> configure, CancellationToken cancellationToken = default, [CallerMemberName] string test = "")
    {
        ArgumentNullException.ThrowIfNull(configure);
        var options = new RedeliverHostOptions();
        configure(options);
        return StartAsync(options, cancellationToken, test);
    }

    internal static async Task<RedeliverHost> OpenAsync(RedeliverKit kit, RedeliverHostOptions options, CancellationToken cancellationToken)
    {
        var host = new RedeliverHost(kit, options);
        await host.OpenAsync(cancellationToken).ConfigureAwait(false);
        return host;
    }

    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        // No limit of the kit counts yet: an app may have to be built, and a worker that does not come has one at the program.
        started = await kit.Http.CallAsync(HttpMethod.Post, "kit/hosts", KitHttp.Json(sent), Wire.Default.Started, cancellationToken).ConfigureAwait(false);
        if (options.Worker is not { } worker || started.Worker is not { } place) return;
        try
        {
            await worker.ConnectAsync(place, options.Settings.AsReadOnly(), cancellationToken).ConfigureAwait(false);
            var ready = await kit.Http.CallAsync(HttpMethod.Post, Path + "ready", null, Wire.Default.Started, cancellationToken).ConfigureAwait(false);
            worker.UseEnvironment((ready.Environment ?? []).Select(e => e.Split('=', 2)).ToDictionary(e => e[0], e => e[1], StringComparer.Ordinal));
            started = started with { Begins = ready.Begins, Functions = ready.Functions, Connections = ready.Connections };
        }
        catch
        {
            await DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Functions of the app.</summary>
    public IReadOnlyList<FunctionSummary> Functions => started.Functions ?? [];
    /// <summary>Seed of all chance.</summary>
    public ulong Seed => started.Seed;
    /// <summary>Virtual time at which the host began.</summary>
    public DateTimeOffset Begins => started.Begins ?? default;

    /// <summary>Where an SDK client finds a service.</summary>
    /// <param name="service">The connection string of <c>storage</c>, <c>servicebus</c> or <c>eventhubs</c>; the address of <c>blobs</c>, <c>queues</c> or <c>eventgrid</c>.</param>
    /// <exception cref="InvalidOperationException">The host has no ports: <see cref="RedeliverHostOptions.Ports"/>.</exception>
    public string GetConnectionString(string service)
    {
        var name = service switch
        {
            "storage" or "blobs" or "queues" => service,
            "servicebus" or "eventhubs" => "serviceBus",
            "eventgrid" => "eventGrid",
            _ => throw new ArgumentException($"there is no place for \"{service}\": want storage, servicebus, eventhubs, blobs, queues or eventgrid", nameof(service)),
        };
        return started.Connections?[name] ?? throw new InvalidOperationException("the host has no places for clients: set RedeliverHostOptions.Ports");
    }

    /// <summary>A new host under this object: data, clock, identifiers and journal begin anew. An attached app would have to be built anew: start another host instead.</summary>
    /// <exception cref="InvalidOperationException">The host has an attached app, or was stopped.</exception>
    /// <exception cref="RedeliverAssertionException">Something that was asked for has not come, as in <see cref="StopAsync"/>; the new host has begun all the same.</exception>
    public async Task ResetAsync(CancellationToken cancellationToken = default)
    {
        if (options.Worker is not null) throw new InvalidOperationException("a host with an attached app cannot be reset: start another one");
        if (stopped) throw new InvalidOperationException("the host was stopped: start another one");
        var ended = await EndAsync(cancellationToken).ConfigureAwait(false);
        told = 0;
        await OpenAsync(cancellationToken).ConfigureAwait(false);
        if (ended.Failures is { Count: > 0 } failures) throw Texts.Failure(failures, Again(), Seed);
    }

    /// <summary>Ends the host, and says what the test has left open.</summary>
    /// <remarks>Call it at the end of a test that must meet all its faults; <see cref="DisposeAsync"/> never throws, since an exception there hides that of the test.</remarks>
    /// <exception cref="RedeliverAssertionException">Something that was asked for has not come, such as a fault that nothing has met, or a call has not been awaited.</exception>
    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        if (stopped) return;
        stopped = true;
        var open = string.Join(", ", calls.Values);
        await ReportAsync().ConfigureAwait(false);
        Ended ended;
        try { ended = await EndAsync(cancellationToken).ConfigureAwait(false); }
        finally { await LeaveAsync().ConfigureAwait(false); }
        if (ended.Failures is { Count: > 0 } failures) throw Texts.Failure(failures, Again(), Seed);
        if (open.Length > 0) throw Texts.Failure([new Difference(null, $"called, and not awaited: {open}")], Again(), Seed);
    }

    /// <summary>Ends the host. Never throws.</summary>
    public async ValueTask DisposeAsync()
    {
        if (stopped) return;
        stopped = true;
        await ReportAsync().ConfigureAwait(false);
        try { await EndAsync(CancellationToken.None).ConfigureAwait(false); }
        catch (RedeliverException) { } // the test's own failure counts
        await LeaveAsync().ConfigureAwait(false);
    }

    private async Task<Ended> EndAsync(CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(ending);
        try { return await kit.Http.CallAsync(HttpMethod.Delete, Path.TrimEnd('/'), null, Wire.Default.Ended, limit.Token).ConfigureAwait(false); }
        catch (OperationCanceledException e) when (!cancellationToken.IsCancellationRequested)
        {
            throw new RedeliverTimeoutException($"the host has not ended within {ending.TotalSeconds} s", e) { Code = "timeout" };
        }
    }

    private static readonly TimeSpan ending = TimeSpan.FromSeconds(30); // of real time; the program gives up handlers after one

    private async Task LeaveAsync()
    {
        if (options.Worker is not null) await options.Worker.DisposeAsync().ConfigureAwait(false);
    }

    // Calls.

    private string Path => $"kit/hosts/{Uri.EscapeDataString(started.Id)}/";

    private Task<T> VerbAsync<T>(HttpMethod method, string verb, JsonObject? body, JsonTypeInfo<T> contract, CancellationToken cancellationToken) =>
        TellingAsync(LimitedAsync(c => kit.Http.CallAsync(method, Path + verb, body is null ? null : KitHttp.Json(body), contract, c), verb, cancellationToken), cancellationToken);

    private async Task DoneAsync(string verb, JsonObject? body, CancellationToken cancellationToken) =>
        await VerbAsync(HttpMethod.Post, verb, body, Wire.Default.JsonObject, cancellationToken).ConfigureAwait(false);

    private Task<T> ControlAsync<T>(HttpMethod method, string operation, HttpContent? body, JsonTypeInfo<T> contract, CancellationToken cancellationToken) =>
        TellingAsync(LimitedAsync(c => kit.Http.CallAsync(method, Path + "admin/redeliver/" + operation, body, contract, c), operation, cancellationToken), cancellationToken);

    private Task<byte[]> ControlAsync(HttpMethod method, string operation, HttpContent? body, CancellationToken cancellationToken) =>
        TellingAsync(LimitedAsync(c => kit.Http.BytesAsync(method, Path + "admin/redeliver/" + operation, body, c), operation, cancellationToken), cancellationToken);

    private static string Query(string operation, params ReadOnlySpan<(string Name, string? Value)> query)
    {
        var path = operation;
        foreach (var (name, value) in query)
            if (value is not null) path += $"{(path.Contains('?', StringComparison.Ordinal) ? '&' : '?')}{name}={Uri.EscapeDataString(value)}";
        return path;
    }

    /// <summary>Makes a call with the host's limit: of real time, of each attempt that runs meanwhile, or of the call when none does.</summary>
    private async Task<T> LimitedAsync<T>(Func<CancellationToken, Task<T>> call, string what, CancellationToken cancellationToken)
    {
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using var ended = new CancellationTokenSource();
        var own = new object();
        calls[own] = what;
        using var over = new Over(() => calls.TryRemove(own, out _));
        var work = call(giveUp.Token);
        var alive = Stopwatch.GetTimestamp();
        var seen = new Dictionary<string, long>(); // attempts, and since when they are known to run
        while (await Task.WhenAny(work, Task.Delay(look, ended.Token)).ConfigureAwait(false) != work)
        {
            var holds = await HoldsAsync().ConfigureAwait(false);
            var now = Stopwatch.GetTimestamp();
            foreach (var one in holds.Where(h => seen.TryAdd(h.InvocationId + "/" + h.Attempt, now))) alive = now;
            var limit = options.Limit();
            if (limit == Timeout.InfiniteTimeSpan) continue;
            var late = holds.Where(h => h.WaitsUntil is null && Stopwatch.GetElapsedTime(seen[h.InvocationId + "/" + h.Attempt], now) >= limit).Select(h => $"{h.Function} attempt {h.Attempt}").ToList();
            if (late.Count == 0 && (holds.Count > 0 || Stopwatch.GetElapsedTime(alive, now) < limit)) continue;
            await giveUp.CancelAsync().ConfigureAwait(false);
            throw new RedeliverTimeoutException($"{(late.Count > 0 ? string.Join(", ", late) : what)} has run for {limit.TotalSeconds:0.###} s{Again()}") { Code = "timeout" };
        }
        await ended.CancelAsync().ConfigureAwait(false);
        return await work.ConfigureAwait(false);
    }

    private sealed class Over(Action then) : IDisposable
    {
        public void Dispose() => then();
    }

    private static readonly TimeSpan look = TimeSpan.FromMilliseconds(500); // of real time, while a call lasts

    private async Task<IReadOnlyList<FunctionAttempt>> HoldsAsync()
    {
        if (started is null) return [];
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(5));
        try { return await kit.Http.CallAsync(HttpMethod.Get, Path + "holds", null, Wire.Default.ListFunctionAttempt, limit.Token).ConfigureAwait(false); }
        catch (Exception e) when (e is RedeliverException or OperationCanceledException) { return []; }
    }

    // What is told of a test.

    /// <summary>Hands on what handlers have logged meanwhile.</summary>
    private async Task<T> TellingAsync<T>(Task<T> call, CancellationToken cancellationToken)
    {
        try { return await call.ConfigureAwait(false); }
        finally
        {
            if (options.Log is { } log && !cancellationToken.IsCancellationRequested) await TellAsync(log).ConfigureAwait(false);
        }
    }

    private async Task TellAsync(Action<string> log)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(5));
        try
        {
            var pattern = new JsonObject { ["pattern"] = new JsonObject { ["kind"] = "handler_log" } };
            var lines = await kit.Http.CallAsync(HttpMethod.Post, Path + "records", KitHttp.Json(pattern), Wire.Default.ListJournalRecord, limit.Token).ConfigureAwait(false);
            for (; told < lines.Count; told++)
                if (Texts.Line(lines[told]) is var line && Texts.Shown(line)) log($"+{(lines[told].Time - Begins).TotalSeconds:0.###}s {line}");
        }
        catch (Exception e) when (e is RedeliverException or OperationCanceledException) { }
    }

    /// <summary>Tells the timeline, which a runner shows with a test that has failed, and keeps the journal where REDELIVER_KEEP says.</summary>
    private async Task ReportAsync()
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        try
        {
            if (options.Log is { } log)
            {
                await TellAsync(log).ConfigureAwait(false);
                log(Texts.Lives(await kit.Http.CallAsync(HttpMethod.Get, Path + "admin/redeliver/explain", null, Wire.Default.JsonObject, limit.Token).ConfigureAwait(false)));
            }
            if (Environment.GetEnvironmentVariable("REDELIVER_KEEP") is not { Length: > 0 } folder) return;
            var journal = await kit.Http.BytesAsync(HttpMethod.Get, Path + "admin/redeliver/journal", null, limit.Token).ConfigureAwait(false);
            Directory.CreateDirectory(folder);
            await File.WriteAllBytesAsync(System.IO.Path.Combine(folder, Texts.FileName(options.Name) + ".jsonl"), journal, limit.Token).ConfigureAwait(false);
        }
        catch (Exception e) when (e is RedeliverException or OperationCanceledException or InvalidOperationException or IOException) { } // the test's own failure counts
    }

    /// <summary>How the same run is had again.</summary>
    private string Again()
    {
        var seed = started?.Seed ?? 1;
        return $"\nseed {seed}; again with REDELIVER_SEED={seed} dotnet test{(options.Name is { Length: > 0 } name ? $" --filter \"FullyQualifiedName~{name}\"" : "")}";
    }
}
