import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// Up to which size a clamd looks at files. What is larger than its MaxFileSize or MaxScanSize it calls clean without a
/// look, unless it is set to say so (AlertExceedsMax), and nothing tells how it is set. So it is given a file of that
/// size in which it finds something, if it looks.
final class ClamdReach: Sendable {
    enum Finding: Equatable {
        case found
        case missed
        /// It was not looked at, and that was said.
        case told
        /// Anything else: clamd's own words.
        case trouble(String)
    }

    private struct Known {
        /// Files of this size are looked at,
        var within: Int64 = 0
        /// and those of this one are not.
        var beyond = Int64.max
        var since = ContinuousClock.now
    }

    /// clamd may be reconfigured meanwhile.
    private static let keeps = Duration.seconds(600)
    /// Smaller files are taken for that large: most need no trial of their own.
    private static let least: Int64 = 1 << 20

    private let known = Mutex(Known())
    /// One tries at a time, and the others learn from it.
    private let turn = DispatchSemaphore(value: 1)

    /// Whether clamd looks at files of this size, now that it has called one clean; or its words where that cannot be
    /// found out. `trial` gives it a file of a size.
    func covers(
        _ size: Int64, by trial: (Int64) throws(IOError) -> Finding
    ) throws(IOError) -> Swift.Result<Bool, Trouble> {
        if let answer = answer(size) { return .success(answer) }
        turn.wait()
        defer { turn.signal() }
        if let answer = answer(size) { return .success(answer) }
        // First a round size, so that files that are a bit larger each time do not take a trial each.
        let (round, beyond) = (Self.round(size), known.withLock { $0.beyond })
        for tried in (round > size ? [round, size] : [size]) where tried < beyond {
            switch try trial(tried) {
            case .found:
                known.withLock { $0.within = max($0.within, tried) }
                return .success(true)
            case .missed, .told: known.withLock { $0.beyond = min($0.beyond, tried) }
            case .trouble(let words): return .failure(Trouble(words: words))
            }
        }
        // Where it does not even find it in a small file, it has other signatures than everybody.
        guard try trial(0) == .found else {
            known.withLock { $0 = Known() }
            return .failure(Trouble(words: "it does not detect the EICAR test file"))
        }
        return .success(false)
    }

    private static func round(_ size: Int64) -> Int64 {
        guard size > least, size < 1 << 40 else { return max(size, least) }
        return 1 << (Int64.bitWidth - (size - 1).leadingZeroBitCount)
    }

    /// Why it cannot be found out.
    struct Trouble: Error {
        let words: String
    }

    private func answer(_ size: Int64) -> Bool? {
        known.withLock { known in
            if .now - known.since > Self.keeps { known = Known() }
            return size <= known.within ? true : size >= known.beyond ? false : nil
        }
    }

    /// The test file in an archive, in two parts so that no scanner takes this program for it.
    private static let sample = SmallTar.bytes(
        of: Array((#"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-"# + "ANTIVIRUS-TEST-FILE!$H+H*").utf8),
        as: "eicar.com")

    /// Opens such a file, of this size at least: an archive and then nothing, which takes no room on the disk.
    static func makeSample(of size: Int64, in folder: FilePath) throws(IOError) -> OpenFile {
        let path = folder.appending("sample")
        let file = try OpenFile.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        _ = path.withPlatformString { unlink($0) }
        try file.write(sample)
        guard ftruncate(file.descriptor, max(sample.count, Int(clamping: size))) == 0 else {
            throw IOError("write", path, .last)
        }
        lseek(file.descriptor, 0, SEEK_SET)
        return file
    }
}

extension ClamdReach.Finding {
    init(_ verdict: ClamdClient.Verdict) {
        switch verdict {
        case .clean: self = .missed
        case .infected: self = .found
        case .tooLarge: self = .told
        case .trouble(let words): self = .trouble(words)
        }
    }
}
