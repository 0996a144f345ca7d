using Microsoft.Extensions.DependencyInjection;
using Redeliver.Testing.Worker;

namespace Redeliver.Testing;

/// <summary>Runs an app in the test's own process.</summary>
public static class AttachExtensions
{
    /// <summary>Has the handlers of an isolated app run in this process, by its own Main, and its host.json count.</summary>
    /// <typeparam name="TAnyOfTheApp">Any type of the app, such as Program or a class of functions.</typeparam>
    /// <param name="options">The host's.</param>
    /// <param name="services">Replaces services after the app's own registrations: mocks.</param>
    /// <returns>The app, which its host ends.</returns>
    public static AttachedApp Attach<TAnyOfTheApp>(this RedeliverHostOptions options, Action<IServiceCollection>? services = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        var app = new AttachedApp(typeof(TAnyOfTheApp), services);
        options.Worker = app;
        return app;
    }
}
