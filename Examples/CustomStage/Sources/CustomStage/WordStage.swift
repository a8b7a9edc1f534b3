import Dropmill

/// Counts the words of a text, and publishes the number as a file of its own.
struct WordStage: Stage {
    private static let to = StageOption<PathTemplate>.folder("to", "the folder to publish the numbers in")
    private static let minimum = StageOption<Int>.integer(
        "minimum", "how many words a text must have", in: 0...1_000_000, default: 0)

    static let descriptor = StageDescriptor(
        kind: "words", summary: "Counts the words of a text.", options: [to.erased, minimum.erased],
        effects: [.replacesPayload, .publishes], example: "words: { to: counts, minimum: 10 }")

    private let to: PathTemplate
    private let minimum: Int

    init(options: StageOptions) throws(OptionProblem) {
        to = try options.value(Self.to)
        minimum = try options.value(Self.minimum)
    }

    func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        guard case .file(let name) = payload.shape, let result = FileName(name.bytes + Array(".words".utf8)) else {
            throw .file("words.name", "'\(context.job.drop.name)' is no text file.", remedy: "Drop a single file.")
        }
        let scratch = try context.makeScratch()
        let count: Int
        do throws(IOError) {
            count = try words(in: payload, context)
            let file = try context.create(scratch.appending(result))
            try file.write(Array("\(count)\n".utf8))
            try file.close()
        } catch {
            throw StageFailure(inStage: error)
        }
        try context.checkCancelled()
        guard count >= minimum else {
            throw .file(
                "words.few", "'\(name)' has \(count) words, fewer than \(minimum).", remedy: "Send the whole text.")
        }
        context.work.notes.add("words: \(count)")
        var counted = Payload(file: result, in: scratch).inPlace(of: payload)
        counted.destination = try to.destination(of: counted, of: context.job, for: Self.descriptor.kind)
        return counted
    }

    /// Bytes between spaces, a piece at a time.
    private func words(in payload: Payload, _ context: StageContext) throws(IOError) -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { buffer.deallocate() }
        var count = 0
        for file in try context.files(of: payload) {
            let opened = try context.open(file, of: payload)
            var isInWord = false
            while case let length = try opened.read(into: buffer), length > 0, !context.work.cancellation.isCancelled {
                for byte in buffer[..<length] {
                    let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
                    if !isSpace, !isInWord { count += 1 }
                    isInWord = !isSpace
                }
                context.work.progress.add(bytes: Int64(length))
            }
        }
        return count
    }
}
