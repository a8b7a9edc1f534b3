import Control
@preconcurrency import Dispatch
import Files
import FoundationEssentials
import Journal
import SystemPackage

/// A folder that comes by several requests, one at a time, on one connection to the daemon.
final class FolderUpload: ComingFolder {
    let id = Secret.random()
    let arguments: ReceiveVerb.Arguments
    private let subject: String
    private let connection: UploadConnection
    private let queue: DispatchQueue

    private init(
        _ arguments: ReceiveVerb.Arguments, _ subject: String, _ connection: UploadConnection, _ queue: DispatchQueue
    ) {
        (self.arguments, self.subject, self.connection, self.queue) = (arguments, subject, connection, queue)
    }

    static func begin(
        _ arguments: ReceiveVerb.Arguments, for behalf: Behalf, subject: String, in folder: FilePath, turn: Permits
    ) async throws(Problem) -> FolderUpload {
        let queue = DispatchQueue(label: "dropmill.dashboard.upload")
        let connection = try await UploadLink.connect(
            arguments, for: behalf, subject: subject, in: folder, turn: turn, on: queue)
        return FolderUpload(arguments, subject, connection, queue)
    }

    /// Begins a file in it. `digest`: what that must have, if that is said; `before`: how many bytes have come.
    func file(
        _ path: [UInt8], size: Int64, digest: [UInt8]?, subject: String, before: Int64
    ) async throws -> UploadLink {
        try await part(path, size: size, subject)
        let writer = try UploadWriter(connection, on: queue, hashes: digest, end: .part(before))
        return UploadLink(to: writer, size: size, subject: subject)
    }

    /// Makes a folder in it.
    func folder(_ path: [UInt8], subject: String) async throws(Problem) { try await part(path, size: nil, subject) }

    private func part(_ path: [UInt8], size: Int64?, _ subject: String) async throws(Problem) {
        let asked = await queue.result { @Sendable [connection] () throws(ControlClient.Problem) in
            try connection.part(.init(path: Data(path), size: size))
        }
        switch asked {
        case .success(nil): return
        case .success(let refusal?): throw Problem(refusal, subject: subject)
        case .failure(let problem): throw Problem(problem, isChange: true)
        }
    }

    /// Has it get its name.
    func finish() async throws(Problem) {
        try await queue.result { @Sendable [connection, subject] () throws(Problem) in
            try connection.name(subject)
        }.get()
        // Nothing more comes on it, and the daemon has few.
        connection.abandon()
    }

    func close() { connection.abandon() }
}
