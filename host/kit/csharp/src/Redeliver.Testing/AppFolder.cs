using System.Reflection;

namespace Redeliver.Testing;

/// <summary>Where the apps lie that a test project names with references of <c>OutputItemType="RedeliverApp"</c>.</summary>
public static class AppFolder
{
    private const string Key = "Redeliver.App:";

    /// <summary>Build output of the app whose assembly has this name.</summary>
    /// <param name="assemblyName">Name of the app's assembly, without .dll.</param>
    /// <param name="testAssembly">The test project's assembly. Default: the one that calls.</param>
    /// <exception cref="RedeliverException">The test project has no such reference.</exception>
    public static string Of(string assemblyName, Assembly? testAssembly = null)
    {
        testAssembly ??= Assembly.GetCallingAssembly();
        var named = Named(testAssembly);
        if (named.TryGetValue(assemblyName, out var folder)) return folder;
        throw new RedeliverException($"{testAssembly.GetName().Name} names no app \"{assemblyName}\"; it names {(named.Count == 0 ? "none" : string.Join(", ", named.Keys))}")
        {
            Code = "no_app",
            Hint = $"write <ProjectReference Include=\"path/{assemblyName}.csproj\" OutputItemType=\"RedeliverApp\" ReferenceOutputAssembly=\"false\" /> in its project file",
        };
    }

    private static Dictionary<string, string> Named(Assembly assembly)
    {
        var named = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var one in assembly.GetCustomAttributes<AssemblyMetadataAttribute>())
            if (one.Key.StartsWith(Key, StringComparison.Ordinal) && one.Value is { } folder) named[one.Key[Key.Length..]] = folder;
        return named;
    }
}
