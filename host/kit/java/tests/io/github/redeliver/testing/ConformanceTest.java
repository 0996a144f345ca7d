package io.github.redeliver.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.redeliver.worker.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The cases that all kits play: their requests, by this kit's client. */
class ConformanceTest {
    private final Client client = new Client(Kit.get(), new Turns(Duration.ofSeconds(60), null));

    @TestFactory
    Stream<DynamicTest> cases() throws IOException {
        Object file = Json.parse(Files.readString(Path.of("conformance.json")));
        return new Told(file).list("cases").stream().map(Told::new).map(one -> DynamicTest.dynamicTest(one.text("name"), () -> play(one)));
    }

    private void play(Told one) {
        String host = "/kit/hosts/" + new Told(client.ask("POST", "/kit/hosts", one.object("options"))).text("id");
        for (Object each : one.list("steps")) {
            Told step = new Told(each);
            String path = step.text(step.has("get") ? "get" : "post");
            byte[] body = step.has("send") ? written(step.members().get("send")).getBytes(StandardCharsets.UTF_8) : step.has("text") ? Values.encoded(step.text("text")) : null;
            Response answer = client.raw(step.has("get") ? "GET" : "POST", host + path, body, Map.of());
            if (step.has("status")) {
                assertEquals(step.whole("status"), answer.status(), path);
            } else {
                assertTrue(answer.status() < 300, path + ": " + answer.status() + " " + answer.text());
            }
            Object got = answer.text().isBlank() ? null : Json.parse(answer.text());
            assertNull(differs(path, step.members().get("answer"), got), answer.text());
        }
        assertNull(differs("end", one.object("end"), client.ask("DELETE", host, null)));
    }

    /** JSON as the file has it: what the kit writes by itself has no members that are null. */
    private static String written(Object tree) {
        if (tree instanceof Map) {
            return Json.object(tree).entrySet().stream().map(e -> Values.text(e.getKey()) + ":" + written(e.getValue())).collect(Collectors.joining(",", "{", "}"));
        }
        if (tree instanceof List) {
            return Json.array(tree).stream().map(ConformanceTest::written).collect(Collectors.joining(",", "[", "]"));
        }
        return tree == null ? "null" : Values.text(tree);
    }

    /** Where an answer has not what is wanted; null: nowhere. */
    private static String differs(String at, Object want, Object got) {
        if (want instanceof Map) {
            return Json.object(want).entrySet().stream().map(e -> differs(at + "." + e.getKey(), e.getValue(), Json.object(got).get(e.getKey())))
                .filter(wrong -> wrong != null).findFirst().orElse(null);
        }
        if (want instanceof List) {
            List<Object> wanted = Json.array(want);
            List<Object> list = Json.array(got);
            if (wanted.size() != list.size()) {
                return at + " has " + list.size() + " members, want " + wanted.size();
            }
            for (int i = 0; i < wanted.size(); i++) {
                String wrong = differs(at + "[" + i + "]", wanted.get(i), list.get(i));
                if (wrong != null) {
                    return wrong;
                }
            }
            return null;
        }
        String text = String.valueOf(want);
        boolean pattern = want instanceof String && text.length() > 2 && text.startsWith("/") && text.endsWith("/");
        boolean same = pattern ? Pattern.compile(text.substring(1, text.length() - 1)).matcher(String.valueOf(got)).find() : String.valueOf(got).equals(text);
        return same ? null : at + " is " + got + ", want " + want;
    }
}
