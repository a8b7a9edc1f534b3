package import Files
package import SystemPackage

/// Pipeline files, and the daemon's settings, as they were read, and what could not be.
package struct PipelineFiles: Sendable {
    /// One of them.
    package struct File: Sendable {
        /// As it was given, or found in the folder that was.
        package let path: FilePath
        package let text: [UInt8]
        /// When it was changed last.
        package let changed: FileTime
    }

    /// What is not as it was when these were read.
    package enum Difference: Sendable, Equatable {
        case changed(FileTime)
        case added(FileTime)
        /// It is gone, or cannot be read any more: a sentence.
        case gone(String)
    }

    package internal(set) var all: [File] = []
    /// The daemon's settings; nil where there are none.
    package internal(set) var settings: File?
    package internal(set) var problems: [ConfigProblem] = []
    /// Folders that have none.
    var empty: [FilePath] = []

    package init() {}

    /// Adds one as it was.
    package mutating func add(_ text: [UInt8], of path: FilePath) {
        all.append(File(path: path, text: text, changed: .distantPast))
    }

    /// The same without the pipelines' files for which that is false.
    package func keeping(_ isKept: (FilePath) -> Bool) -> PipelineFiles {
        var files = self
        files.all = all.filter { isKept($0.path) }
        return files
    }

    /// How these differ from what was read before, file by file.
    package func differences(from old: PipelineFiles) -> [(file: FilePath, difference: Difference)] {
        let (files, oldFiles) = (all + (settings.map { [$0] } ?? []), old.all + (old.settings.map { [$0] } ?? []))
        let before = Dictionary(oldFiles.map { ($0.path, $0) }) { first, _ in first }
        let now = Set(files.map(\.path))
        let news = files.compactMap { file -> (FilePath, Difference)? in
            guard let known = before[file.path] else { return (file.path, .added(file.changed)) }
            return known.text == file.text ? nil : (file.path, .changed(file.changed))
        }
        let gone = oldFiles.filter { !now.contains($0.path) }.map { file -> (FilePath, Difference) in
            let reason = problems.first { $0.path == file.path }?.message
            return (file.path, .gone(reason ?? "it is in none of the folders any more"))
        }
        return news + gone
    }
}
