package shop;

import java.util.List;
import java.util.Map;
import java.util.Optional;

class Base {
    protected int number = 3;
}

class Order extends Base {
    enum Size { SMALL, LARGE }

    static int made;
    transient String secret = "kept";
    private final String id;
    Size size;
    List<Line> lines;
    Map<String, Double> prices;
    Boolean paid;
    String note;

    static class Line {
        String item;
        long count;
    }

    /** There is no constructor without parameters. */
    Order(String id) {
        this.id = id;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(id + " " + number + " " + size + " " + secret + " " + prices + " " + paid);
        if (lines != null) {
            for (Line line : lines) {
                text.append(" ").append(line.item).append("*").append(line.count);
            }
        }
        return text.toString();
    }
}
