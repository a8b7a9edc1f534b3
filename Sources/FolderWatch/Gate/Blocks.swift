/// An array in blocks of a fixed size; a plain array would double when it is full. All blocks have the same number of
/// bytes, whatever they hold, so that a freed block fits any other use.
struct Blocks<Element: Sendable>: Sendable {
    private var blocks: [ContiguousArray<Element>] = []
    private(set) var count = 0

    /// Elements in a block of 32 KiB with its array's header.
    static var size: Int { (32_768 - 32) / MemoryLayout<Element>.stride }

    subscript(number: Int) -> Element {
        _read { yield blocks[number / Self.size][number % Self.size] }
        _modify { yield &blocks[number / Self.size][number % Self.size] }
    }

    mutating func append(_ element: Element) {
        if count % Self.size == 0 {
            blocks.append([])
            if count > 0 { blocks[blocks.count - 1].reserveCapacity(Self.size) }
        }
        blocks[blocks.count - 1].append(element)
        count += 1
    }

    mutating func removeLast() {
        blocks[blocks.count - 1].removeLast()
        count -= 1
        if count % Self.size == 0 { blocks.removeLast() }
    }
}
