import Files
import FoundationEssentials
import Glibc
import Journal
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand

/// A daemon that takes files and folders, and who sends them.
protocol UploadScene { var scratch: ScratchFolder { get } }

extension UploadScene {
    func write(_ name: String, _ more: String, ready: String = "quiet: 50ms") throws {
        try scratch.write(
            "inbox: \(name)-in\nprocessed: \(name)-done\nfailed: \(name)-failed\nready: { \(ready) }\n"
                + "stages: [checksum]\n\(more)\n", to: "pipelines/\(name).yaml")
    }

    func start() async throws -> DropmillProcess {
        let daemon = try DropmillProcess(
            ["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"))
        try #require(try await eventually { try run("status").text.hasPrefix("running since") }, "\(daemon.transcript)")
        return daemon
    }

    func run(_ arguments: String...) throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(arguments, in: scratch.path)
    }

    var state: FilePath { scratch.path(".dropmill-state") }

    func begin(
        _ path: String, size: Int, files: Int? = nil, into pipeline: String = "press"
    ) throws -> Result<UploadConnection, ReceiveVerb.Refusal> {
        try UploadConnection.begin(
            .init(pipeline: pipeline, path: Data(path.utf8), size: Int64(size), files: files),
            for: Behalf(name: "anna", role: "drop", address: "10.2.0.14"), in: state)
    }

    func refusal(
        _ path: String, size: Int = 1, files: Int? = nil, into pipeline: String = "press"
    ) throws -> String? {
        if case .failure(let refusal) = try begin(path, size: size, files: files, into: pipeline) {
            refusal.code
        } else {
            nil
        }
    }

    func put(_ text: String, to connection: UploadConnection) throws {
        try Array(text.utf8).withUnsafeBytes { try connection.write($0) }
    }

    /// Sends one in; what refused it.
    @discardableResult
    func send(_ path: String, _ text: String, size: Int? = nil) throws -> String? {
        switch try begin(path, size: size ?? text.utf8.count) {
        case .failure(let refusal): return refusal.code
        case .success(let connection):
            try put(text, to: connection)
            return try connection.finish()?.code
        }
    }

    /// What is in the inbox, hidden ones included.
    func inbox(_ path: String = "press-in") throws -> [String] {
        try Folder.names(in: scratch.path("pipelines/\(path)")).map(\.text).sorted()
    }
}
