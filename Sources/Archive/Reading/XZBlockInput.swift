/// One block of an .xz file as a file of its own.
final class XZBlockInput: DecoderInput {
    private let input: ArchiveInput
    private let frame: (before: [UInt8], after: [UInt8])
    private let isStopped: () -> Bool
    private var rest: Int64
    private var turn = Turn.before
    private var held: UnsafeMutableRawBufferPointer?

    private enum Turn { case before, block, over }

    /// The input is moved, and this one's alone.
    init(_ block: XZBlock, of input: ArchiveInput, isStopped: @escaping () -> Bool) {
        self.input = input
        self.isStopped = isStopped
        frame = block.frame
        rest = block.length
        _ = input.seek(to: block.start)
    }

    deinit { held?.deallocate() }

    /// What follows it is another block's.
    var whole: ArchiveInput? { nil }

    var failure: ArchiveError? { input.failure ?? (isStopped() ? .stopped : nil) }

    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        switch turn {
        case .before:
            turn = .block
            return hold(frame.before)
        case .block:
            guard rest > 0 else {
                turn = .over
                return hold(frame.after)
            }
            if isStopped() { throw .stopped }
            guard let block = try input.next() else { return nil }
            let part = UnsafeRawBufferPointer(rebasing: block.prefix(Int(clamping: rest)))
            rest -= Int64(part.count)
            return part
        case .over: return nil
        }
    }

    private func hold(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        held?.deallocate()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        buffer.copyBytes(from: bytes)
        held = buffer
        return UnsafeRawBufferPointer(buffer)
    }
}
