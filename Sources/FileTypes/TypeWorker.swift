import CLinux
import Helpers

/// The process that tells what files are: libmagic's rules are loaded before it sees the first file, then it can open
/// nothing any more, and looks at one file after the other that the daemon has opened for it.
package enum TypeWorker {
    /// The most memory besides that which the program itself takes: libmagic reads up to 7 MiB of a file.
    private static let memory: UInt64 = 256 << 20

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
        FileWorker.prepare()
        _ = loaded
        _ = TypeAnswer(packet: TypeAnswer.type("").packet)
        dm_serve_helpers("dropmill-types") { TypeWorker.help() }
    }

    private static func help() -> Never {
        FileWorker.answer(memory: memory, seconds: TypeHelpers.secondsPerFile) { answer($0).packet }
    }

    private static func answer(_ file: Int32) -> TypeAnswer {
        do throws(Rules.Problem) { return .type(try loaded.rules.get().type(of: file)) } catch {
            return .problem(error)
        }
    }
}
