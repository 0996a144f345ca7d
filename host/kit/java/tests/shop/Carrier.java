package shop;

/** Who brings orders to people. */
public interface Carrier {
    String book(String order);
}
