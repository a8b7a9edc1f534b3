package import FoundationEssentials
package import PipelineKit

/// Begins to take a file into an inbox. With the answer comes a descriptor, which who asked writes it to; the rest is
/// said on the same connection, by `receiving` and `received`. It is gone when that closes before. Of a folder no
/// descriptor comes: its files are begun by `receivePart`.
package enum ReceiveVerb: ControlVerb {
    package static let name = "receive"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        /// Whose inbox it goes to.
        package var pipeline: String
        /// Its path from the inbox on, in bytes.
        package var path: Data
        /// How many bytes it has.
        package var size: Int64
        /// Of how many files it is, where it is a folder.
        package var files: Int?

        package init(pipeline: String, path: Data, size: Int64, files: Int? = nil) {
            (self.pipeline, self.path, self.size, self.files) = (pipeline, path, size, files)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// Why it is not taken; nil where it is.
        package var refusal: Refusal?

        package init(refusal: Refusal? = nil) { self.refusal = refusal }
    }

    package struct Refusal: Codable, Equatable, Sendable, Error {
        /// A word that stays the same.
        package var code: String
        /// A sentence without its full stop, and what to do about it.
        package var fact: String
        package var remedy: String

        package init(_ refusal: UploadRefusal) {
            (code, fact, remedy) = (refusal.code.rawValue, refusal.fact, refusal.remedy)
        }
    }

    package static func result(_ answer: Answer) -> String {
        answer.refusal.map { "refused: \($0.fact)" } ?? "received"
    }
}
