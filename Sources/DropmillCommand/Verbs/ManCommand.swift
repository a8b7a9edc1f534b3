import ArgumentParser
import Files
import Glibc
import PipelineKit
import SystemPackage

/// `dropmill man`: writes the manual pages, for packages.
struct ManCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "man", abstract: "Write the manual pages.",
        discussion: "Their date is that of SOURCE_DATE_EPOCH, where it is set.", shouldDisplay: false)

    @Option(help: "The folder to write them to; made if missing.", completion: .directory, transform: RawArguments.path)
    var to: FilePath

    func run(with stages: StageRegistry) throws {
        guard let pages = Manual.pages(stages.descriptors, help: DropmillCommand._dumpHelp(), date: Manual.date) else {
            StandardError.print("error: the argument parser does not tell what its verbs are")
            throw ExitStatus.software
        }
        do throws(IOError) {
            try Folder.make(to)
            for page in pages {
                let file = try OpenFile.open(to.appending(page.file), O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
                try file.write(Array(page.text.utf8))
                try file.close()
            }
        } catch {
            StandardError.print("error: \(error)")
            throw ExitStatus.unwritten
        }
    }
}
