def main(order): pass
