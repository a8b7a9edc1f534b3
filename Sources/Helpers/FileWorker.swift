import CLinux
import Glibc
import SystemPackage

/// The side of a helper that is asked about files (`FileHelpers`): it gives up its rights, then looks at one file after
/// the other that the daemon has opened for it, and can open nothing itself.
package enum FileWorker {
    /// One that has worked for so long goes: whatever a file made of it does not last.
    package static let mostSeconds: Int64 = 30
    /// The most bytes of an answer.
    package static let mostBytes = 4 << 10
    /// Where the daemon's end of the conversation is.
    private static let channel: Int32 = 3

    /// What is said besides answers.
    enum Word {
        case begun
        /// The kernel cannot confine it; with what is missing.
        case unconfined(String)

        var packet: [UInt8] {
            var writer = WireWriter()
            switch self {
            case .begun: writer.put("begun")
            case .unconfined(let what):
                writer.put("unconfined")
                writer.put(what)
            }
            return writer.bytes
        }

        init?(packet: [UInt8]) {
            var reader = WireReader(packet)
            switch (reader.text(), reader.isAtEnd) {
            case ("begun", true): self = .begun
            case ("unconfined", false):
                guard let what = reader.text(), reader.isAtEnd else { return nil }
                self = .unconfined(what)
            default: return nil
            }
        }
    }

    /// Answers until the daemon goes, or lets this one go. `memory`: the most bytes besides those that the program
    /// itself takes; `seconds`: what a file may take of the processor. To be called by what `dm_serve_helpers` makes.
    package static func answer(memory: UInt64, seconds: Int64, _ answer: (Int32) -> [UInt8]) -> Never {
        // For all files: as long as one is kept, and what the last file may take.
        let cpu = UInt64(mostSeconds + seconds)
        var limits = dm_limits(memory: AddressSpace.size() + memory, cpu: cpu, file_size: 1, descriptors: 8)
        var refused: UnsafePointer<CChar>?
        guard dm_confine(-1, &limits, &refused) >= 0 else {
            let call = refused.map { String(cString: $0) } ?? "the kernel"
            say(Word.unconfined("\(call) is refused: \(Errno(rawValue: errno))").packet)
            _exit(EX_OK)
        }
        say(Word.begun.packet)
        while true {
            let file = nextFile()
            say(answer(file))
            close(file)
        }
    }

    /// Looks up what is needed before there are copies.
    package static func prepare() {
        tzset()
        _ = Word(packet: Word.begun.packet)
    }

    /// The file to look at; without a daemon there is nothing left to do.
    private static func nextFile() -> Int32 {
        var byte: UInt8 = 0
        var descriptors: (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
        var count: Int32 = 0
        let received = withUnsafeMutableBytes(of: &descriptors) { raw in
            dm_receive_packet(channel, &byte, 1, raw.baseAddress?.assumingMemoryBound(to: Int32.self), &count)
        }
        guard received > 0 else { _exit(EX_OK) }
        guard count == 1 else { _exit(EX_PROTOCOL) }
        return descriptors.0
    }

    private static func say(_ packet: [UInt8]) {
        if dm_send_packet(channel, packet, packet.count, nil, 0) != packet.count { _exit(EX_OK) }
    }
}
