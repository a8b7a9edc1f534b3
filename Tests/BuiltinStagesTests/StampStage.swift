import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Puts a line before a file's text.
package struct StampStage: OwnStage {
    private static let line = StageOption<String?>.text("line", "the line to put first", shown: "Received.")
    package static let descriptor = StageDescriptor(
        kind: "stamp", summary: "Puts a line before a file's text.", options: [line.erased],
        effects: [.replacesPayload], example: #"stamp: { line: "Received." }"#)

    private let line: String

    package init(options: StageOptions) throws(OptionProblem) {
        line = try options.value(Self.line) ?? "Received."
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        guard case .file(let name) = payload.shape else { return payload }
        let folder = try context.makeScratch()
        do throws(IOError) {
            let source = try OpenFile.open(payload.path, O_RDONLY | O_NOFOLLOW)
            let target = try OpenFile.open(folder.appending(name), O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
            try target.write(Array("\(line)\n".utf8))
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
            defer { buffer.deallocate() }
            while case let count = try source.read(into: buffer), count > 0, !context.work.cancellation.isCancelled {
                try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                context.work.progress.add(bytes: Int64(count))
            }
            try target.close()
        } catch {
            throw Failure(inStage: error)
        }
        try context.checkCancelled()
        return Payload(file: name, in: folder).inPlace(of: payload)
    }
}
