import Dispatch
import Glibc
import Synchronization
import SystemPackage

/// Runs a source on a thread of its own, some blocks ahead of whoever takes them: one core decompresses while another
/// writes.
final class DecodeAhead: BlockSource {
    private let ring: Ring
    private let filling: Threads.Errand
    private var isHolding = false
    private var isOver = false

    /// Starts at once; nil where there is no thread for it. The source is the thread's alone until this object goes.
    init?(_ source: any BlockSource) {
        let ring = Ring(source)
        guard let filling = Threads.begin({ ring.fill() }) else { return nil }
        self.ring = ring
        self.filling = filling
    }

    deinit {
        ring.callOff()
        filling.wait()
    }

    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        if isOver { return nil }
        if isHolding { ring.giveBack() }
        isHolding = true
        guard let block = try ring.dequeue() else {
            isOver = true
            return nil
        }
        return block
    }
}

/// Blocks on their way from one thread to another.
// @unchecked: a slot and its count are touched by the thread that took it from `free` or `filled`, until it is handed
// over by the other of them; `source` by the filling thread; `failure` by the other one after the end alone: the two
// semaphores are the lock.
private final class Ring: @unchecked Sendable {
    private static let slotCount = 4
    private static let slotSize = 512 << 10

    private let source: any BlockSource
    private let free = DispatchSemaphore(value: 0)
    private let filled = DispatchSemaphore(value: 0)
    private let isCalledOff = Atomic<Bool>(false)
    private let slots: [UnsafeMutableRawBufferPointer]
    // How much each slot holds: memory as the slots are, for an array is one value, which both threads would touch.
    private let counts: UnsafeMutablePointer<Int>
    private var taken = 0
    private var failure: ArchiveError?

    init(_ source: any BlockSource) {
        self.source = source
        slots = (0..<Self.slotCount).map { _ in .allocate(byteCount: Self.slotSize, alignment: 16) }
        counts = .allocate(capacity: Self.slotCount)
        counts.initialize(repeating: 0, count: Self.slotCount)
        // Not made with this value: one that goes with less than it was made with crashes.
        for _ in slots { free.signal() }
    }

    deinit {
        for slot in slots { slot.deallocate() }
        counts.deallocate()
    }

    /// Fills slots until the source has no more; an empty one is the end.
    func fill() {
        var rest = UnsafeRawBufferPointer(start: nil, count: 0)
        var index = 0
        while true {
            free.wait()
            if isCalledOff.load(ordering: .acquiring) { return }
            var count = 0
            do throws(ArchiveError) {
                while count < Self.slotSize {
                    if rest.isEmpty {
                        // What there is goes out before a source that would not fit is asked for more.
                        guard let block = try source.next() else { break }
                        rest = block
                    }
                    let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.slotSize - count))
                    UnsafeMutableRawBufferPointer(rebasing: slots[index][count...]).copyMemory(from: part)
                    count += part.count
                    rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
                }
            } catch {
                failure = error
            }
            counts[index] = count
            filled.signal()
            if count > 0, failure != nil {
                // The end is told by a slot of its own.
                index = (index + 1) % Self.slotCount
                free.wait()
                counts[index] = 0
                filled.signal()
            }
            if count == 0 || failure != nil { return }
            index = (index + 1) % Self.slotCount
        }
    }

    func dequeue() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        filled.wait()
        let count = counts[taken]
        if count == 0 {
            if let failure { throw failure }
            return nil
        }
        let block = UnsafeRawBufferPointer(rebasing: slots[taken][..<count])
        taken = (taken + 1) % Self.slotCount
        return block
    }

    func giveBack() { free.signal() }

    func callOff() {
        isCalledOff.store(true, ordering: .releasing)
        free.signal()
    }
}
