using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

/// <summary>The program, as one child process for many hosts.</summary>
/// <remarks>
/// A test seldom needs it: <see cref="RedeliverHost.StartAsync(RedeliverHostOptions, CancellationToken, string)"/> starts one for the test process, which ends with it, however that ends.
/// Safe for use by tests that run side by side.
/// </remarks>
public sealed class RedeliverKit : IAsyncDisposable
{
    /// <summary>Number of the protocol that this kit speaks.</summary>
    public const int Protocol = 1;

    /// <summary>Environment variable with the first line of a <c>redeliver kit</c> that was started elsewhere: then no program is started.</summary>
    public const string Variable = "REDELIVER_KIT";

    private static readonly SemaphoreSlim gate = new(1, 1);
    private static RedeliverKit? shared; // guarded by gate

    private readonly ChildProgram? child;

    private RedeliverKit(string line, ChildProgram? child)
    {
        this.child = child;
        Line = line;
        Announcement? told = null;
        try { told = JsonSerializer.Deserialize(line, Wire.Default.Announcement); }
        catch (JsonException) { }
        if (told is not { Kit: Protocol, Address: { } address, Token: { } token })
        {
            var words = child?.LastWords();
            throw new RedeliverStartException($"the kit speaks protocol {Protocol}, and the program another one: {(line.Length > 0 ? line : "it has ended")}{words}\nupdate Redeliver.Testing and the program to one version")
            {
                Code = "wrong_version", Hint = "update Redeliver.Testing and the program to one version", StandardError = child?.Errors ?? "",
            };
        }
        (Version, Address) = (told.Version ?? "", new Uri(address + "/"));
        Http = new KitHttp(Address, token, () => child?.LastWords() ?? "");
    }

    /// <summary>Version of the program.</summary>
    public string Version { get; }
    /// <summary>Where the program listens.</summary>
    public Uri Address { get; }
    /// <summary>Number of the process; null when somebody else has started it (<see cref="Variable"/>).</summary>
    public int? ProcessId => child?.Id;
    /// <summary>The line with which the program announced itself: the value of <see cref="Variable"/> for another process that is to share it.</summary>
    public string Line { get; }

    internal KitHttp Http { get; }

    /// <summary>The kit of this test process: started by the first call, and anew when it has ended.</summary>
    /// <exception cref="RedeliverStartException">The program is not found, ends at once, or speaks another version.</exception>
    public static async Task<RedeliverKit> SharedAsync(CancellationToken cancellationToken = default)
    {
        await gate.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (shared is { child.HasExited: true }) shared = null; // under an earlier test, which has said so
            if (shared is not null) return shared;
            shared = await StartAsync(null, cancellationToken).ConfigureAwait(false);
            var own = shared;
            AppDomain.CurrentDomain.ProcessExit += (_, _) => own.DisposeAsync().AsTask().Wait(TimeSpan.FromSeconds(6));
            return shared;
        }
        finally { gate.Release(); }
    }

    /// <summary>Starts a program of one's own, or takes the one of <see cref="Variable"/>.</summary>
    /// <param name="program">Its path. Default: environment variable REDELIVER_BINARY, else beside the tests, where the package Redeliver.Binary puts it, else in the PATH.</param>
    /// <param name="cancellationToken">Gives up the start.</param>
    /// <exception cref="RedeliverStartException">The program is not found, ends at once, or speaks another version.</exception>
    [SuppressMessage("Reliability", "CA2000", Justification = "the kit has the child, and ends it")]
    public static async Task<RedeliverKit> StartAsync(string? program = null, CancellationToken cancellationToken = default)
    {
        if (program is null && Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } line) return new(line, null);
        var child = ChildProgram.Start(ChildProgram.Find(program), "kit", "--parent", Environment.ProcessId.ToString(System.Globalization.CultureInfo.InvariantCulture));
        try
        {
            return new(await child.Output.ReadLineAsync(cancellationToken).ConfigureAwait(false) ?? "", child);
        }
        catch
        {
            await child.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Starts a host in this kit.</summary>
    public Task<RedeliverHost> StartHostAsync(RedeliverHostOptions options, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(options);
        return RedeliverHost.OpenAsync(this, options, cancellationToken);
    }

    internal bool HasExited => child is { HasExited: true };

    /// <summary>Ends the program and all its hosts; one that somebody else has started runs on.</summary>
    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        if (child is not null) await child.DisposeAsync().ConfigureAwait(false);
    }
}
