import Digests
import Files
import PipelineKit

/// The texts of a BagIt bag, as RFC 8493 has them. Pure.
enum BagTexts {
    /// The versions that are understood; they differ in what a manifest must list.
    static let versions = ["0.93", "0.94", "0.95", "0.96", "0.97", "1.0"]

    /// How the other texts of a bag are written.
    typealias Encoding = DigestListReader.Encoding

    /// The version and the encoding that bagit.txt declares; throws where it is no such declaration, or one that is not
    /// understood.
    static func declared(in text: [UInt8]) throws(Failure) -> (version: String, encoding: Encoding) {
        let lines = DigestList.lines(of: text).map { String(decoding: $0, as: UTF8.self) }
        let remedy: Sentence = "Recreate the bag with a current tool."
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
        switch encoding.lowercased() {
        case "utf-8", "us-ascii", "ascii": return (version, .utf8)
        case "iso-8859-1", "latin-1", "latin1": return (version, .latin1)
        case "utf-16", "utf-16le", "utf-16be": return (version, .utf16)
        default:
            throw BagReading.invalid(
                "its tag files are in \(EscapedText.of(encoding)); only UTF-8, UTF-16 and ISO-8859-1 are supported",
                "Create the bag with UTF-8 tag files.")
        }
    }

    static func utf8(_ text: [UInt8], _ encoding: Encoding) -> [UInt8] {
        switch encoding {
        case .utf8: return text
        case .latin1: return Array(String(String.UnicodeScalarView(text.map { Unicode.Scalar($0) })).utf8)
        case .utf16: return UTF16Text.utf8(text)
        }
    }

    private static func value(of key: String, in line: String) -> String? {
        guard line.hasPrefix("\(key):") else { return nil }
        var value = line.dropFirst(key.count + 1).drop { $0 == " " || $0 == "\t" }
        while value.last == " " || value.last == "\t" { value.removeLast() }
        return value.isEmpty ? nil : String(value)
    }

    /// The value of `Payload-Oxum` in bag-info.txt; nil where it is not given.
    static func oxum(ofInfo text: [UInt8]) throws(Failure) -> String? {
        var values: [String] = []
        for (number, bytes) in DigestList.lines(of: text).enumerated() {
            let line = String(decoding: bytes, as: UTF8.self)
            // A line that begins with a blank goes on with the one before.
            guard let first = line.first, first != " ", first != "\t" else { continue }
            guard let colon = line.firstIndex(of: ":") else {
                throw BagReading.invalid(
                    "line \(number + 1) of bag-info.txt is not 'Label: value'", "Recreate the bag.")
            }
            guard line[..<colon].lowercased() == "payload-oxum" else { continue }
            values.append(String(line[colon...].dropFirst().filter { $0 != " " && $0 != "\t" }))
        }
        guard values.count < 2 else {
            throw BagReading.invalid("bag-info.txt gives 'Payload-Oxum' twice", "Remove the wrong one.")
        }
        return values.first
    }

    /// The algorithm of `manifest-ALGORITHM.txt`, which RFC 8493 (2.4) writes without punctuation: `sha3256`.
    static func algorithm(_ word: String) -> DigestAlgorithm? { DigestAlgorithm(spelled: word) }
}
