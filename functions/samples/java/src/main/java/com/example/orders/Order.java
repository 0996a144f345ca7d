package com.example.orders;

/** The message on the queue "orders". */
public class Order {
    public String id;
    /** Makes processing fail, every time. */
    public boolean fail;
    /** Makes the first attempts of a delivery fail, and then one succeed. */
    public int flaky;
}
