import Helpers

enum HelperMessage: Equatable {
    /// It has given up its rights and begins; with the version of Landlock that holds it, or less than 1 for none.
    case begun(landlock: Int64)
    case progress(bytes: Int64, entries: Int64)
    case done(Unpacking.Report)
    case failed(ArchiveError)
    /// The kernel cannot confine it as was required: the call that was refused, and the error's number.
    case unconfined(call: String, Int32)
    /// libarchive cannot be loaded; why.
    case unloaded(String)

    static let mostBytes = 16 << 10

    var packet: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .begun(let landlock):
            writer.put("begun")
            writer.put(landlock)
        case .progress(let bytes, let entries):
            writer.put("progress")
            writer.put(bytes)
            writer.put(entries)
        case .done(let report):
            writer.put("done")
            writer.put(report.isLoneFile)
            writer.put(report.integrity == .verified)
            for number in [report.entries, report.bytes, report.skippedLinks, report.nested] { writer.put(number) }
        case .failed(let error):
            writer.put("failed")
            writer.put(error)
        case .unconfined(let call, let errno):
            writer.put("unconfined")
            writer.put(call)
            writer.put(Int64(errno))
        case .unloaded(let words):
            writer.put("unloaded")
            writer.put(String(words.prefix(1000)))
        }
        return writer.bytes
    }

    init?(packet: some Sequence<UInt8>) {
        var reader = WireReader(packet)
        switch reader.text() {
        case "begun":
            guard let landlock = reader.number() else { return nil }
            self = .begun(landlock: landlock)
        case "progress":
            guard let bytes = reader.number(), let entries = reader.number(), bytes >= 0, entries >= 0 else {
                return nil
            }
            self = .progress(bytes: bytes, entries: entries)
        case "done":
            guard let isLone = reader.flag(), let isVerified = reader.flag(), let entries = reader.number(),
                let bytes = reader.number(), let skipped = reader.number(), let nested = reader.number()
            else { return nil }
            self = .done(
                Unpacking.Report(
                    isLoneFile: isLone, integrity: isVerified ? .verified : .unverifiable, entries: entries,
                    bytes: bytes, skippedLinks: skipped, nested: nested))
        case "failed":
            guard let error = reader.error() else { return nil }
            self = .failed(error)
        case "unconfined":
            guard let call = reader.text(), let errno = reader.number() else { return nil }
            self = .unconfined(call: call, Int32(clamping: errno))
        case "unloaded":
            guard let words = reader.text() else { return nil }
            self = .unloaded(words)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}
