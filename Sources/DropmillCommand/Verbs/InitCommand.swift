import ArgumentParser
import Files
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage

/// `dropmill init`: a starter pipeline and its folders.
struct InitCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a commented starter pipeline and create its folders; existing files are left alone.",
        discussion: """
            Example:

              dropmill init /srv/dropmill
            """)

    @Argument(
        help: ArgumentHelp("The folder to write to; created if missing.", valueName: "dir"), completion: .directory,
        transform: RawArguments.path)
    var folder: FilePath = "."

    func run(with stages: StageRegistry) throws {
        let base = folder
        let file = base.appending("pipelines").appending("starter.yaml")
        let schema = base.appending("pipelines").appending(Self.schema)
        do throws(IOError) {
            // `run` refuses folders that others may write to, as some umasks let them; the inbox is the senders'.
            for name in ["pipelines", "processed", "failed", "output"] { try Folder.makeOwn(base.appending(name)) }
            try Folder.make(base.appending("inbox"))
            for (file, text) in [(file, Self.starter), (schema, "\(PipelineSchema(stages).json)\n")] {
                let written = try Self.create(file, Array(text.utf8))
                print(written ? "wrote \(file.text)" : "\(file.text) already exists and was left unchanged")
            }
        } catch {
            StandardError.print(
                StandardError.line(of: "\(error); name a folder that can be created and written to: dropmill init DIR"))
            throw ExitStatus.failure
        }
        let inbox = base.appending("inbox").lexicallyNormalized().text
        print(
            """

            Next:
              1. look over \(file.lexicallyNormalized().text)
              2. dropmill check \(Self.argument(base))
              3. dropmill run \(Self.argument(base))
              4. copy a file into \(inbox)
            """)
    }

    /// What `PIPELINES` is for this folder, as a shell takes it.
    private static func argument(_ base: FilePath) -> String {
        let text = base.appending("pipelines").lexicallyNormalized().text
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "/._-".contains($0) }
        return isPlain
            ? text : "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }

    /// Writes a new file; false where there is one.
    private static func create(_ path: FilePath, _ bytes: [UInt8]) throws(IOError) -> Bool {
        do throws(IOError) {
            let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
            try file.write(bytes)
            try file.close()
            return true
        } catch {
            guard error.errno == .fileExists else { throw error }
            return false
        }
    }

    /// What editors check and complete pipelines by.
    private static let schema = "dropmill.schema.json"

    static let starter = """
        # yaml-language-server: $schema=\(schema)
        # A pipeline: what happens to each file that is dropped into the inbox.
        # Paths are relative to this file. 'dropmill check' finds mistakes, 'dropmill stages' lists the stages.
        name: starter
        inbox: ../inbox          # drop files here
        processed: ../processed  # where the originals go; 'delete' is also a value
        failed: ../failed        # what could not be processed, with the reason in NAME.error.json

        # Which names are taken; all of them, if left out.
        # match:
        #   include: ["*.zip", "*.pdf"]
        #   exclude: ["draft-*"]

        # When a file counts as complete: unchanged for this long, and no process has it open for writing.
        # ready:
        #   quiet: 1s

        # How transient failures are retried; a stage may have a 'retry' and a 'timeout' of its own.
        # retry: { attempts: 3, backoff: 2s, max_backoff: 15m }

        stages:
          - unpack                                          # an archive becomes its contents, anything else passes
          # A program of yours; confined, it can read system files and a copy of the drop, and write its own folder.
          # - run: { command: [file, --brief, "{file}"], confine: true }
          - checksum: { algorithm: sha256, manifest: SHA256SUMS }
          - move: { to: "../output/{stem}" }                # all or nothing

        """
}
