param($order)
