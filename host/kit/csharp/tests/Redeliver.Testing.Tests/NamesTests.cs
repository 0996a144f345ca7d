using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Redeliver.Testing;
using Redeliver.Testing.Worker;

namespace Shop.Tests;

/// <summary>Every public name of the kit stands in a test.</summary>
public class NamesTests
{
    // What a record or an exception has of itself.
    private static readonly HashSet<string> given = [nameof(AttachExtensions), "Equals", "GetHashCode", "ToString", "Deconstruct", "value__", "EqualityContract", "Others"];

    [Fact]
    public void EveryNameIsInATest()
    {
        var written = string.Concat(Directory.EnumerateFiles(Path.GetDirectoryName(Here())!, "*.cs").Select(File.ReadAllText));
        var words = Regex.Matches(written, @"\w+").Select(w => w.Value).ToHashSet();
        var names = new[] { typeof(RedeliverHost), typeof(AttachedApp) }.SelectMany(t => t.Assembly.GetExportedTypes()).SelectMany(type => type
            .GetMembers(BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly)
            .Where(m => m is not ConstructorInfo && m is not MethodInfo { IsSpecialName: true } && !m.Name.Contains('<'))
            .Select(m => m.Name).Append(type.Name)).Except(given);
        var missing = names.Where(name => !words.Contains(name)).Distinct().Order().ToList();
        if (missing.Count > 0) Assert.Fail("no test has " + string.Join(", ", missing));
    }

    private static string Here([CallerFilePath] string path = "") => path;
}
