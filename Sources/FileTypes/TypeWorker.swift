import CLinux
import Glibc
import Helpers
import SystemPackage

/// The process that tells what files are: libmagic's rules are loaded before it sees the first file, then it can open
/// nothing any more, and looks at one file after the other that the daemon has opened for it.
package enum TypeWorker {
    /// Where the daemon's end of the conversation is.
    private static let channel: Int32 = 3
    /// The most memory besides that which the program itself takes: libmagic reads up to 7 MiB of a file.
    private static let memory: UInt64 = 256 << 20
    /// The most seconds of computing, for all files: as long as a helper is kept, and what the last file may take.
    private static let seconds = UInt64(TypeHelper.mostSeconds + TypeHelpers.secondsPerFile)

    // @unchecked: immutable once made; each process that uses them has one thread.
    private struct Loaded: @unchecked Sendable {
        let rules: Result<Rules, Rules.Problem>
    }

    private static let loaded: Loaded = {
        do throws(Rules.Problem) { return Loaded(rules: .success(try .load())) } catch {
            return Loaded(rules: .failure(error))
        }
    }()

    /// Makes helpers as the daemon orders them, until it goes. All of them share the rules that are loaded here.
    package static func run() -> Never {
        tzset()
        _ = loaded
        _ = TypeAnswer(packet: TypeAnswer.begun.packet)
        dm_serve_helpers("dropmill-types") { TypeWorker.help() }
    }

    /// Answers until the daemon goes, or lets this one go.
    private static func help() -> Never {
        var limits = dm_limits(memory: AddressSpace.size() + memory, cpu: seconds, file_size: 1, descriptors: 8)
        guard dm_confine(-1, &limits) >= 0 else {
            say(.unconfined("the kernel refuses it: \(Errno(rawValue: errno))"))
            _exit(EX_OK)
        }
        say(.begun)
        while true {
            let file = nextFile()
            say(answer(file))
            close(file)
        }
    }

    private static func answer(_ file: Int32) -> TypeAnswer {
        do throws(Rules.Problem) { return .type(try loaded.rules.get().type(of: file)) } catch {
            return .problem(error)
        }
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

    private static func say(_ answer: TypeAnswer) {
        let packet = answer.packet
        if dm_send_packet(channel, packet, packet.count, nil, 0) != packet.count { _exit(EX_OK) }
    }
}
