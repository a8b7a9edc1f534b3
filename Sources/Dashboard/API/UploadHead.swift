import FoundationEssentials
import HTTPTypes

/// What the head of an upload says of its body.
struct UploadHead: Equatable {
    let size: Int64
    /// What it must have (RFC 9530); nil where that is not said.
    let sha256: [UInt8]?

    init(_ headers: HTTPFields) throws(Problem) {
        guard let text = headers[.contentLength] else {
            throw Problem(
                .lengthRequired, "upload.length", "its size is not said", subject: "Content-Length",
                remedy: "Send it with a 'Content-Length', not in chunks.")
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let size = Int64(text)
        else {
            throw Problem(
                .badRequest, "upload.length", "its size is no number of bytes", subject: "Content-Length",
                remedy: "Send a whole number.")
        }
        self.size = size
        guard headers[.contentRange] == nil else {
            throw Problem(
                .badRequest, "upload.range", "a part of a file cannot be sent", subject: "Content-Range",
                remedy: "Send the file as a whole.")
        }
        if let encoding = headers[.contentEncoding], encoding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType, "upload.encoding", "its content is encoded", subject: "Content-Encoding",
                remedy: "Send the file as it is.")
        }
        sha256 = try headers[Self.field].flatMap { text throws(Problem) in try Self.digest(text) }
    }

    private static let field = HTTPField.Name("Repr-Digest") ?? .init("digest") ?? .contentType

    /// Of `sha-256=:BASE64:`, perhaps among others (RFC 8941); nil where it has none of that name.
    private static func digest(_ text: String) throws(Problem) -> [UInt8]? {
        for member in text.split(separator: ",") {
            let halves = member.split(separator: "=", maxSplits: 1)
            guard halves.count == 2 else { throw malformed }
            guard halves[0].filter({ !$0.isWhitespace }).lowercased() == "sha-256" else { continue }
            let value = halves[1].split(separator: ";")[0].filter { !$0.isWhitespace }
            guard value.count > 2, value.first == ":", value.last == ":",
                let bytes = Data(base64Encoded: String(value.dropFirst().dropLast())), bytes.count == 32
            else { throw malformed }
            return Array(bytes)
        }
        return nil
    }

    private static var malformed: Problem {
        Problem(
            .badRequest, "upload.digest", "its digest is not written as RFC 9530 has it", subject: "Repr-Digest",
            remedy: "Write 'sha-256=:', its 32 bytes in Base64, and ':'; or leave it out.")
    }
}
