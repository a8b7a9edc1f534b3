@preconcurrency import Dispatch
import Files
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand
@testable import PipelineEngine

/// The socket on which a daemon answers: what a client may do to it, and what it must not be able to.
@Suite(.timeLimit(.minutes(5))) struct ControlTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let answer = WaitingVerb.Answer(
        inboxes: ["scans": WaitingVerb.Inbox(InboxSnapshot(watching: .polling(every: .seconds(2)), waiting: 3))])

    private func serve(in folder: FilePath? = nil, _ handlers: [ControlHandler]? = nil) throws -> ControlServer {
        let waiting = ControlHandler(WaitingVerb.self) { @Sendable _, _, reply in reply(.success(Self.answer)) }
        return try ControlServer.open(in: folder ?? scratch.path, ControlTable(handlers ?? [waiting]))
    }

    private func ask(in folder: FilePath? = nil) throws(ControlClient.Problem) -> WaitingVerb.Answer {
        try ControlClient.ask(WaitingVerb.self, .init(limit: 1), in: folder ?? scratch.path)
    }

    /// A line as it is sent.
    private static func line(_ verb: String = "waiting", id: Int = 1, _ arguments: String = #"{"limit":1}"#) -> String {
        #"{"version":2,"id":\#(id),"verb":"\#(verb)","arguments":\#(arguments)}"# + "\n"
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

    /// One line that comes.
    private func line(of descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func aQuestionIsAnswered() throws {
        let asked = Mutex<[Int]>([])
        let drops = Mutex<[DropVerb.Arguments]>([])
        let server = try serve([
            ControlHandler(WaitingVerb.self) { @Sendable arguments, _, reply in
                asked.withLock { $0.append(arguments.limit) }
                reply(.success(Self.answer))
            },
            ControlHandler(DropVerb.self) { @Sendable arguments, peer, reply in
                #expect(peer.user == geteuid() && peer.groups.contains(getegid()))
                drops.withLock { $0.append(arguments) }
                reply(.success(.init(drop: nil)))
            },
        ])
        defer { server.stop() }
        #expect(try ControlClient.ask(WaitingVerb.self, .init(limit: 7), in: scratch.path) == Self.answer)
        let question = DropVerb.Arguments(pipeline: "scans", path: Data([0x61, 0xFF, 0x0A]))
        #expect(try ControlClient.ask(DropVerb.self, question, in: scratch.path) == .init(drop: nil))
        #expect(asked.withLock { $0 } == [7])
        #expect(drops.withLock { $0 } == [question])
    }

    @Test func severalQuestionsOfOneClientAreAnsweredInOrderWithTheirIds() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        let both = Self.line(id: 41) + Self.line(id: 42)
        #expect(send(both, to: client) == both.utf8.count)
        #expect(line(of: client).contains(#""id":41"#))
        #expect(line(of: client).contains(#""id":42"#))
        #expect(send(Self.line("nonsense", id: 43), to: client) > 0)
        let unknown = line(of: client)
        #expect(unknown.contains(#""id":43"#) && unknown.contains("it does not know 'nonsense'"))
        #expect(send(Self.line("waiting", id: 44, #"{"limit":"many"}"#), to: client) > 0)
        #expect(
            line(of: client).contains(
                "malformed request: these are not the arguments of 'waiting': 'arguments.limit' must be of another type"
            ))
        #expect(send(Self.line(id: 45), to: client) > 0)
        #expect(line(of: client).contains(#""id":45"#), "it is still served")
    }

    @Test func thoseWhoGaveUpMakeRoom() async throws {
        let asked = Mutex(0)
        let server = try serve([
            // It is never answered, as on a mount where nothing answers.
            ControlHandler(WaitingVerb.self) { @Sendable _, _, _ in asked.withLock { $0 += 1 } },
            ControlHandler(DropVerb.self) { @Sendable _, _, reply in reply(.success(.init(drop: nil))) },
        ])
        defer { server.stop() }
        for number in 1...3 * ControlServer.mostConnections {
            let client = try connect()
            #expect(send(Self.line(), to: client) > 0)
            #expect(await eventually { asked.withLock { $0 } == number })
            close(client)
        }
        let question = DropVerb.Arguments(pipeline: "a", path: Data())
        #expect(try ControlClient.ask(DropVerb.self, question, in: scratch.path) == .init(drop: nil))
    }

    @Test func oneThatClosesOnlyItsOwnEndIsAnswered() throws {
        let server = try serve()
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        #expect(send(Self.line(), to: client) > 0)
        shutdown(client, Int32(SHUT_WR))
        #expect(rest(of: client).contains(#""answer":"#))
    }

    @Test func anotherVersionIsToldWhatItNeeds() throws {
        let server = try serve()
        defer { server.stop() }
        for (text, version) in [(#"{"ask":"waiting","limit":1}"#, 1), (#"{"version":3,"id":1,"verb":"waiting"}"#, 3)] {
            let client = try connect()
            defer { close(client) }
            #expect(send(text + "\n", to: client) > 0)
            let said = rest(of: client)
            #expect(said.contains("it speaks version 2 of the control protocol, and this program version \(version)"))
            #expect(said.contains("use the dropmill that the daemon was started from, or restart the daemon"))
        }
    }

    @Test func aDaemonOfTheFirstVersionIsRecognised() throws {
        // It answered so to what it did not know.
        let listener = ControlSocket.make(blocking: true)
        defer { close(listener) }
        #expect(try ControlSocket.withAddress(in: scratch.path) { Glibc.bind(listener, $0, $1) } == 0)
        #expect(listen(listener, 1) == 0)
        DispatchQueue(label: "old").async { @Sendable in
            let client = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 4096)
            _ = recv(client, &request, request.count, 0)
            _ = Array("{\"problem\":\"malformed request\"}\n".utf8).withUnsafeBytes {
                Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            close(client)
        }
        let problem = #expect(throws: ControlClient.Problem.self) { try ask() }
        #expect(problem?.message.hasPrefix("the daemon speaks version 1 of the control protocol") ?? false)
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
        #expect(try ask(in: folder) == Self.answer)
        server.stop()
        #expect(try Folder.names(in: folder).isEmpty)
    }

    @Test func aSocketThatWasLeftBehindIsReplacedAndOnlyOnesOwnIsRemoved() throws {
        let old = try serve()
        let new = try serve()
        old.stop()
        #expect(try ask() == Self.answer)
        new.stop()
        #expect(!scratch.exists(ControlSocket.name))
    }

    @Test func whereNobodyAnswersThatIsSaid() throws {
        func message() -> String? {
            do throws(ControlClient.Problem) {
                _ = try ask()
                return nil
            } catch {
                return error.message
            }
        }
        let nobody = "the running daemon does not answer; it may be starting, stopping or an older version"
        #expect(message() == nobody)
        try scratch.write("no socket", to: ControlSocket.name)
        #expect(message() == nobody)
        let server = try serve([
            ControlHandler(WaitingVerb.self) { @Sendable _, _, reply in reply(.failure(ControlProblem("a\nb"))) }
        ])
        defer { server.stop() }
        #expect(message() == #"the daemon says: a\nb"#)
    }

    @Test(arguments: ["\n", "{}\n", "no json\n", "[[[[[[[[\n"])
    func nonsenseIsAnsweredWithAProblem(text: String) throws {
        let server = try serve()
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        #expect(send(text, to: client) == text.utf8.count)
        #expect(rest(of: client) == "{\"problem\":\"malformed request\",\"version\":2}\n")
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
        #expect(rest(of: client).contains("a request has 256 KiB at most"))
        #expect(try ask() == Self.answer)
    }

    @Test func manyThatSayNothingTakeTheirPlacesOnlyForAWhile() async throws {
        let server = try serve()
        defer { server.stop() }
        let idle = try (0..<ControlServer.mostConnections).map { _ in try connect() }
        defer { for descriptor in idle { close(descriptor) } }
        let more = try connect()
        let refusal = #"{"again":true,"problem":"too many connections at once; try again","version":2}"#
        #expect(rest(of: more) == refusal + "\n", "one too many is told so at once")
        close(more)
        // Those that end early make room at once, the others after some seconds.
        close(try #require(idle.first))
        #expect(
            await eventually {
                do throws(ControlClient.Problem) {
                    return try ask() == Self.answer
                } catch {
                    return false
                }
            })
    }

    @Test func oneThatIsSentAwayComesAgain() async throws {
        let listener = ControlSocket.make(blocking: true)
        defer { close(listener) }
        #expect(try ControlSocket.withAddress(in: scratch.path) { Glibc.bind(listener, $0, $1) } == 0)
        #expect(listen(listener, 4) == 0)
        DispatchQueue(label: "crowded").async { @Sendable in
            func send(_ line: [UInt8], to client: Int32) {
                _ = Glibc.send(client, line, line.count, Int32(MSG_NOSIGNAL))
                close(client)
            }
            // Closed before and after it has written.
            for reads in [false, true] {
                let client = accept(listener, nil, nil)
                var look = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
                if reads { poll(&look, 1, -1) }
                send(ControlLine.bytes(of: ControlReply<Nothing>.crowded), to: client)
            }
            let client = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 4096)
            _ = recv(client, &request, request.count, 0)
            send(ControlLine.bytes(of: ControlReply(1, Self.answer)), to: client)
        }
        #expect(try ask() == Self.answer)
    }

    @Test func aLongAnswerToOneThatDoesNotReadHoldsNobodyUp() throws {
        let long = String(repeating: "x", count: 4 << 20)
        let isFirst = Mutex(true)
        let server = try serve([
            ControlHandler(WaitingVerb.self) { @Sendable _, _, reply in
                let first = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                reply(first ? .failure(ControlProblem(long)) : .success(Self.answer))
            }
        ])
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        #expect(send(Self.line(), to: client) > 0)
        #expect(try ask() == Self.answer)
        #expect(line(of: client).utf8.count > 4 << 20, "it comes whole once it is read")
    }

    /// Nothing is read while an answer is due, so that what it asks for waits in the socket and takes no memory.
    @Test func oneThatAsksOnAndOnAndNeverReadsIsCutOff() async throws {
        let long = String(repeating: "x", count: 64 << 10)
        let asked = Mutex(0)
        let server = try serve([
            ControlHandler(WaitingVerb.self) { @Sendable _, _, reply in reply(.success(Self.answer)) },
            ControlHandler(DropVerb.self) { @Sendable _, _, reply in
                asked.withLock { $0 += 1 }
                reply(.failure(ControlProblem(long)))
            },
        ])
        defer { server.stop() }
        let client = try connect()
        defer { close(client) }
        #expect(fcntl(client, F_SETFL, O_NONBLOCK) == 0)
        let question = Self.line("drop", #"{"path":"","pipeline":"a"}"#)
        var sent = 0
        func isCutOff() -> Bool {
            while true {
                let count = send(question, to: client)
                guard count > 0 else { return errno == EPIPE || errno == ECONNRESET }
                sent += 1
            }
        }
        #expect(!isCutOff())
        #expect(try ask() == Self.answer)
        #expect(await eventually { isCutOff() })
        #expect(sent > 100)
        #expect(1...16 ~= asked.withLock { $0 }, "as many as have room in the socket")
        #expect(try ask() == Self.answer)
    }
}
