package io.github.redeliver.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A function as a scenario has it: see {@link Functions}. Each call returns another one, so that one may stand for many. */
public final class FunctionSpec {
    private final Map<String, Object> members;
    private final Handler handler; // null: a script

    FunctionSpec(Map<String, Object> members, Handler handler) {
        this.members = members;
        this.handler = handler;
    }

    private FunctionSpec with(String member, Object value) {
        Map<String, Object> out = new LinkedHashMap<>(members);
        out.put(member, value);
        return new FunctionSpec(out, handler);
    }

    /** With a retry policy. */
    public FunctionSpec retry(Retry policy) {
        return with("retry", policy.members);
    }

    /** With another binding, as in function.json. */
    public FunctionSpec binding(Map<String, ?> binding) {
        List<Object> all = new ArrayList<>((List<?>) members.getOrDefault("bindings", List.of()));
        all.add(binding);
        return with("bindings", all);
    }

    /** With switches of this function. */
    public FunctionSpec redeliver(Map<String, ?> switches) {
        return with("redeliver", switches);
    }

    /** A script in the place of a handler: {@code "fail"}, {@code "succeed"}, an action as a map, or several, one for each attempt. */
    public FunctionSpec scripted(Object... actions) {
        return new FunctionSpec(with("handler", actions.length == 1 ? actions[0] : Arrays.asList(actions)).members, null);
    }

    /** A handler of this process. */
    public FunctionSpec handler(Handler handler) {
        return new FunctionSpec(members, handler);
    }

    Map<String, Object> members() {
        return members;
    }

    Handler handler() {
        return handler;
    }
}
