import Digests
import Files
import PipelineKit
import SystemPackage

/// What a bag's other texts say of its files.
extension BagReading {
    /// `fetch.txt`: what was elsewhere when the bag was made has to be here by now. Whether something is not.
    func checkFetched(_ top: [String], _ verification: inout Verification) throws(Failure) -> Bool {
        guard top.contains("fetch.txt") else { return false }
        var isHoley = false
        try ManifestFile.forEachLine(
            of: base.appending("fetch.txt"),
            in: try Failure.onIOError { () throws(IOError) in try context.open(root) },
            algorithm: nil, form: .bagItFetch, encoding: encoding, context,
            failing: { malformed($0, "fetch.txt", "URL, length and path") }
        ) { (line) throws(Failure) in
            let listed = line.path ?? []
            guard let inner = Verification.path(listed, in: FilePath()).map({ FilePath(bytes: $0) }) else {
                throw Self.invalid(
                    "fetch.txt names '\(EscapedText.of(listed))', which leads out of the bag", "Recreate the bag.")
            }
            let path = base.pushing(known(inner, listed, in: verification.files)).bytes
            verification.expect(nil, of: path)
            if verification.files[path] == nil { isHoley = true }
        }
        return isHoley
    }

    /// `Payload-Oxum` of bag-info.txt: bytes and number of files.
    func checkInfo(_ top: [String], _ data: [TreeFile]) throws(Failure) {
        guard top.contains("bag-info.txt") else { return }
        let text = BagTexts.utf8(try Self.text(of: base.appending("bag-info.txt"), root, context), encoding)
        guard let oxum = try BagTexts.oxum(ofInfo: text) else { return }
        var bytes: Int64 = 0
        for file in data {
            let size = try Failure.onIOError { () throws(IOError) in
                try FileSize.of(file, below: try context.open(root))
            }
            bytes = bytes.addingSaturated(size)
        }
        guard oxum == "\(bytes).\(data.count)" else {
            throw Self.invalid(
                "bag-info.txt declares \(oxum) (bytes.files), but the bag holds \(bytes).\(data.count)",
                "Send the complete bag.")
        }
    }
}
