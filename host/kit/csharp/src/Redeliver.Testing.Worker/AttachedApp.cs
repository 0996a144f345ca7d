using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Redeliver.Testing.Worker;

/// <summary>An isolated app whose handlers run in the test's own process: with its mocks, breakpoints and coverage.</summary>
/// <remarks>
/// The app's own Main runs, on a thread of its own, so that a test needs no second composition of services. What a host tells a worker on its command line is put into the configuration
/// of this app alone. Process-wide, because the worker's library reads them there, are the entry assembly (Assembly.SetEntryAssembly, .NET 9) and FUNCTIONS_APPLICATION_DIRECTORY; so all
/// apps of one test process lie in one folder, which they do when the test project refers to them.
/// </remarks>
public sealed class AttachedApp : IAttachedWorker
{
    private static readonly SemaphoreSlim gate = new(1, 1); // apps of one process start one after the other
    private static readonly MethodInfo? setEntryAssembly = typeof(Assembly).GetMethod("SetEntryAssembly", [typeof(Assembly)]);
    private static readonly TimeSpan patience = TimeSpan.FromSeconds(30), farewell = TimeSpan.FromSeconds(5); // of real time

    private readonly Assembly assembly;
    private readonly Action<IServiceCollection>? services;
    private readonly WorkerSettings settings = new();
    private IHost? host;
    private Task? main;

    /// <summary>Makes an app of the assembly that holds a type.</summary>
    /// <param name="anyTypeOfTheApp">Any type of the app, such as Program.</param>
    /// <param name="services">Replaces services after the app's own registrations: mocks.</param>
    public AttachedApp(Type anyTypeOfTheApp, Action<IServiceCollection>? services = null)
    {
        ArgumentNullException.ThrowIfNull(anyTypeOfTheApp);
        (assembly, this.services) = (anyTypeOfTheApp.Assembly, services);
        Folder = Path.GetDirectoryName(assembly.Location) is { Length: > 0 } folder && File.Exists(Path.Combine(folder, "host.json")) ? folder : null;
    }

    /// <inheritdoc/>
    public string? Folder { get; }

    /// <summary>Services of the app.</summary>
    /// <exception cref="InvalidOperationException">It does not run yet.</exception>
    public IServiceProvider Services => host?.Services ?? throw new InvalidOperationException("the app does not run yet: start its host");

    /// <inheritdoc/>
    public async Task ConnectAsync(AttachedWorkerPlace place, IReadOnlyDictionary<string, string> settings, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(place);
        if (setEntryAssembly is null) throw new PlatformNotSupportedException("an app in the test's process needs .NET 9 or later: the worker's library asks for the entry assembly. Give the host the app's folder instead");
        if (main is not null) throw new InvalidOperationException("an attached app is for one host: make another one");
        this.settings.Use(LocalSettings.Of(Folder));
        this.settings.Use(settings);
        this.settings.Use(new Dictionary<string, string>
        {
            ["Functions:Worker:HostEndpoint"] = "http://" + place.Address, ["Functions:Worker:WorkerId"] = place.Id,
            ["Functions:Worker:RequestId"] = place.RequestId, ["Functions:Worker:GrpcMaxMessageLength"] = place.MaxMessageLength.ToString(System.Globalization.CultureInfo.InvariantCulture),
        });
        await gate.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            Environment.SetEnvironmentVariable("FUNCTIONS_APPLICATION_DIRECTORY", Path.GetDirectoryName(assembly.Location));
            setEntryAssembly.Invoke(null, [assembly]);
            var built = new TaskCompletionSource<IHost>(TaskCreationOptions.RunContinuationsAsynchronously);
            using (HostHook.Install(Configure, built.SetResult, onlyOfThisFlow: true))
            {
                main = Task.Factory.StartNew(Main, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
                _ = main.ContinueWith(ended => built.TrySetException(ended.Exception?.InnerException ?? new RedeliverException($"Main of {assembly.GetName().Name} has ended and built no host")), TaskScheduler.Default);
                host = await built.Task.WaitAsync(patience, cancellationToken).ConfigureAwait(false);
            }
        }
        finally { gate.Release(); }
    }

    private void Configure(IHostBuilder builder)
    {
        builder.ConfigureHostConfiguration(c => c.Add(settings)).ConfigureAppConfiguration((_, c) => c.Add(settings));
        if (settings.TryGet(AttachExtensions.Hooks, out var hooks) && hooks == typeof(AttachExtensions).Assembly.Location) builder.ConfigureServices((_, s) => VirtualTime.AddTo(s));
        builder.ConfigureServices((_, s) => s.AddSingleton<IHostLifetime>(new Lifetime()));
        if (services is not null) builder.ConfigureServices((_, s) => services(s));
    }

    /// <summary>The life of an app within a test: the signals of the process are the test's, and what an app says of its start would come into the journal when it comes.</summary>
    private sealed class Lifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;
        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }

    private void Main()
    {
        var entry = assembly.EntryPoint ?? throw new RedeliverException($"{assembly.GetName().Name} has no Main");
        try { (entry.Invoke(null, entry.GetParameters().Length == 0 ? null : [Array.Empty<string>()]) as Task)?.GetAwaiter().GetResult(); }
        catch (TargetInvocationException e) when (e.InnerException is { } inner) { System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(inner); }
    }

    /// <inheritdoc/>
    public void UseEnvironment(IReadOnlyDictionary<string, string> environment) => settings.Use(environment);

    /// <summary>Ends the app. Its host, which has told it to leave, does this.</summary>
    [SuppressMessage("Design", "CA1031", Justification = "what Main ends with is no matter of the test any more")]
    public async ValueTask DisposeAsync()
    {
        if (main is null) return;
        try { if (!main.IsCompleted) host?.Services.GetService<IHostApplicationLifetime>()?.StopApplication(); } // Main's own Run does the rest
        catch (ObjectDisposedException) { }
        try { await main.WaitAsync(farewell).ConfigureAwait(false); }
        catch (Exception) { }
    }
}
