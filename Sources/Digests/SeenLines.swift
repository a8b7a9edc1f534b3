import Glibc

/// Which lines of lists were seen, in twelve bytes for each, all of which are there from the beginning: a table of
/// hashes that only this process knows the key of, so that nobody can write two lines that count as one. That two do by
/// chance is as likely as one in 10^7, with a million lines.
package final class SeenLines {
    /// Zero: free.
    private let slots: UnsafeMutableBufferPointer<UInt64>
    private var free: Int

    /// None of so many yet.
    package init(atMost count: Int) {
        let capacity = count + count / 2 + 1
        // calloc(3): what is not touched takes no memory.
        let memory = calloc(capacity, MemoryLayout<UInt64>.size)?.bindMemory(to: UInt64.self, capacity: capacity)
        slots = UnsafeMutableBufferPointer(start: memory, count: memory == nil ? 0 : capacity)
        free = memory == nil ? 0 : count
    }

    deinit { Glibc.free(slots.baseAddress) }

    /// Whether it is seen for the first time. Those beyond what was announced are new each time.
    package func insert(_ line: some Hashable) -> Bool {
        let hash = max(1, UInt64(bitPattern: Int64(line.hashValue)))
        guard !slots.isEmpty else { return true }
        var index = Int(UInt64(slots.count).multipliedFullWidth(by: hash).high)
        while slots[index] != 0 {
            if slots[index] == hash { return false }
            index = index + 1 == slots.count ? 0 : index + 1
        }
        if free > 0 {
            slots[index] = hash
            free -= 1
        }
        return true
    }
}
