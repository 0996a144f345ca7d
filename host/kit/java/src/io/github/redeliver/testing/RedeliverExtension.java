package io.github.redeliver.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** Gives each test of JUnit that has a parameter {@link RedeliverHost} a host of its own, and ends it. A test that fails shows what has happened. */
public final class RedeliverExtension implements ParameterResolver, TestExecutionExceptionHandler, AfterEachCallback {
    private static final ExtensionContext.Namespace SPACE = ExtensionContext.Namespace.create(RedeliverExtension.class);

    private final Consumer<Options> options;

    private RedeliverExtension(Consumer<Options> options) {
        this.options = options;
    }

    /** Hosts with functions of the app: classes with annotations, or objects. */
    public static RedeliverExtension of(Object... classesOrObjects) {
        return with(options -> options.attach(classesOrObjects));
    }

    /** Hosts with options. */
    public static RedeliverExtension with(Consumer<Options> options) {
        return new RedeliverExtension(options);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == RedeliverHost.class && context.getTestMethod().isPresent();
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(SPACE).getOrComputeIfAbsent(this, key -> {
            return Redeliver.start(with -> {
                with.name(context.getRequiredTestClass().getName() + "." + context.getRequiredTestMethod().getName());
                options.accept(with);
            });
        }, RedeliverHost.class);
    }

    private RedeliverHost host(ExtensionContext context) {
        return context.getStore(SPACE).get(this, RedeliverHost.class);
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        RedeliverHost host = host(context);
        if (host != null && !failure.getClass().getName().equals("org.opentest4j.TestAbortedException")) {
            try {
                List<String> logs = host.logs();
                failure.addSuppressed(new Timeline("\n" + host.explain() + (logs.isEmpty() ? "" : "\nlogs\n  " + String.join("\n  ", logs))
                    + "\n" + host.again()));
                keep(context, host);
            } catch (KitException | IOException ended) {
                failure.addSuppressed(ended);
            }
        }
        throw failure;
    }

    /** Writes the journal of a test that has failed for "redeliver explain --journal". */
    private static void keep(ExtensionContext context, RedeliverHost host) throws IOException {
        String folder = System.getenv("REDELIVER_KEEP");
        if (folder != null && !folder.isEmpty()) {
            String name = (context.getRequiredTestClass().getName() + "." + context.getRequiredTestMethod().getName()).replaceAll("[^\\w.-]+", "_");
            Files.createDirectories(Path.of(folder));
            Files.write(Path.of(folder, name + ".jsonl"), host.lines());
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        RedeliverHost host = host(context);
        if (host == null) {
            return;
        }
        try {
            host.close();
        } catch (KitException | AssertionError error) {
            if (context.getExecutionException().isEmpty()) {
                throw error; // else the test's own failure counts
            }
        }
    }
}
