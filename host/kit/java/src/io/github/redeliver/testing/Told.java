package io.github.redeliver.testing;

import io.github.redeliver.worker.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** An object of the program's answers. */
final class Told {
    private final Map<String, Object> members;

    Told(Object told) {
        members = Json.object(told);
    }

    Map<String, Object> members() {
        return members;
    }

    boolean has(String name) {
        return members.get(name) != null;
    }

    String text(String name) {
        return Json.text(members.get(name));
    }

    int whole(String name) {
        return Json.whole(members.get(name));
    }

    double number(String name) {
        return has(name) ? Double.parseDouble(text(name)) : 0;
    }

    Instant time(String name) {
        return has(name) ? Instant.parse(text(name)) : null;
    }

    Map<String, Object> object(String name) {
        return Json.object(members.get(name));
    }

    List<Object> list(String name) {
        return Json.array(members.get(name));
    }

    /** The body of a message: text, or bytes in Base64. */
    byte[] data() {
        return has("binary") ? Base64.getDecoder().decode(text("binary")) : text("body").getBytes(StandardCharsets.UTF_8);
    }
}
