package io.github.redeliver.testing;

import io.github.redeliver.worker.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** The calls of one host. */
final class Client {
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build(); // of this process

    private final Kit kit;
    private final Turns turns;

    Client(Kit kit, Turns turns) {
        this.kit = kit;
        this.turns = turns;
    }

    /** Makes a call, while which handlers run. */
    Response raw(String method, String path, byte[] body, Map<String, String> headers) {
        BodyPublisher sent = body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(kit.address + path)).method(method, sent);
        headers.forEach(request::header);
        request.setHeader("Authorization", "Bearer " + kit.token);
        try {
            HttpResponse<byte[]> got = turns.await(HTTP.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray()), method + " " + path.replaceFirst("^/kit/hosts/\\w+/", ""));
            return new Response(got.statusCode(), got.headers().map(), got.body());
        } catch (IllegalStateException error) {
            if (error.getCause() instanceof IOException) {
                throw new KitException("kit_ended", "the kit does not answer: " + error.getCause() + kit.lastWords(), "");
            }
            throw error;
        }
    }

    /** Makes a call with JSON. */
    Object ask(String method, String path, Map<String, Object> body) {
        return body == null ? checked(raw(method, path, null, Map.of()))
            : checked(raw(method, path, Values.text(body).getBytes(StandardCharsets.UTF_8), Map.of("Content-Type", "application/json")));
    }

    /** What an answer says; a refusal is thrown. */
    static Object checked(Response answer) {
        Object told = null;
        String text = answer.text().trim();
        try {
            told = text.isEmpty() ? null : Json.parse(text);
        } catch (IllegalArgumentException plain) {
            told = Json.map("error", text);
        }
        if (answer.status() < 400) {
            return told;
        }
        Told refused = new Told(told);
        String error = refused.has("error") ? refused.text("error") : "status " + answer.status();
        if (refused.text("code").equals("step_failed")) {
            throw Failures.of(refused.has("failures") ? refused.list("failures") : List.of(Json.map("message", error)), "");
        }
        throw new KitException(refused.text("code"), error, refused.text("hint"));
    }
}
