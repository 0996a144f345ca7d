class PaymentError(Exception):
    pass
