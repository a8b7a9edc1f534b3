import Dropmill
import DropmillStages
import Foundation

/// A server-like program: a mill runs beside whatever else it does, says what happens, and stops with it.
@main
struct EmbeddedMill {
    static func main() async throws {
        // Archives are read in processes of their own, which are this program too.
        helperMain(.builtin)

        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "mill-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        let pipeline = PipelineDescription(
            name: "letters", base: FilePath(folder.path()),
            text: """
                inbox: inbox
                processed: processed
                failed: failed
                ready: { quiet: 100ms }
                stages:
                  - unpack
                  - checksum: { algorithm: sha256, manifest: SHA256SUMS }
                  - move: { to: "output/{stem}" }
                """)
        let mill = Mill(
            pipelines: [pipeline], registry: .builtin, state: FilePath(folder.appending(path: "state").path()))

        // What happens from here on is told, however late the first of it is read.
        let events = mill.events
        try await mill.start()
        async let isTold: Void = tell(events)
        let drops = [
            ("note.txt", Data("Call Carol.\n".utf8)), ("letters.zip", letters), ("broken.zip", letters.dropLast(60)),
        ]
        for (name, content) in drops {
            let ends = mill.events
            try content.write(to: folder.appending(path: "inbox/\(name)"))
            for await event in ends where [.processed, .failed].contains(event.kind) { break }
        }
        let standing = await mill.status()
        await mill.stop(grace: .seconds(5))
        await isTold
        for pipeline in standing {
            print("\(pipeline.pipeline): \(pipeline.processed) processed, \(pipeline.failed) failed")
        }
        for file in try files.subpathsOfDirectory(atPath: folder.appending(path: "output").path()).sorted() {
            print(file)
        }
    }

    /// Prints what becomes of drops, until the mill has stopped.
    private static func tell(_ events: some AsyncSequence<MillEvent, Never>) async {
        for await event in events {
            switch event.kind {
            case .claimed, .processed: print("\(event.drop?.text ?? "") \(event.kind)")
            case .failed: print("\(event.drop?.text ?? "") failed: \(event.failure?.code ?? "")")
            case .started, .stopping, .stopped, .warning: print("the mill: \(event.kind)")
            default: break
            }
        }
    }

    /// A zip file of two letters.
    private static let letters =
        Data(
            base64Encoded: """
                UEsDBBQAAAAAAAAAIVxRnQb5CwAAAAsAAAARAAAAbGV0dGVycy9maXJzdC50eHREZWFyIEFubmEsClBLAwQUAAAA
                AAAAACFc1B700QoAAAAKAAAAEgAAAGxldHRlcnMvc2Vjb25kLnR4dERlYXIgQm9iLApQSwECFAMUAAAAAAAAACFc
                UZ0G+QsAAAALAAAAEQAAAAAAAAAAAAAApIEAAAAAbGV0dGVycy9maXJzdC50eHRQSwECFAMUAAAAAAAAACFc1B70
                0QoAAAAKAAAAEgAAAAAAAAAAAAAApIE6AAAAbGV0dGVycy9zZWNvbmQudHh0UEsFBgAAAAACAAIAfwAAAHQAAAAA
                AA==
                """, options: .ignoreUnknownCharacters) ?? Data()
}
