package io.github.redeliver.worker;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** JSON as maps, lists, texts, numbers (BigDecimal), booleans and null. */
public final class Json {
    private static final int DEEPEST = 1000;

    private final String text;
    private final boolean lenient;
    private int at;

    private Json(String text, boolean lenient) {
        this.text = text;
        this.lenient = lenient;
    }

    /** JSON as it is written. */
    public static Object parse(String text) {
        return new Json(text, false).document();
    }

    /** JSON as Gson takes it, too: single quotes, names and texts without quotes, comments, "=" for ":" and ";" for ",". */
    static Object parseLenient(String text) {
        return new Json(text, true).document();
    }

    private Object document() {
        Object value = value(0);
        space();
        if (at < text.length()) {
            throw wrong("something follows the value");
        }
        return value;
    }

    /** A map; another value is an empty one. */
    @SuppressWarnings("unchecked")
    public static Map<String, Object> object(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : Collections.emptyMap();
    }

    /** A list; another value is an empty one. */
    @SuppressWarnings("unchecked")
    public static List<Object> array(Object value) {
        return value instanceof List ? (List<Object>) value : Collections.emptyList();
    }

    /** A value as a text; none is an empty one. */
    public static String text(Object value) {
        return value == null ? "" : value.toString();
    }

    /** A number without its fraction; none is 0. */
    public static int whole(Object value) {
        return value == null ? 0 : (int) Double.parseDouble(value.toString());
    }

    /** A number of a message as a text. */
    static String number(Object value) {
        return value instanceof BigDecimal && ((BigDecimal) value).scale() <= 0 && ((BigDecimal) value).scale() > -20 ? ((BigDecimal) value).toPlainString() : text(value);
    }

    /** A map of the names and values that are not null. */
    public static Map<String, Object> map(Object... pairs) {
        Map<String, Object> out = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            if (pairs[i + 1] != null) {
                out.put((String) pairs[i], pairs[i + 1]);
            }
        }
        return out;
    }

    private IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException("it is no JSON: " + what + " at character " + (at + 1));
    }

    private void space() {
        while (at < text.length() && (" \t\r\n".indexOf(text.charAt(at)) >= 0 || lenient && comment())) {
            at++;
        }
    }

    /** Whether a comment is here; then the next character is its last one. */
    private boolean comment() {
        boolean block = text.startsWith("/*", at);
        if (!block && !text.startsWith("//", at) && text.charAt(at) != '#') {
            return false;
        }
        int end = block ? text.indexOf("*/", at + 2) : text.indexOf('\n', at);
        if (block && end < 0) {
            throw wrong("a comment does not end");
        }
        at = block ? end + 1 : end < 0 ? text.length() - 1 : end;
        return true;
    }

    /** A sign, or the one that may stand in its place. */
    private boolean skip(char wanted, char instead) {
        return skip(wanted) || lenient && skip(instead);
    }

    private boolean skip(char wanted) {
        space();
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private Object value(int depth) {
        if (depth > DEEPEST) {
            throw wrong("it is nested too deep");
        }
        space();
        if (at >= text.length()) {
            throw wrong("it ends too early");
        }
        if (skip('{')) {
            Map<String, Object> out = new LinkedHashMap<>();
            if (skip('}')) {
                return out;
            }
            do {
                String name = name();
                if (skip(':', '=')) {
                    at += lenient && text.startsWith(">", at) && text.charAt(at - 1) == '=' ? 1 : 0;
                } else {
                    throw wrong("a colon is expected");
                }
                out.put(name, value(depth + 1));
            } while (skip(',', ';'));
            if (!skip('}')) {
                throw wrong("an object does not end");
            }
            return out;
        }
        if (skip('[')) {
            List<Object> out = new ArrayList<>();
            if (skip(']')) {
                return out;
            }
            do {
                out.add(value(depth + 1));
            } while (skip(',', ';'));
            if (!skip(']')) {
                throw wrong("an array does not end");
            }
            return out;
        }
        return quoted() ? string() : word();
    }

    private boolean quoted() {
        return text.charAt(at) == '"' || lenient && text.charAt(at) == '\'';
    }

    private String name() {
        space();
        if (at < text.length() && quoted()) {
            return string();
        }
        String plain = lenient ? plain() : "";
        if (plain.isEmpty()) {
            throw wrong("a name is expected");
        }
        return plain;
    }

    /** What stands here without quotes. */
    private String plain() {
        int from = at;
        while (at < text.length() && ",]} \t\r\n:".indexOf(text.charAt(at)) < 0 && !(lenient && "/\\;#={[\f".indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        return text.substring(from, at);
    }

    private Object word() {
        int from = at;
        String word = plain();
        switch (lenient ? word.toLowerCase(Locale.ROOT) : word) {
            case "null":
                return null;
            case "true":
                return true;
            case "false":
                return false;
            default:
        }
        if (!word.matches("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]{1,5})?")) {
            if (lenient && !word.isEmpty()) {
                return word;
            }
            at = from;
            throw wrong("\"" + word.substring(0, Math.min(20, word.length())) + "\" is unexpected");
        }
        return new BigDecimal(word);
    }

    private String string() {
        char quote = text.charAt(at);
        int from = ++at;
        StringBuilder out = null;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == quote) {
                String rest = text.substring(from, at++);
                return out == null ? rest : out.append(rest).toString();
            }
            at++;
            if (c == '\\') {
                out = (out == null ? new StringBuilder() : out).append(text, from, at - 1);
                out.append(escaped());
                from = at;
            }
        }
        throw wrong("a text does not end");
    }

    private char escaped() {
        if (at >= text.length()) {
            throw wrong("a text does not end");
        }
        char c = text.charAt(at++);
        int known = "bfnrt\"\\/'".indexOf(c);
        if (known >= 0 && (lenient || c != '\'')) {
            return "\b\f\n\r\t\"\\/'".charAt(known);
        }
        if (c != 'u' || at + 4 > text.length() || !text.substring(at, at + 4).matches("[0-9a-fA-F]{4}")) {
            throw wrong("an escape is unknown");
        }
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    /** Writes maps, lists, texts, numbers and booleans. Gson writes what means something in HTML as an escape. */
    public static void write(StringBuilder out, Object value, boolean html) {
        if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet()) {
                quote(out.append(before), one.getKey().toString(), html);
                write(out.append(':'), one.getValue(), html);
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Collection) {
            char before = '[';
            for (Object one : (Collection<?>) value) {
                write(out.append(before), one, html);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            quote(out, value.toString(), html);
        }
    }

    private static void quote(StringBuilder out, String text, boolean html) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int brief = "\"\\\b\f\n\r\t".indexOf(c); // as Gson has them
            if (brief >= 0) {
                out.append('\\').append("\"\\bfnrt".charAt(brief));
            } else if (c < ' ' || c == '\u2028' || c == '\u2029' || html && "<>&='".indexOf(c) >= 0) {
                out.append(String.format("\\u%04x", (int) c));
            } else if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                out.append(c).append(text.charAt(++i));
            } else {
                out.append(Character.isSurrogate(c) ? '\ufffd' : c); // half a character
            }
        }
        out.append('"');
    }
}
