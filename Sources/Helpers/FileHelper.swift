import Glibc
import SystemPackage

/// One helper that is asked about files, from file to file.
struct FileHelper {
    private let helper: Helper
    private var hasBegun = false
    /// Milliseconds that its answers took.
    private var worked: Int64 = 0
    /// When it answered last, in milliseconds since the machine's start.
    private(set) var lastUse: Int64 = 0

    init(_ helper: Helper) { self.helper = helper }

    var isFresh: Bool { worked < FileWorker.mostSeconds * 1000 }

    /// What it says of a file; nil where it was gone before it saw the file. When this throws, the helper is of no use
    /// any more.
    mutating func answer(
        about file: Int32, seconds: Int64, unless isStopped: () -> Bool
    ) throws(FileHelpers.Failure) -> [UInt8]? {
        let start = Self.now()
        guard try send(file) else { return nil }
        while true {
            if isStopped() { throw .cancelled }
            let rest = start + seconds * 1000 - Self.now()
            guard rest > 0 else { throw .overTime(seconds: seconds) }
            switch try receive(within: Int32(min(rest, 50))) {
            case .nothing: continue
            case .nonsense: throw .confused
            case .end:
                if !hasBegun { return nil }
                throw ending()
            case .packet(let packet):
                switch FileWorker.Word(packet: packet) {
                case .begun: hasBegun = true
                case .unconfined(let what): throw .unconfined(what)
                case nil:
                    lastUse = Self.now()
                    worked += lastUse - start
                    return packet
                }
            }
        }
    }

    private func send(_ file: Int32) throws(FileHelpers.Failure) -> Bool {
        do throws(Errno) { return try helper.send([1], [file]) } catch { throw .unavailable(error) }
    }

    private func receive(within milliseconds: Int32) throws(FileHelpers.Failure) -> Helper.Received {
        do throws(Errno) {
            return try helper.receive(atMost: FileWorker.mostBytes, within: milliseconds)
        } catch {
            throw .unavailable(error)
        }
    }

    private func ending() -> FileHelpers.Failure {
        let ending = helper.ending()
        if ending.signal == SIGXCPU { return .overCPU }
        return .crashed(signal: ending.signal, status: ending.status, log: ending.log)
    }

    /// Milliseconds since the machine's start.
    static func now() -> Int64 { Clock.now() / 1_000_000 }
}
