package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests in processes of their own: what dies, what is debugged, what the environment says. */
class ProcessTest {
    /** Starts a program of this class path, with options of the machine, and what is more in its environment. */
    private static Process start(Path temp, Class<?> main, List<String> options, Map<String, String> more, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + temp, "-cp", System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(main.getName());
        command.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JAVA_TOOL_OPTIONS"); // the machine would say that it has them
        builder.environment().put("TMPDIR", temp.toString());
        builder.environment().putAll(more);
        return builder.start();
    }

    private static String output(Process of) throws IOException, InterruptedException {
        String text = new String(of.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        of.waitFor();
        return text;
    }

    /** A test with a handler that never ends. */
    public static final class Hanging {
        public static void main(String[] none) {
            try (RedeliverHost host = Redeliver.start(o -> o.ports().function("Pack", Functions.queue("boxes").handler((item, context) -> {
                System.out.println("runs");
                Thread.sleep(600_000);
                return null;
            })))) {
                System.out.println(host.pid() + " " + Kit.get().address + " " + host.connectionString("queues"));
                host.send("boxes", "1");
            }
        }
    }

    @Test
    void aTestThatIsKilledLeavesNothing(@TempDir Path temp) throws Exception {
        for (int round = 0; round < Integer.parseInt(System.getProperty("kills", "2")); round++) {
            Process test = start(temp, Hanging.class, List.of(), Map.of());
            BufferedReader lines = new BufferedReader(new InputStreamReader(test.getInputStream(), StandardCharsets.UTF_8));
            String[] told = lines.readLine().split(" ");
            if (round % 2 == 0) {
                assertEquals("runs", lines.readLine());
            }
            test.destroyForcibly().waitFor();
            ProcessHandle kit = ProcessHandle.of(Long.parseLong(told[0])).orElse(null);
            if (kit != null) {
                kit.onExit().get(60, TimeUnit.SECONDS);
            }
            for (String address : List.of(told[1], told[2])) {
                URI at = URI.create(address);
                assertThrows(IOException.class, () -> {
                    try (Socket socket = new Socket()) {
                        socket.connect(new InetSocketAddress(at.getHost(), at.getPort()));
                    }
                }, address);
            }
            File[] left = temp.toFile().listFiles();
            assertEquals(0, left == null ? 0 : left.length, Arrays.toString(left));
        }
    }

    /** A test with a handler that takes longer than its limit. */
    public static final class Slow {
        public static void main(String[] none) {
            try (RedeliverHost host = Redeliver.start(o -> o.timeout(Duration.ofSeconds(5)).function("Pack", Functions.queue("boxes").handler((item, context) -> {
                Thread.sleep(8000);
                return null;
            })))) {
                host.send("boxes", "1");
                host.completed("Pack");
                System.out.println("completed at " + host.clock().instant());
            } catch (KitTimeout late) {
                System.out.println(late.getMessage());
            }
        }
    }

    @Test
    void noLimitCountsUnderADebuggerAndTimeStandsStill(@TempDir Path temp) throws Exception {
        assertTrue(output(start(temp, Slow.class, List.of("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"), Map.of())).contains("completed at 2030-01-01T00:00:00Z"));
        assertEquals("Pack attempt 1 has run for 5 s", output(start(temp, Slow.class, List.of(), Map.of())).trim());
    }

    /** A test that says with which seed it runs. */
    public static final class Seed {
        public static void main(String[] none) throws Exception {
            try (RedeliverHost host = Redeliver.start(o -> o.function("Pack", Functions.queue("boxes").scripted("succeed")))) {
                System.out.println(host.seed());
                ProcessHandle kit = ProcessHandle.of(host.pid()).orElseThrow();
                kit.destroyForcibly();
                kit.onExit().get();
                KitException ended = null;
                try {
                    host.send("boxes", "1");
                } catch (KitException error) {
                    ended = error;
                }
                System.out.println(ended == null ? "lives" : ended.code());
            } catch (KitException error) {
                System.out.println(error.code());
            }
            try (RedeliverHost next = Redeliver.start(o -> o.function("Pack", Functions.queue("boxes").scripted("succeed")))) {
                System.out.println("next " + next.seed());
            }
        }
    }

    @Test
    void seedsOfTheEnvironmentAndAKitThatDies(@TempDir Path temp) throws Exception {
        assertEquals("9\nkit_ended\nkit_ended\nnext 9", output(start(temp, Seed.class, List.of(), Map.of("REDELIVER_SEED", "9", "REDELIVER_TIMEOUT", "20s"))).trim());
        assertTrue(output(start(temp, Seed.class, List.of(), Map.of("REDELIVER_SEED", "nine"))).contains("REDELIVER_SEED is \"nine\", and has to be a whole number or random"));
        assertTrue(output(start(temp, Seed.class, List.of(), Map.of("REDELIVER_SEED", "random"))).trim().matches("(?s)[1-9][0-9]*\n.*"));
    }

    @Test
    void aProgramThatIsNotThere(@TempDir Path temp) throws Exception {
        assertTrue(output(start(temp, Seed.class, List.of(), Map.of("REDELIVER_BINARY", "/no/such/redeliver"))).contains("REDELIVER_BINARY is \"/no/such/redeliver\", and there is no such file"));
        assertTrue(output(start(temp, Seed.class, List.of(), Map.of("REDELIVER_BINARY", "", "PATH", ""))).contains("add the dependency io.github.redeliver:redeliver-binary"));
    }

    @Test
    void anotherProtocolIsRefused(@TempDir Path temp) throws Exception {
        assertTrue(output(start(temp, Seed.class, List.of(), Map.of("REDELIVER_KIT", "{\"kit\":2}"))).contains("update both"));
    }

    @Test
    void theProgramMayBeInTheClassPath(@TempDir Path temp) throws Exception {
        Path packed = Files.createDirectories(temp.resolve("classes/META-INF/redeliver")).resolve("redeliver");
        Path cache = temp.resolve("cache");
        Files.copy(Path.of(System.getenv("REDELIVER_BINARY")), packed);
        for (int i = 0; i < 2; i++) {
            Process test = start(temp, Seed.class, List.of("-cp", temp.resolve("classes") + File.pathSeparator + System.getProperty("java.class.path")), Map.of("REDELIVER_BINARY", "", "PATH", "", "XDG_CACHE_HOME", cache.toString()));
            assertTrue(output(test).startsWith("1\n"));
            try (var files = Files.walk(cache)) {
                assertEquals(1, files.filter(Files::isRegularFile).count());
            }
        }
    }
}
