namespace Redeliver.Testing;

/// <summary>Something is wrong with the kit, its program or a call to it: not with what is tested.</summary>
public class RedeliverException : Exception
{
    /// <summary>Makes an error.</summary>
    public RedeliverException() { }
    /// <summary>Makes an error with a message.</summary>
    public RedeliverException(string message) : base(message) { }
    /// <summary>Makes an error with a message and its cause.</summary>
    public RedeliverException(string message, Exception? innerException) : base(message, innerException) { }

    /// <summary>The kind of the refusal as the program names it, such as <c>not_found</c>; empty when the program has said none.</summary>
    public string Code { get; init; } = "";
    /// <summary>What the user can do; empty when nobody knows.</summary>
    public string Hint { get; init; } = "";
}

/// <summary>The program is not there, does not start, or speaks another version of the protocol.</summary>
public sealed class RedeliverStartException : RedeliverException
{
    /// <summary>Makes an error.</summary>
    public RedeliverStartException() { }
    /// <summary>Makes an error with a message.</summary>
    public RedeliverStartException(string message) : base(message) { }
    /// <summary>Makes an error with a message and its cause.</summary>
    public RedeliverStartException(string message, Exception? innerException) : base(message, innerException) { }
    /// <summary>The last lines that the program wrote to standard error.</summary>
    public string StandardError { get; init; } = "";
}

/// <summary>A handler, or a call, took longer than the real limit of its host; the message names what runs.</summary>
/// <remarks>It is no <see cref="TimeoutException"/>, so that a test's own retry of time-outs does not catch it.</remarks>
public sealed class RedeliverTimeoutException : RedeliverException
{
    /// <summary>Makes an error.</summary>
    public RedeliverTimeoutException() { }
    /// <summary>Makes an error with a message.</summary>
    public RedeliverTimeoutException(string message) : base(message) { }
    /// <summary>Makes an error with a message and its cause.</summary>
    public RedeliverTimeoutException(string message, Exception? innerException) : base(message, innerException) { }
}

/// <summary>The app did something else than the test expects: a failed assertion. Its message has what was wanted, what was found, the timeline, the handlers' logs, the seed and the command to run it again.</summary>
/// <remarks>xunit v3 reports it as a failure and not as an error, since it implements an interface of the right name.
/// NUnit and MSTest report every foreign exception as an error, with the same text.</remarks>
public sealed class RedeliverAssertionException : Exception, IAssertionException
{
    /// <summary>Makes a failure.</summary>
    public RedeliverAssertionException() { }
    /// <summary>Makes a failure with a text.</summary>
    public RedeliverAssertionException(string message) : base(message) { }
    /// <summary>Makes a failure with a text and its cause.</summary>
    public RedeliverAssertionException(string message, Exception? innerException) : base(message, innerException) { }

    /// <summary>What did not hold, one by one; empty for a wait that was in vain.</summary>
    public IReadOnlyList<Difference> Differences { get; init; } = [];
    /// <summary>The lives of the messages concerned, equal attempts folded; empty when there are none.</summary>
    public string Timeline { get; init; } = "";
    /// <summary>The seed with which the same run is had again.</summary>
    public ulong Seed { get; init; }
}

/// <summary>One thing that did not hold.</summary>
/// <param name="Path">Of what was expected, such as <c>functions.Pack.deliveries</c>; empty outside of an expectation.</param>
/// <param name="Message">What is wrong.</param>
/// <param name="Want">What was expected.</param>
/// <param name="Got">What was found.</param>
/// <param name="Timeline">What happened to the messages concerned.</param>
public sealed record Difference(string? Path, string Message, string? Want = null, string? Got = null, IReadOnlyList<string>? Timeline = null);

/// <summary>xunit v3 looks for an interface of this name, in any namespace.</summary>
internal interface IAssertionException;
