import Files
import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import Dashboard

/// What another implementation of TLS, Python's, makes of a server.
struct SecureClient {
    static let isPossible = Tool.python(with: "ssl") != nil

    struct Answer {
        /// The version and the protocol that were agreed upon, or why it came to nothing.
        let agreed: String
        let answer: RawAnswer
    }

    /// Believes this certificate alone, asks for `mill.example`, sends a file behind the request where one is named,
    /// and prints what comes, as it comes.
    private static let program = """
        import socket, ssl, sys, warnings
        warnings.simplefilter("ignore")
        port, chain, most, protocols, head, body = sys.argv[1:7]
        context = ssl.create_default_context(cafile=chain)
        context.maximum_version = ssl.TLSVersion[most]
        context.minimum_version = min(context.minimum_version, context.maximum_version)
        if most == "TLSv1_1":
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.set_ciphers("ALL:@SECLEVEL=0")
        context.set_alpn_protocols(protocols.split(","))
        write = sys.stdout.buffer.write
        try:
            with socket.create_connection(("127.0.0.1", int(port)), timeout=60) as plain:
                with context.wrap_socket(plain, server_hostname="mill.example") as secure:
                    write(f"{secure.version()} {secure.selected_alpn_protocol()}\\n".encode())
                    secure.sendall(head.encode())
                    if body:
                        with open(body, "rb") as file:
                            secure.sendall(file.read())
                    while piece := secure.recv(65536):
                        write(piece)
                        sys.stdout.flush()
        except ssl.SSLError as error:
            write(f"{error.reason}\\n".encode())
        """

    let server: TestServer
    /// Whom it believes.
    var chain: FilePath

    private func arguments(_ head: String, _ body: FilePath?, _ most: String, _ protocols: String) -> [String] {
        let port = server.authority.split(separator: ":").last.map(String.init) ?? ""
        return ["-c", Self.program, port, chain.string, most, protocols, head, body?.string ?? ""]
    }

    private func head(_ line: String, _ fields: [String], _ host: String) -> String {
        ([line + " HTTP/1.1", "Host: \(host)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// One request on a connection of its own.
    func send(
        _ line: String, _ fields: [String] = [], host: String = "mill.example", body: FilePath? = nil,
        most: String = "TLSv1_3", protocols: String = "h2,http/1.1"
    ) throws -> Answer {
        let python = try #require(Tool.python(with: "ssl"))
        let text = head(line, fields + ["Connection: close"], host)
        let output = try python.run(arguments(text, body, most, protocols)).bytes
        let (first, rest) = (output.prefix { $0 != UInt8(ascii: "\n") }, output.drop { $0 != UInt8(ascii: "\n") })
        return Answer(agreed: String(decoding: first, as: UTF8.self), answer: RawAnswer(Array(rest.dropFirst())))
    }

    /// A client that stays, in a process of its own.
    func stay(_ line: String, _ fields: [String]) throws -> DropmillProcess {
        let python = try #require(Tool.python(with: "ssl"))
        return try DropmillProcess(
            arguments(head(line, fields, "mill.example"), nil, "TLSv1_3", "http/1.1"), in: server.scratch.path(""),
            log: server.scratch.path("client"), of: python.path)
    }
}
