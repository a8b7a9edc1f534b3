import Archive
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

extension UnpackStage {
    func examine(in bench: FilePath?) -> [Finding] {
        var findings: [Finding] = []
        if let file = options.passwordsFile {
            do throws(Failure) {
                let count = try PasswordsFile.read(file).count
                findings.append(.good(.file, "'\(file.text)' has \(count) password\(count == 1 ? "" : "s")"))
            } catch {
                findings.append(Finding(.file, error))
            }
        }
        if let bench { findings.append(trial(in: bench)) }
        return findings
    }

    /// Has a helper unpack a small archive, confined as archives of strangers are.
    private func trial(in bench: FilePath) -> Finding {
        let (archive, folder) = (bench.appending("doctor.tar"), bench.appending("unpacked"))
        do {
            guard let name = archive.lastName else { throw IOError("name", archive, .invalidArgument) }
            let file = try OpenFile.open(archive, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            try file.write(SmallTar.bytes(of: Array("unpacked\n".utf8), as: "doctor.txt"))
            lseek(file.descriptor, 0, SEEK_SET)
            try Folder.make(folder)
            let root = try OpenFile.openFolder(folder)
            var policy = UnpackPolicy()
            policy.workers = 2
            let request = UnpackRequest(
                format: .container(.tar), alone: Unpacking.LoneFile(name: [], modified: (0, 0)), policy: policy,
                requiresSandbox: options.requiresSandbox, cpuSeconds: 10)
            let landlock = Atomic<Int64>(0)
            let task = UnpackHelpers.Task(
                request: request, seconds: 10, monitor: UnpackMonitor(),
                begun: { @Sendable in landlock.store($0, ordering: .relaxed) })
            guard let program else { throw UnpackProgram.missing }
            do throws(HelperFailure) {
                _ = try program.helpers.unpack(task, archive: file.descriptor, folder: root.descriptor)
            } catch {
                throw Failure(error, archive: archive, name: name, folder: folder)
            }
            guard Folder.kind(of: folder.appending("doctor.txt")) == .regular else {
                return .problem(
                    .helper, "the unpacking process produced no file", "Check what else changes that folder")
            }
            return Self.success(landlock.load(ordering: .relaxed))
        } catch let failure as Failure {
            return Finding(.helper, failure)
        } catch {
            return .problem(.helper, "unpacking failed: \(error)", "Give Dropmill's user access to the work folder")
        }
    }

    private static func success(_ landlock: Int64) -> Finding {
        if landlock > 0 { return .good(.helper, "a confined process unpacks (Landlock \(landlock), seccomp)") }
        let reason = UnpackProgram.landlock(Errno(rawValue: Int32(clamping: -landlock)))
        return .note(
            .helper, "the process that unpacks is confined by its list of system calls alone: \(reason)",
            "Let the service use Landlock, and leave out `require_sandbox: false`")
    }
}
