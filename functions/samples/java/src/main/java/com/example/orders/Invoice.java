package com.example.orders;

/** The message on the queue "invoices". */
public class Invoice {
    public String order;

    public Invoice() {
    }

    public Invoice(String order) {
        this.order = order;
    }
}
