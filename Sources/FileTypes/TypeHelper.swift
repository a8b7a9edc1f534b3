import Glibc
import Helpers
import SystemPackage

/// One helper, from file to file.
struct TypeHelper {
    /// One that has worked for so long goes: whatever a file made of it does not last.
    static let mostSeconds: Int64 = 30

    private let helper: Helper
    private var hasBegun = false
    /// Milliseconds that its answers took.
    private var worked: Int64 = 0
    /// When it answered last, in milliseconds since the machine's start.
    private(set) var lastUse: Int64 = 0

    init(_ helper: Helper) { self.helper = helper }

    /// Whether it is to be asked again.
    var isFresh: Bool { worked < Self.mostSeconds * 1000 }

    /// What a file is; nil where the helper was gone before it saw the file. When this throws anything but what
    /// libmagic found, the helper is of no use any more.
    mutating func type(
        of file: Int32, seconds: Int64, unless isStopped: () -> Bool
    ) throws(TypeFailure) -> MediaType? {
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
                guard let answer = TypeAnswer(packet: packet) else { throw .confused }
                if answer == .begun {
                    hasBegun = true
                    continue
                }
                lastUse = Self.now()
                worked += lastUse - start
                return try Self.type(by: answer)
            }
        }
    }

    private static func type(by answer: TypeAnswer) throws(TypeFailure) -> MediaType {
        switch answer {
        case .type(let text):
            guard let type = MediaType(answer: text) else { throw .confused }
            return type
        case .problem(.unloaded(let words)): throw .unloaded(words)
        case .problem(.content(let words)): throw .content(words)
        case .problem(.file(let errno)): throw .unreadable(Errno(rawValue: errno))
        case .unconfined(let what): throw .unconfined(what)
        case .begun: throw .confused
        }
    }

    private func send(_ file: Int32) throws(TypeFailure) -> Bool {
        do throws(Errno) { return try helper.send([1], [file]) } catch { throw .unavailable(error) }
    }

    private func receive(within milliseconds: Int32) throws(TypeFailure) -> Helper.Received {
        do throws(Errno) {
            return try helper.receive(atMost: TypeAnswer.mostBytes, within: milliseconds)
        } catch {
            throw .unavailable(error)
        }
    }

    private func ending() -> TypeFailure {
        let ending = helper.ending()
        if ending.signal == SIGXCPU { return .overCPU }
        return .crashed(signal: ending.signal, status: ending.status, log: ending.log)
    }

    /// Milliseconds since the machine's start.
    static func now() -> Int64 { Clock.now() / 1_000_000 }
}
