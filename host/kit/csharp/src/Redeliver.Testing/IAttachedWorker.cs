namespace Redeliver.Testing;

/// <summary>What runs an app's functions in the test's own process. The package Redeliver.Testing.Worker has one for isolated apps.</summary>
public interface IAttachedWorker : IAsyncDisposable
{
    /// <summary>Folder of the app, whose host.json and local.settings.json count; null: it has none.</summary>
    string? Folder { get; }
    /// <summary>Connects to a host, which then asks it for its functions.</summary>
    /// <param name="place">Where the host awaits it.</param>
    /// <param name="settings">Settings of the test.</param>
    /// <param name="cancellationToken">Gives up.</param>
    Task ConnectAsync(AttachedWorkerPlace place, IReadOnlyDictionary<string, string> settings, CancellationToken cancellationToken);
    /// <summary>Takes the variables that a process of the worker would have had.</summary>
    void UseEnvironment(IReadOnlyDictionary<string, string> environment);
}

/// <summary>Where a host awaits its worker, and what that says there.</summary>
/// <param name="Address">Host and port, for gRPC and for lines of JSON.</param>
/// <param name="Id">Identity of the worker: a secret, good for one connection.</param>
/// <param name="RequestId">Of its first message.</param>
/// <param name="MaxMessageLength">In bytes.</param>
public sealed record AttachedWorkerPlace(string Address, string Id, string RequestId, int MaxMessageLength);
