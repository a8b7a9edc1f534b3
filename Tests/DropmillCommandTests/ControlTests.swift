import Files
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

/// The socket on which a daemon answers: what a client may do to it, and what it must not be able to.
@Suite(.timeLimit(.minutes(5))) struct ControlTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let reply = ControlReply(
        inboxes: ["scans": ControlReply.Inbox(InboxSnapshot(watching: .polling(every: .seconds(2)), waiting: 3))])

    private func serve(
        in folder: FilePath? = nil, _ answer: @escaping ControlServer.Answer = { _, reply in reply(ControlTests.reply) }
    ) throws -> ControlServer {
        try ControlServer.open(in: folder ?? scratch.path, answer: answer)
    }

    /// A connection of a client that keeps to no rules.
    private func connect() throws -> Int32 {
        let descriptor = ControlSocket.make(blocking: true)
        let connected = try ControlSocket.withAddress(in: scratch.path) { Glibc.connect(descriptor, $0, $1) }
        try #require(connected == 0)
        return descriptor
    }

    private func send(_ text: String, to descriptor: Int32) -> Int {
        Array(text.utf8).withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// All that comes until the other side closes.
    private func rest(of descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }

    @Test func aQuestionIsAnswered() throws {
        let asked = Mutex<[ControlRequest]>([])
        let server = try serve { request, reply in
            asked.withLock { $0.append(request) }
            reply(Self.reply)
        }
        defer { server.stop() }
        #expect(try ControlClient.ask(.waiting(limit: 7), in: scratch.path) == Self.reply)
        let path: [UInt8] = [0x61, 0xFF, 0x0A]
        _ = try ControlClient.ask(.drop(path, of: "scans"), in: scratch.path)
        #expect(asked.withLock { $0 } == [.waiting(limit: 7), .drop(path, of: "scans")])
    }

    @Test func onlyItsUserMayAsk() throws {
        let server = try serve()
        defer { server.stop() }
        var status = stat()
        let path = scratch.path(ControlSocket.name)
        #expect(path.withPlatformString { lstat($0, &status) } == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func aFolderWhosePathIsTooLongForASocketServesAsWell() throws {
        let folder = try scratch.makeFolder(String(repeating: "x", count: 120))
        let server = try serve(in: folder)
        #expect(try ControlClient.ask(.waiting(limit: 1), in: folder) == Self.reply)
        server.stop()
        #expect(try Folder.names(in: folder).isEmpty)
    }

    @Test func aSocketThatWasLeftBehindIsReplacedAndOnlyOnesOwnIsRemoved() throws {
        let old = try serve()
        let new = try serve()
        old.stop()
        #expect(try ControlClient.ask(.waiting(limit: 1), in: scratch.path) == Self.reply)
        new.stop()
        #expect(!scratch.exists(ControlSocket.name))
    }

    @Test func whereNobodyAnswersThatIsSaid() throws {
        func message() -> String? {
            do throws(ControlClient.Problem) {
                _ = try ControlClient.ask(.waiting(limit: 1), in: scratch.path)
                return nil
            } catch {
                return error.message
            }
        }
        let nobody = "the running daemon does not answer; it may be starting, stopping or an older version"
        #expect(message() == nobody)
        try scratch.write("no socket", to: ControlSocket.name)
        #expect(message() == nobody)
        let server = try serve { _, reply in reply(ControlReply(problem: "a\nb")) }
        defer { server.stop() }
        #expect(message() == #"the daemon says: a\nb"#)
    }

    @Test(arguments: ["\n", "{}\n", "{\"ask\":\"stop\"}\n", "no json\n", "[[[[[[[[\n"])
    func nonsenseIsAnsweredWithAProblem(text: String) throws {
        let server = try serve()
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        #expect(send(text, to: client) == text.utf8.count)
        #expect(rest(of: client) == "{\"problem\":\"malformed request\"}\n")
    }

    @Test func aQuestionWithoutEndIsCutOff() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        // The other side stops listening long before this is through.
        let block = String(repeating: "x", count: 4096)
        var blocks = 0
        while blocks < 10_000, send(block, to: client) > 0 { blocks += 1 }
        #expect(blocks < 10_000)
        #expect(try ControlClient.ask(.waiting(limit: 1), in: scratch.path) == Self.reply)
    }

    @Test func manyThatSayNothingTakeTheirPlacesOnlyForAWhile() async throws {
        let server = try serve()
        defer { server.stop() }
        let idle = try (0..<ControlServer.mostConnections).map { _ in try connect() }
        defer { for descriptor in idle { close(descriptor) } }
        let more = try connect()
        #expect(rest(of: more) == "", "one too many is closed at once")
        close(more)
        // Those that end early make room at once, the others after some seconds.
        close(try #require(idle.first))
        #expect(
            await eventually {
                do throws(ControlClient.Problem) {
                    return try ControlClient.ask(.waiting(limit: 1), in: scratch.path) == Self.reply
                } catch {
                    return false
                }
            })
    }

    @Test func aLongAnswerToOneThatDoesNotReadHoldsNobodyUp() throws {
        let long = ControlReply(problem: String(repeating: "x", count: 4 << 20))
        let isFirst = Mutex(true)
        let server = try serve { _, reply in
            let first = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            reply(first ? long : Self.reply)
        }
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        #expect(send("{\"ask\":\"waiting\"}\n", to: client) > 0)
        #expect(try ControlClient.ask(.waiting(limit: 1), in: scratch.path) == Self.reply)
        #expect(rest(of: client).utf8.count > 4 << 20, "it comes whole once it is read")
    }
}
