import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import TestTools

@testable import Dashboard

/// The real server, on a port of its own or on a Unix socket.
final class TestServer {
    let scratch: ScratchFolder
    let address: ListenAddress
    private var process: DropmillProcess

    /// `daemon`: the state folder of the daemon that it asks; `arguments`: what it is started with besides.
    init(at address: String = "127.0.0.1:0", daemon: FilePath? = nil, _ arguments: [String] = []) throws {
        scratch = try ScratchFolder()
        let state = daemon ?? scratch.path("state")
        process = try DropmillProcess(
            [
                "serve", "--listen", address, "--state-dir", state.string, "--token-dir", scratch.path("tokens").string,
            ] + arguments, in: scratch.path(""), log: scratch.path("log"))
        var text = ""
        while !text.contains("serving at ") {
            guard try !process.hasEnded() else { throw ListenError(process.transcript) }
            text = try process.text()
        }
        let words = text.split(separator: "serving at ").last?.prefix { !$0.isNewline } ?? ""
        let place = words.firstMatch(of: /^https?:\/\/([^\/]+)/)?.output.1 ?? words
        // By the address that it was told to listen at, where it names itself otherwise.
        let port = place.split(separator: ":").last ?? ""
        let told = address.replacing(/:0$/, with: ":\(port)").replacing("0.0.0.0", with: "127.0.0.1")
        guard let found = ListenAddress(String(place)) ?? ListenAddress(told) else {
            throw ListenError("it listens at '\(words)'")
        }
        self.address = found
    }

    deinit { do { try process.end() } catch { /* It has ended. */  } }

    func send(signal: Int32) throws { try process.send(signal) }

    var transcript: String { process.transcript }

    /// As systemd ends it; returns its exit status.
    func stop() throws -> Int32 {
        try process.send(SIGTERM)
        return try process.wait()
    }

    var authority: String { address.authority ?? "localhost" }

    /// A token with a role, given out now.
    func token(_ role: Role, pipelines: [String]? = nil) throws -> String {
        let (token, secret) = try Token.make("\(role.rawValue)-er", role, pipelines: pipelines, at: .now())
        try TokenFile(in: scratch.path("tokens")).change { tokens throws(TokenError) in tokens.append(token) }
        return secret
    }

    func connect() throws -> RawConnection { try RawConnection(to: address) }

    /// Sends one request and gives what comes back until the connection is closed.
    func send(
        _ line: String, _ fields: [String] = [], host: String? = nil, body: String = "", token: String? = nil
    ) throws -> RawAnswer {
        var head = ["\(line) HTTP/1.1", "Host: \(host ?? authority)", "Connection: close"] + fields
        if let token { head.append("Authorization: Bearer \(token)") }
        if !body.isEmpty { head.append("Content-Length: \(body.utf8.count)") }
        let connection = try connect()
        connection.send(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
        return RawAnswer(connection.receiveAll())
    }
}
