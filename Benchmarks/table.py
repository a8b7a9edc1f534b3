"""A table on the terminal that grows row by row, since each takes a while."""


class Table:
    def __init__(self, *heads, first=36, others=11):
        print()
        # Words to the left, numbers to the right; the last column may be of any width.
        self.widths = [max(first if place == 0 else others, len(head)) for place, head in enumerate(heads)]
        self.row(*heads)

    def row(self, *cells):
        texts = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, self.widths))
        ]
        print(" ".join(texts), flush=True)
