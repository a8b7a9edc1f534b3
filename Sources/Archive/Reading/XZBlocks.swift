/// Decompresses the blocks of an .xz file on several threads, and gives them in their order. Only files of several
/// blocks have what it takes: those that xz made on several threads itself.
final class XZBlocks: BlockSource {
    /// The most memory that blocks and what their decoders need at hand take together.
    private static let mostMemory: Int64 = 256 << 20
    /// What is given at once.
    private static let portion = 512 << 10

    private let work: XZWork
    private let crew: [Threads.Errand]
    private var index = 0
    private var given = 0
    private var held: XZWork.Content?

    /// Begins at once; nil where the file has one block, or has blocks that are not for this. `threads`: how many may
    /// work at it, whoever takes the blocks among them.
    init?(_ input: ArchiveInput, threads: Int) throws(ArchiveError) {
        guard threads > 1, let blocks = try XZBlock.all(in: input), blocks.count > 1 else { return nil }
        var largest: Int64 = 1
        for block in blocks {
            guard block.size <= Self.mostMemory, let window = try block.window(in: input) else { return nil }
            largest = max(largest, block.size + window)
        }
        // One that is being taken, and one for each thread.
        let most = Int(min(Int64(threads), Self.mostMemory / largest - 1))
        guard most > 1 else { return nil }
        let work = XZWork(blocks, input, ahead: most + 1)
        self.work = work
        crew = (1..<most).compactMap { _ in Threads.begin { work.serve() } }
    }

    deinit {
        work.callOff(crew.count)
        for errand in crew { errand.wait() }
    }

    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        while true {
            if let held, given < held.bytes.count {
                let part = UnsafeRawBufferPointer(rebasing: held.bytes[given...].prefix(Self.portion))
                given += part.count
                return part
            }
            if held != nil {
                held = nil
                index += 1
                work.release(before: index, crew.count)
            }
            guard index < work.count else { return nil }
            held = try work.content(of: index)
            given = 0
        }
    }
}
