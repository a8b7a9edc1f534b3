import Control
@preconcurrency import Dispatch
import Files
import FoundationEssentials
import PipelineEngine
import PipelineKit
import Synchronization
import SystemPackage

/// Takes files and folders into inboxes that other processes write. What waits for a disk waits here, so that a file
/// system which does not answer holds up nothing else.
final class UploadDesk: Sendable {
    typealias Reply = @Sendable (Result<ReceiveVerb.Answer, ControlProblem>) -> Void

    private struct State {
        var book = UploadBook()
        /// Those that come. One that is being finished is not among them any more, but still in the book.
        var coming: [Int: Upload] = [:]
        /// What all of them are called meanwhile.
        var names: [Int: FileName] = [:]

        mutating func leave(_ number: Int) {
            book.leave(number)
            names[number] = nil
        }
    }

    /// How long an inbox may take to answer.
    private static let patience = 3.0
    /// How often it is looked for what could not be removed before.
    private static let rounds = Duration.seconds(1800)
    static let nothing = ControlProblem("nothing is on its way in on this connection; ask for 'receive' first")

    private let engine: Engine
    private let places: UploadPlaces
    private let warn: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.uploads", attributes: .concurrent)
    private let sweeping = DispatchQueue(label: "dropmill.uploads.leftovers", qos: .utility)
    private let lookout = Lookout(label: "dropmill.uploads.looking")

    /// `folder`: the state folder.
    init(_ engine: Engine, in folder: FilePath, warn: @escaping @Sendable (String) -> Void) {
        (self.engine, places, self.warn) = (engine, UploadPlaces(in: folder), warn)
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
        let path = try spool.pipeline.place(
            ofUpload: Array(arguments.path), size: arguments.size, files: arguments.files)
        let number = try enter(arguments.pipeline, path, size: arguments.size)
        do throws(UploadRefusal) {
            let drop = try make(path, size: arguments.size, files: arguments.files, in: spool, number)
            let upload = Upload(number, arguments.pipeline, drop, end: end) { @Sendable [weak self] number in
                self?.breakOff(number, "the connection was closed")
            }
            do throws(UploadRefusal) {
                var writing: HandedFile?
                if let file = try drop.openForWriting() { writing = HandedFile(file) }
                let isOpen = state.withLock { state in
                    if !state.book.isClosed { (state.coming[number], state.names[number]) = (upload, drop.name) }
                    return !state.book.isClosed
                }
                guard isOpen, tie.keep(upload, handing: writing) else { throw Self.late }
            } catch {
                _ = state.withLock { $0.coming.removeValue(forKey: number) }
                drop.remove()
                throw error
            }
        } catch {
            state.withLock { $0.leave(number) }
            throw error
        }
    }

    private static let late = UploadRefusal(
        .failed, "its connection was closed, or has one already", remedy: "Send each on one of its own.")

    private func enter(_ pipeline: String, _ path: DropPath, size: Int64) throws(UploadRefusal) -> Int {
        try state.withLock { state in
            Result { () throws(UploadRefusal) in try state.book.enter(pipeline, path.bytes, size: size) }
        }.get()
    }

    private func make(
        _ path: DropPath, size: Int64, files: Int?, in spool: Spool, _ number: Int
    ) throws(UploadRefusal) -> UploadDrop {
        let inbox = spool.pipeline.inbox
        let made = lookout.attempt(
            until: .now() + Self.patience,
            { @Sendable [self] mayLook -> Result<UploadDrop, UploadRefusal> in
                guard mayLook(inbox) else { return .failure(Self.silence(inbox)) }
                return Result { () throws(UploadRefusal) in
                    // Before anything is there that a kill would leave.
                    do throws(IOError) {
                        try places.note(inbox)
                    } catch {
                        throw UploadRefusal(.failed, "\(error)", remedy: "Try again once that is fixed.")
                    }
                    return try UploadDrop.begin(path, size: size, files: files, into: spool) { device in
                        state.withLock { $0.book.promised(on: device, besides: number) }
                    }
                }
            }, unwanted: { @Sendable late in if case .success(let drop) = late { drop.remove() } })
        switch made {
        case .over(let drop): return try drop.get()
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

    /// Begins a file in the folder of this connection, or makes a folder there.
    func part(_ arguments: ReceivePartVerb.Arguments, on tie: ControlTie, reply: @escaping Reply) {
        guard let upload = tie.kept as? Upload else { return reply(.failure(Self.nothing)) }
        queue.async { @Sendable [self] in
            do throws(UploadRefusal) {
                let pipeline = try spool(for: upload).pipeline
                let path = try pipeline.place(ofPart: Array(arguments.path), isFolder: arguments.size == nil)
                if let file = try upload.drop.part(path, size: arguments.size, in: pipeline),
                    !tie.hand(HandedFile(file), of: upload)
                {
                    throw Self.late
                }
                let arrived = upload.drop.arrived
                state.withLock { $0.book.note(upload.number, written: arrived) }
                reply(.success(.init()))
            } catch {
                reply(.success(.init(refusal: .init(error))))
            }
        }
    }

    /// Where it goes, by what is in force now: a reload may have changed what is taken.
    private func spool(for upload: Upload) throws(UploadRefusal) -> Spool {
        let spool = try engine.uploadSpool(of: upload.pipeline)
        let drop = upload.drop
        _ = try spool.pipeline.place(ofUpload: drop.path.bytes, size: drop.size, files: drop.files)
        return spool
    }

    /// Gives the one of this connection its name.
    func finish(on tie: ControlTie, reply: @escaping Reply) {
        guard let upload = tie.take() as? Upload,
            state.withLock({ $0.coming.removeValue(forKey: upload.number) }) != nil
        else { return reply(.failure(Self.nothing)) }
        queue.async { @Sendable [self] in
            let answer: ReceiveVerb.Answer
            do throws(UploadRefusal) {
                try upload.drop.finish(into: try spool(for: upload))
                answer = .init()
            } catch {
                upload.drop.remove()
                answer = .init(refusal: .init(error))
            }
            state.withLock { $0.leave(upload.number) }
            upload.end(ReceiveVerb.result(answer)) { reply(.success(answer)) }
        }
    }

    private func breakOff(_ number: Int, _ reason: String, in group: DispatchGroup = DispatchGroup()) {
        let broken = state.withLock { state in
            // Where the file system does not answer its place is free all the same: nothing more is begun there.
            state.leave(number)
            return state.coming.removeValue(forKey: number)
        }
        guard let broken else { return }
        group.enter()
        queue.async { @Sendable in
            broken.drop.remove()
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
            let inboxes = engine.uploadInboxes
            for (inbox, isOpen) in inboxes where all || isOpen { _ = sweep(inbox) }
            // Of earlier runs, and from before a reload.
            let present = Set(inboxes.map { $0.inbox.absolute.lexicallyNormalized() })
            let isComing = state.withLock { !$0.names.isEmpty }
            for inbox in places.all.subtracting(present) where sweep(inbox) && !isComing {
                do throws(IOError) { try places.forget(inbox) } catch { /* It is looked at again. */  }
            }
            sweeping.after(Self.rounds) { @Sendable [weak self] in self?.sweep(all: false) }
        }
    }

    /// Returns whether nothing can be left there.
    private func sweep(_ inbox: FilePath) -> Bool {
        let coming = state.withLock { Set($0.names.values) }
        let removed = lookout.attempt(until: .now() + 60) { @Sendable mayLook -> Int? in
            guard mayLook(inbox) else { return nil }
            do throws(IOError) {
                return try UploadLeftovers.remove(from: inbox, besides: coming)
            } catch {
                return error.errno == .noSuchFileOrDirectory ? 0 : nil
            }
        }
        guard case .over(let count?) = removed else { return false }
        if count > 0 { warn("\(count) unfinished uploads were removed from '\(inbox.text)'") }
        return true
    }
}
