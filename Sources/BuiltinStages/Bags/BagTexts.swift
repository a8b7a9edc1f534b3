import Digests
import PipelineKit

/// The texts of a BagIt bag, as RFC 8493 has them. Pure.
enum BagTexts {
    /// The versions that are understood; they differ in what a manifest must list.
    static let versions = ["0.93", "0.94", "0.95", "0.96", "0.97", "1.0"]

    /// The version that bagit.txt declares; throws where it is no such declaration, or one that is not understood.
    static func version(ofDeclaration text: [UInt8]) throws(StageFailure) -> String {
        let lines = DigestList.lines(of: text).map { String(decoding: $0, as: UTF8.self) }
        let remedy = "Make the bag anew with a current tool."
        guard lines.count == 2, let version = value(of: "BagIt-Version", in: lines[0]),
            let encoding = value(of: "Tag-File-Character-Encoding", in: lines[1])
        else {
            throw BagReading.invalid(
                "bagit.txt must hold 'BagIt-Version' and 'Tag-File-Character-Encoding', one line each", remedy)
        }
        guard versions.contains(version) else {
            throw BagReading.invalid(
                "its version \(EscapedText.of(version)) is not among \(versions.joined(separator: ", "))", remedy)
        }
        guard ["utf-8", "us-ascii", "ascii"].contains(encoding.lowercased()) else {
            throw BagReading.invalid(
                "its texts are in \(EscapedText.of(encoding)); only UTF-8 is read here",
                "Make the bag with its texts in UTF-8.")
        }
        return version
    }

    private static func value(of key: String, in line: String) -> String? {
        guard line.hasPrefix("\(key):") else { return nil }
        let value = line.dropFirst(key.count + 1).drop { $0 == " " || $0 == "\t" }
        return value.isEmpty ? nil : String(value)
    }

    /// The value of `Payload-Oxum` in bag-info.txt; nil where it is not given.
    static func oxum(ofInfo text: [UInt8]) throws(StageFailure) -> String? {
        let values = DigestList.lines(of: text).map { String(decoding: $0, as: UTF8.self) }
            .filter { $0.lowercased().hasPrefix("payload-oxum") }
            .compactMap { line in line.firstIndex(of: ":").map { line[line.index(after: $0)...] } }
            .map { String($0.filter { $0 != " " && $0 != "\t" }) }
        guard values.count < 2 else {
            throw BagReading.invalid("bag-info.txt gives 'Payload-Oxum' twice", "Keep the right one.")
        }
        return values.first
    }
}
