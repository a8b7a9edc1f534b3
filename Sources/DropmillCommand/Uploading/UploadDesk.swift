import Control
@preconcurrency import Dispatch
import Files
import FoundationEssentials
import PipelineEngine
import PipelineKit
import Synchronization
import SystemPackage

/// Takes files into inboxes that other processes write. What waits for a disk waits here, so that a file system which
/// does not answer holds up nothing else.
final class UploadDesk: Sendable {
    typealias Reply = @Sendable (Result<ReceiveVerb.Answer, ControlProblem>) -> Void

    private struct State {
        var book = UploadBook()
        /// Those that come. One that is being finished is not among them any more, but still in the book.
        var coming: [Int: Upload] = [:]
    }

    /// How long an inbox may take to answer.
    private static let patience = 3.0
    /// How often it is looked for what could not be removed before.
    private static let rounds = Duration.seconds(1800)
    static let nothing = ControlProblem("no file is on its way in on this connection; ask for 'receive' first")

    private let engine: Engine
    private let warn: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.uploads", attributes: .concurrent)
    private let sweeping = DispatchQueue(label: "dropmill.uploads.leftovers", qos: .utility)
    private let lookout = Lookout(label: "dropmill.uploads.looking")

    init(_ engine: Engine, warn: @escaping @Sendable (String) -> Void) {
        (self.engine, self.warn) = (engine, warn)
    }

    /// Begins one. `end` is called once that is over, however that comes.
    func begin(
        _ arguments: ReceiveVerb.Arguments, on tie: ControlTie, end: @escaping ControlHandler.End,
        reply: @escaping Reply
    ) {
        queue.async { @Sendable [self] in
            do throws(UploadRefusal) {
                try open(arguments, on: tie, end)
                reply(.success(.init()))
            } catch {
                let answer = ReceiveVerb.Answer(refusal: .init(error))
                end(ReceiveVerb.result(answer)) { reply(.success(answer)) }
            }
        }
    }

    private func open(
        _ arguments: ReceiveVerb.Arguments, on tie: ControlTie, _ end: @escaping ControlHandler.End
    ) throws(UploadRefusal) {
        let spool = try engine.uploadSpool(of: arguments.pipeline)
        let path = try spool.pipeline.place(ofUpload: Array(arguments.path), size: arguments.size)
        let number = try enter(arguments.pipeline, path, size: arguments.size)
        do throws(UploadRefusal) {
            let file = try make(path, size: arguments.size, in: spool, number)
            let upload = Upload(number, arguments.pipeline, file, end: end) { @Sendable [weak self] number in
                self?.breakOff(number, "the connection was closed")
            }
            do throws(UploadRefusal) {
                let writing = HandedFile(try file.openForWriting())
                let isOpen = state.withLock { state in
                    if !state.book.isClosed { state.coming[number] = upload }
                    return !state.book.isClosed
                }
                guard isOpen, tie.keep(upload, handing: writing) else { throw Self.late }
            } catch {
                _ = state.withLock { $0.coming.removeValue(forKey: number) }
                file.remove()
                throw error
            }
        } catch {
            state.withLock { $0.book.leave(number) }
            throw error
        }
    }

    private static let late = UploadRefusal(
        .failed, "its connection was closed, or has a file already", remedy: "Send each on one of its own.")

    private func enter(_ pipeline: String, _ path: DropPath, size: Int64) throws(UploadRefusal) -> Int {
        try state.withLock { state in
            Result { () throws(UploadRefusal) in try state.book.enter(pipeline, path.bytes, size: size) }
        }.get()
    }

    private func make(
        _ path: DropPath, size: Int64, in spool: Spool, _ number: Int
    ) throws(UploadRefusal) -> UploadFile {
        let inbox = spool.pipeline.inbox
        let made = lookout.attempt(
            until: .now() + Self.patience,
            { @Sendable [self] mayLook -> Result<UploadFile, UploadRefusal> in
                guard mayLook(inbox) else { return .failure(Self.silence(inbox)) }
                return Result { () throws(UploadRefusal) in
                    try UploadFile.begin(path, size: size, into: spool) { device in
                        state.withLock { $0.book.promised(on: device, besides: number) }
                    }
                }
            }, unwanted: { @Sendable late in if case .success(let file) = late { file.remove() } })
        switch made {
        case .over(let file): return try file.get()
        case .silent: throw Self.silence(inbox)
        }
    }

    private static func silence(_ inbox: FilePath) -> UploadRefusal {
        UploadRefusal(.silent, "'\(inbox.text)' does not answer", remedy: "Try again once its file system does.")
    }

    /// So many bytes have been written.
    func note(_ size: Int64, on tie: ControlTie) throws(ControlProblem) {
        guard let upload = tie.kept as? Upload else { throw Self.nothing }
        state.withLock { $0.book.note(upload.number, written: size) }
    }

    /// Gives the one of this connection its name.
    func finish(on tie: ControlTie, reply: @escaping Reply) {
        guard let upload = tie.take() as? Upload,
            state.withLock({ $0.coming.removeValue(forKey: upload.number) }) != nil
        else { return reply(.failure(Self.nothing)) }
        queue.async { @Sendable [self] in
            let answer: ReceiveVerb.Answer
            do throws(UploadRefusal) {
                let spool = try engine.uploadSpool(of: upload.pipeline)
                // A reload may have changed what it takes.
                _ = try spool.pipeline.place(ofUpload: upload.file.path.bytes, size: upload.file.size)
                try upload.file.finish(into: spool)
                answer = .init()
            } catch {
                upload.file.remove()
                answer = .init(refusal: .init(error))
            }
            state.withLock { $0.book.leave(upload.number) }
            upload.end(ReceiveVerb.result(answer)) { reply(.success(answer)) }
        }
    }

    private func breakOff(_ number: Int, _ reason: String, in group: DispatchGroup = DispatchGroup()) {
        let broken = state.withLock { state in
            // Where the file system does not answer its place is free all the same: nothing more is begun there.
            state.book.leave(number)
            return state.coming.removeValue(forKey: number)
        }
        guard let broken else { return }
        group.enter()
        queue.async { @Sendable in
            broken.file.remove()
            broken.end("broken off: \(reason)") { group.leave() }
        }
    }

    /// Breaks all off, and takes no more; calls back once nothing is left of them, as far as their file systems answer.
    func close(_ done: @escaping @Sendable () -> Void) {
        let numbers = state.withLock { state in
            state.book.close()
            return Array(state.coming.keys)
        }
        let group = DispatchGroup()
        for number in numbers { breakOff(number, "the daemon stops", in: group) }
        DispatchQueue.global().async { @Sendable in
            _ = group.wait(timeout: .now() + .seconds(5))
            done()
        }
    }

    // MARK: Leftovers

    /// Removes what earlier runs left, and from then on every half an hour what could not be removed.
    func sweep() { sweep(all: true) }

    private func sweep(all: Bool) {
        sweeping.async { @Sendable [self] in
            for (inbox, isOpen) in engine.uploadInboxes where all || isOpen { sweep(inbox) }
            sweeping.after(Self.rounds) { @Sendable [weak self] in self?.sweep(all: false) }
        }
    }

    private func sweep(_ inbox: FilePath) {
        let removed = lookout.attempt(until: .now() + 60) { @Sendable mayLook in
            guard mayLook(inbox) else { return 0 }
            do throws(IOError) { return try UploadLeftovers.remove(from: inbox) } catch { return 0 }
        }
        guard case .over(let count) = removed, count > 0 else { return }
        warn("\(count) unfinished uploads were removed from '\(inbox.text)'")
    }
}
