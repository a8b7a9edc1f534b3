import Files
import Glibc
package import PipelineKit
import Programs
package import SystemPackage

extension RunStage {
    package func examine(in bench: FilePath?) -> [Finding] {
        do throws(Failure) {
            var own: [(key: String, value: SecretText.Revealed)] = []
            for (key, value) in variables { own.append((key, try value.reveal())) }
            guard let file = executable(in: Self.path(own)), Self.mayRun(file) else { throw Self.missing(program) }
            let found = Finding.good(.program, "'\(file.text)' is executable")
            guard let confinement, let bench else { return [found] }
            return [found, try Self.trial(of: confinement, in: bench)]
        } catch {
            return [Finding(.program, error)]
        }
    }

    private static func mayRun(_ file: FilePath) -> Bool {
        Folder.kind(of: file, followingLinks: true) == .regular && file.withPlatformString { access($0, X_OK) } == 0
    }

    /// Runs a program that does nothing, with the same confinement.
    private static func trial(of confinement: RunConfinement, in bench: FilePath) throws(Failure) -> Finding {
        let folder = try Failure.onIOError { () throws(IOError) in
            try Folder.make(bench.appending("own"))
            return bench.appending("own")
        }
        guard let nothing = Program.find("true", in: "/usr/bin:/bin") else {
            return .note(.program, "confinement was not tested: the program 'true' is not installed")
        }
        let null = try Failure.onIOError { () throws(IOError) in try OpenFile.open("/dev/null", O_RDONLY) }
        let program = Program(
            nothing, arguments: [Array("true".utf8)], environment: [], folder: folder,
            output: bench.appending("stdout"), error: bench.appending("stderr"), grace: .seconds(1),
            confinement: confinement.walls(around: folder))
        do throws(Program.StartFailure) {
            let outcome = try program.run(input: null.descriptor, tail: 1024) { false }
            guard outcome.end == .exited(0) else {
                return .problem(
                    .program, "with this confinement even 'true' fails: \(outcome.end)",
                    "Loosen 'read' and the limits of the stage")
            }
            return .good(.program, "a program can be confined this way")
        } catch {
            throw RunConfinement.failure(error, "true")
        }
    }
}
