def main(:
