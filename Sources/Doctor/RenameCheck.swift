import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Tries whether a file gets from one folder to another by a rename that never overwrites.
struct RenameCheck {
    /// What a rename came to.
    enum Outcome: Equatable {
        /// It works and refuses taken names.
        case atomic
        /// Another file system, or another mount of the same one.
        case elsewhere
        /// The file system has no rename that refuses taken names.
        case withoutFlag
        /// It works, and a taken name was overwritten.
        case overwrites
        /// It does not work.
        case failed(Errno)
    }

    /// Renames a canary from one folder to the other, twice to the same name.
    static func attempt(from source: FilePath, to target: FilePath) throws(IOError) -> Outcome {
        var first = try Canary(in: source)
        let name = Canary.path(in: target)
        guard rename(first.path, name) else {
            switch Errno.last {
            case .improperLink: return .elsewhere
            case .invalidArgument, .noFunction: return .withoutFlag
            case let error: return .failed(error)
            }
        }
        first.moved(to: name)
        let second = try Canary(in: source)
        guard rename(second.path, name) else {
            return Errno.last == .fileExists ? .atomic : .failed(.last)
        }
        return .overwrites
    }

    private static func rename(_ source: FilePath, _ target: FilePath) -> Bool {
        source.withPlatformString { old in
            target.withPlatformString { dm_rename_noreplace(AT_FDCWD, old, AT_FDCWD, $0) }
        } == 0
    }

    /// The claim: a drop goes from the inbox to the work folder by a rename or not at all.
    static func claim(from inbox: FilePath, to work: FilePath) -> Finding {
        finding("from the inbox", from: inbox, to: work) {
            .problem(
                .rename, "the inbox is on another file system, or another mount of the same one",
                "Set `work:` to a folder on the inbox's own mount, below folders that only root or \(CurrentUser.name) "
                    + "can change")
        }
    }

    /// Settlement: a copy works too, and takes longer.
    static func settlement(from work: FilePath, to target: FilePath) -> Finding {
        finding("from the work folder", from: work, to: target) {
            .note(
                .rename, "on another file system than the inbox, or another mount of it: files are copied there",
                "On the inbox's own mount they would be renamed, at no cost")
        }
    }

    private static func finding(
        _ origin: String, from source: FilePath, to target: FilePath, elsewhere: () -> Finding
    ) -> Finding {
        do throws(IOError) {
            switch try attempt(from: source, to: target) {
            case .atomic: return .good(.rename, "\(origin) in one step, never over an existing file")
            case .elsewhere: return elsewhere()
            case .withoutFlag:
                return .note(
                    .rename, "\(origin) by link instead of rename: the file system cannot rename without overwriting")
            case .overwrites:
                return .problem(
                    .rename, "\(origin) an existing file was overwritten", "Use another file system for this folder")
            case .failed(let error):
                return .problem(
                    .rename, "\(origin) not possible: \(error)", "Give \(CurrentUser.name) access to both folders")
            }
        } catch {
            return .problem(.rename, "\(origin) not tried: \(error)", "Give \(CurrentUser.name) access to both folders")
        }
    }
}
