package io.github.redeliver.testing;

import io.github.redeliver.worker.Json;
import io.github.redeliver.worker.Mapper;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Values as they travel. */
final class Values {
    private Values() {
    }

    static Object parse(String text) {
        return Json.parse(text);
    }

    /** JSON with the numbers of Java. */
    static Object plain(Object tree) {
        if (tree instanceof Map) {
            Map<String, Object> out = new LinkedHashMap<>();
            Json.object(tree).forEach((name, value) -> out.put(name, plain(value)));
            return out;
        }
        if (tree instanceof List) {
            List<Object> out = new ArrayList<>();
            Json.array(tree).forEach(one -> out.add(plain(one)));
            return out;
        }
        if (!(tree instanceof BigDecimal)) {
            return tree;
        }
        BigDecimal number = (BigDecimal) tree;
        if (number.scale() > 0 || number.scale() < -30) {
            return number.doubleValue();
        }
        BigInteger whole = number.toBigIntegerExact();
        if (whole.bitLength() > 63) {
            return whole;
        }
        return whole.bitLength() > 31 ? (Object) whole.longValue() : (Object) whole.intValue();
    }

    /** A value as JSON: objects by their fields. */
    static String text(Object value) {
        return Mapper.json(value);
    }

    static <T> T read(String text, Class<T> type) {
        try {
            Object out = Mapper.of(type.getClassLoader() == null ? Values.class.getClassLoader() : type.getClassLoader()).read(text, type);
            @SuppressWarnings("unchecked") // the mapper makes the type that it was asked for
            T made = (T) out;
            return made;
        } catch (Exception error) {
            throw new IllegalArgumentException("the body is no " + type.getName() + ": " + (error.getCause() == null ? error : error.getCause()).getMessage(), error);
        }
    }

    /** A name that a call cannot do without. */
    static String named(String what, String given) {
        if (given == null || given.isEmpty()) {
            throw new IllegalArgumentException(what + " has to be a name, and is " + (given == null ? "null" : "empty"));
        }
        return given;
    }

    /** What is compared: a member without a value would be left out on the way, and compare nothing. */
    static <T> T valued(String at, T given) {
        if (given == null || given instanceof Double && !Double.isFinite((Double) given) || given instanceof Float && !Float.isFinite((Float) given)) {
            throw new IllegalArgumentException(at + " is " + given + ": give it a value, or leave it out");
        }
        if (given instanceof Map) {
            ((Map<?, ?>) given).forEach((name, value) -> valued(at + "." + name, value));
        }
        if (given instanceof Iterable) {
            int i = 0;
            for (Object one : (Iterable<?>) given) {
                valued(at + "[" + i++ + "]", one);
            }
        }
        return given;
    }

    /** A number from one. */
    static int whole(String what, int given) {
        if (given < 1) {
            throw new IllegalArgumentException(what + " has to be a number from 1, and is " + given);
        }
        return given;
    }

    /** A body: bytes and texts as they are, all else as JSON. */
    static byte[] encoded(Object body) {
        if (body == null) {
            throw new IllegalArgumentException("the body is null: JSON's null is the text \"null\"");
        }
        if (body instanceof Double && !Double.isFinite((Double) body) || body instanceof Float && !Float.isFinite((Float) body)) {
            throw new IllegalArgumentException("the body is " + body + ", which JSON does not have");
        }
        if (body instanceof byte[]) {
            return (byte[]) body;
        }
        return (body instanceof CharSequence ? body.toString() : text(body)).getBytes(StandardCharsets.UTF_8);
    }

    /** A span as the program reads it; null for none. */
    static String span(Duration given) {
        return given == null ? null : BigDecimal.valueOf(given.getSeconds()).add(BigDecimal.valueOf(given.getNano(), 9)).stripTrailingZeros().toPlainString() + "s";
    }

    private static final Pattern PART = Pattern.compile("([0-9.]+)(h|ms|µs|ns|m|s)");
    private static final Map<String, BigDecimal> NANOS = Map.of(
        "h", new BigDecimal("3600e9"), "m", new BigDecimal("60e9"), "s", new BigDecimal("1e9"), "ms", new BigDecimal("1e6"), "µs", new BigDecimal("1e3"), "ns", BigDecimal.ONE);

    /** A span of the program, such as "1m30s". */
    static Duration duration(String text) {
        BigDecimal nanos = BigDecimal.ZERO;
        Matcher parts = PART.matcher(text);
        while (parts.find()) {
            nanos = nanos.add(new BigDecimal(parts.group(1)).multiply(NANOS.get(parts.group(2))));
        }
        return Duration.ofNanos(nanos.longValue());
    }
}
